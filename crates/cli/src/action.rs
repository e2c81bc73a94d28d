//! What a command line asks for: one action for each command.

use crate::cache_command::CacheAction;
use crate::counters::CounterRequest;
use crate::options::Options;
use crate::profile::request::ProfileRequest;
use crate::run_source::RunCommand;
use std::ffi::OsString;
use std::path::PathBuf;

/// What to do.
pub enum Action {
    Run(Box<Options>),
    RunSource(Box<RunCommand>),
    /// Words for `dotnet`.
    Dotnet {
        words: Vec<OsString>,
    },
    Cache {
        action: CacheAction,
        framework_root: PathBuf,
    },
    Doctor {
        framework_root: PathBuf,
    },
    Info {
        files: Vec<PathBuf>,
    },
    AttachProfile {
        process: u32,
        request: Box<ProfileRequest>,
    },
    ShowLeakedThreads {
        process: u32,
    },
    AttachCounters {
        process: u32,
        request: CounterRequest,
    },
    ViewProfile {
        file: PathBuf,
        why: Vec<String>,
    },
    CompareProfiles {
        before: PathBuf,
        after: PathBuf,
        output: Option<PathBuf>,
    },
    /// Words up to the cursor of a shell.
    Complete {
        words: Vec<String>,
    },
    Generate {
        folder: PathBuf,
    },
}

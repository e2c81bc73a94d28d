//! The subcommands of `saki profile` that run a program under the profiler, or profile a running one.

use crate::action::Action;
use crate::exit::Stop;
use crate::options::Options;
use crate::output_format::{OutputFormat, separate};
use crate::profile;
use crate::profile::kind::{KindWord, ProfileKind};
use crate::profile::leaked_threads::LeakedRequest;
use crate::profile::option::ProfileOption;
use crate::profile::request::{DEFAULT_ALLOC_BYTES, EACH_ALLOCATION, ProfileRequest};
use crate::quantities::{parse_hz, parse_seconds, parse_size};
use clap::{Args, ValueHint};
use std::path::PathBuf;
use std::time::Duration;

/// A program to be profiled.
#[derive(Args, Debug)]
pub struct ProfileWords {
    /// The program, a CIL executable, and its arguments
    #[arg(trailing_var_arg = true, required_unless_present = "pid", num_args = 1.., value_names = ["PROGRAM", "ARGUMENTS"])]
    #[arg(value_hint = ValueHint::FilePath)]
    words: Vec<String>,

    /// The first word, as `parse` passes it on
    #[arg(long, hide = true, value_delimiter = ',', default_value = "cpu")]
    kinds: Vec<KindWord>,

    /// Profile a process of Saki's that runs already, until the duration is over or Ctrl-C is pressed
    #[arg(long, value_name = "PID", conflicts_with = "words", value_parser = clap::value_parser!(u32).range(1..))]
    pid: Option<u32>,

    /// Of 'threads': show in place of a profile the threads that no other thread can wake, as what they wait for is
    /// reached by such threads alone
    #[arg(long, conflicts_with_all = ["format", "hz", "exact", "bytes", "output"])]
    leaked: bool,

    #[command(flatten)]
    profile: ProfileOptions,

    #[command(flatten)]
    options: Options,
}

/// What profiles have in common.
#[derive(Args, Debug)]
struct ProfileOptions {
    /// File formats: html (flame graph, call tree and threads for a browser), svg, folded, speedscope, pprof, firefox,
    /// mlpd (Mono's), jitdump (for `perf inject --jit`); several with commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "html")]
    format: Vec<OutputFormat>,

    /// Samples a second of each thread [default: 1000, wall: 100]
    #[arg(long, value_name = "N", value_parser = parse_hz)]
    hz: Option<u32>,

    /// Record each allocation with its stack, in place of samples
    #[arg(long, conflicts_with = "bytes")]
    exact: bool,

    /// Bytes between two samples of allocations, on average, with an optional k, m or g
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value_t = DEFAULT_ALLOC_BYTES)]
    bytes: usize,

    /// Stop profiling after so many seconds; the program goes on
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    duration: Option<Duration>,

    /// With 'heap' among the kinds: say why the objects of this type are alive; may be repeated
    #[arg(long, value_name = "TYPE")]
    why: Vec<String>,

    /// The file, or - for standard output; of several formats each gets its ending [default: PROGRAM-PID.KIND.FORMAT,
    /// or of several kinds PROGRAM-PID.profile.FORMAT]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

impl ProfileWords {
    /// # Errors
    /// Options that do not go together.
    pub fn into_action(mut self) -> Result<Action, Stop> {
        if self.leaked {
            return self.show_leaked();
        }
        let ProfileOptions { format, hz, exact, bytes, duration, why, output } = self.profile;
        let alloc_bytes = if exact { EACH_ALLOCATION } else { bytes.max(1) };
        let (formats, jitdump) = separate(&format, output.as_deref());
        let tools = jitdump.clone();
        let request = ProfileRequest::of_words(&self.kinds);
        let mut request = ProfileRequest { hz, alloc_bytes, duration, formats, output, jitdump, ..request };
        request.place_heap();
        if request.crowds_output() {
            return Err(Stop::refuse("saki profile", profile::file::ONE_FILE));
        }
        match &mut request.heap {
            Some(heap) => heap.why = why,
            None if why.is_empty() => {}
            None => {
                let text = "--why is for snapshots of the heap: 'heap' is not among the kinds";
                return Err(Stop::refuse("saki profile", text));
            }
        }
        if let Some(process) = self.pid {
            if request.jitdump.is_some() {
                let text = "a jitdump is written from the start of a program: --format jitdump does not go with --pid";
                return Err(Stop::refuse("saki profile", text));
            }
            return Ok(Action::AttachProfile { process, request: Box::new(request) });
        }
        if tools.is_some() {
            self.options.perf.get_or_insert_default().jitdump = tools;
        }
        let profile = Some(ProfileOption::Own(request));
        Ok(Action::Run(Box::new(Options { command: self.words, profile, ..self.options })))
    }

    fn show_leaked(self) -> Result<Action, Stop> {
        let after = self.profile.duration;
        let refuse = |text| Err(Stop::refuse("saki profile", text));
        if self.kinds != [KindWord::Profile(ProfileKind::Threads)] {
            return refuse("--leaked is for the kind 'threads' alone: saki profile threads --leaked");
        }
        match self.pid {
            Some(_) if after.is_some() => refuse("--leaked looks at a running process at once: it has no duration"),
            Some(process) => Ok(Action::ShowLeakedThreads { process }),
            None => {
                let profile = Some(ProfileOption::Leaked(LeakedRequest { after }));
                Ok(Action::Run(Box::new(Options { command: self.words, profile, ..self.options })))
            }
        }
    }
}

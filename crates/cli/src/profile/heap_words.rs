//! `saki profile heap`: the words that ask for a heap snapshot of a program, or of a running one.

use crate::action::Action;
use crate::exit::Stop;
use crate::options::Options;
use crate::profile;
use crate::profile::heap_request::{HeapFormat, HeapRequest};
use crate::profile::option::ProfileOption;
use crate::profile::request::ProfileRequest;
use crate::quantities::parse_seconds;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use std::time::Duration;

/// A program whose heap is to be looked at.
#[derive(Args, Debug)]
pub struct HeapWords {
    /// The program, a CIL executable, and its arguments
    #[arg(trailing_var_arg = true, required_unless_present = "pid", num_args = 1.., value_names = ["PROGRAM", "ARGUMENTS"])]
    #[arg(value_hint = ValueHint::FilePath)]
    words: Vec<String>,

    /// Look at a process of Saki's that runs already
    #[arg(long, value_name = "PID", conflicts_with = "words", value_parser = clap::value_parser!(u32).range(1..))]
    pid: Option<u32>,

    /// Say why the objects of this type are alive: the ways to them from roots, by types and fields; may be repeated
    #[arg(long, value_name = "TYPE")]
    why: Vec<String>,

    /// Look after so many seconds, not at the end of the program (with --pid: not at once)
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    duration: Option<Duration>,

    /// File formats; several with commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum, default_value = "heap")]
    format: Vec<HeapFormat>,

    /// The file, or - for standard output; of several formats each gets its ending [default: PROGRAM-PID.FORMAT]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    #[command(flatten)]
    options: Options,
}

impl HeapWords {
    /// # Errors
    /// Several files are to go to standard output.
    pub fn into_action(self) -> Result<Action, Stop> {
        if self.format.len() > 1 && self.output.as_deref().is_some_and(profile::file::is_standard_output) {
            return Err(Stop::refuse("saki profile heap", profile::file::ONE_FILE));
        }
        let heap = HeapRequest { why: self.why, formats: self.format, output: self.output };
        let request = ProfileRequest { heap: Some(heap), duration: self.duration, ..ProfileRequest::new(&[]) };
        if let Some(process) = self.pid {
            return Ok(Action::AttachProfile { process, request: Box::new(request) });
        }
        let profile = Some(ProfileOption::Own(request));
        Ok(Action::Run(Box::new(Options { command: self.words, profile, ..self.options })))
    }
}

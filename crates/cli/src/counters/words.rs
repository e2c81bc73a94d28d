//! The words of `saki counters`.

use crate::action::Action;
use crate::counters::CounterRequest;
use crate::options::Options;
use crate::profile::option::ProfileOption;
use crate::quantities::parse_seconds;
use clap::{Args, ValueHint};
use std::path::PathBuf;
use std::time::Duration;

/// A program, or a process, whose figures are to be shown.
#[derive(Args, Debug)]
pub struct CounterWords {
    /// The program and its arguments
    #[arg(trailing_var_arg = true, required_unless_present = "pid", num_args = 1.., value_names = ["PROGRAM", "ARGUMENTS"])]
    #[arg(value_hint = ValueHint::FilePath)]
    words: Vec<String>,

    /// Show the figures of a process of Saki's that runs already
    #[arg(long, value_name = "PID", conflicts_with = "words", value_parser = clap::value_parser!(u32).range(1..))]
    pid: Option<u32>,

    /// Seconds between two reports
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "1")]
    interval: Duration,

    /// End after so many reports (of a program: go on without them)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,

    /// Write each report as a line of JSON
    #[arg(long)]
    json: bool,

    /// Write to a file, not to standard output (of a program: standard error)
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    #[command(flatten)]
    options: Options,
}

impl CounterWords {
    /// A process is asked, and a program run.
    pub fn into_action(self) -> Action {
        let request =
            CounterRequest { interval: self.interval, count: self.count, json: self.json, output: self.output };
        match self.pid {
            Some(process) => Action::AttachCounters { process, request },
            None => {
                let profile = Some(ProfileOption::Counters(request));
                Action::Run(Box::new(Options { command: self.words, profile, ..self.options }))
            }
        }
    }
}

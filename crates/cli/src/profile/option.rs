//! `--profile=` and `SAKI_PROFILE`, which ask for a profile by Saki's sampler, for Mono's log or for coverage.

use crate::counters::{self, CounterRequest};
use crate::exit::Stop;
use crate::mono::coverage_profiler::{self, CoverageOption};
use crate::mono::log_profiler::{self, LogOption};
use crate::profile;
use crate::profile::leaked_threads::{self, LeakedRequest};
use crate::profile::request::{EACH_ALLOCATION, ProfileRequest};
use saki_runtime::vm::coverage::CoverageSettings;
use saki_runtime::vm::profile_log::{self, LogEvents, LogSettings};
use std::path::Path;
use std::str::FromStr;

/// What `--profile` asks for: a profile of Saki's own, or one of Mono's.
#[derive(Clone, PartialEq, Debug)]
pub enum ProfileOption {
    Own(ProfileRequest),
    /// Figures while the program runs.
    Counters(CounterRequest),
    /// The leaked threads.
    Leaked(LeakedRequest),
    /// The settings of the log, and messages about the option.
    Log(Box<LogSettings>, Vec<String>),
    /// The settings of the coverage, and messages about the option.
    Coverage(Box<CoverageSettings>, Vec<String>),
    /// A text is printed in place of a run.
    Help(String),
}

impl FromStr for ProfileOption {
    type Err = String;

    fn from_str(text: &str) -> Result<ProfileOption, String> {
        if coverage_profiler::is_coverage(text) {
            let (option, messages) = coverage_profiler::parse(text);
            return Ok(match option {
                CoverageOption::Record(settings) => ProfileOption::Coverage(settings, messages),
                CoverageOption::Help(text) => ProfileOption::Help(text),
            });
        }
        if !log_profiler::is_log(text) {
            return text.parse().map(ProfileOption::Own);
        }
        let (option, messages) = log_profiler::parse(text);
        Ok(match option {
            LogOption::Write(settings) => ProfileOption::Log(settings, messages),
            LogOption::Help(text) => ProfileOption::Help(text),
        })
    }
}

impl ProfileOption {
    /// Whether code must be compiled for it: with probes, or to tell of compilations.
    pub fn wants_compiling(&self) -> bool {
        match self {
            ProfileOption::Log(settings, _) => settings.calls || settings.events.has(LogEvents::JIT),
            ProfileOption::Coverage(..) => true,
            ProfileOption::Own(_) | ProfileOption::Counters(_) | ProfileOption::Leaked(_) | ProfileOption::Help(_) => {
                false
            }
        }
    }

    /// Whether it is to tell of each allocation.
    pub fn wants_each_allocation(&self) -> bool {
        match self {
            ProfileOption::Own(request) => request.alloc_bytes == EACH_ALLOCATION,
            ProfileOption::Log(settings, _) => settings.events.has(LogEvents::ALLOCATION),
            ProfileOption::Counters(_)
            | ProfileOption::Leaked(_)
            | ProfileOption::Coverage(..)
            | ProfileOption::Help(_) => false,
        }
    }

    /// What the machine must know before it starts, of a log or of coverage. Writes the messages about the option.
    ///
    /// # Errors
    /// The message that is printed in place of a run.
    pub fn settings(&self, framework_root: &Path) -> Result<(Option<LogSettings>, Option<CoverageSettings>), Stop> {
        match self {
            ProfileOption::Own(_) | ProfileOption::Counters(_) | ProfileOption::Leaked(_) => Ok((None, None)),
            ProfileOption::Log(settings, messages) => {
                messages.iter().for_each(|message| saki_base::tell!("{message}"));
                Ok((Some((**settings).clone()), None))
            }
            ProfileOption::Coverage(settings, messages) => {
                messages.iter().for_each(|message| saki_base::tell!("{message}"));
                // Paths of assemblies have no links in them.
                let framework_root = framework_root.canonicalize().unwrap_or_else(|_| framework_root.to_owned());
                Ok((None, Some(CoverageSettings { framework_root, ..(**settings).clone() })))
            }
            ProfileOption::Help(text) => Err(Stop::answer(text.clone())),
        }
    }

    /// Before `Main`, on its thread.
    ///
    /// # Errors
    /// The sampler's, or the file's.
    pub fn begin(&self) -> Result<(), String> {
        match self {
            ProfileOption::Own(request) => profile::command::begin(request),
            ProfileOption::Counters(request) => counters::begin(request),
            ProfileOption::Leaked(request) => leaked_threads::begin(request),
            ProfileOption::Log(settings, _) => profile_log::begin(settings),
            ProfileOption::Coverage(..) | ProfileOption::Help(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_allocation_is_wanted_by_exact_profiles_and_logs_of_allocations() {
        let wants = |text: &str| text.parse::<ProfileOption>().map(|option| option.wants_each_allocation());
        for (text, wanted) in
            [("alloc,exact", true), ("log:alloc", true), ("alloc", false), ("cpu", false), ("log:sample", false)]
        {
            assert_eq!(wants(text), Ok(wanted), "{text}");
        }
    }
}

//! `--profile=` and `SAKI_PROFILE`, which ask for a profile by Saki's sampler or for Mono's log.

use crate::exit::Stop;
use crate::mono::log_profiler::{self, LogOption};
use crate::profile_command;
use crate::profile_request::ProfileRequest;
use saki_runtime::profile_log::{self, LogEvents, LogSettings};
use std::str::FromStr;

#[derive(Clone, PartialEq, Debug)]
pub enum ProfileOption {
    Own(ProfileRequest),
    /// The settings of the log, and messages about the option.
    Log(Box<LogSettings>, Vec<String>),
    /// A text is printed in place of a run.
    Help(String),
}

impl FromStr for ProfileOption {
    type Err = String;

    fn from_str(text: &str) -> Result<ProfileOption, String> {
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
        matches!(self, ProfileOption::Log(settings, _) if settings.calls || settings.events.has(LogEvents::JIT))
    }

    /// Before the machine starts.
    ///
    /// # Errors
    /// The message that is printed in place of a run.
    pub fn prepare(&self) -> Result<(), Stop> {
        match self {
            ProfileOption::Own(_) => {}
            ProfileOption::Log(settings, messages) => {
                messages.iter().for_each(|message| saki_base::tell!("{message}"));
                profile_log::prepare(settings);
            }
            ProfileOption::Help(text) => return Err(Stop::answer(text.clone())),
        }
        Ok(())
    }

    /// Before `Main`, on its thread.
    ///
    /// # Errors
    /// The sampler's, or the file's.
    pub fn begin(&self) -> Result<(), String> {
        match self {
            ProfileOption::Own(request) => profile_command::begin(request),
            ProfileOption::Log(settings, _) => profile_log::begin(settings),
            ProfileOption::Help(_) => Ok(()),
        }
    }
}

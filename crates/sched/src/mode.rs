//! The mode in which managed threads are executed: `--threads` and `SAKI_THREADS`.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// See `docs/threads.md`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ThreadMode {
    /// Each managed thread is an OS thread.
    #[default]
    Native,
    /// All managed threads take turns on one carrier.
    Green,
    /// Managed threads take turns on this many carriers.
    Mn { carriers: usize },
}

/// More carriers than any machine has processors.
const MAX_CARRIERS: usize = 1024;

impl ThreadMode {
    /// How many carriers run managed code at a time; None for native threads.
    pub fn carriers(self) -> Option<usize> {
        match self {
            ThreadMode::Native => None,
            ThreadMode::Green => Some(1),
            ThreadMode::Mn { carriers } => Some(carriers),
        }
    }

    /// How many waiting threads of a thread pool are replaced at once by new ones, so that work goes on; beyond that
    /// number a pool grows slowly.
    pub fn waiting_threads_to_replace(self) -> usize {
        match self {
            // They cost an OS thread each: Mono replaces none.
            ThreadMode::Native => 0,
            ThreadMode::Green | ThreadMode::Mn { .. } => 1 << 20,
        }
    }
}

static MODE: OnceLock<ThreadMode> = OnceLock::new();

/// Sets the mode; once, when the scheduler starts.
pub(crate) fn set(mode: ThreadMode) {
    let _ = MODE.set(mode);
}

/// The mode in force.
pub fn mode() -> ThreadMode {
    MODE.get().copied().unwrap_or_default()
}

/// How many managed threads can run at the same time: the number of processors that programs see. A class library that
/// sees one processor does not spin for a change that only another thread could make.
pub fn parallelism() -> usize {
    let processors = saki_os::cpu::count();
    mode().carriers().map_or(processors, |carriers| carriers.min(processors))
}

impl FromStr for ThreadMode {
    type Err = String;

    fn from_str(text: &str) -> Result<ThreadMode, String> {
        let invalid = || format!("'{text}' is not one of native, green, mn and mn:CARRIERS (1 to {MAX_CARRIERS})");
        match text {
            "native" => Ok(ThreadMode::Native),
            "green" => Ok(ThreadMode::Green),
            "mn" => Ok(ThreadMode::Mn { carriers: saki_os::cpu::count().clamp(1, MAX_CARRIERS) }),
            _ => {
                let count = text.strip_prefix("mn:").ok_or_else(invalid)?;
                let carriers = count.parse().ok().filter(|count| (1..=MAX_CARRIERS).contains(count));
                carriers.map(|carriers| ThreadMode::Mn { carriers }).ok_or_else(invalid)
            }
        }
    }
}

impl fmt::Display for ThreadMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThreadMode::Native => f.write_str("native"),
            ThreadMode::Green => f.write_str("green"),
            ThreadMode::Mn { carriers } => write!(f, "mn:{carriers}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_written_as_they_are_read() {
        for text in ["native", "green", "mn:1", "mn:16"] {
            assert_eq!(text.parse::<ThreadMode>().unwrap().to_string(), text);
        }
        assert!("mn".parse::<ThreadMode>().unwrap().carriers() >= Some(1));
        for text in ["", "m:n", "mn:0", "mn:x", "mn:9999", "Green"] {
            assert!(text.parse::<ThreadMode>().is_err(), "{text}");
        }
    }
}

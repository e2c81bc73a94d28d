//! What a host of the library decides of its process, where the command's programs decide: its end, its output, and
//! what is said of an exception that nobody catches.
//!
//! The functions are values of the options with which the machine starts, and stay until the process ends. They are
//! called in a safe region, so that a collection does not wait for them. Left out: signals, of which the library
//! handles none but those of faults.

use crate::thread::CurrentThread;
use std::fmt;
use std::sync::Arc;

/// A standard stream for output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputStream {
    /// Standard output.
    Out,
    /// Standard error.
    Error,
}

/// Gets the text of an exception that nobody catches: the process ends when it returns.
pub type UnhandledFunction = dyn Fn(&str) + Send + Sync;

/// Gets what the program writes to a standard stream.
pub type OutputFunction = dyn Fn(OutputStream, &[u8]) + Send + Sync;

/// See the module header.
#[derive(Clone)]
pub struct HostPolicies {
    /// Whether `Environment.Exit` ends the process; otherwise it throws NotSupportedException.
    pub programs_may_exit: bool,
    /// In place of the report on standard error.
    pub on_unhandled: Option<Arc<UnhandledFunction>>,
    /// In place of the process's streams, for what goes through `Console`.
    pub on_output: Option<Arc<OutputFunction>>,
}

impl Default for HostPolicies {
    fn default() -> Self {
        HostPolicies { programs_may_exit: true, on_unhandled: None, on_output: None }
    }
}

impl fmt::Debug for HostPolicies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HostPolicies { programs_may_exit, on_unhandled, on_output } = self;
        f.debug_struct("HostPolicies")
            .field("programs_may_exit", programs_may_exit)
            .field("on_unhandled", &on_unhandled.is_some())
            .field("on_output", &on_output.is_some())
            .finish()
    }
}

impl HostPolicies {
    /// The standard stream behind a descriptor, if the host takes what the program writes there.
    pub fn output_taken(&self, descriptor: i32) -> Option<OutputStream> {
        self.on_output.as_ref()?;
        match descriptor {
            libc::STDOUT_FILENO => Some(OutputStream::Out),
            libc::STDERR_FILENO => Some(OutputStream::Error),
            _ => None,
        }
    }

    /// Gives the host what the program writes.
    pub fn give_output(&self, t: CurrentThread, stream: OutputStream, bytes: &[u8]) {
        if let Some(function) = &self.on_output {
            t.managed().blocking(|| function(stream, bytes));
        }
    }

    /// Whether the host reports an exception that nobody catches. If so, it has got the text, which is made for it.
    pub(crate) fn reports_unhandled(&self, t: CurrentThread, text: impl FnOnce() -> String) -> bool {
        let Some(function) = &self.on_unhandled else { return false };
        let text = text();
        t.managed().blocking(|| function(&text));
        true
    }
}

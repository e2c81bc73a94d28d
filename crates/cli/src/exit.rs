//! How the command ends when it runs no program: exit codes, and messages under the command's name.

use crate::process_start;
use saki_base::{messages, tell};
use std::io::ErrorKind;
use std::sync::OnceLock;

/// Exit code when the command line, the program file or standard output is not usable.
pub const EXIT_UNUSABLE: i32 = 2;

/// The beginning of error messages: "saki", or "saki info".
static NAME: OnceLock<&str> = OnceLock::new();

/// Names the command for its messages.
pub fn set_name(name: &'static str) {
    let _ = NAME.set(name);
}

/// The exit code of a command; an error is printed.
pub fn end_with(result: Result<(), String>) -> i32 {
    match result {
        Ok(()) => 0,
        Err(message) => fail(&message),
    }
}

/// Prints an error message under the command's name; returns the exit code.
pub fn fail(message: &str) -> i32 {
    say(message);
    EXIT_UNUSABLE
}

/// The exit code of a command whose answers went to standard output, or its end, as other tools have it: where the
/// reader of a pipe has gone, SIGPIPE ends the process without a word; any other failure is an error.
pub fn after_answers(code: i32) -> i32 {
    let Some(error) = messages::answer_failure() else { return code };
    if error.kind() == ErrorKind::BrokenPipe && process_start::would_end_by_closed_pipe() {
        // SAFETY: the default action in place of none; no handler is involved.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        // SAFETY: takes a number. If the signal is blocked, the exit code tells of the failure.
        unsafe { libc::raise(libc::SIGPIPE) };
        return EXIT_UNUSABLE;
    }
    fail(&format!("standard output: {error}"))
}

/// Prints a note under the command's name; the command goes on.
pub fn say(message: &str) {
    tell!("{}: {message}", NAME.get().unwrap_or(&"saki"));
}

/// What to print instead, and the exit code.
#[derive(Debug, PartialEq, Eq)]
pub struct Stop {
    pub text: String,
    pub goes_to_standard_output: bool,
    pub exit_code: i32,
}

impl Stop {
    /// An error, on standard error.
    pub fn error(exit_code: i32, text: impl Into<String>) -> Stop {
        Stop { text: text.into(), goes_to_standard_output: false, exit_code }
    }

    /// An answer that the command line asked for, such as help.
    pub fn answer(text: impl Into<String>) -> Stop {
        Stop { text: text.into(), goes_to_standard_output: true, exit_code: 0 }
    }

    /// Something that was named cannot be used; the text says why.
    pub fn refuse(name: &str, text: &str) -> Stop {
        Stop::error(EXIT_UNUSABLE, format!("{name}: {text}\n"))
    }

    /// Prints it; the exit code.
    pub fn print(&self) -> i32 {
        if self.goes_to_standard_output {
            messages::answer(format_args!("{}", self.text));
        } else {
            messages::tell(format_args!("{}", self.text));
        }
        self.exit_code
    }
}

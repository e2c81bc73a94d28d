//! The one door for what Saki itself says, on standard error and standard output.
//!
//! | | stream | when it cannot be written |
//! |---|---|---|
//! | `tell!`, `tell` | standard error | it is lost |
//! | `tell_beside_output` | standard output, where the program's own output goes | it is lost |
//! | `answer!`, `answer` | standard output | the rest is dropped, and `answer_failure` says why |
//!
//! An embedding host may take messages in place of their being written (`listen`); answers are never its.
//!
//! Invariant: nothing here panics or ends the process, so a reader that went away and a full disk never change a
//! program's exit code. The standard library's macros would panic there; `cargo xtask tidy` keeps them out. An answer
//! is what a command was called for (`saki info`), so the command itself looks whether it has arrived.
//! Left out: the program's own output, and the words of signal handlers, which may use system calls only.

use crate::locks::{Mutex, rank};
use std::fmt::{self, Arguments, Write as _};
use std::io::{self, Write};
use std::sync::OnceLock;

/// What an embedding host does with messages. Each function tells whether it took the message, which is not written
/// then. They are called on any thread, in any state, under any lock: they must not call the machine.
pub struct Listener {
    /// Of standard error.
    pub error: fn(Arguments<'_>) -> bool,
    /// Of standard output.
    pub output: fn(Arguments<'_>) -> bool,
    /// Of the log of the machine's work (`os::message_log`): the level's word, and the text.
    pub log: fn(&str, &str) -> bool,
}

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Has messages go to a host from now on. The first listener stays.
pub fn listen(listener: Listener) {
    let _ = LISTENER.set(listener);
}

/// Whether a host took a message of the log: the level's word, and the text.
pub fn is_log_taken(level: &str, text: &str) -> bool {
    LISTENER.get().is_some_and(|listener| (listener.log)(level, text))
}

/// A message of usual length is written by one system call, without allocation: memory may be what is short.
const BUFFER_BYTES: usize = 1024;

/// Collects a message in pieces of `BUFFER_BYTES`.
struct Pieces<'a> {
    out: &'a mut dyn Write,
    bytes: [u8; BUFFER_BYTES],
    len: usize,
    outcome: io::Result<()>,
}

impl Pieces<'_> {
    fn flush(&mut self) {
        if self.outcome.is_ok() {
            self.outcome = self.out.write_all(&self.bytes[..self.len]);
        }
        self.len = 0;
    }
}

impl fmt::Write for Pieces<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let count = rest.len().min(BUFFER_BYTES - self.len);
            let (now, later) = rest.split_at(count);
            self.bytes[self.len..self.len + count].copy_from_slice(now);
            self.len += count;
            rest = later;
            if self.len == BUFFER_BYTES {
                self.flush();
            }
        }
        Ok(())
    }
}

fn write_to(out: &mut dyn Write, text: Arguments<'_>) -> io::Result<()> {
    let mut pieces = Pieces { out, bytes: [0; BUFFER_BYTES], len: 0, outcome: Ok(()) };
    // Nothing of ours fails here; a value that cannot format itself leaves its text short.
    let _ = pieces.write_fmt(text);
    pieces.flush();
    pieces.outcome?;
    out.flush()
}

/// Writes the text to standard error, or loses it.
pub fn tell(text: Arguments<'_>) {
    if LISTENER.get().is_some_and(|listener| (listener.error)(text)) {
        return;
    }
    let _ = write_to(&mut io::stderr().lock(), text);
}

/// Writes the text to standard output, between the program's own output, or loses it.
pub fn tell_beside_output(text: Arguments<'_>) {
    if LISTENER.get().is_some_and(|listener| (listener.output)(text)) {
        return;
    }
    let _ = write_to(&mut io::stdout().lock(), text);
}

/// Writes a file of the program's run to standard output, where the user asked for it there; unlike messages it is told
/// when that fails.
///
/// # Errors
/// The system's.
pub fn write_beside_output(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write(&mut out).and_then(|()| out.flush())
}

/// Why an answer has not arrived.
static ANSWER_FAILURE: Mutex<rank::AnswerFailure, Option<io::Error>> = Mutex::new(None);

/// Writes a part of a command's answer to standard output, unless an earlier part could not be written.
pub fn answer(text: Arguments<'_>) {
    answer_by(|out| write_to(out, text));
}

/// Writes a part of a command's answer, such as a file, by a function that gets standard output, unless an earlier part
/// could not be written.
pub fn answer_by(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let mut failure = ANSWER_FAILURE.lock();
    if failure.is_none() {
        *failure = write_beside_output(write).err();
    }
}

/// The error of the first answer that could not be written, once.
pub fn answer_failure() -> Option<io::Error> {
    ANSWER_FAILURE.lock().take()
}

/// A line on standard error: `tell!("saki: {error}")`.
#[macro_export]
macro_rules! tell {
    ($($message:tt)*) => {
        $crate::messages::tell(::std::format_args!("{}\n", ::std::format_args!($($message)*)))
    };
}

/// A line of a command's answer, on standard output: `answer!("{count} files")`.
#[macro_export]
macro_rules! answer {
    () => { $crate::messages::answer(::std::format_args!("\n")) };
    ($($message:tt)*) => {
        $crate::messages::answer(::std::format_args!("{}\n", ::std::format_args!($($message)*)))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes `room` bytes and then fails as a full disk does.
    struct Disk {
        room: usize,
        writes: Vec<usize>,
        text: Vec<u8>,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.room);
            if count == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.room -= count;
            self.writes.push(count);
            self.text.extend(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn disk(room: usize) -> Disk {
        Disk { room, writes: Vec::new(), text: Vec::new() }
    }

    #[test]
    fn a_message_is_one_write() {
        let mut out = disk(usize::MAX);
        write_to(&mut out, format_args!("{} of {}: {:?}\n", 1, 2, "x")).unwrap();
        assert_eq!((out.writes.len(), &*out.text), (1, &b"1 of 2: \"x\"\n"[..]));
    }

    #[test]
    fn long_messages_are_whole() {
        let long = "0123456789".repeat(BUFFER_BYTES / 5);
        let mut out = disk(usize::MAX);
        write_to(&mut out, format_args!("<{long}>{long}\n")).unwrap();
        assert_eq!(String::from_utf8(out.text).unwrap(), format!("<{long}>{long}\n"));
        assert!(out.writes.len() <= 5, "{:?}", out.writes);
    }

    #[test]
    fn a_full_disk_is_an_error_and_no_panic() {
        let mut out = disk(BUFFER_BYTES + 1);
        let long = "x".repeat(4 * BUFFER_BYTES);
        let error = write_to(&mut out, format_args!("{long}")).unwrap_err();
        assert_eq!((error.kind(), out.text.len()), (io::ErrorKind::StorageFull, BUFFER_BYTES + 1));
    }
}

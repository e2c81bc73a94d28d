//! `saki profile threads --leaked`: the stacks of a program's threads that no other thread can wake.
//!
//! Left out: how stacks are written (`saki_runtime::vm::thread_dump`), and which threads are leaked
//! (`saki_runtime::vm::leaked_threads`).

use crate::control_socket::{ControlRequest, Notice, answer_client, ask};
use saki_base::{messages, tell};
use saki_os::services::{self, Service};
use saki_runtime::vm::thread_dump;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The word of a request to a running process, which has no settings.
pub const REQUEST_WORD: &str = "leaked threads";

/// When the leaked threads of a program are to be shown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LeakedRequest {
    /// None: at the end of the program.
    pub after: Option<Duration>,
}

static REQUEST: OnceLock<LeakedRequest> = OnceLock::new();
/// The threads were shown, or are about to be. Relaxed: the swap picks one thread.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// Notes what is wanted of the program that is about to run.
///
/// # Errors
/// The system's, for a thread.
pub fn begin(request: &LeakedRequest) -> Result<(), String> {
    let _ = REQUEST.set(*request);
    let Some(after) = request.after else { return Ok(()) };
    let show_later = move || {
        if services::machine().pause(after) {
            show_requested();
        }
    };
    services::machine().start(Service::ProfileEnd, show_later).map_err(|error| error.to_string())
}

/// Shows what `begin` noted, once.
pub fn show_requested() {
    if REQUEST.get().is_none() || IS_SHOWN.swap(true, Ordering::Relaxed) {
        return;
    }
    match thread_dump::leaked() {
        Ok(text) => messages::tell(format_args!("{text}")),
        Err(error) => tell!("saki: the threads cannot be shown: {error}"),
    }
}

/// `--pid`: prints what the process says of its leaked threads.
///
/// # Errors
/// The process cannot be asked, or refuses.
pub fn attach(process: u32) -> Result<(), String> {
    let question = ControlRequest { word: REQUEST_WORD.to_owned(), settings: String::new(), output: PathBuf::new() };
    let answer = ask(process, &question, Notice::Silent)?;
    if !answer.is_done {
        return Err(format!("process {process}: {}", answer.text.trim_end()));
    }
    messages::answer(format_args!("{}", answer.text));
    Ok(())
}

/// In the process.
pub fn serve(mut stream: UnixStream) -> io::Result<()> {
    writeln!(stream, "profiling")?;
    match thread_dump::leaked() {
        Ok(text) => answer_client(&stream, true, &text),
        Err(error) => answer_client(&stream, false, &error),
    }
}

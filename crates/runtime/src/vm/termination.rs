//! SIGTERM under .NET 9: the handlers of ProcessExit run, and the process ends, as by `Environment.Exit (143)`.
//!
//! The handler of the signal wakes the thread of dumps (`thread_dump`), which starts a thread for the end, since
//! handlers of ProcessExit are managed code and may take their time. A program that handles the signal itself
//! (`PosixSignalRegistration`) puts its handler before this one. Left out: SIGINT and SIGQUIT, which end the process at
//! once, as SIGTERM does since .NET 10.

use crate::thread::CurrentThread;
use crate::{class_library, exit, exit_code, thread_dump};
use saki_os::signal;
use saki_thread::ThreadKind;
use std::io;

/// What a shell says of a process that the signal ended, and .NET's exit code.
const EXIT_CODE: i32 = 128 + libc::SIGTERM;

/// Installs the handler, if this .NET has one.
///
/// # Errors
/// The system's, for the handler and the thread of dumps.
pub(crate) fn install() -> io::Result<()> {
    // The thread reports crashes, too: of programs that a host of .NET runs, which has none of its own accord.
    thread_dump::start_if_absent()?;
    if class_library::is_net_since(10) {
        return Ok(());
    }
    signal::install(libc::SIGTERM, thread_dump::ask_for_end)
}

/// Ends the process on a thread of its own; at once where there is no room for one.
pub(crate) fn begin() {
    let spawned = saki_thread::spawn(ThreadKind::Internal, Some("Termination"), 0, |thread| {
        // SAFETY: the thread just attached.
        let t = unsafe { CurrentThread::from_abi(thread.abi()) };
        exit_code::set_exit_code(EXIT_CODE);
        exit::run_exit_hooks(t);
        saki_thread::end_process(exit_code::exit_code())
    });
    if spawned.is_err() {
        saki_thread::end_process(EXIT_CODE)
    }
}

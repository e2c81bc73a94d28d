//! Does what the standard library would do before `main`, without its alternate signal stack.
//!
//! The command has a C `main`, so that the standard library does not prepare the process: it would give the main
//! thread, and each thread that it makes, an alternate signal stack of 8 KiB, which two nested handlers with vector
//! registers overflow, and it would take the main thread's away before the process has ended. So the main thread takes
//! signals on its own stack until `prepare` gives it an alternate stack that holds nested ones, which it keeps.

use saki_os::signal::AlternateStack;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whoever started the process ignores SIGPIPE. Written once, by `prepare`.
static IGNORED_PIPES: AtomicBool = AtomicBool::new(false);

/// Whether a write to a pipe without a reader would end the process, had `prepare` not prevented it.
pub fn would_end_by_closed_pipe() -> bool {
    // Relaxed: it does not change after `prepare`.
    !IGNORED_PIPES.load(Ordering::Relaxed)
}

/// To be called first.
pub fn prepare() {
    // Without memory for it handlers run on the thread's own stack.
    std::mem::forget(AlternateStack::install());
    open_standard_streams();
    make_room_for_descriptors();
    // A closed pipe ends writes with an error, as .NET programs expect, not the process.
    // SAFETY: SIG_IGN is async-signal-safe and no other thread runs yet.
    let before = unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    // Relaxed: no other thread runs yet.
    IGNORED_PIPES.store(before == libc::SIG_IGN, Ordering::Relaxed);
}

/// Makes the process's table of descriptors large enough for most programs, while one thread uses it. When a table that
/// several threads use grows, the kernel waits until no processor reads the old one: 10 ms in a test. Each thread that
/// opens a file or a socket meanwhile waits, too.
fn make_room_for_descriptors() {
    /// The table then takes 8 KiB.
    const DESCRIPTORS: i32 = 1 << 10;
    // A lower limit of descriptors leaves the table as it is.
    // SAFETY: makes a descriptor that nothing else knows.
    let last = unsafe { libc::fcntl(libc::STDIN_FILENO, libc::F_DUPFD_CLOEXEC, DESCRIPTORS - 1) };
    if last != -1 {
        // SAFETY: the descriptor was made above.
        unsafe { libc::close(last) };
    }
}

/// Opens /dev/null in place of standard streams that are closed: otherwise files that are opened later would get their
/// numbers, and receive output meant for the streams.
fn open_standard_streams() {
    for descriptor in libc::STDIN_FILENO..=libc::STDERR_FILENO {
        // SAFETY: only asks for the descriptor's flags.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
            // The lowest free number, which is this one. A machine without /dev/null leaves the stream closed.
            // SAFETY: a string that ends in NUL.
            unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) };
        }
    }
}

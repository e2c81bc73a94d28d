//! `errno` of the calling thread.
//!
//! Invariant: reading and writing are async-signal-safe. Left out: error texts (`std::io::Error` has them).

use std::io;

/// The calling thread's `errno`.
pub fn errno() -> i32 {
    // SAFETY: glibc returns the address of this thread's errno, valid while the thread runs.
    unsafe { *libc::__errno_location() }
}

/// Sets the calling thread's `errno`.
pub fn set_errno(value: i32) {
    // SAFETY: as in `errno`.
    unsafe { *libc::__errno_location() = value }
}

/// `Err(last OS error)` when the result of a C call is negative.
pub(crate) fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

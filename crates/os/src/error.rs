//! `errno` of the calling OS thread.
//!
//! Invariant: reading and writing are async-signal-safe, and never inlined. Compilers assume that the address of
//! `errno` is constant within a function (the standard library declares it so, and `std::io::Error::last_os_error` is
//! inlined), but a green thread may change OS threads in the middle of a function. Code that decides by a call's error
//! takes it as an `Errno`, right after the call. Left out: error texts (`std::io::Error` has them).

use std::io;

/// The calling OS thread's `errno`.
#[inline(never)]
pub fn errno() -> i32 {
    // SAFETY: glibc returns the address of this thread's errno, valid while the thread runs.
    unsafe { *libc::__errno_location() }
}

/// The address of the calling OS thread's `errno`.
#[inline(never)]
pub fn errno_address() -> usize {
    // SAFETY: the function has no requirements.
    unsafe { libc::__errno_location() }.addr()
}

/// Sets the calling OS thread's `errno`.
#[inline(never)]
pub fn set_errno(value: i32) {
    // SAFETY: the address is that of the calling OS thread's variable, which lives as long as the thread.
    unsafe { *libc::__errno_location() = value }
}

/// The error of one system call: a value, which no later call changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Errno(pub i32);

impl Errno {
    /// The error of the system call that has just failed on this OS thread.
    pub fn last() -> Errno {
        Errno(errno())
    }
}

/// The error of the system call that has just failed on this OS thread. Unlike `std::io::Error::last_os_error` it is
/// for code that green threads run, too.
pub fn last_error() -> io::Error {
    io::Error::from_raw_os_error(errno())
}

/// `Err(last OS error)` when the result of a C call is negative.
pub(crate) fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(last_error()) } else { Ok(()) }
}

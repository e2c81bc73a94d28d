//! The system interfaces that say which descriptors are ready.
//!
//! Invariant: after `watch_once` or `watch_always` has returned, a `wait` reports that the descriptor is, or becomes,
//! ready in the directions asked for: for `watch_once` once, for `watch_always` at each new readiness. Left out: the
//! waiting threads.

mod epoll;
mod poll;
mod uring;

use crate::record::Readiness;
use crate::transfer_request::Transfer;
use saki_thread::ManagedThread;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

pub(crate) use epoll::Epoll;
pub(crate) use poll::Poll;
pub(crate) use uring::Uring;

/// See the module header.
pub(crate) trait Backend: Send + Sync {
    /// Asks for one report of readiness; replaces earlier requests for the descriptor.
    ///
    /// # Errors
    /// EPERM for a descriptor that is always ready, a file's; EBADF.
    fn watch_once(&self, fd: i32, wanted: Readiness) -> io::Result<()>;

    /// Asks for a report of the directions in which the descriptor is ready now, and whenever it becomes ready in one,
    /// until it is closed. `is_watched`: the descriptor is already watched, and only its present state is wanted again.
    /// False: the backend has only `watch_once`.
    ///
    /// # Errors
    /// EPERM for a descriptor that is always ready, a file's; EBADF.
    fn watch_always(&self, fd: i32, is_watched: bool) -> io::Result<bool>;

    /// Ends all requests for the descriptor, which may be closed already.
    fn unwatch(&self, fd: i32);

    /// Makes the system move bytes, and report it by one [`Event::Moved`].
    ///
    /// # Errors
    /// The system has no such request, or no room for it now; no transfer has begun.
    ///
    /// # Safety
    /// The transfer and its buffer stay valid until the transfer has a result.
    unsafe fn begin_transfer(&self, _transfer: &Transfer) -> io::Result<()> {
        Err(unsupported())
    }

    /// Asks for the end of a transfer, whose result comes soon, with or without bytes that were moved before.
    fn end_transfer(&self, _transfer: &Transfer) {}

    /// Waits until there are events, `interrupt` is called or the timeout has passed, and calls `tell` for each event.
    /// May return without an event. One caller at a time.
    ///
    /// # Errors
    /// The system's, but for EINTR.
    fn wait(&self, timeout: Option<Duration>, tell: &mut dyn FnMut(Event)) -> io::Result<()>;

    /// Ends the present `wait`, or the next one.
    fn interrupt(&self);
}

/// The events that a wait reports.
pub(crate) enum Event {
    /// A descriptor is ready.
    Ready(i32, Readiness),
    /// The transfer of this thread has ended, and the thread has to be woken.
    Moved(&'static ManagedThread),
}

/// A descriptor that other threads make readable: an event counter (eventfd(2)).
pub(crate) struct Bell(OwnedFd);

impl Bell {
    pub(crate) fn new() -> io::Result<Bell> {
        // SAFETY: makes a descriptor.
        let fd = check(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
        // SAFETY: the descriptor was just made and has no other owner.
        Ok(Bell(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    pub(crate) fn fd(&self) -> i32 {
        self.0.as_raw_fd()
    }

    pub(crate) fn ring(&self) {
        let one = 1_u64;
        // SAFETY: eight bytes. A counter that is full is readable already.
        unsafe { libc::write(self.fd(), (&raw const one).cast(), size_of::<u64>()) };
    }

    /// Makes it unreadable.
    pub(crate) fn silence(&self) {
        let mut count = 0_u64;
        // SAFETY: room for eight bytes; there may be none to read.
        unsafe { libc::read(self.fd(), (&raw mut count).cast(), size_of::<u64>()) };
    }
}

/// A timeout in the form of system calls. Longer timeouts than fit are cut, so that the wait ends early, without an
/// event.
fn timespec(time: Duration) -> libc::timespec {
    libc::timespec { tv_sec: time.as_secs().min(1 << 30) as libc::time_t, tv_nsec: time.subsec_nanos().into() }
}

/// The result of a system call.
fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(saki_os::error::last_error()) } else { Ok(result) }
}

/// The error of backends without completions.
fn unsupported() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOSYS)
}

/// Whether `poll` would always report the descriptor as ready, as for a file; `epoll` detects this by itself.
fn is_always_ready(fd: i32) -> io::Result<bool> {
    // SAFETY: all-zero is a valid `stat`.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: room for the answer.
    check(unsafe { libc::fstat(fd, &mut status) })?;
    Ok(matches!(status.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFDIR))
}

//! The system interfaces that say which descriptors are ready.
//!
//! Invariant: after `watch_once` or `watch_always` has returned, readiness of the descriptor for what was asked, present or future, is reported by a
//! `wait`: for `watch_once` once, for `watch_always` each time that there is something new. Left out: who waits.

mod epoll;
mod poll;

use crate::model::IoModel;
use std::io;

pub(crate) use epoll::Epoll;
pub(crate) use poll::Poll;

/// For what a descriptor is ready, or asked about. An error or the peer's end readies both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Readiness {
    pub read: bool,
    pub write: bool,
}

impl Readiness {
    pub(crate) fn is_none(self) -> bool {
        !self.read && !self.write
    }
}

/// See the module header.
pub(crate) trait Backend: Send + Sync {
    /// Asks for one report of readiness; takes the place of what was asked of the descriptor before.
    ///
    /// # Errors
    /// EPERM for a descriptor that is always ready, a file's; EBADF.
    fn watch_once(&self, fd: i32, wanted: Readiness) -> io::Result<()>;

    /// Asks for a report whenever the descriptor becomes ready for something, until it is closed. False: there is only `watch_once`.
    ///
    /// # Errors
    /// As `watch_once`.
    fn watch_always(&self, fd: i32) -> io::Result<bool>;

    /// Nothing is asked of the descriptor any more, which may be closed already.
    fn unwatch(&self, fd: i32);

    /// Waits until something is ready, and calls `report` for each descriptor.
    ///
    /// # Errors
    /// The system's, but for EINTR.
    fn wait(&self, report: &mut dyn FnMut(i32, Readiness)) -> io::Result<()>;
}

/// # Errors
/// The system's, when it refuses a descriptor.
pub(crate) fn open(model: IoModel) -> io::Result<Box<dyn Backend>> {
    match model {
        IoModel::Poll => Ok(Box::new(Poll::open()?)),
        IoModel::Blocking | IoModel::Epoll => Ok(Box::new(Epoll::open()?)),
    }
}

/// The result of a system call.
fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

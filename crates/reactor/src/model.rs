//! Which I/O model is in force (`--io` and `SAKI_IO`), and which backend it uses.

use crate::backend::{Backend, Epoll, Poll, Uring};
use std::fmt;
use std::io;
use std::str::FromStr;
use std::sync::OnceLock;

/// How threads wait for descriptors. See `docs/io.md`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IoModel {
    /// In the system call itself.
    #[default]
    Blocking,
    /// Parked; readiness by `poll` (poll(2)).
    Poll,
    /// Parked; readiness by `epoll` (epoll(7)).
    Epoll,
    /// Parked; readiness by `io_uring` (io_uring(7)).
    Uring,
}

/// The poller, which asks the system which descriptors are ready.
#[derive(Clone, Copy, Debug, Default)]
pub enum PolledBy {
    /// An OS thread of the reactor's.
    #[default]
    OwnThread,
    /// A scheduler, by `poll`. `begun` is called at the first wait, when there is something to poll
    /// for.
    Others { begun: fn() },
}

static MODEL: OnceLock<(IoModel, PolledBy)> = OnceLock::new();

impl IoModel {
    pub const ALL: [IoModel; 4] = [IoModel::Blocking, IoModel::Poll, IoModel::Epoll, IoModel::Uring];

    /// Checks that the system has the interfaces that the model needs.
    ///
    /// # Errors
    /// Why not.
    pub fn check(self) -> Result<(), String> {
        match (self, self.open()) {
            (IoModel::Blocking, _) | (_, Ok(_)) => Ok(()),
            (IoModel::Uring, Err(error)) => {
                let errno = error.raw_os_error();
                let cause = match errno {
                    Some(libc::ENOSYS | libc::EINVAL) => "the kernel has no io_uring, or one from before Linux 5.19",
                    Some(libc::EPERM | libc::EACCES) => {
                        "the system forbids io_uring (kernel.io_uring_disabled, or a filter of system calls)"
                    }
                    _ => "the system makes no io_uring",
                };
                Err(format!("{cause}: {error}"))
            }
            (_, Err(error)) => Err(error.to_string()),
        }
    }

    /// A backend for this model.
    ///
    /// # Errors
    /// The system's, when it refuses a descriptor.
    pub(crate) fn open(self) -> io::Result<Box<dyn Backend>> {
        match self {
            IoModel::Poll => Ok(Box::new(Poll::open()?)),
            IoModel::Uring => Ok(Box::new(Uring::open()?)),
            IoModel::Blocking | IoModel::Epoll => Ok(Box::new(Epoll::open()?)),
        }
    }
}

/// Sets the model; once, before the first wait.
pub fn start(model: IoModel, polled_by: PolledBy) {
    let _ = MODEL.set((model, polled_by));
}

pub(crate) fn polled_by() -> PolledBy {
    MODEL.get().map(|(_, polled_by)| *polled_by).unwrap_or_default()
}

/// The model in force.
pub fn model() -> IoModel {
    MODEL.get().map(|(model, _)| *model).unwrap_or_default()
}

/// Whether waits for descriptors park the thread; else system calls block.
#[inline]
pub fn waits_park() -> bool {
    model() != IoModel::Blocking
}

impl FromStr for IoModel {
    type Err = String;

    fn from_str(text: &str) -> Result<IoModel, String> {
        match text {
            "blocking" => Ok(IoModel::Blocking),
            "poll" => Ok(IoModel::Poll),
            "epoll" => Ok(IoModel::Epoll),
            "uring" => Ok(IoModel::Uring),
            _ => Err(format!("'{text}' is not one of blocking, poll, epoll and uring")),
        }
    }
}

impl fmt::Display for IoModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IoModel::Blocking => "blocking",
            IoModel::Poll => "poll",
            IoModel::Epoll => "epoll",
            IoModel::Uring => "uring",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_written_as_they_are_read() {
        for text in ["blocking", "poll", "epoll", "uring"] {
            assert_eq!(text.parse::<IoModel>().unwrap().to_string(), text);
        }
        assert!("Epoll".parse::<IoModel>().is_err() && "".parse::<IoModel>().is_err());
    }
}

//! How one attempt of an operation ends, and how the wait for it ends.

use crate::thread::Thrown;
use saki_os::error::Errno;

/// The end of one attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attempt<T> {
    Done(T),
    /// The operation is not possible yet: the thread waits, and tries again.
    WouldBlock,
    /// A signal ended the attempt before it had an effect: it is made again, unless somebody wants the thread to stop
    /// waiting.
    Interrupted,
    Failed(Errno),
}

impl Attempt<usize> {
    /// The end of the system call that has just returned `result`, which is negative if it failed: `Attempt::of
    /// (libc::read (…))`.
    pub fn of(result: impl TryInto<usize>) -> Attempt<usize> {
        match result.try_into() {
            Ok(value) => Attempt::Done(value),
            Err(_) => match Errno::last() {
                Errno(libc::EAGAIN) => Attempt::WouldBlock,
                Errno(libc::EINTR) => Attempt::Interrupted,
                errno => Attempt::Failed(errno),
            },
        }
    }
}

/// Why a wait ended although its operation was not done.
#[derive(Debug)]
pub enum Unfinished {
    Failed(Errno),
    /// An attempt that blocks by itself said that it would block: the descriptor does not block, or the system's own
    /// timeout has passed.
    WouldBlock,
    TimedOut,
    /// The wait's `is_over` returned true.
    Cancelled,
    /// The thread is aborted; the exception is pending.
    Aborted(Thrown),
    /// The thread cannot park for what it waits for, or not now: the operation must block.
    CannotPark,
}

impl Unfinished {
    /// The number with which a blocking system call would have ended, for callers that report numbers.
    pub fn errno(&self) -> Errno {
        match self {
            Unfinished::Failed(errno) => *errno,
            Unfinished::WouldBlock | Unfinished::TimedOut | Unfinished::CannotPark => Errno(libc::EAGAIN),
            Unfinished::Cancelled | Unfinished::Aborted(_) => Errno(libc::EINTR),
        }
    }
}

/// The end of a wait.
pub type Waited<T> = Result<T, Unfinished>;

//! Waits for descriptors.
//!
//! Invariant: a thread registers in the records of the descriptors before it parks, and leaves them when it goes on.

use crate::descriptor::{Descriptor, WaitedDescriptor, Waiter, record};
use crate::poller::backend;
use crate::record::{Interest, Lifetime, Seen};
use saki_sync::monitor::BlockEnd;
use saki_thread::{ManagedThread, REQUEST_ABORT, WaitState};
use std::io;
use std::time::Duration;

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitEnd {
    /// The operation may work now.
    TryAgain,
    TimedOut,
    /// The descriptor cannot be waited for, as files cannot: the operation is to block.
    CannotWait,
}

/// A descriptor's state before a thread tries an operation; for descriptors whose lifetime is known. To be made before
/// the try.
#[derive(Clone, Copy)]
pub struct Look {
    fd: i32,
    interest: Interest,
    place: Option<WaitedDescriptor>,
    seen: Seen,
}

impl Look {
    pub fn at(fd: i32, interest: Interest) -> Look {
        let place = record(fd);
        let seen = place.map_or(Seen { reports: 0, may_work: true }, |place| place.look(interest));
        Look { fd, interest, place, seen }
    }

    /// False: the operation would block; `wait` returns when it may work.
    pub fn may_work(&self) -> bool {
        self.seen.may_work
    }

    /// The try has failed, as it would have blocked.
    pub fn note_would_block(&self) {
        if let Some(place) = self.place {
            place.note_nothing_left(self.interest, self.seen, false);
        }
    }

    /// The try has transferred less than it was asked to, on a connection whose data is a stream: the next one would
    /// block.
    pub fn note_short(&self) {
        if let Some(place) = self.place {
            place.note_nothing_left(self.interest, self.seen, true);
        }
    }

    /// Waits until the descriptor may be ready, the timeout has passed, `is_over` returns true after the thread was
    /// woken (`ManagedThread::unpark`), or an abort of the thread is requested. No try has been made since the look, or
    /// one that would have blocked. Called by the thread itself, which is RUNNING.
    pub fn wait(
        &self,
        thread: &'static ManagedThread,
        timeout: Option<Duration>,
        is_over: impl Fn() -> bool,
    ) -> WaitEnd {
        let Some(place) = self.place else { return WaitEnd::CannotWait };
        match begin(thread, self.fd, place, self.interest, Lifetime::Known, Some(self.seen)) {
            Ok(Some(reports)) => {
                let end = park(thread, timeout, || place.is_reported(self.interest, reports) || is_over());
                place.leave(Waiter::Thread(thread), self.interest, reports);
                end
            }
            Ok(None) => WaitEnd::TryAgain,
            Err(_) => WaitEnd::CannotWait,
        }
    }
}

/// Registers the calling thread, `thread`, as a waiter: see `Record::join`.
///
/// # Errors
/// EPERM: the descriptor is always ready. EBADF and others: it cannot be watched.
fn begin(
    thread: &'static ManagedThread,
    fd: i32,
    place: WaitedDescriptor,
    interest: Interest,
    lifetime: Lifetime,
    seen: Option<Seen>,
) -> io::Result<Option<u32>> {
    place.join(Waiter::Thread(thread), interest, lifetime, seen, &Descriptor { backend: backend()?, fd })
}

fn park(thread: &'static ManagedThread, timeout: Option<Duration>, is_done: impl Fn() -> bool) -> WaitEnd {
    let is_done = || is_done() || thread.pending_requests() & REQUEST_ABORT != 0;
    match thread.wait_until(WaitState::Native, timeout, false, is_done) {
        BlockEnd::TimedOut => WaitEnd::TimedOut,
        BlockEnd::Woken | BlockEnd::Interrupted => WaitEnd::TryAgain,
    }
}

/// Waits until the descriptor may be ready, the timeout has passed, `is_over` returns true after the thread was woken
/// (`ManagedThread::unpark`), or an abort of the thread is requested. Called by the thread itself, which is RUNNING.
/// `lifetime` is the same at every wait for a descriptor.
pub fn wait(
    thread: &'static ManagedThread,
    fd: i32,
    interest: Interest,
    lifetime: Lifetime,
    timeout: Option<Duration>,
    is_over: impl Fn() -> bool,
) -> WaitEnd {
    wait_any(thread, &[(fd, interest)], lifetime, timeout, is_over)
}

/// Waits until one of several descriptors may be ready, the timeout has passed, `is_over` returns true after the thread
/// was woken (`ManagedThread::unpark`), or an abort of the thread is requested. Called by the thread itself, which is
/// RUNNING. `lifetime` is the same at every wait for a descriptor.
pub fn wait_any(
    thread: &'static ManagedThread,
    wanted: &[(i32, Interest)],
    lifetime: Lifetime,
    timeout: Option<Duration>,
    is_over: impl Fn() -> bool,
) -> WaitEnd {
    let mut begun: Vec<(WaitedDescriptor, Interest, u32)> = Vec::with_capacity(wanted.len());
    let mut early = None;
    for &(fd, interest) in wanted {
        let Some(place) = record(fd) else {
            early = Some(WaitEnd::CannotWait);
            break;
        };
        match begin(thread, fd, place, interest, lifetime, None) {
            Ok(Some(reports)) => begun.push((place, interest, reports)),
            Ok(None) => early = Some(WaitEnd::TryAgain),
            Err(_) => early = Some(WaitEnd::CannotWait),
        }
        if early.is_some() {
            break;
        }
    }
    let is_reported = || begun.iter().any(|(place, interest, reports)| place.is_reported(*interest, *reports));
    let end = early.unwrap_or_else(|| park(thread, timeout, || is_reported() || is_over()));
    for (place, interest, reports) in begun {
        place.leave(Waiter::Thread(thread), interest, reports);
    }
    end
}

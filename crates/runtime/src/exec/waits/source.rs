//! What a thread waits for between two attempts of an operation.

use super::attempt::Attempt;
use crate::thread::CurrentThread;
use saki_os::error::Errno;
use saki_reactor::{Interest, Lifetime, WaitEnd};
use saki_thread::{ManagedThread, REQUEST_ABORT, WaitState};
use std::time::Duration;

/// How a thread parks.
#[derive(Clone, Copy)]
pub struct Stay<'a> {
    /// The rest of the time; None: for ever.
    pub rest: Option<Duration>,
    /// Looked at after each time that the thread was woken.
    pub is_over: &'a dyn Fn() -> bool,
    /// Whether an abort ends the stay. False while one is requested that has to wait for the end of a finally block.
    pub heeds_aborts: bool,
}

impl Stay<'_> {
    /// Parks once, until another thread wakes this one (`ManagedThread::unpark`) or the time has passed, which the
    /// caller finds out.
    pub fn until_unparked(self, thread: &ManagedThread, at_most: Option<Duration>) {
        let mut has_parked = false;
        let has_abort = || self.heeds_aborts && thread.pending_requests() & REQUEST_ABORT != 0;
        let is_done = || std::mem::replace(&mut has_parked, true) || (self.is_over)() || has_abort();
        thread.wait_until(WaitState::Native, at_most, false, is_done);
    }
}

/// How a stay ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parked<T> {
    /// The operation may work now, or the stay is over, or an abort was requested; or none of these.
    TryAgain,
    TimedOut,
    /// The thread cannot park for it, or not now.
    CannotPark,
    /// The operation was made meanwhile, and has succeeded.
    Done(T),
    /// The operation was made meanwhile, and has failed.
    Failed(Errno),
}

/// Something that a thread waits for.
pub trait Source<T> {
    /// Whether the attempts wait by themselves, so that the thread never parks.
    const ATTEMPTS_WAIT: bool = false;

    /// False: an attempt would block, so it need not be made.
    fn may_work(&mut self) -> bool {
        true
    }

    /// Makes an attempt.
    fn make(&mut self, attempt: impl FnOnce() -> Attempt<T>) -> Attempt<T> {
        attempt()
    }

    /// Parks, after an attempt that would have blocked.
    fn park(&mut self, stay: Stay<'_>) -> Parked<T>;
}

/// Nothing: each attempt is a system call that blocks, and is made in a safe region.
pub struct Blocking(&'static ManagedThread);

impl Blocking {
    /// For attempts of the current thread.
    pub fn new(t: CurrentThread) -> Blocking {
        Blocking(t.managed())
    }
}

impl<T> Source<T> for Blocking {
    const ATTEMPTS_WAIT: bool = true;

    fn make(&mut self, attempt: impl FnOnce() -> Attempt<T>) -> Attempt<T> {
        self.0.blocking(attempt)
    }

    fn park(&mut self, _stay: Stay<'_>) -> Parked<T> {
        Parked::CannotPark
    }
}

/// Nothing: each attempt parks the thread in a way of its own.
pub(super) struct Itself;

impl<T> Source<T> for Itself {
    const ATTEMPTS_WAIT: bool = true;

    fn park(&mut self, _stay: Stay<'_>) -> Parked<T> {
        Parked::CannotPark
    }
}

/// Another thread, which makes the operation possible and unparks this one afterwards.
pub struct Unparked(&'static ManagedThread);

impl Unparked {
    /// For the current thread, which others find by its `ManagedThread`.
    pub fn new(t: CurrentThread) -> Unparked {
        Unparked(t.managed())
    }
}

impl<T> Source<T> for Unparked {
    fn park(&mut self, stay: Stay<'_>) -> Parked<T> {
        stay.until_unparked(self.0, stay.rest);
        Parked::TryAgain
    }
}

/// The pause between two attempts: at first, and at most.
const SHORTEST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Nothing that is ever reported: attempts are made after pauses, each twice as long as the one before.
pub struct Pauses {
    thread: &'static ManagedThread,
    next: Duration,
}

impl Pauses {
    /// For the current thread.
    pub fn new(t: CurrentThread) -> Pauses {
        Pauses { thread: t.managed(), next: SHORTEST_PAUSE }
    }
}

impl<T> Source<T> for Pauses {
    fn park(&mut self, stay: Stay<'_>) -> Parked<T> {
        stay.until_unparked(self.thread, Some(stay.rest.map_or(self.next, |rest| rest.min(self.next))));
        self.next = (2 * self.next).min(LONGEST_PAUSE);
        Parked::TryAgain
    }
}

/// A descriptor on which the operation may work. Only where waits park (`saki_reactor::waits_park`).
pub struct Ready {
    thread: &'static ManagedThread,
    fd: i32,
    interest: Interest,
    lifetime: Lifetime,
}

impl Ready {
    /// For the current thread. `lifetime` is the same at every wait for a descriptor.
    pub fn new(t: CurrentThread, fd: i32, interest: Interest, lifetime: Lifetime) -> Ready {
        Ready { thread: t.managed(), fd, interest, lifetime }
    }
}

impl<T> Source<T> for Ready {
    fn park(&mut self, stay: Stay<'_>) -> Parked<T> {
        if !stay.heeds_aborts {
            // The reactor's waits end when an abort is requested; a blocking call goes on.
            return Parked::CannotPark;
        }
        end_of(saki_reactor::wait(self.thread, self.fd, self.interest, self.lifetime, stay.rest, stay.is_over))
    }
}

/// The end of a wait for descriptors.
pub fn end_of<T>(end: WaitEnd) -> Parked<T> {
    match end {
        WaitEnd::TryAgain => Parked::TryAgain,
        WaitEnd::TimedOut => Parked::TimedOut,
        WaitEnd::CannotWait => Parked::CannotPark,
    }
}

/// The pause between two looks at descriptors that cannot be waited for.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// One of several descriptors, whose ends the reactor is told of. Those that the reactor cannot wait for are looked at
/// again and again.
pub struct AnyReady<'a> {
    thread: &'static ManagedThread,
    wanted: &'a [(i32, Interest)],
}

impl<'a> AnyReady<'a> {
    /// For the current thread.
    pub fn new(t: CurrentThread, wanted: &'a [(i32, Interest)]) -> AnyReady<'a> {
        AnyReady { thread: t.managed(), wanted }
    }
}

impl<T> Source<T> for AnyReady<'_> {
    fn park(&mut self, stay: Stay<'_>) -> Parked<T> {
        let end = match stay.heeds_aborts {
            true => saki_reactor::wait_any(self.thread, self.wanted, Lifetime::Known, stay.rest, stay.is_over),
            false => WaitEnd::CannotWait,
        };
        match end {
            WaitEnd::TryAgain => Parked::TryAgain,
            WaitEnd::TimedOut => Parked::TimedOut,
            WaitEnd::CannotWait => {
                self.thread.sleep(Some(stay.rest.map_or(LOOK_INTERVAL, |rest| rest.min(LOOK_INTERVAL))), false);
                Parked::TryAgain
            }
        }
    }
}

//! How a thread waits in a function of the library: the first attempt in native code, then parked between attempts.
//!
//! Invariant: the look at a socket's record is made before the attempt that follows it. Left out: the cycle of a wait
//! (`saki_runtime::exec::waits`); when the descriptor cannot be waited for, the caller makes the library's call, which
//! blocks.

use super::{errors, original};
use saki_icall::io::native_streams::outside_native_code;
use saki_os::error::Errno;
use saki_reactor::{Interest, Lifetime, Look};
use saki_runtime::CurrentThread;
use saki_runtime::exec::waits::{self, Attempt, Limit, Parked, Ready, Source, Stay, Unfinished, Wait, Waited, end_of};
use saki_runtime::vm::profile_events::IoWait;
use saki_thread::ManagedThread;
use std::time::Duration;

/// How a wait ended.
#[derive(Debug)]
pub(super) enum End<T> {
    Done(T),
    Failed(Errno),
    TimedOut,
    /// The thread is aborted; the exception is pending.
    Aborted,
    /// The descriptor cannot be waited for: the call must block.
    MustBlock,
}

impl<T> End<T> {
    fn of(waited: Waited<T>) -> End<T> {
        match waited {
            Ok(value) => End::Done(value),
            Err(Unfinished::Failed(errno)) => End::Failed(errno),
            Err(Unfinished::TimedOut | Unfinished::WouldBlock) => End::TimedOut,
            Err(Unfinished::Cancelled | Unfinished::Aborted(_)) => End::Aborted,
            Err(Unfinished::CannotPark) => End::MustBlock,
        }
    }
}

impl End<i32> {
    /// The library's error number; a timeout is `timed_out`. None: the call must block.
    pub(super) fn code(self, timed_out: i32) -> Option<i32> {
        match self {
            End::Done(code) => Some(code),
            End::Failed(Errno(errno)) => Some(original::of_errno(errno)),
            End::TimedOut => Some(timed_out),
            End::Aborted => Some(errors::INTERRUPTED),
            End::MustBlock => None,
        }
    }
}

/// An attempt that has ended with a number of the library's.
pub(super) fn attempt_of(code: i32) -> Attempt<i32> {
    if code == errors::AGAIN { Attempt::WouldBlock } else { Attempt::Done(code) }
}

/// A source after an attempt that would have blocked: no second one is made before the thread has parked.
struct AfterAttempt<S> {
    source: S,
    is_spent: bool,
}

impl<T, S: Source<T>> Source<T> for AfterAttempt<S> {
    fn may_work(&mut self) -> bool {
        !std::mem::take(&mut self.is_spent) && self.source.may_work()
    }

    fn make(&mut self, attempt: impl FnOnce() -> Attempt<T>) -> Attempt<T> {
        self.source.make(attempt)
    }

    fn park(&mut self, stay: Stay<'_>) -> Parked<T> {
        self.source.park(stay)
    }
}

/// Waits for what `source` says after an attempt has been made in native code.
pub(super) fn after_attempt<T, S: Source<T>>(
    t: CurrentThread,
    source: S,
    limit: Limit<'_>,
    what: &'static str,
    mut attempt: impl FnMut() -> Attempt<T>,
) -> End<T> {
    let _wait = IoWait::begin(t, what);
    let wait = Wait::new(AfterAttempt { source, is_spent: true }).within(limit);
    End::of(waits::wait_for(t, wait, |_| attempt()))
}

/// A socket's readiness, of which the reactor has a record.
struct Looked<F> {
    thread: &'static ManagedThread,
    fd: i32,
    interest: Interest,
    /// Made before each attempt.
    look: Look,
    is_short: F,
}

/// Makes an attempt, and notes in the record what it says of the next one.
fn noted<T>(look: &Look, is_short: impl Fn(&T) -> bool, attempt: impl FnOnce() -> Attempt<T>) -> Attempt<T> {
    let end = attempt();
    match &end {
        Attempt::Done(value) if is_short(value) => look.note_short(),
        Attempt::WouldBlock => look.note_would_block(),
        Attempt::Done(_) | Attempt::Interrupted | Attempt::Failed(_) => {}
    }
    end
}

impl<T, F: Fn(&T) -> bool> Source<T> for Looked<F> {
    fn may_work(&mut self) -> bool {
        self.look.may_work()
    }

    fn make(&mut self, attempt: impl FnOnce() -> Attempt<T>) -> Attempt<T> {
        noted(&self.look, &self.is_short, attempt)
    }

    fn park(&mut self, stay: Stay<'_>) -> Parked<T> {
        if !stay.heeds_aborts {
            // The reactor's waits end when an abort is requested; a blocking call goes on.
            return Parked::CannotPark;
        }
        let end = self.look.wait(self.thread, stay.rest, stay.is_over);
        self.look = Look::at(self.fd, self.interest);
        end_of(end)
    }
}

/// A descriptor that managed code alone closes, and what is waited for.
pub(super) struct Watched<F> {
    pub(super) fd: i32,
    pub(super) interest: Interest,
    /// The name of the wait in profiles.
    pub(super) what: &'static str,
    /// Whether a successful attempt shows that the next one would block.
    pub(super) is_short: F,
}

impl<F> Watched<F> {
    /// Makes attempts that never block until one succeeds, for as long as `timeout` says when it is asked at the first
    /// wait. Called in native code.
    pub(super) fn wait<T>(
        self,
        timeout: &dyn Fn() -> Option<Duration>,
        mut attempt: impl FnMut() -> Attempt<T>,
    ) -> End<T>
    where
        F: Fn(&T) -> bool,
    {
        let Watched { fd, interest, what, is_short } = self;
        let look = Look::at(fd, interest);
        if look.may_work() {
            match noted(&look, &is_short, &mut attempt) {
                Attempt::Done(value) => return End::Done(value),
                Attempt::Failed(errno) => return End::Failed(errno),
                Attempt::WouldBlock | Attempt::Interrupted => {}
            }
        }
        outside_native_code(|t| {
            let source = Looked { thread: t.managed(), fd, interest, look, is_short };
            after_attempt(t, source, Limit::After(timeout), what, attempt)
        })
    }
}

/// Makes attempts that never block until one succeeds, on a descriptor that native code may close. Called in native
/// code.
pub(super) fn wait_for_file(
    fd: i32,
    interest: Interest,
    what: &'static str,
    mut attempt: impl FnMut() -> Attempt<usize>,
) -> End<usize> {
    match attempt() {
        Attempt::Done(count) => End::Done(count),
        Attempt::Failed(errno) => End::Failed(errno),
        Attempt::WouldBlock | Attempt::Interrupted => outside_native_code(|t| {
            after_attempt(t, Ready::new(t, fd, interest, Lifetime::Unknown), Limit::Never, what, attempt)
        }),
    }
}

/// How long calls on the socket wait; None: for ever.
pub(super) fn timeout_of(fd: i32, interest: Interest) -> Option<Duration> {
    let option = if interest == Interest::Read { libc::SO_RCVTIMEO } else { libc::SO_SNDTIMEO };
    let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let mut len = size_of::<libc::timeval>() as libc::socklen_t;
    // SAFETY: room for a time, and its size.
    let result = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, option, (&raw mut time).cast(), &mut len) };
    let time = Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_usec).ok()? * 1000);
    (result == 0 && !time.is_zero()).then_some(time)
}

/// poll(2) for one descriptor; None: for ever. Done (0): the time has passed.
pub(super) fn poll_one(fd: i32, interest: Interest, timeout: Option<Duration>) -> Attempt<usize> {
    let events = if interest == Interest::Read { libc::POLLIN } else { libc::POLLOUT };
    let mut entry = libc::pollfd { fd, events, revents: 0 };
    // Rounded up, so as not to end early.
    let timeout_ms = timeout.map_or(-1, |time| i32::try_from(time.as_micros().div_ceil(1000)).unwrap_or(i32::MAX));
    // SAFETY: one descriptor.
    Attempt::of(unsafe { libc::poll(&mut entry, 1, timeout_ms) })
}

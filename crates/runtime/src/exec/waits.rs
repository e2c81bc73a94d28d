//! Waits: what a thread does around an operation that may not be possible yet.
//!
//! An operation is an *attempt*, which says how it ended (`Attempt`), and a wait says what the thread waits for between
//! two attempts (`Source`), for how long (`Limit`), and who else may end it. One cycle (`cycle`) makes the attempts.
//! Aborts and suspensions are looked for there and nowhere else.
//!
//! | function | is ended by requests for | throws |
//! |---|---|---|
//! | `wait_for` | an abort | yes: `Unfinished::Aborted` |
//! | `wait_until_some` | an abort | yes |
//! | `wait` | an abort or an interrupt | no: the caller may find that its wait has succeeded all the same |
//!
//! The files from the bottom up: `attempt` and `limit`; `source`; `cycle`. Left out: waits of the machine for itself,
//! which no request ends (`ManagedThread::wait_until`), and locks (`monitors`).

mod attempt;
mod cycle;
mod limit;
mod source;

pub use attempt::{Attempt, Unfinished, Waited};
pub use cycle::Wait;
pub use limit::{Limit, Turn};
pub use source::{AnyReady, Blocking, Parked, Pauses, Ready, Source, Stay, Unparked, end_of};

use crate::thread::{CurrentThread, Managed};
use crate::{stops, thread_aborts};
use cycle::{Request, Waiter};
use saki_thread::REQUEST_ABORT;
use std::time::Duration;

/// Milliseconds as managed code gives them: negative = for ever.
pub fn timeout(milliseconds: i32) -> Option<Duration> {
    u64::try_from(milliseconds).ok().map(Duration::from_millis)
}

/// The end of an interruptible wait. After `Interrupted` the caller calls `thread_aborts::throw_requested`, unless it
/// finds that the wait has succeeded.
pub use saki_sync::monitor::BlockEnd as WaitEnd;

/// A thread whose waits end for aborts alone.
struct Abortable<'t>(CurrentThread<'t>);

impl Waiter for Abortable<'_> {
    #[inline]
    fn request(&self) -> Request {
        if self.0.managed().pending_requests() & REQUEST_ABORT == 0 {
            Request::None
        } else if thread_aborts::abort_is_deferred(self.0) {
            Request::Deferred
        } else {
            Request::Ends
        }
    }

    fn stop_if_asked(&self) {
        stops::stop_if_asked(self.0);
    }
}

/// A thread whose waits end for interrupts, too.
struct Interruptible<'t>(CurrentThread<'t>);

impl Waiter for Interruptible<'_> {
    fn request(&self) -> Request {
        if self.0.managed().pending_requests() == 0 {
            Request::None
        } else if thread_aborts::ends_waits(self.0) {
            Request::Ends
        } else {
            Request::Deferred
        }
    }

    fn stop_if_asked(&self) {
        stops::stop_if_asked(self.0);
    }
}

/// Makes attempts until one succeeds or the wait ends. An abort ends it; then the exception is pending.
pub fn wait_for<T, S: Source<T>>(
    t: CurrentThread,
    wait: Wait<'_, S>,
    attempt: impl FnMut(&Turn<'_>) -> Attempt<T>,
) -> Waited<T> {
    cycle::run(&Abortable(t), wait, attempt)
        .unwrap_or_else(|_| Err(Unfinished::Aborted(thread_aborts::throw_requested(t))))
}

/// Waits, parked, until `take` returns something; the thread that makes it do so unparks this one afterwards.
///
/// # Errors
/// ThreadAbortException.
pub fn wait_until_some<T>(t: CurrentThread, mut take: impl FnMut() -> Option<T>) -> Managed<T> {
    match wait_for(t, Wait::new(Unparked::new(t)), |_| take().map_or(Attempt::WouldBlock, Attempt::Done)) {
        Ok(value) => Ok(value),
        Err(Unfinished::Aborted(thrown)) => Err(thrown),
        Err(end) => saki_base::bug!("a wait without an end has ended: {end:?}"),
    }
}

/// Runs a blocking operation that an interrupt or abort ends. `operation` gets the rest of the time and whether
/// requests may interrupt it; it is called again when an abort that has to wait interrupted it.
pub fn wait(
    t: CurrentThread,
    timeout: Option<Duration>,
    mut operation: impl FnMut(Option<Duration>, bool) -> WaitEnd,
) -> WaitEnd {
    let wait = Wait::new(source::Itself).within(Limit::in_time(timeout));
    let waited = cycle::run(&Interruptible(t), wait, |turn| match operation(turn.rest(), turn.heeds_requests) {
        WaitEnd::Interrupted => Attempt::Interrupted,
        end => Attempt::Done(end),
    });
    match waited {
        Ok(Ok(end)) => end,
        Ok(Err(end)) => saki_base::bug!("a wait that only requests end has ended: {end:?}"),
        Err(cycle::Requested) => WaitEnd::Interrupted,
    }
}

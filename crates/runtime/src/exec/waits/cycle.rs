//! The cycle of every wait: is the thread to end its wait? Try; park; stop if asked; again.
//!
//! | before | is looked for | ends the wait with |
//! |---|---|---|
//! | each attempt | a request of another thread that need not wait | `Requested` |
//! | an attempt | whether it would block for sure (`Source::may_work`); then it is made only if the wait is over otherwise | |
//! | parking | `is_over` | `Cancelled` |
//! | parking | the limit | `TimedOut`, after one last attempt |
//! | going on after a stay, or after an attempt that waits | a suspension; the thread stops here, before managed code sees a result | |
//!
//! Invariant: a request that comes after the look for it ends the stay that follows, unless an earlier one has to wait.
//! Left out: what the thread is and what it waits for.

use super::attempt::{Attempt, Unfinished, Waited};
use super::limit::{Deadline, Limit, Turn};
use super::source::{Parked, Source, Stay};

/// Whether a request of another thread ends waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Request {
    None,
    /// There is one, which has to wait for the end of a finally block.
    Deferred,
    Ends,
}

/// The thread that waits.
pub(super) trait Waiter {
    fn request(&self) -> Request;
    /// Stops the thread while it is suspended.
    fn stop_if_asked(&self);
}

/// What a thread waits for, and until when.
pub struct Wait<'a, S> {
    source: S,
    limit: Limit<'a>,
    is_over: &'a dyn Fn() -> bool,
}

impl<'a, S> Wait<'a, S> {
    /// A wait without an end.
    pub fn new(source: S) -> Wait<'a, S> {
        Wait { source, limit: Limit::Never, is_over: &|| false }
    }

    /// Ends at that time.
    pub fn within(self, limit: Limit<'a>) -> Wait<'a, S> {
        Wait { limit, ..self }
    }

    /// Ends when `is_over` returns true. It is asked only when the thread is about to wait, and after the thread was
    /// woken.
    pub fn unless(self, is_over: &'a dyn Fn() -> bool) -> Wait<'a, S> {
        Wait { is_over, ..self }
    }
}

/// The wait ended because of a request; nothing was thrown yet.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Requested;

/// See the module header.
pub(super) fn run<T, S: Source<T>>(
    waiter: &impl Waiter,
    wait: Wait<'_, S>,
    mut attempt: impl FnMut(&Turn<'_>) -> Attempt<T>,
) -> Result<Waited<T>, Requested> {
    let Wait { mut source, limit, is_over } = wait;
    let deadline = Deadline::new(limit);
    if S::ATTEMPTS_WAIT {
        deadline.begin();
    }
    let mut must_try = false;
    loop {
        let request = waiter.request();
        if request == Request::Ends {
            return Err(Requested);
        }
        let turn = Turn { deadline: &deadline, heeds_requests: request == Request::None };
        let tries = std::mem::take(&mut must_try) || source.may_work() || is_over();
        if tries {
            let end = source.make(|| attempt(&turn));
            if S::ATTEMPTS_WAIT {
                waiter.stop_if_asked();
            }
            match end {
                Attempt::Done(value) => return Ok(Ok(value)),
                Attempt::Failed(errno) => return Ok(Err(Unfinished::Failed(errno))),
                // An attempt that does not wait is soon over; it is made again before the wait is given up.
                Attempt::Interrupted if S::ATTEMPTS_WAIT && is_over() => return Ok(Err(Unfinished::Cancelled)),
                Attempt::Interrupted => {
                    must_try = true;
                    continue;
                }
                Attempt::WouldBlock if S::ATTEMPTS_WAIT => return Ok(Err(Unfinished::WouldBlock)),
                Attempt::WouldBlock if is_over() => return Ok(Err(Unfinished::Cancelled)),
                Attempt::WouldBlock => {}
            }
        }
        let rest = turn.rest();
        if rest.is_some_and(|rest| rest.is_zero()) {
            if tries {
                return Ok(Err(Unfinished::TimedOut));
            }
            must_try = true;
            continue;
        }
        let end = source.park(Stay { rest, is_over, heeds_aborts: turn.heeds_requests });
        waiter.stop_if_asked();
        match end {
            Parked::TryAgain => {}
            Parked::TimedOut => must_try = true,
            Parked::CannotPark => return Ok(Err(Unfinished::CannotPark)),
            Parked::Done(value) => return Ok(Ok(value)),
            Parked::Failed(errno) => return Ok(Err(Unfinished::Failed(errno))),
        }
    }
}

#[cfg(test)]
mod tests;

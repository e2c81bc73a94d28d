//! How long a thread waits.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long a wait lasts at most.
#[derive(Clone, Copy)]
pub enum Limit<'a> {
    Never,
    Until(Instant),
    /// A time from the moment at which the thread has to wait. It is asked for only then, since most operations need
    /// not wait. None: for ever.
    After(&'a dyn Fn() -> Option<Duration>),
}

impl Limit<'_> {
    /// From now on; None: for ever, as for a time beyond the clock's range.
    pub fn in_time(time: Option<Duration>) -> Limit<'static> {
        time.and_then(|time| Instant::now().checked_add(time)).map_or(Limit::Never, Limit::Until)
    }
}

/// A limit of which the thread learns while it waits.
pub(super) struct Deadline<'a> {
    limit: Limit<'a>,
    /// The end, once it was asked for.
    end: Cell<Option<Option<Instant>>>,
}

impl<'a> Deadline<'a> {
    pub(super) fn new(limit: Limit<'a>) -> Deadline<'a> {
        Deadline { limit, end: Cell::new(None) }
    }

    /// The wait begins, if it has not begun yet. None: it has no end.
    pub(super) fn begin(&self) -> Option<Instant> {
        self.end.get().unwrap_or_else(|| {
            let end = match self.limit {
                Limit::Never => None,
                Limit::Until(end) => Some(end),
                Limit::After(time) => time().and_then(|time| Instant::now().checked_add(time)),
            };
            self.end.set(Some(end));
            end
        })
    }

    fn rest(&self) -> Option<Duration> {
        self.begin().map(|end| end.saturating_duration_since(Instant::now()))
    }
}

/// One turn of a wait: what an attempt that blocks by itself needs to know.
pub struct Turn<'a> {
    pub(super) deadline: &'a Deadline<'a>,
    /// False: a request of another thread is there, but has to wait, and would end each wait at once.
    pub heeds_requests: bool,
}

impl Turn<'_> {
    /// The rest of the time; None: for ever.
    pub fn rest(&self) -> Option<Duration> {
        self.deadline.rest()
    }
}

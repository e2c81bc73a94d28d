//! The record of one descriptor: whether it may be ready, which threads wait for it, and how often readiness was
//! reported.
//!
//! | field of a direction, under the record's lock | changed by |
//! |---|---|
//! | `first`, `more` | a waiter before it asks for reports, and when it goes on; the thread that wakes it takes it off |
//! | `reports` | the poller and `forget`: + 1 each time that waiters are to try again |
//! | `may_work` | true by a report, and while the descriptor is not watched always; false by a caller whose try found no more data or room, unless a report came after that try began |
//! | `has_ended` | true by a report of an end or an error, until `forget`: no new report need follow, so a short transfer does not prove that a call would block |
//!
//! A thread tries only if the call may work, and parks otherwise (`look`). It first notes how many reports there were,
//! then tries, then registers as a waiter, which fails if a report came since. Invariant: a report that comes after a
//! waiter's look ends its wait; a report is never taken back by a thread that looked before it.
//!
//! Left out: the system that reports, and the meaning of a waiter, which is a word that can be compared.

use saki_base::locks::rank;
use saki_sync::facade::{Mutex, lock};

/// The direction that a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interest {
    Read,
    Write,
}

/// The directions in which a descriptor is ready, or is asked about. An error or the peer's end makes both ready.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Readiness {
    /// Reading would not wait.
    pub read: bool,
    /// Writing would not wait.
    pub write: bool,
    /// The peer has ended, or something is not as with plain data: see the module header.
    pub has_ended: bool,
    /// `watch_always` has ended: no more reports will come from it.
    pub is_watch_over: bool,
}

impl Readiness {
    pub(crate) fn is_none(self) -> bool {
        !self.read && !self.write
    }
}

/// The number of reports that a thread knew of before its try.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) reports: u32,
    pub(crate) may_work: bool,
}

struct Direction<W> {
    first: Option<W>,
    more: Vec<W>,
    reports: u32,
    may_work: bool,
    has_ended: bool,
}

/// The waiters to wake, after the lock is released.
pub(crate) struct Woken<W> {
    first: Option<W>,
    more: Vec<W>,
}

impl<W> Woken<W> {
    pub(crate) const fn nobody() -> Woken<W> {
        Woken { first: None, more: Vec::new() }
    }

    pub(crate) fn for_each(self, wake: &mut dyn FnMut(W)) {
        self.first.into_iter().chain(self.more).for_each(wake);
    }
}

impl<W: Copy + PartialEq> Direction<W> {
    const fn new() -> Direction<W> {
        Direction { first: None, more: Vec::new(), reports: 0, may_work: true, has_ended: false }
    }

    fn has_waiters(&self) -> bool {
        self.first.is_some() || !self.more.is_empty()
    }

    fn report(&mut self) -> Woken<W> {
        self.reports = self.reports.wrapping_add(1);
        self.may_work = true;
        Woken { first: self.first.take(), more: std::mem::take(&mut self.more) }
    }

    fn join(&mut self, waiter: W) {
        if self.first.is_none() {
            self.first = Some(waiter);
        } else {
            self.more.push(waiter);
        }
    }

    fn leave(&mut self, waiter: W) {
        if self.first == Some(waiter) {
            self.first = None;
        } else if let Some(place) = self.more.iter().rposition(|&other| other == waiter) {
            self.more.swap_remove(place);
        }
    }
}

struct State<W> {
    read: Direction<W>,
    write: Direction<W>,
    is_watched_always: bool,
    /// The system has been asked for one report since the last `forget`. A waiter that has given up may have left the
    /// question there.
    is_watched_once: bool,
}

impl<W: Copy + PartialEq> State<W> {
    fn of(&mut self, interest: Interest) -> &mut Direction<W> {
        match interest {
            Interest::Read => &mut self.read,
            Interest::Write => &mut self.write,
        }
    }

    fn wanted(&self) -> Readiness {
        Readiness { read: self.read.has_waiters(), write: self.write.has_waiters(), ..Readiness::default() }
    }
}

/// How a record asks the system for reports. Called with the record's lock held.
pub(crate) trait Watch {
    type Error;
    /// Asks for one report of the wanted directions.
    ///
    /// # Errors
    /// The descriptor cannot be watched.
    fn once(&self, wanted: Readiness) -> Result<(), Self::Error>;
    /// For all reports, the present state first, even if `is_watched` so already. False: there is only `once`.
    ///
    /// # Errors
    /// The descriptor cannot be watched.
    fn always(&self, is_watched: bool) -> Result<bool, Self::Error>;
}

/// Whether every close of a descriptor is preceded by a call of `forget`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lifetime {
    /// Yes: the system is asked once for all reports.
    Known,
    /// Perhaps not: the system is asked at each wait.
    Unknown,
}

/// See the module header.
pub(crate) struct DescriptorRecord<W>(Mutex<rank::DescriptorRecord, State<W>>);

impl<W: Copy + PartialEq> DescriptorRecord<W> {
    pub(crate) fn new() -> DescriptorRecord<W> {
        DescriptorRecord(Mutex::new(State {
            read: Direction::new(),
            write: Direction::new(),
            is_watched_always: false,
            is_watched_once: false,
        }))
    }

    pub(crate) fn look(&self, interest: Interest) -> Seen {
        let mut state = lock(&self.0);
        let direction = state.of(interest);
        Seen { reports: direction.reports, may_work: direction.may_work }
    }

    /// A try after the look has found no more data or room for now: it would have blocked or, if `is_short`,
    /// transferred less than it was asked to.
    pub(crate) fn note_nothing_left(&self, interest: Interest, seen: Seen, is_short: bool) {
        let mut state = lock(&self.0);
        let is_watched_always = state.is_watched_always;
        let direction = state.of(interest);
        if is_watched_always && direction.reports == seen.reports && !(is_short && direction.has_ended) {
            direction.may_work = false;
        }
    }

    /// Registers `waiter` for reports after those it has seen; without `seen`, for any report of the present state or a
    /// later one. None: such a report has come already. Returns the number of reports before the one that ends the
    /// wait.
    ///
    /// # Errors
    /// The descriptor cannot be watched.
    pub(crate) fn join<A: Watch>(
        &self,
        waiter: W,
        interest: Interest,
        lifetime: Lifetime,
        seen: Option<Seen>,
        watch: &A,
    ) -> Result<Option<u32>, A::Error> {
        let mut state = lock(&self.0);
        let direction = state.of(interest);
        let reports = direction.reports;
        if seen.is_some_and(|seen| seen.reports != reports) {
            return Ok(None);
        }
        direction.join(waiter);
        let is_watched = state.is_watched_always;
        let watched = match (is_watched, lifetime, seen) {
            (true, _, Some(_)) => Ok(true),
            (true, _, None) | (false, Lifetime::Known, _) => watch.always(is_watched),
            (false, Lifetime::Unknown, _) => Ok(false),
        };
        match watched {
            Ok(true) => {
                if !is_watched && seen.is_some() {
                    // The try has just failed; changes since then will be reported.
                    state.of(interest).may_work = false;
                }
                state.is_watched_always = true;
                Ok(Some(reports))
            }
            Ok(false) => {
                state.is_watched_once = true;
                watch.once(state.wanted()).map(|()| Some(reports))
            }
            Err(error) => Err(error),
        }
        .inspect_err(|_| state.of(interest).leave(waiter))
    }

    /// Whether there was a report after so many.
    pub(crate) fn is_reported(&self, interest: Interest, reports: u32) -> bool {
        lock(&self.0).of(interest).reports != reports
    }

    /// Removes a waiter that joined after this number of reports.
    pub(crate) fn leave(&self, waiter: W, interest: Interest, reports: u32) {
        let mut state = lock(&self.0);
        let direction = state.of(interest);
        if direction.reports == reports {
            direction.leave(waiter);
        }
    }

    /// The descriptor is ready in some direction. Returns the threads that waited for it.
    pub(crate) fn report(&self, ready: Readiness, watch: &impl Watch) -> [Woken<W>; 2] {
        let mut state = lock(&self.0);
        let mut woken = [Woken::nobody(), Woken::nobody()];
        if ready.is_watch_over && state.is_watched_always {
            // Waiters ask the system again.
            state.is_watched_always = false;
            return [state.read.report(), state.write.report()];
        }
        if ready.read {
            woken[0] = state.read.report();
        }
        if ready.write {
            woken[1] = state.write.report();
        }
        if state.is_watched_always {
            state.read.has_ended |= ready.has_ended;
            state.write.has_ended |= ready.has_ended;
            return woken;
        }
        // A one-shot request has been answered for both directions.
        let left = state.wanted();
        if !left.is_none() && watch.once(left).is_err() {
            // The descriptor was closed meanwhile: the waiters of the other direction are woken and find that out.
            if left.read {
                woken[0] = state.read.report();
            }
            if left.write {
                woken[1] = state.write.report();
            }
        }
        woken
    }

    /// The descriptor is about to be closed: threads that wait for it try again. `unwatch` is called if it may be
    /// watched.
    pub(crate) fn forget(&self, unwatch: impl FnOnce()) -> [Woken<W>; 2] {
        let mut state = lock(&self.0);
        if state.is_watched_always || state.is_watched_once {
            unwatch();
        }
        (state.is_watched_always, state.is_watched_once) = (false, false);
        let woken = [state.read.report(), state.write.report()];
        (state.read.has_ended, state.write.has_ended) = (false, false);
        woken
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod model;

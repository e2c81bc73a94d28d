//! The kinds of events that Mono's log has, which of them are written, and the record of a wait for a lock that is
//! under way.
//!
//! One event has one name, `saki_sampler::events::EventKind`; Mono's option and format have names of their own for sets
//! of events, `LogEvents`, which are views of these:
//!
//! | `EventKind` | `LogEvents` |
//! |---|---|
//! | `Allocation` | `ALLOCATION` |
//! | `Exception` | `EXCEPTION` |
//! | `LockWait` | `MONITOR`, which has the wait's begin as well |
//! | `Collection` | `GC`, which has the collection's steps; `MOVE` and `ROOT` tell what they find |
//! | `Compilation` | `JIT` |
//! | `HandleCreated`, `HandleFreed` | `HANDLE` |
//! | `ThreadStart`, `ThreadEnd` | `ALWAYS` |
//! | `IoWait`, `TypeLoad`, `Dispatch` | none: Mono's log does not have them |
//! | none: the profiler does not record them | `FINALIZATION`, `COUNTER`, `CALLS` |
//!
//! Events of the lower layers go up through `upcalls`, to the profiler (`vm::profile_events`) and to the log
//! (`vm::profile_log`). Invariant: an event without a listener costs a load and a branch.

use saki_sampler::events::{self, EventKind};
use std::sync::atomic::{AtomicU32, Ordering};

/// A set of kinds of events, under the names that Mono's option has for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogEvents(u32);

impl LogEvents {
    /// No events.
    pub const NONE: LogEvents = LogEvents(0);
    pub(crate) const ALL: LogEvents = LogEvents(u32::MAX);
    /// Exceptions thrown, and clauses entered.
    pub const EXCEPTION: LogEvents = LogEvents(1 << 0);
    /// Waits for monitors.
    pub const MONITOR: LogEvents = LogEvents(1 << 1);
    /// Collections and their steps.
    pub const GC: LogEvents = LogEvents(1 << 2);
    /// Objects made.
    pub const ALLOCATION: LogEvents = LogEvents(1 << 3);
    /// Objects that a collection has moved.
    pub const MOVE: LogEvents = LogEvents(1 << 4);
    /// Roots that a collection starts from.
    pub const ROOT: LogEvents = LogEvents(1 << 5);
    /// GC handles made and freed.
    pub const HANDLE: LogEvents = LogEvents(1 << 6);
    /// Finalizers that begin and end.
    pub const FINALIZATION: LogEvents = LogEvents(1 << 7);
    /// Counters, once a second.
    pub const COUNTER: LogEvents = LogEvents(1 << 8);
    /// Methods compiled.
    pub const JIT: LogEvents = LogEvents(1 << 9);
    /// Methods' begin and end; `LogSettings::calls`.
    pub(crate) const CALLS: LogEvents = LogEvents(1 << 16);
    /// Threads, and the entities that descriptions name.
    pub(crate) const ALWAYS: LogEvents = LogEvents(1 << 17);

    /// The events as bits, as Mono's log has them.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether the set has any of these kinds.
    pub const fn has(self, other: LogEvents) -> bool {
        self.0 & other.0 != 0
    }

    /// These events and the others.
    #[must_use]
    pub const fn with(self, other: LogEvents) -> LogEvents {
        LogEvents(self.0 | other.0)
    }

    /// These events without the others.
    #[must_use]
    pub const fn without(self, other: LogEvents) -> LogEvents {
        LogEvents(self.0 & !other.0)
    }
}

impl std::ops::BitOr for LogEvents {
    type Output = LogEvents;

    fn bitor(self, other: LogEvents) -> LogEvents {
        self.with(other)
    }
}

/// The events that the log listens to, as bits of `LogEvents`. Relaxed: a thread that sees a change late writes a few
/// events more or less.
static LOGGED: AtomicU32 = AtomicU32::new(0);

/// Whether events of this kind are written to the log.
#[inline(always)]
pub(crate) fn is_logged(kind: LogEvents) -> bool {
    LOGGED.load(Ordering::Relaxed) & kind.bits() != 0
}

/// Makes the log listen to exactly these events.
pub(crate) fn set_logged(kinds: LogEvents) {
    LOGGED.store(kinds.bits(), Ordering::Relaxed);
}

/// Makes the log begin or end to listen to these events.
pub(crate) fn change_logged(kinds: LogEvents, is_wanted: bool) {
    if is_wanted {
        LOGGED.fetch_or(kinds.bits(), Ordering::Relaxed);
    } else {
        LOGGED.fetch_and(!kinds.bits(), Ordering::Relaxed);
    }
}

/// Whether the log or the profiler listens to events of GC handles.
#[inline]
pub(crate) fn are_handles_watched() -> bool {
    events::is_on(EventKind::HandleCreated) || is_logged(LogEvents::HANDLE)
}

/// A wait for a lock that is under way: the facts at its begin.
#[derive(Clone, Copy)]
pub(crate) struct LockWait {
    pub began_ns: u64,
    /// The managed id of the lock's owner; 0 = not known.
    pub owner: u32,
    pub waiters: u32,
}

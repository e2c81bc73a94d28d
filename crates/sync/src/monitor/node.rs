//! A thread's node in the queues of monitors.
//!
//! `phase` says where the node is among entrants, `signal` whether its thread waits for a pulse. "Its thread" has the
//! node, "the owner" has the monitor.
//!
//! | word | from | to | who | ordering |
//! |---|---|---|---|---|
//! | phase | IDLE | ENTERING | its thread, or the owner if pulsed, under `queues` | Relaxed: see below |
//! | phase | ENTERING | WOKEN, OWNING | who takes it out, under `queues` | Release, to its thread's Acquire |
//! | phase | ENTERING | IDLE | its thread, which takes it out, under `queues` | Relaxed: ordered by the mutex |
//! | phase | WOKEN, OWNING | IDLE | its thread; the node is in no queue | Relaxed: the mutex orders what follows |
//! | signal | NONE | WAITING | its thread, as owner | Relaxed: ordered by `owner` |
//! | signal | WAITING | PULSED | the owner | Release, to its thread's Acquire, a hint until that is the owner |
//! | signal | WAITING, PULSED | NONE | its thread, as owner | Relaxed: ordered by `owner` |
//!
//! Who looks at the phase under `queues` sees who changed it there. A thread that gets the lock without queueing sees
//! that an owner before it has put its node into the queue, by the Release and Acquire of `owner`.
//!
//! Invariant: a node is in the entry queue exactly while its phase is ENTERING, and in the wait queue while its signal
//! is WAITING, or PULSED until the owner leaves. Left out: the queues (`monitor`).

#[cfg(not(loom))]
use crate::facade::atomic::AtomicUsize;
use crate::facade::atomic::{AtomicU32, Ordering};
use crate::parker::ManagedParker;

/// Phases of a node: it is in no queue of entrants.
pub(super) const IDLE: u32 = 0;
pub(super) const ENTERING: u32 = 1;
pub(super) const WOKEN: u32 = 2;
/// Woken, and the lock is the node's already.
pub(super) const OWNING: u32 = 3;

/// Signals of a node: its thread does not wait for a pulse.
pub(super) const NONE: u32 = 0;
pub(super) const WAITING: u32 = 1;
pub(super) const PULSED: u32 = 2;

/// A managed thread's place in monitor queues. A thread is in the queues of one monitor at a time: in one, or in both
/// if its wait has ended by itself or by a pulse and it enters again.
///
/// Nodes are never freed while any thread may wake them (thread structures are reused, not freed); a late wake is a
/// stale token and harmless.
#[derive(Default)]
pub struct MonitorNode {
    pub parker: ManagedParker,
    pub(super) phase: AtomicU32,
    pub(super) signal: AtomicU32,
    /// 0, or the owner's managed id when it has lost too many races. Changes under `queues`.
    pub(super) starving: AtomicU32,
    /// Addresses of objects at whose thin locks the owner last met another thread, by a hash.
    #[cfg(not(loom))]
    met_at: [AtomicUsize; 4],
}

impl MonitorNode {
    /// Whether the owner waits for a pulse, and has not got one. Stable while the owner is stopped, unless others
    /// pulse.
    pub fn is_waiting_for_pulse(&self) -> bool {
        // Relaxed: a hint for reports.
        self.signal.load(Ordering::Relaxed) == WAITING && self.phase.load(Ordering::Relaxed) == IDLE
    }

    /// Whether the owner has found the thin lock of the object taken before, as far as it remembers. Such a lock is
    /// better inflated at once: otherwise threads that take it in turns keep the object's cache line, with the data
    /// that lies there, moving between processors. A hint: objects move.
    #[cfg(not(loom))]
    pub fn has_met_contention(&self, object: usize) -> bool {
        let place = &self.met_at[(object >> 4 ^ object >> 10) % self.met_at.len()];
        // Relaxed: only the owner uses it.
        let is_known = place.load(Ordering::Relaxed) == object;
        place.store(object, Ordering::Relaxed);
        is_known
    }

    /// In models never, so that they explore the other path to inflation.
    #[cfg(loom)]
    pub fn has_met_contention(&self, _object: usize) -> bool {
        false
    }
}

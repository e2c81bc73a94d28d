//! `Monitor.Enter/Exit/Wait/Pulse` on an object: the thin lock first, and a monitor of the table when the thin lock
//! does not suffice.
//!
//! Invariant: between reading an inflated index and being counted by its monitor there is no safepoint, so a collector
//! that deflates idle monitors with the world stopped never takes one away from under a thread. A monitor that was not
//! contended for long is retired by its owner's exit, which makes the lock thin again at once; its entry waits for the
//! next collection. Left out: exceptions (the caller turns the outcomes into them), null checks.

use crate::backoff::Backoff;
use crate::facade::spin_hint;
use crate::monitor::{Blocker, EnterEnd, ExitEnd, Monitor, NotOwner, Retired, WaitOutcome};
use crate::monitor_table::MonitorTable;
use crate::thin_lock::{Snapshot, ThinLockWord, TryLock, Unlock};
use std::time::Duration;

/// An object's lock: its sync word, its address (recorded in the monitor) and the table for inflation.
#[derive(Clone, Copy)]
pub struct ObjectLock<'a> {
    pub word: &'a ThinLockWord,
    pub object: usize,
    pub table: &'a MonitorTable,
}

impl<'a> ObjectLock<'a> {
    /// Enters; waits at most `timeout` (`None` = for ever).
    #[inline]
    pub fn enter(self, blocker: &impl Blocker, timeout: Option<Duration>) -> EnterEnd {
        match self.word.try_lock(blocker.managed_id()) {
            TryLock::Acquired => EnterEnd::Entered,
            _ => self.enter_slow(blocker, timeout),
        }
    }

    /// Enters if that is possible at once, thin or inflated. The fast path of helpers, after compiled code did not get
    /// the lock: no blocker is needed.
    #[inline]
    pub fn try_enter(self, id: u32) -> bool {
        match self.word.try_lock(id) {
            TryLock::Acquired => true,
            TryLock::Inflated(index) => self.table.get(index).monitor.try_enter_again(id),
            TryLock::Contended(_) | TryLock::RecursionFull(_) => false,
        }
    }

    #[cold]
    fn enter_slow(self, blocker: &impl Blocker, timeout: Option<Duration>) -> EnterEnd {
        let mut backoff = Backoff::new(blocker.managed_id());
        let mut is_first_look = true;
        loop {
            match self.word.try_lock(blocker.managed_id()) {
                TryLock::Acquired => return EnterEnd::Entered,
                TryLock::Inflated(index) => match self.table.get(index).monitor.enter(blocker, timeout) {
                    Ok(end) => return end,
                    // The thread that retired it is about to change the word.
                    Err(Retired) => spin_hint(),
                },
                TryLock::Contended(_) if timeout.is_some_and(|t| t.is_zero()) => return EnterEnd::TimedOut,
                TryLock::Contended(seen) => {
                    if is_first_look && blocker.node().has_met_contention(self.object) || !backoff.spin_briefly() {
                        self.inflate(seen);
                    }
                    is_first_look = false;
                }
                TryLock::RecursionFull(seen) => {
                    self.inflate(seen);
                }
            }
        }
    }

    /// Inflates the state seen; `None` when the word changed meanwhile.
    fn inflate(self, seen: Snapshot) -> Option<&'a Monitor> {
        let index = self.table.allocate(self.object);
        let monitor = &self.table.get(index).monitor;
        monitor.prepare(seen.thin_owner());
        if self.word.inflate(seen, index) {
            return Some(monitor);
        }
        self.table.free(index);
        None
    }

    /// Leaves once. Errors: the caller does not own it.
    #[inline]
    pub fn exit(self, id: u32) -> Result<(), NotOwner> {
        match self.word.unlock(id) {
            Unlock::Released | Unlock::StillOwned => Ok(()),
            Unlock::NotOwner => Err(NotOwner),
            Unlock::Inflated(index) => {
                let monitor = &self.table.get(index).monitor;
                // The entries that the monitor counts are left first, then those made before the lock was inflated.
                if monitor.owner() == id && monitor.recursion() == 0 && self.word.leave_entry() {
                    return Ok(());
                }
                if monitor.exit_or_retire(id, self.table.may_retire())? == ExitEnd::Retired {
                    self.table.note_retired();
                    self.word.deflate(index);
                }
                Ok(())
            }
        }
    }

    /// The monitor, inflated if the caller owns the thin lock. Errors: the caller does not own it.
    fn owned_monitor(self, id: u32) -> Result<&'a Monitor, NotOwner> {
        loop {
            let seen = self.word.snapshot();
            if let Some(index) = seen.inflated_index() {
                return Ok(&self.table.get(index).monitor);
            }
            if seen.thin_owner() != id {
                return Err(NotOwner);
            }
            if let Some(monitor) = self.inflate(seen) {
                return Ok(monitor);
            }
        }
    }

    /// `Monitor.Wait`. Errors: the caller does not own it.
    pub fn wait(self, blocker: &impl Blocker, timeout: Option<Duration>) -> Result<WaitOutcome, NotOwner> {
        let id = blocker.managed_id();
        let monitor = self.owned_monitor(id)?;
        if monitor.owner() != id {
            return Err(NotOwner);
        }
        // Mostly there are none.
        let entries = if self.word.snapshot().recursion() == 0 { 0 } else { self.word.take_entries() };
        let outcome = monitor.wait(blocker, timeout);
        if entries != 0 {
            self.word.add_entries(entries);
        }
        outcome
    }

    /// `Monitor.Pulse`. Errors: the caller does not own it.
    pub fn pulse(self, id: u32) -> Result<(), NotOwner> {
        match self.inflated_or_owned(id)? {
            Some(monitor) => monitor.pulse(id),
            None => Ok(()),
        }
    }

    /// `Monitor.PulseAll`. Errors: the caller does not own it.
    pub fn pulse_all(self, id: u32) -> Result<(), NotOwner> {
        match self.inflated_or_owned(id)? {
            Some(monitor) => monitor.pulse_all(id),
            None => Ok(()),
        }
    }

    /// The monitor, or `None` for a thin lock owned by the caller, on which no thread can be waiting.
    fn inflated_or_owned(self, id: u32) -> Result<Option<&'a Monitor>, NotOwner> {
        let seen = self.word.snapshot();
        match seen.inflated_index() {
            Some(index) => Ok(Some(&self.table.get(index).monitor)),
            None if seen.thin_owner() == id => Ok(None),
            None => Err(NotOwner),
        }
    }

    /// The owner's managed id, 0 = free. A hint, unless it is the caller's own id.
    pub fn owner(self) -> u32 {
        let seen = self.word.snapshot();
        match seen.inflated_index() {
            Some(index) => self.table.get(index).monitor.owner(),
            None => seen.thin_owner(),
        }
    }

    /// Threads that wait to enter. A hint; for profiles, since it takes the lock of the queue.
    pub fn waiters(self) -> usize {
        self.word.snapshot().inflated_index().map_or(0, |index| self.table.get(index).monitor.queue_lengths().0)
    }
}

#[cfg(all(test, loom))]
mod model;

//! Locks around data whose whole state is one word each: those that survive a fork.
//!
//! `parking_lot` keeps the threads that wait for its locks in one table for the whole process, under locks of the
//! table. A forked child gets a copy in which threads wait that it does not have: a fair unlock hands the lock over to
//! one of them for good. A thread that the child does not have may also hold one of the table's own locks, and then
//! nobody can wait for any lock any more. A thread that waits for a word lock sleeps in the kernel, on the word; so a
//! child frees the word and is done (`saki_thread::child_locks`).
//!
//! Invariant: locks that are taken by threads which go on while the world is stopped, and locks that a fork holds, are
//! of these types. Left out: fairness; models, which use loom's mutex.

use crate::raw_lock::RawLock;
use crate::raw_shared_lock::RawSharedLock;
use saki_base::locks::lock_api::{self, GuardNoSend};
use saki_base::locks::{RawMutex, RawRwLock};
use std::time::{Duration, Instant};

/// A mutex around data, with a rank. As `saki_base::locks::Mutex`.
pub type Mutex<R, T> = lock_api::Mutex<RawMutex<R, RawLock>, T>;
/// Access to the value of a `Mutex`, until it is dropped.
pub type MutexGuard<'a, R, T> = lock_api::MutexGuard<'a, RawMutex<R, RawLock>, T>;
/// Data for one writer or many readers, with a rank. As `saki_base::locks::RwLock`.
pub type RwLock<R, T> = lock_api::RwLock<RawRwLock<R, RawSharedLock>, T>;

// SAFETY: the lock excludes: its CAS from FREE succeeds for one thread until `unlock` (model of `raw_lock`).
unsafe impl lock_api::RawMutex for RawLock {
    const INIT: RawLock = RawLock::new();
    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock(&self) {
        RawLock::lock(self);
    }

    #[inline]
    fn try_lock(&self) -> bool {
        RawLock::try_lock(self)
    }

    #[inline]
    unsafe fn unlock(&self) {
        RawLock::unlock(self);
    }

    fn is_locked(&self) -> bool {
        RawLock::is_locked(self)
    }
}

// SAFETY: `try_lock_for` returns true only if this thread's CAS or swap found the word FREE, as `lock` does.
unsafe impl lock_api::RawMutexTimed for RawLock {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_for(&self, timeout: Duration) -> bool {
        RawLock::try_lock_for(self, timeout)
    }

    fn try_lock_until(&self, deadline: Instant) -> bool {
        RawLock::try_lock_for(self, deadline.saturating_duration_since(Instant::now()))
    }
}

// SAFETY: the lock excludes: a writer has it once it set WRITER and saw no reader, and no reader is added beside WRITER
// but by one that reads (model of `raw_shared_lock`).
unsafe impl lock_api::RawRwLock for RawSharedLock {
    const INIT: RawSharedLock = RawSharedLock::new();
    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock_shared(&self) {
        RawSharedLock::lock_shared(self);
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        RawSharedLock::try_lock_shared(self)
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        RawSharedLock::unlock_shared(self);
    }

    #[inline]
    fn lock_exclusive(&self) {
        RawSharedLock::lock_exclusive(self);
    }

    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        RawSharedLock::try_lock_exclusive(self)
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        RawSharedLock::unlock_exclusive(self);
    }

    fn is_locked(&self) -> bool {
        RawSharedLock::is_locked(self)
    }

    fn is_locked_exclusive(&self) -> bool {
        RawSharedLock::is_locked_exclusive(self)
    }
}

// SAFETY: a reader is added beside WRITER only while there are readers, for which the writer still waits.
unsafe impl lock_api::RawRwLockRecursive for RawSharedLock {
    #[inline]
    fn lock_shared_recursive(&self) {
        self.lock_shared_again();
    }

    #[inline]
    fn try_lock_shared_recursive(&self) -> bool {
        self.try_lock_shared_again()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saki_base::locks::rank;

    #[test]
    fn a_timed_lock_gives_up_and_takes_a_free_lock() {
        let lock: Mutex<rank::Symbols, i32> = Mutex::new(7);
        let held = lock.lock();
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(lock.try_lock_for(Duration::from_millis(2)).is_none()));
        });
        drop(held);
        assert_eq!(lock.try_lock_for(Duration::ZERO).map(|value| *value), Some(7));
    }
}

//! A mutex without data that any thread may unlock.
//!
//! | state | meaning | who leaves it |
//! |---|---|---|
//! | 0 FREE | no owner | any thread: CAS Acquire to HELD, swap Acquire to CONTENDED |
//! | 1 HELD | owned, no sleeper | owner: swap Release to FREE; a waiter: swap Acquire to CONTENDED |
//! | 2 CONTENDED | owned, perhaps sleepers | owner: swap Release to FREE, wakes one |
//!
//! Each Acquire pairs with the Release of the unlock before it. Left out: fairness, recursion, safepoints.

use crate::facade::atomic::Ordering;
use crate::facade::{fence_after_lock, spin_hint};
use crate::wait_word::WaitWord;

const FREE: u32 = 0;
const HELD: u32 = 1;
const CONTENDED: u32 = 2;

/// Spins before sleeping; a critical section of a few hundred nanoseconds is over by then.
#[cfg(not(loom))]
const MAX_SPINS: u32 = 60;
#[cfg(loom)]
const MAX_SPINS: u32 = 1;

/// See the module header.
#[derive(Debug)]
pub struct RawLock {
    state: WaitWord,
}

impl Default for RawLock {
    fn default() -> Self {
        Self::new()
    }
}

impl RawLock {
    /// A free lock.
    #[cfg(not(loom))]
    pub const fn new() -> RawLock {
        RawLock { state: WaitWord::new(FREE) }
    }

    /// A free lock.
    #[cfg(loom)]
    pub fn new() -> RawLock {
        RawLock { state: WaitWord::new(FREE) }
    }

    /// Takes the lock if it is free; whether it did.
    #[inline]
    pub fn try_lock(&self) -> bool {
        // Acquire pairs with `unlock`; Relaxed on failure: nothing is read.
        let is_taken = self.state.atomic().compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok();
        fence_after_lock();
        is_taken
    }

    /// Waits until the lock is free, and takes it.
    #[inline]
    pub fn lock(&self) {
        if !self.try_lock() {
            self.lock_contended();
        }
    }

    #[cold]
    fn lock_contended(&self) {
        for _ in 0..MAX_SPINS {
            // Relaxed: a hint; the CAS decides.
            if self.state.load(Ordering::Relaxed) == FREE && self.try_lock() {
                return;
            }
            spin_hint();
        }
        // Acquire pairs with `unlock`.
        while self.state.atomic().swap(CONTENDED, Ordering::Acquire) != FREE {
            self.state.wait(CONTENDED, None);
        }
        fence_after_lock();
    }

    /// Waits until the lock is free, and takes it; gives up when the timeout has passed. Whether it took the lock.
    #[cfg(not(loom))]
    pub fn try_lock_for(&self, timeout: std::time::Duration) -> bool {
        if self.try_lock() {
            return true;
        }
        let start = std::time::Instant::now();
        loop {
            // Acquire pairs with `unlock`. A waiter that was woken looks at the word before it gives up, so no wake is
            // lost with it.
            let before = self.state.atomic().swap(CONTENDED, Ordering::Acquire);
            if before == FREE {
                break;
            }
            let rest = timeout.saturating_sub(start.elapsed());
            if rest.is_zero() {
                return false;
            }
            self.state.wait(CONTENDED, Some(rest));
        }
        fence_after_lock();
        true
    }

    /// Gives the lock back, and wakes a thread that waits for it. For the thread that has the lock.
    #[inline]
    pub fn unlock(&self) {
        // Release publishes the critical section to the next owner.
        if self.state.atomic().swap(FREE, Ordering::Release) == CONTENDED {
            self.state.wake(1);
        }
    }

    /// Whether some thread has the lock: a hint.
    pub fn is_locked(&self) -> bool {
        // Relaxed: for assertions.
        self.state.load(Ordering::Relaxed) != FREE
    }

    /// Makes the lock free, whoever has it or waits for it. For a forked child, which has neither, while it has one
    /// thread.
    pub fn forget_owner(&self) {
        // Relaxed: there is no other thread.
        self.state.store(FREE, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn excludes_and_can_be_unlocked_elsewhere() {
        static LOCK: RawLock = RawLock::new();
        static SUM: AtomicU64 = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        LOCK.lock();
                        SUM.store(SUM.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        LOCK.unlock();
                    }
                });
            }
        });
        assert_eq!(SUM.load(Ordering::Relaxed), 80_000);
        LOCK.lock();
        std::thread::scope(|scope| {
            scope.spawn(|| LOCK.unlock());
        });
        assert!(LOCK.try_lock());
    }
}

#[cfg(all(test, loom))]
mod model;

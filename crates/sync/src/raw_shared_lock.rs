//! A lock without data that one writer or many readers have, and that any thread may unlock.
//!
//! | bits of the word | meaning | who changes them |
//! |---|---|---|
//! | low 30 | readers that have the lock | a reader: + 1 by CAS Acquire, − 1 Release |
//! | WRITER | a writer has the lock, or waits for the last readers; no further reader gets it | a writer: set by CAS Acquire; cleared by swap Release |
//! | PARKED | perhaps threads sleep on the word; only beside WRITER | who is about to sleep: set by CAS Relaxed; cleared together with WRITER, and all are woken |
//!
//! A writer has the lock once it has set WRITER and has seen no reader (Acquire). Each Acquire pairs with the Release
//! of the unlocks before it. A reader that may read already (`lock_shared_again`) also gets the lock while a writer
//! waits for it. Left out: fairness among writers, safepoints.

use crate::facade::atomic::Ordering;
use crate::facade::{fence_after_lock, spin_hint};
use crate::wait_word::WaitWord;

const READER: u32 = 1;
const PARKED: u32 = 1 << 30;
const WRITER: u32 = 1 << 31;
const READERS: u32 = PARKED - 1;

/// Spins before sleeping, as in `RawLock`.
#[cfg(not(loom))]
const MAX_SPINS: u32 = 60;
#[cfg(loom)]
const MAX_SPINS: u32 = 0;

/// See the module header.
#[derive(Debug)]
pub struct RawSharedLock {
    state: WaitWord,
}

impl Default for RawSharedLock {
    fn default() -> Self {
        Self::new()
    }
}

impl RawSharedLock {
    /// A free lock.
    #[cfg(not(loom))]
    pub const fn new() -> RawSharedLock {
        RawSharedLock { state: WaitWord::new(0) }
    }

    /// A free lock.
    #[cfg(loom)]
    pub fn new() -> RawSharedLock {
        RawSharedLock { state: WaitWord::new(0) }
    }

    /// Takes the lock as a reader; waits for a writer, also for one that waits itself.
    #[inline]
    pub fn lock_shared(&self) {
        if !self.try_lock_shared() {
            self.lock_shared_contended(false);
        }
    }

    /// Takes the lock as a reader, for a thread that may be a reader already: it waits for a writer, but not for one
    /// that itself waits for readers.
    #[inline]
    pub fn lock_shared_again(&self) {
        if !self.try_lock_shared_again() {
            self.lock_shared_contended(true);
        }
    }

    /// Takes the lock for reading if no thread writes or waits to write; whether it did.
    #[inline]
    pub fn try_lock_shared(&self) -> bool {
        self.try_add_reader(false)
    }

    #[inline]
    pub fn try_lock_shared_again(&self) -> bool {
        self.try_add_reader(true)
    }

    #[inline]
    fn try_add_reader(&self, is_again: bool) -> bool {
        // Relaxed: the CAS decides.
        let mut state = self.state.load(Ordering::Relaxed);
        while state & WRITER == 0 || is_again && state & READERS != 0 {
            let next = state + READER;
            // Acquire pairs with `unlock_exclusive`; Relaxed on failure: nothing is read.
            match self.state.atomic().compare_exchange_weak(state, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => {
                    fence_after_lock();
                    return true;
                }
                Err(now) => state = now,
            }
        }
        false
    }

    #[cold]
    fn lock_shared_contended(&self, is_again: bool) {
        let mut spins = 0;
        while !self.try_add_reader(is_again) {
            self.spin_or_sleep(&mut spins, |state| state & WRITER != 0 && !(is_again && state & READERS != 0));
        }
    }

    /// Takes the lock for writing if no other thread has it; whether it did.
    #[inline]
    pub fn try_lock_exclusive(&self) -> bool {
        // Acquire pairs with both unlocks; Relaxed on failure: nothing is read.
        let is_taken = self.state.atomic().compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).is_ok();
        fence_after_lock();
        is_taken
    }

    /// Takes the lock as the writer.
    #[inline]
    pub fn lock_exclusive(&self) {
        if !self.try_lock_exclusive() {
            self.lock_exclusive_contended();
        }
    }

    #[cold]
    fn lock_exclusive_contended(&self) {
        let mut spins = 0;
        loop {
            // Relaxed: the CAS decides.
            let state = self.state.load(Ordering::Relaxed);
            if state & WRITER != 0 {
                self.spin_or_sleep(&mut spins, |state| state & WRITER != 0);
                continue;
            }
            let next = state | WRITER;
            // Acquire pairs with `unlock_exclusive`; Relaxed on failure: nothing is read.
            if self.state.atomic().compare_exchange(state, next, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                break;
            }
        }
        // Acquire pairs with `unlock_shared` of the last reader, whose subtraction continues those before it.
        while self.state.load(Ordering::Acquire) & READERS != 0 {
            self.spin_or_sleep(&mut spins, |state| state & READERS != 0);
        }
        fence_after_lock();
    }

    /// Passes some time, at most until the word changes. `must_wait`: whether the caller would still have to wait with
    /// this word.
    fn spin_or_sleep(&self, spins: &mut u32, must_wait: impl Fn(u32) -> bool) {
        if *spins < MAX_SPINS {
            *spins += 1;
            spin_hint();
            return;
        }
        // Relaxed, here and below: the kernel compares the word again, and whoever goes on takes the lock by Acquire.
        let state = self.state.load(Ordering::Relaxed);
        if !must_wait(state) {
            return;
        }
        let parked = state | PARKED;
        if state == parked
            || self.state.atomic().compare_exchange(state, parked, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            self.state.wait(parked, None);
        }
    }

    /// Ends reading. For a thread that has the lock for reading.
    #[inline]
    pub fn unlock_shared(&self) {
        // Release: the writer that waits for this reader sees what it did.
        let before = self.state.atomic().fetch_sub(READER, Ordering::Release);
        if before & READERS == READER && before & PARKED != 0 {
            self.state.wake_all();
        }
    }

    /// Ends writing. For the thread that has the lock alone.
    #[inline]
    pub fn unlock_exclusive(&self) {
        // Release publishes the writer's section. There are no readers.
        if self.state.atomic().swap(0, Ordering::Release) & PARKED != 0 {
            self.state.wake_all();
        }
    }

    /// Whether a thread has the lock, or waits for readers to become the writer.
    pub fn is_locked(&self) -> bool {
        // Relaxed: for assertions.
        self.state.load(Ordering::Relaxed) != 0
    }

    /// Whether a thread has the lock as the writer, or waits for readers to become it.
    pub fn is_locked_exclusive(&self) -> bool {
        // Relaxed: as above.
        self.state.load(Ordering::Relaxed) & WRITER != 0
    }

    /// Makes the lock free, whoever has it or waits for it. For a forked child, which has neither, while it has one
    /// thread.
    pub fn forget_owners(&self) {
        // Relaxed: there is no other thread.
        self.state.store(0, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn writers_exclude_everyone_and_readers_writers() {
        static LOCK: RawSharedLock = RawSharedLock::new();
        static PAIR: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        LOCK.lock_exclusive();
                        PAIR.iter().for_each(|n| n.store(n.load(Ordering::Relaxed) + 1, Ordering::Relaxed));
                        LOCK.unlock_exclusive();
                    }
                });
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        LOCK.lock_shared();
                        LOCK.lock_shared_again();
                        assert_eq!(PAIR[0].load(Ordering::Relaxed), PAIR[1].load(Ordering::Relaxed));
                        LOCK.unlock_shared();
                        LOCK.unlock_shared();
                    }
                });
            }
        });
        assert_eq!(PAIR[0].load(Ordering::Relaxed), 40_000);
        assert!(!LOCK.is_locked());
    }

    #[test]
    fn a_writer_that_waits_keeps_new_readers_out_but_not_those_that_read() {
        let lock = RawSharedLock::new();
        lock.lock_shared();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                lock.lock_exclusive();
                lock.unlock_exclusive();
            });
            while !lock.is_locked_exclusive() {
                std::thread::yield_now();
            }
            assert!(!lock.try_lock_shared() && lock.try_lock_shared_again());
            lock.unlock_shared();
            lock.unlock_shared();
        });
        assert!(lock.try_lock_exclusive() && !lock.try_lock_shared_again());
        lock.forget_owners();
        assert!(lock.try_lock_shared());
    }
}

#[cfg(all(test, loom))]
mod model;

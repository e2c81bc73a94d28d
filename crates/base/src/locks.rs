//! The machine's locks for tables and lists: `parking_lot`'s mutex and read-write lock, and `crossbeam`'s sharded lock,
//! each with a rank in its type.
//!
//! A lock's rank (`rank`, the table of all locks) is the first parameter of its type, so there is no lock without one,
//! and a lock is as large as without a rank. In debug builds `order` checks each locking against the locks that the
//! thread holds already; in release builds nothing is left of that.
//!
//! Invariant: the locks of the machine come from here (tidy has the list of exceptions). `try_lock` and its like may be
//! called in any order, because they do not wait for ever.
//! Locks of another kind get their rank from `RawMutex` and `RawRwLock` (`saki_sync::word_locks`). Left out: locks of
//! the managed program (`saki_sync`), which are held for as long as a program likes; poisoning, since a panic ends the
//! machine.

pub mod order;
pub mod rank;

use order::Held;
pub use parking_lot::lock_api;
use parking_lot::lock_api::GuardNoSend;
use rank::Rank;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A mutex around data.
pub type Mutex<R, T> = lock_api::Mutex<RawMutex<R>, T>;
/// Access to the value of a `Mutex`, until it is dropped.
pub type MutexGuard<'a, R, T> = lock_api::MutexGuard<'a, RawMutex<R>, T>;
/// A lock around data that several readers may hold. A thread that holds it does not take it again, for reading either
/// (a writer may wait in between), except by `read_recursive`.
pub type RwLock<R, T> = lock_api::RwLock<RawRwLock<R>, T>;
/// Shared access to the value of a `RwLock`, until it is dropped.
pub type RwLockReadGuard<'a, R, T> = lock_api::RwLockReadGuard<'a, RawRwLock<R>, T>;
/// Sole access to the value of a `RwLock`, until it is dropped.
pub type RwLockWriteGuard<'a, R, T> = lock_api::RwLockWriteGuard<'a, RawRwLock<R>, T>;

/// The word of a `Mutex`: a lock of type `L`, with a rank.
pub struct RawMutex<R, L = parking_lot::RawMutex>(L, PhantomData<R>);

// SAFETY: `L` does the locking; `order` only looks on.
unsafe impl<R: Rank, L: lock_api::RawMutex> lock_api::RawMutex for RawMutex<R, L> {
    const INIT: Self = RawMutex(L::INIT, PhantomData);
    type GuardMarker = GuardNoSend;

    #[inline]
    #[track_caller]
    fn lock(&self) {
        order::check::<R>();
        self.0.lock();
        order::took::<R, _>(self);
    }

    #[inline]
    fn try_lock(&self) -> bool {
        order::took_if::<R, _>(self.0.try_lock(), self)
    }

    #[inline]
    unsafe fn unlock(&self) {
        order::gave_back(self);
        // SAFETY: the caller holds this lock, which it took by `lock` or `try_lock` of the word below; each of them
        // takes that word and nothing else.
        unsafe { self.0.unlock() }
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
}

// SAFETY: the timed functions take the word below, whose implementation excludes others, exactly when they return
// `true`.
unsafe impl<R: Rank, L: lock_api::RawMutexTimed> lock_api::RawMutexTimed for RawMutex<R, L> {
    type Duration = L::Duration;
    type Instant = L::Instant;

    fn try_lock_for(&self, timeout: L::Duration) -> bool {
        order::took_if::<R, _>(self.0.try_lock_for(timeout), self)
    }

    fn try_lock_until(&self, timeout: L::Instant) -> bool {
        order::took_if::<R, _>(self.0.try_lock_until(timeout), self)
    }
}

impl<R, L> RawMutex<R, L> {
    /// The lock below, to be made free whoever holds it: for this thread it counts as held no more.
    pub fn break_open(&self) -> &L {
        order::gave_back(self);
        &self.0
    }
}

/// The word of a `RwLock`: a lock of type `L`, with a rank.
pub struct RawRwLock<R, L = parking_lot::RawRwLock>(L, PhantomData<R>);

// SAFETY: each function calls its namesake of the lock below, which excludes others; the rest only writes down what is
// held.
unsafe impl<R: Rank, L: lock_api::RawRwLock> lock_api::RawRwLock for RawRwLock<R, L> {
    const INIT: Self = RawRwLock(L::INIT, PhantomData);
    type GuardMarker = GuardNoSend;

    #[inline]
    #[track_caller]
    fn lock_shared(&self) {
        order::check::<R>();
        self.0.lock_shared();
        order::took::<R, _>(self);
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        order::took_if::<R, _>(self.0.try_lock_shared(), self)
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        order::gave_back(self);
        // SAFETY: the caller holds the lock shared, which it took through this type, by the word below.
        unsafe { self.0.unlock_shared() }
    }

    #[inline]
    #[track_caller]
    fn lock_exclusive(&self) {
        order::check::<R>();
        self.0.lock_exclusive();
        order::took::<R, _>(self);
    }

    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        order::took_if::<R, _>(self.0.try_lock_exclusive(), self)
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        order::gave_back(self);
        // SAFETY: the caller holds the lock alone, which it took through this type, by the word below.
        unsafe { self.0.unlock_exclusive() }
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }

    #[inline]
    fn is_locked_exclusive(&self) -> bool {
        self.0.is_locked_exclusive()
    }
}

// SAFETY: the recursive functions call their namesakes of the lock below, whose implementation keeps the promise.
unsafe impl<R: Rank, L: lock_api::RawRwLockRecursive> lock_api::RawRwLockRecursive for RawRwLock<R, L> {
    #[inline]
    #[track_caller]
    fn lock_shared_recursive(&self) {
        if !order::holds(self) {
            order::check::<R>();
        }
        self.0.lock_shared_recursive();
        order::took::<R, _>(self);
    }

    #[inline]
    fn try_lock_shared_recursive(&self) -> bool {
        order::took_if::<R, _>(self.0.try_lock_shared_recursive(), self)
    }
}

impl<R, L> RawRwLock<R, L> {
    /// The lock below, to be made free whoever reads or writes under it: for this thread it counts as held no more.
    pub fn break_open(&self) -> &L {
        order::gave_back(self);
        &self.0
    }
}

/// A lock for data that all threads read and that is hardly ever written: readers do not meet on a cache line.
pub struct ShardedLock<R, T>(crossbeam_utils::sync::ShardedLock<T>, PhantomData<R>);

impl<R: Rank, T: Default> Default for ShardedLock<R, T> {
    fn default() -> Self {
        ShardedLock(Default::default(), PhantomData)
    }
}

impl<R: Rank, T> ShardedLock<R, T> {
    /// Waits until no thread writes.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> Ranked<R, crossbeam_utils::sync::ShardedLockReadGuard<'_, T>> {
        order::check::<R>();
        let guard = self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        Ranked { guard, _held: Held::new(self) }
    }

    /// Waits until no other thread reads or writes.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> Ranked<R, crossbeam_utils::sync::ShardedLockWriteGuard<'_, T>> {
        order::check::<R>();
        let guard = self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        Ranked { guard, _held: Held::new(self) }
    }
}

/// A guard of a `ShardedLock`.
#[must_use = "the lock is given back when this is dropped"]
pub struct Ranked<R: Rank, G> {
    guard: G,
    _held: Held<R>,
}

impl<R: Rank, G: Deref> Deref for Ranked<R, G> {
    type Target = G::Target;
    #[inline]
    fn deref(&self) -> &G::Target {
        &self.guard
    }
}

impl<R: Rank, G: DerefMut> DerefMut for Ranked<R, G> {
    #[inline]
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.guard
    }
}

#[cfg(test)]
#[path = "locks/tests.rs"]
mod tests;

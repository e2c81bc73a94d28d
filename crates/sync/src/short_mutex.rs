//! A mutex around data, for sections of some nanoseconds: an inlined raw lock without poisoning. It is `facade::Mutex`,
//! except in models, which use loom's mutex.
//!
//! Invariant: the value is reached through a guard only, which holds the lock. Left out: safe regions (a thread that
//! waits here delays a stop of the world, as with any lock of the runtime whose sections have no safepoint), condition
//! variables.
//!
//! Rejected: `std::sync::Mutex`, whose lock and unlock are not inlined and check whether a panic is under way: that
//! took a tenth of the time of a Wait/Pulse ping-pong between green threads.

use crate::raw_lock::RawLock;
use saki_base::locks::order;
use saki_base::locks::rank::Rank;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// See the module header.
pub struct ShortMutex<R, T> {
    raw: RawLock,
    rank: PhantomData<R>,
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives one thread at a time access to the value.
unsafe impl<R, T: Send> Sync for ShortMutex<R, T> {}
// SAFETY: the lock's word belongs to no thread, and `T: Send` may be moved.
unsafe impl<R, T: Send> Send for ShortMutex<R, T> {}

impl<R: Rank, T: Default> Default for ShortMutex<R, T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<R: Rank, T> ShortMutex<R, T> {
    /// A free lock around `value`.
    pub const fn new(value: T) -> ShortMutex<R, T> {
        ShortMutex { raw: RawLock::new(), rank: PhantomData, value: UnsafeCell::new(value) }
    }

    /// Waits until the lock is free.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> ShortMutexGuard<'_, R, T> {
        order::check::<R>();
        self.raw.lock();
        order::took::<R, _>(&self.raw);
        ShortMutexGuard { mutex: self }
    }
}

/// Access to a `ShortMutex`.
#[must_use = "the mutex is unlocked when this is dropped"]
pub struct ShortMutexGuard<'a, R, T> {
    mutex: &'a ShortMutex<R, T>,
}

// SAFETY: a shared guard gives shared access to the value only.
unsafe impl<R, T: Sync> Sync for ShortMutexGuard<'_, R, T> {}

impl<R, T> Deref for ShortMutexGuard<'_, R, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<R, T> DerefMut for ShortMutexGuard<'_, R, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock and is borrowed mutably.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<R, T> Drop for ShortMutexGuard<'_, R, T> {
    #[inline]
    fn drop(&mut self) {
        order::gave_back(&self.mutex.raw);
        self.mutex.raw.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saki_base::locks::rank;

    #[test]
    fn threads_take_turns_with_the_value() {
        static SUM: ShortMutex<rank::SpilledItems, u64> = ShortMutex::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..20_000).for_each(|_| *SUM.lock() += 1));
            }
        });
        assert_eq!(*SUM.lock(), 80_000);
    }
}

//! A mutex around data, for sections of some nanoseconds: an inlined raw lock without poisoning. It is `facade::Mutex`, except in
//! models, which use loom's mutex.
//!
//! Invariant: the value is reached through a guard only, which holds the lock. Left out: safe regions (a thread that waits here delays a
//! stop of the world, as with any lock of the runtime whose sections have no safepoint), condition variables.
//!
//! Rejected: `std::sync::Mutex`, whose lock and unlock are not inlined and check whether a panic is under way: that took a tenth of
//! the time of a Wait/Pulse ping-pong between green threads.

use crate::raw_lock::RawLock;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};

/// See the module header.
#[derive(Default)]
pub struct ShortMutex<T> {
    raw: RawLock,
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives one thread at a time access to the value.
unsafe impl<T: Send> Sync for ShortMutex<T> {}
// SAFETY: as for the value.
unsafe impl<T: Send> Send for ShortMutex<T> {}

impl<T> ShortMutex<T> {
    pub const fn new(value: T) -> ShortMutex<T> {
        ShortMutex { raw: RawLock::new(), value: UnsafeCell::new(value) }
    }

    #[inline]
    pub fn lock(&self) -> ShortMutexGuard<'_, T> {
        self.raw.lock();
        ShortMutexGuard { mutex: self }
    }
}

/// Access to a `ShortMutex`.
#[must_use = "the mutex is unlocked when this is dropped"]
pub struct ShortMutexGuard<'a, T> {
    mutex: &'a ShortMutex<T>,
}

// SAFETY: a shared guard gives shared access to the value only.
unsafe impl<T: Sync> Sync for ShortMutexGuard<'_, T> {}

impl<T> Deref for ShortMutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for ShortMutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock and is borrowed mutably.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for ShortMutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.raw.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_turns_with_the_value() {
        static SUM: ShortMutex<u64> = ShortMutex::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..20_000).for_each(|_| *SUM.lock() += 1));
            }
        });
        assert_eq!(*SUM.lock(), 80_000);
    }
}

//! Mutex and condition variable for runtime code: waiting happens in a safe region.
//!
//! Invariant: a thread never waits at a safepoint while it has just acquired the lock: when the world is being stopped,
//! it gives the lock back first. So a collector may take a `GcMutex` whose critical sections have no safepoint. Left
//! out: fairness, ranks, poisoning.

use crate::current::current;
use saki_sync::{RawLock, WaitWord};
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// See the module header.
#[derive(Default)]
pub struct GcMutex<T> {
    lock: RawLock,
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives one thread at a time access to the value.
unsafe impl<T: Send> Sync for GcMutex<T> {}
// SAFETY: as for the value.
unsafe impl<T: Send> Send for GcMutex<T> {}

impl<T> GcMutex<T> {
    pub const fn new(value: T) -> GcMutex<T> {
        GcMutex { lock: RawLock::new(), value: UnsafeCell::new(value) }
    }

    /// Locks; in a safe region when it has to wait.
    #[inline]
    pub fn lock(&self) -> GcMutexGuard<'_, T> {
        if !self.lock.try_lock() {
            self.lock_contended();
        }
        GcMutexGuard { mutex: self }
    }

    /// Locks if nobody has it.
    pub fn try_lock(&self) -> Option<GcMutexGuard<'_, T>> {
        self.lock.try_lock().then_some(GcMutexGuard { mutex: self })
    }

    #[cold]
    fn lock_contended(&self) {
        lock_in_safe_region(&self.lock);
    }

    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// Takes a lock, waiting for it in a safe region. The calling thread never waits while it has it: when a stop is requested, or its carrier was
/// taken, it gives the lock back first.
pub fn lock_in_safe_region(lock: &RawLock) {
    let Some(thread) = current() else {
        return lock.lock();
    };
    loop {
        let region = thread.enter_safe_region();
        lock.lock();
        match region.try_leave() {
            Ok(()) => return,
            Err(region) => {
                lock.unlock();
                region.leave();
            }
        }
    }
}

/// Access to a `GcMutex`.
#[must_use = "the mutex is unlocked when this is dropped"]
pub struct GcMutexGuard<'a, T> {
    mutex: &'a GcMutex<T>,
}

impl<T> Deref for GcMutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for GcMutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock and is borrowed mutably.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for GcMutexGuard<'_, T> {
    fn drop(&mut self) {
        self.mutex.lock.unlock();
    }
}

/// A condition variable for `GcMutex`.
pub struct GcCondvar {
    /// Counts notifications.
    sequence: WaitWord,
}

impl Default for GcCondvar {
    fn default() -> Self {
        Self::new()
    }
}

impl GcCondvar {
    pub const fn new() -> GcCondvar {
        GcCondvar { sequence: WaitWord::new(0) }
    }

    /// Unlocks, waits in a safe region for a notification, locks again. Returns early spuriously; the second result is
    /// `false` when the timeout has passed.
    pub fn wait<'a, T>(&self, guard: GcMutexGuard<'a, T>, timeout: Option<Duration>) -> (GcMutexGuard<'a, T>, bool) {
        // Relaxed: read under the mutex; a notifier that changes it later makes the wait return at once.
        let seen = self.sequence.load(Ordering::Relaxed);
        let mutex = guard.mutex;
        drop(guard);
        let in_time = crate::blocking(|| self.sequence.wait(seen, timeout));
        (mutex.lock(), in_time)
    }

    pub fn notify_one(&self) {
        self.sequence.atomic().fetch_add(1, Ordering::Relaxed);
        self.sequence.wake(1);
    }

    pub fn notify_all(&self) {
        self.sequence.atomic().fetch_add(1, Ordering::Relaxed);
        self.sequence.wake_all();
    }
}

//! Locks across a fork: a child has the words of its parent's locks, but not the threads that hold them or wait for them.
//!
//! Invariant: the functions that free a lock are called in a forked child that has one thread, which holds no guard of the lock. Threads that waited are still in the
//! queues of `parking_lot`, in memory that the C library gives to new threads; so a lock is taken and given back until nobody can be left, before the child has other threads.

use parking_lot::{Mutex, RwLock};
use std::sync::atomic::{AtomicUsize, Ordering};

/// More threads than wait for one of these locks, unless a program is in trouble anyway: each release takes one out of the queue.
const MAX_WAITERS: usize = 256;

/// Locks held for a fork (`hold`), which is undone by `release`.
static HELD_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Takes the lock until `release` or `revive`, which the same thread calls. For the thread that forks.
pub fn hold<T>(lock: &Mutex<T>) {
    std::mem::forget(lock.lock());
    HELD_COUNT.fetch_add(1, Ordering::Relaxed);
}

/// As `hold`, against readers and writers.
pub fn hold_list<T>(lock: &RwLock<T>) {
    std::mem::forget(lock.write());
    HELD_COUNT.fetch_add(1, Ordering::Relaxed);
}

/// Undoes `hold`, in the parent.
pub fn release<T>(lock: &Mutex<T>) {
    assert!(HELD_COUNT.fetch_sub(1, Ordering::Relaxed) > 0, "a lock that was not held for a fork");
    // SAFETY: this thread took it by `hold`; the count says that there was such a call.
    unsafe { lock.force_unlock() };
}

/// Undoes `hold_list`, in the parent.
pub fn release_list<T>(lock: &RwLock<T>) {
    assert!(HELD_COUNT.fetch_sub(1, Ordering::Relaxed) > 0, "a lock that was not held for a fork");
    // SAFETY: as in `release`.
    unsafe { lock.force_unlock_write() };
}

/// Frees a lock that a thread of the parent may hold or wait for. In a forked child, before it has a second thread.
pub fn revive<T>(lock: &Mutex<T>) {
    assert!(saki_os::fork::is_child(), "a lock is broken open outside of a forked child");
    HELD_COUNT.store(0, Ordering::Relaxed);
    for _ in 0..MAX_WAITERS {
        while lock.is_locked() {
            // SAFETY: the thread that holds it is not in this process, or is this one, by `hold`.
            unsafe { lock.force_unlock() };
        }
        std::mem::forget(lock.lock());
    }
    while lock.is_locked() {
        // SAFETY: this thread holds it.
        unsafe { lock.force_unlock() };
    }
}

/// As `revive`, against readers and writers.
pub fn revive_list<T>(lock: &RwLock<T>) {
    assert!(saki_os::fork::is_child(), "a lock is broken open outside of a forked child");
    HELD_COUNT.store(0, Ordering::Relaxed);
    for round in 0..=MAX_WAITERS {
        while lock.is_locked() {
            if lock.is_locked_exclusive() {
                // SAFETY: as in `revive`.
                unsafe { lock.force_unlock_write() };
            } else {
                // SAFETY: as in `revive`; it is locked, and not by a writer.
                unsafe { lock.force_unlock_read() };
            }
        }
        if round < MAX_WAITERS {
            std::mem::forget(lock.write());
        }
    }
}

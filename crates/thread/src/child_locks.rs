//! Locks across a fork: a child has the words of its parent's locks, but not the threads that hold them or wait for
//! them.
//!
//! Invariant: the functions that free a lock are called in a forked child that has one thread, which holds no guard of
//! the lock. All locks here are word locks (`saki_sync::word_locks`): nothing beside the word knows that a thread
//! waits. Left out: data that a thread of the parent was changing under a lock that nobody held for the fork; threads
//! which are not stopped change none.

use saki_base::locks::order;
use saki_base::locks::rank::Rank;
use saki_sync::word_locks::{Mutex, RwLock};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Locks held for a fork (`hold`), which is undone by `release`. Relaxed: one thread forks at a time.
static HELD_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Takes the lock until `release` or `revive`, which the same thread calls. For the thread that forks.
pub fn hold<R: Rank, T>(lock: &Mutex<R, T>) {
    std::mem::forget(lock.lock());
    order::keep_for_fork();
    HELD_COUNT.fetch_add(1, Ordering::Relaxed);
}

/// Takes the lock against readers and writers until `release_list` or `revive_list`, which the same thread calls. For
/// the thread that forks.
pub fn hold_list<R: Rank, T>(lock: &RwLock<R, T>) {
    std::mem::forget(lock.write());
    order::keep_for_fork();
    HELD_COUNT.fetch_add(1, Ordering::Relaxed);
}

/// Undoes `hold`, in the parent.
pub fn release<R: Rank, T>(lock: &Mutex<R, T>) {
    assert!(HELD_COUNT.fetch_sub(1, Ordering::Relaxed) > 0, "a lock that was not held for a fork");
    // SAFETY: this thread took it by `hold`; the count says that there was such a call.
    unsafe { lock.force_unlock() };
}

/// Undoes `hold_list`, in the parent.
pub fn release_list<R: Rank, T>(lock: &RwLock<R, T>) {
    assert!(HELD_COUNT.fetch_sub(1, Ordering::Relaxed) > 0, "a lock that was not held for a fork");
    // SAFETY: this thread took it by `hold_list`; the count says that there was such a call.
    unsafe { lock.force_unlock_write() };
}

/// Frees a lock that a thread of the parent may hold or wait for. In a forked child, before it has a second thread.
pub fn revive<R: Rank, T>(lock: &Mutex<R, T>) {
    assert!(saki_os::fork::is_child(), "a lock is broken open outside of a forked child");
    HELD_COUNT.store(0, Ordering::Relaxed);
    // SAFETY: the calling thread is the process's only one and has no guard of the lock, so no guard is left whose
    // owner counts on it.
    unsafe { lock.raw() }.break_open().forget_owner();
}

/// Frees a lock that threads of the parent may hold or wait for, as readers or as the writer. In a forked child, before
/// it has a second thread.
pub fn revive_list<R: Rank, T>(lock: &RwLock<R, T>) {
    assert!(saki_os::fork::is_child(), "a lock is broken open outside of a forked child");
    HELD_COUNT.store(0, Ordering::Relaxed);
    // SAFETY: the calling thread is the process's only one and has no guard of the lock, so no guard is left whose
    // owner counts on it.
    unsafe { lock.raw() }.break_open().forget_owners();
}

#[cfg(test)]
mod tests {
    use super::*;
    use saki_base::locks::rank;

    #[test]
    fn a_lock_of_a_fork_counts_as_held_until_it_is_given_back() {
        static LIST: RwLock<rank::Workers, u32> = RwLock::new(1);
        static LOCK: Mutex<rank::FinalizerState, u32> = Mutex::new(2);
        // SAFETY: only the addresses are looked at.
        let (list, lock) = unsafe { (LIST.raw(), LOCK.raw()) };
        let held = || (order::holds(list), order::holds(lock));
        let is_checked = cfg!(debug_assertions);
        hold_list(&LIST);
        hold(&LOCK);
        assert_eq!(held(), (is_checked, is_checked));
        assert!(LIST.try_read().is_none() && LOCK.try_lock().is_none());
        release(&LOCK);
        assert_eq!(held(), (is_checked, false));
        release_list(&LIST);
        assert_eq!(held(), (false, false));
        assert_eq!(*LIST.read(), 1);
        assert_eq!(*LOCK.lock(), 2);
    }
}

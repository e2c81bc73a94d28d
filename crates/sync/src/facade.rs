//! The only source of atomics, mutexes and threads for this crate: `std`, or `loom` when built with `--cfg loom`.
//!
//! Invariant: protocols of this crate name no `std::sync` type directly, so that their models run the shipped code. loom
//! weakens SeqCst accesses to AcqRel (fences stay), so a protocol that needs SeqCst must say so with a fence. Left out:
//! futexes (see `wait_word`, which emulates them for models).

#[cfg(not(loom))]
pub mod atomic {
    pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
}
#[cfg(loom)]
pub mod atomic {
    pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
}

#[cfg(not(loom))]
pub use crate::short_mutex::{ShortMutex as Mutex, ShortMutexGuard as MutexGuard};
#[cfg(loom)]
pub use loom::{
    sync::{Arc, Mutex, MutexGuard},
    thread,
};
#[cfg(not(loom))]
pub use std::{sync::Arc, thread};

/// A hint in spin loops; a scheduling point in models.
#[inline(always)]
pub fn spin_hint() {
    #[cfg(not(loom))]
    std::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
}

/// Stands behind the locked instruction that takes a lock; see `saki_os::errata`.
#[inline(always)]
pub fn fence_after_lock() {
    #[cfg(not(loom))]
    saki_os::errata::fence_after_lock();
}

/// The light side of an asymmetric barrier (`saki_os::membarrier`); models know the symmetric one only.
#[inline(always)]
pub fn light_fence() {
    #[cfg(not(loom))]
    saki_os::membarrier::light();
    #[cfg(loom)]
    loom::sync::atomic::fence(atomic::Ordering::SeqCst);
}

/// The heavy side.
pub fn heavy_fence() {
    #[cfg(not(loom))]
    saki_os::membarrier::heavy();
    #[cfg(loom)]
    loom::sync::atomic::fence(atomic::Ordering::SeqCst);
}

/// Locks a mutex, ignoring poison: a panic aborts the machine.
#[inline]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cfg(not(loom))]
    return mutex.lock();
    #[cfg(loom)]
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

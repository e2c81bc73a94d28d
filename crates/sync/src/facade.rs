//! The only source of atomics, mutexes and threads for this crate: `std`, or `loom` when built with `--cfg loom`.
//!
//! Invariant: protocols of this crate name no `std::sync` type directly, so that their models run the shipped code.
//! loom weakens SeqCst accesses to AcqRel (fences stay), so a protocol that needs SeqCst must say so with a fence. Left
//! out: futexes (see `wait_word`, which emulates them for models).

use saki_base::locks::rank::Rank;

#[cfg(not(loom))]
pub mod atomic {
    pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
}
#[cfg(loom)]
pub mod atomic {
    pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
}

#[cfg(not(loom))]
pub use crate::short_mutex::ShortMutex as Mutex;
#[cfg(not(loom))]
use crate::short_mutex::ShortMutexGuard;
#[cfg(loom)]
pub use loom::{sync::Arc, thread};
#[cfg(not(loom))]
pub use std::{sync::Arc, thread};

/// loom's mutex, with a rank that nothing checks: a model's threads are all on one OS thread.
#[cfg(loom)]
pub struct Mutex<R, T>(loom::sync::Mutex<T>, std::marker::PhantomData<R>);

#[cfg(loom)]
impl<R, T> Mutex<R, T> {
    pub fn new(value: T) -> Mutex<R, T> {
        Mutex(loom::sync::Mutex::new(value), std::marker::PhantomData)
    }
}

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
    // SeqCst: what the two sides of the machine's barrier are together.
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
#[track_caller]
#[cfg(not(loom))]
pub fn lock<R: Rank, T>(mutex: &Mutex<R, T>) -> ShortMutexGuard<'_, R, T> {
    mutex.lock()
}

/// Locks a mutex, ignoring poison: a panic aborts the machine.
#[cfg(loom)]
pub fn lock<R: Rank, T>(mutex: &Mutex<R, T>) -> loom::sync::MutexGuard<'_, T> {
    mutex.0.lock().unwrap_or_else(|e| e.into_inner())
}

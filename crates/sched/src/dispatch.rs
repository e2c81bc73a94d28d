//! The observer, a profiler, that learns how long green threads wait for their turn.
//!
//! Invariant: without an observer this costs one load wherever a thread becomes runnable or runs again.

use saki_thread::ManagedThread;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Why a thread did not run before it runs again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// It was parked, and woken.
    Parked {
        /// It runs on another carrier than before: it was stolen, or woken there.
        has_moved: bool,
    },
    /// It left native code, and its carrier had gone on without it.
    CarrierTaken,
    /// It yielded, and other threads had their turn.
    Yielded,
}

/// Called on the thread itself, in a safe region or running, with the time (CLOCK_MONOTONIC, ns) from which on it could
/// have run.
pub type DispatchObserver = fn(&'static ManagedThread, Dispatch, u64);

/// Null, or a `DispatchObserver`. Relaxed: functions have no contents to be published.
static OBSERVER: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Tells `observer` of every dispatch from now on; None ends it.
pub fn observe_dispatch(observer: Option<DispatchObserver>) {
    OBSERVER.store(observer.map_or(std::ptr::null_mut(), |observer| observer as *mut ()), Ordering::Relaxed);
}

/// The time, if there is an observer; else 0.
#[inline]
pub(crate) fn ready_now() -> u64 {
    if OBSERVER.load(Ordering::Relaxed).is_null() { 0 } else { saki_os::clock::monotonic_ns() }
}

/// The thread runs again; `ready_ns` is 0 if there was no observer when it became runnable.
#[inline]
pub(crate) fn tell(thread: &'static ManagedThread, dispatch: Dispatch, ready_ns: u64) {
    let observer = OBSERVER.load(Ordering::Relaxed);
    if ready_ns != 0 && !observer.is_null() {
        // SAFETY: not null, so `observe_dispatch` made it of a `DispatchObserver`.
        let observer = unsafe { std::mem::transmute::<*mut (), DispatchObserver>(observer) };
        observer(thread, dispatch, ready_ns);
    }
}

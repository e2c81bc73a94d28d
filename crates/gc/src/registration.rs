//! Registering objects for finalization, and the end of all registrations at exit: what the program asks for.
//!
//! New objects go to the buffer of the thread's carrier, without a lock. Left out: what becomes of registered objects
//! (`finalize`).

use crate::finalize::{self, adopt};
use crate::mmtk;
use crate::suppression::{set_suppressed, take_suppressed};
use saki_abi::ObjRef;
use saki_thread::{ManagedThread, StopReason};

/// The finalizer of the new object runs once after it becomes unreachable. `thread` is the current thread.
#[inline]
pub fn register_finalizer(thread: &ManagedThread, object: ObjRef) {
    take_suppressed(object);
    mmtk::push_finalizable(thread, object);
}

/// `GC.ReRegisterForFinalize` of Mono; registering twice is the same as once.
pub fn register_finalizer_again(thread: &ManagedThread, object: ObjRef) {
    finalize::expect_duplicates();
    register_finalizer(thread, object);
}

/// `GC.ReRegisterForFinalize` of .NET: each registration stands for one run of the finalizer. If the object was
/// suppressed, that alone is taken back.
pub fn register_finalizer_once_more(thread: &ManagedThread, object: ObjRef) {
    if !take_suppressed(object) {
        finalize::allow_duplicates();
        mmtk::push_finalizable(thread, object);
    }
}

/// `GC.SuppressFinalize`; no effect on objects that are already in a ready queue.
pub fn suppress_finalizer(object: ObjRef) {
    set_suppressed(object);
}

/// Makes every registered object that `filter` accepts ready, reachable or not: at exit and when a domain unloads.
/// Objects that collections release themselves stay registered. Stops the world, to include objects that are only in
/// their threads' buffers, but collects nothing. `filter` must not reach a safepoint. Returns how many.
pub fn make_all_finalizable(filter: &mut dyn FnMut(ObjRef) -> bool) -> usize {
    saki_thread::with_world_stopped(StopReason::Unloading, |_| {
        mmtk::for_each_finalizable_buffer(&mut adopt);
        finalize::make_all_ready(filter)
    })
}

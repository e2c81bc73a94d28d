//! System.Runtime.DependentHandle, and weak references to COM objects, which there are none of.
//!
//! A dependent handle is a normal GC handle of an ephemeron pair (`runtime::object::ephemeron_pairs`).
//! `InternalGetTarget`, whose managed body takes the handle for the address of a reference, is replaced.

use crate::arguments::ObjectPlace;
use crate::gc_handle;
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::object::ephemeron_pairs;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, RefPlace};

/// `GCHandleType.Normal`.
const NORMAL: i32 = 2;

fn allocate(t: CurrentThread, target: Option<Obj>, dependent: Option<Obj>) -> Managed<isize> {
    let pair = ephemeron_pairs::new(t, target, dependent)?;
    gc_handle::allocate(t, Some(pair.into()), NORMAL)
}

fn allocate_slow(t: CurrentThread, target: ObjectPlace, dependent: ObjectPlace) -> Managed<isize> {
    allocate(t, target.get(), dependent.get())
}

fn pair<'t>(t: CurrentThread<'t>, handle: isize) -> Option<Array<'t>> {
    gc_handle::internal_get(t, handle).and_then(Obj::as_array)
}

fn target<'t>(t: CurrentThread<'t>, handle: isize) -> Option<Obj<'t>> {
    ephemeron_pairs::key(pair(t, handle)?)
}

fn dependent<'t>(t: CurrentThread<'t>, handle: isize) -> Option<Obj<'t>> {
    let pair = pair(t, handle)?;
    ephemeron_pairs::key(pair).and_then(|_| ephemeron_pairs::value(pair))
}

fn target_and_dependent<'t>(t: CurrentThread<'t>, handle: isize, dependent: RefPlace) -> Option<Obj<'t>> {
    let pair = pair(t, handle);
    // This frame holds the key while it reads the value.
    let key = pair.and_then(ephemeron_pairs::key);
    let value = pair.filter(|_| key.is_some()).and_then(ephemeron_pairs::value);
    dependent.set(t, value);
    key
}

fn set_dependent(t: CurrentThread, handle: isize, dependent: Option<Obj>) {
    if let Some(pair) = pair(t, handle) {
        ephemeron_pairs::set_value(t, pair, dependent);
    }
}

fn set_target_to_null(t: CurrentThread, handle: isize) {
    if let Some(pair) = pair(t, handle) {
        ephemeron_pairs::clear(t, pair);
    }
}

fn free(t: CurrentThread, handle: isize) -> bool {
    gc_handle::internal_free(t, handle)
}

fn free_slow(t: CurrentThread, handle: isize) {
    gc_handle::internal_free(t, handle);
}

fn has_interop_info(_t: CurrentThread, _object: Option<Obj>) -> bool {
    false
}

/// The body reads memory at the handle.
pub const LOOPS: &[LoopRow] =
    &[LoopRow::new("static System.Runtime.DependentHandle::InternalGetTarget(System.IntPtr) System.Object", &target)
        .correcting()];

/// The internal calls of `System.Runtime.DependentHandle` and `ComAwareWeakReference`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net System.Runtime.DependentHandle::InternalAlloc", &allocate),
    InternalCall::new("@net QCall::DependentHandle_InternalAllocWithGCTransition", &allocate_slow),
    InternalCall::new("@net System.Runtime.DependentHandle::InternalGetDependent", &dependent),
    InternalCall::new("@net System.Runtime.DependentHandle::InternalGetTargetAndDependent", &target_and_dependent),
    InternalCall::new("@net System.Runtime.DependentHandle::InternalSetDependent", &set_dependent),
    InternalCall::new("@net System.Runtime.DependentHandle::InternalSetTargetToNull", &set_target_to_null),
    InternalCall::new("@net System.Runtime.DependentHandle::InternalFree", &free),
    InternalCall::new("@net QCall::DependentHandle_InternalFreeWithGCTransition", &free_slow),
    InternalCall::new("@net9 System.ComAwareWeakReference::HasInteropInfo", &has_interop_info),
];

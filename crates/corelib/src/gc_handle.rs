//! System.Runtime.InteropServices.GCHandle, and the handles of types' caches.
//!
//! A native handle is the number of a slot in the handle table, shifted so that its two lowest bits are free: managed
//! code keeps flags there ("pinned", "tracks resurrection"), and takes them off before a call. `GCHandle.InternalGet`,
//! whose managed body takes the handle for the address of a slot, is an intrinsic that calls `internal_get`.

use crate::arguments::{ObjectPlace, TypeArgument};
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::object::{exceptions, handles};
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj};
use saki_sync::handle_table::{Handle, HandleKind};
use saki_types::collectible;

/// Bits of a native handle that are managed code's own.
const FLAG_BITS: u32 = 2;

/// `GCHandleType`.
fn kind_of(kind: i32) -> HandleKind {
    match kind {
        0 => HandleKind::Weak,
        1 => HandleKind::WeakTrack,
        3 => HandleKind::Pinned,
        _ => HandleKind::Normal,
    }
}

fn native(handle: Handle) -> isize {
    (handle.bits() as isize) << FLAG_BITS
}

fn handle_of(native: isize) -> Option<Handle> {
    u32::try_from(native >> FLAG_BITS).ok().and_then(Handle::from_bits)
}

/// A new native handle.
pub fn allocate(t: CurrentThread, target: Option<Obj>, kind: i32) -> Managed<isize> {
    handles::allocate(t, kind_of(kind), target).map(native).ok_or_else(|| exceptions::out_of_memory(t))
}

fn internal_alloc(t: CurrentThread, target: Option<Obj>, kind: i32) -> Managed<isize> {
    allocate(t, target, kind)
}

fn internal_alloc_slow(t: CurrentThread, target: ObjectPlace, kind: i32) -> Managed<isize> {
    allocate(t, target.get(), kind)
}

/// Frees a native handle; one that was freed before stays so.
pub fn internal_free(t: CurrentThread, handle: isize) -> bool {
    if let Some(handle) = handle_of(handle) {
        // A handle that was freed before: managed code cannot tell, as under .NET.
        let _ = handles::free(t, handle);
    }
    true
}

fn internal_free_slow(t: CurrentThread, handle: isize) {
    internal_free(t, handle);
}

/// The target of a native handle, whatever flags managed code has put into it.
pub fn internal_get<'t>(t: CurrentThread<'t>, handle: isize) -> Option<Obj<'t>> {
    handle_of(handle & !((1 << FLAG_BITS) - 1)).and_then(|handle| handles::target(t, handle).ok()).flatten()
}

fn internal_set(_t: CurrentThread, handle: isize, target: Option<Obj>) {
    if let Some(handle) = handle_of(handle) {
        let _ = handles::set_target(handle, target);
    }
}

fn internal_compare_exchange<'t>(
    t: CurrentThread<'t>,
    handle: isize,
    target: Option<Obj<'t>>,
    expected: Option<Obj<'t>>,
) -> Option<Obj<'t>> {
    handle_of(handle).and_then(|handle| handles::exchange_target(t, handle, expected, target).ok()).flatten()
}

/// A handle that is freed with the records beside which it is kept. Managed code frees some of them itself.
struct HandleOfType(isize);

impl Drop for HandleOfType {
    fn drop(&mut self) {
        // Records end on a thread of the machine.
        CurrentThread::with_attached(|t| internal_free(t, self.0));
    }
}

/// The handle lives as long as the type: one of a type that is not collectible stays until the process ends or managed
/// code frees it.
fn handle_for_type(t: CurrentThread, ty: TypeArgument, kind: i32) -> Managed<isize> {
    let handle = allocate(t, None, kind)?;
    if let Some(owner) = collectible::owner_of(ty.ty()) {
        collectible::keep_with(Some(owner), HandleOfType(handle));
    }
    Ok(handle)
}

/// A thread that loses the race for a type's cache gives its handle back. That of a collectible type stays until the
/// type ends, where it is freed.
fn free_handle_for_type(t: CurrentThread, ty: TypeArgument, handle: isize) -> isize {
    if collectible::owner_of(ty.ty()).is_none() {
        internal_free(t, handle);
    }
    0
}

fn check_initialized(t: CurrentThread, handle: isize) -> Managed<()> {
    if handle == 0 { Err(exceptions::throw_null_reference(t)) } else { Ok(()) }
}

/// 10: its body reads at the handle, which is no address here.
pub const LOOPS: &[LoopRow] = &[LoopRow::new(
    "static System.Runtime.InteropServices.GCHandle::CheckUninitialized(System.IntPtr) System.Void",
    &check_initialized,
)
.correcting()];

/// The internal calls of `GCHandle`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net System.Runtime.InteropServices.GCHandle::_InternalAlloc", &internal_alloc),
    InternalCall::new("@net QCall::GCHandle_InternalAllocWithGCTransition", &internal_alloc_slow),
    InternalCall::new("@net System.Runtime.InteropServices.GCHandle::_InternalFree", &internal_free),
    InternalCall::new("@net QCall::GCHandle_InternalFreeWithGCTransition", &internal_free_slow),
    InternalCall::new("@net System.Runtime.InteropServices.GCHandle::InternalGet", &internal_get),
    InternalCall::new("@net System.Runtime.InteropServices.GCHandle::InternalSet", &internal_set),
    InternalCall::new(
        "@net System.Runtime.InteropServices.GCHandle::InternalCompareExchange",
        &internal_compare_exchange,
    ),
    InternalCall::new("@net QCall::QCall_GetGCHandleForTypeHandle", &handle_for_type),
    InternalCall::new("@net QCall::QCall_FreeGCHandleForTypeHandle", &free_handle_for_type),
];

//! GC handles of `mono/metadata/object.h`, in 32 bits.

use crate::call::{call, call_managed, held};
use saki_abi::ObjRef;
use saki_runtime::object::{exceptions, handles};
use saki_runtime::{Obj, Word};
use saki_sync::handle_table::{Handle, HandleKind};
use std::ffi::c_int;

/// # Safety
/// `object` is null or an object.
unsafe fn allocate(function: &str, kind: HandleKind, object: ObjRef) -> u32 {
    call_managed(function, |t| {
        // SAFETY: null or the host's object.
        let target = unsafe { held(object) };
        Ok(handles::allocate(t, kind, target).ok_or_else(|| exceptions::out_of_memory(t))?.bits())
    })
}

/// A handle that keeps the object alive, and in its place if it is pinned.
///
/// # Safety
/// `object` is null or an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_gchandle_new(object: ObjRef, is_pinned: c_int) -> u32 {
    let kind = if is_pinned != 0 { HandleKind::Pinned } else { HandleKind::Normal };
    // SAFETY: null or the host's object.
    unsafe { allocate("mono_gchandle_new", kind, object) }
}

/// A handle that does not keep the object alive; it has a target until the object is finalized, or, if it tracks
/// resurrection, until it is freed.
///
/// # Safety
/// `object` is null or an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_gchandle_new_weakref(object: ObjRef, tracks_resurrection: c_int) -> u32 {
    let kind = if tracks_resurrection != 0 { HandleKind::WeakTrack } else { HandleKind::Weak };
    // SAFETY: null or the host's object.
    unsafe { allocate("mono_gchandle_new_weakref", kind, object) }
}

/// The object of a handle; null if it has none, or was freed.
#[unsafe(no_mangle)]
pub extern "C" fn mono_gchandle_get_target(handle: u32) -> ObjRef {
    call("mono_gchandle_get_target", |t| {
        let target = Handle::from_bits(handle).and_then(|handle| Obj::of_handle(t, handle).ok().flatten());
        target.word()
    })
}

/// Frees a handle; nothing happens for 0.
#[unsafe(no_mangle)]
pub extern "C" fn mono_gchandle_free(handle: u32) {
    call("mono_gchandle_free", |t| {
        if let Some(handle) = Handle::from_bits(handle) {
            // A handle that was freed before is none of the host's any more.
            let _ = handles::free(t, handle);
        }
    });
}

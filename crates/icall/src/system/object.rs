//! System.Object.

use crate::arguments::non_null_this;
use saki_abi::object::OBJECT_HEADER_BYTES;
use saki_abi::vtable::VTableFlags;
use saki_abi::{ArrayHeader, ObjRef};
use saki_runtime::{CurrentThread, InternalCall, Managed, exceptions, monitors, object, proxies, type_objects};

fn get_type(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| {
        non_null_this(t, this)?;
        let shown = if proxies::is_proxy(this) { proxies::shown_type(this) } else { object::type_of(this) };
        type_objects::type_object(t, shown)
    })
}

fn memberwise_clone(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| {
        non_null_this(t, this)?;
        clone(t, this)
    })
}

/// A shallow copy of any object, without its lock and hash code.
///
/// # Errors
/// OutOfMemoryException.
pub(crate) fn clone(t: CurrentThread, original: ObjRef) -> Managed<ObjRef> {
    let vtable = object::vtable(original);
    if vtable.flags.0 & (VTableFlags::ARRAY | VTableFlags::STRING) == 0 {
        let copy = object::new_instance_of(t, vtable)?;
        copy_content(copy, original, vtable.instance_size_bytes as usize);
        return Ok(copy);
    }
    // SAFETY: a live object.
    let size_bytes = unsafe { saki_gc::object_size_bytes(original) };
    let copy = saki_gc::alloc_bytes(t.managed(), vtable, size_bytes).ok_or_else(|| exceptions::out_of_memory(t))?;
    copy_content(copy, original, size_bytes);
    if vtable.flags.has(VTableFlags::MULTI_DIM) {
        let bounds = object::array_bounds(copy).map_or(std::ptr::null_mut(), |b| b.as_mut_ptr());
        // SAFETY: the copy is an array; its bounds lie behind its own elements.
        unsafe { (*(copy.0 as *mut ArrayHeader)).bounds = bounds };
    }
    Ok(copy)
}

/// Copies what follows the header into a fresh object of the same size, which needs no barrier.
fn copy_content(copy: ObjRef, original: ObjRef, size_bytes: usize) {
    const HEADER: usize = OBJECT_HEADER_BYTES as usize;
    const _: () = assert!(std::mem::offset_of!(ArrayHeader, bounds) == HEADER);
    // SAFETY: both objects have `size_bytes`; `copy` was allocated since the last safepoint.
    unsafe {
        std::ptr::copy_nonoverlapping(
            original.field_ptr::<u8>(HEADER),
            copy.field_ptr::<u8>(HEADER),
            size_bytes - HEADER,
        );
    }
}

fn internal_get_hash_code(_t: CurrentThread, object: ObjRef) -> i32 {
    if object.is_null() { 0 } else { monitors::hash_code(object) }
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Object::GetType", &get_type),
    InternalCall::new("System.Object::MemberwiseClone", &memberwise_clone),
    InternalCall::new("System.Object::InternalGetHashCode", &internal_get_hash_code),
];

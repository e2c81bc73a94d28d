//! Allocating objects and arrays from Rust, casts of objects, and copies of values.

use crate::exceptions::{self, ToManaged};
use crate::references::{Array, Obj, Word};
use crate::thread::{CurrentThread, Managed};
use crate::upcalls::upcalls;
use crate::vtables::vtable_of;
use saki_abi::ObjRef;
use saki_abi::object::{ARRAY_DATA_OFFSET, ArrayBound, ArrayHeader};
use saki_abi::vtable::{VTable, VTableFlags};
use saki_types::{Ty, universe};

/// A zeroed instance; its constructor has not run. Registers finalizable objects.
///
/// # Errors
/// OutOfMemoryException.
pub fn new_instance_of(t: CurrentThread, vtable: &'static VTable) -> Managed<ObjRef> {
    let object = new_unregistered(t, vtable)?;
    if vtable.flags.has(VTableFlags::FINALIZER) {
        saki_gc::register_finalizer(t.managed(), object);
    }
    Ok(object)
}

fn new_unregistered(t: CurrentThread, vtable: &'static VTable) -> Managed<ObjRef> {
    // SAFETY: vtables are never freed; `t` is current.
    let object = unsafe { saki_gc::alloc_object(t.managed(), vtable) };
    object.ok_or_else(|| exceptions::out_of_memory(t))
}

/// As `new_instance`, but the object's finalizer does not run before the caller registers it.
///
/// # Errors
/// As `new_instance`.
pub fn new_instance_without_finalizer(t: CurrentThread, ty: Ty) -> Managed<ObjRef> {
    let vtable = vtable_of(ty).to_managed(t)?;
    // SAFETY: vtables are never freed.
    new_unregistered(t, unsafe { &*vtable })
}

/// A zeroed instance of a type.
///
/// # Errors
/// TypeLoadException, OutOfMemoryException.
pub fn new_instance(t: CurrentThread, ty: Ty) -> Managed<ObjRef> {
    let vtable = vtable_of(ty).to_managed(t)?;
    // SAFETY: vtables are never freed.
    new_instance_of(t, unsafe { &*vtable })
}

/// A boxed copy of the value at `data`; Nullable<T> boxes as null or T.
///
/// # Errors
/// OutOfMemoryException.
#[expect(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "the value is vouched for by compiled code, as everything an internal call gets"
)]
pub fn box_value(t: CurrentThread, ty: Ty, data: *const u8) -> Managed<ObjRef> {
    if ty.is_nullable() {
        let (has_value, value) = nullable_offsets(t, ty)?;
        // SAFETY: `data` is a Nullable<T>; its first field is the flag.
        if unsafe { *data.add(has_value) } == 0 {
            return Ok(ObjRef::NULL);
        }
        return box_value(t, ty.args[0], data.wrapping_add(value));
    }
    let size = ty.value_size_bytes().to_managed(t)? as usize;
    let object = Obj::new(t, ty)?;
    // SAFETY: the new object has room for `size` bytes behind its header, and is young: no barrier.
    unsafe { std::ptr::copy_nonoverlapping(data, object.data(), size) };
    Ok(object.word())
}

/// Offsets of `hasValue` and `value` in a Nullable<T>.
///
/// # Errors
/// TypeLoadException.
pub fn nullable_offsets(t: CurrentThread, ty: Ty) -> Managed<(usize, usize)> {
    let (mut has_value, mut value) = (0, 0);
    for &field in ty.fields().to_managed(t)?.iter().filter(|f| !f.is_static()) {
        let offset = field.offset_bytes().to_managed(t)? as usize;
        if field.ty().to_managed(t)? == universe().boolean() && field.name.starts_with("has") {
            has_value = offset;
        } else {
            value = offset;
        }
    }
    Ok((has_value, value))
}

/// An SZ array of `array_ty` (the array type), zeroed.
///
/// # Errors
/// OverflowException, OutOfMemoryException.
pub fn new_sz_array(t: CurrentThread, array_ty: Ty, length: usize) -> Managed<ObjRef> {
    let vtable = vtable_of(array_ty).to_managed(t)?;
    // SAFETY: vtables are never freed.
    new_sz_array_of(t, unsafe { &*vtable }, length)
}

/// As `new_sz_array`, by vtable.
///
/// # Errors
/// OutOfMemoryException.
pub fn new_sz_array_of(t: CurrentThread, vtable: &'static VTable, length: usize) -> Managed<ObjRef> {
    let Ok(length) = u32::try_from(length) else { return Err(exceptions::out_of_memory(t)) };
    if length > i32::MAX as u32 {
        return Err(exceptions::out_of_memory(t));
    }
    // SAFETY: the vtable of an array type; `t` is current.
    let array = unsafe { saki_gc::alloc_array(t.managed(), vtable, length) };
    array.ok_or_else(|| exceptions::out_of_memory(t))
}

/// An array of `element` type.
///
/// # Errors
/// As `new_sz_array`.
pub fn new_array(t: CurrentThread, element: Ty, length: usize) -> Managed<ObjRef> {
    new_sz_array(t, universe().sz_array_of(element), length)
}

/// A multi-dimensional array with these bounds.
///
/// # Errors
/// OutOfMemoryException when the product is too large.
pub fn new_multi_dim_array(t: CurrentThread, array_ty: Ty, bounds: &[ArrayBound]) -> Managed<ObjRef> {
    let total = bounds.iter().try_fold(1u64, |n, b| n.checked_mul(u64::from(b.length)));
    let Some(total) = total.filter(|&n| n <= i32::MAX as u64) else { return Err(exceptions::out_of_memory(t)) };
    let vtable = vtable_of(array_ty).to_managed(t)?;
    // SAFETY: vtables are never freed.
    let vtable = unsafe { &*vtable };
    // SAFETY: the vtable of an array type; `t` is current.
    let array = unsafe { saki_gc::alloc_array(t.managed(), vtable, total as u32) };
    let array = array.ok_or_else(|| exceptions::out_of_memory(t))?;
    let data_bytes = (vtable.element_size_bytes as usize * total as usize).next_multiple_of(8);
    let bounds_at = array.field_ptr::<ArrayBound>(ARRAY_DATA_OFFSET as usize + data_bytes);
    for (index, &bound) in bounds.iter().enumerate() {
        // SAFETY: `alloc_array` reserves `rank` bounds behind the elements of a MULTI_DIM array.
        unsafe { bounds_at.add(index).write(bound) };
    }
    // SAFETY: a fresh array.
    unsafe { (*(array.0 as *mut ArrayHeader)).bounds = bounds_at };
    Ok(array)
}

/// Copies a value type into the heap or anywhere, with barriers for its references.
///
/// # Safety
/// Both addresses hold `ty`'s size in bytes.
pub unsafe fn copy_struct(t: CurrentThread, dst: *mut u8, src: *const u8, ty: Ty) {
    let size = ty.value_size_bytes().unwrap_or(0) as usize;
    // SAFETY: the caller's promise; memmove semantics.
    unsafe { std::ptr::copy(src, dst, size) };
    if let Ok(offsets) = ty.ref_offsets() {
        for &offset in offsets {
            let slot = dst.wrapping_add(offset as usize) as *mut ObjRef;
            saki_gc::barrier::after_store_unknown(t.managed(), slot);
        }
    }
}

/// A byte[] with this content.
///
/// # Errors
/// OutOfMemoryException.
pub fn new_byte_array(t: CurrentThread, bytes: &[u8]) -> Managed<ObjRef> {
    let array = Array::new(t, universe().byte(), bytes.len())?;
    // SAFETY: a fresh array of `bytes.len()` bytes.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), array.element_address(0), bytes.len()) };
    Ok(array.word())
}

/// Whether `object` (not null) may be used as `ty`.
///
/// # Errors
/// TypeLoadException.
pub fn is_instance(t: CurrentThread, object: ObjRef, ty: Ty) -> Managed<bool> {
    is_assignable(t, Obj::passed_object(object), ty)
}

/// Whether `object` may be used as `ty`.
///
/// # Errors
/// TypeLoadException.
pub(crate) fn is_assignable(t: CurrentThread, object: Obj, ty: Ty) -> Managed<bool> {
    let exact = object.ty();
    if exact == ty {
        return Ok(true);
    }
    let (vtable, target) = (object.vtable(), std::ptr::from_ref(ty).cast());
    if let Some(known) = vtable.casts.find(target) {
        return Ok(known);
    }
    let is_instance = crate::cast_cache::is_assignable(exact, ty).to_managed(t)?;
    if object.is_proxy() {
        return if is_instance { Ok(true) } else { upcalls().can_cast_proxy(t, object, ty) };
    }
    vtable.casts.remember(target, is_instance, may_replace_cast());
    Ok(is_instance)
}

/// Only one in so many results of casts replaces the one cached in the vtable: frequent casts still get there, and
/// threads that cast to different types do not pass the vtable's cache line to and fro.
const CAST_REPLACEMENT_PERIOD: u32 = 64;

fn may_replace_cast() -> bool {
    thread_local! {
        static OUTCOMES: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
    }
    OUTCOMES.with(|outcomes| {
        outcomes.set(outcomes.get().wrapping_add(1));
        outcomes.get().is_multiple_of(CAST_REPLACEMENT_PERIOD)
    })
}

//! Reading and writing objects: their types, boxed values, elements of arrays, stores with barrier.
//!
//! Left out: allocation (`instances`), and with it everything that may fail or reach a safepoint.

use crate::references::{Array, Obj, Word};
use crate::thread::CurrentThread;
use saki_abi::ObjRef;
use saki_abi::object::{ARRAY_DATA_OFFSET, ArrayBound};
use saki_abi::vtable::VTable;
use saki_types::Ty;

/// The vtable of an object; mutators never see the collector's bits in it.
pub fn vtable(object: ObjRef) -> &'static VTable {
    Obj::passed_object(object).vtable()
}

/// The exact type of an object.
pub fn type_of(object: ObjRef) -> Ty {
    Obj::passed_object(object).ty()
}

/// Whether `object` (not null) is a transparent proxy.
pub fn is_proxy(object: ObjRef) -> bool {
    Obj::passed_object(object).is_proxy()
}

/// Address of a boxed value's data.
pub fn unboxed(object: ObjRef) -> *mut u8 {
    Obj::passed_object(object).data()
}

/// Number of elements of an array.
pub fn array_length(array: ObjRef) -> usize {
    Array::passed(array).length()
}

/// Bounds of a multi-dimensional array; None for SZ arrays.
pub fn array_bounds(array: ObjRef) -> Option<&'static mut [ArrayBound]> {
    let bounds = Array::passed(array).bounds()?;
    // SAFETY: the bounds lie in the array, which the caller's frames keep; nobody else has a slice of them.
    Some(unsafe { std::slice::from_raw_parts_mut(bounds.as_ptr().cast_mut(), bounds.len()) })
}

/// Address of element `index` of an array with elements of `element_size_bytes`.
pub fn element_address(array: ObjRef, index: usize, element_size_bytes: usize) -> *mut u8 {
    array.field_ptr(ARRAY_DATA_OFFSET as usize + index * element_size_bytes)
}

/// Element of a reference array.
pub fn get_element_ref(array: ObjRef, index: usize) -> ObjRef {
    Array::passed(array).get(index).word()
}

/// Stores into a reference array, with barrier and without type check.
pub fn set_element_ref(t: CurrentThread, array: ObjRef, index: usize, value: impl Word) {
    Array::passed(array).set(t, index, Obj::passed(value));
}

/// Stores a reference into `object` at `slot`, with the write barrier.
pub fn store_ref(t: CurrentThread, object: ObjRef, slot: *mut ObjRef, value: ObjRef) {
    // SAFETY: `slot` lies inside `object`, which is alive in the caller's frame.
    unsafe { saki_gc::barrier::store_ref(t.managed(), object, slot as usize - object.address(), value) };
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

//! Reading and writing objects: their types, boxed values, elements of arrays, stores with barrier.
//!
//! Left out: allocation (`instances`), and with it everything that may fail or reach a safepoint.

use crate::references::Word;
use crate::thread::CurrentThread;
use crate::vtables::type_of_vtable;
use saki_abi::object::{ARRAY_DATA_OFFSET, ArrayBound, ArrayHeader, OBJECT_HEADER_BYTES};
use saki_abi::vtable::{VTable, VTableFlags};
use saki_abi::{ObjRef, Object};
use saki_types::Ty;

/// The vtable of an object; mutators never see the collector's bits in it.
pub fn vtable(object: ObjRef) -> &'static VTable {
    debug_assert!(!object.is_null());
    // SAFETY: a non-null reference is an object whose first word is its vtable, which is never freed.
    unsafe { &*(*(object.0 as *const Object)).vtable }
}

/// The exact type of an object.
pub fn type_of(object: ObjRef) -> Ty {
    type_of_vtable(vtable(object))
}

/// Whether `object` (not null) is a transparent proxy.
pub fn is_proxy(object: ObjRef) -> bool {
    vtable(object).flags.has(VTableFlags::PROXY)
}

/// Address of a boxed value's data.
pub fn unboxed(object: ObjRef) -> *mut u8 {
    object.field_ptr(OBJECT_HEADER_BYTES as usize)
}

/// Number of elements of an array.
pub fn array_length(array: ObjRef) -> usize {
    // SAFETY: the caller has an array; all begin with `ArrayHeader`.
    unsafe { (*(array.0 as *const ArrayHeader)).length as usize }
}

/// Bounds of a multi-dimensional array; None for SZ arrays.
pub fn array_bounds(array: ObjRef) -> Option<&'static mut [ArrayBound]> {
    // SAFETY: as in `array_length`.
    let bounds = unsafe { (*(array.0 as *const ArrayHeader)).bounds };
    if bounds.is_null() {
        return None;
    }
    let rank = vtable(array).rank as usize;
    // The pointer is into the object itself: recompute, because a moved object carries the old address.
    let v = vtable(array);
    let data_bytes = (v.element_size_bytes as usize * array_length(array)).next_multiple_of(8);
    let at = array.field_ptr::<ArrayBound>(ARRAY_DATA_OFFSET as usize + data_bytes);
    // SAFETY: `rank` bounds lie behind the elements; the array is alive in the caller's frame.
    Some(unsafe { std::slice::from_raw_parts_mut(at, rank) })
}

/// Address of element `index` of an array with elements of `element_size_bytes`.
pub fn element_address(array: ObjRef, index: usize, element_size_bytes: usize) -> *mut u8 {
    array.field_ptr(ARRAY_DATA_OFFSET as usize + index * element_size_bytes)
}

/// Element of a reference array.
pub fn get_element_ref(array: ObjRef, index: usize) -> ObjRef {
    debug_assert!(index < array_length(array));
    // SAFETY: in bounds of an array of references.
    unsafe { *(element_address(array, index, 8) as *const ObjRef) }
}

/// Stores into a reference array, with barrier and without type check.
pub fn set_element_ref(t: CurrentThread, array: ObjRef, index: usize, value: impl Word) {
    let value = value.word();
    debug_assert!(index < array_length(array));
    store_ref(t, array, element_address(array, index, 8) as *mut ObjRef, value);
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

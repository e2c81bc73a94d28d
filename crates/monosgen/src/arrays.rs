//! Arrays and copies of values of `mono/metadata/object.h`, and the write barriers.

use crate::call::{call, call_managed, call_quietly, some};
use crate::machine::end;
use saki_abi::ObjRef;
use saki_abi::object::ArrayBound;
use saki_gc::barrier;
use saki_runtime::ExceptionType;
use saki_runtime::object::{self, exceptions};
use saki_runtime::vm::domains::Domain;
use saki_runtime::{Array, Word};
use saki_types::Ty;
use std::ffi::c_int;
use std::sync::atomic::{Ordering, fence};

/// A new array of so many elements of the class.
#[unsafe(no_mangle)]
pub extern "C" fn mono_array_new(_domain: Option<&'static Domain>, element: Ty, length: usize) -> ObjRef {
    call_quietly("mono_array_new", |t| Ok(Array::new(t, element, length)?.word()))
}

/// A new array of an array class without bounds.
#[unsafe(no_mangle)]
pub extern "C" fn mono_array_new_specific(array: Ty, length: usize) -> ObjRef {
    call_quietly("mono_array_new_specific", |t| Ok(Array::of_array_type(t, array, length)?.word()))
}

/// A new array of an array class with these lengths, and these lower bounds, or 0 without them.
///
/// # Safety
/// `lengths` has a number for each dimension, `lower_bounds` is null or has as many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_array_new_full(
    _domain: Option<&'static Domain>,
    array: Ty,
    lengths: *const usize,
    lower_bounds: *const isize,
) -> ObjRef {
    call_quietly("mono_array_new_full", |t| {
        if array.is_sz_array() {
            // SAFETY: a number for each dimension, of which there is one.
            return Ok(Array::of_array_type(t, array, unsafe { lengths.read() })?.word());
        }
        let mut bounds = Vec::new();
        for index in 0..array.array_rank() as usize {
            // SAFETY: a number for each dimension.
            let length = unsafe { lengths.add(index).read() };
            // SAFETY: not null, so a number for each dimension.
            let lower = if lower_bounds.is_null() { 0 } else { unsafe { lower_bounds.add(index).read() } };
            let (Ok(length), Ok(lower_bound)) = (u32::try_from(length), i32::try_from(lower)) else {
                return Err(exceptions::throw_default(t, ExceptionType::Overflow));
            };
            bounds.push(ArrayBound { length, lower_bound });
        }
        Ok(Array::new_multi_dim(t, array, &bounds)?.word())
    })
}

/// The array in the host's hands.
///
/// # Safety
/// `array` is an object that the host holds.
pub(crate) unsafe fn array(function: &str, array: ObjRef) -> Array<'static> {
    // SAFETY: an object that the host holds.
    unsafe { some(function, array) }.as_array().unwrap_or_else(|| end(function, "gets an object that is no array"))
}

/// A shallow copy.
///
/// # Safety
/// `object` is an array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_array_clone(object: ObjRef) -> ObjRef {
    const FUNCTION: &str = "mono_array_clone";
    // SAFETY: the host's array.
    call_quietly(FUNCTION, |t| Ok(unsafe { array(FUNCTION, object) }.cloned(t)?.word()))
}

/// The number of elements, of all dimensions.
///
/// # Safety
/// `object` is an array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_array_length(object: ObjRef) -> usize {
    // SAFETY: the host's array.
    call("mono_array_length", |_| unsafe { array("mono_array_length", object) }.length())
}

/// The address of an element, of so many bytes each.
///
/// # Safety
/// `object` is an array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_array_addr_with_size(object: ObjRef, size_bytes: c_int, index: usize) -> *mut u8 {
    const FUNCTION: &str = "mono_array_addr_with_size";
    // SAFETY: the host's array.
    call(FUNCTION, |_| unsafe { array(FUNCTION, object) }.element_address(0).wrapping_add(index * size_bytes as usize))
}

/// Copies a value of the class, with barriers.
///
/// # Safety
/// Both addresses are those of values of the class.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_value_copy(to: *mut u8, from: *const u8, class: Ty) {
    // SAFETY: values of this type lie at both addresses.
    call("mono_value_copy", |t| unsafe { object::copy_struct(t, to, from, class) });
}

/// Copies so many values into an array, from this element on, with barriers.
///
/// # Safety
/// `object` is an array with room for them; `from` has so many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_value_copy_array(object: ObjRef, index: c_int, from: *const u8, count: c_int) {
    const FUNCTION: &str = "mono_value_copy_array";
    call(FUNCTION, |t| {
        // SAFETY: the host's array.
        let array = unsafe { array(FUNCTION, object) };
        let to = array.element_address(index as usize);
        let size_bytes = array.element_size_bytes() * usize::try_from(count).unwrap_or(0);
        // SAFETY: both ranges have so many values.
        unsafe { barrier::bulk_copy(t.managed(), to, from, size_bytes) };
    });
}

/// Stores a reference in a field.
///
/// # Safety
/// `place` lies in the object; `value` is null or an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_gc_wbarrier_set_field(object: ObjRef, place: *mut ObjRef, value: ObjRef) {
    let offset_bytes = place.addr() - object.address();
    // SAFETY: the field lies at this offset of the object.
    call("mono_gc_wbarrier_set_field", |t| unsafe { barrier::store_ref(t.managed(), object, offset_bytes, value) });
}

/// Stores a reference in an element.
///
/// # Safety
/// `place` lies in the array; `value` is null or an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_gc_wbarrier_set_arrayref(array: ObjRef, place: *mut ObjRef, value: ObjRef) {
    // SAFETY: the element lies in the array.
    unsafe { mono_gc_wbarrier_set_field(array, place, value) };
}

/// Copies so many references from elements to elements; the places may overlap.
///
/// # Safety
/// Both places have so many references.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_gc_wbarrier_arrayref_copy(to: *mut ObjRef, from: *const ObjRef, count: c_int) {
    let size_bytes = size_of::<ObjRef>() * usize::try_from(count).unwrap_or(0);
    call("mono_gc_wbarrier_arrayref_copy", |t| {
        // SAFETY: both ranges have so many references.
        unsafe { barrier::bulk_copy(t.managed(), to.cast(), from.cast(), size_bytes) };
    });
}

/// Stores a reference anywhere: in an object, a static field, the host's memory.
///
/// # Safety
/// `place` is one of a reference; `value` is null or an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_gc_wbarrier_generic_store(place: *mut ObjRef, value: ObjRef) {
    // SAFETY: the place of a reference.
    call("mono_gc_wbarrier_generic_store", |t| unsafe { barrier::store_ref_unknown(t.managed(), place, value) });
}

/// [`mono_gc_wbarrier_generic_store`], which all threads see in one order.
///
/// # Safety
/// That of [`mono_gc_wbarrier_generic_store`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_gc_wbarrier_generic_store_atomic(place: *mut ObjRef, value: ObjRef) {
    // SAFETY: the place of a reference.
    unsafe { mono_gc_wbarrier_generic_store(place, value) };
    // SeqCst: orders the store before whatever the host does next, as Mono promises.
    fence(Ordering::SeqCst);
}

/// Tells that the host has stored a reference.
///
/// # Safety
/// `place` is one of a reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_gc_wbarrier_generic_nostore(place: *mut ObjRef) {
    call("mono_gc_wbarrier_generic_nostore", |t| barrier::after_store_unknown(t.managed(), place));
}

/// Copies so many values of the class, with barriers; the places may overlap.
///
/// # Safety
/// Both places have so many values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_gc_wbarrier_value_copy(to: *mut u8, from: *const u8, count: c_int, class: Ty) {
    call_managed("mono_gc_wbarrier_value_copy", |t| {
        let size_bytes = exceptions::ToManaged::to_managed(class.value_size_bytes(), t)? as usize;
        // SAFETY: both ranges have so many values.
        unsafe { barrier::bulk_copy(t.managed(), to, from, size_bytes * usize::try_from(count).unwrap_or(0)) };
        Ok(())
    });
}

/// Copies the fields of an object to another of the same class.
///
/// # Safety
/// Both are objects of one class, which is neither an array nor a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_gc_wbarrier_object_copy(to: ObjRef, from: ObjRef) {
    const FUNCTION: &str = "mono_gc_wbarrier_object_copy";
    call(FUNCTION, |t| {
        // SAFETY: the host's objects.
        let (to, from) = unsafe { (some(FUNCTION, to), some(FUNCTION, from)) };
        let header_bytes = saki_abi::object::OBJECT_HEADER_BYTES as usize;
        let size_bytes = from.vtable().instance_size_bytes as usize - header_bytes;
        // SAFETY: both objects have so many bytes behind their headers.
        unsafe { barrier::bulk_copy(t.managed(), to.data(), from.data(), size_bytes) };
    });
}

//! Allocating objects and arrays from Rust, casts of objects, and copies of values.

use crate::exceptions::{self, ToManaged};
use crate::host_events::{HostEvent, tell_if_wanted};
use crate::references::{Array, Obj, Word};
use crate::thread::{CurrentThread, Managed};
use crate::upcalls::upcalls;
use crate::vtables::vtable_of;
use saki_abi::object::{ArrayBound, ArrayHeader};
use saki_abi::vtable::{VTable, VTableFlags};
use saki_base::bug_unless;
use saki_os::memory::copy_whole_words;
use saki_types::{Ty, load_texts, universe};

/// A zeroed instance; its constructor has not run. Registers finalizable objects.
///
/// # Errors
/// OutOfMemoryException.
pub fn new_instance_of<'t>(t: CurrentThread<'t>, vtable: &'static VTable) -> Managed<Obj<'t>> {
    let object = new_unregistered(t, vtable)?;
    if vtable.flags.has(VTableFlags::FINALIZER) {
        saki_gc::register_finalizer(t.managed(), object.word());
    }
    Ok(object)
}

fn new_unregistered<'t>(t: CurrentThread<'t>, vtable: &'static VTable) -> Managed<Obj<'t>> {
    // SAFETY: `t` is current; the allocation gives an object or null.
    unsafe { saki_gc::alloc_object(t.managed(), vtable).and_then(|word| Obj::from_word(word)) }
        .inspect(|object| tell_if_wanted(HostEvent::Allocated(*object)))
        .ok_or_else(|| exceptions::out_of_memory(t))
}

/// A zeroed instance of a type, whose finalizer does not run before the caller registers the object.
///
/// # Errors
/// TypeLoadException, OutOfMemoryException.
pub fn new_instance_without_finalizer<'t>(t: CurrentThread<'t>, ty: Ty) -> Managed<Obj<'t>> {
    let vtable = vtable_of(ty).to_managed(t)?;
    new_unregistered(t, vtable)
}

/// A zeroed instance of a type.
///
/// # Errors
/// TypeLoadException, OutOfMemoryException.
pub fn new_instance<'t>(t: CurrentThread<'t>, ty: Ty) -> Managed<Obj<'t>> {
    let vtable = vtable_of(ty).to_managed(t)?;
    new_instance_of(t, vtable)
}

/// A boxed copy of the value at `data`; Nullable<T> boxes as null or T.
///
/// # Errors
/// OutOfMemoryException.
///
/// # Safety
/// `data` holds a value of type `ty`.
pub unsafe fn box_value<'t>(t: CurrentThread<'t>, ty: Ty, data: *const u8) -> Managed<Option<Obj<'t>>> {
    if ty.is_nullable() {
        let (has_value, value) = nullable_offsets(t, ty)?;
        // SAFETY: `data` is a Nullable<T>; its first field is the flag.
        if unsafe { *data.add(has_value) } == 0 {
            return Ok(None);
        }
        // SAFETY: the value of a Nullable<T> lies at its offset.
        return unsafe { box_value(t, ty.args[0], data.wrapping_add(value)) };
    }
    let size = ty.value_size_bytes().to_managed(t)? as usize;
    let object = Obj::new(t, ty)?;
    // SAFETY: the new object has room for `size` bytes behind its header, and is young: no barrier.
    unsafe { std::ptr::copy_nonoverlapping(data, object.data(), size) };
    Ok(Some(object))
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

/// The number of elements that an array may have: `Array.MaxLength` of .NET, or under Mono what an `int` counts.
fn max_elements() -> u32 {
    const MAX_LENGTH: u32 = 0x7fff_ffc7;
    if load_texts::are_mono() { i32::MAX as u32 } else { MAX_LENGTH }
}

/// An SZ array of `array_ty` (the array type), zeroed.
///
/// # Errors
/// TypeLoadException, OutOfMemoryException.
pub fn new_sz_array<'t>(t: CurrentThread<'t>, array_ty: Ty, length: usize) -> Managed<Array<'t>> {
    let vtable = vtable_of(array_ty).to_managed(t)?;
    new_sz_array_of(t, vtable, length)
}

/// An SZ array, zeroed, of the array type that has this vtable.
///
/// # Errors
/// OutOfMemoryException.
pub fn new_sz_array_of<'t>(t: CurrentThread<'t>, vtable: &'static VTable, length: usize) -> Managed<Array<'t>> {
    match u32::try_from(length) {
        Ok(length) if length <= max_elements() => new_elements(t, vtable, length),
        _ => Err(exceptions::too_many_elements(t)),
    }
}

/// An array of `element` type that never moves.
///
/// # Errors
/// TypeLoadException, OutOfMemoryException.
pub fn new_array_in_place<'t>(t: CurrentThread<'t>, element: Ty, length: usize) -> Managed<Array<'t>> {
    let vtable = vtable_of(universe().sz_array_of(element)).to_managed(t)?;
    let Some(length) = u32::try_from(length).ok().filter(|length| *length <= max_elements()) else {
        return Err(exceptions::too_many_elements(t));
    };
    // SAFETY: the vtable of an array type, and `t` is current; the allocation gives an object or null.
    unsafe { saki_gc::alloc_array_in_place(t.managed(), vtable, length).and_then(|word| Obj::from_word(word)) }
        .inspect(|array| tell_if_wanted(HostEvent::Allocated(*array)))
        .map(Array)
        .ok_or_else(|| exceptions::out_of_memory(t))
}

/// A zeroed array of the array type that has this vtable; bounds are not set.
fn new_elements<'t>(t: CurrentThread<'t>, vtable: &'static VTable, length: u32) -> Managed<Array<'t>> {
    bug_unless!(vtable.flags.has(VTableFlags::ARRAY), "an array of a type that is none");
    // SAFETY: the vtable of an array type, by the check, and `t` is current; the allocation gives an object or null.
    unsafe { saki_gc::alloc_array(t.managed(), vtable, length).and_then(|word| Obj::from_word(word)) }
        .inspect(|array| tell_if_wanted(HostEvent::Allocated(*array)))
        .map(Array)
        .ok_or_else(|| exceptions::out_of_memory(t))
}

/// An array of `element` type.
///
/// # Errors
/// TypeLoadException, OutOfMemoryException.
pub fn new_array<'t>(t: CurrentThread<'t>, element: Ty, length: usize) -> Managed<Array<'t>> {
    new_sz_array(t, universe().sz_array_of(element), length)
}

/// A multi-dimensional array with these bounds.
///
/// # Errors
/// OutOfMemoryException when the product is too large.
pub fn new_multi_dim_array<'t>(t: CurrentThread<'t>, array_ty: Ty, bounds: &[ArrayBound]) -> Managed<Array<'t>> {
    let total = bounds.iter().try_fold(1u64, |n, b| n.checked_mul(u64::from(b.length)));
    let Some(total) = total.filter(|&n| n <= u64::from(max_elements())) else {
        return Err(exceptions::too_many_elements(t));
    };
    let vtable = vtable_of(array_ty).to_managed(t)?;
    let array = new_elements(t, vtable, total as u32)?;
    let bounds_at = array.first_bound();
    for (index, &bound) in bounds.iter().enumerate() {
        // SAFETY: `alloc_array` reserves `rank` bounds behind the elements of a MULTI_DIM array.
        unsafe { bounds_at.add(index).write(bound) };
    }
    // SAFETY: a fresh array.
    unsafe { (*(array.word().0 as *mut ArrayHeader)).bounds = bounds_at };
    Ok(array)
}

/// Copies a value type into the heap or anywhere, with barriers for its references.
///
/// # Safety
/// Both addresses hold `ty`'s size in bytes.
pub unsafe fn copy_struct(t: CurrentThread, dst: *mut u8, src: *const u8, ty: Ty) {
    let (size_bytes, ref_offsets) = ty.value_shape().unwrap_or((0, &[]));
    // SAFETY: the caller's promise; memmove semantics.
    unsafe { copy_whole_words(src, dst, size_bytes as usize) };
    if !ref_offsets.is_empty() {
        saki_gc::barrier::after_copy_unknown(t.managed(), dst, ref_offsets);
    }
}

/// A byte[] with this content.
///
/// # Errors
/// OutOfMemoryException.
pub fn new_byte_array<'t>(t: CurrentThread<'t>, bytes: &[u8]) -> Managed<Array<'t>> {
    let array = Array::new(t, universe().byte(), bytes.len())?;
    // SAFETY: a fresh array of `bytes.len()` bytes.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), array.element_address(0), bytes.len()) };
    Ok(array)
}

/// Whether `object` may be used as `ty`.
///
/// # Errors
/// TypeLoadException; what an object throws that decides itself.
pub(crate) fn is_assignable(t: CurrentThread, object: Obj, ty: Ty) -> Managed<bool> {
    is_assignable_or_throws(t, object, ty, false)
}

/// Whether `object` may be used as `ty`. `throws`: an object that decides that itself is to throw if it may not.
///
/// # Errors
/// TypeLoadException; what such an object throws.
pub(crate) fn is_assignable_or_throws(t: CurrentThread, object: Obj, ty: Ty, throws: bool) -> Managed<bool> {
    let exact = object.ty();
    // The first tier asks for stores into `object[]`, which must not take a word that casts to interfaces need.
    if exact == ty || ty == universe().object() {
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
    if !is_instance
        && ty.is_interface()
        && let Some(answer) = upcalls().can_cast_dynamically(t, object, ty, throws)?
    {
        return Ok(answer);
    }
    crate::cast_cache::remember(vtable, ty, is_instance, may_replace_cast());
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

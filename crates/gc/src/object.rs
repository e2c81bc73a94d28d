//! Reading objects: vtable, size, and where the references are.
//!
//! Invariant: nothing here trusts the low three bits of the first header word, because the collector keeps its
//! forwarding state there while it runs. Left out: everything about types beyond `abi::VTable`.

use saki_abi::object::{ARRAY_DATA_OFFSET, STRING_CHARS_OFFSET};
use saki_abi::{ArrayHeader, ObjRef, RefMap, StringHeader, VTable, VTableFlags};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bits of the header word that the collector uses; vtables are 8-byte aligned.
const VTABLE_MASK: usize = !7;

/// Rounds up to the object alignment of 8 bytes.
pub const fn round_up_8(bytes: usize) -> usize {
    (bytes + 7) & !7
}

/// The vtable of `object`, also while a collection runs (but not of the old copy of a moved object).
///
/// # Safety
/// `object` is a live object.
#[inline]
pub unsafe fn vtable_of<'a>(object: ObjRef) -> &'a VTable {
    // SAFETY: the first word of a live object, which is aligned. Atomic, as another collector thread may change the
    // collector's bits in it; Relaxed: who has the object's address sees its vtable.
    let word = unsafe { AtomicUsize::from_ptr((&raw mut (*object.0).vtable).cast()) }.load(Ordering::Relaxed);
    // SAFETY: that word is the vtable plus collector bits; vtables outlive their objects.
    unsafe { &*((word & VTABLE_MASK) as *const VTable) }
}

/// Bytes of a string object of `length` UTF-16 units: header, length, units and terminator, rounded to 8.
pub const fn string_size_bytes(length: usize) -> usize {
    round_up_8(STRING_CHARS_OFFSET as usize + 2 * (length + 1))
}

/// Bytes of an array object; `rank_with_bounds` is 0 for SZ arrays. `None` if it does not fit an `isize`.
pub fn array_size_bytes(length: usize, element_size_bytes: usize, rank_with_bounds: usize) -> Option<usize> {
    let elements = length.checked_mul(element_size_bytes)?;
    let bytes = (elements.checked_add(ARRAY_DATA_OFFSET as usize + 7)? & !7).checked_add(rank_with_bounds * 8)?;
    (bytes <= isize::MAX as usize).then_some(bytes)
}

/// Offset of the bounds from the start of a multi-dimensional array: behind the elements, rounded to 8.
pub const fn bounds_offset_bytes(length: usize, element_size_bytes: usize) -> usize {
    round_up_8(ARRAY_DATA_OFFSET as usize + length * element_size_bytes)
}

/// Bytes that `object` occupies, from its header.
///
/// # Safety
/// `object` is a live object.
#[inline]
pub unsafe fn object_size_bytes(object: ObjRef) -> usize {
    // SAFETY: `object` is live, so its first word is that of its vtable.
    let vtable = unsafe { vtable_of(object) };
    if vtable.flags.0 & (VTableFlags::ARRAY | VTableFlags::STRING) == 0 {
        return vtable.instance_size_bytes as usize;
    }
    if vtable.flags.has(VTableFlags::STRING) {
        // SAFETY: the STRING flag says that the object has a string header.
        let length = unsafe { (*(object.0 as *const StringHeader)).length };
        return string_size_bytes(length as usize);
    }
    // SAFETY: the ARRAY flag says that the object has an array header.
    let length = unsafe { (*(object.0 as *const ArrayHeader)).length } as usize;
    let bounds_bytes = if vtable.flags.has(VTableFlags::MULTI_DIM) { vtable.rank as usize * 8 } else { 0 };
    bounds_offset_bytes(length, vtable.element_size_bytes as usize) + bounds_bytes
}

/// Whether instances of the type can hold references at all, weak ones too.
#[inline]
pub fn has_references(vtable: &VTable) -> bool {
    !vtable.ref_map.is_null() || !vtable.element_ref_map.is_null()
}

/// The elements of an array of references (an array whose elements are references, not structs with some).
///
/// # Safety
/// `object` is a live object with this vtable.
#[inline]
pub unsafe fn reference_elements(object: ObjRef, vtable: &VTable) -> Option<Range<*mut ObjRef>> {
    let has_elements = !vtable.element_ref_map.is_null() && vtable.flags.has(VTableFlags::ARRAY);
    if !has_elements || vtable.element_size_bytes != 8 || !vtable.ref_map.is_null() {
        return None;
    }
    // SAFETY: not null, checked above, hence made by `RefMap::leak`.
    if unsafe { RefMap::offsets(vtable.element_ref_map) } != [0] {
        return None;
    }
    // SAFETY: an array, so there is an array header.
    let length = unsafe { (*(object.0 as *const ArrayHeader)).length } as usize;
    let first: *mut ObjRef = object.field_ptr(ARRAY_DATA_OFFSET as usize);
    Some(first..first.wrapping_add(length))
}

/// Calls `visit` with the address of each reference in `object`, in address order within each map. Left out: weak
/// fields.
///
/// # Safety
/// `object` is a live object with this vtable, and no other thread changes its length (none can: it is fixed).
#[inline]
pub unsafe fn for_each_reference(object: ObjRef, vtable: &VTable, mut visit: impl FnMut(*mut ObjRef)) {
    // SAFETY: a vtable's maps are null or made by `RefMap::leak`.
    for &offset_bytes in unsafe { RefMap::offsets(vtable.ref_map) } {
        visit(object.field_ptr(offset_bytes as usize));
    }
    if vtable.element_ref_map.is_null() || !vtable.flags.has(VTableFlags::ARRAY) {
        return;
    }
    // SAFETY: an array, so there is an array header.
    let length = unsafe { (*(object.0 as *const ArrayHeader)).length } as usize;
    // SAFETY: not null, checked above, hence made by `RefMap::leak`.
    let offsets = unsafe { RefMap::offsets(vtable.element_ref_map) };
    let element_size_bytes = vtable.element_size_bytes as usize;
    let first: *mut u8 = object.field_ptr(ARRAY_DATA_OFFSET as usize);
    if element_size_bytes == 8 && offsets == [0] {
        for index in 0..length {
            visit(first.wrapping_add(index * 8) as *mut ObjRef);
        }
        return;
    }
    for index in 0..length {
        let element = first.wrapping_add(index * element_size_bytes);
        for &offset_bytes in offsets {
            visit(element.wrapping_add(offset_bytes as usize) as *mut ObjRef);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_header_layouts() {
        assert_eq!(string_size_bytes(0), 24);
        assert_eq!(string_size_bytes(1), 24);
        assert_eq!(string_size_bytes(2), 32);
        assert_eq!(array_size_bytes(0, 8, 0), Some(32));
        assert_eq!(array_size_bytes(3, 1, 0), Some(40));
        assert_eq!(array_size_bytes(3, 1, 2), Some(56));
        assert_eq!(bounds_offset_bytes(3, 1), 40);
        assert_eq!(array_size_bytes(usize::MAX, 2, 0), None);
        assert_eq!(array_size_bytes(u32::MAX as usize, u32::MAX as usize, 0), None);
    }
}

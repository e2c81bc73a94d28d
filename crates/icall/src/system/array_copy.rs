//! System.Array.FastCopy: copies without checks of elements where types allow it. The loop for Array.Copy uses it, too.

use saki_abi::vtable::VTable;
use saki_loops::copy::copy;
use saki_runtime::object::cast_cache;
use saki_runtime::object::vtables::type_of_vtable;
use saki_runtime::{Array, CurrentThread, InternalCall, Word};
use saki_types::Ty;

/// The element type of an array's vtable.
fn element_type(vtable: &VTable) -> Option<Ty> {
    type_of_vtable(vtable).element()
}

/// Whether every element of a `from[]` may be stored into a `to[]` unchanged.
fn elements_fit(from: Ty, to: Ty) -> bool {
    if from == to {
        return true;
    }
    from.is_reference_type() && to.is_reference_type() && cast_cache::is_assignable(from, to).unwrap_or(false)
}

/// Whether the lower bound is not 0; such arrays are left to the slow path.
pub(crate) fn has_lower_bound(array: Array) -> bool {
    array.bounds().is_some_and(|bounds| bounds.iter().any(|b| b.lower_bound != 0))
}

pub(crate) fn in_range(array: Array, index: i32, count: i32) -> bool {
    index >= 0 && count >= 0 && index as usize + count as usize <= array.length()
}

/// `Array.FastCopy`. False when the managed slow path must decide: other ranks, other bounds, elements that need a
/// check or conversion.
#[inline]
pub(crate) fn try_copy(
    t: CurrentThread,
    source: Option<Array>,
    source_index: i32,
    destination: Option<Array>,
    destination_index: i32,
    count: i32,
) -> bool {
    let (Some(source), Some(destination)) = (source, destination) else { return false };
    let (from, to) = (source.vtable(), destination.vtable());
    if !std::ptr::eq(from, to) {
        let fits = match (element_type(from), element_type(to)) {
            (Some(a), Some(b)) => from.rank == to.rank && elements_fit(a, b),
            _ => false,
        };
        if !fits {
            return false;
        }
    }
    if has_lower_bound(source)
        || has_lower_bound(destination)
        || !in_range(source, source_index, count)
        || !in_range(destination, destination_index, count)
    {
        return false;
    }
    let size_bytes = to.element_size_bytes as usize;
    let src = source.element_address(source_index as usize);
    let dst = destination.element_address(destination_index as usize);
    let references = destination.element_references();
    if references.is_empty() {
        // SAFETY: both ranges were checked; they may overlap.
        unsafe { copy(src, dst, count as usize * size_bytes) };
    } else if size_bytes == 8 {
        // SAFETY: ranges of references, checked; `t` is current.
        unsafe {
            saki_gc::barrier::array_copy(t.managed(), destination.word(), dst.cast(), src.cast(), count as usize)
        };
    } else {
        // SAFETY: ranges of structs inside live arrays, checked; logging the array covers all its references.
        unsafe {
            let length_bytes = count as usize * size_bytes;
            saki_gc::barrier::struct_copy(t.managed(), destination.word(), dst, src, length_bytes, references);
        }
    }
    true
}

/// The internal calls of `System.Array`.
pub const TABLE: &[InternalCall] = &[InternalCall::new("System.Array::FastCopy", &try_copy)];

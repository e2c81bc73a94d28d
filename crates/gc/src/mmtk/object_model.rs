//! Object layout for MMTk: where its bits are, how large objects are, how they are copied.
//!
//! Invariant: the forwarding pointer and its two state bits share the vtable word; everything else is on the side.

use super::addresses::{from_reference, in_large_space, to_reference};
use super::bits::{has_mark_bit, is_forwarded, mark_byte_address};
use super::instance::Saki;
use super::layout::LOG_BIT_SPEC;
use crate::object::{bounds_offset_bytes, object_size_bytes, vtable_of};
use mmtk::util::copy::{CopySemantics, GCWorkerCopyContext};
use mmtk::util::{Address, ObjectReference, VMWorkerThread};
use mmtk::vm::{
    ObjectModel, ReferenceGlue, VMGlobalLogBitSpec, VMLocalForwardingBitsSpec, VMLocalForwardingPointerSpec,
    VMLocalLOSMarkNurserySpec, VMLocalMarkBitSpec,
};
use saki_abi::{ArrayHeader, ObjRef, VTableFlags};
use saki_os::memory::prefetch;
use std::sync::atomic::Ordering;

pub(crate) struct SakiObjects;

impl ObjectModel<Saki> for SakiObjects {
    const GLOBAL_LOG_BIT_SPEC: VMGlobalLogBitSpec = LOG_BIT_SPEC;
    const LOCAL_FORWARDING_POINTER_SPEC: VMLocalForwardingPointerSpec = VMLocalForwardingPointerSpec::in_header(0);
    const LOCAL_FORWARDING_BITS_SPEC: VMLocalForwardingBitsSpec = VMLocalForwardingBitsSpec::in_header(0);
    const LOCAL_MARK_BIT_SPEC: VMLocalMarkBitSpec = VMLocalMarkBitSpec::side_first();
    const LOCAL_LOS_MARK_NURSERY_SPEC: VMLocalLOSMarkNurserySpec =
        VMLocalLOSMarkNurserySpec::side_after(Self::LOCAL_MARK_BIT_SPEC.as_spec());
    const UNIFIED_OBJECT_REFERENCE_ADDRESS: bool = true;
    const OBJECT_REF_OFFSET_LOWER_BOUND: isize = 0;

    fn copy(
        from: ObjectReference,
        semantics: CopySemantics,
        copy_context: &mut GCWorkerCopyContext<Saki>,
    ) -> ObjectReference {
        let old = from_reference(from);
        // SAFETY: MMTk copies live objects that have not been forwarded, so the header is intact up to its low bits.
        let (vtable, size_bytes) = unsafe { (vtable_of(old), object_size_bytes(old)) };
        let to = copy_context.alloc_copy(from, size_bytes, 8, 0, semantics);
        debug_assert!(!to.is_zero(), "the collector reserves pages before it copies");
        // SAFETY: `size_bytes` bytes at the old object are its own, those at `to` were just allocated; they are
        // disjoint.
        unsafe { std::ptr::copy_nonoverlapping(old.0 as *const u8, to.to_mut_ptr::<u8>(), size_bytes) };
        // SAFETY: allocations are 8-byte aligned and not null.
        let new_reference = unsafe { ObjectReference::from_raw_address_unchecked(to) };
        let new = from_reference(new_reference);
        // SAFETY: the first word of the copy; it drops the forwarding state that was copied along.
        unsafe { (*new.0).vtable = vtable };
        if vtable.flags.has(VTableFlags::MULTI_DIM) {
            let header = new.0 as *mut ArrayHeader;
            // SAFETY: MULTI_DIM objects have an array header, copied above; their bounds lie behind their elements.
            unsafe {
                let offset = bounds_offset_bytes((*header).length as usize, vtable.element_size_bytes as usize);
                (*header).bounds = new.field_ptr(offset);
            }
        }
        crate::observer::moved(old.address(), new.address());
        copy_context.post_copy(new_reference, size_bytes, semantics);
        new_reference
    }

    fn copy_to(_from: ObjectReference, _to: ObjectReference, _region: Address) -> Address {
        unreachable!("only compacting plans delay copies")
    }

    fn get_reference_when_copied_to(_from: ObjectReference, _to: Address) -> ObjectReference {
        unreachable!("only compacting plans delay copies")
    }

    fn get_current_size(object: ObjectReference) -> usize {
        // SAFETY: MMTk asks for the sizes of live, unforwarded objects.
        unsafe { object_size_bytes(from_reference(object)) }
    }

    fn get_size_when_copied(object: ObjectReference) -> usize {
        Self::get_current_size(object)
    }

    fn get_align_when_copied(_object: ObjectReference) -> usize {
        8
    }

    fn get_align_offset_when_copied(_object: ObjectReference) -> usize {
        0
    }

    fn get_type_descriptor(_object: ObjectReference) -> &'static [i8] {
        unreachable!("MMTk never calls it")
    }

    fn ref_to_object_start(object: ObjectReference) -> Address {
        object.to_raw_address()
    }

    fn ref_to_header(object: ObjectReference) -> Address {
        object.to_raw_address()
    }

    fn dump_object(object: ObjectReference) {
        // SAFETY: MMTk dumps objects that it holds references to.
        let size_bytes = unsafe { object_size_bytes(from_reference(object)) };
        saki_base::tell!("object {object}: {size_bytes} bytes");
    }
}

/// MMTk's reference types are switched off (`no_reference_types`).
pub(crate) struct NoReferenceTypes;

impl ReferenceGlue<Saki> for NoReferenceTypes {
    type FinalizableType = ObjectReference;

    fn clear_referent(_reference: ObjectReference) {
        unreachable!("no_reference_types is set")
    }

    fn get_referent(_reference: ObjectReference) -> Option<ObjectReference> {
        unreachable!("no_reference_types is set")
    }

    fn set_referent(_reference: ObjectReference, _referent: ObjectReference) {
        unreachable!("no_reference_types is set")
    }

    fn enqueue_references(_references: &[ObjectReference], _tls: VMWorkerThread) {
        unreachable!("no_reference_types is set")
    }
}

/// The bit of [`SakiObjects::LOCAL_LOS_MARK_NURSERY_SPEC`] that says "allocated since the last collection and not
/// reached by this one".
const LARGE_NURSERY_BIT: u8 = 0b10;

/// Where `object` is now if this collection (`full` or nursery) has reached it.
///
/// # Safety
/// `object` is a heap object that was alive when the collection began.
#[inline]
pub(super) unsafe fn reached(object: ObjRef, full: bool) -> Option<ObjRef> {
    // SAFETY: heap objects are not null.
    let reference = unsafe { to_reference(object) };
    if !full && in_large_space(object.address()) {
        // New large objects are born with the mark of the present epoch, so MMTk takes them for live throughout a
        // nursery collection.
        // SAFETY: alive when the collection began, hence its bits are mapped.
        return unsafe { is_old_large(object) }.then_some(object);
    }
    // An object that has moved is not marked at its old address. Asking MMTk costs two
    // indirect calls. SAFETY: alive when the collection began: a small object with a
    // header.
    unsafe {
        if has_mark_bit(object) {
            return Some(object);
        }
        if !in_large_space(object.address()) && !is_forwarded(object) {
            return None;
        }
    }
    reference.is_reachable().then(|| from_reference(reference.get_forwarded_object().unwrap_or(reference)))
}

/// Prefetches the words that [`reached`] reads.
#[inline(always)]
pub(crate) fn prefetch_fate(object: ObjRef) {
    prefetch(object.address());
    prefetch(mark_byte_address(object));
}

/// Whether `object` survived a collection. Not while one runs.
///
/// # Safety
/// `object` is a live heap object.
pub(crate) unsafe fn is_old(object: ObjRef) -> bool {
    if in_large_space(object.address()) {
        // SAFETY: a large object by the check above; it is live, so it has not been swept.
        unsafe { is_old_large(object) }
    } else {
        // SAFETY: the object is live, and not in the space of large objects, so there is a mark bit for its address.
        unsafe { has_mark_bit(object) }
    }
}

/// Whether a large object has been reached by a collection.
///
/// # Safety
/// `object` is a large object that has not been swept.
unsafe fn is_old_large(object: ObjRef) -> bool {
    // SAFETY: heap objects are not null.
    let reference = unsafe { to_reference(object) };
    // Relaxed: the tracing that clears the bit happened before this look at it.
    let bits = SakiObjects::LOCAL_LOS_MARK_NURSERY_SPEC.load_atomic::<Saki, u8>(reference, None, Ordering::Relaxed);
    bits & LARGE_NURSERY_BIT == 0
}

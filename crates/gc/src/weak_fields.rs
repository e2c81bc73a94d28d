//! Fields that are weak references: Mono's `[Weak]`.
//!
//! The vtable of their class leaves them out of `ref_map` and has a map of their own. As with ephemeron arrays, the
//! scanner notes the objects that have such fields, and the weak phases settle the noted ones: a field gets the address
//! that its object has now, or null. A nursery collection settles only the objects that it scans, which are mostly
//! young; a weak field of an old object that holds a young one is a remembered slot, so the young object lives until
//! the next full collection decides about it.
//! In an object that only finalizers reach, a weak field keeps its object if finalizers reach that, too: the collection
//! does not know which of the two was reached first.
//!
//! Invariant: after a collection no weak field holds an object that has been freed or has moved away. Left out: weak
//! fields of structs, which are plain references.

use crate::ephemeron;
use crate::tracer::Tracer;
use saki_abi::{ObjRef, RefMap, VTable, VTableFlags};
use saki_base::locks::{Mutex, rank};

/// Addresses of objects that were scanned since the last `settle`, possibly more than once.
static NOTED: Mutex<rank::WeakFields, Vec<usize>> = Mutex::new(Vec::new());

/// The scanner met an object (at its new address). True: the references of its elements are not to be traced.
#[inline(always)]
pub(crate) fn is_set_aside(object: ObjRef, vtable: &VTable) -> bool {
    !vtable.element_ref_map.is_null() && note(object, vtable)
}

/// An array of references, or an object with weak fields.
#[inline]
fn note(object: ObjRef, vtable: &VTable) -> bool {
    if !vtable.flags.has(VTableFlags::ARRAY) {
        note_object(object);
        return false;
    }
    let holds_ephemerons = ephemeron::is_ephemeron_vtable(vtable);
    if holds_ephemerons {
        ephemeron::note_array(object);
    }
    holds_ephemerons
}

#[cold]
fn note_object(object: ObjRef) {
    let mut noted = NOTED.lock();
    if noted.last() != Some(&object.address()) {
        noted.push(object.address());
    }
}

/// Updates the weak fields of the objects noted so far, or clears them. Called when short weak handles die, and once
/// more for objects that only finalizers reach. The world is stopped.
pub(crate) fn settle(tracer: &dyn Tracer) {
    for address in NOTED.lock().drain(..) {
        let object = ObjRef(address as *mut _);
        // SAFETY: noted by this collection, at the address where it stays.
        let vtable = unsafe { crate::object::vtable_of(object) };
        // SAFETY: `note` saw that the map is not null, and that it is one of fields.
        for &offset_bytes in unsafe { RefMap::offsets(vtable.element_ref_map) } {
            // SAFETY: a field of a live object; nobody else writes while the world is stopped.
            let field = unsafe { &mut *object.field_ptr::<ObjRef>(offset_bytes as usize) };
            if !field.is_null() {
                *field = tracer.reached(*field).unwrap_or(ObjRef::NULL);
            }
        }
    }
}

//! Ephemeron arrays, in which `ConditionalWeakTable` keeps its pairs.
//!
//! An ephemeron array is an array of `{ key, value }` pairs of references. A pair's value is kept alive by the array
//! only while its key is reached by other means; when the key dies the key becomes the tombstone object and the value
//! null.
//! See B. Hayes, "Ephemerons: a new finalization mechanism" (OOPSLA 1997).
//!
//! How it works here: the scanner recognises the arrays by their vtable, skips their references and notes the array.
//! The weak phases then resolve the noted pairs until no further key turns up. A nursery collection scans only arrays
//! that are young or were written to since the last collection, hence only those are noted; pairs of the other arrays
//! hold no young objects. Left out: the table's own logic, which is C#.

use crate::tracer::Tracer;
use saki_abi::object::ARRAY_DATA_OFFSET;
use saki_abi::{ArrayHeader, ObjRef, VTable, VTableFlags};
use saki_base::locks::{Mutex, rank};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A root: updated by collections, so always the current address; 0 = not set. Relaxed: set at the start, then by
/// collections, with the world stopped.
static TOMBSTONE: AtomicUsize = AtomicUsize::new(0);

#[repr(C)]
struct Pair {
    key: ObjRef,
    value: ObjRef,
}

/// The ephemeron arrays and pairs that the collection has found so far.
struct Found {
    /// Arrays scanned in this collection, possibly more than once.
    arrays: Vec<ObjRef>,
    /// How many of the arrays have been resolved.
    resolved_arrays: usize,
    /// Pairs whose key has not been reached so far.
    unresolved: Vec<*mut Pair>,
}

// SAFETY: only the collection dereferences the addresses, with the world stopped and the lock held.
unsafe impl Send for Found {}

static FOUND: Mutex<rank::Ephemerons, Found> =
    Mutex::new(Found { arrays: Vec::new(), resolved_arrays: 0, unresolved: Vec::new() });

/// Dead pairs get this object as their key. To be called before there is one.
pub fn set_ephemeron_tombstone(tombstone: ObjRef) {
    // Relaxed: collections read it with the world stopped, which orders it.
    TOMBSTONE.store(tombstone.address(), Ordering::Relaxed);
}

/// Whether the object is the key of dead pairs.
pub fn is_ephemeron_tombstone(object: ObjRef) -> bool {
    // Relaxed: collections change it with the world stopped, which orders it.
    object.address() == TOMBSTONE.load(Ordering::Relaxed)
}

/// Whether the scanner must skip the elements of arrays with this vtable.
#[inline]
pub(crate) fn is_ephemeron_vtable(vtable: &VTable) -> bool {
    debug_assert!(
        !vtable.flags.has(VTableFlags::EPHEMERONS) || vtable.element_size_bytes as usize == size_of::<Pair>(),
        "ephemerons are pairs of references"
    );
    vtable.flags.has(VTableFlags::EPHEMERONS)
}

/// The scanner met this ephemeron array (at its new address).
pub(crate) fn note_array(array: ObjRef) {
    let mut found = FOUND.lock();
    if found.arrays.last() != Some(&array) {
        found.arrays.push(array);
    }
}

/// The tombstone as a root slot, if it is set.
pub(crate) fn tombstone_root() -> Option<*mut ObjRef> {
    // ObjRef is a transparent pointer and AtomicUsize has the size of one: the slot can be read and written as either.
    (TOMBSTONE.load(Ordering::Relaxed) != 0).then_some(TOMBSTONE.as_ptr() as *mut ObjRef)
}

fn pairs(array: ObjRef) -> std::ops::Range<*mut Pair> {
    // SAFETY: the arrays found are live and have an array header.
    let length = unsafe { (*(array.0 as *const ArrayHeader)).length } as usize;
    let first: *mut Pair = array.field_ptr(ARRAY_DATA_OFFSET as usize);
    first..first.wrapping_add(length)
}

/// Calls `visit` with key and value of each pair of an ephemeron array that has both. Between collections, with the
/// world stopped.
pub(crate) fn for_each_pair(array: ObjRef, visit: &mut dyn FnMut(ObjRef, ObjRef)) {
    let range = pairs(array);
    let mut pair = range.start;
    while pair < range.end {
        // SAFETY: `pair` is inside the live array, which nobody changes.
        let Pair { key, value } = unsafe { pair.read() };
        if !key.is_null() && !value.is_null() {
            visit(key, value);
        }
        pair = pair.wrapping_add(1);
    }
}

/// Retains the values of reached keys. True if something was retained, so that more keys may be reached after tracing
/// on. The world is stopped.
pub(crate) fn resolve(tracer: &mut dyn Tracer) -> bool {
    let mut found = FOUND.lock();
    let Found { arrays, resolved_arrays, unresolved } = &mut *found;
    for &array in &arrays[*resolved_arrays..] {
        let range = pairs(array);
        let mut pair = range.start;
        while pair < range.end {
            // SAFETY: `pair` is inside the live array.
            if !unsafe { (*pair).key }.is_null() {
                unresolved.push(pair);
            }
            pair = pair.wrapping_add(1);
        }
    }
    *resolved_arrays = arrays.len();
    let mut retained = false;
    unresolved.retain(|&pair| {
        // SAFETY: pairs of live arrays, collected above or in an earlier round of this collection.
        let pair = unsafe { &mut *pair };
        let Some(key) = tracer.reached(pair.key) else { return true };
        pair.key = key;
        if !pair.value.is_null() {
            match tracer.reached(pair.value) {
                Some(value) => pair.value = value,
                None => {
                    pair.value = tracer.retain(pair.value);
                    retained = true;
                }
            }
        }
        false
    });
    retained
}

/// Buries the pairs whose keys stayed unreached; the last step of the weak phases.
pub(crate) fn bury_dead() {
    let tombstone = ObjRef(TOMBSTONE.load(Ordering::Relaxed) as *mut _);
    let mut found = FOUND.lock();
    for pair in found.unresolved.drain(..) {
        // SAFETY: a pair of a live array, see `resolve`. The tombstone is a root, so it is old from here on: no
        // barrier.
        let pair = unsafe { &mut *pair };
        pair.key = tombstone;
        pair.value = ObjRef::NULL;
    }
    found.arrays.clear();
    found.resolved_arrays = 0;
}

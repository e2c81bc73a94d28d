//! The one heap of the process: what `init` makes, and questions to it.
//!
//! [`Saki`] is the name under which MMTk's generic code knows us; the traits behind that name are implemented above,
//! and put together in `binding`.
//!
//! Invariant: whoever asks for the heap does so after it was made, except MMTk itself while it is built, which asks for
//! the policy and [`is_made`].

use super::addresses::{from_reference, in_heap_range, in_large_space, to_address};
use super::bits::has_valid_bit;
use super::layout::LARGE_OBJECT_BYTES;
use crate::options::HeapOptions;
use crate::policy::HeapPolicy;
use mmtk::{MMTK, Plan, memory_manager};
use saki_abi::ObjRef;
use std::sync::OnceLock;

/// Our virtual machine, as MMTk sees it.
#[derive(Default)]
pub(crate) struct Saki;

/// The state that `init` makes for the rest of the process.
pub(super) struct Heap {
    pub(super) mmtk: &'static MMTK<Saki>,
    pub(super) options: HeapOptions,
}

static HEAP: OnceLock<Heap> = OnceLock::new();
/// Created before `HEAP`, because building MMTk asks for the trigger.
static POLICY: OnceLock<HeapPolicy> = OnceLock::new();

/// Before the heap is made. False: there is a policy already.
pub(super) fn set_policy(policy: HeapPolicy) -> bool {
    POLICY.set(policy).is_ok()
}

/// Called once.
pub(super) fn set(mmtk: &'static MMTK<Saki>, options: HeapOptions) {
    assert!(HEAP.set(Heap { mmtk, options }).is_ok(), "POLICY was set once, so init runs once");
}

/// Whether MMTk has been built.
pub(super) fn is_made() -> bool {
    HEAP.get().is_some()
}

pub(crate) fn policy() -> &'static HeapPolicy {
    POLICY.get().expect("saki_gc::init has not run")
}

pub(super) fn heap() -> &'static Heap {
    HEAP.get().expect("saki_gc::init has not run")
}

pub(crate) fn options() -> &'static HeapOptions {
    &heap().options
}

/// Whether the collection that runs (or ran last) is a full one.
pub(super) fn last_was_full(plan: &dyn Plan<VM = Saki>) -> bool {
    plan.generational().is_none_or(|generational| generational.last_collection_full_heap())
}

/// Whether the collection that runs is a full one.
pub(super) fn is_full_collection() -> bool {
    last_was_full(heap().mmtk.get_plan())
}

/// Whether `address` lies in memory that the heap has mapped.
pub(crate) fn is_heap_address(address: usize) -> bool {
    in_heap_range(address) && memory_manager::is_mapped_address(to_address(address))
}

/// The object that `address` points to or into; one past the end is not into.
#[inline]
pub(crate) fn find_object(address: usize) -> Option<ObjRef> {
    if !in_heap_range(address) {
        return None;
    }
    if in_large_space(address) {
        return crate::large::find(address);
    }
    // Most words that refer to an object refer to its start, and there the object itself need not be looked at: its
    // header is in no cache.
    // SAFETY: the heap has handed out the chunk of the address, if it is mapped.
    if address.is_multiple_of(8) && to_address(address).is_mapped() && unsafe { has_valid_bit(address) } {
        return Some(ObjRef(std::ptr::with_exposed_provenance_mut(address)));
    }
    memory_manager::find_object_from_internal_pointer(to_address(address), LARGE_OBJECT_BYTES).map(from_reference)
}

/// Pages in use, in bytes.
pub(crate) fn used_bytes() -> usize {
    memory_manager::used_bytes(heap().mmtk)
}

/// Calls `visit` with each object of the heap, in no order. The world is stopped or there is one thread.
pub(crate) fn for_each_object(visit: &mut dyn FnMut(ObjRef)) {
    heap().mmtk.enumerate_objects(|object| visit(from_reference(object)));
}

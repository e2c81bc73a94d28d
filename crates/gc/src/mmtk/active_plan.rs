//! The mutators that MMTk knows: the carriers bound to the heap.
//!
//! Invariant: the list changes under the stop lock (so not while the world is stopped), and a collection works
//! on the snapshot it took when the world stopped.

use super::bits::{log_bit_base, vo_bit_base};
use super::instance::{Saki, heap};
use super::mutator::{CarrierHeap, carrier_heap, drop_allocators, hide_limit};
use super::thread_pointers::{carrier_of, is_mutator, mutator_pointer};
use mmtk::util::{VMMutatorThread, VMThread};
use mmtk::vm::ActivePlan;
use mmtk::{Mutator, memory_manager};
use saki_abi::ObjRef;
use saki_base::locks::{Mutex, rank};
use saki_thread::{Carrier, CarrierHooks, ManagedThread, POLL_PREEMPT};

/// Bound carriers. Held for the push and the removal only, never across a safepoint.
static BOUND: Mutex<rank::BoundCarriers, Vec<&'static Carrier>> = Mutex::new(Vec::new());

/// Slots remembered by carriers that have detached since the last collection.
static ORPHANED_SLOTS: Mutex<rank::OrphanedSlots, Vec<usize>> = Mutex::new(Vec::new());

pub(crate) struct SakiThreads;

impl ActivePlan<Saki> for SakiThreads {
    fn is_mutator(tls: VMThread) -> bool {
        is_mutator(tls)
    }

    fn mutator(tls: VMMutatorThread) -> &'static mut Mutator<Saki> {
        // SAFETY: MMTk passes pointers that `bind_carrier` gave it, of carriers that are still bound.
        unsafe { &mut (*carrier_heap(carrier_of(tls))).mutator }
    }

    fn mutators<'a>() -> Box<dyn Iterator<Item = &'a mut Mutator<Saki>> + 'a> {
        let carriers = bound_carriers();
        // SAFETY: bound carriers stay bound while the world is stopped, and MMTk asks only then.
        Box::new(carriers.into_iter().map(|carrier| unsafe { &mut (*carrier_heap(carrier)).mutator }))
    }

    fn number_of_mutators() -> usize {
        BOUND.lock().len()
    }
}

/// Slots remembered by carriers that are gone. The world is stopped.
pub(super) fn take_orphaned_slots() -> Vec<usize> {
    std::mem::take(&mut *ORPHANED_SLOTS.lock())
}

/// All bound carriers at this moment.
pub(super) fn bound_carriers() -> Vec<&'static Carrier> {
    BOUND.lock().clone()
}

/// Calls `visit` with each carrier's list of new objects with finalizers. The world is stopped.
pub(crate) fn for_each_finalizable_buffer(visit: &mut dyn FnMut(&mut Vec<ObjRef>)) {
    for carrier in bound_carriers() {
        // SAFETY: the world is stopped: the owner does not run.
        visit(unsafe { &mut (*carrier_heap(carrier)).finalizable });
    }
}

/// Makes compiled code take the slow path for each allocation from now on. The world is stopped.
pub(super) fn hide_limits() {
    bound_carriers().into_iter().for_each(hide_limit);
}

/// Carriers get their allocator when they attach and give it up when they detach.
static HOOKS: CarrierHooks = CarrierHooks { attached: bind_carrier, detaching: unbind_carrier };

/// From now on; the carriers that are attached already get theirs now.
pub(crate) fn hook_carriers() {
    saki_thread::add_carrier_hooks(&HOOKS);
}

/// Gives `carrier` (the calling OS thread's) its allocator, unless it has one.
fn bind_carrier(carrier: &'static Carrier) {
    if !carrier.heap().is_null() {
        return;
    }
    let mutator = memory_manager::bind_mutator(heap().mmtk, mutator_pointer(carrier));
    carrier.set_heap(Box::into_raw(Box::new(CarrierHeap::new(*mutator))).cast());
    BOUND.lock().push(carrier);
}

/// Sets the fields from which the compiled code of `thread` (the current one, or one that has not begun) reads the
/// heap's parameters.
pub(crate) fn bind_thread(thread: &ManagedThread) {
    let abi = thread.abi();
    // SAFETY: only the thread itself accesses these fields, and it is the current one or has not begun.
    unsafe {
        (*abi).vo_bit_base = vo_bit_base();
        (*abi).log_bit_base = log_bit_base();
    }
    if heap().options.stress.is_some_and(|stress| stress.every_nth_safepoint != 0) {
        // Every poll takes its slow path, which calls `stress_safepoint`.
        thread.set_poll(POLL_PREEMPT);
    }
}

/// Takes the allocator away again, if there is one. The carrier is the calling OS thread's, runs nothing, and no
/// collection runs.
fn unbind_carrier(carrier: &'static Carrier) {
    let heap = carrier_heap(carrier);
    if heap.is_null() {
        return;
    }
    carrier.set_heap(std::ptr::null_mut());
    BOUND.lock().retain(|bound| !std::ptr::eq(*bound, carrier));
    // SAFETY: from `Box::into_raw` in `bind_carrier`; out of the list, so that no collection looks at it any more.
    let mut heap = unsafe { Box::from_raw(heap) };
    memory_manager::destroy_mutator(&mut heap.mutator);
    drop_allocators(&mut heap.mutator);
    ORPHANED_SLOTS.lock().extend(heap.slots.take());
    crate::finalize::adopt(&mut heap.finalizable);
    // SAFETY: this OS thread's buffer, whose memory is the heap's again.
    unsafe { *carrier.buffer() = saki_thread::AllocBuffer::default() };
}

//! The mutators that MMTk knows: the carriers bound to the heap.
//!
//! Invariant: the list changes under the stop lock (so not while the world is stopped), and a collection works
//! on the snapshot it took when the world stopped.

use super::mutator::{CarrierHeap, carrier_heap};
use super::{Saki, heap, log_bit_base, vo_bit_base};
use mmtk::util::{Address, OpaquePointer, VMMutatorThread, VMThread};
use mmtk::vm::ActivePlan;
use mmtk::{Mutator, memory_manager};
use parking_lot::Mutex;
use saki_abi::ObjRef;
use saki_thread::{Carrier, ManagedThread, POLL_PREEMPT};

/// Bound carriers. Held for the push and the removal only, never across a safepoint.
static BOUND: Mutex<Vec<&'static Carrier>> = Mutex::new(Vec::new());

/// Slots remembered by carriers that have detached since the last collection.
static ORPHANED_SLOTS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Tag in the thread pointer of collector threads; carriers are aligned.
const WORKER_TAG: usize = 1;

pub(crate) struct SakiThreads;

impl ActivePlan<Saki> for SakiThreads {
    fn is_mutator(tls: VMThread) -> bool {
        let address = tls.0.to_address().as_usize();
        address != 0 && address & WORKER_TAG == 0
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

/// Thread pointer for the collector thread with this number.
pub(super) fn worker_thread_pointer(ordinal: usize) -> VMThread {
    // SAFETY: the number is never dereferenced, see WORKER_TAG.
    VMThread(OpaquePointer::from_address(unsafe { Address::from_usize(ordinal << 4 | WORKER_TAG) }))
}

pub(super) fn mutator_pointer(carrier: &Carrier) -> VMMutatorThread {
    VMMutatorThread(VMThread(OpaquePointer::from_address(Address::from_ref(carrier))))
}

pub(super) fn carrier_of(tls: VMMutatorThread) -> &'static Carrier {
    // SAFETY: mutator pointers are made by `mutator_pointer` of bound carriers, whose records are never freed.
    unsafe { &*tls.0.0.to_address().to_ptr::<Carrier>() }
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

/// Gives `carrier` (the calling OS thread's) its allocator, unless it has one.
pub(crate) fn bind_carrier(carrier: &'static Carrier) {
    if !carrier.heap().is_null() {
        return;
    }
    let mutator = memory_manager::bind_mutator(heap().mmtk, mutator_pointer(carrier));
    carrier.set_heap(Box::into_raw(Box::new(CarrierHeap::new(*mutator))).cast());
    BOUND.lock().push(carrier);
}

/// Sets the fields from which the compiled code of `thread` (the current one, or one that has not begun) reads the heap's
/// parameters.
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

/// Takes the allocator away again, if there is one. The carrier is the calling OS thread's, runs nothing, and no collection runs.
pub(crate) fn unbind_carrier(carrier: &'static Carrier) {
    let heap = carrier_heap(carrier);
    if heap.is_null() {
        return;
    }
    carrier.set_heap(std::ptr::null_mut());
    BOUND.lock().retain(|bound| !std::ptr::eq(*bound, carrier));
    // SAFETY: from `Box::into_raw` in `bind_carrier`; out of the list, so that no collection looks at it any more.
    let mut heap = unsafe { Box::from_raw(heap) };
    memory_manager::destroy_mutator(&mut heap.mutator);
    ORPHANED_SLOTS.lock().extend(heap.slots.take());
    crate::finalize::adopt(std::mem::take(&mut heap.finalizable));
    // SAFETY: this OS thread's buffer, whose memory is the heap's again.
    unsafe { *carrier.buffer() = saki_thread::AllocBuffer::default() };
}

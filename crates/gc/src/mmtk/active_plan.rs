//! The threads that MMTk knows: those bound to the heap.
//!
//! Invariant: the list changes only by bound, running threads (so not while the world is stopped), and a collection works
//! on the snapshot it took when the world stopped.

use super::mutator::{ThreadHeap, is_bound, set_unbound, thread_heap};
use super::{Saki, heap, log_bit_base, vo_bit_base};
use mmtk::util::{Address, OpaquePointer, VMMutatorThread, VMThread};
use mmtk::vm::ActivePlan;
use mmtk::{Mutator, memory_manager};
use parking_lot::Mutex;
use saki_abi::ObjRef;
use saki_thread::{ManagedThread, POLL_PREEMPT};

/// Addresses of bound `ManagedThread`s. Held for the push and the removal only, never across a safepoint.
static BOUND: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Slots remembered by threads that have detached since the last collection.
static ORPHANED_SLOTS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Tag in the thread pointer of collector threads; `ManagedThread`s are aligned.
const WORKER_TAG: usize = 1;

pub(crate) struct SakiThreads;

impl ActivePlan<Saki> for SakiThreads {
    fn is_mutator(tls: VMThread) -> bool {
        let address = tls.0.to_address().as_usize();
        address != 0 && address & WORKER_TAG == 0
    }

    fn mutator(tls: VMMutatorThread) -> &'static mut Mutator<Saki> {
        // SAFETY: MMTk passes thread pointers that `bind` gave it, of threads that are still bound.
        unsafe { &mut (*thread_heap(thread_of(tls))).mutator }
    }

    fn mutators<'a>() -> Box<dyn Iterator<Item = &'a mut Mutator<Saki>> + 'a> {
        let threads = bound_threads();
        // SAFETY: bound threads stay bound while the world is stopped, and MMTk asks only then.
        Box::new(threads.into_iter().map(|thread| unsafe { &mut (*thread_heap(thread)).mutator }))
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

pub(super) fn mutator_thread_pointer(thread: &ManagedThread) -> VMMutatorThread {
    VMMutatorThread(VMThread(OpaquePointer::from_address(Address::from_ref(thread))))
}

pub(super) fn thread_of(tls: VMMutatorThread) -> &'static ManagedThread {
    // SAFETY: mutator thread pointers are made by `mutator_thread_pointer` of bound threads, which outlive the binding.
    unsafe { &*tls.0.0.to_address().to_ptr::<ManagedThread>() }
}

/// Slots remembered by threads that are gone. The world is stopped.
pub(super) fn take_orphaned_slots() -> Vec<usize> {
    std::mem::take(&mut *ORPHANED_SLOTS.lock())
}

/// All bound threads at this moment.
pub(super) fn bound_threads() -> Vec<&'static ManagedThread> {
    // SAFETY: threads unbind before they are freed.
    BOUND.lock().iter().map(|&address| unsafe { &*(address as *const ManagedThread) }).collect()
}

/// Calls `visit` with each thread's list of new objects with finalizers. The world is stopped.
pub(crate) fn for_each_finalizable_buffer(visit: &mut dyn FnMut(&mut Vec<ObjRef>)) {
    for thread in bound_threads() {
        // SAFETY: the world is stopped: the owner does not run.
        visit(unsafe { &mut (*thread_heap(thread)).finalizable });
    }
}

/// Gives `thread` (the current one) its allocator, unless it has one.
pub(crate) fn bind(thread: &ManagedThread) {
    if is_bound(thread) {
        return;
    }
    let mutator = memory_manager::bind_mutator(heap().mmtk, mutator_thread_pointer(thread));
    // SAFETY: the area belongs to us alone, is large and aligned enough (checked in `mutator`), and holds nothing yet.
    unsafe { thread_heap(thread).write(ThreadHeap::new(*mutator)) };
    let abi = thread.abi();
    // SAFETY: only the thread itself accesses these fields, and it is the current one.
    unsafe {
        (*abi).vo_bit_base = vo_bit_base();
        (*abi).log_bit_base = log_bit_base();
    }
    if heap().options.stress.is_some_and(|stress| stress.every_nth_safepoint != 0) {
        // Every poll takes its slow path, which calls `stress_safepoint`.
        thread.set_poll(POLL_PREEMPT);
    }
    BOUND.lock().push(thread as *const ManagedThread as usize);
}

/// Takes the allocator away again, if there is one. The thread is the current one and no collection runs.
pub(crate) fn unbind(thread: &ManagedThread) {
    if !is_bound(thread) {
        return;
    }
    let heap = thread_heap(thread);
    // SAFETY: bound, so initialised; nobody else uses it while its thread runs.
    memory_manager::destroy_mutator(unsafe { &mut (*heap).mutator });
    // SAFETY: as above.
    let slots = unsafe { &mut (*heap).slots }.take();
    ORPHANED_SLOTS.lock().extend(slots);
    // SAFETY: as above.
    crate::finalize::adopt(std::mem::take(unsafe { &mut (*heap).finalizable }));
    BOUND.lock().retain(|&address| address != thread as *const ManagedThread as usize);
    // SAFETY: initialised by `bind`, and out of the list, so that no collection looks at it any more.
    unsafe { std::ptr::drop_in_place(heap) };
    set_unbound(thread);
}

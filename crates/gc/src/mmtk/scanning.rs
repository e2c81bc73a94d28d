//! Scanning objects and roots, and driving the weak phases.
//!
//! With one collector thread `chase` does the tracing. With several, MMTk makes one work packet per batch of newly
//! reached objects. A linked list yields batches of one, which costs 13× Mono's time, so scanning an object continues
//! with the last newly reached object that has references itself (a list's next node, a tree's last child). MMTk scans
//! such an object once more from its queue; by then the objects that it refers to are marked. Two collector threads may
//! follow the same list; that is wasteful, not wrong.

use super::addresses::{from_reference, in_heap_range, in_large_space, to_reference};
use super::bits::{has_mark_bit, is_forwarded};
use super::clock::{note_weak_end, note_weak_start};
use super::instance::{Saki, find_object, is_full_collection};
use super::mutator::carrier_heap;
use super::object_model::prefetch_fate;
use super::thread_pointers::carrier_of;
use super::weak_tracer::WeakTracer;
use super::{active_plan, chase};
use crate::object::{for_each_reference, has_references, vtable_of};
use crate::roots::{RootVisitor, visit_global_roots, visit_thread_roots};
use crate::{conditional, stack_roots, weak, weak_fields, world};
use mmtk::Mutator;
use mmtk::scheduler::GCWorker;
use mmtk::util::{Address, ObjectReference, VMWorkerThread};
use mmtk::vm::slot::SimpleSlot;
use mmtk::vm::{ObjectTracer, ObjectTracerContext, RootsWorkFactory, Scanning, SlotVisitor};
use saki_abi::ObjRef;
use saki_os::memory::prefetch_range;
use saki_thread::ManagedThread;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Roots per work packet, as in MMTk's own queues.
const ROOTS_PER_PACKET: usize = 4096;

/// How many threads ahead of the one that is scanned its structure, and later its stack, are prefetched. Those of a
/// thread that has not run for long are in no cache.
const STRUCTURES_AHEAD: usize = 8;
const STACKS_AHEAD: usize = 4;
/// The part of a stack that is prefetched; processors fetch ahead by themselves in what follows.
const PREFETCHED_BYTES: usize = 2048;

/// Bytes of threads' structures and stacks that the collection has scanned. Relaxed: collector threads add, and one
/// takes the sum when all have ended their work.
static THREAD_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The bytes of threads' structures and stacks that the collection which ends now has scanned.
pub(super) fn take_thread_bytes() -> usize {
    THREAD_BYTES.swap(0, Ordering::Relaxed)
}

pub(crate) struct SakiScanning;

/// Traces the references of `object`; the last newly reached object that has references itself, if any.
#[inline]
fn trace_references<T: ObjectTracer>(object: ObjRef, tracer: &mut T) -> Option<ObjRef> {
    // SAFETY: MMTk scans live objects, at their new addresses.
    unsafe { conditional::watch(object) };
    // SAFETY: a live object at its new address has its vtable in its header.
    let vtable = unsafe { vtable_of(object) };
    if weak_fields::is_set_aside(object, vtable) {
        return None;
    }
    let mut next = None;
    // SAFETY: the vtable is that of the object, so the slots that it describes lie inside it.
    unsafe {
        for_each_reference(object, vtable, |slot| {
            let target = *slot;
            if target.is_null() {
                return;
            }
            // Large objects are left to MMTk's queue: they are rarely links of lists.
            let was_reached = has_mark_bit(target) || in_large_space(target.address()) || is_forwarded(target);
            let moved = from_reference(tracer.trace_object(to_reference(target)));
            if moved != target {
                *slot = moved;
            }
            if !was_reached && has_references(vtable_of(moved)) {
                next = Some(moved);
            }
        });
    }
    next
}

impl Scanning<Saki> for SakiScanning {
    fn support_slot_enqueuing(_tls: VMWorkerThread, _object: ObjectReference) -> bool {
        false
    }

    fn scan_object<V: SlotVisitor<SimpleSlot>>(_tls: VMWorkerThread, _object: ObjectReference, _visitor: &mut V) {
        unreachable!("slot enqueuing is not supported")
    }

    fn scan_object_and_trace_edges<T: ObjectTracer>(_tls: VMWorkerThread, object: ObjectReference, tracer: &mut T) {
        if chase::visit(from_reference(object), tracer) {
            return;
        }
        let mut next = Some(from_reference(object));
        while let Some(object) = next {
            next = trace_references(object, tracer);
        }
    }

    fn notify_initial_thread_scan_complete(_partial_scan: bool, _tls: VMWorkerThread) {}

    fn scan_roots_in_mutator_thread(
        _tls: VMWorkerThread,
        mutator: &'static mut Mutator<Saki>,
        factory: impl RootsWorkFactory<SimpleSlot>,
    ) {
        let carrier = carrier_of(mutator.mutator_tls);
        // SAFETY: bound (it has a mutator) and stopped. Neither field is part of `mutator`.
        let heap = unsafe { &mut *carrier_heap(carrier) };
        let mut collector = RootCollector::new(factory);
        let threads = std::mem::take(&mut heap.threads_to_scan);
        for (index, thread) in threads.iter().enumerate() {
            if let Some(ahead) = threads.get(index + STRUCTURES_AHEAD) {
                prefetch_range(std::ptr::from_ref(*ahead).addr(), size_of::<ManagedThread>());
            }
            if let Some(ahead) = threads.get(index + STACKS_AHEAD) {
                world::for_each_conservative_range(ahead, |range| {
                    prefetch_range(range.start, range.len().min(PREFETCHED_BYTES));
                });
            }
            collector.thread(thread);
        }
        collector.remembered_slots(heap.slots.take());
        collector.finish();
    }

    fn scan_vm_specific_roots(_tls: VMWorkerThread, factory: impl RootsWorkFactory<SimpleSlot>) {
        let mut collector = RootCollector::new(factory);
        visit_global_roots(&mut collector);
        collector.remembered_slots(active_plan::take_orphaned_slots());
        collector.finish();
    }

    fn supports_return_barrier() -> bool {
        false
    }

    fn prepare_for_roots_re_scanning() {
        unreachable!("only compacting plans scan roots twice")
    }

    fn process_weak_refs(worker: &mut GCWorker<Saki>, context: impl ObjectTracerContext<Saki>) -> bool {
        note_weak_start();
        let wants_more =
            context.with_tracer(worker, |tracer| weak::process(&mut WeakTracer { tracer, full: is_full_collection() }));
        note_weak_end();
        wants_more
    }
}

/// Turns roots into work packets.
struct RootCollector<F: RootsWorkFactory<SimpleSlot>> {
    factory: F,
    slots: Vec<SimpleSlot>,
    pinned: Vec<ObjectReference>,
    last_pinned: ObjRef,
    seen: SeenWords,
    /// Of the thread that is scanned.
    dead_words: Vec<usize>,
    thread_bytes: usize,
}

/// Words of stacks that were looked at before: frames hold the same references again and again, and so do the stacks of
/// threads that do the same. What a word refers to does not change during a collection, except by objects that move,
/// and those are not where a root refers to.
struct SeenWords([usize; SeenWords::PLACES]);

impl SeenWords {
    const PLACES: usize = 512;

    /// Whether the word was seen before; if not, it is from now on, in place of another.
    #[inline]
    fn has(&mut self, word: usize) -> bool {
        let place = &mut self.0[(word >> 3 ^ word >> 12) % SeenWords::PLACES];
        std::mem::replace(place, word) == word
    }
}

impl<F: RootsWorkFactory<SimpleSlot>> RootCollector<F> {
    fn new(factory: F) -> Self {
        Self {
            factory,
            slots: Vec::new(),
            pinned: Vec::new(),
            last_pinned: ObjRef::NULL,
            seen: SeenWords([0; SeenWords::PLACES]),
            dead_words: Vec::new(),
            thread_bytes: 0,
        }
    }

    fn finish(mut self) {
        THREAD_BYTES.fetch_add(self.thread_bytes, Ordering::Relaxed);
        self.flush_slots();
        self.flush_pinned();
    }

    /// The thread's slots, and the words of its stack and registers.
    fn thread(&mut self, thread: &ManagedThread) {
        visit_thread_roots(thread, self);
        // A nursery collection promotes a young object that a dead word holds; the next full collection frees it.
        let mut dead = std::mem::take(&mut self.dead_words);
        if is_full_collection() {
            stack_roots::find_dead_words(thread, &mut dead);
        }
        self.thread_bytes += size_of::<ManagedThread>();
        world::for_each_conservative_range(thread, |range| {
            self.thread_bytes += range.len();
            stack_roots::for_each_living_range(range, &dead, |part| self.conservative_range(part));
        });
        self.dead_words = dead;
    }

    /// A full collection finds these references by itself; the objects that hold them may even be dead. A nursery
    /// collection finds by itself those in young objects, which it scans if they live.
    fn remembered_slots(&mut self, slots: Vec<usize>) {
        if !is_full_collection() {
            for slot in slots {
                if !is_in_young_object(slot) {
                    self.slot(slot as *mut ObjRef);
                }
            }
        }
    }

    fn flush_slots(&mut self) {
        if !self.slots.is_empty() {
            self.factory.create_process_roots_work(std::mem::take(&mut self.slots));
        }
    }

    fn flush_pinned(&mut self) {
        if !self.pinned.is_empty() {
            self.factory.create_process_pinning_roots_work(std::mem::take(&mut self.pinned));
        }
    }
}

/// Whether a nursery collection finds the reference in a remembered slot by itself, or does not need it: the object
/// that holds the slot is small and has not been marked. With several collector threads another one may mark the object
/// meanwhile: then the slot is treated as a root as well.
fn is_in_young_object(slot: usize) -> bool {
    // SAFETY: remembered slots lay in live objects when they were written, since the last collection: their headers are
    // there.
    !in_large_space(slot) && find_object(slot).is_some_and(|object| !unsafe { has_mark_bit(object) })
}

impl<F: RootsWorkFactory<SimpleSlot>> RootVisitor for RootCollector<F> {
    fn slot(&mut self, slot: *mut ObjRef) {
        // SAFETY: registered slots are valid; the world is stopped.
        if unsafe { *slot }.is_null() {
            return;
        }
        self.slots.push(SimpleSlot::from_address(Address::from_mut_ptr(slot)));
        if self.slots.len() == ROOTS_PER_PACKET {
            self.flush_slots();
        }
    }

    fn pinned(&mut self, object: ObjRef) {
        if object.is_null() || object == self.last_pinned {
            return;
        }
        self.last_pinned = object;
        // It is traced when the packet is full.
        prefetch_fate(object);
        // SAFETY: not null, checked above.
        self.pinned.push(unsafe { to_reference(object) });
        if self.pinned.len() == ROOTS_PER_PACKET {
            self.flush_pinned();
        }
    }

    fn conservative_range(&mut self, range: std::ops::Range<usize>) {
        let mut address = range.start.next_multiple_of(8);
        while address + 8 <= range.end {
            // SAFETY: stacks of stopped threads and registered ranges are readable. Volatile: it may be any memory.
            let word = unsafe { (address as *const usize).read_volatile() };
            if in_heap_range(word)
                && !self.seen.has(word)
                && let Some(object) = find_object(word)
            {
                self.pinned(object);
            }
            address += 8;
        }
    }
}

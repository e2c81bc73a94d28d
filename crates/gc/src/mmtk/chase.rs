//! Depth-first tracing from an object without MMTk's queue, which prefetches the headers of the next few targets.
//!
//! MMTk makes one work packet per batch of newly reached objects and scans each object when the packet's turn comes: a
//! linked list yields batches of one (13× Mono's time), and every header is a cache miss (half of all tracing time). So
//! with one collector thread the scan of an object traces on by itself. A slot passes through a ring of
//! [`FETCHED_AHEAD`] slots between the moment its target is known, when the target's header is prefetched, and the
//! moment it is looked at. See Cher, Hosking & Vitek, "Software prefetching for mark-sweep garbage collection" (ASPLOS
//! 2004).
//!
//! Objects that stay where they are, nearly all, are marked here (`in_place`). The others (objects that move, and large
//! ones) MMTk queues nevertheless and hands to the scanner once more. A bit beside the heap (one per 8 bytes, touched
//! pages only) says that such an object has been scanned; the second visit clears it. Invariant: a bit is set only
//! between the scan here and that visit, so all are clear between collections. At most [`MAX_AHEAD`] objects are ahead
//! of MMTk, which still reads each header once (line marks): the header should still be in the cache by then.
//!
//! Left out: several collector threads, which share work through MMTk's queue only (`scanning::trace_references`).

use super::addresses::{HEAP_START, from_reference, in_large_space, to_reference};
use super::bits::{MarkBits, has_mark_bit, is_forwarded, map_bit_table};
use super::in_place::InPlace;
use crate::object::{for_each_reference, has_references, reference_elements, vtable_of};
use crate::{conditional, ephemeron, weak_fields};
use mmtk::vm::ObjectTracer;
use saki_abi::{ArrayHeader, ObjRef, VTable, VTableFlags};
use saki_os::memory::prefetch;
use std::cell::UnsafeCell;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// Slots in the ring: a cache miss takes about as long as looking at eight targets.
const FETCHED_AHEAD: usize = 8;
/// Scanned objects that MMTk has yet to visit; 32-byte objects make it 128 KiB, a part of any second-level cache.
const MAX_AHEAD: usize = 4096;
/// Longer arrays are left to MMTk's visit, which does not put their slots on the stack.
const MAX_ARRAY_ELEMENTS: u32 = 1024;

/// A slot of a live object and what it refers to, which is not null. Only the collector thread writes slots now, so the
/// target is read once.
#[derive(Clone, Copy)]
struct Edge {
    slot: *mut ObjRef,
    target: ObjRef,
}

const NO_EDGE: Edge = Edge { slot: std::ptr::null_mut(), target: ObjRef::NULL };

struct Chaser {
    /// Base of the table of bits.
    scanned: usize,
    /// Edges whose targets have not been prefetched.
    stack: Vec<Edge>,
    ring: [Edge; FETCHED_AHEAD],
    /// Place in the ring of the oldest slot.
    oldest: usize,
    /// Slots in the ring.
    ring_len: usize,
    /// Set bits.
    ahead: usize,
    in_place: InPlace,
}

struct OnlyWorker(UnsafeCell<Chaser>);

// SAFETY: used by the only collector thread; `HeapOptions::gc_threads` is 1 whenever it exists.
unsafe impl Sync for OnlyWorker {}
// SAFETY: the one collector thread makes it and uses it, so it is never used by two at a time.
unsafe impl Send for OnlyWorker {}

static CHASER: OnceLock<OnlyWorker> = OnceLock::new();

/// Prepares tracing with one collector thread. Errors: no address space for the table.
pub(super) fn init() -> Result<(), String> {
    let chaser = Chaser {
        scanned: map_bit_table()?,
        stack: Vec::new(),
        ring: [NO_EDGE; FETCHED_AHEAD],
        oldest: 0,
        ring_len: 0,
        ahead: 0,
        in_place: InPlace::default(),
    };
    let _ = CHASER.set(OnlyWorker(UnsafeCell::new(chaser)));
    Ok(())
}

impl Chaser {
    #[inline(always)]
    fn bit(&self, object: ObjRef) -> (&'static AtomicU8, u8) {
        let offset = object.address() - HEAP_START;
        // SAFETY: objects lie in the heap range, all of which the table covers; it is never unmapped.
        (unsafe { &*((self.scanned + (offset >> 6)) as *const AtomicU8) }, 1 << ((offset >> 3) & 7))
    }

    /// Relaxed loads and stores, here and below: one thread only.
    #[inline(always)]
    fn note_scanned(&mut self, object: ObjRef) {
        let (byte, bit) = self.bit(object);
        byte.store(byte.load(Ordering::Relaxed) | bit, Ordering::Relaxed);
        self.ahead += 1;
    }

    /// MMTk's visit: whether there is nothing left to do.
    #[inline(always)]
    fn take_scanned(&mut self, object: ObjRef) -> bool {
        let (byte, bit) = self.bit(object);
        // Relaxed, here and below: only the one collector thread touches the bits.
        let before = byte.load(Ordering::Relaxed);
        if before & bit == 0 {
            return false;
        }
        byte.store(before & !bit, Ordering::Relaxed);
        self.ahead -= 1;
        true
    }

    /// Puts an edge into the ring; the oldest comes out when it is full.
    #[inline(always)]
    fn exchange(&mut self, edge: Edge) -> Option<Edge> {
        prefetch(edge.target.address());
        if self.ring_len < FETCHED_AHEAD {
            self.ring[(self.oldest + self.ring_len) % FETCHED_AHEAD] = edge;
            self.ring_len += 1;
            return None;
        }
        let out = std::mem::replace(&mut self.ring[self.oldest], edge);
        self.oldest = (self.oldest + 1) % FETCHED_AHEAD;
        Some(out)
    }

    fn take_oldest(&mut self) -> Option<Edge> {
        self.ring_len = self.ring_len.checked_sub(1)?;
        let out = self.ring[self.oldest];
        self.oldest = (self.oldest + 1) % FETCHED_AHEAD;
        Some(out)
    }

    /// Traces an edge's target and, if that is new and there is room, scans it.
    #[inline(always)]
    fn look_at<T: ObjectTracer>(&mut self, edge: Edge, tracer: &mut T) {
        let target = edge.target;
        if !in_large_space(target.address()) {
            // SAFETY: references in live objects refer to live objects.
            if unsafe { has_mark_bit(target) } {
                return;
            }
            // SAFETY: small and live; an object that has moved lies in an evacuated block, which `mark` refuses.
            if unsafe { self.in_place.mark(target) } {
                self.push_references(target);
                return;
            }
        }
        self.look_at_movable(edge, tracer);
    }

    /// The target has not moved and is not marked.
    #[inline(always)]
    fn push_references(&mut self, object: ObjRef) {
        // SAFETY: live, and where it was.
        unsafe { conditional::watch(object) };
        // SAFETY: live, and where it was.
        let vtable = unsafe { vtable_of(object) };
        if !has_references(vtable) {
            return;
        }
        if weak_fields::is_set_aside(object, vtable) {
            return;
        }
        // SAFETY: the object was just reached, so it is live, and it has not moved: its vtable and its slots are where
        // they were.
        unsafe { for_each_reference(object, vtable, |slot| self.push(slot)) };
    }

    /// Large targets, and small ones that may move.
    fn look_at_movable<T: ObjectTracer>(&mut self, Edge { slot, target }: Edge, tracer: &mut T) {
        let was_reached = in_large_space(target.address())
            // SAFETY: live; a moved object keeps its old header, with the forwarding state in it.
            || unsafe { is_forwarded(target) };
        // SAFETY: not null.
        let moved = from_reference(tracer.trace_object(unsafe { to_reference(target) }));
        if moved != target {
            // SAFETY: the slot of an edge lies in a live object or is a root, and no other thread writes it: the world
            // is stopped, and there is one collector thread.
            unsafe { *slot = moved };
        }
        if was_reached || self.ahead >= MAX_AHEAD {
            return;
        }
        // SAFETY: live, at its new address.
        let vtable = unsafe { vtable_of(moved) };
        if !vtable.element_ref_map.is_null() && leave_to_mmtk(moved, vtable) {
            return;
        }
        self.note_scanned(moved);
        if has_references(vtable) {
            // SAFETY: `moved` is the address after the move, where the object's slots are valid.
            unsafe { for_each_reference(moved, vtable, |slot| self.push(slot)) };
        }
    }

    #[inline(always)]
    fn push(&mut self, slot: *mut ObjRef) {
        // SAFETY: a slot of a live object.
        let target = unsafe { *slot };
        if !target.is_null() {
            self.stack.push(Edge { slot, target });
        }
    }

    /// Traces the elements of an array of references, which may have millions. Most targets of a large array have been
    /// reached before, or are old in a nursery collection: their mark bits, one byte for 64 bytes of heap, are in the
    /// cache where their headers are not, so these edges end here. The others go straight into the ring.
    ///
    /// # Safety
    /// The slots are the elements of one live object.
    unsafe fn follow_elements<T: ObjectTracer>(&mut self, mut slots: Range<*mut ObjRef>, tracer: &mut T) {
        let marks = MarkBits::of_collection();
        loop {
            // SAFETY: the rest of the elements of one live object, none of which this collection has freed.
            slots.start = unsafe { marks.find_unmarked(slots.clone()) };
            if slots.start == slots.end {
                return;
            }
            self.follow(slots.start, tracer);
            slots.start = slots.start.wrapping_add(1);
        }
    }

    /// Traces a slot of the object that MMTk visits.
    #[inline]
    fn follow<T: ObjectTracer>(&mut self, slot: *mut ObjRef, tracer: &mut T) {
        // SAFETY: a slot of a live object.
        let target = unsafe { *slot };
        if !target.is_null()
            && let Some(oldest) = self.exchange(Edge { slot, target })
        {
            self.look_at(oldest, tracer);
            self.drain_stack(tracer);
        }
    }

    #[inline]
    fn drain_stack<T: ObjectTracer>(&mut self, tracer: &mut T) {
        while let Some(edge) = self.stack.pop() {
            if let Some(oldest) = self.exchange(edge) {
                self.look_at(oldest, tracer);
            }
        }
    }
}

/// Whether the object is left to MMTk: large arrays, and objects that are noted when they are visited (ephemeron
/// arrays, objects with weak fields).
#[cold]
fn leave_to_mmtk(object: ObjRef, vtable: &VTable) -> bool {
    if !vtable.flags.has(VTableFlags::ARRAY) {
        return true;
    }
    // SAFETY: the flag says that there is an array header.
    let length = unsafe { (*(object.0 as *const ArrayHeader)).length };
    length > MAX_ARRAY_ELEMENTS || ephemeron::is_ephemeron_vtable(vtable)
}

/// A collection begins: the world is stopped, nothing has been traced.
pub(super) fn begin() {
    if let Some(worker) = CHASER.get() {
        // SAFETY: called by the only collector thread, outside `visit`.
        unsafe { &mut *worker.0.get() }.in_place.begin();
    }
}

/// Objects that were marked in place since [`begin`].
pub(super) fn marked_objects() -> u64 {
    // SAFETY: called by the only collector thread when a collection ends, outside `visit`, so nobody writes to the
    // value.
    CHASER.get().map_or(0, |worker| unsafe { &*worker.0.get() }.in_place.marked_objects)
}

/// MMTk visits `object`: traces everything that it refers to, unless that has happened. `false`: there are several
/// collector threads, nothing has been done.
#[inline]
pub(super) fn visit<T: ObjectTracer>(object: ObjRef, tracer: &mut T) -> bool {
    let Some(worker) = CHASER.get() else { return false };
    // SAFETY: the only collector thread, and no call of this function is active in it: tracing an object does not scan.
    let chaser = unsafe { &mut *worker.0.get() };
    chaser.in_place.learn(object);
    // SAFETY: MMTk scans live objects, at their new addresses.
    unsafe { conditional::watch(object) };
    if chaser.take_scanned(object) {
        return true;
    }
    // SAFETY: MMTk scans live objects, at their new addresses.
    let vtable = unsafe { vtable_of(object) };
    if !has_references(vtable) {
        return true;
    }
    if weak_fields::is_set_aside(object, vtable) {
        return true;
    }
    // SAFETY: the object is live, and the vtable was read from it.
    match unsafe { reference_elements(object, vtable) } {
        // SAFETY: the elements of this live object.
        Some(elements) => unsafe { chaser.follow_elements(elements, tracer) },
        // SAFETY: the object is live, and the vtable was read from it.
        None => unsafe { for_each_reference(object, vtable, |slot| chaser.follow(slot, tracer)) },
    }
    while let Some(edge) = chaser.take_oldest() {
        chaser.look_at(edge, tracer);
        chaser.drain_stack(tracer);
    }
    true
}

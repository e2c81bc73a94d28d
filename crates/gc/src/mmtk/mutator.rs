//! Per-thread state and the allocation slow path.
//!
//! [`ThreadHeap`] lives in `ManagedThread::gc_area`, so that compiled code reaches the allocation cursor from the pinned
//! thread register. Only the owner touches it while it runs; collections touch it while the world is stopped.
//!
//! Accounting: objects that compiled code allocates inline are counted when the slow path or a collection next looks at
//! the cursor. Stress mode hides the rest of the buffer between slow paths, so that each allocation comes here.

use super::active_plan::mutator_thread_pointer;
use super::trim::BLOCK_BYTES;
use super::{LARGE_OBJECT_BYTES, Saki, heap, note_address, policy, to_reference, vo_bit_base};
use crate::{large, stats};
use mmtk::util::Address;
use mmtk::util::alloc::AllocatorInfo;
use mmtk::vm::slot::SimpleSlot;
use mmtk::{AllocationSemantics, Mutator, MutatorContext, memory_manager};
use saki_abi::{ObjRef, VTable};
use saki_thread::{GC_AREA_BYTES, ManagedThread};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Slots of old objects that were written through byrefs, whose object is not known (see `barrier`).
#[derive(Default)]
pub(crate) struct SlotBuffer {
    slots: Vec<usize>,
    /// Remove duplicates when the buffer reaches this length.
    compact_at: usize,
}

/// First length at which duplicates are removed: 512 KiB of addresses.
const FIRST_COMPACTION: usize = 1 << 16;

impl SlotBuffer {
    #[inline]
    pub(crate) fn push(&mut self, slot: usize) {
        if self.slots.last() == Some(&slot) {
            return;
        }
        self.slots.push(slot);
        if self.slots.len() >= self.compact_at {
            self.compact();
        }
    }

    #[cold]
    fn compact(&mut self) {
        if self.compact_at == 0 {
            self.compact_at = FIRST_COMPACTION;
            return;
        }
        self.slots.sort_unstable();
        self.slots.dedup();
        self.compact_at = (self.slots.len() * 2).max(FIRST_COMPACTION);
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn take(&mut self) -> Vec<usize> {
        self.compact_at = FIRST_COMPACTION;
        std::mem::take(&mut self.slots)
    }
}

#[derive(Default)]
struct StressState {
    allocations: u32,
    safepoints: u32,
    /// Cursor and limit of the hidden buffer.
    hidden: Option<(usize, usize)>,
}

/// The cursor and limit of the thread's buffer, as MMTk lays them out.
#[repr(C)]
struct Bump {
    cursor: usize,
    limit: usize,
}

/// See the module header.
#[repr(C)]
pub(crate) struct ThreadHeap {
    pub(super) mutator: Mutator<Saki>,
    /// Cursor up to which allocation has been counted.
    counted_to: usize,
    /// First object of the buffer that the cursor is in; [`NO_BUFFER`] when there is none.
    buffer_start: usize,
    allocated_bytes: u64,
    /// Of these, what the policy knows of.
    reported_bytes: u64,
    pub(crate) slots: SlotBuffer,
    /// New objects with finalizers.
    pub(super) finalizable: Vec<ObjRef>,
    stress: StressState,
    /// [`BOUND`] from bind to unbind; threads start with a zeroed area.
    bound: u64,
}

/// Allocation that threads report at once: they write one counter.
const REPORTED_BYTES: u64 = 64 << 10;

const NO_BUFFER: usize = usize::MAX;

/// Anything but 0.
const BOUND: u64 = 0x7361_6b69;

const _: () = assert!(size_of::<ThreadHeap>() <= GC_AREA_BYTES && align_of::<ThreadHeap>() <= 16);
const _: () = assert!(std::mem::offset_of!(ThreadHeap, mutator) == 0);

/// Offset of the cursor within the area; 0 = not computed yet. All threads compute the same value.
static CURSOR_OFFSET: AtomicUsize = AtomicUsize::new(0);

/// Offset of the allocation cursor in bytes from the start of `gc_area`; the limit is the next word.
#[inline(always)]
pub(crate) fn cursor_offset_in_area() -> usize {
    // Relaxed: idempotent value.
    match CURSOR_OFFSET.load(Ordering::Relaxed) {
        0 => compute_cursor_offset(),
        offset => offset,
    }
}

#[cold]
fn compute_cursor_offset() -> usize {
    let selector = memory_manager::get_allocator_mapping(heap().mmtk, AllocationSemantics::Default);
    let AllocatorInfo::BumpPointer { bump_pointer_offset } = AllocatorInfo::new::<Saki>(selector) else {
        unreachable!("Immix allocates by bump pointer");
    };
    CURSOR_OFFSET.store(bump_pointer_offset, Ordering::Relaxed);
    bump_pointer_offset
}

/// The heap state of `thread`, which must be bound (else it is uninitialised memory).
#[inline(always)]
pub(crate) fn thread_heap(thread: &ManagedThread) -> *mut ThreadHeap {
    thread.gc_area().cast()
}

/// Whether the area of `thread` holds an initialised [`ThreadHeap`].
pub(super) fn is_bound(thread: &ManagedThread) -> bool {
    // SAFETY: the area is zero or a `ThreadHeap`; the field is a plain number in both.
    unsafe { (*thread_heap(thread)).bound == BOUND }
}

/// The area no longer holds a [`ThreadHeap`].
pub(super) fn set_unbound(thread: &ManagedThread) {
    // SAFETY: as in `is_bound`.
    unsafe { (*thread_heap(thread)).bound = 0 };
}

#[inline(always)]
fn bump_of(heap: *mut ThreadHeap) -> *mut Bump {
    heap.wrapping_byte_add(cursor_offset_in_area()).cast()
}

impl ThreadHeap {
    pub(super) fn new(mutator: Mutator<Saki>) -> Self {
        Self {
            mutator,
            counted_to: 0,
            buffer_start: NO_BUFFER,
            allocated_bytes: 0,
            reported_bytes: 0,
            slots: SlotBuffer::default(),
            finalizable: Vec::new(),
            stress: StressState::default(),
            bound: BOUND,
        }
    }

    fn bump(&mut self) -> &mut Bump {
        // SAFETY: the offset is that of a `BumpPointer` (two addresses, repr(C)) within `self.mutator`.
        unsafe { &mut *bump_of(self) }
    }

    /// Counts what was allocated inline since the last call.
    fn count(&mut self) {
        let cursor = self.bump().cursor;
        self.allocated_bytes += cursor.saturating_sub(self.counted_to) as u64;
        self.counted_to = cursor;
    }

    fn unhide(&mut self) {
        if let Some((cursor, limit)) = self.stress.hidden.take() {
            *self.bump() = Bump { cursor, limit };
            self.counted_to = cursor;
        }
    }

    fn hide(&mut self) {
        let Bump { cursor, limit } = *self.bump();
        if limit != 0 {
            self.stress.hidden = Some((cursor, limit));
            *self.bump() = Bump { cursor: 0, limit: 0 };
            self.counted_to = 0;
        }
    }

    /// Tells the policy now and then.
    fn report(&mut self) {
        let unreported_bytes = self.allocated_bytes - self.reported_bytes;
        if unreported_bytes >= REPORTED_BYTES {
            self.reported_bytes = self.allocated_bytes;
            policy().add_small(unreported_bytes as usize);
        }
    }

    pub(crate) fn allocated_bytes(&mut self) -> u64 {
        self.count();
        self.allocated_bytes
    }
}

/// The world has stopped: the buffers are about to be taken away.
pub(super) fn prepare_for_collection(heap: &mut ThreadHeap) {
    heap.count();
    heap.counted_to = 0;
    heap.buffer_start = NO_BUFFER;
    heap.stress.hidden = None;
}

/// Zeroed memory for an object of `size_bytes` (a multiple of 8) with its vtable stored and its VO bit set, or `None`
/// when memory is exhausted. May run a collection. `thread` is the current thread.
#[inline]
pub(crate) fn allocate(thread: &ManagedThread, vtable: *const VTable, size_bytes: usize) -> Option<ObjRef> {
    let heap = thread_heap(thread);
    let bump = bump_of(heap);
    // SAFETY: `thread` is current and bound, so the area is initialised and no one else touches it.
    let (cursor, limit) = unsafe { ((*bump).cursor, (*bump).limit) };
    let end = cursor.wrapping_add(size_bytes);
    if end > limit || size_bytes > LARGE_OBJECT_BYTES {
        return allocate_slow(thread, vtable, size_bytes);
    }
    // SAFETY: as above; `[cursor, end)` lies in this thread's buffer.
    unsafe {
        (*bump).cursor = end;
        (*(cursor as *mut saki_abi::Object)).vtable = vtable;
    }
    // SAFETY: an object of this thread's buffer.
    unsafe { set_vo_bit(cursor) };
    Some(ObjRef(cursor as *mut _))
}

/// Whether the object lies in the block that the thread allocates from: then it is young, or at least small and near.
#[inline(always)]
pub(crate) fn is_in_buffer(thread: &ManagedThread, object: ObjRef) -> bool {
    // SAFETY: `thread` is current and bound, so the area is initialised and no one else touches it.
    let cursor = unsafe { (*bump_of(thread_heap(thread))).cursor };
    cursor ^ object.address() < BLOCK_BYTES
}

/// Whether `slot` lies in an object that the thread allocated from its present buffer, and so since the last collection.
#[inline(always)]
pub(crate) fn is_in_new_object(thread: &ManagedThread, slot: usize) -> bool {
    let heap = thread_heap(thread);
    // SAFETY: `thread` is current and bound, so the area is initialised and no one else touches it.
    unsafe { (*heap).buffer_start <= slot && slot < (*bump_of(heap)).cursor }
}

/// Marks a small object as valid, as compiled code does; MMTk's own way takes a locked instruction, which waits for the
/// zeroes of a new block to be written.
///
/// # Safety
/// The object lies in a buffer of the current thread.
#[inline(always)]
unsafe fn set_vo_bit(object: usize) {
    let vo_byte = (vo_bit_base() + (object >> 6)) as *mut u8;
    // SAFETY: the table is mapped for memory that the heap hands out. Buffers are multiples of 64 bytes, so no other
    // thread writes this byte.
    unsafe { *vo_byte |= 1 << ((object >> 3) & 7) };
}

#[cold]
fn allocate_slow(thread: &ManagedThread, vtable: *const VTable, size_bytes: usize) -> Option<ObjRef> {
    // SAFETY: `thread` is current and bound.
    let thread_heap = unsafe { &mut *thread_heap(thread) };
    thread_heap.count();
    thread_heap.report();
    let stress = heap().options.stress;
    if let Some(stress) = stress {
        thread_heap.unhide();
        thread_heap.stress.allocations += 1;
        if thread_heap.stress.allocations == stress.every_nth_allocation {
            thread_heap.stress.allocations = 0;
            collect(thread, true);
        }
    }
    if policy().take_overhead_exceeded() {
        return None;
    }
    let semantics =
        if size_bytes > LARGE_OBJECT_BYTES { AllocationSemantics::Los } else { AllocationSemantics::Default };
    let limit = thread_heap.bump().limit;
    let address = memory_manager::alloc(&mut thread_heap.mutator, size_bytes, 8, 0, semantics);
    if address.is_zero() {
        return None;
    }
    let bump = thread_heap.bump();
    let is_below_cursor = bump.cursor == address.as_usize() + size_bytes;
    // Without a buffer: a collection has run meanwhile, and may have given a buffer with the same end.
    if is_below_cursor && (bump.limit != limit || thread_heap.buffer_start == NO_BUFFER) {
        thread_heap.buffer_start = address.as_usize();
    }
    let object = ObjRef(address.to_mut_ptr());
    // SAFETY: fresh memory for this object.
    unsafe { (*object.0).vtable = vtable };
    let is_large = semantics == AllocationSemantics::Los;
    if is_large {
        // SAFETY: not null, checked above.
        let reference = unsafe { to_reference(object) };
        memory_manager::post_alloc(&mut thread_heap.mutator, reference, size_bytes, semantics);
    } else {
        // SAFETY: just taken from this thread's buffer.
        unsafe { set_vo_bit(object.address()) };
    }
    note_address(object.address(), is_large);
    if is_large {
        large::insert(object.address(), size_bytes);
        policy().add_large(size_bytes);
    }
    thread_heap.allocated_bytes += size_bytes as u64;
    if is_large {
        // Large objects have their own allowance.
        thread_heap.reported_bytes += size_bytes as u64;
    }
    thread_heap.counted_to = thread_heap.bump().cursor;
    if stress.is_some_and(|stress| stress.every_nth_allocation != 0) {
        thread_heap.hide();
    }
    Some(object)
}

/// Collects now; the current thread waits. A full collection is certain if asked for; a nursery collection may turn out
/// a full one.
pub(crate) fn collect(thread: &ManagedThread, full: bool) {
    let full_before = stats::collection_count(1);
    // A request can join a nursery collection that another thread has just started: then ask again.
    for _ in 0..3 {
        heap().mmtk.handle_user_collection_request(mutator_thread_pointer(thread), true, full);
        if !full || stats::collection_count(1) != full_before {
            break;
        }
    }
}

/// Stress mode: collects at every n-th call.
pub(crate) fn stress_safepoint(thread: &ManagedThread) {
    let Some(stress) = heap().options.stress else { return };
    // SAFETY: `thread` is current and bound.
    let state = unsafe { &mut (*thread_heap(thread)).stress };
    state.safepoints += 1;
    if state.safepoints == stress.every_nth_safepoint {
        state.safepoints = 0;
        collect(thread, true);
    }
}

/// Notes that the new `object` has a finalizer. `thread` is the current thread.
#[inline]
pub(crate) fn push_finalizable(thread: &ManagedThread, object: ObjRef) {
    // SAFETY: `thread` is current and bound.
    unsafe { &mut (*thread_heap(thread)).finalizable }.push(object);
}

/// Remembers `object` for the next nursery collection. `thread` is the current thread, `object` is old.
pub(crate) fn log_object(thread: &ManagedThread, object: ObjRef) {
    // SAFETY: `thread` is current and bound.
    let mutator = unsafe { &mut (*thread_heap(thread)).mutator };
    // SAFETY: a live object is not null.
    let reference = unsafe { to_reference(object) };
    // Object remembering ignores the slot and the target.
    let slot = SimpleSlot::from_address(Address::from_mut_ptr(object.0));
    mutator.barrier().object_reference_write_slow(reference, slot, None);
}

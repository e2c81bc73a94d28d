//! State of a carrier's part of the heap, and the allocation slow path.
//!
//! A [`CarrierHeap`] belongs to a carrier; only its OS thread touches it while it runs, and collections while the world
//! is stopped. The cursor and limit of the buffer are in `ThreadAbi` of the thread that the carrier runs
//! (`Carrier::buffer`), so that compiled code reaches them from the pinned register; MMTk's own copies in the mutator
//! are brought up to date before it allocates, and are empty after a collection.
//!
//! Accounting: objects that compiled code allocates inline are counted when the slow path or a collection next looks at
//! the cursor. Stress mode leaves the buffer in the mutator between slow paths, so that each allocation comes here.

use super::addresses::{note_address, to_reference};
use super::bits::vo_bit_base;
use super::instance::{Saki, heap, policy};
use super::layout::{BLOCK_BYTES, LARGE_OBJECT_BYTES};
use super::thread_pointers::mutator_pointer;
use crate::client::client;
use crate::observer::{self, SampledAllocation, SamplingState};
use crate::{finalize, large, stats};
use mmtk::util::Address;
use mmtk::util::alloc::{AllocatorInfo, AllocatorSelector};
use mmtk::vm::slot::SimpleSlot;
use mmtk::{AllocationSemantics, Mutator, MutatorContext, memory_manager};
use saki_abi::{ObjRef, VTable};
use saki_thread::{AllocBuffer, Carrier, ManagedThread};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

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
    /// The buffer is in the mutator, and compiled code has none.
    is_hidden: bool,
}

/// See the module header.
#[repr(C)]
pub(crate) struct CarrierHeap {
    pub(super) mutator: Mutator<Saki>,
    /// Cursor up to which allocation has been counted.
    counted_to: usize,
    /// First object of the buffer that the cursor is in; [`NO_BUFFER`] when there is none.
    buffer_start: usize,
    allocated_bytes: u64,
    /// The part of these bytes that has been reported to the policy.
    reported_bytes: u64,
    pub(crate) slots: SlotBuffer,
    /// New objects with finalizers.
    pub(super) finalizable: Vec<ObjRef>,
    /// During a collection: the threads whose roots are scanned with this mutator.
    pub(super) threads_to_scan: Vec<&'static ManagedThread>,
    stress: StressState,
    sampling: SamplingState,
}

/// Allocation that threads report at once: they write one counter.
const REPORTED_BYTES: u64 = 64 << 10;

const NO_BUFFER: usize = usize::MAX;

/// How often an allocation that has failed waits for finalizers. What they free may show more dead objects with
/// finalizers.
const MAX_FINALIZER_ROUNDS: u32 = 3;

/// Offset of the cursor within the mutator; 0 = not computed yet. All compute the same value. So Relaxed.
static CURSOR_OFFSET: AtomicUsize = AtomicUsize::new(0);

/// Offset of MMTk's copy of the allocation cursor in bytes from the start of the mutator; the limit is the next word.
#[inline(always)]
fn cursor_offset_in_mutator() -> usize {
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

/// Drops the allocators of `mutator`, which has been destroyed and is not used any more. MMTk keeps them where they
/// are never dropped, and each of them owns a share of a context in `malloc`'s memory: a thread that attached and
/// detached would leave that behind.
pub(super) fn drop_allocators(mutator: &mut Mutator<Saki>) {
    let mut dropped: Vec<AllocatorSelector> = Vec::with_capacity(4);
    for semantics in [
        AllocationSemantics::Default,
        AllocationSemantics::Immortal,
        AllocationSemantics::Los,
        AllocationSemantics::NonMoving,
    ] {
        let selector = memory_manager::get_allocator_mapping(heap().mmtk, semantics);
        if selector != AllocatorSelector::None && !dropped.contains(&selector) {
            dropped.push(selector);
            // SAFETY: each selector in the plan's mapping names an allocator that binding the mutator has made; it is
            // dropped once, and the mutator's own drop leaves it alone.
            unsafe { std::ptr::drop_in_place(mutator.allocator_mut(selector)) };
        }
    }
}

/// The heap state of the carrier that runs `thread`, the current one, which is bound; or of a stopped carrier.
#[inline(always)]
pub(crate) fn carrier_heap(carrier: &Carrier) -> *mut CarrierHeap {
    carrier.heap().cast()
}

/// The heap state of the carrier of `thread`, the current one, which is bound.
#[inline(always)]
pub(crate) fn heap_of(thread: &ManagedThread) -> *mut CarrierHeap {
    carrier_heap(carrier_of(thread))
}

fn carrier_of(thread: &ManagedThread) -> &'static Carrier {
    thread.carrier().unwrap_or_else(|| saki_base::bug!("a thread without a carrier allocates"))
}

/// The buffer of `thread`, which is the current one.
#[inline(always)]
fn buffer_of(thread: &ManagedThread) -> *mut AllocBuffer {
    // SAFETY: the structure is never freed; only an address is computed.
    unsafe { (&raw mut (*thread.abi()).alloc_cursor).cast() }
}

impl CarrierHeap {
    pub(super) fn new(mutator: Mutator<Saki>) -> Self {
        Self {
            mutator,
            counted_to: 0,
            buffer_start: NO_BUFFER,
            allocated_bytes: 0,
            reported_bytes: 0,
            slots: SlotBuffer::default(),
            finalizable: Vec::new(),
            threads_to_scan: Vec::new(),
            stress: StressState::default(),
            sampling: SamplingState::default(),
        }
    }

    /// MMTk's copy of the buffer.
    fn mutator_buffer(&mut self) -> &mut AllocBuffer {
        let copy = (&raw mut self.mutator).wrapping_byte_add(cursor_offset_in_mutator()).cast();
        // SAFETY: the offset is that of a `BumpPointer` (two addresses, repr(C)) within `self.mutator`.
        unsafe { &mut *copy }
    }

    /// Counts the bytes that were allocated inline since the last call, up to `cursor`.
    fn count(&mut self, cursor: usize) {
        self.allocated_bytes += cursor.saturating_sub(self.counted_to) as u64;
        self.counted_to = cursor;
    }

    /// The buffer as it is without a lower limit for the next sample.
    fn whole(&mut self, mut buffer: AllocBuffer) -> AllocBuffer {
        match std::mem::take(&mut self.sampling.hidden_limit) {
            0 => {}
            limit => buffer.limit = limit,
        }
        buffer
    }

    /// While allocations are sampled: takes the sample that is due, and returns the limit at which compiled code takes
    /// the slow path for the next one.
    #[cold]
    fn sample(
        &mut self,
        thread: &ManagedThread,
        object: ObjRef,
        size_bytes: usize,
        mean_bytes: usize,
        buffer: AllocBuffer,
    ) -> usize {
        let allocated_bytes = self.allocated_bytes;
        if mean_bytes == observer::EACH {
            self.sampling.hidden_limit = buffer.limit;
            report_allocation(thread, object, size_bytes);
            return 0;
        }
        if self.sampling.next_at_bytes == 0 {
            self.sampling.last_at_bytes = allocated_bytes;
            self.sampling.choose_next(allocated_bytes, mean_bytes);
        } else if allocated_bytes >= self.sampling.next_at_bytes {
            let weight_bytes = allocated_bytes - self.sampling.last_at_bytes;
            self.sampling.last_at_bytes = allocated_bytes;
            self.sampling.choose_next(allocated_bytes, mean_bytes);
            client().allocated(&SampledAllocation { thread, object, size_bytes, weight_bytes, is_each: false });
        }
        let rest_bytes = self.sampling.next_at_bytes.saturating_sub(allocated_bytes) as usize;
        let due = buffer.cursor.saturating_add(rest_bytes);
        if due >= buffer.limit {
            return buffer.limit;
        }
        self.sampling.hidden_limit = buffer.limit;
        due
    }

    /// Tells the policy now and then.
    fn report(&mut self) {
        let unreported_bytes = self.allocated_bytes - self.reported_bytes;
        if unreported_bytes >= REPORTED_BYTES {
            self.reported_bytes = self.allocated_bytes;
            REPORTED_BY_ALL.fetch_add(unreported_bytes, Ordering::Relaxed);
            policy().add_small(unreported_bytes as usize);
        }
    }
}

fn report_allocation(thread: &ManagedThread, object: ObjRef, size_bytes: usize) {
    client().allocated(&SampledAllocation {
        thread,
        object,
        size_bytes,
        weight_bytes: size_bytes as u64,
        is_each: true,
    });
}

/// Makes compiled code that runs on the carrier take the slow path for each allocation from now on. The world is
/// stopped.
pub(super) fn hide_limit(carrier: &Carrier) {
    // SAFETY: the world is stopped: the carrier's OS thread runs nothing that touches its heap state.
    let heap = unsafe { &mut *carrier_heap(carrier) };
    if !heap.stress.is_hidden {
        // SAFETY: the world is stopped, so the OS thread of the carrier does not use its buffer, which is another
        // object than its heap state.
        let buffer = unsafe { &mut *carrier.buffer() };
        heap.sampling.hidden_limit = heap.whole(*buffer).limit;
        buffer.limit = 0;
    }
}

/// Bytes that the carrier of `thread`, the current one, has allocated.
pub(crate) fn allocated_bytes(thread: &ManagedThread) -> u64 {
    // SAFETY: `thread` is current and bound, so nobody else touches buffer and heap state.
    let (heap, cursor) = unsafe { (&mut *heap_of(thread), (*buffer_of(thread)).cursor) };
    heap.count(cursor);
    heap.allocated_bytes
}

/// Bytes that all carriers have reported. No decision depends on it: Relaxed.
static REPORTED_BY_ALL: AtomicU64 = AtomicU64::new(0);

/// Bytes that all carriers have allocated, but for what others than that of `thread`, the current one, have not
/// reported.
pub(crate) fn allocated_bytes_of_all(thread: &ManagedThread) -> u64 {
    let own = allocated_bytes(thread);
    // SAFETY: `thread` is current and bound, so nobody else touches its heap state.
    let reported = unsafe { (*heap_of(thread)).reported_bytes };
    REPORTED_BY_ALL.load(Ordering::Relaxed) + (own - reported)
}

/// The world has stopped: the carrier's buffer is about to be taken away.
pub(super) fn prepare_for_collection(carrier: &Carrier) -> &'static mut CarrierHeap {
    // SAFETY: the world is stopped: the carrier's OS thread runs nothing that touches its heap state.
    let heap = unsafe { &mut *carrier_heap(carrier) };
    // SAFETY: the world is stopped, so the OS thread of the carrier does not use its buffer, which is another object
    // than its heap state.
    let buffer = unsafe { std::mem::take(&mut *carrier.buffer()) };
    let buffer = heap.whole(buffer);
    if heap.stress.is_hidden {
        heap.stress.is_hidden = false;
    } else {
        heap.count(buffer.cursor);
        *heap.mutator_buffer() = buffer;
    }
    heap.counted_to = 0;
    heap.buffer_start = NO_BUFFER;
    heap
}

/// Zeroed memory for an object of `size_bytes` (a multiple of 8) with its vtable stored and its VO bit set, or `None`
/// when memory is exhausted. May run a collection. `thread` is the current thread.
#[inline]
pub(crate) fn allocate(thread: &ManagedThread, vtable: *const VTable, size_bytes: usize) -> Option<ObjRef> {
    let buffer = buffer_of(thread);
    // SAFETY: `thread` is current and bound, so no one else touches its buffer.
    let AllocBuffer { cursor, limit } = unsafe { *buffer };
    let end = cursor.wrapping_add(size_bytes);
    if end > limit || size_bytes > LARGE_OBJECT_BYTES {
        return allocate_slow(thread, vtable, size_bytes, false);
    }
    // SAFETY: `[cursor, end)` lies in the buffer of this thread, the current one, so nobody else writes to it; it is
    // aligned to 8 bytes and zeroed.
    unsafe {
        (*buffer).cursor = end;
        (*(cursor as *mut saki_abi::Object)).vtable = vtable;
    }
    // SAFETY: an object of this thread's buffer.
    unsafe { set_vo_bit(cursor) };
    Some(ObjRef(cursor as *mut _))
}

/// Whether the object lies in the block that the thread allocates from: then it is young, or at least small and near.
#[inline(always)]
pub(crate) fn is_in_buffer(thread: &ManagedThread, object: ObjRef) -> bool {
    // SAFETY: `thread` is current and bound, so no one else touches its buffer.
    let cursor = unsafe { (*buffer_of(thread)).cursor };
    cursor ^ object.address() < BLOCK_BYTES
}

/// Whether `slot` lies in an object that the thread allocated from its present buffer, and so since the last
/// collection.
#[inline(always)]
pub(crate) fn is_in_new_object(thread: &ManagedThread, slot: usize) -> bool {
    // SAFETY: `thread` is current and bound, so no one else touches its buffer and its carrier's heap state.
    unsafe { (*heap_of(thread)).buffer_start <= slot && slot < (*buffer_of(thread)).cursor }
}

/// Marks a small object as valid, as compiled code does; MMTk's own function uses a locked instruction, which waits
/// until the zeroes of a new block have been written.
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

/// While each allocation is reported: takes the object out of the buffer whose limit is hidden. `None`: it has no room
/// there.
fn allocate_reported(thread: &ManagedThread, vtable: *const VTable, size_bytes: usize) -> Option<ObjRef> {
    let buffer = buffer_of(thread);
    // SAFETY: `thread` is current and bound, so no one else touches its buffer and its carrier's heap state.
    let (cursor, limit) = unsafe { ((*buffer).cursor, (*heap_of(thread)).sampling.hidden_limit) };
    let end = cursor.wrapping_add(size_bytes);
    // The limit is 0 while none is hidden.
    if end > limit || size_bytes > LARGE_OBJECT_BYTES {
        return None;
    }
    // SAFETY: `[cursor, end)` lies below the buffer's true limit, in memory that only this thread hands out; it is
    // aligned to 8 bytes and zeroed.
    unsafe {
        // Sampling by bytes may have left another limit.
        *buffer = AllocBuffer { cursor: end, limit: 0 };
        (*(cursor as *mut saki_abi::Object)).vtable = vtable;
    }
    // SAFETY: an object of this thread's buffer.
    unsafe { set_vo_bit(cursor) };
    let object = ObjRef(cursor as *mut _);
    report_allocation(thread, object, size_bytes);
    Some(object)
}

/// Allocates an object that never moves, otherwise like `allocate`: it lies among the large ones, whatever its size.
pub(crate) fn allocate_in_place(thread: &ManagedThread, vtable: *const VTable, size_bytes: usize) -> Option<ObjRef> {
    allocate_slow(thread, vtable, size_bytes, true)
}

#[cold]
fn allocate_slow(
    thread: &ManagedThread,
    vtable: *const VTable,
    size_bytes: usize,
    stays_in_place: bool,
) -> Option<ObjRef> {
    let mut taken = finalize::taken_count();
    if let Some(object) = try_allocate_slow(thread, vtable, size_bytes, stays_in_place) {
        return Some(object);
    }
    // Dead objects that wait for their finalizers fill memory, too: it becomes free when these have run. They may have
    // run since this thread's last collection, and then none is left to wait for; but words of calls that are over may
    // have kept objects in that collection.
    for round in 0..MAX_FINALIZER_ROUNDS {
        if !client().run_finalizers(thread) && finalize::taken_count() == taken && round > 0 {
            break;
        }
        taken = finalize::taken_count();
        collect(thread, true);
        if let Some(object) = try_allocate_slow(thread, vtable, size_bytes, stays_in_place) {
            return Some(object);
        }
    }
    None
}

/// Clears the stack below the caller's frame. The frames of the next calls lie there, and not all of their words are
/// written before a collection scans them.
#[inline(never)]
fn clear_stack_below() {
    const CLEARED_WORDS: usize = 1024;
    let mut words = [0_usize; CLEARED_WORDS];
    std::hint::black_box(&mut words);
}

fn try_allocate_slow(
    thread: &ManagedThread,
    vtable: *const VTable,
    size_bytes: usize,
    stays_in_place: bool,
) -> Option<ObjRef> {
    if !stays_in_place
        && observer::sampling_bytes() == observer::EACH
        && let Some(object) = allocate_reported(thread, vtable, size_bytes)
    {
        return Some(object);
    }
    let stress = heap().options.stress;
    if let Some(stress) = stress {
        // SAFETY: `thread` is current and bound.
        let state = unsafe { &mut (*heap_of(thread)).stress };
        state.allocations += 1;
        if state.allocations == stress.every_nth_allocation {
            state.allocations = 0;
            collect(thread, true);
        }
    }
    if policy().take_overhead_exceeded() {
        return None;
    }
    // From here the thread stays on its carrier, but for a collection inside `alloc`, during which it waits.
    // SAFETY: `thread` is current and bound.
    let carrier_heap = unsafe { &mut *heap_of(thread) };
    let buffer = buffer_of(thread);
    if std::mem::take(&mut carrier_heap.stress.is_hidden) {
        carrier_heap.counted_to = carrier_heap.mutator_buffer().cursor;
    } else {
        // SAFETY: `thread` is current and bound.
        let present = carrier_heap.whole(unsafe { *buffer });
        carrier_heap.count(present.cursor);
        *carrier_heap.mutator_buffer() = present;
    }
    carrier_heap.report();
    let is_large = stays_in_place || size_bytes > LARGE_OBJECT_BYTES;
    let semantics = if is_large { AllocationSemantics::Los } else { AllocationSemantics::Default };
    let limit = carrier_heap.mutator_buffer().limit;
    let address = memory_manager::alloc(&mut carrier_heap.mutator, size_bytes, 8, 0, semantics);
    let present = *carrier_heap.mutator_buffer();
    // SAFETY: `thread` is current, so nobody else touches its buffer.
    unsafe { *buffer = present };
    if address.is_zero() {
        carrier_heap.counted_to = present.cursor;
        return None;
    }
    let is_below_cursor = present.cursor == address.as_usize() + size_bytes;
    // Without a buffer: a collection has run meanwhile, and may have given a buffer with the same end.
    if is_below_cursor && (present.limit != limit || carrier_heap.buffer_start == NO_BUFFER) {
        carrier_heap.buffer_start = address.as_usize();
    }
    let object = ObjRef(address.to_mut_ptr());
    // SAFETY: fresh memory for this object.
    unsafe { (*object.0).vtable = vtable };
    if is_large {
        // SAFETY: not null, checked above.
        let reference = unsafe { to_reference(object) };
        memory_manager::post_alloc(&mut carrier_heap.mutator, reference, size_bytes, semantics);
    } else {
        // SAFETY: just taken from this thread's buffer.
        unsafe { set_vo_bit(object.address()) };
    }
    note_address(object.address(), is_large);
    if is_large {
        large::insert(object.address(), size_bytes);
        policy().add_large(size_bytes);
    }
    carrier_heap.allocated_bytes += size_bytes as u64;
    if is_large {
        // Large objects have their own allowance.
        carrier_heap.reported_bytes += size_bytes as u64;
        REPORTED_BY_ALL.fetch_add(size_bytes as u64, Ordering::Relaxed);
    }
    carrier_heap.counted_to = present.cursor;
    let mean_bytes = observer::sampling_bytes();
    if mean_bytes != 0 {
        let limit = carrier_heap.sample(thread, object, size_bytes, mean_bytes, present);
        // SAFETY: `thread` is current, so nobody else touches its buffer.
        unsafe { (*buffer).limit = limit };
    }
    if present.limit != 0 && stress.is_some_and(|stress| stress.every_nth_allocation != 0) {
        carrier_heap.stress.is_hidden = true;
        carrier_heap.sampling.hidden_limit = 0;
        // SAFETY: `thread` is current, so nobody else touches its buffer.
        unsafe { *buffer = AllocBuffer::default() };
        carrier_heap.counted_to = 0;
    }
    Some(object)
}

/// Runs a collection; the current thread waits. A requested full collection is certain; a requested nursery collection
/// may turn out to be a full one.
pub(crate) fn collect(thread: &ManagedThread, full: bool) {
    if full {
        clear_stack_below();
    }
    let full_before = stats::collection_count(1);
    // A request can join a nursery collection that another thread has just started: then ask again.
    for _ in 0..3 {
        heap().mmtk.handle_user_collection_request(mutator_pointer(carrier_of(thread)), true, full);
        if !full || stats::collection_count(1) != full_before {
            break;
        }
    }
}

/// Stress mode: collects at every n-th call.
pub(crate) fn stress_safepoint(thread: &ManagedThread) {
    let Some(stress) = heap().options.stress else { return };
    // SAFETY: `thread` is current and bound.
    let state = unsafe { &mut (*heap_of(thread)).stress };
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
    unsafe { &mut (*heap_of(thread)).finalizable }.push(object);
}

/// Remembers `object` for the next nursery collection. `thread` is the current thread, `object` is old.
pub(crate) fn log_object(thread: &ManagedThread, object: ObjRef) {
    // SAFETY: `thread` is current and bound.
    let mutator = unsafe { &mut (*heap_of(thread)).mutator };
    // SAFETY: a live object is not null.
    let reference = unsafe { to_reference(object) };
    // Object remembering ignores the slot and the target.
    let slot = SimpleSlot::from_address(Address::from_mut_ptr(object.0));
    mutator.barrier().object_reference_write_slow(reference, slot, None);
}

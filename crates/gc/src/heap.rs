//! The heap interface of the rest of the virtual machine: allocation, collection, look-ups, numbers.
//!
//! Invariant: functions that take a thread take the current one, bound and running (not in a safe region). Functions
//! that can run a collection say so; across such a call references in Rust locals stay valid and their objects in
//! place, because stacks are scanned conservatively and pin what they point to.

use crate::client::{self, HeapClient};
use crate::mmtk;
use crate::object::{array_size_bytes, bounds_offset_bytes, string_size_bytes};
use crate::observer::{self, Sampler};
use crate::options::HeapOptions;
use crate::stats;
use saki_abi::{ArrayHeader, HeapLayout, ObjRef, StringHeader, VTable, VTableFlags};
use saki_thread::ManagedThread;

/// Objects larger than this, in bytes, are large: they have pages of their own, never move, and are never allocated
/// inline by compiled code.
pub const LARGE_OBJECT_BYTES: usize = mmtk::LARGE_OBJECT_BYTES;

/// Creates the heap and its collector threads; once per process, about 3.5 ms. Carriers that are attached now or later
/// are bound to it until they detach. `heap_client` receives the collector's calls. Errors: bad options, second call.
pub fn init(options: HeapOptions, heap_client: &'static dyn HeapClient) -> Result<(), String> {
    client::set(heap_client);
    mmtk::init(options)?;
    mmtk::hook_carriers();
    mmtk::hook_forks();
    Ok(())
}

/// Ends the collector threads, after the collection that was asked for, if any: the machine ends, and the process may
/// live on. A thread that needs a collection afterwards waits for ever.
pub fn end() {
    mmtk::end_workers();
}

/// The options in force.
pub fn options() -> &'static HeapOptions {
    mmtk::options()
}

/// Sets the fields from which the compiled code of a thread, the current one or one that has not begun, reads the
/// heap's parameters. To be called when a thread attaches.
pub fn bind_thread(thread: &ManagedThread) {
    mmtk::bind_thread(thread);
}

/// What compiled code has to know to allocate objects and to test whether a store must be reported.
pub const fn heap_layout() -> HeapLayout {
    mmtk::LAYOUT
}

/// A new object of a type that is neither array nor string, zeroed. `None`: out of memory. May collect.
///
/// # Safety
/// `vtable` is valid; `thread` is the current thread.
#[inline]
pub unsafe fn alloc_object(thread: &ManagedThread, vtable: *const VTable) -> Option<ObjRef> {
    // SAFETY: `vtable` is valid, which this function demands.
    let size_bytes = unsafe { (*vtable).instance_size_bytes } as usize;
    mmtk::allocate(thread, vtable, size_bytes)
}

/// A new array of `length` elements in all, zeroed. Multi-dimensional ones get their `bounds` pointer; the caller fills
/// the bounds in. `None`: out of memory, or longer than an object can be. May collect.
///
/// # Safety
/// `vtable` is the valid vtable of an array type; `thread` is the current thread.
#[inline]
pub unsafe fn alloc_array(thread: &ManagedThread, vtable: *const VTable, length: u32) -> Option<ObjRef> {
    // SAFETY: `vtable` is the valid vtable of an array type, which this function demands.
    unsafe { alloc_array_by(thread, vtable, length, mmtk::allocate) }
}

/// Allocates an array that never moves; otherwise like `alloc_array`.
///
/// # Safety
/// `vtable` is the valid vtable of an array type; `thread` is the current thread.
pub unsafe fn alloc_array_in_place(thread: &ManagedThread, vtable: *const VTable, length: u32) -> Option<ObjRef> {
    // SAFETY: `vtable` is the valid vtable of an array type, which this function demands.
    unsafe { alloc_array_by(thread, vtable, length, mmtk::allocate_in_place) }
}

/// # Safety
/// `vtable` is the valid vtable of an array type; `thread` is the current thread.
#[inline(always)]
unsafe fn alloc_array_by(
    thread: &ManagedThread,
    vtable: *const VTable,
    length: u32,
    allocate: fn(&ManagedThread, *const VTable, usize) -> Option<ObjRef>,
) -> Option<ObjRef> {
    // SAFETY: `vtable` is valid, which this function demands.
    let (element_size_bytes, rank_with_bounds) = unsafe {
        let rank = if (*vtable).flags.has(VTableFlags::MULTI_DIM) { (*vtable).rank as usize } else { 0 };
        ((*vtable).element_size_bytes as usize, rank)
    };
    let size_bytes = array_size_bytes(length as usize, element_size_bytes, rank_with_bounds)?;
    let object = allocate(thread, vtable, size_bytes)?;
    let header = object.0 as *mut ArrayHeader;
    // SAFETY: the object was just allocated with room for the header.
    unsafe { (*header).length = length };
    if rank_with_bounds != 0 {
        let offset_bytes = bounds_offset_bytes(length as usize, element_size_bytes);
        // SAFETY: `size_bytes` was computed with room for the bounds behind the elements, and `bounds_offset_bytes`
        // gives their place.
        unsafe { (*header).bounds = object.field_ptr(offset_bytes) };
    }
    Some(object)
}

/// A new string of `length` UTF-16 units, all zero. `None`: out of memory or negative. May collect.
///
/// # Safety
/// `vtable` is the valid vtable of `System.String`; `thread` is the current thread.
#[inline]
pub unsafe fn alloc_string(thread: &ManagedThread, vtable: *const VTable, length: i32) -> Option<ObjRef> {
    let units = usize::try_from(length).ok()?;
    let object = mmtk::allocate(thread, vtable, string_size_bytes(units))?;
    // SAFETY: the object was just allocated with room for the header.
    unsafe { (*(object.0 as *mut StringHeader)).length = length };
    Some(object)
}

/// Slow path of inline allocation: `size_bytes` (a multiple of 8) of zeroed memory with the vtable stored. The caller
/// stores the length of arrays and strings before the next safepoint. `None`: out of memory. May collect.
pub fn alloc_bytes(thread: &ManagedThread, vtable: *const VTable, size_bytes: usize) -> Option<ObjRef> {
    mmtk::allocate(thread, vtable, size_bytes)
}

/// Samples allocations every `mean_bytes` bytes from now on, or more often if another sampler asks for that; 0 ends it.
/// Carriers begin when they next need memory; with [`EACH`](crate::EACH) they begin at once, for which the world is
/// stopped for a moment.
pub fn sample_allocations(sampler: Sampler, mean_bytes: usize) {
    if observer::request_samples(sampler, mean_bytes) {
        mmtk::report_from_now_on();
    }
}

/// Runs a collection and waits for it: a full one if `full`, else a nursery collection.
pub fn collect(thread: &ManagedThread, full: bool) {
    mmtk::collect(thread, full);
}

/// To be called at each poll slow path; collects at every n-th one in stress mode, else does nothing. In that mode
/// bound threads have `POLL_PREEMPT` set in their poll word for good, so that each poll takes the slow path.
pub fn stress_safepoint(thread: &ManagedThread) {
    mmtk::stress_safepoint(thread);
}

/// Bytes in use by whole pages: live objects, garbage and the threads' buffers.
pub fn heap_bytes_used() -> usize {
    mmtk::used_bytes()
}

/// Bytes that `thread` (the current one) has allocated since it was bound.
pub fn bytes_allocated_by_thread(thread: &ManagedThread) -> u64 {
    mmtk::allocated_bytes(thread)
}

/// Bytes that all threads have allocated. What other threads have not reported yet, less than 64 KiB each, is left out.
pub fn bytes_allocated(thread: &ManagedThread) -> u64 {
    mmtk::allocated_bytes_of_all(thread)
}

/// Tells the trigger of memory outside the heap that objects keep (`GC.AddMemoryPressure`).
pub fn add_memory_pressure(bytes: usize) {
    mmtk::policy().add_large(bytes);
}

/// Whether `address` lies in memory of the heap.
pub fn is_heap_address(address: usize) -> bool {
    mmtk::is_heap_address(address)
}

/// The object that `address` points to or into, from its first byte to its last. Not while a collection runs.
pub fn find_object(address: usize) -> Option<ObjRef> {
    mmtk::find_object(address)
}

/// Prefetches the data that decides the fate of `object` in a collection, for a [`crate::WeakTable`] with many objects.
#[inline]
pub fn prefetch_fate(object: ObjRef) {
    mmtk::prefetch_fate(object);
}

/// 0 for objects allocated since the last collection, 1 for those that survived one (`GC.GetGeneration`; Mono's highest
/// generation is 1 as well).
///
/// # Safety
/// `object` is a live heap object.
pub unsafe fn generation_of(object: ObjRef) -> u32 {
    // SAFETY: `object` is a live heap object, which this function demands as `is_old` does.
    u32::from(unsafe { mmtk::is_old(object) })
}

/// Calls `visit` with each object of the heap, dead ones included until they are swept. Only while no other thread
/// runs: for heap dumps and tests.
pub fn for_each_object(visit: &mut dyn FnMut(ObjRef)) {
    mmtk::for_each_object(visit);
}

/// Number of collections so far, of any kind; see [`crate::collection_count`] by generation.
pub fn collections() -> u64 {
    stats::collection_count(0)
}

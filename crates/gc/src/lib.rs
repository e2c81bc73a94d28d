//! The heap: allocation, roots, write barrier, weak references, finalization, collection.
//!
//! This crate is a narrow interface of ours over MMTk; only `src/mmtk/` names MMTk, so that it can be replaced. Objects
//! are scanned precisely by the maps in their vtables; stacks and registers conservatively, which is why neither
//! compiled code nor Rust code has stack maps. Threads stop only at safepoints, so an allocation sequence is never
//! interrupted.
//!
//! The files from the bottom up; none names one of a later row:
//!
//! | files | what they hold |
//! |---|---|
//! | `options`, `available_memory`, `policy`, `stats`, `observer`, `object`, `large`, `client`, `tracer` | numbers, layouts and tables, and the traits of those that a collection calls |
//! | `mmtk`, its lower half; `suppression` | where the heap lies, what is known about an address, the one heap of the process |
//! | `world`, `stack_roots`, `finalize`, `roots`, `ephemeron`, `weak_fields`, `conditional`, `weak`, `snapshot_request` | what a collection does besides tracing: stopping threads, roots, weak references, finalization |
//! | `mmtk`, its upper half | allocating, tracing, the steps of a collection, the start |
//! | `barrier`, `registration`, `heap`, `snapshot` | what the crates above call |
//!
//! Left out: types (the vtable says all that is needed), running finalizers, the handle table (see [`WeakTable`] and
//! [`RootProvider`]), stopping threads (`saki_thread`).

mod available_memory;
pub mod barrier;
mod client;
mod conditional;
mod ephemeron;
mod finalize;
mod heap;
mod large;
mod mmtk;
pub mod object;
mod observer;
mod options;
mod policy;
mod registration;
mod roots;
mod snapshot;
mod snapshot_request;
mod stack_roots;
mod stats;
mod suppression;
mod tracer;
mod weak;
mod weak_fields;
mod world;

pub use client::{
    ConditionalRoots, HeapClient, NoClient, Root, RootKind, RootProvider, StoppedHeap, WeakFate, WeakKind, WeakTable,
};
pub use ephemeron::{is_ephemeron_tombstone, set_ephemeron_tombstone};
pub use finalize::{finalizable_count, next_finalizable};
pub use heap::{
    LARGE_OBJECT_BYTES, add_memory_pressure, alloc_array, alloc_array_in_place, alloc_bytes, alloc_object,
    alloc_string, bind_thread, bytes_allocated, bytes_allocated_by_thread, collect, collections, end, find_object,
    for_each_object, generation_of, heap_bytes_used, heap_layout, init, is_heap_address, options, prefetch_fate,
    sample_allocations, stress_safepoint,
};
pub use object::{bounds_offset_bytes, object_size_bytes};
pub use observer::{
    Collection, EACH, SampledAllocation, Sampler, are_moves_noted, is_each_allocation_told, note_moves, take_moves,
};
pub use options::{FIRST_NURSERY_BYTES, HeapOptions, MAX_GC_THREADS, MAX_NURSERY_BYTES, MIN_NURSERY_BYTES, Stress};
pub use registration::{
    make_all_finalizable, register_finalizer, register_finalizer_again, register_finalizer_once_more,
    suppress_finalizer,
};
pub use roots::{register_root_range, register_root_slots, unregister_roots};
pub use snapshot::{HeapObject, take_snapshot, walk_heap};
pub use stats::{HeapStatistics, PAUSE_BUCKETS, collection_count, statistics};

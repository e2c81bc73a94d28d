//! The binding to MMTk: the only module that names it.
//!
//! Plan: StickyImmix with a non-moving nursery. An old object is one whose mark bit survived (sticky marks); a nursery
//! collection marks what is young and reached and moves nothing; a full collection also evacuates fragmented blocks,
//! around the objects that stack words pin. See Blackburn & McKinley, "Immix" (PLDI 2008) and Demers et al., "Combining
//! generational and conservative garbage collection" (POPL 1990).
//!
//! Invariant: every type of MMTk stays inside; the rest of the crate sees addresses and [`ObjRef`]s. One heap per process.
//! Left out: MMTk's finalizers and reference types (ours are `finalize` and `weak`).

mod active_plan;
mod by_need;
mod chase;
mod collection;
mod huge_pages;
mod in_place;
mod layout;
mod mutator;
mod object_model;
mod residence;
mod scanning;
mod trigger;
mod trim;
mod weak_tracer;
mod zeroing;

pub(crate) use active_plan::{bind_carrier, bind_thread, for_each_finalizable_buffer, unbind_carrier};
pub(crate) use collection::{collect_from_outside, report_from_now_on};
pub(crate) use layout::{LARGE_OBJECT_BYTES, LAYOUT};
pub(crate) use mutator::{
    allocate, allocated_bytes, collect, heap_of, is_in_buffer, is_in_new_object, log_object, push_finalizable,
    stress_safepoint,
};
pub(crate) use object_model::prefetch_fate;

// Named for its feature `release_max_level_off`, which removes MMTk's logging from its inner loops.
use log as _;

use crate::available_memory::default_max_heap_bytes;
use crate::options::{FIRST_NURSERY_BYTES, HeapOptions, MAX_NURSERY_BYTES, MIN_NURSERY_BYTES};
use crate::policy::{HeapPolicy, NurserySizes};
use mmtk::util::heap::vm_layout::VMLayout;
use mmtk::util::options::{GCTriggerSelector, NurserySize, PlanSelector};
use mmtk::util::{Address, ObjectReference, OpaquePointer, VMThread};
use mmtk::vm::slot::{SimpleSlot, UnimplementedMemorySlice};
use mmtk::vm::{ObjectModel, VMBinding};
use mmtk::{MMTK, MMTKBuilder, memory_manager};
use saki_abi::ObjRef;
use saki_os::address_space;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// First address of the heap's range, as in MMTk's 64-bit layout.
pub(crate) const HEAP_START: usize = 0x0200_0000_0000;
/// End of the heap's range: room for seven spaces, of which MMTk uses five.
pub(crate) const HEAP_END: usize = 0x1000_0000_0000;
/// The least heap with which a program starts: the class library's own objects and a nursery of a few blocks.
const MIN_HEAP_BYTES: usize = 4 << 20;
/// Exit code when the system gives no memory: as for everything else without which a program cannot be run.
const EXIT_NO_MEMORY: i32 = 2;

/// Our virtual machine, as MMTk sees it.
#[derive(Default)]
pub(crate) struct Saki;

impl VMBinding for Saki {
    type VMObjectModel = object_model::SakiObjects;
    type VMScanning = scanning::SakiScanning;
    type VMCollection = collection::SakiCollection;
    type VMActivePlan = active_plan::SakiThreads;
    type VMReferenceGlue = object_model::NoReferenceTypes;
    type VMSlot = SimpleSlot;
    type VMMemorySlice = UnimplementedMemorySlice<SimpleSlot>;
    const ALIGNMENT_VALUE: u8 = 0;
    const MIN_ALIGNMENT: usize = 8;
    const MAX_ALIGNMENT: usize = 8;
    const USE_ALLOCATION_OFFSET: bool = false;
    const ALLOC_END_ALIGNMENT: usize = 8;
}

/// The state that `init` makes for the rest of the process.
pub(super) struct Heap {
    pub(super) mmtk: &'static MMTK<Saki>,
    pub(super) options: HeapOptions,
}

static HEAP: OnceLock<Heap> = OnceLock::new();
/// Created before `HEAP`, because building MMTk asks for the trigger.
static POLICY: OnceLock<HeapPolicy> = OnceLock::new();

/// Bases of bit tables with one bit per 8 heap bytes: bit `(a >> 3) & 7` of byte `base + (a >> 6)`. Written once by
/// `init`, before any thread is bound; relaxed loads everywhere.
static MARK_BIT_BASE: AtomicUsize = AtomicUsize::new(0);
static LOG_BIT_BASE: AtomicUsize = AtomicUsize::new(0);
static VO_BIT_BASE: AtomicUsize = AtomicUsize::new(0);

/// Each space has 2 TiB of addresses of its own.
const SPACE_BYTES: usize = 1 << 41;
/// Lowest address that a small and a large object ever had; `usize::MAX` = none yet. MMTk keeps its free lists below
/// the first object of a space. Relaxed: a thread that has a large object's address has synchronised with its
/// allocation.
static LOWEST_SMALL: AtomicUsize = AtomicUsize::new(usize::MAX);
static LOWEST_LARGE: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Notes the address of an object; called for each slow-path allocation.
#[inline]
fn note_address(address: usize, is_large: bool) {
    let lowest = if is_large { &LOWEST_LARGE } else { &LOWEST_SMALL };
    if address < lowest.load(Ordering::Relaxed) {
        lowest.fetch_min(address, Ordering::Relaxed);
    }
    if !is_large {
        huge_pages::note(address, lowest.load(Ordering::Relaxed));
    }
}

/// Whether `address` lies in the space of large objects.
#[inline(always)]
fn in_large_space(address: usize) -> bool {
    address / SPACE_BYTES == LOWEST_LARGE.load(Ordering::Relaxed) / SPACE_BYTES
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

/// Builds the heap and starts the collector threads. Errors: a text that says which option is wrong.
pub(crate) fn init(options: HeapOptions) -> Result<(), String> {
    if options.nursery_bytes.is_some_and(|bytes| bytes < MIN_NURSERY_BYTES) || options.gc_threads == 0 {
        return Err(format!("heap: nursery below {MIN_NURSERY_BYTES} bytes or no collector thread: {options:?}"));
    }
    let max_heap_bytes = options.max_heap_bytes.unwrap_or_else(|| default_max_heap_bytes(4 * MIN_HEAP_BYTES));
    if max_heap_bytes < MIN_HEAP_BYTES {
        return Err(format!(
            "a heap of {max_heap_bytes} bytes is too small: no program runs with less than {MIN_HEAP_BYTES}"
        ));
    }
    if address_space::scarcity().is_some() {
        by_need::enable();
    }
    // A quarter of a small heap, in whole pages: else every collection would have to be a full one.
    let most = (max_heap_bytes / 4).next_multiple_of(4096);
    let (first, largest) =
        options.nursery_bytes.map_or((FIRST_NURSERY_BYTES, MAX_NURSERY_BYTES), |bytes| (bytes, bytes));
    let nursery = NurserySizes { first_bytes: first.min(most), largest_bytes: largest.min(most) };
    if POLICY.set(HeapPolicy::new(nursery, max_heap_bytes)).is_err() {
        return Err("heap: initialised twice".to_owned());
    }
    crate::finalize::set_suppression_table(map_bit_table()?);
    if options.gc_threads == 1 {
        chase::init()?;
    }
    let mut builder = MMTKBuilder::new_no_env_vars();
    builder.set_vm_layout(VMLayout { heap_end: to_address(HEAP_END), ..VMLayout::new_64bit() });
    let moves_everything = options.stress.is_some();
    let set = &mut builder.options;
    // As values: MMTk parses texts with regular expressions, which cost more than the rest of a start's options.
    let settings = [
        ("plan", set.plan.set(PlanSelector::StickyImmix)),
        ("gc_trigger", set.gc_trigger.set(GCTriggerSelector::Delegated)),
        ("nursery", set.nursery.set(NurserySize::Fixed(nursery.largest_bytes))),
        ("threads", set.threads.set(options.gc_threads)),
        ("concurrent_threads", set.concurrent_threads.set(options.gc_threads)),
        ("no_finalizer", set.no_finalizer.set(true)),
        ("no_reference_types", set.no_reference_types.set(true)),
        ("immix_always_defrag", set.immix_always_defrag.set(moves_everything)),
        ("immix_defrag_every_block", set.immix_defrag_every_block.set(moves_everything)),
    ];
    if by_need::is_enabled() {
        set.side_metadata_base_address.set(to_address(by_need::SIDE_TABLES_START));
    }
    for (name, is_accepted) in settings {
        if !is_accepted {
            return Err(format!("heap: MMTk rejects {name} of {options:?}"));
        }
    }
    debug_assert_eq!(*builder.options.plan, PlanSelector::StickyImmix);
    let mmtk: &'static MMTK<Saki> = Box::leak(memory_manager::mmtk_init::<Saki>(&builder));
    assert_eq!(memory_manager::starting_heap_address().as_usize(), HEAP_START, "heap layout of this MMTk");
    assert_eq!(memory_manager::last_heap_address().as_usize(), HEAP_END, "heap layout of this MMTk");
    type Model = object_model::SakiObjects;
    // Relaxed: see the table's comment; HEAP.set below publishes.
    LOG_BIT_BASE
        .store(Model::GLOBAL_LOG_BIT_SPEC.extract_side_spec().get_starting_address().as_usize(), Ordering::Relaxed);
    MARK_BIT_BASE
        .store(Model::LOCAL_MARK_BIT_SPEC.extract_side_spec().get_starting_address().as_usize(), Ordering::Relaxed);
    VO_BIT_BASE.store(mmtk::util::metadata::vo_bit::vo_bit_side_metadata_addr().as_usize(), Ordering::Relaxed);
    assert!(HEAP.set(Heap { mmtk, options }).is_ok(), "POLICY was set once, so init runs once");
    memory_manager::initialize_collection(mmtk, VMThread(OpaquePointer::UNINITIALIZED));
    match collection::worker_failure() {
        Some(error) => Err(format!("no thread for the collector: {error}")),
        None => Ok(()),
    }
}

#[inline]
pub(crate) fn log_bit_base() -> usize {
    LOG_BIT_BASE.load(Ordering::Relaxed)
}

#[inline]
pub(crate) fn vo_bit_base() -> usize {
    VO_BIT_BASE.load(Ordering::Relaxed)
}

/// Maps a table of clear bits, one per 8 bytes of the heap's address range. Only touched pages take memory.
/// Errors: no address space.
fn map_bit_table() -> Result<usize, String> {
    if by_need::is_enabled() {
        return Ok(by_need::bit_table());
    }
    // SAFETY: a fresh private mapping.
    let table = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            by_need::BIT_TABLE_BYTES,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if table == libc::MAP_FAILED {
        return Err(format!("heap: no address space for the collector: {}", saki_os::error::last_error()));
    }
    Ok(table as usize)
}

/// Bit of `address` in the bit table at `base`.
///
/// # Safety
/// `address` lies in memory that the heap has handed out, so that its part of the table is mapped.
#[inline(always)]
unsafe fn table_bit(base: usize, address: usize) -> bool {
    let byte = (base + (address >> 6)) as *const std::sync::atomic::AtomicU8;
    // SAFETY: mapped by this function's contract. Relaxed: the bit orders nothing.
    unsafe { &*byte }.load(Ordering::Relaxed) >> ((address >> 3) & 7) & 1 != 0
}

/// Whether a store into `object` must be reported (it is old and not yet remembered).
///
/// # Safety
/// `object` is a live heap object.
#[inline(always)]
pub(crate) unsafe fn is_unlogged(object: ObjRef) -> bool {
    // SAFETY: heap objects have mapped log bits.
    unsafe { table_bit(log_bit_base(), object.address()) }
}

/// Whether `object` is a small object with its mark bit set: outside collections that means it is old. False for large
/// objects, which have no mark bits (not even mapped ones).
///
/// # Safety
/// `object` is a live heap object.
#[inline(always)]
pub(crate) unsafe fn has_mark_bit(object: ObjRef) -> bool {
    // SAFETY: the space of small objects has its mark bits mapped wherever it is mapped itself.
    !in_large_space(object.address()) && unsafe { table_bit(MARK_BIT_BASE.load(Ordering::Relaxed), object.address()) }
}

/// Where the mark bit of a small object lies; meaningless for large objects.
#[inline(always)]
fn mark_byte_address(object: ObjRef) -> usize {
    MARK_BIT_BASE.load(Ordering::Relaxed) + (object.address() >> 6)
}

/// Whether `object` survived a collection. Not while one runs.
///
/// # Safety
/// `object` is a live heap object.
pub(crate) unsafe fn is_old(object: ObjRef) -> bool {
    if in_large_space(object.address()) {
        // SAFETY: live by this function's contract.
        unsafe { object_model::is_old_large(object) }
    } else {
        // SAFETY: as above.
        unsafe { has_mark_bit(object) }
    }
}

#[inline(always)]
pub(crate) fn in_heap_range(address: usize) -> bool {
    address.wrapping_sub(HEAP_START) < HEAP_END - HEAP_START
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

fn to_address(address: usize) -> Address {
    // SAFETY: an `Address` is a number here; nothing is dereferenced.
    unsafe { Address::from_usize(address) }
}

#[inline(always)]
fn from_reference(object: ObjectReference) -> ObjRef {
    ObjRef(object.to_raw_address().to_mut_ptr())
}

/// # Safety
/// `object` is not null.
#[inline(always)]
unsafe fn to_reference(object: ObjRef) -> ObjectReference {
    // SAFETY: not null by this function's contract; objects are aligned to 8.
    unsafe { ObjectReference::from_raw_address_unchecked(Address::from_mut_ptr(object.0)) }
}

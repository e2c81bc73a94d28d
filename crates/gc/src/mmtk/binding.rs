//! Putting the heap together: the traits by which MMTk calls us, and the start.
//!
//! The top of this folder: nothing here is named from below.

use super::active_plan::SakiThreads;
use super::addresses::{HEAP_END, HEAP_START, to_address};
use super::collection::{SakiCollection, worker_failure};
use super::instance::{self, Saki};
use super::object_model::{NoReferenceTypes, SakiObjects};
use super::scanning::SakiScanning;
use super::{bits, by_need, chase};
use crate::available_memory::default_max_heap_bytes;
use crate::options::{FIRST_NURSERY_BYTES, HeapOptions, MAX_GC_THREADS, MAX_NURSERY_BYTES, MIN_NURSERY_BYTES};
use crate::policy::{HeapPolicy, NurserySizes};
use mmtk::util::heap::vm_layout::VMLayout;
use mmtk::util::options::{GCTriggerSelector, NurserySize, PlanSelector};
use mmtk::util::{OpaquePointer, VMThread};
use mmtk::vm::slot::{SimpleSlot, UnimplementedMemorySlice};
use mmtk::vm::{ObjectModel, VMBinding};
use mmtk::{MMTK, MMTKBuilder, memory_manager};
use saki_os::address_space;

/// The least heap with which a program starts: the class library's own objects and a nursery of a few blocks.
const MIN_HEAP_BYTES: usize = 4 << 20;

impl VMBinding for Saki {
    type VMObjectModel = SakiObjects;
    type VMScanning = SakiScanning;
    type VMCollection = SakiCollection;
    type VMActivePlan = SakiThreads;
    type VMReferenceGlue = NoReferenceTypes;
    type VMSlot = SimpleSlot;
    type VMMemorySlice = UnimplementedMemorySlice<SimpleSlot>;
    const ALIGNMENT_VALUE: u8 = 0;
    const MIN_ALIGNMENT: usize = 8;
    const MAX_ALIGNMENT: usize = 8;
    const USE_ALLOCATION_OFFSET: bool = false;
    const ALLOC_END_ALIGNMENT: usize = 8;
}

/// Builds the heap and starts the collector threads. Errors: a text that says which option is wrong.
pub(crate) fn init(options: HeapOptions) -> Result<(), String> {
    if let Some(bytes) = options.nursery_bytes.filter(|&bytes| bytes < MIN_NURSERY_BYTES) {
        return Err(format!("a nursery of {bytes} bytes is too small: the least is {MIN_NURSERY_BYTES}"));
    }
    if !(1..=MAX_GC_THREADS).contains(&options.gc_threads) {
        return Err(format!("{} collector threads: there can be 1 to {MAX_GC_THREADS}", options.gc_threads));
    }
    let max_heap_bytes = options.max_heap_bytes.unwrap_or_else(|| default_max_heap_bytes(4 * MIN_HEAP_BYTES));
    if max_heap_bytes < MIN_HEAP_BYTES {
        return Err(format!(
            "a heap of {max_heap_bytes} bytes is too small: no program runs with less than {MIN_HEAP_BYTES}"
        ));
    }
    if address_space::scarcity().is_some() || by_need::is_range_occupied() {
        by_need::enable();
    }
    // A quarter of a small heap, in whole pages: else every collection would have to be a full one.
    let most = (max_heap_bytes / 4).next_multiple_of(4096);
    let (first, largest) =
        options.nursery_bytes.map_or((FIRST_NURSERY_BYTES, MAX_NURSERY_BYTES), |bytes| (bytes, bytes));
    let nursery = NurserySizes { first_bytes: first.min(most), largest_bytes: largest.min(most) };
    if !instance::set_policy(HeapPolicy::new(nursery, max_heap_bytes)) {
        return Err("heap: initialised twice".to_owned());
    }
    crate::suppression::set_table(bits::map_bit_table()?);
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
            return Err(format!("the collector does not take this value of its option {name}"));
        }
    }
    debug_assert_eq!(*builder.options.plan, PlanSelector::StickyImmix);
    let mmtk: &'static MMTK<Saki> = Box::leak(memory_manager::mmtk_init::<Saki>(&builder));
    assert_eq!(memory_manager::starting_heap_address().as_usize(), HEAP_START, "heap layout of this MMTk");
    assert_eq!(memory_manager::last_heap_address().as_usize(), HEAP_END, "heap layout of this MMTk");
    bits::set_bases(
        SakiObjects::LOCAL_MARK_BIT_SPEC.extract_side_spec().get_starting_address().as_usize(),
        SakiObjects::GLOBAL_LOG_BIT_SPEC.extract_side_spec().get_starting_address().as_usize(),
        mmtk::util::metadata::vo_bit::vo_bit_side_metadata_addr().as_usize(),
    );
    instance::set(mmtk, options);
    memory_manager::initialize_collection(mmtk, VMThread(OpaquePointer::UNINITIALIZED));
    match worker_failure() {
        Some(error) => Err(format!("no thread for the collector: {error}")),
        None => Ok(()),
    }
}

//! System.GC and System.Runtime.GCSettings.
//!
//! Programs see three generations, as they expect: 0 is the nursery, 1 and 2 are the whole heap. Saki has no regions
//! without collections, no frozen segments and no notifications of collections: the first are refused as for lack of
//! memory, the last as with .NET's concurrent collector. Finalizers run on Saki's own thread, so that managed code does
//! not ask for the next object to be finalized.

use crate::arguments::ObjectPlace;
use crate::fields::set;
use saki_abi::vtable::VTableFlags;
use saki_runtime::object::{exceptions, method_tables};
use saki_runtime::vm::{collection_events, finalizer};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, Word};
use std::sync::atomic::{AtomicI32, Ordering};

const MAX_GENERATION: i32 = 2;

fn max_generation(_t: CurrentThread) -> i32 {
    MAX_GENERATION
}

/// Objects of this size begin in the oldest generation, as programs expect of .NET's heap of large objects.
const LARGE_OBJECT_BYTES: usize = 85_000;

/// The collector's generation 1 is the whole heap.
fn generation_of(t: CurrentThread, object: Option<Obj>) -> Managed<i32> {
    let object = object.ok_or_else(|| exceptions::throw_argument_null(t, "obj"))?;
    // SAFETY: a live object, whose table of methods says how large it is.
    if unsafe { saki_gc::object_size_bytes(object.word()) } >= LARGE_OBJECT_BYTES {
        return Ok(MAX_GENERATION);
    }
    // SAFETY: the object is an argument, so that a managed frame keeps it alive and in place.
    Ok(match unsafe { saki_gc::generation_of(object.word()) } {
        0 => 0,
        _ => MAX_GENERATION,
    })
}

/// `special`: only collections of a kind that Saki does not have, if it is not 0.
fn collection_count(_t: CurrentThread, generation: i32, special: i32) -> i32 {
    if special != 0 || generation > MAX_GENERATION {
        return 0;
    }
    i32::try_from(saki_gc::collection_count(generation.max(0).cast_unsigned())).unwrap_or(i32::MAX)
}

/// Explicit collections of a generation above 0, and of all (-1), free all unreachable objects. A wish to compact the
/// large objects is for one full collection.
fn collect(t: CurrentThread, generation: i32, _mode: i32) {
    let is_full = generation != 0;
    collection_events::collect_for_program(t, is_full);
    if is_full {
        // Relaxed: it publishes no other memory.
        COMPACTION_MODE.store(DEFAULT_COMPACTION, Ordering::Relaxed);
    }
}

/// 10: the last argument says that memory is low, which is no reason to do otherwise.
fn collect_10(t: CurrentThread, generation: i32, mode: i32, _is_memory_low: u8) {
    collect(t, generation, mode);
}

fn wait_for_finalizers(t: CurrentThread) {
    finalizer::wait_for_pending(t);
}

fn re_register(t: CurrentThread, object: ObjectPlace) {
    if let Some(object) = object.get().filter(|object| object.vtable().flags.has(VTableFlags::FINALIZER)) {
        saki_gc::register_finalizer_once_more(t.managed(), object.word());
    }
}

fn suppress(_t: CurrentThread, object: Option<Obj>) {
    if let Some(object) = object.filter(|object| object.vtable().flags.has(VTableFlags::FINALIZER)) {
        saki_gc::suppress_finalizer(object.word());
    }
}

fn total_memory(_t: CurrentThread) -> i64 {
    as_i64(saki_gc::heap_bytes_used())
}

fn as_i64(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

fn allocated_by_thread(t: CurrentThread) -> i64 {
    saki_gc::bytes_allocated_by_thread(t.managed()).cast_signed()
}

fn allocated(t: CurrentThread) -> i64 {
    saki_gc::bytes_allocated(t.managed()).cast_signed()
}

fn add_pressure(_t: CurrentThread, bytes: u64) {
    saki_gc::add_memory_pressure(usize::try_from(bytes).unwrap_or(usize::MAX));
}

/// Pressure only makes a collection come earlier, so nothing has to be taken back.
fn remove_pressure(_t: CurrentThread, _bytes: u64) {}

/// `GC_ALLOC_FLAGS.GC_ALLOC_PINNED_OBJECT_HEAP`.
const PINNED: i32 = 0x40;

/// An array of the type of a handle; its memory is always zeroed.
fn allocate_array<'t>(t: CurrentThread<'t>, handle: isize, length: i32, flags: i32) -> Managed<Array<'t>> {
    let Ok(length) = usize::try_from(length) else {
        return Err(exceptions::throw_default(t, saki_runtime::ExceptionType::Overflow));
    };
    // SAFETY: managed code passes the handle of an array type.
    let ty = unsafe { method_tables::type_of_handle(handle.cast_unsigned()) };
    let Some(element) = ty.element() else { return Err(exceptions::throw_null_reference(t)) };
    if flags & PINNED != 0 {
        return saki_runtime::object::new_array_in_place(t, element, length);
    }
    Array::new(t, element, length)
}

fn allocate_array_place(t: CurrentThread, handle: isize, length: i32, flags: i32, result: ObjectPlace) -> Managed<()> {
    result.set(t, allocate_array(t, handle, length, flags)?);
    Ok(())
}

/// Bytes of the machine's memory, and of the part in use.
fn memory_of_machine() -> (i64, i64) {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let row = |name: &str| -> i64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|rest| rest.split_whitespace().next()).and_then(|word| word.parse::<i64>().ok());
        kib.unwrap_or(0) << 10
    };
    let total = row("MemTotal:");
    (total, total - row("MemAvailable:"))
}

fn memory_info(t: CurrentThread, data: Option<Obj>, _kind: i32) -> Managed<()> {
    let Some(data) = data else { return Err(exceptions::throw_null_reference(t)) };
    let (total, used) = memory_of_machine();
    let heap = as_i64(saki_gc::heap_bytes_used());
    let collections = i64::from(collection_count(t, 0, 0));
    set(t, data, "_totalAvailableMemoryBytes", total)?;
    set(t, data, "_highMemoryLoadThresholdBytes", total / 10 * 9)?;
    set(t, data, "_memoryLoadBytes", used)?;
    set(t, data, "_heapSizeBytes", heap)?;
    set(t, data, "_totalCommittedBytes", heap)?;
    // A GCGenerationInfo: size and fragmentation before the collection, which are not kept, and after it. All that is
    // in use counts for the oldest generation, as in `GC.GetGeneration`.
    set(t, data, "_generationInfo2", [0, 0, heap, 0])?;
    set(t, data, "_finalizationPendingCount", as_i64(saki_gc::finalizable_count()))?;
    set(t, data, "_index", collections)?;
    set(t, data, "_generation", MAX_GENERATION)
}

/// In units of 100 ns.
fn pause_duration(_t: CurrentThread) -> i64 {
    i64::try_from(saki_gc::statistics().pause_total.as_nanos() / 100).unwrap_or(i64::MAX)
}

fn no_percentage(_t: CurrentThread) -> i32 {
    0
}

fn generation_size(t: CurrentThread, generation: i32) -> u64 {
    if generation == MAX_GENERATION { total_memory(t).cast_unsigned() } else { 0 }
}

/// What .NET's segments are by default.
fn segment_size(_t: CurrentThread) -> u64 {
    256 << 20
}

/// `StartNoGCRegionStatus.NotEnoughMemory`: the program gets false.
fn start_region(_t: CurrentThread, _: i64, _: i32, _: i64, _: i32) -> i32 {
    1
}

/// `EndNoGCRegionStatus.NotInProgress`.
fn end_region(_t: CurrentThread) -> i32 {
    1
}

/// `EnableNoGCRegionCallbackStatus.NotStarted`.
fn enable_region_callback(_t: CurrentThread, _: *const (), _: i64) -> i32 {
    1
}

/// `System.GC.GCHeapHardLimitInfo`, in its order.
type HardLimits = [u64; 8];

/// The limits that the program's configuration sets are not Saki's to apply, so they are refused
/// (`RefreshMemoryStatus.HardLimitInvalid`); the machine's memory is looked up each time.
fn refresh_memory_limit(_t: CurrentThread, limits: *const HardLimits) -> i32 {
    const SUCCEEDED: i32 = 0;
    const HARD_LIMIT_INVALID: i32 = 2;
    const NOT_SET: u64 = u64::MAX;
    // SAFETY: structs pass by address, and this one is of eight words.
    let limits = unsafe { limits.read_unaligned() };
    if limits == [NOT_SET; 8] { SUCCEEDED } else { HARD_LIMIT_INVALID }
}

fn register_notification(_t: CurrentThread, _: i32, _: i32) -> bool {
    false
}

fn cancel_notification(_t: CurrentThread) -> bool {
    false
}

/// `GCNotificationStatus.NotApplicable`.
fn wait_for_notification(_t: CurrentThread, _milliseconds: i32) -> i32 {
    4
}

fn generation_budget(_t: CurrentThread, _generation: i32) -> i64 {
    -1
}

/// There are no settings with .NET's names.
fn enumerate_settings(_t: CurrentThread, _dictionary: *const (), _callback: *const ()) {}

fn is_server(_t: CurrentThread) -> bool {
    false
}

/// What the program has set, which changes nothing. Relaxed: they publish no other memory.
static LATENCY_MODE: AtomicI32 = AtomicI32::new(1);
static COMPACTION_MODE: AtomicI32 = AtomicI32::new(DEFAULT_COMPACTION);

/// `GCLargeObjectHeapCompactionMode.Default`.
const DEFAULT_COMPACTION: i32 = 1;

fn latency_mode(_t: CurrentThread) -> i32 {
    // Relaxed: see above.
    LATENCY_MODE.load(Ordering::Relaxed)
}

/// `SetLatencyModeStatus.Succeeded`.
fn set_latency_mode(_t: CurrentThread, mode: i32) -> i32 {
    // Relaxed: see above.
    LATENCY_MODE.store(mode, Ordering::Relaxed);
    0
}

fn compaction_mode(_t: CurrentThread) -> i32 {
    // Relaxed: see above.
    COMPACTION_MODE.load(Ordering::Relaxed)
}

fn set_compaction_mode(_t: CurrentThread, mode: i32) {
    // Relaxed: see above.
    COMPACTION_MODE.store(mode, Ordering::Relaxed);
}

/// Stacks are scanned conservatively, so that blocks on them need no registration.
fn register_frame(_t: CurrentThread, _frame: *const ()) {}

/// The internal calls of `System.GC` and `GCSettings`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net System.GC::GetMemoryInfo", &memory_info),
    InternalCall::new("@net9 System.GC::AllocateNewArray", &allocate_array),
    InternalCall::new("@net10 QCall::GCInterface_AllocateNewArray", &allocate_array_place),
    InternalCall::new("@net QCall::GCInterface_GetTotalMemory", &total_memory),
    InternalCall::new("@net9 QCall::GCInterface_Collect", &collect),
    InternalCall::new("@net10 QCall::GCInterface_Collect", &collect_10),
    InternalCall::new("@net System.GC::GetMaxGeneration", &max_generation),
    InternalCall::new("@net System.GC::_CollectionCount", &collection_count),
    InternalCall::new("@net System.GC::GetSegmentSize", &segment_size),
    InternalCall::new("@net System.GC::GetLastGCPercentTimeInGC", &no_percentage),
    InternalCall::new("@net System.GC::GetGenerationSize", &generation_size),
    InternalCall::new("@net QCall::GCInterface_AddMemoryPressure", &add_pressure),
    InternalCall::new("@net QCall::GCInterface_RemoveMemoryPressure", &remove_pressure),
    InternalCall::new("@net9 System.GC::GetGeneration", &generation_of),
    InternalCall::new("@net10 System.GC::GetGenerationInternal", &generation_of),
    InternalCall::new("@net QCall::GCInterface_WaitForPendingFinalizers", &wait_for_finalizers),
    InternalCall::new("@net10 System.GC::SuppressFinalizeInternal", &suppress),
    InternalCall::new("@net9 System.GC::_SuppressFinalize", &suppress),
    InternalCall::new("@net QCall::GCInterface_ReRegisterForFinalize", &re_register),
    InternalCall::new("@net System.GC::GetAllocatedBytesForCurrentThread", &allocated_by_thread),
    InternalCall::new("@net System.GC::GetTotalAllocatedBytesApproximate", &allocated),
    InternalCall::new("@net QCall::GCInterface_GetTotalAllocatedBytesPrecise", &allocated),
    InternalCall::new("@net System.GC::_RegisterForFullGCNotification", &register_notification),
    InternalCall::new("@net System.GC::_CancelFullGCNotification", &cancel_notification),
    InternalCall::new("@net QCall::GCInterface_WaitForFullGCApproach", &wait_for_notification),
    InternalCall::new("@net QCall::GCInterface_WaitForFullGCComplete", &wait_for_notification),
    InternalCall::new("@net QCall::GCInterface_StartNoGCRegion", &start_region),
    InternalCall::new("@net QCall::GCInterface_EndNoGCRegion", &end_region),
    InternalCall::new("@net QCall::GCInterface_EnableNoGCRegionCallback", &enable_region_callback),
    InternalCall::new("@net QCall::GCInterface_RefreshMemoryLimit", &refresh_memory_limit),
    InternalCall::new("@net QCall::GCInterface_GetGenerationBudget", &generation_budget),
    InternalCall::new("@net System.GC::_GetTotalPauseDuration", &pause_duration),
    InternalCall::new("@net QCall::GCInterface_EnumerateConfigurationValues", &enumerate_settings),
    InternalCall::new("@net System.Runtime.GCSettings::get_IsServerGC", &is_server),
    InternalCall::new("@net System.Runtime.GCSettings::GetGCLatencyMode", &latency_mode),
    InternalCall::new("@net System.Runtime.GCSettings::SetGCLatencyMode", &set_latency_mode),
    InternalCall::new("@net System.Runtime.GCSettings::GetLOHCompactionMode", &compaction_mode),
    InternalCall::new("@net System.Runtime.GCSettings::SetLOHCompactionMode", &set_compaction_mode),
    InternalCall::new("@net System.Runtime.GCFrameRegistration::RegisterForGCReporting", &register_frame),
    InternalCall::new("@net System.Runtime.GCFrameRegistration::UnregisterForGCReporting", &register_frame),
];

//! System.GC.

use crate::arguments::non_null;
use saki_abi::vtable::VTableFlags;
use saki_runtime::vm::finalizer;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, Word, vm};

/// `GC.MaxGeneration`, as Mono's: generation 0 is the nursery, generation 1 the whole heap.
const MAX_GENERATION: i32 = 1;

fn suppress_finalize(t: CurrentThread, object: Option<Obj>) -> Managed<()> {
    let object = non_null(t, object, "obj")?;
    if object.vtable().flags.has(VTableFlags::FINALIZER) {
        saki_gc::suppress_finalizer(object.word());
    }
    Ok(())
}

fn re_register_for_finalize(t: CurrentThread, object: Option<Obj>) -> Managed<()> {
    let object = non_null(t, object, "obj")?;
    if object.vtable().flags.has(VTableFlags::FINALIZER) {
        saki_gc::register_finalizer_again(t.managed(), object.word());
    }
    Ok(())
}

fn ephemeron_tombstone<'t>(t: CurrentThread<'t>) -> Option<Obj<'t>> {
    vm::ephemeron_tombstone(t)
}

/// Needs no list: the vtables of such arrays mark them.
fn register_ephemeron_array(t: CurrentThread, array: Option<Array>) -> Managed<()> {
    non_null(t, array, "array").map(|_| ())
}

fn collection_count(_t: CurrentThread, generation: i32) -> i32 {
    saki_gc::collection_count(generation.max(0) as u32) as i32
}

fn max_generation(_t: CurrentThread) -> i32 {
    MAX_GENERATION
}

fn internal_collect(t: CurrentThread, generation: i32) {
    // Explicit collections of a generation above 0 free all unreachable objects.
    saki_gc::collect(t.managed(), generation != 0);
}

fn wait_for_pending_finalizers(t: CurrentThread) {
    finalizer::wait_for_pending(t);
}

fn generation_of(t: CurrentThread, object: Option<Obj>) -> Managed<i32> {
    let object = non_null(t, object, "obj")?;
    // SAFETY: a live object, which this frame holds.
    Ok(unsafe { saki_gc::generation_of(object.word()) } as i32)
}

fn total_memory(t: CurrentThread, collect_first: bool) -> i64 {
    if collect_first {
        saki_gc::collect(t.managed(), true);
    }
    saki_gc::heap_bytes_used() as i64
}

fn allocated_bytes_for_current_thread(t: CurrentThread) -> i64 {
    saki_gc::bytes_allocated_by_thread(t.managed()) as i64
}

fn record_pressure(_t: CurrentThread, bytes: i64) {
    // A negative number removes pressure. Pressure only makes a collection come earlier, so nothing has to be taken
    // back.
    if let Ok(bytes) = usize::try_from(bytes) {
        saki_gc::add_memory_pressure(bytes);
    }
}

/// The internal calls of `System.GC`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.GC::_SuppressFinalize", &suppress_finalize),
    InternalCall::new("System.GC::_ReRegisterForFinalize", &re_register_for_finalize),
    InternalCall::new("System.GC::get_ephemeron_tombstone", &ephemeron_tombstone),
    InternalCall::new("System.GC::register_ephemeron_array", &register_ephemeron_array),
    InternalCall::new("System.GC::GetCollectionCount", &collection_count),
    InternalCall::new("System.GC::GetMaxGeneration", &max_generation),
    InternalCall::new("System.GC::GetGeneration", &generation_of),
    InternalCall::new("System.GC::InternalCollect", &internal_collect),
    InternalCall::new("System.GC::WaitForPendingFinalizers", &wait_for_pending_finalizers),
    InternalCall::new("System.GC::GetTotalMemory", &total_memory),
    InternalCall::new("System.GC::GetAllocatedBytesForCurrentThread", &allocated_bytes_for_current_thread),
    InternalCall::new("System.GC::RecordPressure", &record_pressure),
];

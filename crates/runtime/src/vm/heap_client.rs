//! The runtime's answers to the collector (`saki_gc::HeapClient`): each method names the module that
//! answers.

use crate::host_events::{CollectionStep, HostEvent, tell_if_wanted};
use crate::references::Obj;
use crate::thread::CurrentThread;
use crate::{
    collectible, collection_events, dynamic_methods, file_pages, finalizer_signal, handles, host_profiler, monitors,
    profile_events, profile_log, thread_names, thread_objects, weak_references,
};
use saki_abi::ObjRef;
use saki_gc::{
    Collection, ConditionalRoots, HeapClient, RootProvider, SampledAllocation, StoppedHeap, WeakFate, WeakKind,
    WeakTable,
};
use saki_os::message_log::{self, Level, LogSubject};
use saki_thread::ManagedThread;

/// See the module header.
pub(crate) struct RuntimeHeapClient;

static ROOTS: [&dyn RootProvider; 3] = [&handles::Roots, &collectible::ASSEMBLIES, &dynamic_methods::DynamicMethods];
static WEAK_TABLES: [&dyn WeakTable; 3] = [&handles::Weak, &Monitors, &dynamic_methods::DynamicMethods];

impl HeapClient for RuntimeHeapClient {
    fn roots(&self) -> &[&'static dyn RootProvider] {
        &ROOTS
    }

    fn weak_tables(&self) -> &[&'static dyn WeakTable] {
        &WEAK_TABLES
    }

    fn conditional_roots(&self) -> Option<&dyn ConditionalRoots> {
        Some(&collectible::ASSEMBLIES)
    }

    fn release(&self, object: ObjRef) -> bool {
        // SAFETY: an object that the collection found dead; its memory is not used again before this returns.
        let object = unsafe { Obj::known(object) };
        let ty = object.ty();
        if ty.universe().internal_thread() == Some(ty) {
            thread_objects::release_dead(object);
            thread_names::free(object);
        } else if let Some(handle) = weak_references::take_handle(object, ty) {
            handles::free_stopped(handle);
        }
        true
    }

    fn wake_finalizer(&self) {
        finalizer_signal::wake();
    }

    fn run_finalizers(&self, _thread: &ManagedThread) -> bool {
        CurrentThread::with(finalizer_signal::wait_for_memory)
    }

    fn world_stops(&self, is_full: bool) {
        tell_if_wanted(HostEvent::Collection(CollectionStep::BeforeStop, is_full));
    }

    fn world_stopped(&self, is_full: bool) {
        profile_events::collection_begins();
        tell_if_wanted(HostEvent::Collection(CollectionStep::Begin, is_full));
    }

    fn allocated(&self, allocation: &SampledAllocation<'_>) {
        profile_events::allocated(allocation);
    }

    fn collected(&self, collection: &Collection) {
        let moves = if saki_gc::are_moves_noted() { saki_gc::take_moves() } else { Vec::new() };
        profile_events::collected(collection, &moves);
        host_profiler::collected(collection, &moves);
        collection_events::collected(collection);
        if finalizer_signal::follows_collections() {
            finalizer_signal::wake();
        }
        if message_log::is_shown(Level::Info, LogSubject::Collector) {
            let kind = if collection.was_full { "GC_MAJOR" } else { "GC_MINOR" };
            let time_ms = collection.pause().as_secs_f64() * 1e3;
            let used_kib = saki_gc::heap_bytes_used() >> 10;
            let text = format_args!("{kind}: time {time_ms:.2}ms, heap in use: {used_kib}K");
            message_log::message(Level::Info, LogSubject::Collector, text);
        }
    }

    fn world_runs(&self, was_full: bool) {
        tell_if_wanted(HostEvent::Collection(CollectionStep::AfterStop, was_full));
        file_pages::after_collection();
    }

    fn full_collection_ended(&self, heap: &StoppedHeap) {
        profile_log::heap_shots::at_full_collection(heap);
    }
}

/// Monitors whose objects have died or moved.
struct Monitors;

impl WeakTable for Monitors {
    fn update_weak(&self, kind: WeakKind, _is_full: bool, fate_of: &mut dyn FnMut(ObjRef) -> WeakFate) {
        if kind == WeakKind::Long {
            monitors::update_weak(fate_of);
        }
    }
}

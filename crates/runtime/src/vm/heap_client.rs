//! The runtime's answers to the collector (`saki_gc::HeapClient`): each method names the module that
//! answers.

use crate::{collectible, dynamic_methods, finalizer, handles, profile_events, profile_log};
use saki_abi::ObjRef;
use saki_gc::{Collection, ConditionalRoots, HeapClient, RootProvider, SampledAllocation, StoppedHeap, WeakTable};

/// See the module header.
pub(crate) struct RuntimeHeapClient;

static ROOTS: [&dyn RootProvider; 2] = [&handles::Roots, &collectible::ASSEMBLIES];
static WEAK_TABLES: [&dyn WeakTable; 3] = [&handles::Weak, &handles::Monitors, &dynamic_methods::DynamicMethods];

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
        handles::release(object);
        true
    }

    fn wake_finalizer(&self) {
        finalizer::wake();
    }

    fn allocated(&self, allocation: &SampledAllocation<'_>) {
        profile_events::allocated(allocation);
    }

    fn collected(&self, collection: &Collection) {
        profile_events::collected(collection);
    }

    fn full_collection_ended(&self, heap: &StoppedHeap) {
        profile_log::heap_shots::at_full_collection(heap);
    }
}

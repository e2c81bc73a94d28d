//! What the collector asks the virtual machine above it, and tells it: one value, given when the heap is made.
//!
//! | When | Calls | World |
//! |---|---|---|
//! | a collection | `roots`, `conditional_roots`, `weak_tables`, `release` | stopped |
//! | at its end | `collected`, `full_collection_ended` | stopped |
//! | after it | `wake_finalizer` | runs |
//! | a sampled allocation | `allocated` | runs; on the allocating thread |
//!
//! Invariant: an implementation neither allocates managed objects nor waits for a safepoint in any of these calls.

use crate::conditional::ConditionalRoots;
use crate::observer::{Collection, SampledAllocation};
use crate::roots::RootProvider;
use crate::snapshot::StoppedHeap;
use crate::weak::WeakTable;
use saki_abi::ObjRef;
use std::sync::OnceLock;

/// See the module header. What is not overridden is not there.
pub trait HeapClient: Sync {
    /// Tables outside the heap that refer to objects. The same at each call.
    fn roots(&self) -> &[&'static dyn RootProvider] {
        &[]
    }

    /// Tables whose references keep nothing alive. The same at each call.
    fn weak_tables(&self) -> &[&'static dyn WeakTable] {
        &[]
    }

    /// Roots that count only while something reached names their owner.
    fn conditional_roots(&self) -> Option<&dyn ConditionalRoots> {
        None
    }

    /// Whether the client does itself what the finalizer of a dead object would do whose vtable has `IS_RELEASED_BY_COLLECTOR`; another object's finalizer may
    /// still see the object. False: the object is finalized as others are.
    fn release(&self, _object: ObjRef) -> bool {
        false
    }

    /// Objects are ready for their finalizers. On a collector thread: may signal the finalizer thread and nothing else.
    fn wake_finalizer(&self) {}

    /// An allocation was sampled (`sample_allocations`).
    fn allocated(&self, _allocation: &SampledAllocation<'_>) {}

    /// A collection is over. On a collector thread.
    fn collected(&self, _collection: &Collection) {}

    /// A full collection is over.
    fn full_collection_ended(&self, _heap: &StoppedHeap) {}
}

/// For programs that use the heap alone.
pub struct NoClient;

impl HeapClient for NoClient {}

static CLIENT: OnceLock<&'static dyn HeapClient> = OnceLock::new();

/// Called when the heap is made, before there are objects. The first one stays.
pub(crate) fn set(client: &'static dyn HeapClient) {
    let _ = CLIENT.set(client);
}

/// That of the heap; before there is one, nobody.
#[inline]
pub(crate) fn client() -> &'static dyn HeapClient {
    match CLIENT.get() {
        Some(client) => *client,
        None => &NoClient,
    }
}

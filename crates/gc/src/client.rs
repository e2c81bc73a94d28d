//! The collector's calls to the virtual machine above it (`HeapClient`): one value, given when the heap is made.
//!
//! | When | Calls | World |
//! |---|---|---|
//! | before a collection | `world_stops` | runs |
//! | then | `world_stopped` | stopped |
//! | a collection | `roots`, `conditional_roots`, `weak_tables`, `release` | stopped |
//! | at its end | `collected`, `full_collection_ended` | stopped |
//! | after it | `world_runs`, `wake_finalizer` | runs |
//! | a sampled allocation | `allocated` | runs; on the allocating thread |
//! | an allocation finds no memory | `run_finalizers` | runs; on the allocating thread |
//!
//! Invariant: an implementation neither allocates managed objects nor waits for a safepoint in any of these calls but
//! `run_finalizers`.

use crate::observer::{Collection, SampledAllocation};
use saki_abi::ObjRef;
use saki_thread::ManagedThread;
use std::ops::Range;
use std::sync::OnceLock;

/// See the module header. The defaults are those of a client without roots, tables or listeners.
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

    /// A dead object's vtable has `IS_RELEASED_BY_COLLECTOR`: the client may release its resources in place of its
    /// finalizer, and returns whether it did. Another object's finalizer may still see the object. False: the object is
    /// finalized as others are.
    fn release(&self, _object: ObjRef) -> bool {
        false
    }

    /// Objects are ready for their finalizers. On a collector thread: may signal the finalizer thread and nothing else.
    fn wake_finalizer(&self) {}

    /// There is no memory for an allocation of `thread`: waits for a limited time until the objects that are ready have
    /// been finalized. False: there were none, or they keep this thread waiting.
    fn run_finalizers(&self, _thread: &ManagedThread) -> bool {
        false
    }

    /// A collection is due: threads are about to be stopped. On a collector thread, while the world runs.
    fn world_stops(&self, _is_full: bool) {}

    /// The world has stopped for a collection, and all objects are where the program put them. On a collector thread.
    fn world_stopped(&self, _is_full: bool) {}

    /// An allocation was sampled (`sample_allocations`).
    fn allocated(&self, _allocation: &SampledAllocation<'_>) {}

    /// A collection is over. On a collector thread.
    fn collected(&self, _collection: &Collection) {}

    /// Threads run again after a collection. On a collector thread.
    fn world_runs(&self, _was_full: bool) {}

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

/// The heap's client; before there is a heap, one that does nothing.
#[inline]
pub(crate) fn client() -> &'static dyn HeapClient {
    match CLIENT.get() {
        Some(client) => *client,
        None => &NoClient,
    }
}

/// The kind of a reference to an object from outside the heap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RootKind {
    /// A static field, at this offset of the statics of a type.
    Static {
        /// Address of the `types::Type`.
        ty: usize,
        offset_bytes: u32,
    },
    /// A thread-static field of [`Root::thread`].
    ThreadStatic {
        /// Number of the thread's block, which leads to the type.
        block: usize,
        offset_bytes: u32,
    },
    /// A strong GC handle.
    Handle,
    /// A GC handle that also keeps its object in place.
    PinnedHandle,
    /// A word that the runtime keeps: literals, type objects, its own objects.
    Cell,
    /// A word of a thread's stack or registers, which may also be a number that looks like a reference.
    Stack,
    /// A root slot of the thread: its Thread object, an exception in flight.
    Thread,
    /// Waits for its finalizer to be run.
    Finalizer,
    /// Memory that was registered as roots.
    Registered,
}

/// A reference from outside the heap.
#[derive(Clone, Copy)]
pub struct Root {
    pub kind: RootKind,
    /// The object that the root holds.
    pub object: ObjRef,
    /// Where the reference lies; 0 = in a table that has no addresses to show.
    pub address: usize,
    /// The thread that the root belongs to, if it belongs to one.
    pub thread: Option<&'static ManagedThread>,
}

/// A table of references outside the heap. Called with the world stopped, on a collector thread; must not block.
pub trait RootProvider: Sync {
    /// A collection begins.
    fn begin(&self, _is_full: bool) {}

    /// Calls `visit` with the address of each slot; a slot holds an object or null and may be updated.
    fn for_each_slot(&self, visit: &mut dyn FnMut(*mut ObjRef));

    /// Calls `visit` with each object that must not move (pinned handles). Objects in slots need not be repeated.
    fn for_each_pinned(&self, _visit: &mut dyn FnMut(ObjRef)) {}

    /// Like `for_each_slot`, for slots that belong to one thread (thread-static blocks).
    fn for_each_thread_slot(&self, _thread: &ManagedThread, _visit: &mut dyn FnMut(*mut ObjRef)) {}

    /// The objects of `for_each_slot` and `for_each_pinned`, null or not, with the kind and place of each reference:
    /// for heap snapshots. Between collections, with the world stopped.
    fn for_each_root(&self, visit: &mut dyn FnMut(Root)) {
        let root = |kind, object, address| Root { kind, object, address, thread: None };
        // SAFETY: a provider's slots are valid.
        self.for_each_slot(&mut |slot| visit(root(RootKind::Cell, unsafe { *slot }, slot as usize)));
        self.for_each_pinned(&mut |object| visit(root(RootKind::PinnedHandle, object, 0)));
    }
}

/// The owners of conditional roots. All calls come with the world stopped, on collector threads; none may block.
pub trait ConditionalRoots: Sync {
    /// A collection begins. Returns the address ranges into which words of objects must point to be shown; None: this
    /// collection decides about no owner.
    fn begin(&self, is_full: bool) -> Option<[Range<usize>; 2]>;
    /// A word of a reached object points into one of the ranges.
    fn saw(&self, word: usize);
    /// Tracing has come to an end: calls `visit` for the slots of owners that turned up since the last call.
    fn for_each_new_slot(&self, visit: &mut dyn FnMut(*mut ObjRef));
    /// Whether the references in thread-static blocks of `owner` (`BlockScan::Conditional`) are no roots: the
    /// collection judges the owner, and gets them from `for_each_new_slot`, or the owner is dead.
    fn holds_back(&self, owner: usize) -> bool;
    /// The collection has judged: owners that did not turn up are dead.
    fn finish(&self);
}

/// When a weak handle loses its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeakKind {
    /// When the target is no longer reachable from roots.
    Short,
    /// When the target is not reachable from objects with pending finalizers either (track resurrection).
    Long,
}

/// What a collection decided about the target of a weak handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeakFate {
    /// Alive, at this address (which may be a new one: store it).
    Alive(ObjRef),
    /// Gone: clear the handle.
    Dead,
}

/// A table of weak handles. The table knows how its slots are encoded; the collector knows which objects live.
pub trait WeakTable: Sync {
    /// Calls `fate_of` with the target of each occupied handle of `kind` and stores the outcome; unless the collection
    /// `is_full`, targets that survived one before may be left out. Called with the world stopped, on a collector
    /// thread; must not block.
    fn update_weak(&self, kind: WeakKind, is_full: bool, fate_of: &mut dyn FnMut(ObjRef) -> WeakFate);
}

/// The heap right after a full collection, with the world stopped.
pub struct StoppedHeap(pub(crate) ());

//! What the runtime tells the profiler of events: what was allocated, thrown, waited for, collected.
//!
//! Invariant: an event that nobody listens to costs a load and a branch, and none is on a path that compiled code takes inline. Names of types are made up once
//! for each type.

use crate::object::type_of;
use crate::thread::Thread;
use crate::vtables::type_of_vtable;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use saki_abi::ObjRef;
use saki_gc::{HeapObserver, SampledAllocation};
use saki_sampler::events::{self, EventKind};
use saki_types::{Ty, collectible};
use std::sync::Arc;
use std::time::Duration;

/// Names of types that live as long as the process, by address.
static NAMES: Mutex<Option<FxHashMap<usize, Arc<str>>>> = Mutex::new(None);

static OBSERVER: HeapObserver = HeapObserver { allocated, collected };

/// Has the heap tell of what `kind` needs; allocations every `mean_bytes` bytes. Before `saki_sampler::start`.
pub fn begin(kind: EventKind, mean_bytes: usize) {
    saki_gc::observe(&OBSERVER);
    if kind == EventKind::Allocation {
        saki_gc::sample_allocations(mean_bytes);
    }
}

/// Ends what `begin` began.
pub fn end() {
    saki_gc::sample_allocations(0);
}

fn name_of(ty: Ty) -> Arc<str> {
    if collectible::owner_of(ty).is_some() {
        return ty.full_name().into();
    }
    let key = std::ptr::from_ref(ty).addr();
    if let Some(name) = NAMES.lock().as_ref().and_then(|names| names.get(&key)) {
        return name.clone();
    }
    let name: Arc<str> = ty.full_name().into();
    NAMES.lock().get_or_insert_default().insert(key, name.clone());
    name
}

fn allocated(allocation: &SampledAllocation<'_>) {
    if !events::is_on(EventKind::Allocation) {
        return;
    }
    // SAFETY: vtables of allocated objects are valid.
    let ty = type_of_vtable(unsafe { &*allocation.vtable });
    events::record(EventKind::Allocation, Some(allocation.thread), allocation.weight_bytes, name_of(ty));
}

fn collected(was_full: bool, pause: Duration) {
    if events::is_on(EventKind::Collection) {
        let label = if was_full { "[full collection]" } else { "[nursery collection]" };
        events::record(EventKind::Collection, None, pause.as_nanos() as u64, label.into());
    }
}

#[inline]
pub(crate) fn is_listening_to_throws() -> bool {
    events::is_on(EventKind::Exception)
}

/// `exception` is being thrown, and has no trace yet.
#[cold]
pub(crate) fn thrown(t: Thread, exception: ObjRef) {
    events::record(EventKind::Exception, Some(t.managed()), 1, name_of(type_of(exception)));
}

/// When the wait for a lock began, if that is asked.
#[inline]
pub(crate) fn lock_wait_begins() -> Option<u64> {
    events::is_on(EventKind::LockWait).then(saki_os::clock::monotonic_ns)
}

/// The wait for the lock of `object` is over.
#[cold]
pub(crate) fn lock_wait_ends(t: Thread, object: ObjRef, began_ns: u64) {
    let waited_ns = saki_os::clock::monotonic_ns() - began_ns;
    events::record(EventKind::LockWait, Some(t.managed()), waited_ns, name_of(type_of(object)));
}

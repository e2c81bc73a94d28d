//! What the runtime tells the profiler of events: what was allocated, thrown, waited for, collected.
//!
//! Invariant: an event that nobody listens to costs a load and a branch, and none is on a path that compiled code takes inline. Names of types are made up once
//! for each type.

use crate::object::type_of;
use crate::thread::Thread;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use saki_abi::ObjRef;
use saki_gc::{HeapObserver, SampledAllocation};
use saki_sampler::events::{self, EventKind, Kinds, Subject};
use saki_types::{Ty, collectible};
use std::sync::Arc;
use std::time::Duration;

/// Names of types that live as long as the process, by address.
static NAMES: Mutex<Option<FxHashMap<usize, Arc<str>>>> = Mutex::new(None);

static OBSERVER: HeapObserver = HeapObserver { allocated, collected };

/// Has the heap tell of what `kinds` need; allocations every `mean_bytes` bytes. Before `saki_sampler::start`.
pub fn begin(kinds: Kinds, mean_bytes: usize) {
    if kinds.is_empty() {
        return;
    }
    saki_gc::observe(&OBSERVER);
    if kinds.contains(EventKind::Allocation) {
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
    let SampledAllocation { thread, object, size_bytes, weight_bytes } = *allocation;
    events::record(
        EventKind::Allocation,
        Some(thread),
        weight_bytes,
        name_of(type_of(object)),
        subject(object, size_bytes),
    );
}

/// `size_bytes` is 0 where nobody asks for it.
fn subject(object: ObjRef, size_bytes: usize) -> Subject {
    // SAFETY: an object, which its caller holds.
    let vtable = unsafe { (*object.0).vtable }.addr();
    Subject::Object { address: object.address(), size_bytes, vtable }
}

fn collected(was_full: bool, pause: Duration) {
    if events::is_on(EventKind::Collection) {
        let label = if was_full { "[full collection]" } else { "[nursery collection]" };
        events::record(
            EventKind::Collection,
            None,
            pause.as_nanos() as u64,
            label.into(),
            Subject::Collection { was_full },
        );
    }
}

#[inline]
pub(crate) fn is_listening_to_throws() -> bool {
    events::is_on(EventKind::Exception)
}

/// `exception` is being thrown, and has no trace yet.
#[cold]
pub(crate) fn thrown(t: Thread, exception: ObjRef) {
    events::record(EventKind::Exception, Some(t.managed()), 1, name_of(type_of(exception)), subject(exception, 0));
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
    events::record(EventKind::LockWait, Some(t.managed()), waited_ns, name_of(type_of(object)), subject(object, 0));
}

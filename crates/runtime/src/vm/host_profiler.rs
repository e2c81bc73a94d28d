//! Telling a host's profiler of types, threads and collections (`object::host_events`).
//!
//! Types are loaded where the host's code may not run: under the loader lock, and in the middle of a compilation, which
//! is in no state that a collection could find. What happens there is told later by the same thread, in order, where it
//! is RUNNING and holds no lock (`tell_deferred`). A type counts as loaded when its parent is: the profiler hears of
//! the parent in between.
//!
//! Left out: where events happen; what the host does with them.

use crate::host_events::{self, HostEvent, HostEventKind, is_wanted, tell, tell_if_wanted};
use crate::thread::CurrentThread;
use crate::thread_data::{self, ThreadData};
use saki_gc::{Collection, Sampler};
use saki_types::{Ty, requests};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Makes exactly these kinds wanted (bits by the numbers of `HostEventKind`), also of the collector.
pub fn want(kinds: u64) {
    host_events::set_wanted(kinds);
    saki_gc::note_moves(Sampler::Host, is_wanted(HostEventKind::ObjectsMoved));
    let is_each = is_wanted(HostEventKind::Allocated);
    saki_gc::sample_allocations(Sampler::Host, if is_each { saki_gc::EACH } else { 0 });
}

/// Whether the host hears of types.
pub fn are_types_awaited() -> bool {
    is_wanted(HostEventKind::TypeLoading)
        || is_wanted(HostEventKind::TypeLoaded)
        || is_wanted(HostEventKind::TypeFailed)
}

/// The record of a type was made.
pub fn type_made(ty: Ty) {
    tell_of_type(HostEventKind::TypeLoading, ty);
}

/// Something has happened to a type: told now or later.
pub(crate) fn tell_of_type(kind: HostEventKind, ty: Ty) {
    let thread = saki_thread::current();
    let data = thread.and_then(thread_data::of_managed);
    let may_tell = !requests::is_in_computation() && thread.is_none_or(|thread| thread.is_running());
    // A thread that is not managed loads types only while the machine starts, and no host's code can run.
    let Some(data) = data else { return };
    if may_tell {
        tell_now(data, kind, ty);
    } else {
        data.types_to_tell.borrow_mut().push((kind, ty));
    }
}

/// Tells what could not be told when it happened.
pub(crate) fn tell_deferred(t: CurrentThread) {
    let data = thread_data::of(t);
    while let Some((kind, ty)) = take_first(data) {
        tell_now(data, kind, ty);
    }
}

fn take_first(data: &ThreadData) -> Option<(HostEventKind, Ty)> {
    let mut waiting = data.types_to_tell.borrow_mut();
    (!waiting.is_empty()).then(|| waiting.remove(0))
}

fn tell_now(data: &ThreadData, kind: HostEventKind, ty: Ty) {
    match kind {
        HostEventKind::TypeLoading => type_loaded(data, ty),
        HostEventKind::VTableLoading => tell_if_wanted(HostEvent::VTableLoading(ty)),
        HostEventKind::VTableLoaded => tell_if_wanted(HostEvent::VTableLoaded(ty)),
        _ => tell_if_wanted(HostEvent::VTableFailed(ty)),
    }
}

fn type_loaded(data: &ThreadData, ty: Ty) {
    tell_if_wanted(HostEvent::TypeLoading(ty));
    match ty.parent() {
        Ok(parent) => {
            if let Some(parent) = parent {
                let is_parent =
                    |waiting: &(HostEventKind, Ty)| waiting.0 == HostEventKind::TypeLoading && waiting.1 == parent;
                let place = data.types_to_tell.borrow().iter().position(is_parent);
                if let Some(place) = place {
                    data.types_to_tell.borrow_mut().remove(place);
                    type_loaded(data, parent);
                }
            }
            tell_if_wanted(HostEvent::TypeLoaded(ty));
        }
        Err(_) => tell_if_wanted(HostEvent::TypeFailed(ty)),
    }
}

/// The calling thread has become managed; its name, if it has one.
pub fn thread_started(t: CurrentThread) {
    tell_if_wanted(HostEvent::ThreadStarted);
    if is_wanted(HostEventKind::ThreadNamed)
        && let Some(name) = t.managed().name()
    {
        tell(HostEvent::ThreadNamed(t.id(), &name));
    }
}

/// The calling thread runs no managed code any more.
pub(crate) fn thread_stops() {
    tell_if_wanted(HostEvent::ThreadStopping);
}

/// The calling thread's objects say that it has ended.
pub(crate) fn thread_stopped() {
    tell_if_wanted(HostEvent::ThreadStopped);
    tell_if_wanted(HostEvent::ThreadExited);
}

/// The calling thread, which has no objects that say so, ends.
pub fn thread_ended() {
    thread_stops();
    thread_stopped();
}

/// The heap's size after the collection before. Relaxed: collections use it, one after the other.
static HEAP_BYTES: AtomicUsize = AtomicUsize::new(0);

/// A collection is over. The world is stopped.
pub(crate) fn collected(collection: &Collection, moves: &[(usize, usize)]) {
    if !moves.is_empty() {
        tell_if_wanted(HostEvent::ObjectsMoved(moves));
    }
    tell_if_wanted(HostEvent::Collection(host_events::CollectionStep::End, collection.was_full));
    if is_wanted(HostEventKind::HeapResized) {
        let bytes = saki_gc::heap_bytes_used();
        if HEAP_BYTES.swap(bytes, Ordering::Relaxed) != bytes {
            tell(HostEvent::HeapResized(bytes));
        }
    }
}

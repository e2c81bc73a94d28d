//! Queues of `mono/metadata/object.h` that tell the host of objects that were collected.

use crate::call::{call, in_host_code, some};
use crate::counters;
use crate::host_functions::{self, ReferenceQueue};
use saki_abi::ObjRef;
use saki_runtime::object::handles;
use saki_runtime::vm::finalizer;
use saki_runtime::{CurrentThread, Obj};
use saki_sync::handle_table::{Handle, HandleKind};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of the last queue. Relaxed: numbers differ, and nothing else.
static LAST_NUMBER: AtomicUsize = AtomicUsize::new(0);

/// What the host has for a queue: its number.
#[repr(transparent)]
pub struct MonoReferenceQueue(*mut c_void);

fn with_queue<R>(queue: &MonoReferenceQueue, body: impl FnOnce(&mut ReferenceQueue) -> R) -> Option<R> {
    let number = queue.0.addr();
    host_functions::with(|functions| {
        functions.reference_queues.iter_mut().find(|queue| queue.number == number).map(body)
    })
}

/// A queue whose function is called, on the finalizer's thread, with the data of each watched object that was
/// collected.
///
/// # Safety
/// The function may be called with what objects are added with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_gc_reference_queue_new(
    callback: unsafe extern "C" fn(*mut c_void),
) -> MonoReferenceQueue {
    let number = LAST_NUMBER.fetch_add(1, Ordering::Relaxed) + 1;
    let queue = ReferenceQueue { number, callback, entries: Vec::new(), is_ending: false };
    host_functions::with(|functions| functions.reference_queues.push(queue));
    finalizer::follow_collections();
    MonoReferenceQueue(ptr::without_provenance_mut(number))
}

/// Watches an object: 1, or 0 if the queue was freed. The object counts as collected when nothing can reach it any
/// more, also by its finalizer.
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_gc_reference_queue_add(
    queue: MonoReferenceQueue,
    object: ObjRef,
    data: *mut c_void,
) -> c_int {
    const FUNCTION: &str = "mono_gc_reference_queue_add";
    call(FUNCTION, |t| {
        // SAFETY: the host's object.
        let object = unsafe { some(FUNCTION, object) };
        let Some(handle) = handles::allocate(t, HandleKind::WeakTrack, object) else {
            crate::machine::end(FUNCTION, "finds no memory for a handle")
        };
        let is_added = with_queue(&queue, |queue| {
            if !queue.is_ending {
                queue.entries.push((handle, data.expose_provenance()));
            }
            !queue.is_ending
        });
        if is_added != Some(true) {
            // The handle was this function's alone.
            let _ = handles::free(t, handle);
        }
        c_int::from(is_added == Some(true))
    })
}

/// Ends a queue: on the finalizer's thread, its function is called for all objects that are still watched.
#[unsafe(no_mangle)]
pub extern "C" fn mono_gc_reference_queue_free(queue: MonoReferenceQueue) {
    with_queue(&queue, |queue| queue.is_ending = true);
}

fn is_dead(t: CurrentThread, handle: Handle) -> bool {
    !matches!(Obj::of_handle(t, handle), Ok(Some(_)))
}

/// A collection is over; on the finalizer's thread.
pub(crate) fn after_collection(t: CurrentThread) {
    tell_of_dead(t);
    in_host_code(counters::check_heap);
}

/// The machine ends: all objects count as dead.
pub(crate) fn end(t: CurrentThread) {
    host_functions::with(|functions| functions.reference_queues.iter_mut().for_each(|queue| queue.is_ending = true));
    tell_of_dead(t);
}

fn tell_of_dead(t: CurrentThread) {
    let mut dead = Vec::new();
    host_functions::with(|functions| {
        for queue in &mut functions.reference_queues {
            let is_over = |entry: &mut (Handle, usize)| queue.is_ending || is_dead(t, entry.0);
            let callback = queue.callback;
            dead.extend(queue.entries.extract_if(.., is_over).map(|(handle, data)| (callback, handle, data)));
        }
        functions.reference_queues.retain(|queue| !queue.is_ending);
    });
    for (callback, handle, data) in dead {
        // The handle was this file's alone.
        let _ = handles::free(t, handle);
        // SAFETY: the host's function and its data.
        in_host_code(|| unsafe { callback(ptr::with_exposed_provenance_mut(data)) });
    }
}

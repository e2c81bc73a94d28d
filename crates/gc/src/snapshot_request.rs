//! The request for a heap snapshot, which the next full collection answers.
//!
//! Left out: reading the stopped heap (`snapshot`).

use crate::client::{StoppedHeap, client};
use saki_base::locks::{Mutex, rank};

/// Collections asked for until one is a full one: a request may join a nursery collection that was about to begin,
/// after which the next one is full.
const MAX_ATTEMPTS: usize = 5;

/// The function that the next full collection is to call.
struct Inspector(*mut (dyn FnMut(&StoppedHeap) + Send));

// SAFETY: points to a closure that is `Send`, and that `request` borrows until it has taken the pointer out of
// `REQUESTED` again.
unsafe impl Send for Inspector {}

static REQUESTED: Mutex<rank::SnapshotRequest, Option<Inspector>> = Mutex::new(None);

/// Runs `collect`, again and again, until a full collection has called `inspect`; `collect` waits for a collection.
/// False: there was no full collection, and no call. One request at a time.
pub(crate) fn request(inspect: &mut (dyn FnMut(&StoppedHeap) + Send), collect: impl Fn()) -> bool {
    // SAFETY: the cast removes only the lifetime. The collection calls the closure while this function waits, and no
    // thread has it when this function returns.
    let inspector: *mut (dyn FnMut(&StoppedHeap) + Send + 'static) = unsafe { std::mem::transmute(inspect) };
    *REQUESTED.lock() = Some(Inspector(inspector));
    let is_answered = (0..MAX_ATTEMPTS).any(|_| {
        collect();
        !is_wanted()
    });
    *REQUESTED.lock() = None;
    is_answered
}

/// Whether the next collection is to be a full one.
pub(crate) fn is_wanted() -> bool {
    REQUESTED.lock().is_some()
}

/// The collection is over, and the world is about to be resumed.
pub(crate) fn answer(is_full: bool) {
    if !is_full {
        return;
    }
    client().full_collection_ended(&StoppedHeap(()));
    // Under the lock: a thread that waits for the call must not find the request gone before the call has returned.
    let mut requested = REQUESTED.lock();
    if let Some(Inspector(inspect)) = requested.take() {
        // SAFETY: `request` waits, with this valid and used by nobody else.
        unsafe { (*inspect)(&StoppedHeap(())) };
    }
}

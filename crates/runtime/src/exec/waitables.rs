//! Waitable objects, which WaitHandle waits for: events, mutexes, semaphores, and objects that end once (processes).
//!
//! A program names an object by a handle (`table`). Named objects are known in this process only, as in Mono. The files
//! from the bottom up: `object`, `table`, `waiting`, `report`; here are the operations on handles. Left out: how the
//! thread waits (`waits`).

mod object;
mod report;
mod table;
#[cfg(test)]
mod tests;
mod waiting;

pub use object::{ABANDONED, Kind, KindName};
pub(crate) use report::{awaited, wakers};
pub use table::{OpenError, SignalError};
pub use waiting::{Begin, Waiting, begin};

use saki_thread::child_locks;
use std::sync::atomic::Ordering;
use table::{INDEX_MASK, OWNED_COUNT, TABLE, Woken, wake};

/// The result of `create`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Created {
    New(usize),
    /// Another reference to the object that has the name already.
    Existing(usize),
    /// The name belongs to an object of another kind.
    NameTaken,
}

/// Before a fork: threads that are not stopped, such as the watcher of processes, change nothing.
pub fn hold_for_fork() {
    child_locks::hold(&TABLE);
}

/// In the parent.
pub fn release_after_fork() {
    child_locks::release(&TABLE);
}

/// In a forked child, which does not have the threads that wait. Mutexes that they own stay theirs.
pub fn begin_child() {
    child_locks::revive(&TABLE);
    for slot in &mut TABLE.lock().slots {
        if let Some(object) = &mut slot.object {
            object.waits.clear();
        }
    }
}

/// Makes an object, or opens the one with this name. A new mutex with an owner is owned once.
pub fn create(kind: Kind, name: Option<String>) -> Created {
    let mut table = TABLE.lock();
    if let Some(name) = &name {
        match table.open(name, kind.name()) {
            Ok(handle) => return Created::Existing(handle),
            Err(OpenError::NameTaken) => return Created::NameTaken,
            Err(OpenError::UnknownName) => {}
        }
    }
    let owner = match kind {
        Kind::Mutex { owner, .. } => owner,
        _ => 0,
    };
    let handle = table.insert(kind, name);
    if owner != 0 {
        table.own(owner, handle & INDEX_MASK);
    }
    Created::New(handle)
}

/// A new object without a name.
pub fn create_unnamed(kind: Kind) -> usize {
    TABLE.lock().insert(kind, None)
}

/// Opens another reference to the object with this name.
///
/// # Errors
/// No object has the name, or the object has another kind.
pub fn open(name: &str, kind: KindName) -> Result<usize, OpenError> {
    TABLE.lock().open(name, kind)
}

/// Counts another handle. False when `handle` is not a waitable object's.
pub fn add_reference(handle: usize) -> bool {
    let mut table = TABLE.lock();
    let slot = table.slot_of(handle);
    match slot.and_then(|slot| table.object(slot)) {
        Some(object) => {
            object.references += 1;
            true
        }
        None => false,
    }
}

/// Whether `handle` is a waitable object's and not closed.
pub fn is_open(handle: usize) -> bool {
    TABLE.lock().slot_of(handle).is_some()
}

/// Gives a handle back. False when it is unknown.
pub fn close(handle: usize) -> bool {
    let mut table = TABLE.lock();
    match table.slot_of(handle) {
        Some(slot) => {
            table.release(slot);
            true
        }
        None => false,
    }
}

/// Sets an event, releases a semaphore or mutex once, or marks an object as ended.
///
/// # Errors
/// See `SignalError`.
pub fn signal(handle: usize, thread_id: u32) -> Result<(), SignalError> {
    let mut woken = Woken::default();
    let result = {
        let mut table = TABLE.lock();
        match table.slot_of(handle) {
            Some(slot) => table.signal(slot, thread_id, &mut woken),
            None => Err(SignalError::UnknownHandle),
        }
    };
    wake(woken);
    result
}

/// Sets or resets an event. False when the handle is no event's.
pub fn set_event(handle: usize, signalled: bool) -> bool {
    let mut woken = Woken::default();
    let known = {
        let mut table = TABLE.lock();
        let slot = table.slot_of(handle);
        match slot.and_then(|slot| table.object(slot)).map(|object| &mut object.kind) {
            Some(Kind::Event { is_set, .. }) => {
                *is_set = signalled;
                if signalled && let Some(slot) = slot {
                    table.serve(slot, &mut woken);
                }
                true
            }
            _ => false,
        }
    };
    wake(woken);
    known
}

/// Adds to a semaphore, and returns the count before.
///
/// # Errors
/// `TooManyPosts` (with the count) when it would exceed its maximum, `UnknownHandle`.
pub fn release_semaphore(handle: usize, add: i32) -> Result<i32, (SignalError, i32)> {
    let mut woken = Woken::default();
    let result = {
        let mut table = TABLE.lock();
        let slot = table.slot_of(handle);
        match slot.and_then(|slot| table.object(slot)).map(|object| &mut object.kind) {
            Some(Kind::Semaphore { count, max }) => {
                let before = *count;
                match before.checked_add(add).filter(|sum| add >= 0 && sum <= max) {
                    Some(sum) => {
                        *count = sum;
                        if let Some(slot) = slot {
                            table.serve(slot, &mut woken);
                        }
                        Ok(before)
                    }
                    None => Err((SignalError::TooManyPosts, before)),
                }
            }
            _ => Err((SignalError::UnknownHandle, 0)),
        }
    };
    wake(woken);
    result
}

/// Releases a mutex once.
///
/// # Errors
/// `NotOwner`, `UnknownHandle`.
pub fn release_mutex(handle: usize, thread_id: u32) -> Result<(), SignalError> {
    let is_mutex = {
        let mut table = TABLE.lock();
        let slot = table.slot_of(handle);
        slot.and_then(|slot| table.object(slot)).is_some_and(|object| object.kind.name() == KindName::Mutex)
    };
    if is_mutex { signal(handle, thread_id) } else { Err(SignalError::UnknownHandle) }
}

/// Abandons the mutexes of a thread that ends; a thread that acquires one learns that it was abandoned.
pub fn abandon_mutexes(thread_id: u32) {
    if OWNED_COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let mut woken = Woken::default();
    {
        let mut table = TABLE.lock();
        let owned = table.owned.remove(&thread_id).unwrap_or_default();
        OWNED_COUNT.fetch_sub(owned.len(), Ordering::Relaxed);
        for slot in owned {
            if let Some(Kind::Mutex { owner, depth, is_abandoned }) = table.object(slot).map(|object| &mut object.kind)
            {
                (*owner, *depth, *is_abandoned) = (0, 0, true);
                table.serve(slot, &mut woken);
            }
        }
    }
    wake(woken);
}

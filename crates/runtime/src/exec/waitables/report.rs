//! What a stopped thread waits for, for dumps.

use super::object::{Kind, Object, PENDING, Wait};
use super::table::TABLE;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The time that a dump waits for the table, with the world stopped. The table is held for some instructions; a dump
/// does without it rather than let the program wait.
const REPORT_PATIENCE: Duration = Duration::from_millis(100);

/// What a thread waits for, by `Waiting::address`, which is its wait target in `WaitState::Handle`: a description
/// ("mutex 3"), and the managed ids of the threads without which the wait does not end. None if it is not known.
///
/// # Safety
/// The world is stopped, and the thread whose target it is is in such a wait.
pub(crate) unsafe fn awaited(address: usize) -> Option<(String, Vec<u32>)> {
    // SAFETY: the contract is the same.
    let wait = unsafe { record_at(address) }?;
    let mut table = TABLE.try_lock_for(REPORT_PATIENCE)?;
    let slots = wait.slots.as_slice();
    let (mut holders, mut names, mut mutex_count) = (Vec::new(), Vec::new(), 0);
    for &slot in slots {
        let object = table.object(slot)?;
        let kind = match object.kind {
            Kind::Event { .. } => "event",
            Kind::Semaphore { .. } => "semaphore",
            Kind::Ending { .. } => "the end of process",
            Kind::Mutex { owner, .. } => {
                mutex_count += 1;
                if owner != 0 && !holders.contains(&owner) {
                    holders.push(owner);
                }
                "mutex"
            }
        };
        let name = object.name.as_ref().map_or(String::new(), |name| format!(" {name:?}"));
        names.push(format!("{kind} {slot}{name}"));
    }
    let is_any = !wait.for_all && slots.len() > 1;
    if is_any && (mutex_count < slots.len() || holders.len() != 1) {
        // Several threads can end the wait.
        holders.clear();
    }
    let what = if is_any { "any of " } else { "" };
    Some((format!("{what}{}", names.join(", ")), holders))
}

/// # Safety
/// As for `awaited`.
unsafe fn record_at<'a>(address: usize) -> Option<&'a Wait> {
    // SAFETY: null, or the record of a `Waiting` that lives, by the caller's promise.
    unsafe { (address as *const Wait).as_ref() }
}

/// What can end a wait for handles.
pub(crate) struct Wakers {
    /// The handles of events and semaphores, through which any thread that has one can signal them.
    pub handles: Vec<usize>,
    /// The owners of mutexes, by managed id.
    pub owners: Vec<u32>,
    /// The wait ends by itself: it is satisfied, a mutex is free, another process can end it, or it is not known.
    pub is_certain: bool,
}

/// What can end the wait whose record is at `address`, as of `awaited`. A wait for all objects counts as one for any.
///
/// # Safety
/// The world is stopped, and the thread whose target it is is in such a wait.
pub(crate) unsafe fn wakers(address: usize) -> Wakers {
    let mut wakers = Wakers { handles: Vec::new(), owners: Vec::new(), is_certain: true };
    // SAFETY: the contract is the same.
    let Some(wait) = (unsafe { record_at(address) }) else { return wakers };
    let Some(table) = TABLE.try_lock_for(REPORT_PATIENCE) else { return wakers };
    // Relaxed: outcomes change under the table's lock.
    wakers.is_certain = wait.outcome.load(Ordering::Relaxed) != PENDING;
    for &slot in wait.slots.as_slice() {
        match table.slots.get(slot).and_then(|slot| slot.object.as_ref()) {
            Some(Object { kind: Kind::Event { .. } | Kind::Semaphore { .. }, name: None, .. }) => {
                wakers.handles.push(table.handle_of(slot));
            }
            Some(Object { kind: Kind::Mutex { owner, .. }, .. }) if *owner != 0 => wakers.owners.push(*owner),
            _ => wakers.is_certain = true,
        }
    }
    wakers
}

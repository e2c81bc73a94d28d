//! What a stopped thread waits for, for dumps.

use super::object::{Kind, Wait};
use super::table::TABLE;
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
    // SAFETY: null, or the record of a `Waiting` that lives, by the caller's promise.
    let wait = unsafe { (address as *const Wait).as_ref() }?;
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

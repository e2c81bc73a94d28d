//! Waits of threads for objects: beginning one, whether it is satisfied, leaving it.

use super::object::{LEFT, PENDING, SlotList, Wait};
use super::table::{SignalError, TABLE, Woken, wake};
use saki_thread::ManagedThread;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The outcome of beginning a wait.
pub enum Begin {
    /// The index of the object, perhaps plus `ABANDONED`.
    Satisfied(u32),
    UnknownHandle,
    /// Two handles of a wait for all are the same.
    Duplicate,
    /// Not satisfied yet: wait until `is_satisfied`, then call `end`.
    Waiting(Waiting),
}

/// A wait in the queues of its objects; dropping it removes it from them.
pub struct Waiting(Arc<Wait>);

impl Waiting {
    /// The address of the wait's record, for `awaited`.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Whether the wait was satisfied.
    pub fn is_satisfied(&self) -> bool {
        // Acquire: pairs with `serve`.
        self.0.outcome.load(Ordering::Acquire) != PENDING
    }

    /// Leaves the queues, and returns the outcome if the wait was satisfied.
    pub fn end(self) -> Option<u32> {
        self.leave()
    }

    fn leave(&self) -> Option<u32> {
        // Acquire: pairs with `serve`, which has taken a satisfied wait out of the queues.
        match self.0.outcome.load(Ordering::Acquire) {
            PENDING => self.leave_queues(),
            LEFT => None,
            outcome => Some(outcome),
        }
    }

    #[cold]
    fn leave_queues(&self) -> Option<u32> {
        let mut table = TABLE.lock();
        // Relaxed: the lock orders it.
        match self.0.outcome.load(Ordering::Relaxed) {
            PENDING => {
                // The wait is in no queue any more, so no other thread sets the outcome after this.
                self.0.outcome.store(LEFT, Ordering::Relaxed);
                table.remove(&self.0);
                None
            }
            outcome => Some(outcome),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Begins a wait of the current thread. `signal_first`: an object to signal in the same step. `is_poll`: do not wait.
///
/// # Errors
/// What signalling `signal_first` gave.
pub fn begin(
    thread: &'static ManagedThread,
    handles: &[usize],
    for_all: bool,
    is_poll: bool,
    signal_first: Option<usize>,
) -> Result<Begin, SignalError> {
    let thread_id = thread.managed_id();
    let mut woken = Woken::default();
    let mut table = TABLE.lock();
    let slots = match *handles {
        [handle] => table.slot_of(handle).map(|slot| SlotList::One([slot])),
        _ => handles.iter().map(|&handle| table.slot_of(handle)).collect::<Option<_>>().map(SlotList::Many),
    };
    let Some(slots) = slots else { return Ok(Begin::UnknownHandle) };
    let has_duplicates = |slots: &[usize]| (1..slots.len()).any(|end| slots[..end].contains(&slots[end]));
    if for_all && has_duplicates(slots.as_slice()) {
        return Ok(Begin::Duplicate);
    }
    if let Some(handle) = signal_first {
        let slot = table.slot_of(handle).ok_or(SignalError::UnknownHandle)?;
        table.signal(slot, thread_id, &mut woken)?;
    }
    let begun = match table.satisfy(slots.as_slice(), for_all, thread_id) {
        Some(outcome) => Begin::Satisfied(outcome),
        None => {
            let ticket = table.next_ticket;
            table.next_ticket += 1;
            let wait = Arc::new(Wait { ticket, thread, slots, for_all, outcome: AtomicU32::new(PENDING) });
            if !is_poll {
                for &slot in wait.slots.as_slice() {
                    if let Some(object) = table.object(slot) {
                        object.references += 1;
                        object.waits.insert(ticket, wait.clone());
                    }
                }
            } else {
                // Relaxed: the wait is in no queue, so no other thread has it.
                wait.outcome.store(LEFT, Ordering::Relaxed);
            }
            Begin::Waiting(Waiting(wait))
        }
    };
    drop(table);
    wake(woken);
    Ok(begun)
}

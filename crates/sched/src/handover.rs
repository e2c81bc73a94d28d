//! Slots that change hands: taken from a worker whose thread is in native code, got back by it, given away by a thread
//! that yields.
//!
//! A worker whose thread stays in native code is *taken*: it loses its slot, which another worker gets. When the thread
//! leaves native code it takes a free slot, or moves to the queue of threads that no worker has; its worker then sleeps
//! like the others.

use crate::carriers::wake_one;
use crate::dispatch::{self, Dispatch};
use crate::green::Green;
use crate::parts::{has_injected, injector, preempted, slots};
use crate::runnable::spill;
use crate::slots::{Reclaimed, SlotHolder};
use crate::switch::leave;
use crate::watcher_sleep::note_work;
use crate::worker::{After, Worker, here};
use saki_thread::{ManagedThread, POLL_TAKEN};
use std::sync::atomic::{AtomicU64, Ordering};

/// Carriers taken from threads in native code. Relaxed: a number for reports.
static TAKEN_COUNT: AtomicU64 = AtomicU64::new(0);
/// Turns that ended because others waited. Relaxed: a number for reports.
static YIELD_COUNT: AtomicU64 = AtomicU64::new(0);

/// A thread on a worker, whose slot can be taken while it is in native code.
struct OnWorker {
    worker: &'static Worker,
    thread: &'static ManagedThread,
}

impl SlotHolder for OnWorker {
    fn is_safe(&self) -> bool {
        let present = self.worker.carrier().and_then(|carrier| carrier.current());
        present.is_some_and(|present| std::ptr::eq(present, self.thread)) && self.thread.is_safe()
    }

    fn ask(&self) {
        self.thread.set_poll(POLL_TAKEN);
    }

    fn withdraw(&self) {
        self.thread.clear_poll(POLL_TAKEN);
    }
}

/// Gives the slot of a worker whose thread is in native code to another worker. Returns whether it did.
pub(crate) fn take(worker: &'static Worker) -> bool {
    let present = worker.carrier().and_then(|carrier| carrier.current());
    let Some(thread) = present.filter(|thread| thread.is_green()) else { return false };
    let taken = slots().take_from(&worker.slot, &OnWorker { worker, thread });
    note_taken(worker, taken);
    taken.is_some()
}

/// See `Slots::take_from`.
fn note_taken(worker: &'static Worker, taken: Option<bool>) {
    let Some(is_free) = taken else { return };
    TAKEN_COUNT.fetch_add(1, Ordering::Relaxed);
    spill(worker);
    if is_free {
        wake_one();
    }
}

/// See `SchedulerHooks`.
pub(crate) fn about_to_block(thread: &'static ManagedThread) {
    let Some(worker) = here() else { return };
    if worker.is_active() && (worker.has_next() || worker.has_queued() || has_injected()) {
        note_taken(worker, slots().give_own(&worker.slot, &OnWorker { worker, thread }));
    }
}

/// See `SchedulerHooks`.
pub(crate) fn reclaim(thread: &'static ManagedThread) {
    let (Some(worker), Some(green)) = (here(), Green::of(thread)) else { return };
    let ready_ns = dispatch::ready_now();
    match slots().reclaim(&worker.slot, &OnWorker { worker, thread }, thread.is_pinned()) {
        Reclaimed::Slot => note_work(),
        Reclaimed::Wait(seen) => {
            note_work();
            worker.slot.wait_for_activation(seen);
        }
        Reclaimed::Nothing => {
            thread.become_waiting();
            leave(green, After::Requeue);
            thread.end_waiting();
        }
    }
    dispatch::tell(thread, Dispatch::CarrierTaken, ready_ns);
}

/// See `SchedulerHooks`.
pub(crate) fn yield_now(thread: &'static ManagedThread) {
    let (Some(worker), Some(green)) = (here(), Green::of(thread)) else { return };
    if worker.has_next() || worker.has_queued() || has_injected() {
        YIELD_COUNT.fetch_add(1, Ordering::Relaxed);
        let ready_ns = dispatch::ready_now();
        if thread.is_pinned() {
            thread.blocking_in_place(|| wait_for_next_slot(worker));
        } else {
            thread.waiting(|| leave(green, After::Yield));
        }
        dispatch::tell(thread, Dispatch::Yielded, ready_ns);
    }
}

/// For a pinned thread: its worker's slot goes to another one, and it waits until there is one for it again.
fn wait_for_next_slot(worker: &'static Worker) {
    spill(worker);
    // Threads in the queues and pinned ones take turns: otherwise pinned threads that compute would hand slots to each
    // other for ever.
    let is_for_queues = !injector().is_empty() || !preempted().is_empty();
    let (seen, is_free) = slots().wait_for_turn(&worker.slot, is_for_queues);
    if is_free {
        wake_one();
    }
    worker.slot.wait_for_activation(seen);
}

/// How many slots were taken, and how many turns ended because others waited.
pub(crate) fn counts() -> (u64, u64) {
    (TAKEN_COUNT.load(Ordering::Relaxed), YIELD_COUNT.load(Ordering::Relaxed))
}

//! The list of workers, and the threads that wait in their queues.

use crate::green::Green;
use crate::parts::has_injected;
use crate::worker::Worker;
use saki_base::locks::rank;
use saki_sync::word_locks::RwLock;
use saki_thread::child_locks;
use std::sync::atomic::{AtomicU64, Ordering};

static WORKERS: RwLock<rank::Workers, Vec<&'static Worker>> = RwLock::new(Vec::new());

/// Threads stolen. Relaxed: a number for reports.
static STOLEN_COUNT: AtomicU64 = AtomicU64::new(0);

/// The worker's OS thread is attached.
pub(crate) fn enlist(worker: &'static Worker) {
    WORKERS.write().push(worker);
}

/// The worker's OS thread ends.
pub(crate) fn delist(worker: &'static Worker) {
    WORKERS.write().retain(|other| !std::ptr::eq(*other, worker));
}

/// Before a fork: the list does not change.
pub(crate) fn hold_list() {
    child_locks::hold_list(&WORKERS);
}

/// In the parent.
pub(crate) fn release_list() {
    child_locks::release_list(&WORKERS);
}

/// In a forked child, which has no worker yet.
pub(crate) fn forget_all() {
    child_locks::revive_list(&WORKERS);
    WORKERS.write().clear();
}

/// Calls `visit` with each worker.
pub(crate) fn for_each_worker(mut visit: impl FnMut(usize, &'static Worker)) {
    WORKERS.read().iter().enumerate().for_each(|(index, worker)| visit(index, worker));
}

/// Looks for threads in other workers' queues; `with_next`: also in their `run_next` slots.
pub(crate) fn steal(worker: &'static Worker, with_next: bool) -> Option<&'static Green> {
    let workers = WORKERS.read();
    let own = workers.iter().position(|w| std::ptr::eq(*w, worker)).unwrap_or(0);
    let others = workers[own..].iter().skip(1).chain(&workers[..own]);
    let stolen = others.copied().find_map(|victim| {
        let may_take_next = with_next || !victim.is_active();
        worker.steal_from(victim).or_else(|| if may_take_next { worker.steal_next_from(victim) } else { None })
    });
    if stolen.is_some() {
        STOLEN_COUNT.fetch_add(1, Ordering::Relaxed);
    }
    stolen
}

/// Whether a worker without work would find a thread without taking one from another worker's `run_next` slot.
pub(crate) fn has_stealable_work() -> bool {
    has_injected() || WORKERS.read().iter().any(|w| w.has_queued() || w.has_next() && !w.is_active())
}

/// Whether any thread waits for a carrier, where a worker without work would find it.
pub(crate) fn has_waiting_work() -> bool {
    has_injected() || WORKERS.read().iter().any(|w| w.has_next() || w.has_queued())
}

/// How many times a worker took threads from another one.
pub(crate) fn stolen_count() -> u64 {
    STOLEN_COUNT.load(Ordering::Relaxed)
}

//! The thread pool: the threads that run the managed work queue of System.Threading.ThreadPool.
//!
//! Managed code keeps the queue and asks for at most one thread per processor at a time; each request is answered by
//! one call of `_ThreadPoolWaitCallback.PerformWaitCallback`, which drains the queue for about 30 ms. Invariants: a
//! request is never lost: as soon as the queue may hold an item that no worker has begun (`demand`), the request is
//! taken by an idle worker, a new one, one that becomes free, or one that the monitor lets in; at most `goal` workers
//! are active, except that after the goal has sunk workers finish their present work items; the pool's lock is never
//! held at a safepoint or while blocking.
//!
//! | who changes the goal | when | to |
//! |---|---|---|
//! | the monitor | a request waits and all workers have been blocked for two looks, or nothing was taken for 500 ms | active workers + 1 |
//! | hill climbing (`climb`) | every fourth look at which requests wait | as throughput tells |
//! | the monitor | nothing has waited for 5 s | the minimum |
//!
//! The files from the bottom up: `climb`, `demand`; `pool`; `monitor` and `workers`. Left out: I/O completion threads
//! (only their limits are kept).

mod climb;
mod demand;
mod monitor;
mod pool;
mod workers;

use crate::domains::Domain;
use pool::{Actions, COMPLETED, DEMAND, IS_OVER_GOAL, POOL, PROGRESSED};
use saki_thread::ManagedThread;
use std::sync::atomic::Ordering;

/// Adds a request. False when there is no worker and the system refuses one; then the request is withdrawn.
pub fn request_worker(domain: &'static Domain) -> bool {
    let mut actions = Actions::default();
    {
        let mut pool = POOL.lock();
        pool.requests.push_back(domain);
        pool.answer(&mut actions);
    }
    let is_served = actions.perform();
    if !is_served {
        let mut pool = POOL.lock();
        if let Some(place) = pool.requests.iter().rposition(|other| std::ptr::eq(*other, domain)) {
            pool.requests.remove(place);
        }
    }
    is_served
}

/// A worker's item has ended. Whether the worker may take another one.
pub fn note_item_ended(worker: &ManagedThread) -> bool {
    // Relaxed: only the worker itself uses the flag.
    if !worker.is_in_work_item.swap(false, Ordering::Relaxed) {
        DEMAND.note_begun();
    }
    // Relaxed: both values are statistics or hints.
    COMPLETED.fetch_add(1, Ordering::Relaxed);
    !IS_OVER_GOAL.load(Ordering::Relaxed)
}

/// A long work item makes progress.
pub fn note_progress() {
    // Relaxed: a statistic.
    PROGRESSED.fetch_add(1, Ordering::Relaxed);
}

/// Work was queued. Managed code requests a thread afterwards, unless enough requests wait already.
pub fn note_queued() {
    if DEMAND.note_queued() {
        let mut actions = Actions::default();
        POOL.lock().answer(&mut actions);
        actions.perform();
    }
}

/// An exception was thrown in a thread that may have queued an item and now does not count it: requests that wait for
/// an item are answered, and none waits from now on (`has_request`).
pub(crate) fn note_uncounted() {
    let mut actions = Actions::default();
    POOL.lock().answer(&mut actions);
    actions.perform();
}

/// In a forked child, which has no worker, unless one forked. Requests stay: managed code counts them, and makes no
/// more when there are many.
pub fn begin_child() {
    saki_thread::child_locks::revive(&POOL);
    let mut pool = POOL.lock();
    let me = saki_thread::current();
    pool.workers.retain(|worker| me.is_some_and(|me| me == *worker));
    (pool.starting, pool.waiting, pool.has_monitor) = (0, 0, false);
    pool.idle.clear();
    pool.note_goal();
    DEMAND.ask_for_answers();
}

/// Work items queued since the start, for performance counters.
pub fn queued_count() -> u64 {
    DEMAND.queued_count()
}

/// The present number of workers, for performance counters.
pub fn worker_count() -> usize {
    POOL.lock().worker_count()
}

/// Numbers of workers and of I/O completion threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counts {
    pub workers: i32,
    pub io: i32,
}

impl From<(i32, i32)> for Counts {
    fn from((workers, io): (i32, i32)) -> Self {
        Counts { workers, io }
    }
}

/// The numbers from which on the pool adds threads only slowly.
pub fn min() -> Counts {
    POOL.lock().min.into()
}

/// The numbers that the pool never exceeds.
pub fn max() -> Counts {
    POOL.lock().max.into()
}

/// How many threads the pool can still give work to.
pub fn available() -> Counts {
    let pool = POOL.lock();
    let busy = pool.worker_count().saturating_sub(pool.idle.len()) as i32;
    Counts { workers: (pool.max.0 - busy).max(0), io: pool.max.1 }
}

/// Whether the limits are possible ones; then they hold.
pub fn set_min(counts: Counts) -> bool {
    POOL.lock().set_min(counts.workers, counts.io)
}

/// Whether the upper limits are possible ones; then they hold.
pub fn set_max(counts: Counts) -> bool {
    POOL.lock().set_max(counts.workers, counts.io)
}

//! The OS threads that workers run on: waking one for a slot, starting one, and its end.

use crate::parts::{MAX_WORKERS, idle, slots};
use crate::runnable::spill;
use crate::switch;
use crate::worker::{self, Worker};
use crate::workers::{delist, enlist};
use saki_base::locks::rank;
use saki_os::signal::{AlternateStackMemory, SignalMask};
use saki_os::thread::EndNotice;
use saki_sync::word_locks::Mutex;
use saki_thread::{child_locks, scheduling};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stack of a worker's OS thread, on which only the scheduler runs.
const WORKER_STACK_BYTES: usize = 256 << 10;

/// Numbers of workers, which begin before they are in the list. Relaxed: only numbers.
static WORKER_COUNT: AtomicUsize = AtomicUsize::new(0);
/// Records of workers whose OS threads have ended.
static FREE_WORKERS: Mutex<rank::FreeWorkers, Vec<&'static Worker>> = Mutex::new(Vec::new());
/// Signals that carriers let in: those of the main thread. A carrier may be started by a thread that lets none in.
static MASK: OnceLock<SignalMask> = OnceLock::new();
/// Tells of OS threads that native code ends (`native_exit`).
static END_NOTICE: OnceLock<EndNotice> = OnceLock::new();

/// The main thread's worker, before there are others. `end_notice` tells of the ends of workers' OS threads from now
/// on, with the worker.
pub(crate) fn make_first(end_notice: EndNotice) -> &'static Worker {
    let _ = MASK.set(SignalMask::current());
    let _ = END_NOTICE.set(end_notice);
    make_only()
}

/// The worker of the process's main thread or of a forked child's thread, before there are others.
pub(crate) fn make_only() -> &'static Worker {
    WORKER_COUNT.store(1, Ordering::Relaxed);
    let worker = Worker::leak(0);
    watch_end(worker);
    worker
}

/// Before a fork: no worker begins or ends.
pub(crate) fn hold_records() {
    child_locks::hold(&FREE_WORKERS);
}

/// In the parent.
pub(crate) fn release_records() {
    child_locks::release(&FREE_WORKERS);
}

/// In a forked child, which has no worker yet. The records of the parent's are not used again: its threads may have
/// been in the middle of any change.
pub(crate) fn forget_records() {
    child_locks::revive(&FREE_WORKERS);
    FREE_WORKERS.lock().clear();
    WORKER_COUNT.store(0, Ordering::Relaxed);
}

/// The worker's OS thread calls.
fn watch_end(worker: &'static Worker) {
    if let Some(notice) = END_NOTICE.get() {
        notice.ask(worker);
    }
}

/// Wakes a worker for a free slot, which it then takes, or starts one if there is none that sleeps or searches.
#[cold]
pub(crate) fn wake_one() {
    let idle = idle();
    if idle.wake_one() || idle.counts() != (0, 0) {
        return;
    }
    if slots().take_free() && !start_worker() {
        slots().give_free();
    }
}

/// Starts an ACTIVE worker on a new OS thread. False when the system has no resources for it.
fn start_worker() -> bool {
    let Some(worker) = take_worker() else { return false };
    let start = || {
        let alternate_stack = AlternateStackMemory::map()?;
        saki_os::thread::start(Some(&os_thread_name(worker.number)), WORKER_STACK_BYTES, move |_| {
            worker::set_here(worker);
            watch_end(worker);
            let carrier = scheduling::attach_scheduler_carrier(alternate_stack);
            worker.set_carrier(Some(carrier));
            enlist(worker);
            if let Some(mask) = MASK.get() {
                mask.set();
            }
            switch::run(worker)
        })
    };
    let is_started = start().is_ok();
    if !is_started {
        FREE_WORKERS.lock().push(worker);
    }
    is_started
}

/// The name of a carrier in debuggers and `ps`, whichever thread it runs: the kernel keeps 15 bytes.
fn os_thread_name(number: usize) -> String {
    match number {
        0..100 => format!("saki-carrier-{number}"),
        _ => format!("carrier-{number}"),
    }
}

/// The record of a worker whose OS thread has ended, or a new one, ACTIVE. None when there are as many as there can be.
fn take_worker() -> Option<&'static Worker> {
    if let Some(worker) = FREE_WORKERS.lock().pop() {
        worker.slot.begin();
        return Some(worker);
    }
    let number = WORKER_COUNT.fetch_add(1, Ordering::Relaxed);
    if number >= MAX_WORKERS {
        WORKER_COUNT.fetch_sub(1, Ordering::Relaxed);
        return None;
    }
    Some(Worker::leak(number))
}

/// The calling OS thread, which is the worker's, ends; it runs no thread. The threads in its queues go to others, and
/// its slot to a new worker: a sleeping worker may have to be woken for timers, which workers without a slot ignore.
pub(crate) fn forget_worker(worker: &'static Worker) {
    let has_slot = slots().leave(&worker.slot);
    spill(worker);
    delist(worker);
    if let Some(carrier) = worker.carrier() {
        worker.set_carrier(None);
        scheduling::detach_scheduler_carrier(carrier);
    }
    FREE_WORKERS.lock().push(worker);
    if has_slot && !start_worker() {
        slots().give_free();
        wake_one();
    }
}

//! Making threads runnable: putting them where a worker finds them, and seeing to it that there is a worker.
//!
//! Invariant: a caller that makes a thread runnable looks for a free slot and an idle worker after the thread is in a
//! queue, and a worker looks at all queues after it has given its slot back and is counted as idle (`search`). The
//! barriers between (`IdleCarriers`) ensure that one of the two sees the other.

use crate::carriers::wake_one;
use crate::dispatch;
use crate::green::Green;
use crate::parts::{has_idle, idle, injector, next_deadline_ns, parts, preempted, slots};
use crate::timers::TimerKey;
use crate::watcher_sleep::note_work;
use crate::worker::{self, Worker};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Leaves a token, and makes the thread runnable if it is parked.
pub(crate) fn unpark(green: &'static Green) {
    if green.word.unpark() {
        // Relaxed: published by the run queue that the thread is put into below.
        green.ready_ns.store(dispatch::ready_now(), Ordering::Relaxed);
        make_runnable(green);
    }
}

/// Lets a thread run as soon as there is a carrier: next on the caller's, if the caller has one.
pub(crate) fn make_runnable(green: &'static Green) {
    match worker::here() {
        Some(worker) if worker.is_active() && worker.is_collecting() => worker.push_last(green),
        Some(worker) if worker.is_active() => {
            if worker.push_next(green) {
                wake_for_work();
            }
            note_work();
            // The slot may be taken while a thread in a safe region wakes another one; the barriers are here and in
            // `take`.
            saki_os::membarrier::light();
            if !worker.is_active() {
                spill(worker);
            }
        }
        _ => inject(green),
    }
}

/// Lets a thread run when it is its turn, on any carrier.
pub(crate) fn inject(green: &'static Green) {
    injector().push(green);
    wake_for_work();
    note_work();
}

/// The worker has lost its slot: the threads in its queues go to the shared one. For any thread.
pub(crate) fn spill(worker: &'static Worker) {
    if worker.has_next() || worker.has_queued() {
        injector().push_batch(worker.take_all());
        wake_for_work();
        note_work();
    }
}

/// Lets a thread run after those that have not had their turn.
pub(crate) fn put_behind(green: &'static Green) {
    preempted().push(green);
    wake_for_work();
    note_work();
}

/// After something was put where any worker may take it: wakes an idle worker, or makes one, if there is a slot.
#[inline]
fn wake_for_work() {
    saki_os::membarrier::light();
    // Relaxed: ordered by the barriers; see the module header.
    if slots().free() != 0 {
        wake_one();
    }
}

/// Makes a thread's token come after `timeout`.
pub(crate) fn start_timer(timeout: Duration, green: &'static Green) -> TimerKey {
    let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    let deadline_ns = saki_os::clock::monotonic_ns().saturating_add(timeout_ns);
    let timers = &parts().timers;
    let key = timers.insert(deadline_ns, green);
    if timers.next_deadline_ns().is_some_and(|first_ns| first_ns >= deadline_ns) {
        // A worker that sleeps beyond this deadline has to look again; the watcher, if no worker is idle.
        saki_os::membarrier::light();
        if has_idle() {
            idle().wake_one();
        }
        note_work();
    }
    key
}

pub(crate) fn cancel_timer(key: TimerKey) {
    parts().timers.cancel(key);
}

/// Wakes the threads whose time has come.
pub(crate) fn expire_timers() {
    if next_deadline_ns().is_some() {
        parts().timers.expire(saki_os::clock::monotonic_ns(), unpark);
    }
}

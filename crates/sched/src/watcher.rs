//! The watcher: an OS thread that does what carriers cannot do themselves.
//!
//! It takes carriers from threads that stay in native code while others wait, asks threads that have run for a quantum
//! while others wait to yield, wakes an idle worker for a thread that its worker has not run since the last look, gives
//! tokens to threads whose timers are due when no idle worker has done so, and ensures that events are looked for
//! (`poller`). It looks often after it found something to do, then less and less often, and sleeps when nothing runs
//! (`watcher_sleep`).
//!
//! Invariant: the watcher is needed for progress only, never for correctness: each of its actions is an operation of
//! the scheduler that would be correct at any time.

use crate::carriers::wake_one;
use crate::handover::take;
use crate::parts::{has_idle, idle, is_polled};
use crate::poller;
use crate::runnable::expire_timers;
use crate::watcher_sleep::{note_work, sleep, until_deadline, wakes};
use crate::workers::{for_each_worker, has_stealable_work, has_waiting_work};
use saki_os::services::{self, Service};
use saki_thread::POLL_YIELD;
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long a thread may run while others wait.
const QUANTUM_NS: u64 = 10_000_000;
const FIRST_INTERVAL: Duration = Duration::from_micros(20);
const LAST_INTERVAL: Duration = Duration::from_millis(2);
/// Looks without anything running until the watcher sleeps.
const IDLE_LOOKS: u32 = 5;
/// How long events may go unpolled.
const LONGEST_UNPOLLED_NS: u64 = 1_000_000;

/// The state of a worker at the watcher's last look.
#[derive(Clone, Copy, Default)]
struct Seen {
    ticks: u64,
    since_ns: u64,
    was_safe: bool,
}

#[derive(Default)]
struct AllSeen {
    workers: Vec<Seen>,
    /// The number of polls, and when the watcher first saw that number.
    polls: u32,
    polls_since_ns: u64,
}

pub(crate) fn start() -> io::Result<()> {
    services::machine().start(Service::Watcher, watch)
}

/// Makes the watcher and the mover of stacks look whether the machine ends (`os::services`).
pub fn wake_for_end() {
    note_work();
    crate::cold::wake_for_end();
}

fn watch() {
    let mut seen = AllSeen::default();
    let mut interval = FIRST_INTERVAL;
    let mut idle_looks = 0;
    loop {
        let wakes = wakes();
        if services::machine().is_ending() {
            return;
        }
        let look = look(&mut seen);
        interval = if look.did_something { FIRST_INTERVAL } else { (interval * 2).min(LAST_INTERVAL) };
        idle_looks = if look.something_runs { 0 } else { idle_looks + 1 };
        if idle_looks >= IDLE_LOOKS {
            sleep(wakes);
            idle_looks = 0;
            interval = FIRST_INTERVAL;
            continue;
        }
        let rest = until_deadline().unwrap_or(interval);
        // A timer that an idle worker waits for is not the watcher's; looking a little too often then does no harm.
        std::thread::sleep(interval.min(rest).max(FIRST_INTERVAL));
    }
}

#[derive(Default)]
struct Look {
    did_something: bool,
    something_runs: bool,
}

/// If events have not been polled for long, makes an idle worker wait for them, or else polls in the watcher itself.
fn look_for_events(seen: &mut AllSeen, now_ns: u64) {
    if poller::get().is_none() {
        return;
    }
    let polls = idle().polls();
    if polls != seen.polls {
        (seen.polls, seen.polls_since_ns) = (polls, now_ns);
    } else if now_ns - seen.polls_since_ns >= LONGEST_UNPOLLED_NS && !is_polled() {
        poller::look_from_outside(idle());
    }
}

fn look(seen: &mut AllSeen) -> Look {
    let mut result = Look::default();
    expire_timers();
    let now_ns = saki_os::clock::monotonic_ns();
    look_for_events(seen, now_ns);
    let seen = &mut seen.workers;
    let has_waiting_work = has_waiting_work();
    // A thread in a worker's `run_next` slot is not run for long only if the worker does not switch: threads that wait
    // for each other all the time are better off on one carrier.
    let mut is_wanted = has_stealable_work();
    let mut blocked = Vec::new();
    for_each_worker(|index, worker| {
        if seen.len() <= index {
            seen.resize(index + 1, Seen::default());
        }
        let seen = &mut seen[index];
        let thread = worker.carrier().and_then(|carrier| carrier.current()).filter(|_| worker.is_active());
        let Some(thread) = thread else { return };
        result.something_runs |= has_waiting_work || !thread.is_in_safe_region();
        // Relaxed: compared with what was seen before.
        let ticks = worker.ticks.load(Ordering::Relaxed);
        let is_safe = thread.is_safe();
        if ticks != seen.ticks {
            *seen = Seen { ticks, since_ns: now_ns, was_safe: is_safe };
            return;
        }
        if !has_waiting_work {
            return;
        }
        is_wanted |= worker.has_next();
        if is_safe && seen.was_safe {
            blocked.push(worker);
        } else if now_ns - seen.since_ns >= QUANTUM_NS {
            seen.since_ns = now_ns;
            thread.set_poll(POLL_YIELD);
        }
        seen.was_safe = is_safe;
    });
    if !is_wanted {
        return result;
    }
    if has_idle() {
        wake_one();
        result.did_something = true;
    } else {
        for worker in blocked {
            result.did_something |= take(worker);
        }
    }
    result
}

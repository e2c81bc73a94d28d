//! The watcher: an OS thread that does what carriers cannot do themselves.
//!
//! It takes carriers from threads that stay in native code while others wait, asks threads that have run for a quantum while others wait to yield, wakes an idle worker
//! for a thread that its worker has not run since the last look, gives tokens to threads whose timers are due when no idle worker has done so, and ensures that events
//! are looked for (`poller`). It looks often after it found something to do, then less and less often, and sleeps when nothing runs.
//!
//! | `SLEEP` | from | to | who | ordering |
//! |---|---|---|---|---|
//! | | AWAKE | ASLEEP | the watcher, then a heavy barrier, then it looks for waiting work | Relaxed: ordered by the barrier |
//! | | AWAKE | POLLING | the same, having the role of the poller (`idle`) | as above |
//! | | ASLEEP, POLLING | AWAKE | a thread that made work, after a light barrier; it raises `WAKES` and wakes, or interrupts | AcqRel swap: one waker |
//! | | any | AWAKE | the watcher, awake again | Relaxed: a hint from then on |
//!
//! Invariant: the watcher is needed for progress only, never for correctness: each of its actions is an operation of the scheduler that would be correct at any time.

use crate::poller;
use crate::scheduler;
use saki_sync::WaitWord;
use saki_thread::{ManagedThread, POLL_YIELD};
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How long a thread may run while others wait.
const QUANTUM_NS: u64 = 10_000_000;
const FIRST_INTERVAL: Duration = Duration::from_micros(20);
const LAST_INTERVAL: Duration = Duration::from_millis(2);
/// How much later than idle workers the sleeping watcher checks timers.
const BEHIND_IDLE: Duration = Duration::from_millis(1);
/// Looks without anything running until the watcher sleeps.
const IDLE_LOOKS: u32 = 5;
/// How long events may go unpolled.
const LONGEST_UNPOLLED_NS: u64 = 1_000_000;

/// Counts wakes; the watcher sleeps on it.
static WAKES: WaitWord = WaitWord::new(0);
static SLEEP: AtomicU32 = AtomicU32::new(AWAKE);

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;
const POLLING: u32 = 2;

/// Something runs or is about to: the watcher, if it sleeps, is needed.
#[inline]
pub(crate) fn note_work() {
    saki_os::membarrier::light();
    // Relaxed: a look before the exchange, ordered by the barriers.
    if SLEEP.load(Ordering::Relaxed) != AWAKE {
        wake();
    }
}

#[cold]
fn wake() {
    match SLEEP.swap(AWAKE, Ordering::AcqRel) {
        ASLEEP => {
            WAKES.atomic().fetch_add(1, Ordering::Release);
            WAKES.wake(1);
        }
        POLLING => poller::interrupt(),
        _ => {}
    }
}

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
    saki_os::thread::start_service("saki-watcher", watch)
}

fn watch() {
    let mut seen = AllSeen::default();
    let mut interval = FIRST_INTERVAL;
    let mut idle_looks = 0;
    loop {
        let wakes = WAKES.load(Ordering::Acquire);
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

/// Sleeps until there is work, or timers have to be checked; `wakes` is the count from before the last look.
fn sleep(wakes: u32) {
    // Events must wake threads while nothing runs, so some thread has to wait for them.
    let poller = poller::get().filter(|_| !scheduler::is_polled());
    let poller = poller.filter(|_| scheduler::idle().try_poll());
    SLEEP.store(if poller.is_some() { POLLING } else { ASLEEP }, Ordering::Relaxed);
    // Either a thread that makes work, or stops waiting for events, sees that the watcher sleeps, or the watcher sees the work.
    saki_os::membarrier::heavy();
    let is_polled = poller.is_some() || poller::get().is_none() || scheduler::idle().is_polled();
    if is_polled && !scheduler::has_waiting_work() {
        // If no worker is idle, only the watcher wakes threads whose timers are due. If one is idle and is woken for work, the
        // remaining idle workers may have later deadlines.
        let delay = if scheduler::has_idle() { BEHIND_IDLE } else { Duration::ZERO };
        let rest = until_deadline().map(|rest| rest + delay);
        match poller {
            Some(poller) => (poller.poll)(rest, &mut ManagedThread::unpark),
            None => {
                WAKES.wait(wakes, rest);
            }
        }
    }
    SLEEP.store(AWAKE, Ordering::Relaxed);
    if poller.is_some() {
        scheduler::idle().end_poll();
    }
}

/// The time until timers have to be checked; None without timers.
fn until_deadline() -> Option<Duration> {
    let deadline_ns = scheduler::next_deadline_ns()?;
    Some(Duration::from_nanos(deadline_ns.saturating_sub(saki_os::clock::monotonic_ns())))
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
    let polls = scheduler::idle().polls();
    if polls != seen.polls {
        (seen.polls, seen.polls_since_ns) = (polls, now_ns);
    } else if now_ns - seen.polls_since_ns >= LONGEST_UNPOLLED_NS && !scheduler::is_polled() {
        poller::look_from_outside(scheduler::idle());
    }
}

fn look(seen: &mut AllSeen) -> Look {
    let mut result = Look::default();
    scheduler::expire_timers();
    let now_ns = saki_os::clock::monotonic_ns();
    look_for_events(seen, now_ns);
    let seen = &mut seen.workers;
    let has_waiting_work = scheduler::has_waiting_work();
    // A thread in a worker's `run_next` slot waits in vain only if the worker does not switch: threads that wait for each other all the time
    // are better off on one carrier.
    let mut is_wanted = scheduler::has_stealable_work();
    let mut blocked = Vec::new();
    scheduler::for_each_worker(|index, worker| {
        if seen.len() <= index {
            seen.resize(index + 1, Seen::default());
        }
        let seen = &mut seen[index];
        let thread = worker.carrier().and_then(|carrier| carrier.current()).filter(|_| worker.is_active());
        let Some(thread) = thread else { return };
        result.something_runs |= has_waiting_work || !thread.is_in_safe_region();
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
    if scheduler::has_idle() {
        scheduler::wake_one();
        result.did_something = true;
    } else {
        for worker in blocked {
            result.did_something |= scheduler::take(worker);
        }
    }
    result
}

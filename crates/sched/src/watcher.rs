//! The watcher: an OS thread that looks after what carriers cannot see to themselves.
//!
//! It takes carriers from threads that stay in native code while others wait, asks threads to give way that have run for a quantum while
//! others wait, wakes an idle worker for a thread that its worker has not come to since the last look, and makes tokens of due timers that no
//! idle worker has looked after. It looks often after it had something to do, then less and less often, and sleeps when nothing runs.
//!
//! | `IS_ASLEEP` | from | to | who | ordering |
//! |---|---|---|---|---|
//! | | false | true | the watcher, then a heavy barrier, then it looks for waiting work | Relaxed: ordered by the barrier |
//! | | true | false | whoever made work, after a light barrier; it raises `WAKES` and wakes | AcqRel swap: one waker |
//! | | true | false | the watcher, awake again | Relaxed: a hint from then on |
//!
//! Invariant: it changes nothing by itself: each of these is an operation of the scheduler that would be right at any time.

use crate::scheduler;
use saki_sync::WaitWord;
use saki_thread::POLL_YIELD;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a thread may run while others wait.
const QUANTUM_NS: u64 = 10_000_000;
const FIRST_INTERVAL: Duration = Duration::from_micros(20);
const LAST_INTERVAL: Duration = Duration::from_millis(2);
/// How much later than idle workers the watcher, which sleeps, looks after timers.
const BEHIND_IDLE: Duration = Duration::from_millis(1);
/// Looks without anything running until the watcher sleeps.
const IDLE_LOOKS: u32 = 5;

/// Counts wakes; the watcher sleeps on it.
static WAKES: WaitWord = WaitWord::new(0);
static IS_ASLEEP: AtomicBool = AtomicBool::new(false);

/// Something runs or is about to: the watcher, if it sleeps, is needed.
#[inline]
pub(crate) fn note_work() {
    saki_os::membarrier::light();
    // Relaxed: a look before the exchange, ordered by the barriers.
    if IS_ASLEEP.load(Ordering::Relaxed) && IS_ASLEEP.swap(false, Ordering::AcqRel) {
        WAKES.atomic().fetch_add(1, Ordering::Release);
        WAKES.wake(1);
    }
}

/// What the watcher saw of a worker.
#[derive(Clone, Copy, Default)]
struct Seen {
    ticks: u64,
    since_ns: u64,
    was_safe: bool,
}

pub(crate) fn start() -> io::Result<()> {
    saki_os::thread::start_service("saki-watcher", watch)
}

fn watch() {
    let mut seen: Vec<Seen> = Vec::new();
    let mut interval = FIRST_INTERVAL;
    let mut idle_looks = 0;
    loop {
        let wakes = WAKES.load(Ordering::Acquire);
        let look = look(&mut seen);
        interval = if look.did_something { FIRST_INTERVAL } else { (interval * 2).min(LAST_INTERVAL) };
        idle_looks = if look.something_runs { 0 } else { idle_looks + 1 };
        if idle_looks >= IDLE_LOOKS {
            IS_ASLEEP.store(true, Ordering::Relaxed);
            // Whoever makes work sees that the watcher sleeps, or the watcher sees the work.
            saki_os::membarrier::heavy();
            if !scheduler::has_waiting_work() {
                // Where no worker is idle nobody else wakes threads whose time has come. Where one is, another one with a later deadline may be
                // left when that is woken for work.
                let delay = if scheduler::has_idle() { BEHIND_IDLE } else { Duration::ZERO };
                WAKES.wait(wakes, until_deadline().map(|rest| rest + delay));
            }
            IS_ASLEEP.store(false, Ordering::Relaxed);
            idle_looks = 0;
            interval = FIRST_INTERVAL;
            continue;
        }
        let rest = until_deadline().unwrap_or(interval);
        // A timer that an idle worker waits for is not the watcher's; looking a little too often then does no harm.
        std::thread::sleep(interval.min(rest).max(FIRST_INTERVAL));
    }
}

/// How long it is until timers are to be looked at; None without timers.
fn until_deadline() -> Option<Duration> {
    let deadline_ns = scheduler::next_deadline_ns()?;
    Some(Duration::from_nanos(deadline_ns.saturating_sub(saki_os::clock::monotonic_ns())))
}

#[derive(Default)]
struct Look {
    did_something: bool,
    something_runs: bool,
}

fn look(seen: &mut Vec<Seen>) -> Look {
    let mut result = Look::default();
    scheduler::expire_timers();
    let has_waiting_work = scheduler::has_waiting_work();
    // A thread that its worker is to run next waits in vain only if the worker does not switch: threads that wait for each other all the time
    // are better off on one carrier.
    let mut is_wanted = scheduler::has_stealable_work();
    let now_ns = saki_os::clock::monotonic_ns();
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

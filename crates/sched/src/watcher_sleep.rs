//! The sleep of the watcher (`watcher`), and who wakes it.
//!
//! | `SLEEP` | from | to | who | ordering |
//! |---|---|---|---|---|
//! | | AWAKE | ASLEEP | the watcher, then a heavy barrier, then it looks for waiting work | Relaxed: ordered by the barrier |
//! | | AWAKE | POLLING | the same, having the role of the poller (`idle`) | as above |
//! | | ASLEEP, POLLING | AWAKE | a thread that made work, after a light barrier; it raises `WAKES` and wakes, or interrupts | AcqRel swap: one waker |
//! | | any | AWAKE | the watcher, awake again | Relaxed: a hint from then on |
//!
//! Invariant: a thread that makes work, or stops waiting for events, sees that the watcher sleeps, or the watcher sees
//! the work. The end of the machine (`os::services`) counts as work here.

use crate::parts::{self, has_idle, idle, next_deadline_ns};
use crate::poller;
use crate::workers::has_waiting_work;
use saki_os::services;
use saki_sync::WaitWord;
use saki_thread::ManagedThread;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How much later than idle workers the sleeping watcher checks timers.
const BEHIND_IDLE: Duration = Duration::from_millis(1);

/// Counts wakes; the watcher sleeps on it.
static WAKES: WaitWord = WaitWord::new(0);
static SLEEP: AtomicU32 = AtomicU32::new(AWAKE);

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;
const POLLING: u32 = 2;

/// In a forked child, whose watcher has not begun.
pub(crate) fn forget_sleep() {
    SLEEP.store(AWAKE, Ordering::Relaxed);
}

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
            // Release: pairs with the Acquire in `wakes`: the watcher sees the work that was made before.
            WAKES.atomic().fetch_add(1, Ordering::Release);
            WAKES.wake(1);
        }
        POLLING => poller::interrupt(),
        _ => {}
    }
}

/// The number of wakes so far.
pub(crate) fn wakes() -> u32 {
    // Acquire: pairs with the Release in `wake`: the work that the watcher was woken for is seen.
    WAKES.load(Ordering::Acquire)
}

/// Sleeps until there is work, or timers have to be checked; `wakes` is the count from before the last look.
pub(crate) fn sleep(wakes: u32) {
    // Events must wake threads while nothing runs, so some thread has to wait for them.
    let poller = poller::get().filter(|_| !parts::is_polled());
    let poller = poller.filter(|_| idle().try_poll());
    SLEEP.store(if poller.is_some() { POLLING } else { ASLEEP }, Ordering::Relaxed);
    // Either a thread that makes work, or stops waiting for events, sees that the watcher sleeps, or the watcher sees
    // the work.
    saki_os::membarrier::heavy();
    let is_polled = poller.is_some() || poller::get().is_none() || idle().is_polled();
    if is_polled && !has_waiting_work() && !services::machine().is_ending() {
        // If no worker is idle, only the watcher wakes threads whose timers are due. If one is idle and is woken for
        // work, the remaining idle workers may have later deadlines.
        let delay = if has_idle() { BEHIND_IDLE } else { Duration::ZERO };
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
        idle().end_poll();
    }
}

/// The time until timers have to be checked; None without timers.
pub(crate) fn until_deadline() -> Option<Duration> {
    let deadline_ns = next_deadline_ns()?;
    Some(Duration::from_nanos(deadline_ns.saturating_sub(saki_os::clock::monotonic_ns())))
}

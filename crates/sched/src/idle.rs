//! How carriers sleep when there is nothing to do, and are woken when there is.
//!
//! `word` counts carriers: the low half those that *search* for work, the high half those that are *idle*, which are on the list. Who makes
//! work visible asks `has_idle` and, if so, calls `wake_one`, which wakes one idle carrier as a searcher. While somebody searches
//! nobody is woken: a searcher that finds work and was the last one looks whether there is more, and wakes the next.
//!
//! | word | change | who | ordering |
//! |---|---|---|---|
//! | `word` | idle + 1, and searching − 1 if it searched | carrier in `sleep`, under `idle` | Relaxed; then the heavy barrier, and it looks at all queues |
//! | `word` | idle − 1, searching + 1 | waker, under `idle`, with the carrier taken off the list | Relaxed: ordered by the mutex |
//! | `word` | idle − 1, searching + 1 | the carrier itself, under `idle`, having found work or timed out | as above |
//! | `word` | searching + 1 | running carrier without work (`start_searching`) | Relaxed: it will leave by one of the other rows |
//! | `word` | searching − 1 | searcher with work (`stop_searching`) | Relaxed; if it was the last, the heavy barrier, and it looks at all queues |
//! | `wait` | AWAKE → SLEEPING | its carrier, CAS | Relaxed |
//! | `wait` | any → NOTIFIED | waker that took the carrier off the list, swap under `idle` | Release, pairs with the carrier's Acquire load |
//! | `wait` | any → AWAKE | its carrier, when it is off the list | Relaxed |
//!
//! No wake-up is lost: between making work visible and the look at `word` stands the light side of an asymmetric barrier
//! (`os::membarrier`), between the changes of `word` above and the look at the queues the heavy one. So either the carrier sees the
//! work, or who made it visible sees the carrier idle (and wakes it) or no searcher.
//!
//! Invariant: a carrier is on the list exactly while it is counted as idle, and its `wait` is NOTIFIED when somebody else took it off. Left
//! out: where work is (`look` knows), and which carrier would suit it best: the one that fell asleep last is woken.

use saki_os::clock::monotonic_ns;
use saki_sync::WaitWord;
use saki_sync::facade::atomic::{AtomicU32, Ordering};
use saki_sync::facade::{Mutex, heavy_fence, light_fence, lock};
use std::time::Duration;

const AWAKE: u32 = 0;
const SLEEPING: u32 = 1;
const NOTIFIED: u32 = 2;

const SEARCHING: u32 = 1;
const SEARCHING_MASK: u32 = IDLE - 1;
const IDLE: u32 = 1 << 16;

/// Why a carrier does not sleep any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SleepEnd<R> {
    /// Its last look found something.
    Found(R),
    /// There may be work.
    Woken,
    /// The deadline has come.
    TimedOut,
}

/// On lines of its own: a waker writes one carrier's word only.
#[repr(align(128))]
struct Carrier {
    wait: WaitWord,
}

/// See the module header.
pub struct IdleCarriers {
    word: AtomicU32,
    /// Carriers that are idle, the last one last.
    idle: Mutex<Vec<u32>>,
    carriers: Box<[Carrier]>,
}

impl IdleCarriers {
    /// For carriers numbered from 0 to `count` − 1, none of which is idle or searching; fewer than 65,536.
    pub fn new(count: usize) -> IdleCarriers {
        assert!(count < IDLE as usize);
        IdleCarriers {
            word: AtomicU32::new(0),
            idle: Mutex::new(Vec::with_capacity(count)),
            carriers: (0..count).map(|_| Carrier { wait: WaitWord::new(AWAKE) }).collect(),
        }
    }

    /// Whether `wake_one` would wake a carrier. To be asked after work was made visible; costs a load.
    #[inline(always)]
    pub fn has_idle(&self) -> bool {
        light_fence();
        // Relaxed: ordered by the barriers (see the module header).
        let word = self.word.load(Ordering::Relaxed);
        word >= IDLE && word & SEARCHING_MASK == 0
    }

    /// Carriers that are idle, and that search.
    pub fn counts(&self) -> (usize, usize) {
        let word = self.word.load(Ordering::Relaxed);
        ((word >> 16) as usize, (word & SEARCHING_MASK) as usize)
    }

    /// Wakes an idle carrier if there is one and nobody searches. Returns whether it did.
    #[cold]
    pub fn wake_one(&self) -> bool {
        let mut idle = lock(&self.idle);
        // Relaxed: who has come to search since `has_idle` looks at all queues before it goes.
        if self.word.load(Ordering::Relaxed) & SEARCHING_MASK != 0 {
            return false;
        }
        let Some(carrier) = idle.pop() else { return false };
        let sleeps = self.notify(carrier);
        drop(idle);
        self.wake_sleeper(carrier, sleeps);
        true
    }

    /// Wakes a certain carrier if it is idle, whoever searches. Returns whether it was.
    pub fn wake(&self, carrier: usize) -> bool {
        let carrier = carrier as u32;
        let mut idle = lock(&self.idle);
        if !remove(&mut idle, carrier) {
            return false;
        }
        let sleeps = self.notify(carrier);
        drop(idle);
        self.wake_sleeper(carrier, sleeps);
        true
    }

    /// Makes a carrier that was just taken off the list a searcher. Under `idle`. Returns whether it has to be woken.
    fn notify(&self, carrier: u32) -> bool {
        self.word.fetch_sub(IDLE - SEARCHING, Ordering::Relaxed);
        // Release pairs with the Acquire in `sleep`.
        self.carriers[carrier as usize].wait.atomic().swap(NOTIFIED, Ordering::Release) == SLEEPING
    }

    fn wake_sleeper(&self, carrier: u32, sleeps: bool) {
        if sleeps {
            self.carriers[carrier as usize].wait.wake(1);
        }
    }

    /// A running carrier without work of its own begins to search, unless half of those that are awake do. Then it should sleep, which
    /// looks once at everything.
    pub fn start_searching(&self) -> bool {
        let (idle, searching) = self.counts();
        if 2 * searching >= self.carriers.len().saturating_sub(idle) {
            return false;
        }
        self.word.fetch_add(SEARCHING, Ordering::Relaxed);
        true
    }

    /// A searcher has found work. If it was the last one and `has_work` says that there is more, it wakes the next.
    pub fn stop_searching(&self, has_work: impl FnOnce() -> bool) {
        let before = self.word.fetch_sub(SEARCHING, Ordering::Relaxed);
        debug_assert!(before & SEARCHING_MASK != 0);
        // Nobody idle: who becomes idle from now on looks again.
        if before & SEARCHING_MASK == SEARCHING && before >= IDLE {
            heavy_fence();
            if has_work() && self.has_idle() {
                self.wake_one();
            }
        }
    }

    /// Announces the carrier as idle, looks a last time, and sleeps until somebody wakes it or the clock (`clock::monotonic_ns`) has
    /// reached the deadline. `is_searching`: whether it searched before. Afterwards it does, however the sleep ended: it goes on by
    /// `stop_searching` or by `sleep`.
    ///
    /// `look` takes work from wherever there may be some for this carrier, `deadline_ns` says when to wake. Each is called once at most, without
    /// locks, when the carrier has been announced: whoever makes work or an earlier deadline then finds it idle.
    pub fn sleep<R>(
        &self,
        carrier: usize,
        is_searching: bool,
        deadline_ns: impl FnOnce() -> Option<u64>,
        look: impl FnOnce() -> Option<R>,
    ) -> SleepEnd<R> {
        let number = carrier as u32;
        let mut idle = lock(&self.idle);
        debug_assert!(!idle.contains(&number));
        idle.push(number);
        self.word.fetch_add(if is_searching { IDLE - SEARCHING } else { IDLE }, Ordering::Relaxed);
        drop(idle);
        heavy_fence();
        if let Some(found) = look() {
            self.leave_list(number);
            return SleepEnd::Found(found);
        }
        // Only now: what changes after it was asked for finds this carrier on the list.
        let deadline_ns = deadline_ns();
        let wait = &self.carriers[carrier].wait;
        loop {
            // Relaxed: failure means NOTIFIED, or SLEEPING after a spurious return.
            let _ = wait.atomic().compare_exchange(AWAKE, SLEEPING, Ordering::Relaxed, Ordering::Relaxed);
            // Acquire pairs with the Release of `notify`.
            if wait.load(Ordering::Acquire) == NOTIFIED {
                // Relaxed: off the list, so nobody else writes it.
                wait.store(AWAKE, Ordering::Relaxed);
                return SleepEnd::Woken;
            }
            let rest = deadline_ns.map(|deadline| Duration::from_nanos(deadline.saturating_sub(monotonic_ns())));
            if rest.is_some_and(|rest| rest.is_zero()) || !wait.wait(SLEEPING, rest) {
                return if self.leave_list(number) { SleepEnd::TimedOut } else { SleepEnd::Woken };
            }
        }
    }

    /// Makes an idle carrier, which the caller is, a searcher. Returns whether somebody else has done so before.
    fn leave_list(&self, carrier: u32) -> bool {
        let mut idle = lock(&self.idle);
        let was_idle = remove(&mut idle, carrier);
        if was_idle {
            self.word.fetch_sub(IDLE - SEARCHING, Ordering::Relaxed);
        }
        // Relaxed: who notified it did so under the lock.
        self.carriers[carrier as usize].wait.store(AWAKE, Ordering::Relaxed);
        was_idle
    }
}

/// Takes a carrier off the list, near the end of which those stand that have just fallen asleep.
fn remove(idle: &mut Vec<u32>, carrier: u32) -> bool {
    let place = idle.iter().rposition(|&other| other == carrier);
    place.map(|place| idle.remove(place)).is_some()
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod model;

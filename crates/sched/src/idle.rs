//! Carriers without work sleep here, and are woken when there is work.
//!
//! `word` counts carriers: the low half those that *search* for work, the high half those that are *idle*, which are on
//! the list. A thread that makes work visible asks `has_idle` and, if so, calls `wake_one`, which wakes one idle
//! carrier as a searcher. While a carrier searches no other is woken: when the last searcher finds work, it looks
//! whether there is more, and wakes the next.
//!
//! One idle carrier at a time can wait for events of the system instead of sleeping (`sleep_or_poll`): it has the
//! *role* of the poller, and its wait is ended by `interrupt` instead of a wake. It is woken last, so that there is a
//! poller as long as carriers are idle. Carriers with work now and then look for events without waiting (`try_look`),
//! in the same role.
//!
//! | word | change | who | ordering |
//! |---|---|---|---|
//! | `word` | idle + 1, and searching − 1 if it searched | carrier in `sleep`, under `idle` | Relaxed; then the heavy barrier, and it looks at all queues |
//! | `word` | idle − 1, searching + 1 | waker, under `idle`, with the carrier taken off the list | Relaxed: ordered by the mutex |
//! | `word` | idle − 1, searching + 1 | the carrier itself, under `idle`, having found work or timed out | as above |
//! | `word` | idle − 1 | the poller, under `idle`, before it deals with events: it runs, and wakes others itself for the tasks that it does not take | as above |
//! | `word` | searching + 1 | running carrier without work (`start_searching`) | Relaxed: it will leave by one of the other rows |
//! | `word` | searching − 1 | searcher with work (`stop_searching`) | Relaxed; if it was the last, the heavy barrier, and it looks at all queues |
//! | `wait` | AWAKE → SLEEPING, or POLLING with the role | its carrier, CAS | Relaxed |
//! | `wait` | any → NOTIFIED | the waker that took the carrier off the list, swap under `idle` | Release, pairs with the carrier's Acquire load |
//! | `wait` | any → AWAKE | its carrier, when it is off the list | Relaxed |
//! | `role` | FREE → WAITING, LOOKING | the carrier that is about to poll, CAS | Acquire, pairs with the Release of the previous poller |
//! | `role` | WAITING, LOOKING → FREE | the same, when it polls no more | Release |
//!
//! No wake-up is lost: between making work visible and the look at `word` stands the light side of an asymmetric
//! barrier (`os::membarrier`), between the changes of `word` above and the look at the queues the heavy one. So either
//! the carrier sees the work, or the thread that made the work visible sees the carrier idle (and wakes it) or sees no
//! searcher. Only the carrier with the role polls, so an interrupt reaches the carrier that it is meant for; an
//! interrupt that arrives after that carrier has stopped polling wakes the next poller spuriously.
//!
//! Invariant: a carrier is on the list exactly while it is counted as idle, and its `wait` is NOTIFIED when another
//! thread took it off.
//! Left out: where work is (the callback `look` knows), and the choice of the carrier that suits it best: the one that
//! fell asleep last is woken.

use saki_base::locks::rank;
use saki_os::clock::monotonic_ns;
use saki_sync::WaitWord;
use saki_sync::facade::atomic::{AtomicU32, Ordering};
use saki_sync::facade::{Mutex, heavy_fence, light_fence, lock};
use std::time::Duration;

const AWAKE: u32 = 0;
const SLEEPING: u32 = 1;
const NOTIFIED: u32 = 2;
const POLLING: u32 = 3;

const FREE: u32 = 0;
const LOOKING: u32 = 1;
const WAITING: u32 = 2;

const SEARCHING: u32 = 1;
const SEARCHING_MASK: u32 = IDLE - 1;
const IDLE: u32 = 1 << 16;

/// Why a carrier does not sleep any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SleepEnd<R> {
    /// The carrier's last look found work.
    Found(R),
    /// There may be work.
    Woken,
    /// The deadline has come.
    TimedOut,
    /// The carrier polled, and there were events. It counts as running, not as searching.
    Polled,
}

/// Waits for events until the timeout has passed or it is interrupted; if there are any, calls the function once before
/// it deals with them.
pub type Poll<'a> = &'a mut dyn FnMut(Option<Duration>, &mut dyn FnMut());

/// The means by which a carrier is woken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alarm {
    /// The carrier is awake: no means are needed.
    None,
    Futex,
    Interrupt,
}

/// On separate cache lines: a waker writes one carrier's word only.
#[repr(align(128))]
struct Carrier {
    wait: WaitWord,
}

/// See the module header.
pub struct IdleCarriers<I = fn()> {
    word: AtomicU32,
    role: AtomicU32,
    /// How often a thread has polled. Relaxed: changed with the role held, and a hint for other threads.
    polls: AtomicU32,
    /// Idle carriers in the order in which they fell asleep, except that the poller comes first.
    idle: Mutex<rank::IdleCarriers, Vec<u32>>,
    carriers: Box<[Carrier]>,
    interrupt: I,
}

impl<I: Fn()> IdleCarriers<I> {
    /// For carriers numbered from 0 to `count` − 1, none of which is idle or searching; fewer than 65,536. `interrupt`
    /// ends the present or the next wait for events.
    pub fn new(count: usize, interrupt: I) -> IdleCarriers<I> {
        assert!(count < IDLE as usize);
        IdleCarriers {
            word: AtomicU32::new(0),
            role: AtomicU32::new(FREE),
            polls: AtomicU32::new(0),
            idle: Mutex::new(Vec::with_capacity(count)),
            carriers: (0..count).map(|_| Carrier { wait: WaitWord::new(AWAKE) }).collect(),
            interrupt,
        }
    }

    /// Takes the role of the poller to look for events without waiting; `end_poll` follows. False: another thread
    /// polls.
    pub fn try_look(&self) -> bool {
        self.take_role(LOOKING)
    }

    /// Takes the role of the poller to wait for events, for a thread that is no carrier; `end_poll` follows. False:
    /// another thread polls.
    pub fn try_poll(&self) -> bool {
        self.take_role(WAITING)
    }

    /// After `try_look` or `try_poll`.
    pub fn end_poll(&self) {
        self.give_role();
    }

    /// How often a thread has polled: a hint.
    pub fn polls(&self) -> u32 {
        self.polls.load(Ordering::Relaxed)
    }

    /// Whether a carrier waits for events, or is about to.
    pub fn is_polled(&self) -> bool {
        // Relaxed: callers that rely on it have their own barrier.
        self.role.load(Ordering::Relaxed) == WAITING
    }

    fn take_role(&self, role: u32) -> bool {
        // Relaxed: a look before the exchange.
        self.role.load(Ordering::Relaxed) == FREE
            && self.role.compare_exchange(FREE, role, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn give_role(&self) {
        self.polls.store(self.polls().wrapping_add(1), Ordering::Relaxed);
        self.role.store(FREE, Ordering::Release);
    }

    /// Whether `wake_one` would wake a carrier. To be called after work was made visible; costs a load.
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

    /// Wakes an idle carrier if there is one and no carrier searches. Returns whether it did.
    #[cold]
    pub fn wake_one(&self) -> bool {
        let mut idle = lock(&self.idle);
        // Relaxed: a carrier that has begun to search since `has_idle` looks at all queues before it sleeps.
        if self.word.load(Ordering::Relaxed) & SEARCHING_MASK != 0 {
            return false;
        }
        let Some(carrier) = idle.pop() else { return false };
        let alarm = self.notify(carrier);
        drop(idle);
        self.wake_sleeper(carrier, alarm);
        true
    }

    /// Wakes a certain carrier if it is idle, even if others search. Returns whether it was idle.
    pub fn wake(&self, carrier: usize) -> bool {
        let carrier = carrier as u32;
        let mut idle = lock(&self.idle);
        if !remove(&mut idle, carrier) {
            return false;
        }
        let alarm = self.notify(carrier);
        drop(idle);
        self.wake_sleeper(carrier, alarm);
        true
    }

    /// Makes a carrier that was just taken off the list a searcher. Under `idle`. Returns the means by which it has to
    /// be woken.
    fn notify(&self, carrier: u32) -> Alarm {
        self.word.fetch_sub(IDLE - SEARCHING, Ordering::Relaxed);
        // Release pairs with the Acquire in `sleep_or_poll`.
        match self.carriers[carrier as usize].wait.atomic().swap(NOTIFIED, Ordering::Release) {
            SLEEPING => Alarm::Futex,
            POLLING => Alarm::Interrupt,
            _ => Alarm::None,
        }
    }

    fn wake_sleeper(&self, carrier: u32, alarm: Alarm) {
        match alarm {
            Alarm::None => {}
            Alarm::Futex => self.carriers[carrier as usize].wait.wake(1),
            Alarm::Interrupt => (self.interrupt)(),
        }
    }

    /// A running carrier without work of its own begins to search, unless half of those that are awake do. Then it
    /// should sleep, which looks once at everything.
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
        // If no carrier is idle: one that becomes idle from now on looks again.
        if before & SEARCHING_MASK == SEARCHING && before >= IDLE {
            heavy_fence();
            if has_work() && self.has_idle() {
                self.wake_one();
            }
        }
    }

    /// Announces the carrier as idle, looks a last time, and sleeps until it is woken or the clock
    /// (`clock::monotonic_ns`) has reached the deadline. `is_searching`: whether it searched before. Afterwards it
    /// does, however the sleep ended: it goes on by `stop_searching` or by `sleep`.
    ///
    /// `look` takes work from wherever there may be some for this carrier, `deadline_ns` says when to wake. Each is
    /// called once at most, without locks, when the carrier has been announced: a thread that makes work or an earlier
    /// deadline then finds it idle.
    pub fn sleep<R>(
        &self,
        carrier: usize,
        is_searching: bool,
        deadline_ns: impl FnOnce() -> Option<u64>,
        look: impl FnOnce() -> Option<R>,
    ) -> SleepEnd<R> {
        self.sleep_or_poll(carrier, is_searching, deadline_ns, look, None)
    }

    /// Announces the carrier as idle, looks a last time, and sleeps until it is woken or the clock has reached the
    /// deadline: see `sleep`. With `poll`, and if no other thread polls, it waits by `poll` instead. After
    /// `SleepEnd::Polled` the carrier does not search.
    pub fn sleep_or_poll<R>(
        &self,
        carrier: usize,
        is_searching: bool,
        deadline_ns: impl FnOnce() -> Option<u64>,
        look: impl FnOnce() -> Option<R>,
        poll: Option<Poll>,
    ) -> SleepEnd<R> {
        let poll = poll.filter(|_| self.take_role(WAITING));
        let has_role = poll.is_some();
        let number = carrier as u32;
        let mut idle = lock(&self.idle);
        debug_assert!(!idle.contains(&number));
        let place = if has_role { 0 } else { idle.len() };
        idle.insert(place, number);
        self.word.fetch_add(if is_searching { IDLE - SEARCHING } else { IDLE }, Ordering::Relaxed);
        drop(idle);
        heavy_fence();
        let end = match look() {
            Some(found) => {
                self.leave_list(number);
                SleepEnd::Found(found)
            }
            // The deadline is read only now: a thread that changes it afterwards finds this carrier on the list.
            None => self.wait_on_list(number, deadline_ns(), poll),
        };
        if has_role {
            self.give_role();
        }
        end
    }

    fn wait_on_list<R>(&self, number: u32, deadline_ns: Option<u64>, mut poll: Option<Poll>) -> SleepEnd<R> {
        let wait = &self.carriers[number as usize].wait;
        let asleep = if poll.is_some() { POLLING } else { SLEEPING };
        loop {
            // Relaxed: failure means NOTIFIED, or SLEEPING (POLLING) after a spurious return.
            let _ = wait.atomic().compare_exchange(AWAKE, asleep, Ordering::Relaxed, Ordering::Relaxed);
            // Acquire pairs with the Release of `notify`.
            if wait.load(Ordering::Acquire) == NOTIFIED {
                // Relaxed: the carrier is off the list, so no other thread writes the word.
                wait.store(AWAKE, Ordering::Relaxed);
                return SleepEnd::Woken;
            }
            let rest = deadline_ns.map(|deadline| Duration::from_nanos(deadline.saturating_sub(monotonic_ns())));
            if rest.is_some_and(|rest| rest.is_zero()) {
                return self.time_out(number);
            }
            match &mut poll {
                Some(poll) => {
                    let mut end = None;
                    poll(rest, &mut || {
                        let has_left = self.leave_list_as(number, IDLE);
                        end = Some(if has_left { SleepEnd::Polled } else { SleepEnd::Woken });
                    });
                    if let Some(end) = end {
                        return end;
                    }
                }
                None if wait.wait(SLEEPING, rest) => {}
                None => return self.time_out(number),
            }
        }
    }

    /// The time of the carrier's sleep is over.
    fn time_out<R>(&self, carrier: u32) -> SleepEnd<R> {
        if self.leave_list(carrier) { SleepEnd::TimedOut } else { SleepEnd::Woken }
    }

    /// Makes the calling carrier, which is idle, a searcher. False: another thread has done so before.
    fn leave_list(&self, carrier: u32) -> bool {
        self.leave_list_as(carrier, IDLE - SEARCHING)
    }

    /// Takes the calling carrier off the list of idle ones and subtracts `difference` from `word`. False: another
    /// thread has done so before.
    fn leave_list_as(&self, carrier: u32, difference: u32) -> bool {
        let mut idle = lock(&self.idle);
        let was_idle = remove(&mut idle, carrier);
        if was_idle {
            self.word.fetch_sub(difference, Ordering::Relaxed);
        }
        // Relaxed: the notifier wrote it under the lock.
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

//! The full monitor: owner, recursion, entry queue, wait queue, timeouts.
//!
//! The lock word: bits 0–23 owner's managed id (0 = free), bit 31 WAITERS = the entry queue is not empty.
//!
//! | from | to | who | ordering |
//! |---|---|---|---|
//! | free | owned | any thread, CAS (barging allowed) | Acquire, pairs with the releasing store |
//! | owned, no WAITERS | free | owner, CAS | Release |
//! | owned, WAITERS | free (± WAITERS) | owner, under `queues` | Release, then wakes the node it popped |
//! | any | ± WAITERS | under `queues` only | Relaxed: ordered by the mutex |
//!
//! Node phases: IDLE → ENTERING (entry queue) → WOKEN; IDLE → WAITING (wait queue) → PULSED (moved to the entry queue) →
//! WOKEN; a timed-out or interrupted owner takes its node out itself. Phases change under `queues`; the owner reads WOKEN
//! with Acquire. A woken thread competes again, so a wake that meets a timeout is used for one more try: if the lock is
//! then owned, its owner sees WAITERS and wakes the next, so no wake is lost.
//!
//! Blocking goes only through [`Blocker`], never with `queues` locked. Left out: safe regions, object headers.

use crate::facade::atomic::{AtomicU32, Ordering};
use crate::facade::{Mutex, lock, spin_hint};
use crate::parker::ManagedParker;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

const WAITERS: u32 = 1 << 31;
const OWNER: u32 = WAITERS - 1;

const IDLE: u32 = 0;
const ENTERING: u32 = 1;
const WAITING: u32 = 2;
const PULSED: u32 = 3;
const WOKEN: u32 = 4;

/// Tries before queueing. A hand-off through the kernel costs 13–23 µs, this many tries about 1 µs.
#[cfg(not(loom))]
const MAX_SPINS: u32 = 40;
#[cfg(loom)]
const MAX_SPINS: u32 = 0;

/// A managed thread's place in monitor queues. A thread is in at most one queue at a time.
///
/// Nodes are never freed while any thread may wake them (thread structures are reused, not freed); a late wake is a
/// stale token and harmless.
#[derive(Default)]
pub struct MonitorNode {
    pub parker: ManagedParker,
    phase: AtomicU32,
}

/// How a wait ended, as the thread layer sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockEnd {
    /// A token, perhaps stale.
    Woken,
    TimedOut,
    /// Interrupt or abort was requested (only when asked to be interruptible).
    Interrupted,
}

/// The calling managed thread, able to block.
pub trait Blocker {
    /// Owner written into locks, 1..=2^24-1.
    fn managed_id(&self) -> u32;
    fn node(&self) -> &'static MonitorNode;
    /// Parks on `node().parker`, in a safe region.
    fn block(&self, timeout: Option<Duration>, interruptible: bool) -> BlockEnd;
}

/// Outcome of `enter`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EnterEnd {
    Entered,
    TimedOut,
    Interrupted,
}

/// Outcome of `wait`; the monitor is owned again in every case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitOutcome {
    Pulsed,
    TimedOut,
    Interrupted,
}

/// The caller does not own the monitor (SynchronizationLockException).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotOwner;

#[derive(Default)]
struct Queues {
    entry: VecDeque<&'static MonitorNode>,
    waiting: VecDeque<&'static MonitorNode>,
    /// Threads inside the slow paths; the monitor is not idle while there are any.
    in_flight: u32,
}

/// See the module header.
pub struct Monitor {
    word: AtomicU32,
    /// Entries beyond the first; only the owner touches it.
    recursion: AtomicU32,
    queues: Mutex<Queues>,
}

impl Default for Monitor {
    fn default() -> Self {
        Self::new()
    }
}

struct Deadline(Option<Instant>);

impl Deadline {
    fn after(timeout: Option<Duration>) -> Deadline {
        Deadline(timeout.and_then(|t| Instant::now().checked_add(t)))
    }

    fn rest(&self) -> Option<Duration> {
        self.0.map(|d| d.saturating_duration_since(Instant::now()))
    }
}

impl Monitor {
    pub fn new() -> Monitor {
        Monitor { word: AtomicU32::new(0), recursion: AtomicU32::new(0), queues: Mutex::new(Queues::default()) }
    }

    /// Sets owner and recursion of a monitor that no other thread can see yet.
    pub fn prepare(&self, owner: u32, recursion: u32) {
        // Relaxed: the CAS that publishes the monitor's index releases.
        self.word.store(owner, Ordering::Relaxed);
        self.recursion.store(recursion, Ordering::Relaxed);
    }

    /// The owner's managed id, 0 = free. A hint, unless it is the caller's own id.
    pub fn owner(&self) -> u32 {
        self.word.load(Ordering::Relaxed) & OWNER
    }

    /// Entries beyond the first, meaningful for the owner.
    pub fn recursion(&self) -> u32 {
        self.recursion.load(Ordering::Relaxed)
    }

    /// Nobody owns it, waits, or is about to. Stable only while the world is stopped.
    pub fn is_idle(&self) -> bool {
        let queues = lock(&self.queues);
        self.owner() == 0 && queues.entry.is_empty() && queues.waiting.is_empty() && queues.in_flight == 0
    }

    /// Threads in (entry queue, wait queue).
    pub fn queue_lengths(&self) -> (usize, usize) {
        let queues = lock(&self.queues);
        (queues.entry.len(), queues.waiting.len())
    }

    #[inline]
    fn try_acquire(&self, id: u32) -> bool {
        // Relaxed load: a hint. Acquire pairs with the Release of `exit`.
        let seen = self.word.load(Ordering::Relaxed);
        seen & OWNER == 0 && self.word.compare_exchange(seen, seen | id, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Enters without waiting.
    pub fn try_enter(&self, id: u32) -> bool {
        if self.owner() == id {
            self.recursion.store(self.recursion() + 1, Ordering::Relaxed);
            return true;
        }
        self.try_acquire(id)
    }

    /// Enters; waits at most `timeout` (`None` = for ever).
    pub fn enter(&self, blocker: &impl Blocker, timeout: Option<Duration>) -> EnterEnd {
        let id = blocker.managed_id();
        if self.try_enter(id) {
            return EnterEnd::Entered;
        }
        if timeout.is_some_and(|t| t.is_zero()) {
            return EnterEnd::TimedOut;
        }
        for _ in 0..MAX_SPINS {
            spin_hint();
            if self.try_acquire(id) {
                return EnterEnd::Entered;
            }
        }
        lock(&self.queues).in_flight += 1;
        let end = self.acquire_queued(blocker, &Deadline::after(timeout), true);
        lock(&self.queues).in_flight -= 1;
        end
    }

    #[cold]
    fn acquire_queued(&self, blocker: &impl Blocker, deadline: &Deadline, interruptible: bool) -> EnterEnd {
        let (id, node) = (blocker.managed_id(), blocker.node());
        loop {
            {
                let mut queues = lock(&self.queues);
                if self.acquire_or_flag(id) {
                    return EnterEnd::Entered;
                }
                // Relaxed: ordered by the mutex.
                node.phase.store(ENTERING, Ordering::Relaxed);
                queues.entry.push_back(node);
            }
            loop {
                let end = blocker.block(deadline.rest(), interruptible);
                // Acquire pairs with the Release in `release`.
                if node.phase.load(Ordering::Acquire) == WOKEN {
                    break;
                }
                if end == BlockEnd::Woken {
                    continue;
                }
                let mut queues = lock(&self.queues);
                if node.phase.load(Ordering::Relaxed) != WOKEN {
                    self.remove_entry(&mut queues, node);
                    return if end == BlockEnd::TimedOut { EnterEnd::TimedOut } else { EnterEnd::Interrupted };
                }
                break;
            }
            // Woken: compete again, which also uses up a wake that met a timeout.
        }
    }

    /// Under `queues`: acquires the free lock, or sets WAITERS on the owned one and returns `false`.
    fn acquire_or_flag(&self, id: u32) -> bool {
        loop {
            let seen = self.word.load(Ordering::Relaxed);
            if seen & OWNER == 0 {
                if self.try_acquire(id) {
                    return true;
                }
            } else if seen & WAITERS != 0
                // Relaxed: WAITERS is ordered by the mutex.
                || self.word.compare_exchange(seen, seen | WAITERS, Ordering::Relaxed, Ordering::Relaxed).is_ok()
            {
                return false;
            }
        }
    }

    fn remove_entry(&self, queues: &mut Queues, node: &'static MonitorNode) {
        queues.entry.retain(|n| !std::ptr::eq(*n, node));
        node.phase.store(IDLE, Ordering::Relaxed);
        if queues.entry.is_empty() {
            // Relaxed: ordered by the mutex.
            self.word.fetch_and(!WAITERS, Ordering::Relaxed);
        }
    }

    /// Leaves once. Errors: the caller does not own it.
    pub fn exit(&self, id: u32) -> Result<(), NotOwner> {
        if self.owner() != id {
            return Err(NotOwner);
        }
        let recursion = self.recursion();
        if recursion > 0 {
            self.recursion.store(recursion - 1, Ordering::Relaxed);
            return Ok(());
        }
        // Release publishes the critical section.
        if self.word.compare_exchange(id, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            let woken = self.release(&mut lock(&self.queues));
            if let Some(node) = woken {
                node.parker.unpark();
            }
        }
        Ok(())
    }

    /// Under `queues`, as owner: frees the lock and pops the next entrant, which the caller unparks without the mutex.
    fn release(&self, queues: &mut Queues) -> Option<&'static MonitorNode> {
        let next = queues.entry.pop_front();
        let rest = if queues.entry.is_empty() { 0 } else { WAITERS };
        // Release publishes the critical section. A store is enough: only the owner changes the owner bits of an owned
        // word, and WAITERS changes under the mutex.
        self.word.store(rest, Ordering::Release);
        if let Some(node) = next {
            // Release pairs with the Acquire load in the waiter's loop.
            node.phase.store(WOKEN, Ordering::Release);
        }
        next
    }

    /// Gives the monitor up, waits for a pulse, takes it back with the same recursion.
    ///
    /// Errors: the caller does not own it.
    pub fn wait(&self, blocker: &impl Blocker, timeout: Option<Duration>) -> Result<WaitOutcome, NotOwner> {
        let (id, node) = (blocker.managed_id(), blocker.node());
        if self.owner() != id {
            return Err(NotOwner);
        }
        let recursion = self.recursion.swap(0, Ordering::Relaxed);
        let deadline = Deadline::after(timeout);
        let next = {
            let mut queues = lock(&self.queues);
            queues.in_flight += 1;
            node.phase.store(WAITING, Ordering::Relaxed);
            queues.waiting.push_back(node);
            self.release(&mut queues)
        };
        if let Some(next) = next {
            next.parker.unpark();
        }
        let outcome = self.wait_for_pulse(blocker, node, &deadline);
        self.acquire_queued(blocker, &Deadline(None), false);
        self.recursion.store(recursion, Ordering::Relaxed);
        lock(&self.queues).in_flight -= 1;
        Ok(outcome)
    }

    fn wait_for_pulse(&self, blocker: &impl Blocker, node: &'static MonitorNode, deadline: &Deadline) -> WaitOutcome {
        let mut pulsed = false;
        loop {
            let end = match pulsed {
                false => blocker.block(deadline.rest(), true),
                true => blocker.block(None, false),
            };
            // Acquire pairs with the Release in `release`.
            match node.phase.load(Ordering::Acquire) {
                WOKEN => return WaitOutcome::Pulsed,
                PULSED => pulsed = true,
                _ if end == BlockEnd::Woken => {}
                _ => {
                    let mut queues = lock(&self.queues);
                    if node.phase.load(Ordering::Relaxed) == WAITING {
                        queues.waiting.retain(|n| !std::ptr::eq(*n, node));
                        node.phase.store(IDLE, Ordering::Relaxed);
                        return if end == BlockEnd::TimedOut {
                            WaitOutcome::TimedOut
                        } else {
                            WaitOutcome::Interrupted
                        };
                    }
                }
            }
        }
    }

    /// Moves the longest waiting thread to the entry queue. Errors: the caller does not own the monitor.
    pub fn pulse(&self, id: u32) -> Result<(), NotOwner> {
        self.pulse_some(id, 1)
    }

    /// Moves every waiting thread to the entry queue. Errors: the caller does not own the monitor.
    pub fn pulse_all(&self, id: u32) -> Result<(), NotOwner> {
        self.pulse_some(id, usize::MAX)
    }

    fn pulse_some(&self, id: u32, count: usize) -> Result<(), NotOwner> {
        if self.owner() != id {
            return Err(NotOwner);
        }
        let mut queues = lock(&self.queues);
        for _ in 0..count.min(queues.waiting.len()) {
            if let Some(node) = queues.waiting.pop_front() {
                node.phase.store(PULSED, Ordering::Relaxed);
                queues.entry.push_back(node);
                self.word.fetch_or(WAITERS, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::facade::{Arc, atomic::AtomicUsize, thread};

    struct ModelThread(u32, &'static MonitorNode);

    impl Blocker for ModelThread {
        fn managed_id(&self) -> u32 {
            self.0
        }
        fn node(&self) -> &'static MonitorNode {
            self.1
        }
        fn block(&self, timeout: Option<Duration>, _interruptible: bool) -> BlockEnd {
            if self.1.parker.park(timeout) { BlockEnd::Woken } else { BlockEnd::TimedOut }
        }
    }

    fn model_thread(id: u32) -> ModelThread {
        ModelThread(id, Box::leak(Box::default()))
    }

    #[test]
    fn model_no_wake_is_lost_between_entrants() {
        loom::model(|| {
            let monitor = Arc::new(Monitor::new());
            let inside = Arc::new(AtomicUsize::new(0));
            let run = |id: u32, monitor: &Monitor, inside: &AtomicUsize| {
                assert_eq!(monitor.enter(&model_thread(id), None), EnterEnd::Entered);
                assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0);
                inside.fetch_sub(1, Ordering::Relaxed);
                monitor.exit(id).unwrap();
            };
            let (other, other_inside) = (monitor.clone(), inside.clone());
            let thread = thread::spawn(move || run(2, &other, &other_inside));
            run(1, &monitor, &inside);
            thread.join().unwrap();
            assert!(monitor.is_idle());
        });
    }

    #[test]
    fn model_a_pulse_reaches_the_waiter() {
        loom::model(|| {
            let monitor = Arc::new(Monitor::new());
            let ready = Arc::new(AtomicUsize::new(0));
            let (other, other_ready) = (monitor.clone(), ready.clone());
            let thread = thread::spawn(move || {
                let me = model_thread(2);
                other.enter(&me, None);
                while other_ready.load(Ordering::Relaxed) == 0 {
                    assert_eq!(other.wait(&me, None), Ok(WaitOutcome::Pulsed));
                }
                other.exit(2).unwrap();
            });
            let me = model_thread(1);
            monitor.enter(&me, None);
            ready.store(1, Ordering::Relaxed);
            monitor.pulse(1).unwrap();
            monitor.exit(1).unwrap();
            thread.join().unwrap();
            assert!(monitor.is_idle());
        });
    }
}

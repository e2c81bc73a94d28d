//! The full monitor: owner, recursion, entry queue, wait queue, timeouts.
//!
//! A monitor has two words. `owner`: the owner's managed id, 0 = free, or RETIRED = the object's word does not name
//! this monitor any more or is about to stop naming it. `flags`: WAITERS = the entry queue is not empty, or a thread is
//! about to join it; WAKING = a thread woken from the entry queue is on its way.
//!
//! | word | from | to | who | ordering |
//! |---|---|---|---|---|
//! | owner | free | owned | any thread, CAS (barging allowed) | Acquire, pairs with Release below |
//! | owner | owned | free | owner, store, after `flags` showed that nobody needs a wake; then it looks at `flags` again | Release, light barrier, look |
//! | owner | owned | free | owner, store under `queues`; WAKING is set if it wakes a node | Release |
//! | owner | owned | owned by the popped node | owner, store under `queues`, if that node is starving | Release |
//! | owner | owned | RETIRED | owner, store under `queues`, nobody queued or in flight | Release |
//! | flags | | + WAITERS, − WAKING if it was the caller's | under `queues`, before it looks at `owner` | heavy barrier between the two |
//! | flags | | − WAITERS | under `queues` | Relaxed: ordered by the mutex |
//! | flags | | + WAKING | under `queues`, the thread that pops a node to compete | Relaxed: ordered by the mutex |
//! | flags | | − WAKING | the woken thread, as owner | Relaxed: its own exit sees it |
//!
//! So an exit is a plain store: only the owner changes `owner` while the monitor is owned, and threads that want to be
//! woken say so in `flags`. Either the exit's second look sees WAITERS, or the entrant sees the lock free, by the
//! asymmetric barriers between store and load on both sides (`os::membarrier`): the light barrier of the exit, which is
//! frequent, costs nothing. An exit that sees WAITERS without WAKING at the second look is not the owner any more; it
//! wakes the next node if the lock is still free.
//!
//! A retired monitor is never owned again: a thread that finds it looks at the object's word again. It is reused for
//! another object only after the next collection, when no thread can be about to use its index.
//!
//! Invariant: while the lock is free and the entry queue is not empty, WAKING is set and the woken thread competes, or
//! an exit is before its second look. The woken thread clears WAKING when it gets the lock (then its own exit wakes the
//! next) or when it finds the lock owned and queues again (then that owner's exit does), so no wake is lost, and an
//! exit that sees WAKING need not wake anybody: one thread is on its way at a time. A thread that has lost `MAX_LOSSES`
//! such races is handed the lock, so no thread starves.
//!
//! Node phases: IDLE → ENTERING (entry queue) → WOKEN or OWNING; IDLE → WAITING (wait queue) → PULSED (moved to the
//! entry queue) → WOKEN; a timed-out or interrupted owner takes its node out itself. Phases change under `queues`; the
//! owner reads them with Acquire.
//!
//! Blocking goes only through [`Blocker`], never with `queues` locked. Left out: safe regions, object headers.

use crate::backoff::Backoff;
#[cfg(not(loom))]
use crate::facade::atomic::AtomicUsize;
use crate::facade::atomic::{AtomicU32, Ordering};
use crate::facade::{Mutex, fence_after_lock, heavy_fence, light_fence, lock};
use crate::parker::ManagedParker;
#[cfg(not(loom))]
use saki_abi::monitor::QUIET_EXITS;
use saki_abi::monitor::{RETIRED, WAITERS, WAKING};
use saki_base::locks::rank;
use saki_os::clock::Moment;
use std::collections::VecDeque;
use std::time::Duration;

const IDLE: u32 = 0;
const ENTERING: u32 = 1;
const WAITING: u32 = 2;
const PULSED: u32 = 3;
const WOKEN: u32 = 4;
/// Woken, and the lock is the node's already.
const OWNING: u32 = 5;

/// Races that a woken thread loses before it is handed the lock. Each costs a wake (13–23 µs).
#[cfg(not(loom))]
const MAX_LOSSES: u32 = 12;
#[cfg(loom)]
const MAX_LOSSES: u32 = 1;

/// In models a monitor gives way to the thin lock at once.
#[cfg(loom)]
const QUIET_EXITS: u32 = 1;

/// Loom models do not spin: each extra probe multiplies the states and reaches no new code.
const SPINS_BEFORE_QUEUEING: bool = cfg!(not(loom));

/// A managed thread's place in monitor queues. A thread is in at most one queue at a time.
///
/// Nodes are never freed while any thread may wake them (thread structures are reused, not freed); a late wake is a
/// stale token and harmless.
#[derive(Default)]
pub struct MonitorNode {
    pub parker: ManagedParker,
    phase: AtomicU32,
    /// 0, or the owner's managed id when it has lost too many races. Changes under `queues`.
    starving: AtomicU32,
    /// Addresses of objects at whose thin locks the owner last met another thread, by a hash.
    #[cfg(not(loom))]
    met_at: [AtomicUsize; 4],
}

impl MonitorNode {
    /// Whether the owner waits for a pulse, and has not got one. Stable while the owner is stopped, unless others
    /// pulse.
    pub fn is_waiting_for_pulse(&self) -> bool {
        // Relaxed: a hint for reports.
        self.phase.load(Ordering::Relaxed) == WAITING
    }

    /// Whether the owner has found the thin lock of the object taken before, as far as it remembers. Such a lock is
    /// better inflated at once: otherwise threads that take it in turns keep the object's cache line, with the data
    /// that lies there, moving between processors. A hint: objects move.
    #[cfg(not(loom))]
    pub fn has_met_contention(&self, object: usize) -> bool {
        let place = &self.met_at[(object >> 4 ^ object >> 10) % self.met_at.len()];
        // Relaxed: only the owner uses it.
        let is_known = place.load(Ordering::Relaxed) == object;
        place.store(object, Ordering::Relaxed);
        is_known
    }

    /// In models never, so that they explore the other path to inflation.
    #[cfg(loom)]
    pub fn has_met_contention(&self, _object: usize) -> bool {
        false
    }
}

/// How a wait ended, as the thread layer sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockEnd {
    /// A token, perhaps stale.
    Woken,
    TimedOut,
    /// Interrupt or abort was requested (only for interruptible waits).
    Interrupted,
}

/// The calling managed thread, able to block.
pub trait Blocker {
    /// Owner written into locks, 1..=2^23-1.
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

/// How an exit left the monitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExitEnd {
    Done,
    /// The lock is not free before the caller has taken the monitor out of the object's word.
    Retired,
}

/// The monitor does not belong to its object any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retired;

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
    /// Threads that entered the slow paths, except those that left them without the lock. The monitor is not idle until
    /// all of them have `returned`.
    in_flight: u32,
}

/// See the module header. In this order, the fields that threads use which need not wait lie on one cache line, and the
/// lock of the queues on another.
#[repr(C)]
pub struct Monitor {
    queues: Mutex<rank::MonitorQueues, Queues>,
    owner: AtomicU32,
    flags: AtomicU32,
    /// Entries beyond the first, except those that the object's word counts; only the owner touches it.
    recursion: AtomicU32,
    /// Exits since a thread last found another one inside; only the owner touches it. So Relaxed.
    quiet: AtomicU32,
    /// Threads that left the slow paths with the lock: counting them here spares them another acquisition of `queues`;
    /// only the owner touches it.
    returned: AtomicU32,
    /// Length of the wait queue, for the owner; changes under `queues`. It grows by the owner only, so 0 is certain.
    waiting: AtomicU32,
    /// Managed id of the thread that last left it by compiled code, which detects by it whether the cache line moves
    /// between processors; only the owner touches it.
    last: AtomicU32,
}

impl Default for Monitor {
    fn default() -> Self {
        Self::new()
    }
}

/// What compiled code knows of the layout.
#[cfg(not(loom))]
const _: () = {
    use saki_abi::monitor as known;
    use std::mem::offset_of;
    assert!(offset_of!(Monitor, owner) == known::OWNER_OFFSET as usize);
    assert!(offset_of!(Monitor, flags) == known::FLAGS_OFFSET as usize);
    assert!(offset_of!(Monitor, recursion) == known::RECURSION_OFFSET as usize);
    assert!(offset_of!(Monitor, quiet) == known::QUIET_OFFSET as usize);
    assert!(offset_of!(Monitor, last) == known::LAST_OFFSET as usize);
};

struct Deadline(Option<Moment>);

impl Deadline {
    fn after(timeout: Option<Duration>) -> Deadline {
        Deadline(timeout.and_then(|t| Moment::now().checked_add(t)))
    }

    fn rest(&self) -> Option<Duration> {
        self.0.map(|d| d.saturating_duration_since(Moment::now()))
    }
}

impl Monitor {
    /// A free monitor, for which no thread waits.
    pub fn new() -> Monitor {
        Monitor {
            queues: Mutex::new(Queues::default()),
            owner: AtomicU32::new(0),
            flags: AtomicU32::new(0),
            recursion: AtomicU32::new(0),
            quiet: AtomicU32::new(0),
            returned: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            last: AtomicU32::new(0),
        }
    }

    /// No thread is queued, waits for a pulse, or is about to. Under `queues`; for the owner, or while there is no
    /// owner.
    fn is_alone(&self, queues: &Queues) -> bool {
        // Relaxed: the owner's, or ordered by the owner's exit.
        let has_all_returned = queues.in_flight == self.returned.load(Ordering::Relaxed);
        queues.entry.is_empty() && queues.waiting.is_empty() && has_all_returned
    }

    /// Under `queues`.
    fn note_waiting(&self, queues: &Queues) {
        // Relaxed: see `pulse_some`.
        self.waiting.store(queues.waiting.len() as u32, Ordering::Relaxed);
    }

    /// As owner: out of the slow paths.
    fn note_return(&self) {
        // Relaxed, and no exchange: only the owner touches it. Both counts wrap.
        self.returned.store(self.returned.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.quiet.store(0, Ordering::Relaxed);
    }

    /// Sets the owner of a monitor that no other thread can see yet.
    pub fn prepare(&self, owner: u32) {
        // Relaxed: the CAS that publishes the monitor's index releases.
        self.owner.store(owner, Ordering::Relaxed);
        self.recursion.store(0, Ordering::Relaxed);
        self.quiet.store(0, Ordering::Relaxed);
    }

    /// See the module header. Stable.
    #[inline]
    pub fn is_retired(&self) -> bool {
        self.owner.load(Ordering::Relaxed) == RETIRED
    }

    /// The owner's managed id, 0 = free. A hint, unless it is the caller's own id.
    #[inline]
    pub fn owner(&self) -> u32 {
        self.owner.load(Ordering::Relaxed) & !RETIRED
    }

    /// Entries beyond the first, meaningful for the owner.
    #[inline]
    pub fn recursion(&self) -> u32 {
        self.recursion.load(Ordering::Relaxed)
    }

    /// No thread owns it, waits, or is about to. Stable only while the world is stopped.
    pub fn is_idle(&self) -> bool {
        let queues = lock(&self.queues);
        self.owner() == 0 && self.is_alone(&queues)
    }

    /// A forked child does not have the threads that wait here, and has one thread, which is in none of these
    /// functions. An owner that it does not have stays.
    pub fn forget_waiters(&self) {
        let mut queues = lock(&self.queues);
        queues.entry.clear();
        queues.waiting.clear();
        // Relaxed: the child has one thread.
        queues.in_flight = self.returned.load(Ordering::Relaxed);
        self.note_waiting(&queues);
        self.flags.store(0, Ordering::Relaxed);
    }

    /// Threads in (entry queue, wait queue).
    pub fn queue_lengths(&self) -> (usize, usize) {
        let queues = lock(&self.queues);
        (queues.entry.len(), queues.waiting.len())
    }

    #[inline]
    fn try_acquire(&self, id: u32) -> bool {
        // Relaxed load: a hint. Acquire pairs with the Release of `exit`.
        let is_taken = self.owner.load(Ordering::Relaxed) == 0
            && self.owner.compare_exchange(0, id, Ordering::Acquire, Ordering::Relaxed).is_ok();
        fence_after_lock();
        is_taken
    }

    /// Whether an exit has to wake a thread.
    #[inline]
    fn has_lone_waiters(&self) -> bool {
        // Relaxed: under the mutex, or ordered by barriers (see the module header).
        self.flags.load(Ordering::Relaxed) & (WAITERS | WAKING) == WAITERS
    }

    /// Enters without waiting.
    #[inline]
    pub fn try_enter(&self, id: u32) -> bool {
        if self.owner() == id {
            self.recursion.store(self.recursion() + 1, Ordering::Relaxed);
            return true;
        }
        self.try_acquire(id)
    }

    /// Enters without waiting, after another thread was found inside: this counts as contention.
    #[inline]
    pub fn try_enter_again(&self, id: u32) -> bool {
        let is_entered = self.try_enter(id);
        if is_entered {
            self.quiet.store(0, Ordering::Relaxed);
        }
        is_entered
    }

    /// Enters; waits at most `timeout` (`None` = for ever). Errors: the monitor has been retired.
    pub fn enter(&self, blocker: &impl Blocker, timeout: Option<Duration>) -> Result<EnterEnd, Retired> {
        let id = blocker.managed_id();
        if self.try_enter(id) {
            return Ok(EnterEnd::Entered);
        }
        if self.is_retired() {
            return Err(Retired);
        }
        if timeout.is_some_and(|t| t.is_zero()) {
            return Ok(EnterEnd::TimedOut);
        }
        if SPINS_BEFORE_QUEUEING {
            let mut backoff = Backoff::patient(id);
            while backoff.spin() {
                if self.try_enter_again(id) {
                    return Ok(EnterEnd::Entered);
                }
                if self.is_retired() {
                    return Err(Retired);
                }
            }
        }
        // Retiring needs this to be 0, so only the first look below can find the monitor retired.
        self.begin_slow(&mut lock(&self.queues));
        let end = self.acquire_queued(blocker, &Deadline::after(timeout), true, false);
        if end == Ok(EnterEnd::Entered) {
            self.note_return();
        } else {
            let mut queues = lock(&self.queues);
            queues.in_flight = queues.in_flight.wrapping_sub(1);
        }
        end
    }

    fn begin_slow(&self, queues: &mut Queues) {
        queues.in_flight = queues.in_flight.wrapping_add(1);
    }

    /// `woken`: the caller was popped from the entry queue, so WAKING is its to clear.
    #[cold]
    fn acquire_queued(
        &self,
        blocker: &impl Blocker,
        deadline: &Deadline,
        interruptible: bool,
        mut woken: bool,
    ) -> Result<EnterEnd, Retired> {
        let (id, node) = (blocker.managed_id(), blocker.node());
        let mut losses = 0;
        // A pulsed thread finds the lock free mostly, and then needs no barrier.
        if woken && SPINS_BEFORE_QUEUEING && self.try_acquire_woken(id) {
            return Ok(EnterEnd::Entered);
        }
        'queue: loop {
            {
                let mut queues = lock(&self.queues);
                if self.acquire_or_flag(&queues, id, woken)? {
                    return Ok(EnterEnd::Entered);
                }
                losses += u32::from(woken);
                // Relaxed: ordered by the mutex.
                node.starving.store(if losses >= MAX_LOSSES { id } else { 0 }, Ordering::Relaxed);
                node.phase.store(ENTERING, Ordering::Relaxed);
                if woken {
                    queues.entry.push_front(node);
                } else {
                    queues.entry.push_back(node);
                }
            }
            loop {
                let end = blocker.block(deadline.rest(), interruptible);
                // Acquire pairs with the Release in `release`.
                match node.phase.load(Ordering::Acquire) {
                    WOKEN => break,
                    OWNING => return Ok(EnterEnd::Entered),
                    _ if end == BlockEnd::Woken => continue,
                    _ => {}
                }
                let mut queues = lock(&self.queues);
                match node.phase.load(Ordering::Relaxed) {
                    WOKEN => break,
                    OWNING => return Ok(EnterEnd::Entered),
                    _ => self.remove_entry(&mut queues, node),
                }
                return Ok(if end == BlockEnd::TimedOut { EnterEnd::TimedOut } else { EnterEnd::Interrupted });
            }
            // Compete again, which also uses up a wake that met a timeout.
            woken = true;
            if SPINS_BEFORE_QUEUEING {
                let mut backoff = Backoff::new(id);
                while !self.try_acquire_woken(id) {
                    if !backoff.spin() {
                        continue 'queue;
                    }
                }
                return Ok(EnterEnd::Entered);
            }
        }
    }

    /// Takes the lock if it is free, and then clears WAKING; whether it did.
    fn try_acquire_woken(&self, id: u32) -> bool {
        let is_taken = self.try_acquire(id);
        if is_taken {
            // Relaxed: the owner's exit is the next to read it.
            self.flags.fetch_and(!WAKING, Ordering::Relaxed);
        }
        is_taken
    }

    /// Under `queues`: acquires the free lock, or leaves WAITERS set and returns `false`. Clears WAKING in
    /// both cases if the caller is the woken thread.
    fn acquire_or_flag(&self, queues: &Queues, id: u32, woken: bool) -> Result<bool, Retired> {
        if self.is_retired() {
            return Err(Retired);
        }
        // Relaxed: ordered by the mutex and by the barrier.
        let before = self.flags.fetch_or(WAITERS, Ordering::Relaxed);
        if woken {
            self.flags.fetch_and(!WAKING, Ordering::Relaxed);
        }
        // A thread that joins others need not look: the invariant holds already, and continues to hold.
        if before & WAITERS != 0 && !woken {
            return Ok(false);
        }
        heavy_fence();
        if !self.try_acquire(id) {
            return Ok(false);
        }
        if queues.entry.is_empty() {
            self.flags.fetch_and(!WAITERS, Ordering::Relaxed);
        }
        Ok(true)
    }

    fn remove_entry(&self, queues: &mut Queues, node: &'static MonitorNode) {
        take_out(&mut queues.entry, node);
        node.phase.store(IDLE, Ordering::Relaxed);
        if queues.entry.is_empty() {
            // Relaxed: ordered by the mutex.
            self.flags.fetch_and(!WAITERS, Ordering::Relaxed);
        }
    }

    /// Leaves once. Errors: the caller does not own it.
    #[inline]
    pub fn exit(&self, id: u32) -> Result<(), NotOwner> {
        self.exit_or_retire(id, false).map(|_| ())
    }

    /// Leaves once. If `may_retire`, may retire the monitor after long without contention. Errors: the caller does not
    /// own it.
    #[inline]
    pub fn exit_or_retire(&self, id: u32, may_retire: bool) -> Result<ExitEnd, NotOwner> {
        if self.owner() != id {
            return Err(NotOwner);
        }
        let recursion = self.recursion();
        if recursion > 0 {
            self.recursion.store(recursion - 1, Ordering::Relaxed);
            return Ok(ExitEnd::Done);
        }
        let quiet = self.quiet.load(Ordering::Relaxed).saturating_add(1);
        self.quiet.store(quiet, Ordering::Relaxed);
        if quiet >= QUIET_EXITS && may_retire {
            if self.retire() {
                return Ok(ExitEnd::Retired);
            }
            // A thread waits for a pulse: do not try again at once.
            self.quiet.store(0, Ordering::Relaxed);
        }
        if self.has_lone_waiters() {
            self.exit_to_waiter();
            return Ok(ExitEnd::Done);
        }
        // Release publishes the critical section.
        self.owner.store(0, Ordering::Release);
        light_fence();
        if self.has_lone_waiters() {
            self.wake_after_exit();
        }
        Ok(ExitEnd::Done)
    }

    /// After an exit whose second look at the flags saw waiters: wakes one, unless the lock has an owner again, whose
    /// exit will.
    #[cold]
    pub fn wake_after_exit(&self) {
        let next = {
            let mut queues = lock(&self.queues);
            if self.has_lone_waiters() && self.owner.load(Ordering::Relaxed) == 0 {
                self.pop_to_compete(&mut queues)
            } else {
                None
            }
        };
        if let Some(node) = next {
            node.parker.unpark();
        }
    }

    /// Under `queues`: takes the next node out, which is to be woken and will compete.
    fn pop_to_compete(&self, queues: &mut Queues) -> Option<&'static MonitorNode> {
        let node = queues.entry.pop_front()?;
        // Relaxed: ordered by the mutex.
        self.flags.store(if queues.entry.is_empty() { WAKING } else { WAKING | WAITERS }, Ordering::Relaxed);
        // Release pairs with the Acquire load in the waiter's loop.
        node.phase.store(WOKEN, Ordering::Release);
        Some(node)
    }

    /// As owner: retires the monitor if no other thread uses it.
    #[cold]
    fn retire(&self) -> bool {
        let queues = lock(&self.queues);
        let is_lone = self.is_alone(&queues);
        if is_lone {
            // Release: not needed for the critical section, which the object's word publishes; harmless and uniform.
            self.owner.store(RETIRED, Ordering::Release);
        }
        is_lone
    }

    #[cold]
    fn exit_to_waiter(&self) {
        let next = self.release(&mut lock(&self.queues));
        if let Some(node) = next {
            node.parker.unpark();
        }
    }

    /// Under `queues`, as owner: frees the lock and pops the next entrant, which the caller unparks without the mutex;
    /// none if a woken thread is on its way. A starving entrant gets the lock.
    fn release(&self, queues: &mut Queues) -> Option<&'static MonitorNode> {
        // A store frees it: only the owner changes the word of an owned lock, and threads that want to be woken say so
        // under the mutex. Release publishes the critical section.
        if self.flags.load(Ordering::Relaxed) & WAKING != 0 {
            self.owner.store(0, Ordering::Release);
            return None;
        }
        let heir = queues.entry.front().map_or(0, |node| node.starving.load(Ordering::Relaxed));
        if heir == 0 {
            let next = self.pop_to_compete(queues);
            self.owner.store(0, Ordering::Release);
            return next;
        }
        let node = queues.entry.pop_front()?;
        if queues.entry.is_empty() {
            self.flags.fetch_and(!WAITERS, Ordering::Relaxed);
        }
        self.owner.store(heir, Ordering::Release);
        // Release pairs with the Acquire load in the waiter's loop; it publishes the critical section to the heir.
        node.phase.store(OWNING, Ordering::Release);
        Some(node)
    }

    /// Gives the monitor up, waits for a pulse, takes it back with the same recursion.
    ///
    /// Errors: the caller does not own it.
    pub fn wait(&self, blocker: &impl Blocker, timeout: Option<Duration>) -> Result<WaitOutcome, NotOwner> {
        let (id, node) = (blocker.managed_id(), blocker.node());
        if self.owner() != id {
            return Err(NotOwner);
        }
        // Relaxed, and no exchange: only the owner touches it.
        let recursion = self.recursion();
        self.recursion.store(0, Ordering::Relaxed);
        let deadline = Deadline::after(timeout);
        let next = {
            let mut queues = lock(&self.queues);
            self.begin_slow(&mut queues);
            node.starving.store(0, Ordering::Relaxed);
            node.phase.store(WAITING, Ordering::Relaxed);
            queues.waiting.push_back(node);
            self.note_waiting(&queues);
            self.release(&mut queues)
        };
        if let Some(next) = next {
            next.parker.unpark();
        }
        let outcome = self.wait_for_pulse(blocker, node, &deadline);
        // Never retired: the caller is in flight.
        let _ = self.acquire_queued(blocker, &Deadline(None), false, outcome == WaitOutcome::Pulsed);
        self.note_return();
        self.recursion.store(recursion, Ordering::Relaxed);
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
                        take_out(&mut queues.waiting, node);
                        self.note_waiting(&queues);
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
        // Relaxed: threads begin to wait as owners, so the caller sees all of them.
        if self.waiting.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        let mut queues = lock(&self.queues);
        for _ in 0..count.min(queues.waiting.len()) {
            if let Some(node) = queues.waiting.pop_front() {
                node.phase.store(PULSED, Ordering::Relaxed);
                queues.entry.push_back(node);
            }
        }
        self.note_waiting(&queues);
        if !queues.entry.is_empty() {
            // No exchange: without the mutex only the woken thread changes the flags, as owner, which the caller is.
            self.flags.store(self.flags.load(Ordering::Relaxed) | WAITERS, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Removes the node from the queue, if it is there. The search begins at the head, where woken threads stand, and where
/// timed-out threads stand if all have the same timeout.
fn take_out(queue: &mut VecDeque<&'static MonitorNode>, node: &'static MonitorNode) {
    if let Some(place) = queue.iter().position(|n| std::ptr::eq(*n, node)) {
        queue.remove(place);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod model;

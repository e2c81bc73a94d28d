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
//! | owner | owned | free | owner, store under `queues`; WAKING is set if it wakes a node there | Release |
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
//! The wait queue belongs to the owner of the monitor, so that waiting and pulsing take no lock of the machine's. A
//! pulse only marks the node and counts it (`pulsed`); the exit or wait that gives the monitor up then takes the marked
//! nodes, which stand at the head, out of the queue. If there is one, and nobody wants to enter, its thread wakes and
//! competes for the lock as a newcomer does, without WAKING; otherwise all go into the entry queue. A thread whose wait
//! ends by itself enters the monitor first, then takes its node out of the wait queue, unless it finds itself pulsed:
//! then the wait counts as pulsed.
//!
//! `node` has the table of the states of a node.
//!
//! Blocking goes only through [`Blocker`], never with `queues` locked. Left out: safe regions, object headers.

use crate::backoff::Backoff;
use crate::facade::atomic::{AtomicU32, Ordering};
use crate::facade::{Mutex, fence_after_lock, heavy_fence, light_fence, lock};
use crate::owners_cell::OwnersCell;
#[cfg(not(loom))]
use saki_abi::monitor::QUIET_EXITS;
use saki_abi::monitor::{RETIRED, WAITERS, WAKING};
use saki_base::locks::rank;
use saki_os::clock::Moment;
use std::collections::VecDeque;
use std::time::Duration;

mod node;

pub use node::MonitorNode;
use node::{ENTERING, IDLE, NONE, OWNING, PULSED, WAITING, WOKEN};

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
    /// Threads that entered the slow paths of entering, except those that left them without the lock. The monitor is
    /// not idle until all of them have `returned`.
    in_flight: u32,
}

/// See the module header. In this order, the fields that threads use which need not wait lie on one cache line, and the
/// lock of the queues on another.
#[repr(C)]
pub struct Monitor {
    /// The threads that wait for a pulse, and those that have got one since the owner entered, which come first.
    wait_queue: OwnersCell<VecDeque<&'static MonitorNode>>,
    queues: Mutex<rank::MonitorQueues, Queues>,
    owner: AtomicU32,
    flags: AtomicU32,
    /// Entries beyond the first, except those that the object's word counts; only the owner touches it.
    recursion: AtomicU32,
    /// Exits since a thread last found another one inside; only the owner touches it. So Relaxed. QUIET_EXITS while
    /// there are pulsed threads, so that the exit of compiled code comes here.
    quiet: AtomicU32,
    /// Threads that left the slow paths with the lock, less those that have begun to wait: counting them here spares
    /// them another acquisition of `queues`; only the owner touches it.
    returned: AtomicU32,
    /// Length of the wait queue; only the owner changes it.
    waiting: AtomicU32,
    /// Managed id of the thread that last left it by compiled code, which detects by it whether the cache line moves
    /// between processors; only the owner touches it.
    last: AtomicU32,
    /// How many threads of the wait queue have been pulsed; only the owner touches it, and 0 without an owner.
    pulsed: AtomicU32,
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
            wait_queue: OwnersCell::default(),
            queues: Mutex::new(Queues::default()),
            owner: AtomicU32::new(0),
            flags: AtomicU32::new(0),
            recursion: AtomicU32::new(0),
            quiet: AtomicU32::new(0),
            returned: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            last: AtomicU32::new(0),
            pulsed: AtomicU32::new(0),
        }
    }

    /// No thread is queued, waits for a pulse, or is about to. Under `queues`; for the owner, or while there is no
    /// owner. Threads that wait for a pulse have not returned.
    fn is_alone(&self, queues: &Queues) -> bool {
        // Relaxed: the owner's, or ordered by the owner's exit.
        queues.entry.is_empty() && queues.in_flight == self.returned.load(Ordering::Relaxed)
    }

    /// Calls `f` with the wait queue, and keeps its length for others.
    ///
    /// # Safety
    /// The caller owns the monitor, or nobody does and the process has one thread.
    #[inline]
    unsafe fn with_wait_queue<R>(&self, f: impl FnOnce(&mut VecDeque<&'static MonitorNode>) -> R) -> R {
        // SAFETY: the lock of the monitor, or its being alone, lets one thread at a time come here, and `f` has no
        // access to the cell.
        unsafe {
            self.wait_queue.with(|queue| {
                let result = f(queue);
                // Relaxed: others take it for a hint.
                self.waiting.store(queue.len() as u32, Ordering::Relaxed);
                result
            })
        }
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
        // SAFETY: a forked child has one thread, and that one is in none of these functions.
        unsafe { self.with_wait_queue(VecDeque::clear) };
        // Relaxed, all four: the child has one thread.
        self.pulsed.store(0, Ordering::Relaxed);
        queues.in_flight = self.returned.load(Ordering::Relaxed);
        self.flags.store(0, Ordering::Relaxed);
    }

    /// Threads in (entry queue, wait queue).
    pub fn queue_lengths(&self) -> (usize, usize) {
        let queues = lock(&self.queues);
        // Relaxed: a hint.
        (queues.entry.len(), self.waiting.load(Ordering::Relaxed) as usize)
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
        if self.owner() == id {
            return self.try_enter(id);
        }
        let is_entered = self.try_acquire(id);
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
        {
            let mut queues = lock(&self.queues);
            queues.in_flight = queues.in_flight.wrapping_add(1);
        }
        let end = self.acquire_queued(blocker, &Deadline::after(timeout), true, false);
        if end == Ok(EnterEnd::Entered) {
            self.note_return();
        } else {
            let mut queues = lock(&self.queues);
            queues.in_flight = queues.in_flight.wrapping_sub(1);
        }
        end
    }

    /// `woken`: the caller was popped from the entry queue, so WAKING is its to clear. The owner of the monitor may put
    /// a caller that waited for a pulse into the entry queue meanwhile.
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
        'queue: loop {
            {
                let mut queues = lock(&self.queues);
                // Relaxed: ordered by the mutex.
                if node.phase.load(Ordering::Relaxed) == IDLE {
                    if self.acquire_or_flag(&queues, id, woken)? {
                        return Ok(EnterEnd::Entered);
                    }
                    losses += u32::from(woken);
                    // Relaxed, both: ordered by the mutex.
                    node.starving.store(if losses >= MAX_LOSSES { id } else { 0 }, Ordering::Relaxed);
                    node.phase.store(ENTERING, Ordering::Relaxed);
                    if woken {
                        queues.entry.push_front(node);
                    } else {
                        queues.entry.push_back(node);
                    }
                }
            }
            loop {
                // Acquire pairs with the Release of `release` and `pop_to_compete`.
                match node.phase.load(Ordering::Acquire) {
                    WOKEN => break,
                    OWNING => return Ok(self.take_over(node)),
                    _ => {}
                }
                let end = blocker.block(deadline.rest(), interruptible);
                if end == BlockEnd::Woken {
                    continue;
                }
                let mut queues = lock(&self.queues);
                match node.phase.load(Ordering::Relaxed) {
                    WOKEN => break,
                    OWNING => return Ok(self.take_over(node)),
                    _ => self.remove_entry(&mut queues, node),
                }
                return Ok(if end == BlockEnd::TimedOut { EnterEnd::TimedOut } else { EnterEnd::Interrupted });
            }
            // Relaxed: the node is in no queue, and the caller's.
            node.phase.store(IDLE, Ordering::Relaxed);
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

    /// The caller was handed the lock.
    fn take_over(&self, node: &MonitorNode) -> EnterEnd {
        // Relaxed: the node is in no queue, and the caller's.
        node.phase.store(IDLE, Ordering::Relaxed);
        EnterEnd::Entered
    }

    /// Takes the monitor back after a wait for a pulse.
    #[inline]
    fn acquire_after_wait(&self, blocker: &impl Blocker) {
        let (id, node) = (blocker.managed_id(), blocker.node());
        // A pulsed thread finds the lock free mostly. Relaxed: if an owner has put the node into the entry queue, its
        // exit, or the mutex, orders that before the look behind the acquisition.
        if node.phase.load(Ordering::Relaxed) == IDLE && self.try_acquire(id) {
            if node.phase.load(Ordering::Relaxed) != IDLE {
                self.leave_entry_queue(node);
            }
            return;
        }
        // Never retired: the caller is in flight. Nor does it end without the lock.
        let _ = self.acquire_queued(blocker, &Deadline(None), false, false);
    }

    /// As owner, who has not come by way of the entry queue although another thread put its node there.
    #[cold]
    fn leave_entry_queue(&self, node: &'static MonitorNode) {
        let mut queues = lock(&self.queues);
        // Relaxed, all: ordered by the mutex.
        if node.phase.load(Ordering::Relaxed) == WOKEN {
            self.flags.fetch_and(!WAKING, Ordering::Relaxed);
            node.phase.store(IDLE, Ordering::Relaxed);
        } else {
            self.remove_entry(&mut queues, node);
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
        // Relaxed: the owner's. Pulsed threads are in flight.
        if quiet >= QUIET_EXITS && may_retire && self.pulsed.load(Ordering::Relaxed) == 0 {
            if self.retire() {
                return Ok(ExitEnd::Retired);
            }
            // A thread waits for a pulse: do not try again at once.
            self.quiet.store(0, Ordering::Relaxed);
        }
        self.give_up();
        Ok(ExitEnd::Done)
    }

    /// As owner, without extra entries: frees the lock, and wakes who is to be woken.
    #[inline]
    fn give_up(&self) {
        // Relaxed: the owner's.
        if self.pulsed.load(Ordering::Relaxed) != 0 {
            return self.give_up_to_pulsed();
        }
        if self.has_lone_waiters() {
            self.exit_to_waiter();
            return;
        }
        self.free();
    }

    /// As owner, when nobody needed a wake at the first look.
    #[inline]
    fn free(&self) {
        // Release publishes the critical section.
        self.owner.store(0, Ordering::Release);
        light_fence();
        if self.has_lone_waiters() {
            self.wake_after_exit();
        }
    }

    /// `give_up` with pulsed threads at the head of the wait queue, which leave it.
    fn give_up_to_pulsed(&self) {
        // Relaxed, all: the owner's.
        let count = self.pulsed.load(Ordering::Relaxed) as usize;
        self.pulsed.store(0, Ordering::Relaxed);
        self.quiet.store(0, Ordering::Relaxed);
        // Relaxed: a hint. An entrant that comes later is found by `free`.
        if count == 1 && self.flags.load(Ordering::Relaxed) == 0 {
            // SAFETY: `owner` names this thread until `free` or `release` below.
            let node = unsafe { self.with_wait_queue(VecDeque::pop_front) };
            self.free();
            if let Some(node) = node {
                node.parker.unpark();
            }
            return;
        }
        let next = {
            let mut queues = lock(&self.queues);
            // SAFETY: `owner` names this thread until `free` or `release` below.
            unsafe {
                self.with_wait_queue(|waiting| {
                    // Relaxed, both: ordered by the mutex. Others have ended their wait, and come by themselves.
                    for node in waiting.drain(..count).filter(|node| node.phase.load(Ordering::Relaxed) == IDLE) {
                        node.phase.store(ENTERING, Ordering::Relaxed);
                        queues.entry.push_back(node);
                    }
                });
            }
            if !queues.entry.is_empty() {
                // Relaxed: ordered by the mutex; the owner alone changes it without that.
                self.flags.store(self.flags.load(Ordering::Relaxed) | WAITERS, Ordering::Relaxed);
            }
            self.release(&mut queues)
        };
        if let Some(next) = next {
            next.parker.unpark();
        }
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
        let deadline = Deadline::after(timeout);
        // Relaxed, all, and no exchange: only the owner touches them.
        let recursion = self.recursion();
        self.recursion.store(0, Ordering::Relaxed);
        self.returned.store(self.returned.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Relaxed);
        // Relaxed: the owner's exit publishes both.
        node.starving.store(0, Ordering::Relaxed);
        node.signal.store(WAITING, Ordering::Relaxed);
        // SAFETY: `owner` names this thread, as it has just seen.
        unsafe { self.with_wait_queue(|waiting| waiting.push_back(node)) };
        self.give_up();
        let end = self.wait_for_pulse(blocker, node, &deadline);
        self.acquire_after_wait(blocker);
        self.note_return();
        self.recursion.store(recursion, Ordering::Relaxed);
        // Relaxed, both: owners change it.
        let is_pulsed = node.signal.load(Ordering::Relaxed) == PULSED;
        node.signal.store(NONE, Ordering::Relaxed);
        if is_pulsed {
            return Ok(WaitOutcome::Pulsed);
        }
        // SAFETY: `acquire_after_wait` returns when `owner` names this thread again.
        unsafe { self.with_wait_queue(|waiting| take_out(waiting, node)) };
        Ok(end)
    }

    /// Waits until the thread is pulsed, and then perhaps woken as an entrant; or until the wait ends by itself: how.
    fn wait_for_pulse(&self, blocker: &impl Blocker, node: &MonitorNode, deadline: &Deadline) -> WaitOutcome {
        loop {
            let end = blocker.block(deadline.rest(), true);
            // Acquire pairs with the Release of the pulse: the thread that pulsed has been here.
            if node.signal.load(Ordering::Acquire) == PULSED {
                return WaitOutcome::Pulsed;
            }
            match end {
                BlockEnd::Woken => {}
                BlockEnd::TimedOut => return WaitOutcome::TimedOut,
                BlockEnd::Interrupted => return WaitOutcome::Interrupted,
            }
        }
    }

    /// Lets the longest waiting thread enter again, once the caller has left. Errors: the caller does not own it.
    pub fn pulse(&self, id: u32) -> Result<(), NotOwner> {
        self.pulse_some(id, 1)
    }

    /// Lets every waiting thread enter again, once the caller has left. Errors: the caller does not own it.
    pub fn pulse_all(&self, id: u32) -> Result<(), NotOwner> {
        self.pulse_some(id, usize::MAX)
    }

    fn pulse_some(&self, id: u32, count: usize) -> Result<(), NotOwner> {
        if self.owner() != id {
            return Err(NotOwner);
        }
        // Relaxed, all: the owner's, and threads begin to wait as owners.
        let pulsed = self.pulsed.load(Ordering::Relaxed) as usize;
        let more = count.min(self.waiting.load(Ordering::Relaxed) as usize - pulsed);
        if more == 0 {
            return Ok(());
        }
        // SAFETY: `owner` names this thread, as it has just seen.
        unsafe {
            self.wait_queue.with(|waiting| {
                for node in waiting.range(pulsed..pulsed + more) {
                    // Release pairs with the Acquire in `wait_for_pulse`.
                    node.signal.store(PULSED, Ordering::Release);
                }
            });
        }
        self.pulsed.store((pulsed + more) as u32, Ordering::Relaxed);
        self.quiet.store(QUIET_EXITS, Ordering::Relaxed);
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

//! Slots: at most as many workers run managed code as there are slots; this file passes slots from one worker to
//! another.
//!
//! | status of a worker | meaning | who changes it, under `counts` |
//! |---|---|---|
//! | ACTIVE | holds one of the slots | `take_from`, `give_own`, `wait_for_turn` → TAKEN; the worker itself → IDLE |
//! | TAKEN | its slot was given away, or is about to be: its thread is in native code, or pinned and has had its turn | `take_from`, if the thread came back meanwhile, the thread when it comes back, or the giver of a slot → ACTIVE; the base context → IDLE |
//! | IDLE | has no slot, and sleeps or is about to | the worker itself, when it gets one → ACTIVE |
//!
//! A slot is taken from a thread by the protocol that stops threads (`saki_thread::protocol`), with the bit TAKEN in
//! the place of STOP: the taker asks the thread, then a heavy barrier, then it looks whether the thread is still in its
//! safe region; the thread leaves that region, then a light barrier, then it looks whether it was asked. One of the two
//! sees the other, so the thread either has its slot or asks for one (`reclaim`).
//!
//! A thread that is pinned to its OS thread cannot wait for a slot in a queue of threads. It waits in `returning`, and
//! a worker that gives a slot up passes it to the first thread there.
//!
//! | `free`, `returning_count` | | who | ordering |
//! |---|---|---|---|
//! | | as `counts` says | under `counts` | Relaxed: hints; `scheduler` orders its looks by barriers of its own |
//!
//! Invariant: there are as many ACTIVE workers as `target` − `free` says; `counts` is held for a few instructions,
//! never across a switch, a safepoint or a wait. Left out: which worker is woken for a free slot.

use saki_base::locks::rank;
use saki_sync::WaitWord;
use saki_sync::facade::atomic::{AtomicU32, AtomicUsize, Ordering};
use saki_sync::facade::{Mutex, heavy_fence, lock};
use std::collections::VecDeque;

const ACTIVE: u32 = 0;
const TAKEN: u32 = 1;
const IDLE: u32 = 2;

/// A worker's part: whether it has a slot.
pub struct WorkerSlot {
    status: AtomicU32,
    /// Counts slots given to its pinned thread, which sleeps on it.
    activations: WaitWord,
}

impl WorkerSlot {
    /// The state of a worker for which a slot was taken.
    pub fn new_active() -> WorkerSlot {
        WorkerSlot { status: AtomicU32::new(ACTIVE), activations: WaitWord::new(0) }
    }

    pub fn is_active(&self) -> bool {
        // Acquire: pairs with the Release in `set_status`: what the thread that gave or took the slot did before it is
        // seen.
        self.status.load(Ordering::Acquire) == ACTIVE
    }

    /// Under `counts`.
    fn status(&self) -> u32 {
        // Relaxed: ordered by the mutex.
        self.status.load(Ordering::Relaxed)
    }

    /// Under `counts`. Release: for threads that read it without the lock.
    fn set_status(&self, status: u32) {
        self.status.store(status, Ordering::Release);
    }

    /// For a worker that begins, for which a slot was taken.
    pub fn begin(&self) {
        self.set_status(ACTIVE);
    }

    /// How often a slot was given to its pinned thread. Under `counts`.
    fn activations(&self) -> u32 {
        // Relaxed: counted up under the lock only.
        self.activations.load(Ordering::Relaxed)
    }

    /// Gives a slot to the pinned thread that waits for one. Under `counts`.
    fn activate(&self) {
        self.set_status(ACTIVE);
        // Release: the status is visible to a thread that sees the count.
        self.activations.atomic().fetch_add(1, Ordering::Release);
        self.activations.wake(1);
    }

    /// For a pinned thread, in no lock: waits for the activation after the first `seen`. The slot may have been taken
    /// again by then; the thread finds that when it leaves its safe region.
    pub fn wait_for_activation(&self, seen: u32) {
        // Acquire: pairs with `activate`.
        while self.activations.load(Ordering::Acquire) == seen {
            self.activations.wait(seen, None);
        }
    }
}

/// A thread that slots are taken from, as the taker sees it.
pub trait SlotHolder {
    /// Whether it is on its worker, in a safe region that its slot can be taken from. Acquire.
    fn is_safe(&self) -> bool;
    /// Makes the thread check for its slot when it leaves the region.
    fn ask(&self);
    /// Undoes `ask`.
    fn withdraw(&self);
}

/// The outcome for a thread that comes back from native code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reclaimed {
    /// Its worker had the slot all the time, or has one again: it may try to leave its safe region.
    Slot,
    /// Its worker has no slot: the thread has to go to the queue of those that no worker has.
    Nothing,
    /// It is pinned: `WorkerSlot::wait_for_activation` with this number follows, once the scheduler knows that a thread
    /// waits.
    Wait(u32),
}

#[derive(Default)]
struct Counts {
    /// ACTIVE workers, and those that are about to begin as ACTIVE.
    active: usize,
    target: usize,
    /// TAKEN workers whose pinned thread waits for a slot.
    returning: VecDeque<&'static WorkerSlot>,
}

/// See the module header.
pub struct Slots {
    counts: Mutex<rank::SlotCounts, Counts>,
    free: AtomicUsize,
    returning_count: AtomicUsize,
}

impl Slots {
    /// `target` slots, of which `active` are taken.
    pub fn new(target: usize, active: usize) -> Slots {
        Slots {
            counts: Mutex::new(Counts { active, target, returning: VecDeque::new() }),
            free: AtomicUsize::new(target - active),
            returning_count: AtomicUsize::new(0),
        }
    }

    /// Free slots: a hint.
    #[inline(always)]
    pub fn free(&self) -> usize {
        self.free.load(Ordering::Relaxed)
    }

    /// Whether pinned threads wait for slots: a hint.
    #[inline(always)]
    pub fn has_returning(&self) -> bool {
        self.returning_count.load(Ordering::Relaxed) != 0
    }

    /// Takes a free slot for a worker that begins.
    pub fn take_free(&self) -> bool {
        self.take(&mut lock(&self.counts))
    }

    /// Undoes `take_free`.
    pub fn give_free(&self) {
        self.pass_on(&mut lock(&self.counts));
    }

    fn take(&self, counts: &mut Counts) -> bool {
        let is_free = counts.active < counts.target;
        if is_free {
            counts.active += 1;
            self.note(counts);
        }
        is_free
    }

    fn note(&self, counts: &Counts) {
        // Relaxed: see the table.
        self.free.store(counts.target - counts.active, Ordering::Relaxed);
        self.returning_count.store(counts.returning.len(), Ordering::Relaxed);
    }

    /// A slot that was a worker's goes to a pinned thread that waits for one. True if no such thread waits: then the
    /// slot is free.
    fn pass_on(&self, counts: &mut Counts) -> bool {
        let heir = counts.returning.pop_front();
        match heir {
            Some(heir) => heir.activate(),
            None => counts.active -= 1,
        }
        self.note(counts);
        heir.is_none()
    }

    /// For a worker: whether it has a slot, or gets one. A thread that returns from native code and may not change its
    /// OS thread comes first.
    pub fn keep(&self, worker: &WorkerSlot) -> bool {
        // Other threads take the slot only under `counts`, and then the thread on this worker goes to the base context.
        if worker.is_active() && !self.has_returning() {
            return true;
        }
        let mut counts = lock(&self.counts);
        if worker.status() == ACTIVE {
            if counts.returning.is_empty() {
                return true;
            }
            worker.set_status(IDLE);
            self.pass_on(&mut counts);
            return false;
        }
        let has_slot = self.take(&mut counts);
        worker.set_status(if has_slot { ACTIVE } else { IDLE });
        has_slot
    }

    /// For a worker that is about to sleep, with a slot or without.
    pub fn give_back(&self, worker: &WorkerSlot) {
        let mut counts = lock(&self.counts);
        if worker.status() == ACTIVE {
            self.pass_on(&mut counts);
        }
        worker.set_status(IDLE);
    }

    /// Takes the slot of a worker whose thread is in native code. None: the thread is not in native code. True: the
    /// slot is free, and a worker should be woken for it.
    pub fn take_from(&self, worker: &WorkerSlot, thread: &impl SlotHolder) -> Option<bool> {
        let mut counts = lock(&self.counts);
        if worker.status() != ACTIVE || !thread.is_safe() {
            return None;
        }
        // Before the barrier: threads that this thread makes runnable from now on go to the shared queue.
        worker.set_status(TAKEN);
        thread.ask();
        heavy_fence();
        if !thread.is_safe() {
            thread.withdraw();
            worker.set_status(ACTIVE);
            return None;
        }
        Some(self.take_asked(&mut counts, worker))
    }

    /// For a thread in a safe region, on its worker, that is about to block: gives the slot away. Otherwise as
    /// `take_from`.
    pub fn give_own(&self, worker: &WorkerSlot, thread: &impl SlotHolder) -> Option<bool> {
        let mut counts = lock(&self.counts);
        if worker.status() != ACTIVE || !thread.is_safe() {
            return None;
        }
        // The thread is the caller: nothing to wait for.
        thread.ask();
        Some(self.take_asked(&mut counts, worker))
    }

    fn take_asked(&self, counts: &mut Counts, worker: &WorkerSlot) -> bool {
        worker.set_status(TAKEN);
        self.pass_on(counts)
    }

    /// For a thread in a safe region that found that it was asked.
    pub fn reclaim(&self, worker: &'static WorkerSlot, thread: &impl SlotHolder, is_pinned: bool) -> Reclaimed {
        let mut counts = lock(&self.counts);
        thread.withdraw();
        if worker.status() != TAKEN {
            return Reclaimed::Slot;
        }
        if self.take(&mut counts) {
            worker.set_status(ACTIVE);
            return Reclaimed::Slot;
        }
        if !is_pinned {
            return Reclaimed::Nothing;
        }
        let seen = worker.activations();
        counts.returning.push_back(worker);
        self.note(&counts);
        Reclaimed::Wait(seen)
    }

    /// For a pinned thread that has had its turn, and its worker: gives the slot away and queues for another one.
    /// `WorkerSlot::wait_for_activation` with the number follows. `is_for_queues`: the slot is to be free, for a thread
    /// in a queue, and not a pinned one's. True: it is free.
    pub fn wait_for_turn(&self, worker: &'static WorkerSlot, is_for_queues: bool) -> (u32, bool) {
        let mut counts = lock(&self.counts);
        let seen = worker.activations();
        worker.set_status(TAKEN);
        let next = if is_for_queues { None } else { counts.returning.pop_front() };
        counts.returning.push_back(worker);
        match next {
            Some(next) => next.activate(),
            None => counts.active -= 1,
        }
        self.note(&counts);
        (seen, next.is_none())
    }

    /// For a worker that ends. True: it had a slot, for which no thread waits; the caller has it now.
    pub fn leave(&self, worker: &WorkerSlot) -> bool {
        let mut counts = lock(&self.counts);
        let had_slot = worker.status() == ACTIVE;
        worker.set_status(IDLE);
        let next = if had_slot { counts.returning.pop_front() } else { None };
        self.note(&counts);
        match next {
            Some(next) => {
                next.activate();
                false
            }
            None => had_slot,
        }
    }
}

#[cfg(all(test, loom))]
mod model;

//! A worker: the scheduler's part of a carrier. It has the threads that wait for their turn there, and its base
//! context.
//!
//! `slots` says whether a worker has a slot. Left out: the switch from one thread to the next (`switch`), and the list
//! of workers (`workers`).
//!
//! Invariant: a worker without a slot keeps no threads waiting: they go to the shared queue when it loses the slot
//! (`runnable::spill`). A worker with a slot steals from others only when it finds no thread in its own queues and the
//! shared ones.

use crate::green::Green;
use crate::lookahead;
use crate::parts::{injector, pop_shared, preempted};
use crate::poller;
use crate::queue::RunQueue;
use crate::run_next::RunNext;
use crate::slots::WorkerSlot;
use saki_fiber::Context;
use saki_thread::Carrier;
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// How often the shared queues come before the worker's own: one time in so many.
const SHARED_TICKS: u64 = 61;

/// How often a worker looks for events (`poller`): after so many switches, which is some 100 µs of short turns.
const LOOK_TICKS: u64 = 61;

/// Above the capacity of a few rings the shared queue is where most threads wait.
const MANY_INJECTED: usize = 128;

/// The work that remains to be done for a thread that was switched away from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum After {
    /// It waits for a token.
    Park,
    /// It goes on after other threads have had their turn.
    Yield,
    /// It has lost its carrier, and goes on when it gets one.
    Requeue,
    /// It has ended: its stack is free.
    End,
}

/// See the module header.
pub(crate) struct Worker {
    /// Null before its OS thread is attached, and after that has ended.
    carrier: AtomicPtr<Carrier>,
    /// Its number in `IdleCarriers`.
    pub(crate) number: usize,
    pub(crate) slot: WorkerSlot,
    /// The thread that runs next, before those in the queue.
    run_next: RunNext<&'static Green>,
    queue: RunQueue<&'static Green>,
    /// Counts switches; the watcher compares. Relaxed: the worker's OS thread alone writes it.
    pub(crate) ticks: AtomicU64,
    /// `ticks` when it last looked for events.
    looked_at: Cell<u64>,
    /// True while the worker deals with events: threads that become runnable go to the end of its queue, and no worker
    /// is woken for them.
    is_collecting: Cell<bool>,
    base: UnsafeCell<Context>,
    /// The thread that was switched away from.
    pub(crate) after: Cell<Option<(After, &'static Green)>>,
}

// SAFETY: the cells are touched by the worker's OS thread only.
unsafe impl Sync for Worker {}
// SAFETY: a worker is made before its OS thread begins and is then touched by that one alone; none of its cells refers
// to the thread that made it.
unsafe impl Send for Worker {}

thread_local! {
    static HERE: Cell<Option<&'static Worker>> = const { Cell::new(None) };
}

/// The worker of the calling OS thread. Never inlined: no compiler may keep the address of a thread-local across a
/// switch.
#[inline(never)]
pub(crate) fn here() -> Option<&'static Worker> {
    HERE.get()
}

#[inline(never)]
pub(crate) fn set_here(worker: &'static Worker) {
    HERE.set(Some(worker));
}

/// The calling OS thread ends.
#[inline(never)]
pub(crate) fn forget_here() {
    HERE.set(None);
}

/// The worker of the calling OS thread, which runs a green thread.
pub(crate) fn here_for_switch() -> &'static Worker {
    here().unwrap_or_else(|| saki_base::bug!("a green thread outside its scheduler"))
}

impl Worker {
    pub(crate) fn leak(number: usize) -> &'static Worker {
        saki_base::leak(Worker {
            carrier: AtomicPtr::new(std::ptr::null_mut()),
            number,
            slot: WorkerSlot::new_active(),
            run_next: RunNext::new(),
            queue: RunQueue::new(),
            ticks: AtomicU64::new(0),
            looked_at: Cell::new(0),
            is_collecting: Cell::new(false),
            base: UnsafeCell::default(),
            after: Cell::new(None),
        })
    }

    /// Release: the carrier's record is visible with it.
    pub(crate) fn set_carrier(&self, carrier: Option<&'static Carrier>) {
        self.carrier.store(carrier.map_or(std::ptr::null(), std::ptr::from_ref).cast_mut(), Ordering::Release);
    }

    #[inline(always)]
    pub(crate) fn carrier(&self) -> Option<&'static Carrier> {
        // Acquire: pairs with the Release in `set_carrier`: the record is set up.
        // SAFETY: null, or a record that is never freed.
        unsafe { self.carrier.load(Ordering::Acquire).as_ref() }
    }

    pub(crate) fn as_pointer(&'static self) -> *mut () {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// The base context, for the main thread's worker, whose OS stack is the main thread's.
    pub(crate) fn set_base(&self, base: Context) {
        // SAFETY: the worker's OS thread sets it before anything runs.
        unsafe { *self.base.get() = base };
    }

    #[inline(always)]
    pub(crate) fn base(&self) -> *mut Context {
        self.base.get()
    }

    pub(crate) fn is_active(&self) -> bool {
        self.slot.is_active()
    }

    /// For the worker's OS thread: `green` runs as soon as the present thread gives way. The thread that was to run
    /// next, if any, goes to the queue; true then.
    pub(crate) fn push_next(&self, green: &'static Green) -> bool {
        match self.run_next.push(green) {
            Some(before) => {
                self.queue.push_or_spill(before, injector());
                true
            }
            None => false,
        }
    }

    /// For the worker's OS thread: `green` runs after all others in the queue.
    pub(crate) fn push_last(&self, green: &'static Green) {
        self.queue.push_or_spill(green, injector());
    }

    /// For the worker's OS thread. See the field.
    pub(crate) fn set_collecting(&self, is_collecting: bool) {
        self.is_collecting.set(is_collecting);
    }

    pub(crate) fn is_collecting(&self) -> bool {
        self.is_collecting.get()
    }

    /// For the worker's OS thread, which looks for events.
    pub(crate) fn note_look(&self) {
        self.looked_at.set(self.ticks.load(Ordering::Relaxed));
    }

    /// Whether it is time to look for events, if there is something to look for.
    #[inline]
    pub(crate) fn is_look_due(&self) -> bool {
        self.ticks.load(Ordering::Relaxed).wrapping_sub(self.looked_at.get()) >= LOOK_TICKS && poller::get().is_some()
    }

    /// For this worker: half of the victim's queue, the first thread of which is returned.
    pub(crate) fn steal_from(&self, victim: &Worker) -> Option<&'static Green> {
        victim.queue.steal_half_into(&self.queue)
    }

    /// For other workers, when the victim has not come to it for long.
    pub(crate) fn steal_next_from(&self, victim: &Worker) -> Option<&'static Green> {
        victim.run_next.steal()
    }

    pub(crate) fn has_next(&self) -> bool {
        self.run_next.is_some()
    }

    pub(crate) fn has_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    /// For any thread: takes the threads in the worker's queues, the next one first.
    pub(crate) fn take_all(&self) -> impl Iterator<Item = &'static Green> {
        std::iter::from_fn(|| self.run_next.steal().or_else(|| self.queue.steal()))
    }

    /// The next thread from this worker's own queues, or else from the shared ones.
    pub(crate) fn pick(&self) -> Option<&'static Green> {
        let ticks = self.ticks.load(Ordering::Relaxed).wrapping_add(1);
        // Relaxed: the watcher compares for equality.
        self.ticks.store(ticks, Ordering::Relaxed);
        // Now and then the queues are tried in another order, so that none starves.
        if ticks.is_multiple_of(SHARED_TICKS) {
            let (preempted, injected) = (preempted(), injector());
            let found = match ticks / SHARED_TICKS % 3 {
                0 => preempted.pop().or_else(|| injected.pop()).or_else(|| self.queue.pop()),
                1 => injected.pop().or_else(|| self.queue.pop()).or_else(|| preempted.pop()),
                _ => self.queue.pop().or_else(|| preempted.pop()).or_else(|| injected.pop()),
            };
            if found.is_some() {
                return found;
            }
        }
        // Many that do not fit into the rings wait there: they get every other turn.
        if ticks.is_multiple_of(2)
            && injector().len() > MANY_INJECTED
            && let Some(green) = injector().pop_before(lookahead::fetch)
        {
            return Some(green);
        }
        self.run_next.pop().or_else(|| self.pop_queued()).or_else(pop_shared)
    }

    fn pop_queued(&self) -> Option<&'static Green> {
        let green = self.queue.pop()?;
        lookahead::fetch(self.queue.peek(0), self.queue.peek(1));
        Some(green)
    }
}

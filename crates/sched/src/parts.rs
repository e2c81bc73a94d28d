//! What all workers share: stacks, slots, the idle workers, threads that no worker has, timers.

use crate::green::Green;
use crate::idle::IdleCarriers;
use crate::injector::Injector;
use crate::poller;
use crate::slots::Slots;
use crate::timers::Timers;
use saki_fiber::{StackPool, StackPoolOptions};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The maximum number of workers: each worker that is blocked in native code costs an OS thread.
pub(crate) const MAX_WORKERS: usize = 1024;

/// The scheduler's state, which exists from `start` on in modes with green threads.
pub(crate) struct Parts {
    pub(crate) stacks: StackPool,
    slots: Slots,
    idle: IdleCarriers,
    injector: Injector<&'static Green>,
    /// Threads whose quantum was over: they run after all others, except that one of them runs first now and then.
    preempted: Injector<&'static Green>,
    pub(crate) timers: Timers<&'static Green>,
}

/// Null with native threads. Changes when the scheduler starts, before there are workers: once in the process that
/// starts it, and once in each forked child, whose parent's threads may have been in the middle of any change. Release,
/// read with Acquire.
static PARTS: AtomicPtr<Parts> = AtomicPtr::new(std::ptr::null_mut());

/// Makes the shared state, with slots for so many carriers, of which the calling thread's has one if it `is_carrier`.
pub(crate) fn make(carriers: usize, is_carrier: bool) -> &'static Parts {
    let parts: &'static Parts = saki_base::leak(Parts {
        stacks: StackPool::new(StackPoolOptions::default()),
        slots: Slots::new(carriers, usize::from(is_carrier)),
        idle: IdleCarriers::new(MAX_WORKERS, poller::interrupt),
        injector: Injector::new(),
        preempted: Injector::new(),
        timers: Timers::new(),
    });
    PARTS.store(std::ptr::from_ref(parts).cast_mut(), Ordering::Release);
    parts
}

/// None with native threads.
#[inline(always)]
pub(crate) fn get() -> Option<&'static Parts> {
    // SAFETY: null, or from `make`; never freed.
    unsafe { PARTS.load(Ordering::Acquire).as_ref() }
}

pub(crate) fn parts() -> &'static Parts {
    get().unwrap_or_else(|| saki_base::bug!("a green thread without a scheduler"))
}

pub(crate) fn slots() -> &'static Slots {
    &parts().slots
}

pub(crate) fn stacks() -> &'static StackPool {
    &parts().stacks
}

pub(crate) fn injector() -> &'static Injector<&'static Green> {
    &parts().injector
}

/// Threads that have had their turn.
pub(crate) fn preempted() -> &'static Injector<&'static Green> {
    &parts().preempted
}

pub(crate) fn idle() -> &'static IdleCarriers {
    &parts().idle
}

/// If no thread waits for events, wakes an idle worker, with or without a slot, which then waits for them. Returns
/// whether a thread does.
pub(crate) fn is_polled() -> bool {
    let idle = idle();
    idle.is_polled() || idle.wake_one()
}

/// The next thread from the queue of those that no worker has.
pub(crate) fn pop_shared() -> Option<&'static Green> {
    injector().pop().or_else(|| preempted().pop())
}

/// Whether threads wait that any worker's slot would do for: in the shared queues, or back from native code.
pub(crate) fn has_injected() -> bool {
    !injector().is_empty() || !preempted().is_empty() || slots().has_returning()
}

/// When timers have to be checked next; None without timers.
pub(crate) fn next_deadline_ns() -> Option<u64> {
    parts().timers.next_deadline_ns()
}

/// Whether a worker sleeps that there is a slot for.
pub(crate) fn has_idle() -> bool {
    slots().free() != 0 && parts().idle.counts().0 != 0
}

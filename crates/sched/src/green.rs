//! The scheduler's part of a green thread, and how it parks.
//!
//! | state | meaning | transitions |
//! |---|---|---|
//! | EMPTY | no token; runs, or is about to be switched away from | owner: → PARKED by whoever runs after the switch (CAS AcqRel), → IN_PLACE (CAS Relaxed) |
//! | NOTIFIED | token present | owner: takes it → EMPTY (swap Acquire, pairs with the swap of `unpark`) |
//! | PARKED | suspended, registers saved | anyone: `unpark` → NOTIFIED (swap AcqRel) and makes it runnable |
//! | IN_PLACE | sleeps on its OS thread | anyone: `unpark` → NOTIFIED and wakes; owner on timeout → EMPTY |
//!
//! A thread becomes PARKED only after its registers are on its stack, by the context that runs next (`worker::After`): before that nobody may
//! resume it. A token that comes in between makes that step fail, and the thread is made runnable instead.
//!
//! Invariant: records belong to thread structures, which are used again and never freed; so a late `unpark` leaves a stale token at worst.

use crate::scheduler;
use crate::worker::{self, After};
use saki_fiber::{Context, PooledStack};
use saki_sync::{ManagedParker, ParkHooks, WaitWord};
use saki_thread::ManagedThread;
use std::cell::UnsafeCell;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;
const PARKED: u32 = 2;
const IN_PLACE: u32 = 3;

pub(crate) type Body = Box<dyn FnOnce(&'static ManagedThread) + Send>;

/// See the module header.
pub(crate) struct Green {
    pub(crate) thread: &'static ManagedThread,
    /// Where it goes on; valid while it is suspended.
    pub(crate) context: UnsafeCell<Context>,
    state: WaitWord,
    /// None for the main thread, which runs on the stack that the process began with.
    pub(crate) stack: UnsafeCell<Option<PooledStack>>,
    /// What it does, until it begins.
    pub(crate) body: UnsafeCell<Option<Body>>,
}

// SAFETY: the cells are touched by one context at a time: the creator before the thread is runnable, the thread itself, and whoever runs
// after it on its carrier; run queues and `state` order these.
unsafe impl Sync for Green {}
// SAFETY: as above.
unsafe impl Send for Green {}

static PARK_HOOKS: ParkHooks = ParkHooks { park, unpark };

impl Green {
    /// The record of `thread`, made if it has none yet.
    pub(crate) fn of_new(thread: &'static ManagedThread) -> &'static Green {
        if let Some(green) = Green::of(thread) {
            return green;
        }
        let green: &'static Green = saki_base::leak(Green {
            thread,
            context: UnsafeCell::default(),
            state: WaitWord::new(EMPTY),
            stack: UnsafeCell::new(None),
            body: UnsafeCell::new(None),
        });
        thread.monitor_node().parker.set_hooks(&PARK_HOOKS, green.as_pointer());
        green
    }

    /// The record of a green thread.
    #[inline(always)]
    pub(crate) fn of(thread: &ManagedThread) -> Option<&'static Green> {
        // SAFETY: null, or a record from `of_new`.
        unsafe { thread.scheduler_data().cast::<Green>().as_ref() }
    }

    pub(crate) fn as_pointer(&'static self) -> *mut () {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// For the context that runs after the thread was switched away from: it may be resumed from now on. False if it has a token already.
    pub(crate) fn publish_parked(&self) -> bool {
        // AcqRel: the saved registers are visible to whoever resumes it; what a token published is visible here.
        self.state.atomic().compare_exchange(EMPTY, PARKED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    fn take_token(&self) -> bool {
        // Acquire: pairs with `unpark`.
        self.state.atomic().swap(EMPTY, Ordering::Acquire) == NOTIFIED
    }

    /// The contract of `Parker::park`, but that a wait whose time has passed ends as one with a token: callers look at the clock.
    fn park(&'static self, timeout: Option<Duration>) -> bool {
        // Acquire: as in `take_token`.
        if self.state.atomic().compare_exchange(NOTIFIED, EMPTY, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return true;
        }
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            return false;
        }
        if self.thread.is_safe() {
            return self.park_in_place(timeout);
        }
        let timer = timeout.map(|timeout| scheduler::start_timer(timeout, self));
        worker::leave(self, After::Park);
        if let Some(timer) = timer {
            scheduler::cancel_timer(timer);
        }
        self.take_token();
        true
    }

    /// Parks the OS thread: inside a safe region, which native code may be around, or pinned.
    fn park_in_place(&self, timeout: Option<Duration>) -> bool {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        // Relaxed: publishes nothing. Failure means NOTIFIED, taken below.
        let _ = self.state.atomic().compare_exchange(EMPTY, IN_PLACE, Ordering::Relaxed, Ordering::Relaxed);
        while self.state.load(Ordering::Relaxed) != NOTIFIED {
            let rest = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if rest.is_some_and(|rest| rest.is_zero()) || !self.state.wait(IN_PLACE, rest) {
                break;
            }
        }
        self.take_token()
    }

    /// Leaves a token, and makes the thread runnable if it is parked.
    pub(crate) fn unpark(&'static self) {
        // AcqRel: Release pairs with the owner's Acquire; Acquire with `publish_parked`.
        match self.state.atomic().swap(NOTIFIED, Ordering::AcqRel) {
            PARKED => scheduler::make_runnable(self),
            IN_PLACE => self.state.wake(1),
            _ => {}
        }
    }
}

fn green_of(parker: &ManagedParker) -> &'static Green {
    // SAFETY: the context that `of_new` set together with these hooks; records are never freed.
    unsafe { &*parker.context().cast::<Green>() }
}

fn park(parker: &ManagedParker, timeout: Option<Duration>) -> bool {
    green_of(parker).park(timeout)
}

fn unpark(parker: &ManagedParker) {
    green_of(parker).unpark();
}

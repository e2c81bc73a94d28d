//! The scheduler's part of a green thread, and how it parks (`ParkWord`).
//!
//! Invariant: records belong to thread structures, which are reused and never freed; so a late `unpark` leaves a stale token at worst.

use crate::dispatch::{self, Dispatch};
use crate::park_word::ParkWord;
use crate::scheduler;
use crate::worker::{self, After};
use saki_fiber::{Context, PooledStack};
use saki_sync::{ManagedParker, ParkHooks};
use saki_thread::ManagedThread;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

pub(crate) type Body = Box<dyn FnOnce(&'static ManagedThread) + Send>;

/// See the module header.
pub(crate) struct Green {
    pub(crate) thread: &'static ManagedThread,
    /// Its saved context; valid while it is suspended.
    pub(crate) context: UnsafeCell<Context>,
    pub(crate) word: ParkWord,
    /// Whether it has run since the mover of stacks last looked, and whether the mover's list has it (`cold`).
    pub(crate) has_run: AtomicBool,
    pub(crate) is_listed: AtomicBool,
    /// When the thread was woken, if there is an observer (`dispatch`), else 0. Relaxed: the carrier that switches to the thread has seen it
    /// become runnable.
    pub(crate) ready_ns: AtomicU64,
    /// None for the main thread, which runs on the stack that the process began with.
    pub(crate) stack: UnsafeCell<Option<PooledStack>>,
    /// The function that it will run, until it begins.
    pub(crate) body: UnsafeCell<Option<Body>>,
}

// SAFETY: the cells are touched by one context at a time: the creator before the thread is runnable, the thread itself, the context
// that runs after it on its carrier, and the mover of stacks while it is parked; run queues and `word` order these.
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
            word: ParkWord::default(),
            has_run: AtomicBool::new(false),
            is_listed: AtomicBool::new(false),
            ready_ns: AtomicU64::new(0),
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

    /// The contract of `Parker::park`, but that a wait whose time has passed ends as one with a token: callers look at the clock.
    fn park(&'static self, timeout: Option<Duration>) -> bool {
        if self.word.take_present_token() {
            return true;
        }
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            return false;
        }
        if self.thread.is_safe() {
            // Native code may be around; or the thread is pinned.
            return self.word.wait_in_place(timeout);
        }
        let timer = timeout.map(|timeout| scheduler::start_timer(timeout, self));
        let before = worker::here().map(std::ptr::from_ref);
        worker::leave(self, After::Park);
        let has_moved = before != worker::here().map(std::ptr::from_ref);
        dispatch::tell(self.thread, Dispatch::Parked { has_moved }, self.ready_ns.swap(0, Ordering::Relaxed));
        if let Some(timer) = timer {
            scheduler::cancel_timer(timer);
        }
        self.word.take_token();
        true
    }

    /// Leaves a token, and makes the thread runnable if it is parked.
    pub(crate) fn unpark(&'static self) {
        if self.word.unpark() {
            self.ready_ns.store(dispatch::ready_now(), Ordering::Relaxed);
            scheduler::make_runnable(self);
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

//! The interface between a scheduler of green threads (`saki_sched`) and the threads.
//!
//! A green thread waits in state WAITING, with its carrier's allocation buffer moved into the carrier (`Carrier::stow`), so that the carrier
//! can go on with another thread. While the thread is in a safe region for native code its carrier can be taken from it: the scheduler sets
//! [`POLL_TAKEN`] and finds the thread still SAFE (a heavy fence between the two, as for stops), and the thread asks for a carrier when it
//! leaves the region.
//!
//! Invariant: a carrier switches away only from a thread in state WAITING, and only when that thread itself asks for it. Left out: the choice of
//! the thread that runs next.

use crate::carrier::Carrier;
use crate::current::set_current;
use crate::managed_thread::{ManagedThread, ThreadKind};
use crate::protocol::{RUNNING, SAFE, WAITING};
use crate::registry::{self, ThreadRef};
use crate::request::{POLL_STOP, POLL_TAKEN, POLL_YIELD};
use crate::safepoint::STOP_WORDS;
use crate::spill::with_spilled_registers;
use saki_os::signal::AlternateStackMemory;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// The scheduler's functions for threads. Called on the thread itself.
pub struct SchedulerHooks {
    /// The thread is SAFE and leaves native code, and its carrier was taken; returns on a carrier.
    pub reclaim: fn(&'static ManagedThread),
    /// The thread is RUNNING; returns after other threads have had their turn.
    pub yield_now: fn(&'static ManagedThread),
    /// The thread is SAFE, and its next call blocks: its carrier can be taken at once.
    pub about_to_block: fn(&'static ManagedThread),
    /// Puts all stacks that lie elsewhere (`cold_stack`) back in their places. The world is stopped.
    pub restore_cold_stacks: fn(),
}

static HOOKS: OnceLock<&'static SchedulerHooks> = OnceLock::new();

/// Installs the scheduler; once, before the first green thread.
pub fn install_scheduler(hooks: &'static SchedulerHooks) {
    if HOOKS.set(hooks).is_err() {
        saki_base::bug!("two schedulers");
    }
}

impl ManagedThread {
    /// Whether a scheduler gives the thread its carriers.
    #[inline(always)]
    pub fn is_green(&self) -> bool {
        !self.scheduler_data().is_null()
    }

    /// As `static`: structures are never freed.
    pub(crate) fn as_static(&self) -> &'static ManagedThread {
        // SAFETY: structures are leaked.
        unsafe { &*std::ptr::from_ref(self) }
    }

    /// Runs `f` in state WAITING, in which it may switch to other threads; after it the thread may be on another carrier. Called by the thread
    /// itself, RUNNING and green.
    pub fn waiting<R>(&self, f: impl FnOnce() -> R) -> R {
        debug_assert!(self.is_running() && self.is_green());
        self.prepare_to_leave_carrier();
        let result = with_spilled_registers(|sp| {
            // Relaxed: the Release store of the state publishes it.
            self.published_sp.store(sp, Ordering::Relaxed);
            STOP_WORDS.enter(&self.state, self.poll_word(), WAITING);
            let result = f();
            self.leave_safe();
            result
        });
        if let Some(carrier) = self.carrier() {
            carrier.unstow(self);
        }
        result
    }

    /// While RUNNING, before the thread may be switched away from.
    #[inline(always)]
    fn prepare_to_leave_carrier(&self) {
        if let Some(carrier) = self.carrier() {
            carrier.note_ran(self.as_static());
            carrier.stow(self);
        }
    }

    /// `Thread.Yield`: lets another thread run. Called by the thread itself.
    pub fn yield_now(&self) {
        match HOOKS.get() {
            Some(hooks) if self.is_green() && self.is_running() => (hooks.yield_now)(self.as_static()),
            _ => self.blocking(std::thread::yield_now),
        }
    }

    /// At a poll: gives the carrier away if the scheduler asked for it.
    #[cold]
    pub(crate) fn yield_if_asked(&self) {
        // Acquire: as for other poll bits.
        if self.poll_word().load(Ordering::Acquire) & POLL_YIELD != 0 {
            self.clear_poll(POLL_YIELD);
            self.yield_now();
        }
    }

    /// In a safe region: says that the thread is about to block.
    #[inline]
    pub(crate) fn tell_about_block(&self) {
        if self.is_green()
            && let Some(hooks) = HOOKS.get()
        {
            (hooks.about_to_block)(self.as_static());
        }
    }

    /// The thread left a safe region and found that a stop is requested or its carrier was taken; it is SAFE again.
    #[cold]
    pub(crate) fn leave_safe_slow(&self) {
        // The thread may be on another OS thread afterwards, which has another `errno`.
        let errno = saki_os::error::errno();
        self.leave_safe_waiting();
        saki_os::error::set_errno(errno);
    }

    fn leave_safe_waiting(&self) {
        loop {
            let poll = self.poll_word().load(Ordering::Acquire);
            if poll & POLL_STOP != 0 {
                STOP_WORDS.wait_out_stop(&self.state, self.poll_word(), SAFE);
                self.state.store(SAFE, Ordering::Release);
            } else if poll & POLL_TAKEN != 0 {
                match HOOKS.get() {
                    Some(hooks) => (hooks.reclaim)(self.as_static()),
                    None => saki_base::bug!("a carrier was taken without a scheduler"),
                }
            }
            if STOP_WORDS.try_leave_safe(&self.state, self.poll_word()) {
                return;
            }
        }
    }

    /// Keeps the thread on its OS thread until `unpin`: native code below, or the program, counts on it. Counted; called by the thread itself.
    pub fn pin(&self) {
        self.pins.fetch_add(1, Ordering::Relaxed);
    }

    pub fn unpin(&self) {
        self.pins.fetch_sub(1, Ordering::Relaxed);
    }

    pub fn is_pinned(&self) -> bool {
        // Relaxed: only the thread itself changes it.
        self.pins.load(Ordering::Relaxed) != 0
    }

    /// Whether the thread is in a safe region that its carrier can be taken from. For the scheduler, after its heavy fence.
    pub fn is_safe(&self) -> bool {
        self.state.load(Ordering::Acquire) == SAFE
    }

    /// While SAFE, on the thread itself: puts the carrier's buffer by, so that the thread can be switched away from, and becomes WAITING.
    /// Everything published stays as it is.
    pub fn become_waiting(&self) {
        STOP_WORDS.leave_safe(&self.state, self.poll_word());
        self.prepare_to_leave_carrier();
        STOP_WORDS.enter(&self.state, self.poll_word(), WAITING);
    }

    /// After `become_waiting` and a switch, on the new carrier: SAFE again, with the carrier's buffer.
    pub fn end_waiting(&self) {
        STOP_WORDS.leave_safe(&self.state, self.poll_word());
        if let Some(carrier) = self.carrier() {
            carrier.unstow(self);
        }
        STOP_WORDS.enter(&self.state, self.poll_word(), SAFE);
    }
}

/// See `SchedulerHooks`.
pub(crate) fn restore_cold_stacks() {
    if let Some(hooks) = HOOKS.get() {
        (hooks.restore_cold_stacks)();
    }
}

/// Gives the calling OS thread a carrier for the scheduler, which runs nothing yet.
pub fn attach_scheduler_carrier(alternate_stack: AlternateStackMemory, scheduler: *mut ()) -> &'static Carrier {
    saki_os::membarrier::initialise();
    registry::attach_scheduler_carrier(alternate_stack, scheduler)
}

/// The calling OS thread ends, whose carrier runs nothing.
pub fn detach_scheduler_carrier(carrier: &'static Carrier) {
    registry::detach_scheduler_carrier(carrier);
}

/// Sets the thread that the calling OS thread's carrier runs, or none. The thread that it ran is WAITING; `thread` is WAITING or has not
/// begun; the buffer is stowed.
#[inline(always)]
pub fn take_up(carrier: &'static Carrier, thread: Option<&'static ManagedThread>) {
    carrier.set_current(thread);
    set_current(thread);
}

/// After a switch, on the new thread's stack or the carrier's own: waits while a stop is requested whose stopper may not have seen the
/// carrier's present thread.
#[inline(always)]
pub fn heed_stop(carrier: &Carrier) {
    saki_os::membarrier::light();
    if carrier.stop.load(Ordering::Acquire) & POLL_STOP != 0 {
        STOP_WORDS.wait_until_resumed(&carrier.stop);
    }
}

/// A structure for a green thread that has not begun, with the scheduler's part; `make` makes that for a new structure, or readies the old.
pub fn create_green(
    kind: ThreadKind,
    name: Option<&str>,
    make: impl FnOnce(&'static ManagedThread) -> *mut (),
) -> ThreadRef {
    let thread = ThreadRef::create_green(kind, name);
    thread.set_scheduler_data(make(thread.as_static()));
    thread
}

/// Runs `f` as the body of a green thread, on its own stack, below which is `guard`. The thread is on a carrier for the first time. Afterwards
/// it is in no list, WAITING, and runs no more; `end_green` follows once its stack is not used any more.
pub fn run_green(
    thread: &'static ManagedThread,
    stack: Range<usize>,
    guard: &Range<usize>,
    f: impl FnOnce(&'static ManagedThread),
) {
    thread.set_usable_stack(stack);
    thread.stack_reserve.set_up_pooled(guard);
    // The list's own reference, dropped by `end_green`.
    std::mem::forget(ThreadRef::to(thread));
    STOP_WORDS.leave_safe(&thread.state, thread.poll_word());
    debug_assert!(thread.state.load(Ordering::Relaxed) == RUNNING);
    if let Some(carrier) = thread.carrier() {
        carrier.unstow(thread);
    }
    registry::attach_green(thread);
    f(thread);
    registry::detach_green(thread);
    thread.stack_reserve.take_down();
    if let Some(carrier) = thread.carrier() {
        carrier.stow(thread);
    }
    // No frame of this thread holds references any more, so nothing of the stack is to be scanned.
    thread.published_sp.store(0, Ordering::Relaxed);
    STOP_WORDS.enter(&thread.state, thread.poll_word(), WAITING);
}

/// A green thread ended its OS thread inside native code, and is WAITING: it runs no more, and its stack is used no more. Afterwards it is in no
/// list; `end_green` follows. The caller is attached to nothing.
pub fn detach_ended(thread: &'static ManagedThread) {
    registry::tell_native_end(thread);
    registry::detach_ended_green(thread);
}

/// The thread of `run_green` has left its stack: threads that wait for its end go on.
pub fn end_green(thread: &'static ManagedThread) {
    thread.state.store(SAFE, Ordering::Release);
    registry::tell_end(thread);
}

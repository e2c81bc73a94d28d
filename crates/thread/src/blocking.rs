//! Safe regions: code that touches no managed object and during which the world may be stopped.
//!
//! Invariant: on entry the callee-saved registers lie on the stack at or above the published stack pointer; code
//! inside a region does not read or write references held by the frames above. Leaving a region waits while the world
//! is stopped. Nested regions count as one. Left out: the blocking calls themselves.

use crate::current::current;
use crate::managed_thread::ManagedThread;
use crate::protocol::{RUNNING, SAFE, STOPPED};
use crate::request::{POLL_STOP, POLL_TAKEN};
use crate::scheduler_hooks::scheduler_hooks;
use crate::spill::{CALLEE_SAVED_COUNT, capture_registers, stack_pointer, with_spilled_registers};
use crate::stop::STOP_WORDS;
use saki_sync::RawLock;
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

/// Runs `f` in a safe region of the current thread; plainly when the thread is not attached.
pub fn blocking<R>(f: impl FnOnce() -> R) -> R {
    match current() {
        Some(thread) => thread.blocking(f),
        None => f(),
    }
}

/// Takes a lock, waiting for it in a safe region. The calling thread never waits while it holds the lock: when a stop
/// is requested, or its carrier was taken, it gives the lock back first. So a thread that has stopped the world may
/// take such a lock if its sections have no safepoint.
pub fn lock_in_safe_region(lock: &RawLock) {
    let Some(thread) = current() else {
        return lock.lock();
    };
    if lock.try_lock() {
        return;
    }
    loop {
        let region = thread.enter_safe_region();
        lock.lock();
        match region.try_leave() {
            Ok(()) => return,
            Err(region) => {
                lock.unlock();
                region.leave();
            }
        }
    }
}

/// Leaves the region when dropped, also by a panic.
struct Leave<'a>(&'a ManagedThread);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.leave_safe();
        // Relaxed: the thread is RUNNING, so the flag is not read.
        self.0.is_in_runtime.store(false, Ordering::Relaxed);
    }
}

/// Leaves the region of `blocking_in_place` when dropped, also by a panic.
struct LeaveInPlace<'a>(&'a ManagedThread);

impl Drop for LeaveInPlace<'_> {
    fn drop(&mut self) {
        saki_base::locks::order::check_safepoint();
        STOP_WORDS.leave_stopped(&self.0.state, self.0.poll_word());
    }
}

impl ManagedThread {
    /// Runs `f` in a safe region. Called by the thread itself.
    pub fn blocking<R>(&self, f: impl FnOnce() -> R) -> R {
        // Relaxed: our own state.
        if self.state.load(Ordering::Relaxed) != RUNNING {
            return f();
        }
        with_spilled_registers(|sp| {
            // Relaxed: the Release store of the state publishes it.
            self.is_in_runtime.store(true, Ordering::Relaxed);
            self.publish_and_enter(sp);
            let _leave = Leave(self);
            self.tell_about_block();
            f()
        })
    }

    /// SAFE, or WAITING on a carrier: RUNNING, after a stop if there is one, and on a carrier.
    #[inline(always)]
    pub(crate) fn leave_safe(&self) {
        saki_base::locks::order::check_safepoint();
        if !STOP_WORDS.try_leave_safe(&self.state, self.poll_word()) {
            self.leave_safe_slow();
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
            self.come_back_if_forked();
            // Acquire: pairs with the Release of those who set bits.
            let poll = self.poll_word().load(Ordering::Acquire);
            if poll & POLL_STOP != 0 {
                STOP_WORDS.wait_out_stop(&self.state, self.poll_word(), SAFE);
                // Release: the stopper that sees SAFE sees the stack; see `protocol`.
                self.state.store(SAFE, Ordering::Release);
            } else if poll & POLL_TAKEN != 0 {
                match scheduler_hooks() {
                    Some(hooks) => (hooks.reclaim)(self.as_static()),
                    None => saki_base::bug!("a carrier was taken without a scheduler"),
                }
            }
            if STOP_WORDS.try_leave_safe(&self.state, self.poll_word()) {
                return;
            }
        }
    }

    /// In a safe region: says that the thread is about to block.
    #[inline]
    pub(crate) fn tell_about_block(&self) {
        if self.is_green()
            && let Some(hooks) = scheduler_hooks()
        {
            (hooks.about_to_block)(self.as_static());
        }
    }

    /// Runs `f` in a safe region in which the thread keeps its carrier however long `f` takes, and until the world runs
    /// again: for waits of the runtime itself, which changes the carrier's parts. Called by the thread itself.
    pub fn blocking_in_place<R>(&self, f: impl FnOnce() -> R) -> R {
        // Relaxed: our own state.
        if self.state.load(Ordering::Relaxed) != RUNNING {
            return f();
        }
        with_spilled_registers(|sp| {
            // Relaxed: the Release store of the state publishes it.
            self.published_sp.store(sp, Ordering::Relaxed);
            STOP_WORDS.enter(&self.state, self.poll_word(), STOPPED);
            let _leave = LeaveInPlace(self);
            f()
        })
    }

    /// Publishes `sp` and becomes SAFE.
    #[inline(always)]
    pub(crate) fn publish_and_enter(&self, sp: usize) {
        // Relaxed: the Release store of the state publishes it.
        self.published_sp.store(sp, Ordering::Relaxed);
        STOP_WORDS.enter(&self.state, self.poll_word(), SAFE);
    }

    /// Enters a safe region until the guard is dropped in the same frame. Called by the thread itself.
    ///
    /// The guard holds a copy of the callee-saved registers; it must stay in the calling function.
    #[inline(always)]
    pub fn enter_safe_region(&self) -> SafeRegion<'_> {
        // Relaxed: our own state.
        let mut region = SafeRegion {
            thread: self,
            nested: self.state.load(Ordering::Relaxed) != RUNNING,
            registers: [0; CALLEE_SAVED_COUNT],
            not_send: PhantomData,
        };
        if !region.nested {
            capture_registers(&mut region.registers);
            // Relaxed: the Release store of the state publishes it.
            self.is_in_runtime.store(true, Ordering::Relaxed);
            self.publish_and_enter(stack_pointer());
        }
        region
    }
}

/// A safe region of the calling frame.
#[must_use = "the region ends when this is dropped"]
pub struct SafeRegion<'a> {
    thread: &'a ManagedThread,
    nested: bool,
    registers: [usize; CALLEE_SAVED_COUNT],
    not_send: PhantomData<*mut ()>,
}

impl SafeRegion<'_> {
    /// Leaves the region now; waits while the world is stopped.
    pub fn leave(self) {}

    /// Leaves the region unless a stop is requested; otherwise the thread stays in the region, which is returned.
    pub fn try_leave(self) -> Result<(), Self> {
        if self.nested || STOP_WORDS.try_leave_safe(&self.thread.state, self.thread.poll_word()) {
            std::hint::black_box(&self.registers);
            if !self.nested {
                // Relaxed: the thread is RUNNING, so the flag is not read.
                self.thread.is_in_runtime.store(false, Ordering::Relaxed);
            }
            std::mem::forget(self);
            return Ok(());
        }
        Err(self)
    }
}

impl Drop for SafeRegion<'_> {
    fn drop(&mut self) {
        // Keeps the copies in memory for as long as the region lasts.
        std::hint::black_box(&self.registers);
        if !self.nested {
            self.thread.leave_safe();
            // Relaxed: the thread is RUNNING, so the flag is not read.
            self.thread.is_in_runtime.store(false, Ordering::Relaxed);
        }
    }
}

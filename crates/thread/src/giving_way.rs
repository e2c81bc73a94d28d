//! How a green thread gives its carrier away: it waits, yields, or goes on without the carrier that was taken from it.
//!
//! Invariant: before the thread is switched away from, the carrier's allocation buffer is saved while the thread is
//! RUNNING (`Carrier::stow`). Left out: the switch (`saki_sched`).

use crate::managed_thread::ManagedThread;
use crate::protocol::{SAFE, WAITING};
use crate::request::POLL_YIELD;
use crate::scheduler_hooks::scheduler_hooks;
use crate::spill::with_spilled_registers;
use crate::stop::STOP_WORDS;
use std::sync::atomic::Ordering;

impl ManagedThread {
    /// Runs `f` in state WAITING, in which it may switch to other threads; after it the thread may be on another
    /// carrier. Called by the thread itself, RUNNING and green.
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

    /// While SAFE, on the thread itself: puts the carrier's buffer by, so that the thread can be switched away from,
    /// and becomes WAITING. Everything published stays as it is.
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

    /// `Thread.Yield`: lets another thread run. Called by the thread itself.
    pub fn yield_now(&self) {
        match scheduler_hooks() {
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
}

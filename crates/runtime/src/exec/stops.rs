//! How the current thread stops, at a safepoint, because another thread has suspended it (`vm::suspension`).

use crate::thread::CurrentThread;
use crate::thread_state as state;
use saki_thread::{ManagedThread, POLL_SUSPEND, WaitState, root};
use std::sync::atomic::{AtomicU32, Ordering};

/// The bits of a thread that is suspended or about to be.
pub(crate) const BOTH: u32 = state::SUSPENDED | state::SUSPEND_REQUESTED;

/// SuspendRequested becomes Suspended, unless `Resume` was faster.
pub(crate) fn now_suspended(bits: &AtomicU32) {
    // AcqRel: orders the change with those of `resume`.
    let _ = bits.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| {
        (bits & state::SUSPEND_REQUESTED != 0).then_some(bits & !BOTH | state::SUSPENDED)
    });
}

/// At a safepoint: if a suspension was requested, stops until the thread is resumed.
#[inline]
pub fn stop_if_asked(t: CurrentThread) {
    // Relaxed: the request itself is in the thread's state, which is read with Acquire.
    if t.managed().poll_word().load(Ordering::Relaxed) & POLL_SUSPEND != 0 {
        stay_suspended(t);
    }
}

/// Stops the current thread until it is resumed.
pub(crate) fn stay_suspended(t: CurrentThread) {
    let thread = t.managed();
    // The thread's own word is used: at exit its objects may be finalized, and no longer refer to it.
    if thread.roots[root::THREAD_OBJECT].get().is_null() {
        thread.clear_poll(POLL_SUSPEND);
        return;
    }
    // Acquire pairs with the change in `resume`.
    let is_resumed = || thread.state_bits.load(Ordering::Acquire) & BOTH == 0;
    loop {
        now_suspended(&thread.state_bits);
        thread.wait_until(WaitState::Native, None, false, is_resumed);
        // First the poll bit is cleared, then the state is read again: a suspender sets the state first, then the poll bit.
        thread.clear_poll(POLL_SUSPEND);
        if is_resumed() {
            return;
        }
    }
}

/// A suspended thread whose abort has been requested is resumed, to throw the abort.
pub(crate) fn end_for_abort(thread: &ManagedThread) {
    // AcqRel: as in `resume`.
    if thread.state_bits.fetch_and(!BOTH, Ordering::AcqRel) & BOTH != 0 {
        thread.unpark();
    }
}

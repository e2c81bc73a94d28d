//! Thread.Suspend and Thread.Resume.
//!
//! A suspended thread stops at a safepoint, as for a collection, so it may hold managed locks but none of the runtime's. One
//! that is blocked or in native code counts as suspended at once: it cannot run managed code before its next safepoint.
//!
//! | state bits | meaning |
//! |---|---|
//! | SuspendRequested | `Suspend` waits for the thread to stop |
//! | Suspended | it has stopped, or will before it runs managed code again |
//!
//! Left out: ending a suspension by an abort (the abort is thrown after `Resume`).

use crate::exceptions::{self, Thrown};
use crate::thread::{Managed, Thread};
use crate::threads::{INTERNAL_THREAD, managed_of, state, state_bits, thread_ref_of};
use saki_abi::ObjRef;
use saki_thread::{POLL_SUSPEND, WaitState, root};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often `Suspend` looks whether the thread has stopped: safepoints are microseconds apart.
const LOOK_INTERVAL: Duration = Duration::from_micros(50);
const BOTH: u32 = state::SUSPENDED | state::SUSPEND_REQUESTED;

fn throw_state(t: Thread, message: &str) -> Thrown {
    exceptions::throw(t, "System.Threading", "ThreadStateException", message)
}

/// Stops the thread of this InternalThread; returns when it has stopped (for the own thread: when it is resumed).
///
/// # Errors
/// ThreadStateException when it is not running.
pub fn suspend(t: Thread, internal: ObjRef) -> Managed<()> {
    const NOT_RUNNING: u32 = state::UNSTARTED | state::STOPPED | state::ABORTED;
    // AcqRel: of two suspenders one makes the request.
    let claimed = state_bits(internal).fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| {
        (bits & (NOT_RUNNING | BOTH) == 0).then_some(bits | state::SUSPEND_REQUESTED)
    });
    if let Err(bits) = claimed {
        return if bits & NOT_RUNNING != 0 {
            Err(throw_state(t, "Thread has not been started, or is dead."))
        } else {
            Ok(())
        };
    }
    let thread = loop {
        match thread_ref_of(internal) {
            Some(thread) => break thread,
            // The starter links the thread a few microseconds after it claimed it.
            None => saki_thread::blocking(std::thread::yield_now),
        }
    };
    thread.set_poll(POLL_SUSPEND);
    if std::ptr::eq(&*thread, t.managed()) {
        stay_suspended(t);
        return Ok(());
    }
    loop {
        let bits = state_bits(internal).load(Ordering::Acquire);
        if bits & state::SUSPEND_REQUESTED == 0 || thread.is_detached() {
            return Ok(());
        }
        if thread.is_in_safe_region() {
            now_suspended(internal);
            return Ok(());
        }
        t.managed().blocking(|| std::thread::sleep(LOOK_INTERVAL));
    }
}

/// SuspendRequested becomes Suspended, unless `Resume` was faster.
fn now_suspended(internal: ObjRef) {
    // AcqRel: orders the change with those of `resume`.
    let _ = state_bits(internal).fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| {
        (bits & state::SUSPEND_REQUESTED != 0).then_some(bits & !BOTH | state::SUSPENDED)
    });
}

/// Lets a suspended thread go on.
///
/// # Errors
/// ThreadStateException when it is not suspended.
pub fn resume(t: Thread, internal: ObjRef) -> Managed<()> {
    // AcqRel: one of two resumers is refused.
    let before = state_bits(internal).fetch_and(!BOTH, Ordering::AcqRel);
    if before & BOTH == 0 {
        return Err(throw_state(t, "Thread has not been started, or is dead."));
    }
    if let Some(thread) = managed_of(internal) {
        thread.unpark();
    }
    Ok(())
}

/// At a safepoint: stops until the thread is resumed, if it is to be suspended.
#[inline]
pub(crate) fn stop_if_asked(t: Thread) {
    // Relaxed: what the bit asks for is in the thread's state, which is read with Acquire.
    if t.managed().poll_word().load(Ordering::Relaxed) & POLL_SUSPEND != 0 {
        stay_suspended(t);
    }
}

fn stay_suspended(t: Thread) {
    let thread = t.managed();
    let object = thread.roots[root::THREAD_OBJECT].get();
    if object.is_null() {
        thread.clear_poll(POLL_SUSPEND);
        return;
    }
    let internal = INTERNAL_THREAD.get_ref(object);
    // Acquire pairs with the change in `resume`.
    let is_resumed = || state_bits(internal).load(Ordering::Acquire) & BOTH == 0;
    loop {
        now_suspended(internal);
        thread.wait_until(WaitState::Native, None, false, is_resumed);
        // First the poll bit, then another look: a suspender sets them the other way round.
        thread.clear_poll(POLL_SUSPEND);
        if is_resumed() {
            return;
        }
    }
}

//! Thread.Suspend and Thread.Resume, and stopping all other threads at exit.
//!
//! A suspended thread stops at a safepoint, as for a collection, so it may hold managed locks but none of the runtime's. One
//! that is blocked or in native code counts as suspended at once: it cannot run managed code before its next safepoint.
//!
//! | state bits | meaning |
//! |---|---|
//! | SuspendRequested | `Suspend` waits for the thread to stop |
//! | Suspended | it has stopped, or will before it runs managed code again |
//!
//! | `ARE_OTHERS_STOPPED` | meaning | who moves it |
//! |---|---|---|
//! | false | threads start and run | `suspend_others`, the exiting thread, once: store, SeqCst fence, then looks at the states |
//! | true | a thread that makes its state known, SeqCst fence, and then looks here waits | `resume_others`, Release, then unparks all |
//!
//! Left out: ending a suspension by an abort (the abort is thrown after `Resume`).

use crate::exceptions::{self, Thrown};
use crate::thread::{Managed, Thread};
use crate::threads::{managed_of, state, state_bits, thread_ref_of};
use saki_abi::ObjRef;
use saki_thread::{ManagedThread, POLL_SUSPEND, ThreadKind, WaitState, root};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::time::{Duration, Instant};

/// How often `Suspend` looks whether the thread has stopped: safepoints are microseconds apart.
const LOOK_INTERVAL: Duration = Duration::from_micros(50);
const NOT_RUNNING: u32 = state::UNSTARTED | state::STOPPED | state::ABORTED;
const BOTH: u32 = state::SUSPENDED | state::SUSPEND_REQUESTED;

fn throw_state(t: Thread, message: &str) -> Thrown {
    exceptions::throw(t, "System.Threading", "ThreadStateException", message)
}

/// Stops the thread of this InternalThread; returns when it has stopped (for the own thread: when it is resumed).
///
/// # Errors
/// ThreadStateException when it is not running.
pub fn suspend(t: Thread, internal: ObjRef) -> Managed<()> {
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
            now_suspended(state_bits(internal));
            return Ok(());
        }
        t.managed().blocking(|| std::thread::sleep(LOOK_INTERVAL));
    }
}

/// Set while the other threads are stopped for the finalizers at exit. Of a thread that starts and the exiting one, each with a
/// fence between its store and its look, one sees the other.
static ARE_OTHERS_STOPPED: AtomicBool = AtomicBool::new(false);

/// For a thread that is about to run its first managed code, or a work item: waits while the others are stopped for exit.
pub fn stop_at_exit(t: Thread) {
    fence(Ordering::SeqCst);
    let may_go_on = || !ARE_OTHERS_STOPPED.load(Ordering::Acquire);
    if !may_go_on() {
        t.managed().wait_until(WaitState::Native, None, false, may_go_on);
    }
}

/// Stops all other threads that run managed code of the program; returns when they have stopped, or after `limit`. Gives
/// their managed ids. The threads of the runtime itself, the finalizer's above all, go on.
pub(crate) fn suspend_others(t: Thread, limit: Duration) -> Vec<u32> {
    ARE_OTHERS_STOPPED.store(true, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    let mut stopping = Vec::new();
    saki_thread::for_each_thread(|thread| {
        if std::ptr::eq(thread, t.managed()) || thread.kind() == ThreadKind::Internal {
            return;
        }
        // AcqRel: of two suspenders one makes the request.
        let claimed = thread.state_bits.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| {
            (bits & (NOT_RUNNING | BOTH) == 0).then_some(bits | state::SUSPEND_REQUESTED)
        });
        if claimed.is_ok() {
            thread.set_poll(POLL_SUSPEND);
            stopping.push(thread.managed_id());
        }
    });
    let deadline = Instant::now() + limit;
    let runs = |id: &u32| {
        let Some(thread) = saki_thread::find_thread(*id) else { return false };
        if thread.is_in_safe_region() {
            now_suspended(&thread.state_bits);
        }
        thread.state_bits.load(Ordering::Acquire) & state::SUSPEND_REQUESTED != 0
    };
    while stopping.iter().any(runs) && Instant::now() < deadline {
        t.managed().blocking(|| std::thread::sleep(LOOK_INTERVAL));
    }
    stopping
}

/// Lets the threads go on that `suspend_others` stopped, and those that started meanwhile.
pub(crate) fn resume_others(stopped: &[u32]) {
    // Release: pairs with the look of those that wait to start.
    ARE_OTHERS_STOPPED.store(false, Ordering::Release);
    for thread in stopped.iter().filter_map(|id| saki_thread::find_thread(*id)) {
        // AcqRel: as in `resume`.
        thread.state_bits.fetch_and(!BOTH, Ordering::AcqRel);
    }
    saki_thread::for_each_thread(ManagedThread::unpark);
}

/// SuspendRequested becomes Suspended, unless `Resume` was faster.
fn now_suspended(bits: &AtomicU32) {
    // AcqRel: orders the change with those of `resume`.
    let _ = bits.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| {
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
    // Of the thread itself: at exit its objects may be finalized, and know it no longer.
    if thread.roots[root::THREAD_OBJECT].get().is_null() {
        thread.clear_poll(POLL_SUSPEND);
        return;
    }
    // Acquire pairs with the change in `resume`.
    let is_resumed = || thread.state_bits.load(Ordering::Acquire) & BOTH == 0;
    loop {
        now_suspended(&thread.state_bits);
        thread.wait_until(WaitState::Native, None, false, is_resumed);
        // First the poll bit, then another look: a suspender sets them the other way round.
        thread.clear_poll(POLL_SUSPEND);
        if is_resumed() {
            return;
        }
    }
}

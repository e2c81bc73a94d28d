//! Thread.Suspend and Thread.Resume, and stopping all other threads at exit.
//!
//! A suspended thread stops at a safepoint, as for a collection, so it may hold managed locks but no locks of the
//! runtime. A thread that is blocked or in native code counts as suspended at once: it cannot run managed code beyond
//! its next safepoint.
//!
//! | state bits | meaning |
//! |---|---|
//! | SuspendRequested | `Suspend` waits for the thread to stop |
//! | Suspended | it has stopped, or will before it runs managed code again |
//!
//! Other threads may still use objects that the finalizers at exit finalize: a blocking call that ends because its
//! socket was closed would throw into a program that has ended. So the other threads are stopped for good. If a
//! finalizer waits for one of them (a lock, its end), all are aborted instead, as Mono aborts background threads: they
//! run their finally blocks, give locks back and end.
//!
//! | `EXIT_PHASE` | meaning | who moves it |
//! |---|---|---|
//! | RUNS | threads start and run; in a forked child again | `suspend_others`, the exiting thread, once: store, SeqCst fence, then looks at the states |
//! | STOPPED | a thread that makes its state known, SeqCst fence, and then looks here waits | `abort_others`, Release, then unparks all |
//! | ABORTED | a thread that looks here is aborted | no thread |
//!
//! Both stores are Release, and all loads Acquire: a thread that finds the end sees which thread ends the process.

use crate::abort_requests;
use crate::exception_types::ExceptionType;
use crate::exceptions::{self, Thrown};
use crate::interruption;
use crate::references::Obj;
pub use crate::stops::stop_if_asked;
use crate::stops::{BOTH, now_suspended, stay_suspended};
use crate::thread::{CurrentThread, Managed};
use crate::thread_objects::{started_thread_of, state, state_bits, thread_of};
use saki_os::clock::Moment;
use saki_thread::{ManagedThread, NO_STATE, POLL_SUSPEND, ThreadKind, ThreadRef, WaitState};
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::Duration;

/// The time between two checks of `Suspend` whether the thread has stopped: safepoints are microseconds apart.
const LOOK_INTERVAL: Duration = Duration::from_micros(50);
const NOT_RUNNING: u32 = state::UNSTARTED | state::STOPPED | state::ABORTED;

fn throw_state(t: CurrentThread, message: &str) -> Thrown {
    exceptions::throw(t, ExceptionType::ThreadState, message)
}

/// Stops the thread of this InternalThread; returns when it has stopped (for the own thread: when it is resumed).
///
/// # Errors
/// ThreadStateException when the thread is not running.
pub fn suspend(t: CurrentThread, internal: Obj) -> Managed<()> {
    // AcqRel: if two threads suspend it, one makes the request.
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
    let thread = started_thread_of(t, internal);
    thread.set_poll(POLL_SUSPEND);
    if std::ptr::eq(&*thread, t.managed()) {
        stay_suspended(t);
        return Ok(());
    }
    loop {
        // Acquire: pairs with the AcqRel in `now_suspended`: what the thread did before it stopped is visible.
        let bits = state_bits(internal).load(Ordering::Acquire);
        if bits & state::SUSPEND_REQUESTED == 0 || thread.is_detached() {
            return Ok(());
        }
        if thread.is_in_safe_region() {
            now_suspended(state_bits(internal));
            return Ok(());
        }
        t.managed().sleep(Some(LOOK_INTERVAL), false);
    }
}

const PHASE_RUNS: u32 = 0;
const PHASE_STOPPED: u32 = 1;
const PHASE_ABORTED: u32 = 2;

/// See the module header. A thread that starts and the exiting thread each have a fence between their store and their
/// load, so at least one of them sees the other.
static EXIT_PHASE: AtomicU32 = AtomicU32::new(PHASE_RUNS);

/// Whether the other threads were stopped for exit: they run managed code only to end.
pub(crate) fn are_others_stopped() -> bool {
    // Acquire: pairs with `suspend_others` and `abort_others`; see the table.
    EXIT_PHASE.load(Ordering::Acquire) != PHASE_RUNS
}

/// In a forked child, which has the thread `me` at most: nobody is there who would resume it, or who ends the process.
pub(crate) fn begin_child(me: Option<&ManagedThread>) {
    // Relaxed: there is no other thread.
    EXIT_PHASE.store(PHASE_RUNS, Ordering::Relaxed);
    let Some(me) = me else { return };
    // Relaxed: as above. A thread that is not a managed one yet has no state.
    let _ = me
        .state_bits
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |bits| (bits != NO_STATE).then_some(bits & !BOTH));
    me.clear_poll(POLL_SUSPEND);
}

/// For a thread that is about to run its first managed code, or a work item: waits while the other threads are stopped
/// for exit. When those are aborted, the caller is aborted too, at its next safepoint.
pub fn stop_at_exit(t: CurrentThread) {
    // SeqCst: pairs with the fence in `suspend_others`; see the table.
    fence(Ordering::SeqCst);
    if are_others_stopped() {
        // Acquire: pairs with `abort_others`.
        let is_aborted = || EXIT_PHASE.load(Ordering::Acquire) == PHASE_ABORTED;
        t.managed().wait_until(WaitState::Native, None, false, is_aborted);
        abort_requests::request_abort_at_exit(t.managed());
    }
}

/// Stops all other threads that run managed code of the program; returns when they have stopped, or after `limit`. The
/// runtime's own threads, above all the finalizer thread, go on.
pub(crate) fn suspend_others(t: CurrentThread, limit: Duration) {
    // Release: see the table. The fence orders it before the looks at the threads' states.
    EXIT_PHASE.store(PHASE_STOPPED, Ordering::Release);
    fence(Ordering::SeqCst);
    let mut stopping = Vec::new();
    saki_thread::for_each_thread(|thread| {
        if std::ptr::eq(thread, t.managed()) || thread.kind() == ThreadKind::Internal {
            return;
        }
        // AcqRel: if two threads suspend it, one makes the request.
        let claimed = thread.state_bits.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| {
            (bits & (NOT_RUNNING | BOTH) == 0).then_some(bits | state::SUSPEND_REQUESTED)
        });
        if claimed.is_ok() {
            thread.set_poll(POLL_SUSPEND);
            stopping.push(ThreadRef::to(thread));
        }
    });
    let deadline = Moment::now() + limit;
    // A stopped thread does not run again, so each thread is checked only until it has stopped; once if it waits
    // already.
    let runs = |thread: &ThreadRef| {
        if thread.is_detached() {
            return false;
        }
        if thread.is_in_safe_region() {
            now_suspended(&thread.state_bits);
        }
        // Acquire: as in `suspend`.
        thread.state_bits.load(Ordering::Acquire) & state::SUSPEND_REQUESTED != 0
    };
    loop {
        stopping.retain(runs);
        if stopping.is_empty() || Moment::now() >= deadline {
            return;
        }
        t.managed().sleep(Some(LOOK_INTERVAL), false);
    }
}

/// Aborts the threads that `suspend_others` stopped, and those that started meanwhile, and lets them run to handle the
/// abort.
pub(crate) fn abort_others(t: CurrentThread) {
    // Release: pairs with the load of threads that wait to start.
    EXIT_PHASE.store(PHASE_ABORTED, Ordering::Release);
    let mut others = Vec::new();
    saki_thread::for_each_thread(|thread| {
        if !std::ptr::eq(thread, t.managed()) && thread.kind() != ThreadKind::Internal {
            others.push(ThreadRef::to(thread));
        }
    });
    for thread in others {
        // The request comes first: the thread sees it when it is resumed.
        let is_aborted = abort_requests::request_abort_at_exit(thread.as_static());
        // AcqRel: as in `resume`. A thread without a Thread object has no state yet and was not stopped.
        let _ = thread.state_bits.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| {
            (bits & NOT_RUNNING == 0).then_some(bits & !BOTH)
        });
        thread.unpark();
        if is_aborted {
            interruption::end_system_call(thread);
        }
    }
}

/// Lets a suspended thread go on.
///
/// # Errors
/// ThreadStateException when the thread is not suspended.
pub fn resume(t: CurrentThread, internal: Obj) -> Managed<()> {
    // AcqRel: if two threads resume it, one is refused.
    let before = state_bits(internal).fetch_and(!BOTH, Ordering::AcqRel);
    if before & BOTH == 0 {
        return Err(throw_state(t, "Thread has not been started, or is dead."));
    }
    if let Some(thread) = thread_of(internal) {
        thread.unpark();
    }
    Ok(())
}

//! Requests for aborts of threads, and the ends of aborts. `exec::thread_aborts` throws the exceptions.

use crate::domain::Domain;
use crate::exception_types::ExceptionType;
use crate::exceptions::{self, Thrown};
use crate::interruption;
use crate::references::{Obj, Word};
use crate::stops;
use crate::thread::{CurrentThread, Managed};
use crate::thread_aborts;
use crate::thread_objects::{current_bits, current_internal, started_thread_of, state, state_bits, thread_of};
use saki_abi::ObjRef;
use saki_thread::{ManagedThread, REQUEST_ABORT, ThreadRef, root};
use std::sync::atomic::{AtomicU32, Ordering};

/// ThreadStateException.
pub(crate) fn thread_state_error(t: CurrentThread, message: &str) -> Thrown {
    exceptions::throw(t, ExceptionType::ThreadState, message)
}

/// Whether the caller may abort a thread, whose state then has the bits `requested`. A thread that was not started
/// never runs.
fn claim_abort(bits: &AtomicU32, requested: u32) -> bool {
    // AcqRel: one aborter wins; it sees what was set before.
    let claimed = bits.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| match bits {
        _ if bits & (state::ABORT_REQUESTED | state::STOPPED) != 0 => None,
        _ if bits & state::UNSTARTED != 0 => Some(bits | state::ABORTED),
        _ => Some(bits | requested),
    });
    matches!(claimed, Ok(before) if before & state::UNSTARTED == 0)
}

/// `Thread.Abort`. `state_object` may be null.
///
/// # Errors
/// ThreadAbortException when the thread aborts itself.
pub fn abort(t: CurrentThread, internal: Obj, state_object: Option<Obj>) -> Managed<()> {
    let is_self = thread_of(internal).is_some_and(|thread| std::ptr::eq(thread, t.managed()));
    let first = claim_abort(state_bits(internal), state::ABORT_REQUESTED);
    if is_self {
        if first {
            t.set_root(root::ABORT_STATE, state_object);
        }
        return Err(thread_aborts::throw_abort(t));
    }
    if first {
        let thread = started_thread_of(t, internal);
        thread.set_root_from_outside(root::ABORT_STATE, state_object.word());
        thread.request(REQUEST_ABORT);
        stops::end_for_abort(&thread);
        interruption::end_system_call(thread);
    }
    Ok(())
}

/// Requests an abort of another thread because a domain that it is in is unloaded; false when one is under way already,
/// or the thread has no Thread object yet. Does not end system calls, and reaches no safepoint.
pub(crate) fn request_abort_by_unload(thread: &ManagedThread) -> bool {
    request_first_abort(thread, state::ABORT_REQUESTED | state::ABORTED_BY_UNLOAD)
}

/// Requests an abort of a thread at exit; false when one is under way already, or the thread has no Thread object yet.
pub(crate) fn request_abort_at_exit(thread: &ManagedThread) -> bool {
    request_first_abort(thread, state::ABORT_REQUESTED)
}

/// Requests an abort without a state object, unless one is under way; whether it did. `bits`: the state that says so.
fn request_first_abort(thread: &ManagedThread, bits: u32) -> bool {
    let is_first = claim_abort(&thread.state_bits, bits);
    if is_first {
        thread.roots[root::ABORT_STATE].set(ObjRef::NULL);
        thread.request(REQUEST_ABORT);
    }
    is_first
}

/// The exception leaves a callback, and native code goes on. An abort in flight then becomes a request again: signals
/// go on to end the native code's system calls, the next callback is aborted at once, and the abort is thrown when the
/// native code returns. False: the exception is no abort in flight.
pub fn request_abort_again(t: CurrentThread, exception: Obj) -> bool {
    if thread_aborts::abort_in_flight(t) != Some(exception) {
        return false;
    }
    thread_aborts::unthrow_abort(t);
    interruption::end_system_call(ThreadRef::to(t.managed()));
    true
}

/// Ends the abort of the current thread, which was just forgotten: a new one may be requested.
pub fn end_abort(t: CurrentThread) {
    if let Some(bits) = current_bits(t) {
        // Release: pairs with `claim_abort`; the next abort comes after this one.
        bits.fetch_and(!(state::ABORT_REQUESTED | state::ABORTED_BY_UNLOAD), Ordering::Release);
    }
}

fn is_aborted_by_unload(t: CurrentThread) -> bool {
    // Relaxed: this thread clears the bit; a bit that is being set is seen when the thread has left the domain
    // (`Domain`).
    current_bits(t).is_some_and(|bits| bits.load(Ordering::Relaxed) & state::ABORTED_BY_UNLOAD != 0)
}

/// Ends the abort in flight, with its pending exception, if the unloading of `domain`, which the current thread leaves,
/// asked for it. The state says that an abort is requested until the thread has left the domain: what it does before,
/// such as to make the exception for its caller, is not aborted once more.
pub fn end_abort_by_unload(t: CurrentThread, domain: &Domain) -> bool {
    if !is_aborted_by_unload(t) || !domain.is_unloading() || thread_aborts::abort_in_flight(t).is_none() {
        return false;
    }
    thread_aborts::forget_abort(t);
    t.take_pending();
    true
}

/// The current thread has left a domain that is unloaded: an abort that was requested for it comes too late and is
/// withdrawn; one in flight continues as an ordinary abort, which can be reset.
pub(crate) fn withdraw_abort_by_unload(t: CurrentThread) {
    if !is_aborted_by_unload(t) {
        return;
    }
    if thread_aborts::abort_in_flight(t).is_none() {
        t.managed().take_requests(REQUEST_ABORT);
        end_abort(t);
    } else if let Some(bits) = current_bits(t) {
        // Release: as in `end_abort`.
        bits.fetch_and(!state::ABORTED_BY_UNLOAD, Ordering::Release);
    }
}

/// The current thread has left one of several calls into a domain that is unloaded: an abort for it that has ended
/// makes room for the next one. The caller keeps aborts from being requested meanwhile.
pub(crate) fn end_answered_abort(t: CurrentThread) {
    let is_answered =
        thread_aborts::abort_in_flight(t).is_none() && t.managed().pending_requests() & REQUEST_ABORT == 0;
    if is_answered && is_aborted_by_unload(t) {
        end_abort(t);
    }
}

/// `Thread.ResetAbort` of the current thread; does nothing to the abort of a thread in a domain that is unloaded.
///
/// # Errors
/// ThreadStateException when no abort was requested.
pub fn reset_abort(t: CurrentThread) -> Managed<()> {
    let internal = current_internal(t)?;
    // AcqRel: as in `claim_abort`.
    let ended = state_bits(internal).fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| {
        let is_ours = bits & (state::ABORT_REQUESTED | state::ABORTED_BY_UNLOAD) == state::ABORT_REQUESTED;
        is_ours.then_some(bits & !state::ABORT_REQUESTED)
    });
    match ended {
        Ok(_) => {
            thread_aborts::forget_abort(t);
            Ok(())
        }
        Err(bits) if bits & state::ABORT_REQUESTED != 0 => Ok(()),
        Err(_) => Err(thread_state_error(t, "Unable to reset abort because no abort was requested")),
    }
}

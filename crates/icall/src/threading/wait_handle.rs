//! System.Threading.WaitHandle: waiting for waitable objects.
//!
//! Invariant: a satisfied wait is reported as satisfied even when an interrupt or abort came at the same time; the
//! interrupt or abort ends the next wait.

use saki_runtime::ExceptionType;
use saki_runtime::exec::thread_aborts;
use saki_runtime::exec::waitables::{self, Begin, SignalError, Waiting};
use saki_runtime::exec::waits::{self, WaitEnd};
use saki_runtime::object::exceptions;
use saki_runtime::{CurrentThread, InternalCall, Managed};
use saki_sync::monitor::BlockEnd;
use saki_thread::{WaitState, WaitTarget};

/// Results of a wait that are no indices.
const WAIT_TIMEOUT: i32 = 0x102;
const WAIT_FAILED: i32 = 0x7fff_ffff;
const ERROR_TOO_MANY_POSTS: i32 = 0x12a;
const ERROR_NOT_OWNED_BY_CALLER: i32 = 0x12b;

/// The limit of `WaitHandle.WaitAny`, too.
const MAX_HANDLES: usize = 64;

/// Waits in a queue until satisfied, timed out or interrupted.
fn wait_queued(t: CurrentThread, waiting: Waiting, milliseconds: i32) -> Managed<i32> {
    let thread = t.managed();
    let timeout = waits::timeout(milliseconds);
    let target_before = thread.set_wait_target(WaitTarget::new(waiting.address(), timeout));
    let end = waits::wait(t, timeout, |rest, interruptible| {
        let end = thread.wait_until(WaitState::Handle, rest, interruptible, || waiting.is_satisfied());
        if waiting.is_satisfied() { BlockEnd::Woken } else { end }
    });
    thread.set_wait_target(target_before);
    match (waiting.end(), end) {
        (Some(outcome), _) => Ok(outcome as i32),
        (None, WaitEnd::Interrupted) => Err(thread_aborts::throw_requested(t)),
        (None, _) => Ok(WAIT_TIMEOUT),
    }
}

/// Waits for any or all of the handles; `milliseconds` negative = for ever.
///
/// # Errors
/// ThreadInterruptedException, ThreadAbortException, DuplicateWaitObjectException.
pub fn wait(
    t: CurrentThread,
    handles: &[usize],
    for_all: bool,
    milliseconds: i32,
    signal_first: Option<usize>,
) -> Managed<i32> {
    let is_poll = milliseconds == 0;
    if t.managed().pending_requests() != 0 && thread_aborts::ends_waits(t) {
        return Err(thread_aborts::throw_requested(t));
    }
    match waitables::begin(t.managed(), handles, for_all, is_poll, signal_first) {
        Ok(Begin::Satisfied(outcome)) => Ok(outcome as i32),
        Ok(Begin::Waiting(_)) if is_poll => Ok(WAIT_TIMEOUT),
        Ok(Begin::Waiting(waiting)) => wait_queued(t, waiting, milliseconds),
        Ok(Begin::UnknownHandle) | Err(SignalError::UnknownHandle) => Ok(WAIT_FAILED),
        Ok(Begin::Duplicate) => Err(exceptions::throw_default(t, ExceptionType::DuplicateWaitObject)),
        Err(SignalError::TooManyPosts) => Ok(ERROR_TOO_MANY_POSTS),
        Err(SignalError::NotOwner) => Ok(ERROR_NOT_OWNED_BY_CALLER),
    }
}

/// A copy of so many handles, at most `MAX_HANDLES`.
///
/// # Safety
/// They lie at the address.
pub unsafe fn copy_of(handles: *const usize, count: usize) -> [usize; MAX_HANDLES] {
    let mut copy = [0; MAX_HANDLES];
    // SAFETY: so many handles lie there; the copy has room for `MAX_HANDLES`.
    unsafe { std::ptr::copy_nonoverlapping(handles, copy.as_mut_ptr(), count.min(MAX_HANDLES)) };
    copy
}

fn wait_internal(
    t: CurrentThread,
    handles: *const usize,
    count: i32,
    for_all: bool,
    milliseconds: i32,
) -> Managed<i32> {
    match usize::try_from(count) {
        // SAFETY: managed code passes the address of a handle.
        Ok(1) => wait(t, &[unsafe { *handles }], false, milliseconds, None),
        // SAFETY: managed code passes the address of `count` handles.
        Ok(count) if (1..=MAX_HANDLES).contains(&count) => unsafe {
            wait_for_several(t, handles, count, for_all && count > 1, milliseconds)
        },
        _ => Ok(WAIT_FAILED),
    }
}

/// Waits for `count` handles, which are copied because a managed array may move. In a frame of its own: threads that
/// wait for one handle have no room for `MAX_HANDLES` on their stacks.
///
/// # Safety
/// So many handles, at most `MAX_HANDLES`, lie at the address.
#[inline(never)]
unsafe fn wait_for_several(
    t: CurrentThread,
    handles: *const usize,
    count: usize,
    for_all: bool,
    milliseconds: i32,
) -> Managed<i32> {
    // SAFETY: `count` handles lie there (contract).
    let copy = unsafe { copy_of(handles, count) };
    wait(t, &copy[..count], for_all, milliseconds, None)
}

fn signal_and_wait(t: CurrentThread, to_signal: usize, to_wait: usize, milliseconds: i32) -> Managed<i32> {
    wait(t, &[to_wait], false, milliseconds, Some(to_signal))
}

/// The internal calls of `System.Threading.WaitHandle`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Threading.WaitHandle::SignalAndWait_Internal", &signal_and_wait),
    InternalCall::new("System.Threading.WaitHandle::Wait_internal", &wait_internal),
];

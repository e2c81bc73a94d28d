//! System calls that may block, made for managed code.
//!
//! Where waits park (`saki_reactor`) a call is tried without blocking, and the thread parks until it may work. Invariant: the world can stop while a
//! thread waits; a signal does not end the wait, a requested abort does. Left out: the meaning of the results.

use crate::io::errors::errno;
use saki_reactor::{Interest, Lifetime, WaitEnd};
use saki_runtime::{CurrentThread, Managed, suspension, thread_aborts};
use saki_thread::{REQUEST_ABORT, WaitState};
use std::time::{Duration, Instant};

/// Runs a system call in a safe region, again after signals, unless the thread is aborted: then the exception is pending, to
/// be thrown when the internal call returns.
///
/// # Errors
/// The errno value; EINTR for an abort.
pub(crate) fn system_call(t: CurrentThread, body: impl FnMut() -> isize) -> Result<usize, i32> {
    system_call_unless(t, || false, body)
}

/// As `system_call`; `is_over` says after a signal that the call is to end with EINTR.
///
/// # Errors
/// As `system_call`.
pub(crate) fn system_call_unless(
    t: CurrentThread,
    is_over: impl Fn() -> bool,
    mut body: impl FnMut() -> isize,
) -> Result<usize, i32> {
    loop {
        if thread_aborts::throw_if_aborted(t).is_err() {
            return Err(libc::EINTR);
        }
        let outcome = t.managed().blocking(|| {
            let result = body();
            usize::try_from(result).map_err(|_| errno())
        });
        // While the thread is suspended, or when the process ends, managed code must not see the result of the call.
        suspension::stop_if_asked(t);
        match outcome {
            Err(libc::EINTR) if !is_over() => {}
            outcome => return outcome,
        }
    }
}

/// The descriptor and direction that a call waits for.
pub(crate) struct Wait {
    pub(crate) fd: i32,
    pub(crate) interest: Interest,
    pub(crate) lifetime: Lifetime,
}

/// The end of a call that may have parked its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Parked {
    Done(usize),
    Failed(i32),
    /// The timeout has passed.
    TimedOut,
    /// The thread cannot park for this descriptor, or not now: the call must block.
    MustBlock,
}

/// Tries a system call, which never blocks, until it does not fail with EAGAIN any more. Parks the thread between two tries, or returns the failure if
/// `is_over`. The calls themselves are made outside of safe regions, as they take some microseconds at most. `timeout` is called when the thread has to
/// wait for the first time.
pub(crate) fn parking_call(
    t: CurrentThread,
    wait: &Wait,
    timeout: impl FnOnce() -> Option<Duration>,
    is_over: impl Fn() -> bool,
    mut attempt: impl FnMut() -> isize,
) -> Parked {
    let mut timeout = Some(timeout);
    let mut deadline = None;
    loop {
        if thread_aborts::throw_if_aborted(t).is_err() {
            return Parked::Failed(libc::EINTR);
        }
        let result = attempt();
        if let Ok(value) = usize::try_from(result) {
            return Parked::Done(value);
        }
        match errno() {
            libc::EINTR => continue,
            libc::EAGAIN if !is_over() => {}
            errno => return Parked::Failed(errno),
        }
        if t.managed().pending_requests() & REQUEST_ABORT != 0 {
            // The abort has to wait for the end of a finally block; until then it would end each wait at once.
            return Parked::MustBlock;
        }
        if let Some(timeout) = timeout.take() {
            deadline = timeout().and_then(|timeout| Instant::now().checked_add(timeout));
        }
        let rest = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let end = saki_reactor::wait(t.managed(), wait.fd, wait.interest, wait.lifetime, rest, &is_over);
        suspension::stop_if_asked(t);
        match end {
            WaitEnd::TryAgain => {}
            WaitEnd::TimedOut => return Parked::TimedOut,
            WaitEnd::CannotWait => return Parked::MustBlock,
        }
    }
}

/// Parks until `is_done`; the thread that makes it true unparks this one afterwards. False: the timeout has passed.
///
/// # Errors
/// ThreadAbortException.
pub(crate) fn park_until(t: CurrentThread, timeout: Option<Duration>, is_done: impl Fn() -> bool) -> Managed<bool> {
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let has_abort = || t.managed().pending_requests() & REQUEST_ABORT != 0;
    loop {
        thread_aborts::throw_if_aborted(t)?;
        if is_done() {
            return Ok(true);
        }
        let rest = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if rest.is_some_and(|rest| rest.is_zero()) {
            return Ok(false);
        }
        // An abort that was requested before has to wait for the end of a finally block, and would end each wait at once.
        let heeds_aborts = !has_abort();
        t.managed().wait_until(WaitState::Native, rest, false, || is_done() || heeds_aborts && has_abort());
        suspension::stop_if_asked(t);
    }
}

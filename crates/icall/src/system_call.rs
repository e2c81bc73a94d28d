//! System calls that may block, made for managed code.
//!
//! Invariant: the world can stop while one runs; a signal does not end it, a requested abort does. Left out: what the
//! results mean.

use crate::io::errors::errno;
use saki_runtime::{Thread, pending, suspension};

/// Runs a system call in a safe region, again after signals, unless the thread is aborted: then the exception is pending, to
/// be thrown when the internal call returns.
///
/// # Errors
/// The errno value; EINTR for an abort.
pub(crate) fn system_call(t: Thread, body: impl FnMut() -> isize) -> Result<usize, i32> {
    system_call_unless(t, || false, body)
}

/// As `system_call`; `is_over` says after a signal that the call is to end with EINTR.
///
/// # Errors
/// As `system_call`.
pub(crate) fn system_call_unless(
    t: Thread,
    is_over: impl Fn() -> bool,
    mut body: impl FnMut() -> isize,
) -> Result<usize, i32> {
    loop {
        if pending::throw_if_aborted(t).is_err() {
            return Err(libc::EINTR);
        }
        let outcome = t.managed().blocking(|| {
            let result = body();
            usize::try_from(result).map_err(|_| errno())
        });
        // Managed code is not to see what became of the call while the thread is suspended, or ever when the process ends.
        suspension::stop_if_asked(t);
        match outcome {
            Err(libc::EINTR) if !is_over() => {}
            outcome => return outcome,
        }
    }
}

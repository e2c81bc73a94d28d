//! System calls that block, made for managed code in a safe region.
//!
//! Invariant: the world can stop while a thread waits; a signal does not end the wait, a requested abort does. Left
//! out: the meaning of the results; calls that park instead (`io::streams`, `net::socket_waits`).

use saki_os::error::Errno;
use saki_runtime::CurrentThread;
use saki_runtime::exec::waits::{self, Attempt, Blocking, Wait};

/// Makes a system call in a safe region, again after signals, unless the thread is aborted: then the exception is
/// pending, to be thrown when the internal call returns.
///
/// # Errors
/// The call's error; EINTR for an abort.
pub(crate) fn system_call(t: CurrentThread, mut attempt: impl FnMut() -> Attempt<usize>) -> Result<usize, Errno> {
    waits::wait_for(t, Wait::new(Blocking::new(t)), |_| attempt()).map_err(|end| end.errno())
}

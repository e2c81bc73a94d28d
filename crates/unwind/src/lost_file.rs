//! The report about a mapped file that another process has shortened: the kernel answers a read behind its end with
//! SIGBUS.
//!
//! Invariant: async-signal-safe. Left out: what ends the process afterwards (`fault`).

use saki_os::{FaultContext, mappings};

/// Longer paths are not named.
const MAX_LINE_BYTES: usize = 4096 + 100;

/// Names the file that is mapped where the access faulted, if the signal says that there is nothing behind the mapping.
pub(crate) fn report(context: &FaultContext) {
    if context.signal() != libc::SIGBUS || context.code() != libc::BUS_ADRERR {
        return;
    }
    let mut buffer = [0; MAX_LINE_BYTES];
    if let Some(path) = mappings::file_at(context.fault_address(), &mut buffer) {
        for part in [b"saki: ", path, b": the file was shortened while it was in use\n"] {
            // SAFETY: the buffer is valid for its length. A failed write loses the message, nothing else.
            unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
        }
    }
}

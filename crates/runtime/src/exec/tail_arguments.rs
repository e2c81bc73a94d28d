//! Keeps the struct arguments of a tail call while the runtime compiles or finds the callee.
//!
//! Compiling can run managed code (class constructors, resolve events) and collect. Managed code may overwrite the
//! thread's buffer of tail arguments, and the collector does not scan it; the copy made here is on the stack,
//! which is scanned conservatively. Invariant: the copy lives in a frame of the hook between the caller's jump and
//! the callee's first instruction.

use saki_abi::ThreadAbi;
use saki_abi::thread::TAIL_ARGS_BYTES;

/// A copy of `ThreadAbi::tail_args`, put back when dropped.
pub struct KeptTailArguments {
    abi: *mut ThreadAbi,
    words: [u64; TAIL_ARGS_BYTES / 8],
}

impl KeptTailArguments {
    /// # Safety
    /// `abi` is the current thread's, and stays so while the value lives.
    pub unsafe fn new(abi: *mut ThreadAbi) -> KeptTailArguments {
        // SAFETY: the current thread's; only the thread itself uses these words.
        let words = unsafe { (*abi).tail_args };
        KeptTailArguments { abi, words }
    }
}

impl Drop for KeptTailArguments {
    fn drop(&mut self) {
        // SAFETY: as promised to `new`.
        unsafe { (*self.abi).tail_args = self.words };
    }
}

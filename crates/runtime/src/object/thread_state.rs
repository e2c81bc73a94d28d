//! Bits of `System.Threading.ThreadState`, as `ManagedThread::state_bits` and the objects of threads have them.

pub const SUSPEND_REQUESTED: u32 = 2;
pub const BACKGROUND: u32 = 4;
pub const UNSTARTED: u32 = 8;
pub const STOPPED: u32 = 16;
pub const WAIT_SLEEP_JOIN: u32 = 32;
pub const SUSPENDED: u32 = 64;
pub const ABORT_REQUESTED: u32 = 128;
pub const ABORTED: u32 = 256;
/// Not part of ThreadState, so not shown to programs. With `ABORT_REQUESTED`: the unloading of a domain that the thread
/// is in caused the abort. `Thread.ResetAbort` does not end such an abort.
pub const ABORTED_BY_UNLOAD: u32 = 1 << 16;

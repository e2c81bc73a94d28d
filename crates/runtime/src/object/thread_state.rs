//! Bits of `System.Threading.ThreadState`, as `ManagedThread::state_bits` and the objects of threads have them.

/// `SuspendRequested`: `Suspend` waits for the thread to stop.
pub const SUSPEND_REQUESTED: u32 = 2;
/// `Background`: the end of the process does not wait for the thread.
pub const BACKGROUND: u32 = 4;
/// `Unstarted`: `Start` was not called.
pub const UNSTARTED: u32 = 8;
/// `Stopped`: the thread has ended.
pub const STOPPED: u32 = 16;
/// `WaitSleepJoin`: the thread waits; computed, never stored.
pub const WAIT_SLEEP_JOIN: u32 = 32;
/// `Suspended`: the thread has stopped because of `Suspend`.
pub const SUSPENDED: u32 = 64;
/// `AbortRequested`: the thread is to throw ThreadAbortException.
pub const ABORT_REQUESTED: u32 = 128;
/// `Aborted`: the thread was aborted before it began.
pub const ABORTED: u32 = 256;
/// Not part of ThreadState, so not shown to programs. With `ABORT_REQUESTED`: the unloading of a domain that the thread
/// is in caused the abort. `Thread.ResetAbort` does not end such an abort.
pub const ABORTED_BY_UNLOAD: u32 = 1 << 16;

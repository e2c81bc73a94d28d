//! Asking a thread to leave its fast path: poll bits, interrupt and abort requests.
//!
//! Invariant: a request bit is set before the poll bit and the token that make its thread look (Release, read with
//! Acquire), and only the thread itself, or the one that withdraws the request, clears it. Left out: which exception an
//! abort or an interrupt throws, and where (crate `runtime`).

use crate::managed_thread::ManagedThread;
use std::sync::atomic::Ordering;

/// Poll bit: the world is being stopped.
pub const POLL_STOP: u32 = crate::protocol::STOP;
const _: () = assert!(POLL_STOP == saki_abi::thread::THREAD_POLL_STOP);
/// Poll bit: an abort or interrupt was requested.
pub const POLL_INTERRUPT: u32 = 2;
/// Poll bit: every poll is to take its slow path (GC stress).
pub const POLL_PREEMPT: u32 = 4;
/// Poll bit: `Thread.Suspend`. Not a request, because it ends no wait.
pub const POLL_SUSPEND: u32 = 8;
/// Poll bit: the reserve of the thread's stack is open (`stack_reserve`), or the thread has come back to the outer part
/// of its stack. Set by its fault handler, and by the thread itself, which clears it.
pub const POLL_STACK: u32 = 16;
const _: () = assert!(POLL_STACK == saki_abi::thread::THREAD_POLL_STACK);

/// Poll bit: the carrier was taken while the thread was in native code.
pub const POLL_TAKEN: u32 = crate::protocol::TAKEN;
/// Poll bit: the thread is that of a forked child, and comes back to the machine for the first time.
pub(crate) const POLL_FORKED: u32 = crate::protocol::FORKED;
/// Poll bit: others wait for the carrier.
pub const POLL_YIELD: u32 = 32;
/// Poll bit: an exception waits until native code has returned. Set and cleared by the thread itself.
pub const POLL_KEPT: u32 = 256;

/// `Thread.Interrupt`: ends the current or next interruptible wait.
pub const REQUEST_INTERRUPT: u32 = 1;
/// `Thread.Abort`: ends waits, and is thrown at the next safepoint.
pub const REQUEST_ABORT: u32 = 2;

impl ManagedThread {
    /// Adds request bits, makes the thread look at its next safepoint, and ends its wait.
    pub fn request(&self, bits: u32) {
        // Release pairs with the Acquire in `pending_requests`: what the requester prepared is visible.
        self.requests.fetch_or(bits, Ordering::Release);
        if bits & REQUEST_ABORT != 0 {
            self.poll_word().fetch_or(POLL_INTERRUPT, Ordering::Release);
        }
        self.node.parker.unpark();
    }

    /// The request bits set now.
    pub fn pending_requests(&self) -> u32 {
        self.requests.load(Ordering::Acquire)
    }

    /// Clears these bits; returns which of them were set. To be called also when the poll bit was set without a
    /// request.
    pub fn take_requests(&self, bits: u32) -> u32 {
        if bits & REQUEST_ABORT != 0 {
            // The poll bit is cleared first: a request that comes in between leaves a poll bit too many, never one too
            // few.
            self.clear_poll(POLL_INTERRUPT);
        }
        // AcqRel: Acquire pairs with the Release in `request`: what the requester prepared is visible. Release: a
        // thread that finds the bits clear (`pending_requests`) sees what this one did before.
        self.requests.fetch_and(!bits, Ordering::AcqRel) & bits
    }

    /// Sets poll bits of this thread.
    pub fn set_poll(&self, bits: u32) {
        // Release: pairs with the Acquire at the safepoint: what the bits ask for is prepared.
        self.poll_word().fetch_or(bits, Ordering::Release);
    }

    /// The thread of a forked child comes back from native code: the machine is started again. Called by the thread
    /// itself.
    pub(crate) fn come_back_if_forked(&self) {
        // Acquire: pairs with the Release in `set_poll`.
        if self.poll_word().load(Ordering::Acquire) & POLL_FORKED != 0 {
            self.clear_poll(POLL_FORKED);
            saki_os::fork::restart_if_child();
        }
    }

    /// Clears poll bits other than the stop bit, which belongs to the stopper.
    pub fn clear_poll(&self, bits: u32) {
        // AcqRel: who sees the bits clear sees what the thread has done about them; the thread sees what bits set
        // meanwhile ask for.
        self.poll_word().fetch_and(!(bits & !POLL_STOP), Ordering::AcqRel);
    }
}

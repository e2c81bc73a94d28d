//! Stopping the world, and the safepoints where threads notice. The protocol and its state table are in `protocol`.
//!
//! Invariant: `STOP_LOCK` is held from before a stop is requested until after the world runs again, and for every change
//! of the registry; so the set of threads is fixed during a stop, a thread that attaches waits for the stop's end, and
//! there is one stopper at a time. A thread waits for `STOP_LOCK` in a safe region or unattached. Left out: what happens
//! while the world is stopped.

use crate::current::current;
use crate::histogram::{Histogram, HistogramSnapshot};
use crate::managed_thread::ManagedThread;
use crate::protocol::{RUNNING, STOPPED, StopWords};
use crate::registry::for_each_thread;
use crate::request::POLL_STOP;
use crate::spill::{CALLEE_SAVED_COUNT, capture_registers, enter_native_entry, stack_pointer, with_spilled_registers};
use saki_abi::ThreadAbi;
use saki_sync::RawLock;
use std::sync::atomic::Ordering;

pub(crate) static STOP_WORDS: StopWords = StopWords::new();
pub(crate) static STOP_LOCK: RawLock = RawLock::new();
static LATENCY: Histogram = Histogram::new();

/// Looks at the states this often before sleeping: a thread in compiled code reaches a poll within about a microsecond.
const MAX_STOP_SPINS: u32 = 100;

/// Why the world is stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    Collection,
    /// Stack dumps, thread lists.
    Inspection,
    /// Domain unloading, code removal.
    Unloading,
    Test,
}

/// A stopped world. It may be resumed on another thread than it was stopped on; dropping it is a fault of ours.
#[must_use = "the world stays stopped until this is given to resume_the_world"]
pub struct StopToken {
    pub reason: StopReason,
    /// From the request until the last thread had stopped.
    pub latency_ns: u64,
    stopper: Option<&'static ManagedThread>,
}

impl StopToken {
    /// The attached thread that stopped the world, if it was one: it does not wait, and its published stack range begins
    /// where it called.
    pub fn stopper(&self) -> Option<&'static ManagedThread> {
        self.stopper
    }
}

impl Drop for StopToken {
    fn drop(&mut self) {
        saki_base::bug!("a stopped world was dropped instead of resumed ({:?})", self.reason);
    }
}

/// Stops every attached thread except the caller. Callable from attached and unattached threads; waits while another
/// thread has the world stopped. An attached caller goes on running: it may not touch references that it loads after
/// this call and that nothing else keeps alive.
#[inline(never)]
pub fn stop_the_world(reason: StopReason) -> StopToken {
    let me = current();
    match me {
        None => STOP_LOCK.lock(),
        // Its frames are frozen and its stack published already.
        Some(thread) if thread.is_in_safe_region() => STOP_LOCK.lock(),
        Some(thread) => {
            thread.blocking(|| STOP_LOCK.lock());
            let mut registers = [0; CALLEE_SAVED_COUNT];
            capture_registers(&mut registers);
            thread.publish_registers(&registers, stack_pointer());
        }
    }
    let start_ns = saki_os::clock::monotonic_ns();
    let mut threads: Vec<&'static ManagedThread> = Vec::new();
    for_each_thread(|thread| {
        if me.is_none_or(|me| !std::ptr::eq(me, thread)) {
            threads.push(thread);
        }
    });
    STOP_WORDS.request(threads.iter().map(|t| t.poll_word()));
    let mut left = threads.len();
    STOP_WORDS.wait_until_stopped(MAX_STOP_SPINS, || {
        // Threads that were found stopped stay so: only the last ones are looked at again.
        // Acquire pairs with the Release of SAFE and STOPPED: stack and SP are visible.
        while left > 0 && threads[left - 1].state.load(Ordering::Acquire) != RUNNING {
            left -= 1;
        }
        left > 0
    });
    let latency_ns = saki_os::clock::monotonic_ns() - start_ns;
    LATENCY.record_ns(latency_ns);
    StopToken { reason, latency_ns, stopper: me }
}

/// Lets every thread run again.
pub fn resume_the_world(token: StopToken) {
    let stopper = token.stopper;
    std::mem::forget(token);
    let mut threads: Vec<&'static ManagedThread> = Vec::new();
    for_each_thread(|thread| threads.push(thread));
    if let Some(stopper) = stopper.filter(|s| s.is_running()) {
        // Relaxed: the stopper runs; the next publication sets it again if need be.
        stopper.registers_are_saved.store(false, Ordering::Relaxed);
    }
    STOP_WORDS.resume(threads.iter().map(|t| t.poll_word()));
    STOP_LOCK.unlock();
}

/// Stops the world, runs `f` with the caller's registers on its stack, resumes.
pub fn with_world_stopped<R>(reason: StopReason, f: impl FnOnce(&StopToken) -> R) -> R {
    with_spilled_registers(|_| {
        let token = stop_the_world(reason);
        let result = f(&token);
        resume_the_world(token);
        result
    })
}

/// Time from request to stopped world, of every stop so far.
pub fn stop_latency_histogram() -> HistogramSnapshot {
    LATENCY.snapshot()
}

impl ManagedThread {
    /// A safepoint: returns the poll bits other than the stop bit (abort, preemption), after any stop. Called by the
    /// thread itself, while RUNNING.
    #[inline(always)]
    pub fn poll(&self) -> u32 {
        // Relaxed: `poll_slow` orders; a stop seen late is only a longer stop latency.
        if self.poll_word().load(Ordering::Relaxed) == 0 { 0 } else { self.poll_slow() }
    }

    /// The slow half of `poll`: waits while a stop is requested, with registers spilled and SP published.
    #[cold]
    pub fn poll_slow(&self) -> u32 {
        if self.poll_word().load(Ordering::Acquire) & POLL_STOP != 0 {
            debug_assert!(self.is_running(), "a safepoint inside a safe region");
            with_spilled_registers(|sp| {
                // Relaxed: the Release store of the state publishes it.
                self.published_sp.store(sp, Ordering::Relaxed);
                STOP_WORDS.wait_out_stop(&self.state, self.poll_word(), STOPPED);
            });
        }
        self.poll_word().load(Ordering::Acquire) & !POLL_STOP
    }

    fn publish_registers(&self, registers: &[usize; CALLEE_SAVED_COUNT], sp: usize) {
        for (slot, value) in self.saved_registers.iter().zip(registers) {
            // Relaxed: read by this thread's own collection, or after the Release of a state.
            slot.store(*value, Ordering::Relaxed);
        }
        self.registers_are_saved.store(true, Ordering::Relaxed);
        self.published_sp.store(sp, Ordering::Relaxed);
    }

    pub(crate) extern "C" fn enter_native_body(thread: *mut ThreadAbi, sp: usize) {
        // SAFETY: `enter_native` passes on the pinned register, which came from `abi`.
        let thread = unsafe { ManagedThread::from_abi(thread) };
        debug_assert!(thread.is_running(), "enter_native inside a safe region");
        // Relaxed: the Release store of the state publishes it.
        thread.registers_are_saved.store(true, Ordering::Relaxed);
        thread.publish_and_enter(sp);
    }
}

/// Begins native code called from compiled code: saves the callee-saved registers in the thread, publishes the caller's
/// stack pointer, becomes SAFE. Ends with `leave_native`. A callback from native into managed code calls `leave_native`
/// first and `enter_native` before it returns.
///
/// # Safety
/// `thread` is the calling thread's pinned register and the thread is RUNNING. Until `leave_native` the caller's frames
/// hold no reference that is not on the stack at or above its stack pointer or in a callee-saved register now.
#[inline(always)]
pub unsafe extern "C" fn enter_native(thread: *mut ThreadAbi) {
    // SAFETY: this function's contract.
    unsafe { enter_native_entry(thread) }
}

/// Ends native code: becomes RUNNING, after a stop if there is one. `errno` is not preserved across a wait.
///
/// # Safety
/// `thread` is the calling thread's pinned register and `enter_native` was called before.
pub unsafe extern "C" fn leave_native(thread: *mut ThreadAbi) {
    // SAFETY: this function's contract.
    let thread = unsafe { ManagedThread::from_abi(thread) };
    STOP_WORDS.leave_safe(&thread.state, thread.poll_word());
    // Relaxed: RUNNING again, so nobody reads it. Native frames keep the outer registers on the stack in a callback.
    thread.registers_are_saved.store(false, Ordering::Relaxed);
}

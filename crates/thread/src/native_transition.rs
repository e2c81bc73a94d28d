//! From compiled code into native code and back, without a frame of Rust in between.
//!
//! Most calls go through `StubId::CallNative`, which does what these functions do and calls them where the world stops;
//! it pushes the callee-saved registers.
//!
//! Invariant: while the thread is in native code, its callee-saved registers are in `saved_registers` or on the stack
//! at or above the published stack pointer, because native code may keep them anywhere. Architecture code is in one
//! file per architecture. Left out: native code that Rust calls, which is a safe region like any other (`blocking`).

#[cfg(target_arch = "aarch64")]
#[path = "native_transition/aarch64.rs"]
mod arch;
#[cfg(target_arch = "x86_64")]
#[path = "native_transition/x86_64.rs"]
mod arch;

use crate::managed_thread::ManagedThread;
use crate::stop::STOP_WORDS;
use saki_abi::ThreadAbi;
use std::sync::atomic::Ordering;

/// Begins native code called from compiled code: saves the callee-saved registers in the thread, publishes the caller's
/// stack pointer, becomes SAFE. Ends with `leave_native`. A callback from native into managed code calls `leave_native`
/// first and `enter_native` before it returns.
///
/// # Safety
/// `thread` is the calling thread's pinned register and the thread is RUNNING. Until `leave_native` the caller's frames
/// hold no reference that is not on the stack at or above its stack pointer or in a callee-saved register now.
#[inline(always)]
pub unsafe extern "C" fn enter_native(thread: *mut ThreadAbi) {
    // SAFETY: the function only names the entry of the assembly, which demands what this function demands: a RUNNING
    // thread's own pinned register, and frames that can be walked.
    unsafe { arch::enter_native_entry(thread) }
}

/// Ends native code: becomes RUNNING, after a stop if there is one. `errno` is not preserved across a wait.
///
/// # Safety
/// `thread` is the calling thread's pinned register and `enter_native` was called before.
pub unsafe extern "C" fn leave_native(thread: *mut ThreadAbi) {
    // SAFETY: `thread` is the calling thread's pinned register, so it is the address of a live `ManagedThread`'s ABI
    // part.
    let thread = unsafe { ManagedThread::from_abi(thread) };
    thread.leave_safe();
    // Relaxed: the thread is RUNNING again, so the flag is not read. Native frames keep the outer registers on the
    // stack in a callback.
    thread.registers_are_saved.store(false, Ordering::Relaxed);
}

/// The stub has made the thread SAFE and found that a stop is requested: tells the stopper.
///
/// # Safety
/// `thread` is the calling thread's pinned register; the thread is in native code.
pub unsafe extern "C" fn tell_stopper(thread: *mut ThreadAbi) {
    // SAFETY: `thread` is the calling thread's pinned register, so it is the address of a live `ManagedThread`'s ABI
    // part.
    let thread = unsafe { ManagedThread::from_abi(thread) };
    // SAFE already: the same step once more, which changes nothing but tells.
    STOP_WORDS.enter_safe(&thread.state, thread.poll_word());
}

/// The second half of `enter_native`; `sp`: the stack pointer of its caller.
extern "C" fn enter_native_body(thread: *mut ThreadAbi, sp: usize) {
    // SAFETY: `enter_native` passes on the pinned register, which came from `abi`.
    let thread = unsafe { ManagedThread::from_abi(thread) };
    debug_assert!(thread.is_running(), "enter_native inside a safe region");
    // Relaxed: the Release store of the state publishes it.
    thread.registers_are_saved.store(true, Ordering::Relaxed);
    thread.is_in_runtime.store(false, Ordering::Relaxed);
    thread.publish_and_enter(sp);
}

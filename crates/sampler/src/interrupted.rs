//! The frames of a thread that a signal is about to end, native ones by name, for the report of a crash.
//!
//! Left out: source lines of native code.

use crate::modules;
use crate::native_walk;
use crate::symbols::{NativePlace, Symbols};
use saki_abi::ThreadAbi;
use saki_os::FaultContext;
use saki_unwind::{Frame, Frames};

/// The frames, innermost first: native ones, then the managed frames behind them.
pub struct InterruptedFrames {
    pub native: Vec<NativePlace>,
    pub managed: Vec<Frame>,
}

/// The frames of a thread that runs no managed code. Where, as for `frames`.
///
/// # Safety
/// `context` is the state of a signal handler that does not return before this function does.
pub unsafe fn native_frames(context: &FaultContext) -> InterruptedFrames {
    modules::refresh();
    let mut instructions = Vec::new();
    let stack = saki_os::mappings::range_at(context.sp()).unwrap_or(0..0);
    // SAFETY: the contract; the thread's stack stays mapped while it is in its handler.
    unsafe { native_walk::walk_unmanaged(context, stack, |instruction| instructions.push(instruction)) };
    let mut symbols = Symbols::default();
    let native = instructions.into_iter().map(|instruction| symbols.place(instruction)).collect();
    InterruptedFrames { native, managed: Vec::new() }
}

/// Walks the stack. Takes the dynamic linker's lock and allocates, so it is not for signal handlers; another thread
/// calls it.
///
/// # Safety
/// `thread` is a managed thread, and `context` the state of a signal handler on it that does not return before this
/// function does.
pub unsafe fn frames(thread: *const ThreadAbi, context: &FaultContext) -> InterruptedFrames {
    modules::refresh();
    let mut instructions = Vec::new();
    // SAFETY: the thread stays in its handler, so the stack below the interrupted frame does not change during the
    // walk.
    let (_, managed) = unsafe { native_walk::walk(thread, context, |instruction| instructions.push(instruction)) };
    // A stack pointer outside of the stack ends that walk: the managed frames are then those of the last call of native
    // code.
    let managed = managed.unwrap_or_else(|| {
        // SAFETY: a managed thread that stays in its handler; the registers are those with which the handler
        // interrupted it.
        unsafe { Frames::of_context(thread, context.into()) }
    });
    let mut symbols = Symbols::default();
    let native = instructions.into_iter().map(|instruction| symbols.place(instruction)).collect();
    InterruptedFrames { native, managed: managed.collect() }
}

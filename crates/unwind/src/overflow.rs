//! Reports of what ends the process by a signal: stack overflow, and fatal faults of a managed thread.
//!
//! Another thread writes them, with names, libraries and lines (`Callbacks::report_end`); if it cannot, the signal
//! handler itself writes what it knows.
//!
//! Invariant: no allocation, no lock, no formatting machinery that could allocate; output by `write(2)` on the
//! alternate stack. Left out: overflows that become exceptions (`fault`). The overflows reported here have used up the
//! reserve of the stack as well, which only Rust and native code can do.

use crate::callbacks::{Callbacks, EndCause};
use crate::frames::{Frame, Frames, OVERFLOW_SLACK_BYTES};
use saki_abi::ThreadAbi;
use saki_code::CodeKind;
use saki_os::FaultContext;
use saki_os::signal::write_to_stderr as write_text;

/// Frames written at each end of a deep stack.
const SHOWN_FRAMES: usize = 60;

/// Whether a memory fault at `address` means that the thread has run into the end of its stack.
///
/// # Safety
/// `thread` is valid.
pub(crate) unsafe fn is_overflow(thread: *const ThreadAbi, address: usize, sp: usize) -> bool {
    // SAFETY: valid by the contract; the fields are set when the thread starts.
    let (limit, base) = unsafe { ((*thread).stack_limit, (*thread).stack_base) };
    let is_near_limit = address < limit + OVERFLOW_SLACK_BYTES && address + 2 * OVERFLOW_SLACK_BYTES > limit;
    base != 0 && is_near_limit && address.abs_diff(sp) < OVERFLOW_SLACK_BYTES
}

/// Writes "Stack overflow." and the managed stack, then aborts.
///
/// # Safety
/// `thread` is the current thread and `context` its interrupted state.
pub(crate) unsafe fn report_and_abort(thread: *mut ThreadAbi, context: &FaultContext, callbacks: &Callbacks) -> ! {
    // SAFETY: the thread is current and the context is its own (contract), which is what the callback asks for.
    if !unsafe { (callbacks.report_end)(thread, context, EndCause::StackOverflow) } {
        write_text(b"Stack overflow.\n");
        // SAFETY: the thread is current and the context is its own (contract), and this handler does not return.
        unsafe { write_stack(thread, context, callbacks) };
    }
    std::process::abort()
}

/// Writes a description of the fault and the managed stack.
///
/// # Safety
/// `thread` is the current thread and `context` its interrupted state.
pub(crate) unsafe fn report_fatal_fault(thread: *mut ThreadAbi, context: &FaultContext, callbacks: &Callbacks) {
    // SAFETY: the thread is current and the context is its own (contract), which is what the callback asks for.
    if unsafe { (callbacks.report_end)(thread, context, EndCause::Fault) } {
        return;
    }
    write_text(b"saki: signal ");
    write_number(context.signal() as usize, 10);
    write_text(b" at address 0x");
    write_number(context.fault_address(), 16);
    write_text(b", pc 0x");
    write_number(context.pc(), 16);
    // Unverifiable programs may make compiled code use any pointer; elsewhere a fault is more likely a bug of Saki.
    write_text(if saki_code::lookup(context.pc()).is_some() { &b" in compiled code"[..] } else { b" in native code" });
    write_text(b"; managed frames of this thread:\n");
    // SAFETY: the thread is current and the context is its own (contract), so its stack stays while this handler runs.
    unsafe { write_stack(thread, context, callbacks) };
}

/// # Safety
/// `thread` is the current thread and `context` its interrupted state.
unsafe fn write_stack(thread: *const ThreadAbi, context: &FaultContext, callbacks: &Callbacks) {
    // SAFETY: the context is the thread's own, and it is stopped in this handler.
    let frames = unsafe { Frames::of_context(thread, context.into()) };
    let total = frames.clone().filter(is_shown).count();
    let mut repeated = 0_usize;
    let mut last: Option<Frame> = None;
    for (index, frame) in frames.filter(is_shown).enumerate() {
        if index == SHOWN_FRAMES && total > 2 * SHOWN_FRAMES {
            write_text(b"   ... ");
            write_number(total - 2 * SHOWN_FRAMES, 10);
            write_text(b" frames\n");
        }
        if (SHOWN_FRAMES..total.saturating_sub(SHOWN_FRAMES)).contains(&index) {
            last = None;
            continue;
        }
        if last.is_some_and(|last| last.pc == frame.pc) {
            repeated += 1;
            continue;
        }
        end_repetition(&mut repeated);
        write_frame(&frame, callbacks);
        last = Some(frame);
    }
    end_repetition(&mut repeated);
}

fn is_shown(frame: &Frame) -> bool {
    frame.code().is_some_and(|info| matches!(info.kind, CodeKind::Method | CodeKind::Filter | CodeKind::NativeThunk))
}

fn write_frame(frame: &Frame, callbacks: &Callbacks) {
    let Some(info) = frame.code() else { return };
    write_text(b"   at ");
    if info.name().is_empty() && !info.method.is_null() {
        // SAFETY: code without a name of its own has its method's address, and the method outlives its frames.
        unsafe { (callbacks.write_name)(info.method, write_text) };
    } else {
        write_text(info.name().as_bytes());
    }
    if let Some(il_offset) = frame.il_offset() {
        write_text(b" [0x");
        write_number(il_offset as usize, 16);
        write_text(b"]");
    }
    write_text(b"\n");
}

fn end_repetition(repeated: &mut usize) {
    if *repeated > 0 {
        write_text(b"   (previous frame repeated ");
        write_number(*repeated, 10);
        write_text(b" times)\n");
        *repeated = 0;
    }
}

fn write_number(mut value: usize, radix: usize) {
    let mut digits = [0_u8; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b"0123456789abcdef"[value % radix];
        value /= radix;
        if value == 0 {
            break;
        }
    }
    write_text(&digits[start..]);
}

//! Hardware faults: which become managed exceptions, which are stack overflows, and which are passed to the previous
//! handler.
//!
//! | signal | where, what | becomes |
//! |---|---|---|
//! | SIGBUS | a mapped file, which another process has shortened | a line with the file's name, then as below |
//! | SIGSEGV, SIGBUS | compiled code, address < 64 KiB | NullReferenceException |
//! | SIGSEGV | address < 64 KiB, executed, called by compiled code | NullReferenceException in the caller |
//! | SIGSEGV, SIGBUS | anywhere, in the reserve of the thread's stack | nothing: the reserve is opened, a safepoint throws StackOverflowException |
//! | SIGSEGV, SIGBUS | a prologue, in the lowest part of the reserve or below | StackOverflowException in the caller: the frame is larger than what is left |
//! | SIGSEGV, SIGBUS | anywhere else, below the reserve | report with the managed stack, abort |
//! | SIGFPE | compiled code | by the trap table, else OverflowException (zero is checked before dividing) |
//! | SIGILL | compiled code, in the trap table | by the trap code |
//! | any | elsewhere, on a managed thread | a short report, then the previous handler |
//! | any | elsewhere, without a previous handler | a report by another thread, then the end |
//! | any | elsewhere | the previous handler |
//!
//! A fault becomes an exception by editing the interrupted context: PC + 1 becomes a return address (so that
//! "return address − 1" is inside the faulting instruction) and the thread continues in an assembly stub, outside
//! of the signal handler. Nothing in the faulting frame runs again, so registers may be lost, but for the callee-saved
//! ones: these stay as they are, since landing pads of frames further out may read them.
//! Invariant: async-signal-safe. Signal handlers run on alternate stacks, which
//! `thread` makes.

use crate::callbacks::{Callbacks, EndCause, FaultKind, callbacks};
use crate::{lost_file, overflow};
use saki_abi::ThreadAbi;
use saki_abi::object::NULL_AREA_BYTES;
use saki_abi::stubs::trap;
use saki_code::{CodeInfo, fault_throw_address, lookup};
use saki_os::FaultContext;
use saki_os::signal::{self, Disposition};
use std::io;

/// `si_code` of a general-protection fault: there is no fault address (the kernel reports 0). Also where the kernel
/// found no room on the thread's stack for the frame of a signal's handler; that signal is lost.
const SI_KERNEL: i32 = 0x80;

/// Installs the handlers for this process. Call after `install`.
///
/// # Errors
/// The errors of `sigaction`.
pub fn install_handlers() -> io::Result<()> {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL] {
        signal::install(signal, handle)?;
    }
    Ok(())
}

fn handle(context: &mut FaultContext) -> Disposition {
    if !context.is_fault() {
        return Disposition::PassOn;
    }
    lost_file::report(context);
    let Some(callbacks) = callbacks() else { return Disposition::PassOn };
    let info = lookup(context.pc());
    let thread = match info {
        // The pinned register may be trusted in compiled code, and needs no thread-local storage.
        Some(_) => context.pinned_register() as *mut ThreadAbi,
        None => (callbacks.current_thread)(),
    };
    if let Some(info) = info
        && let Some(kind) = classify(context, info)
    {
        throw_from(context, kind);
        return Disposition::Handled;
    }
    // SAFETY: the current thread, whose stack pointer is that of the stack that it was executing on.
    if !thread.is_null() && unsafe { is_call_through_null(thread, context, callbacks) } {
        // The return address is the caller's, as if the stub had been called in place of the method.
        context.set_argument(0, FaultKind::NullReference as usize);
        context.set_pc(fault_throw_address());
        return Disposition::Handled;
    }
    if !thread.is_null() {
        let is_memory_fault = matches!(context.signal(), libc::SIGSEGV | libc::SIGBUS);
        let in_large_frame = info.is_some_and(|info| info.is_stack_probe(context.pc()));
        let reached = match context.code() {
            SI_KERNEL => context.sp().saturating_sub(signal::frame_bytes()),
            _ => context.fault_address(),
        };
        // SAFETY: the current thread of this OS thread is valid, and so is the pinned register in compiled code.
        let is_open = || unsafe { (callbacks.open_stack_reserve)(thread, reached, in_large_frame, context.sp()) };
        if is_memory_fault && is_open() {
            return Disposition::Handled;
        }
        // SAFETY: a thread that is not null is the current one, whose fields stay while it is in this handler.
        if is_memory_fault && unsafe { overflow::is_overflow(thread, context.fault_address(), context.sp()) } {
            // SAFETY: the thread is the current one, and `in_large_frame` says that it was stopped at a stack probe.
            if in_large_frame && unsafe { throw_from_caller(context, thread, callbacks) } {
                return Disposition::Handled;
            }
            // SAFETY: the thread is the current one, and the handler got its interrupted state as `context`.
            unsafe { overflow::report_and_abort(thread, context, callbacks) }
        }
        // SAFETY: the thread is the current one, and the handler got its interrupted state as `context`.
        unsafe { overflow::report_fatal_fault(thread, context, callbacks) };
    } else if signal::is_default_behind(context.signal()) {
        // A host's own threads are the host's to report, if it does.
        // SAFETY: no managed thread runs here, and the context is that of this handler.
        unsafe { (callbacks.report_end)(thread, context, EndCause::Fault) };
    }
    Disposition::PassOn
}

/// The exception for a fault in compiled code; `None` if the fault is not an exception of the program.
fn classify(context: &FaultContext, info: &CodeInfo) -> Option<FaultKind> {
    let by_table = info.trap_code(context.pc());
    match context.signal() {
        libc::SIGSEGV | libc::SIGBUS => {
            let in_null_area = context.fault_address() < NULL_AREA_BYTES && context.code() != SI_KERNEL;
            in_null_area.then_some(FaultKind::NullReference)
        }
        libc::SIGFPE => by_table.map_or(Some(FaultKind::Overflow), FaultKind::from_trap_code),
        libc::SIGILL => by_table.filter(|&code| code != trap::UNREACHABLE).and_then(FaultKind::from_trap_code),
        _ => None,
    }
}

/// Whether compiled code has just called an address near null as managed code: a function pointer, or the code of a
/// delegate, that was never set. A call of native code there is a crash: the thread is in a safe region, which no
/// exception leaves.
///
/// # Safety
/// `thread` is the current thread, and its interrupted stack pointer is one.
unsafe fn is_call_through_null(thread: *mut ThreadAbi, context: &FaultContext, callbacks: &Callbacks) -> bool {
    if context.signal() != libc::SIGSEGV || context.pc() >= NULL_AREA_BYTES {
        return false;
    }
    // SAFETY: the current thread.
    if !unsafe { (callbacks.is_outside_native_code)(thread) } {
        return false;
    }
    // SAFETY: the thread has a valid stack pointer, and a thread that executes at such an address has just called it,
    // or jumped there from a function that has undone its frame.
    lookup(unsafe { context.return_address() }).is_some()
}

/// Throws StackOverflowException in the caller of a method whose prologue ran off the stack; `false` if the caller
/// lacks the stack space for that, too.
///
/// # Safety
/// `thread` is current and `context` its interrupted state, in a prologue that touches its stack
/// (`CodeInfo::is_stack_probe`).
unsafe fn throw_from_caller(context: &mut FaultContext, thread: *mut ThreadAbi, callbacks: &Callbacks) -> bool {
    let fp = context.fp();
    // SAFETY: the thread is current (contract); the callback reads the bounds of its stack.
    if !unsafe { (callbacks.has_stack_to_throw)(thread, fp) } {
        return false;
    }
    // As if the stub had been called in place of the method.
    // SAFETY: the frame pointer is set before the stack is probed.
    unsafe { context.undo_frame() };
    context.set_argument(0, FaultKind::StackOverflow as usize);
    context.set_pc(fault_throw_address());
    true
}

fn throw_from(context: &mut FaultContext, kind: FaultKind) {
    // SAFETY: the interrupted thread was executing on that stack, and compiled code keeps nothing below its stack
    // pointer.
    unsafe { context.set_return_address(context.pc() + 1) };
    context.set_argument(0, kind as usize);
    context.set_pc(fault_throw_address());
}

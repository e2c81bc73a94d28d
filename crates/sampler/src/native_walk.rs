//! Walks from an interrupted instruction in native code up to the managed frames that called it.
//!
//! Invariant: async-signal-safe, bounded by `MAX_NATIVE_FRAMES`; reads only the words of the stack above the
//! interrupted stack pointer, and of the alternate stack if that is what the thread is on. Left out: native frames
//! behind managed ones, which walks skip as a whole (`saki_unwind::Frames`), and the scheduler's own stacks.

use crate::call_frame_information::{ReadWord, Registers};
use crate::machine::{self, FP, Moment, PRESERVED, Values};
use crate::modules;
use saki_abi::ThreadAbi;
use saki_os::FaultContext;
use saki_unwind::{ContextFrames, Frame, FrameKind, Frames, Interrupted};
use std::ops::Range;

/// Native frames kept above managed ones; regular expressions and parsers in native libraries recurse.
pub const MAX_NATIVE_FRAMES: usize = 64;

/// How a walk ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// At managed frames, which follow.
    Managed,
    /// The walk ended at the outermost frame, or at one without call frame information; the managed frames that follow
    /// are those of the last call of native code from managed code.
    LastCall,
    /// There are no managed frames.
    NoManaged,
    /// The frames are not described, and whether managed ones follow is not known.
    Lost,
}

/// The words that a walk may read.
struct Stack {
    ranges: [Range<usize>; 2],
}

impl ReadWord for Stack {
    fn read(&self, address: usize) -> Option<usize> {
        let end = address.checked_add(size_of::<usize>())?;
        let is_inside = self.ranges.iter().any(|range| range.start <= address && end <= range.end);
        if !is_inside || !address.is_multiple_of(align_of::<usize>()) {
            return None;
        }
        // SAFETY: aligned and inside of a stack of the interrupted thread, above its stack pointer: mapped, and nobody
        // changes it meanwhile.
        Some(unsafe { (address as *const usize).read() })
    }
}

fn registers_of(context: &FaultContext) -> Registers {
    let mut values: Values = Default::default();
    for number in PRESERVED {
        values[number] = context.register(number);
    }
    Registers { pc: context.pc(), sp: context.sp(), values, is_return_address: false }
}

/// Calls `native` with the instruction of each native frame, innermost first, and gives the managed frames behind them.
///
/// # Safety
/// `thread` is the current managed thread, and `context` is the state of a signal handler that runs on it.
pub unsafe fn walk(
    thread: *const ThreadAbi,
    context: &FaultContext,
    native: impl FnMut(usize),
) -> (End, Option<ContextFrames>) {
    // SAFETY: `thread` is the current managed thread, whose own handler this is, so its stack does not change during
    // the walk.
    unsafe { walk_from(thread, registers_of(context), context.alternate_stack(), native) }
}

/// The managed frames of the current thread that are behind this call, with the one that called native code: it need
/// not have recorded an exit. None if they cannot be found.
///
/// # Safety
/// `thread` is the current managed thread.
#[inline(never)]
pub unsafe fn walk_here(thread: *const ThreadAbi, visit: impl FnMut(Frame)) -> Option<()> {
    let Moment { pc, sp, values } = machine::here();
    let registers = Registers { pc, sp, values, is_return_address: false };
    // This function's own frame is walked too, so it must be there until the walk is over.
    // SAFETY: this function's contract; the registers are this function's own.
    let (end, frames) = unsafe { walk_from(thread, registers, 0..0, |_| {}) };
    frames.filter(|_| end == End::Managed)?.for_each(visit);
    Some(())
}

/// Calls `native` with the instruction of each frame of a thread that runs no managed code, innermost first. `stack`:
/// what is mapped at the interrupted stack pointer.
///
/// # Safety
/// `context` is the state of a signal handler that does not return before this function does, and `stack` is readable.
pub unsafe fn walk_unmanaged(context: &FaultContext, stack: Range<usize>, mut native: impl FnMut(usize)) {
    let mut registers = registers_of(context);
    let stack = Stack { ranges: [registers.sp.max(stack.start)..stack.end, 0..0] };
    for _ in 0..MAX_NATIVE_FRAMES {
        native(registers.instruction());
        let frames = modules::find(registers.instruction()).and_then(|module| module.frames.as_ref());
        let frames = frames.filter(|frames| frames.covers(registers.instruction()));
        match frames.and_then(|frames| frames.step(&registers, &stack)) {
            Some(next) if next.pc != 0 => registers = next,
            _ => return,
        }
    }
}

/// Walks from `registers` as `walk` does; `alternate` is the alternate stack that the walk may begin on.
///
/// # Safety
/// `thread` is the current managed thread, and `registers` are those of a frame on its stack that is still there, or of
/// an interrupted instruction.
unsafe fn walk_from(
    thread: *const ThreadAbi,
    mut registers: Registers,
    alternate: Range<usize>,
    mut native: impl FnMut(usize),
) -> (End, Option<ContextFrames>) {
    // SAFETY: a managed thread's structure is never freed, and the thread is the interrupted one.
    let (stack_limit, stack_base, exit_frame) =
        unsafe { ((*thread).stack_limit, (*thread).stack_base, (*thread).exit_frame) };
    // SAFETY: two more words of the same structure.
    let (inner_top, outer_sp) = unsafe { ((*thread).inner_top, (*thread).outer_sp) };
    // Not the reserve below the limit: while green threads switch, the stack pointer may be on another one's stack,
    // perhaps the one below.
    let is_on_own = |sp: usize| (stack_limit..stack_base).contains(&sp) && !(inner_top..outer_sp).contains(&sp);
    // Of a stack in two parts, the one with native frames.
    let end = if outer_sp != 0 && registers.sp < inner_top { inner_top } else { stack_base };
    let own = if is_on_own(registers.sp) { registers.sp..end } else { stack_limit..end };
    let on_alternate = alternate.contains(&registers.sp);
    if !on_alternate && !is_on_own(registers.sp) {
        native(registers.pc);
        return (End::NoManaged, None);
    }
    let alternate = if on_alternate { registers.sp..alternate.end } else { 0..0 };
    let stack = Stack { ranges: [own, alternate] };
    for _ in 0..MAX_NATIVE_FRAMES {
        if saki_code::contains(registers.instruction()) && is_on_own(registers.sp) {
            // SAFETY: the state is the thread's own, or its caller's, and its stack does not change while it is
            // interrupted.
            let frames = unsafe { frames_at(thread, &registers) };
            return (End::Managed, Some(frames));
        }
        native(registers.instruction());
        let frames = modules::find(registers.instruction()).and_then(|module| module.frames.as_ref());
        let next = match frames.filter(|frames| frames.covers(registers.instruction())) {
            Some(frames) => frames.step(&registers, &stack),
            None => step_from_stub(&registers, &stack),
        };
        match next {
            Some(next) if next.pc == 0 || next.sp >= stack_base && !on_alternate => return (End::NoManaged, None),
            Some(next) => registers = next,
            None => break,
        }
    }
    let is_alive = exit_frame > registers.sp && exit_frame < stack_base && is_on_own(registers.sp);
    if is_alive || on_alternate && exit_frame != 0 {
        // SAFETY: `thread` is current and suspended in this handler, and the exit frame lies above the stack pointer,
        // so the frames from it on are alive.
        let frames = unsafe { Frames::of_thread(thread) };
        return (End::LastCall, Some(frames.into()));
    }
    (if exit_frame == 0 { End::NoManaged } else { End::Lost }, None)
}

/// The managed frames that called the native code which called managed code back, where a walk has ended with
/// `outermost` in that code's entry: nothing has replaced the exit that they recorded.
///
/// # Safety
/// `thread` is the current managed thread, and `outermost` is a frame of it that a walk in the same signal handler has
/// found.
pub unsafe fn behind_callback(thread: *const ThreadAbi, outermost: Option<Frame>) -> Option<Frames> {
    // SAFETY: a managed thread's structure is never freed, and the thread is the interrupted one.
    let (exit_frame, stack_base) = unsafe { ((*thread).exit_frame, (*thread).stack_base) };
    let frame = outermost.filter(|frame| matches!(frame.kind, FrameKind::Code(_)))?;
    let is_behind = frame.fp < exit_frame && exit_frame < stack_base;
    // SAFETY: the thread is interrupted, and its last exit lies above frames that are alive.
    is_behind.then(|| unsafe { Frames::of_thread(thread) })
}

/// The managed caller of one of our own stubs (`saki_code::stub_address`), which no call frame information describes.
/// Only a return into managed code counts, so other code without call frame information is rarely mistaken for a stub.
fn step_from_stub(registers: &Registers, stack: &Stack) -> Option<Registers> {
    let (sp, fp) = (registers.sp, registers.values[FP]);
    let caller = |pc: usize, sp: usize, fp: usize| {
        let mut caller = Registers { pc, sp, is_return_address: true, ..*registers };
        caller.values[FP] = fp;
        caller
    };
    let is_managed = |pc: &usize| saki_code::contains(pc.wrapping_sub(1));
    let managed = |address: usize| stack.read(address).filter(is_managed);
    if !registers.is_return_address {
        // Any register may hold anything, so nothing is added that could overflow. Before the frame pointer is pushed
        // or behind its pop; and between the push and the move of the stack pointer to it.
        let (pc, caller_sp) = match machine::link(&registers.values) {
            Some(link) => (Some(link).filter(is_managed), sp),
            None => (managed(sp), sp.wrapping_add(8)),
        };
        if let Some(pc) = pc {
            return Some(caller(pc, caller_sp, fp));
        }
        if let Some(pc) = managed(sp.wrapping_add(8)).filter(|_| stack.read(sp) == Some(fp)) {
            return Some(caller(pc, sp.wrapping_add(16), fp));
        }
    }
    if fp < sp {
        return None;
    }
    Some(caller(managed(fp.wrapping_add(8))?, fp.wrapping_add(16), stack.read(fp)?))
}

/// # Safety
/// `thread` is valid and the registers are a state of its own; its stack does not change while the iterator is used.
unsafe fn frames_at(thread: *const ThreadAbi, registers: &Registers) -> ContextFrames {
    let (pc, sp, fp) = (registers.pc, registers.sp, registers.values[FP]);
    if registers.is_return_address {
        // SAFETY: `thread` and the registers are a state of the current thread in which it was interrupted, or to which
        // its native frames return; this function demands the same as `of_context`.
        return unsafe { Frames::of_return(thread, pc, sp, fp) };
    }
    let link = machine::link(&registers.values);
    // SAFETY: `thread` is current, and `registers` are those with which it was interrupted, which this function
    // demands.
    unsafe { Frames::of_context(thread, Interrupted { pc, sp, fp, link }) }
}

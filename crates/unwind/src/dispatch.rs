//! The two passes of exception handling; the protocol is in the crate's documentation.
//!
//! Invariant: every function here returns to its stub with a filled `Landing`, or aborts.

use crate::callbacks::{Callbacks, FaultKind, callbacks};
use crate::frames::{Frame, FrameKind, Frames};
use saki_abi::thread::THREAD_POLL_STACK;
use saki_abi::{EnclosingHandler, ObjRef, ProtectedCall, ThreadAbi};
use saki_base::bug;
use saki_code::{
    CodeInfo, CodeKind, ENTRY_SAVED_BYTES, LANDING_REGISTERS, Landing, PlacedClause, UnwindHooks, enter,
    enter_unwound_address,
};
use std::mem::offset_of;
use std::sync::atomic::Ordering;

/// The end of an unwinding: a catch or filter clause of a frame, or an EntryFrame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target {
    fp: usize,
    /// Clause index, or `ENTRY_CLAUSE`.
    clause: u16,
}

/// What the stubs call, for `code::StubHooks`.
pub const HOOKS: UnwindHooks = UnwindHooks { throw_pending, resume, fault };

/// The clause number of a target that is an EntryFrame.
const ENTRY_CLAUSE: u16 = u16::MAX;
const CLAUSE_BITS: u32 = 16;

impl Target {
    /// User-space addresses have at most 48 bits on both architectures, so frame pointer and clause fit in one word.
    fn to_token(self) -> u64 {
        debug_assert!(self.fp < 1 << (64 - CLAUSE_BITS));
        (self.fp as u64) << CLAUSE_BITS | u64::from(self.clause)
    }

    fn from_token(token: u64) -> Target {
        Target { fp: (token >> CLAUSE_BITS) as usize, clause: token as u16 }
    }
}

/// Hook of `StubId::ThrowPending`.
///
/// # Safety
/// Called by the stub: `thread` is current and its `exit_frame` is the stub's frame.
pub(crate) unsafe extern "C" fn throw_pending(thread: *mut ThreadAbi, _stub_fp: usize, landing: *mut Landing) {
    // SAFETY: only the current thread touches the field.
    let exception = unsafe { std::mem::replace(&mut (*thread).pending_exception, ObjRef::NULL) };
    if exception.is_null() {
        bug!("a throw stub was called without a pending exception");
    }
    // SAFETY: the stub has made `exit_frame` its own frame, in which `landing` lies, and waits for this to return.
    unsafe { land(thread, landing, dispatch(thread, exception, KeptRegisters::at(landing))) };
}

/// Hook of the stub in which the signal handler continues faulting threads.
///
/// # Safety
/// Called by the stub: `thread` is current and its `exit_frame` is the stub's frame; `kind` is a `FaultKind` as a
/// number.
pub(crate) unsafe extern "C" fn fault(thread: *mut ThreadAbi, _stub_fp: usize, landing: *mut Landing, kind: u64) {
    let Some(kind) = u8::try_from(kind).ok().and_then(FaultKind::from_trap_code) else {
        bug!("fault stub with unknown kind {kind}");
    };
    let callbacks = installed();
    // SAFETY: `thread` is current and in a runtime call.
    let exception = unsafe { (callbacks.new_fault_exception)(thread, kind) };
    if exception.is_null() {
        bug!("no exception object for a fault of kind {kind:?}");
    }
    // SAFETY: the stub has made `exit_frame` its own frame, in which `landing` lies, and waits for this to return.
    unsafe { land(thread, landing, dispatch(thread, exception, KeptRegisters::at(landing))) };
}

/// Hook of `StubId::ResumeUnwind`.
///
/// # Safety
/// Called by the stub: `thread` is current and its `exit_frame` is the stub's frame; exception and token are what the
/// handler's landing pad got.
pub(crate) unsafe extern "C" fn resume(
    thread: *mut ThreadAbi,
    _stub_fp: usize,
    landing: *mut Landing,
    exception: ObjRef,
    token: u64,
) {
    // SAFETY: `thread` is current; `landing` is on the stub's frame.
    unsafe {
        let kept = KeptRegisters::at(landing);
        land(thread, landing, second_pass(thread, exception, Target::from_token(token), kept));
    };
}

/// Tells the stub where to go on. From here on the inner part of a stack counts as left if that is in the outer one.
///
/// # Safety
/// `thread` is current; `landing` is on the stub's frame.
unsafe fn land(thread: *mut ThreadAbi, landing: *mut Landing, place: Landing) {
    // SAFETY: `thread` is current.
    let (outer_sp, outer_limit) = unsafe { ((*thread).outer_sp, (*thread).outer_limit) };
    if outer_sp != 0 && place.sp >= outer_sp {
        // SAFETY: `thread` is current, and only it writes these fields.
        unsafe { ((*thread).stack_limit, (*thread).outer_sp) = (outer_limit, 0) };
        // Release, like all that set bits of the word: the next safepoint looks at the stack.
        // SAFETY: `thread` is valid, and the word atomic.
        unsafe { (*thread).poll.fetch_or(THREAD_POLL_STACK, Ordering::Release) };
    }
    // SAFETY: `landing` is on the stub's frame (contract).
    unsafe { *landing = place };
}

fn installed() -> &'static Callbacks {
    match callbacks() {
        Some(callbacks) => callbacks,
        None => bug!("the unwinder has no callbacks"),
    }
}

/// Both passes, from the caller of the stub.
///
/// # Safety
/// `thread` is current; `exit_frame` is the stub's frame, and `kept` the registers at its call.
unsafe fn dispatch(thread: *mut ThreadAbi, exception: ObjRef, kept: KeptRegisters) -> Landing {
    // SAFETY: `exit_frame` is the stub's frame (contract), and the frames behind it stay, since the stub waits.
    let target = unsafe { first_pass(thread, exception) };
    // SAFETY: `first_pass` has just found the target for this exception among these frames, and no frame has ended
    // since.
    unsafe { second_pass(thread, exception, target, kept) }
}

/// # Safety
/// `thread` is current; `exit_frame` is the stub's frame.
unsafe fn first_pass(thread: *mut ThreadAbi, exception: ObjRef) -> Target {
    let callbacks = installed();
    // SAFETY: `thread` is current and in a runtime call.
    unsafe { (callbacks.on_throw)(thread, exception) };
    // SAFETY: the frames below the stub stay while this runs.
    let frames = unsafe { Frames::of_thread(thread) };
    for frame in frames {
        let Some(info) = frame.code() else {
            return Target { fp: frame.fp, clause: ENTRY_CLAUSE };
        };
        if matches!(info.kind, CodeKind::Method | CodeKind::Filter | CodeKind::NativeThunk | CodeKind::Stub) {
            // SAFETY: `thread` is current and in a runtime call.
            unsafe { (callbacks.on_frame)(thread, exception, &frame) };
            // SAFETY: `thread` is current.
            unsafe { drop_pending(thread) };
        }
        let Some(call) = info.protected_call(frame.pc) else { continue };
        // SAFETY: the exception is on this thread's stack, and the frame's code stays while the frame does.
        let seen = unsafe { (callbacks.as_seen_by)(exception, &frame) };
        for handler in info.handlers_of(call) {
            let accepts = match info.clauses()[handler.clause_index as usize] {
                PlacedClause::Catch(ty) if ty.is_null() => true,
                // SAFETY: `thread` is current and in a runtime call.
                PlacedClause::Catch(ty) => unsafe { (callbacks.is_instance)(thread, seen, ty, &frame) },
                // SAFETY: the filter was compiled for this method, and the frame is still there.
                kind @ PlacedClause::Filter(code) => {
                    // SAFETY: `thread` is current and in a runtime call, and the frame is still there.
                    unsafe { (callbacks.on_clause)(thread, exception, &frame, kind, handler.clause_index) };
                    // SAFETY: the filter was compiled for this method, and the frame is still there.
                    unsafe { run_filter(thread, code, frame.fp, seen) }
                }
                PlacedClause::Finally | PlacedClause::Fault => false,
            };
            // SAFETY: `thread` is current.
            unsafe { drop_pending(thread) };
            if accepts {
                return Target { fp: frame.fp, clause: handler.clause_index as u16 };
            }
        }
    }
    // SAFETY: `thread` is current.
    let (exit_frame, limit, base) = unsafe { ((*thread).exit_frame, (*thread).stack_limit, (*thread).stack_base) };
    bug!("no entry frame below exit frame {exit_frame:#x} (stack {limit:#x}..{base:#x})");
}

/// # Safety
/// `thread` is current; `exit_frame` is the stub's frame, and `kept` the registers at its call; `target` came from
/// `first_pass` for this exception and still is on the stack.
unsafe fn second_pass(thread: *mut ThreadAbi, exception: ObjRef, target: Target, mut kept: KeptRegisters) -> Landing {
    let callbacks = installed();
    // SAFETY: the frames below the stub stay while this runs.
    for frame in unsafe { Frames::of_thread(thread) } {
        let info = match frame.kind {
            FrameKind::Entry if frame.fp == target.fp => {
                // SAFETY: `thread` is current.
                unsafe { (*thread).pending_exception = exception };
                let (fp, sp) = (frame.fp, frame.fp - ENTRY_SAVED_BYTES);
                // An entry frame loads what it has saved itself.
                return Landing { pc: enter_unwound_address(), sp, fp, ..Landing::default() };
            }
            FrameKind::Entry => break,
            FrameKind::Code(info) => info,
        };
        if frame.fp > target.fp {
            break;
        }
        for (call, handler) in info
            .protected_call(frame.pc)
            .into_iter()
            .flat_map(|call| info.handlers_of(call).iter().map(move |handler| (call, handler)))
        {
            let kind = info.clauses()[handler.clause_index as usize];
            if frame.fp == target.fp && handler.clause_index == u32::from(target.clause) {
                // The filter has already run: this is the clause behind it.
                let kind =
                    if matches!(kind, PlacedClause::Filter(_)) { PlacedClause::Catch(std::ptr::null()) } else { kind };
                // SAFETY: `thread` is current and in a runtime call.
                unsafe { (callbacks.on_clause)(thread, exception, &frame, kind, handler.clause_index) };
                // SAFETY: the exception is on this thread's stack, and the frame's code stays while the frame does.
                let seen = unsafe { (callbacks.as_seen_by)(exception, &frame) };
                // SAFETY: the frames that have been walked are still there, since the stub waits.
                let registers = unsafe { kept.values(info, handler) };
                let selector = u64::from(handler.clause_index);
                return Landing { registers, ..landing(info, &frame, call, handler, seen, selector) };
            }
            if matches!(kind, PlacedClause::Finally | PlacedClause::Fault) {
                // SAFETY: `thread` is current and in a runtime call, and the frame is still there.
                unsafe { (callbacks.on_clause)(thread, exception, &frame, kind, handler.clause_index) };
                // SAFETY: the frames that have been walked are still there, since the stub waits.
                let registers = unsafe { kept.values(info, handler) };
                return Landing { registers, ..landing(info, &frame, call, handler, exception, target.to_token()) };
            }
        }
        // SAFETY: `thread` is current and in a runtime call, and the frame is still there.
        unsafe { (callbacks.on_leave)(thread, exception, &frame) };
        kept.leave(info, &frame);
    }
    bug!("the second pass did not meet its target {target:x?}");
}

fn landing(
    info: &CodeInfo,
    frame: &Frame,
    call: &ProtectedCall,
    handler: &EnclosingHandler,
    exception: ObjRef,
    selector: u64,
) -> Landing {
    Landing {
        pc: info.start + handler.landing_offset as usize,
        sp: frame.fp - call.frame_offset_bytes as usize,
        fp: frame.fp,
        exception: exception.address(),
        selector,
        ..Landing::default()
    }
}

/// Bytes from FP down to where the body's prologue has saved a callee-saved register; None if it does not.
fn saved_at(info: &CodeInfo, index: usize) -> Option<u32> {
    info.spill_area()?.saved_register_bytes(index)
}

/// Where the values are that the callee-saved registers have in a frame of the walk, at its call: in the frame further
/// inwards that saved the register last, or as the throwing stub found it.
#[derive(Clone, Copy)]
struct KeptRegisters([usize; LANDING_REGISTERS]);

impl KeptRegisters {
    /// In the frame that called the stub in whose frame `landing` is.
    fn at(landing: *const Landing) -> KeptRegisters {
        let first = landing.addr() + offset_of!(Landing, registers);
        KeptRegisters(std::array::from_fn(|index| first + index * size_of::<usize>()))
    }

    /// The walk goes on from this frame to its caller's.
    fn leave(&mut self, info: &CodeInfo, frame: &Frame) {
        for (index, place) in self.0.iter_mut().enumerate() {
            if let Some(bytes_below_fp) = saved_at(info, index) {
                *place = frame.fp - bytes_below_fp as usize;
            }
        }
    }

    /// The registers for the landing pad of `handler`, a part of `info`. Those that the body has saved for its caller
    /// and the pad does not read become 0: Rust and native functions that it calls save them, and collections would
    /// take old values there for references.
    ///
    /// # Safety
    /// The frames that the walk has left, and the stub's, are still on the stack.
    unsafe fn values(&self, info: &CodeInfo, handler: &EnclosingHandler) -> [usize; LANDING_REGISTERS] {
        let has_saved_any = (0..LANDING_REGISTERS).any(|index| saved_at(info, index).is_some());
        let landing = info.start + handler.landing_offset as usize;
        let live = if has_saved_any { info.live_words_at_landing(landing) } else { None };
        std::array::from_fn(|index| match live {
            Some(live) if saved_at(info, index).is_some() && !live.reads_register(index) => 0,
            // SAFETY: a word of these frames: of the stub's landing, or where a prologue saves registers (`SpillArea`).
            _ => unsafe { (self.0[index] as *const usize).read() },
        })
    }
}

/// Whether the filter accepts the exception.
///
/// # Safety
/// `code` is a filter of the method whose frame pointer is `parent_fp`; `thread` is current.
unsafe fn run_filter(thread: *mut ThreadAbi, code: usize, parent_fp: usize, exception: ObjRef) -> bool {
    let mut result = 0;
    let arguments = [parent_fp as u64, exception.address() as u64, 0];
    // SAFETY: the filter's convention is `fn(parent_fp, exception) -> i32`.
    let status = unsafe { enter(thread, code, arguments, &mut result) };
    status == 0 && result as u32 != 0
}

/// Drops the exception that a callback or filter left pending: it must not be mistaken for the exception in flight.
///
/// # Safety
/// `thread` is current.
unsafe fn drop_pending(thread: *mut ThreadAbi) {
    // SAFETY: only the current thread touches the field.
    unsafe { (*thread).pending_exception = ObjRef::NULL };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_hold_frame_pointer_and_clause() {
        for (fp, clause) in [(0x7fff_ffff_fff8, 0), (0x1000, 7), (0xffff_ffff_fff8, ENTRY_CLAUSE)] {
            let target = Target { fp, clause };
            assert_eq!(Target::from_token(target.to_token()), target);
        }
    }
}

//! The functions of the runtime that the unwinder calls; installed once at start-up.

use crate::frames::Frame;
use saki_abi::stubs::trap;
use saki_abi::{ObjRef, ThreadAbi};
use saki_code::PlacedClause;
use saki_os::FaultContext;
use std::sync::OnceLock;

/// Functions of the runtime. Unless the field says otherwise they run as runtime calls of the given thread (they may
/// allocate and collect); an exception that they leave pending is dropped.
#[derive(Clone, Copy)]
pub struct Callbacks {
    /// Whether a clause for `types::Type` `ty` in `frame` catches the exception.
    pub is_instance: unsafe fn(thread: *mut ThreadAbi, exception: ObjRef, ty: *const (), frame: &Frame) -> bool,
    /// The object that handlers and filters of `frame` get for the exception: the exception itself, or the object that
    /// it wraps (RuntimeWrappedException). Does not allocate.
    pub as_seen_by: unsafe fn(exception: ObjRef, frame: &Frame) -> ObjRef,
    /// The exception is thrown, perhaps again: no frame has been looked at.
    pub on_throw: unsafe fn(thread: *mut ThreadAbi, exception: ObjRef),
    /// Appends a frame (of kind Method, Filter, NativeThunk or Stub) to the exception's trace.
    pub on_frame: unsafe fn(thread: *mut ThreadAbi, exception: ObjRef, frame: &Frame),
    /// The exception leaves a frame of compiled code, whose finally handlers have run.
    pub on_leave: unsafe fn(thread: *mut ThreadAbi, exception: ObjRef, frame: &Frame),
    /// Clause number `index` of the frame, of kind `kind`, is about to run.
    pub on_clause: unsafe fn(thread: *mut ThreadAbi, exception: ObjRef, frame: &Frame, kind: PlacedClause, index: u32),
    /// A new exception object for a hardware fault.
    pub new_fault_exception: unsafe fn(thread: *mut ThreadAbi, kind: FaultKind) -> ObjRef,
    /// The managed thread that the calling OS thread runs, or null. Async-signal-safe.
    pub current_thread: fn() -> *mut ThreadAbi,
    /// Opens the reserve of the thread's stack at the address of a fault; `sp` is the stack pointer of the code that
    /// faulted. True: it is open there now, and the instruction can be run again. The lowest part is not opened for a
    /// fault in the prologue of a large frame. Async-signal-safe.
    pub open_stack_reserve: unsafe fn(thread: *mut ThreadAbi, address: usize, in_large_frame: bool, sp: usize) -> bool,
    /// Whether an exception can be thrown with the stack pointer here. Async-signal-safe.
    pub has_stack_to_throw: unsafe fn(thread: *mut ThreadAbi, sp: usize) -> bool,
    /// Whether the thread runs managed code or the machine's, in which exceptions may be thrown, and not native code.
    /// Async-signal-safe.
    pub is_outside_native_code: unsafe fn(thread: *mut ThreadAbi) -> bool,
    /// The process is about to end by the signal of this context: has a report written, by another thread. `thread` is
    /// null where no managed thread runs. False: there is no such other thread, or it cannot write one.
    /// Async-signal-safe.
    pub report_end: unsafe fn(thread: *mut ThreadAbi, context: &FaultContext, cause: EndCause) -> bool,
    /// Writes the name of a `types::Method`, piece by piece. Async-signal-safe.
    pub write_name: unsafe fn(method: *const (), write: fn(&[u8])),
}

/// Why a signal ends the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndCause {
    /// The stack and its reserve are used up.
    StackOverflow,
    /// A fault that is no exception of the program.
    Fault,
}

/// Why compiled code faulted, and the exception that .NET documents for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum FaultKind {
    NullReference = trap::NULL_REFERENCE,
    IndexOutOfRange = trap::INDEX_OUT_OF_RANGE,
    DivideByZero = trap::DIVIDE_BY_ZERO,
    Overflow = trap::OVERFLOW,
    InvalidCast = trap::INVALID_CAST,
    StackOverflow = trap::STACK_OVERFLOW,
}

impl FaultKind {
    /// The kind for a raw Cranelift trap code; `None` = not an exception of the program.
    pub fn from_trap_code(code: u8) -> Option<FaultKind> {
        Some(match code {
            trap::NULL_REFERENCE => FaultKind::NullReference,
            trap::INDEX_OUT_OF_RANGE | trap::CRANELIFT_HEAP_OUT_OF_BOUNDS => FaultKind::IndexOutOfRange,
            trap::DIVIDE_BY_ZERO | trap::CRANELIFT_DIVISION_BY_ZERO => FaultKind::DivideByZero,
            trap::OVERFLOW | trap::CRANELIFT_INTEGER_OVERFLOW | trap::CRANELIFT_BAD_CONVERSION => FaultKind::Overflow,
            trap::INVALID_CAST => FaultKind::InvalidCast,
            trap::STACK_OVERFLOW => FaultKind::StackOverflow,
            _ => return None,
        })
    }
}

static CALLBACKS: OnceLock<Callbacks> = OnceLock::new();

/// Installs the callbacks. The first call counts.
pub fn install(callbacks: Callbacks) {
    let _ = CALLBACKS.set(callbacks);
}

/// The installed callbacks; safe in signal handlers.
pub(crate) fn callbacks() -> Option<&'static Callbacks> {
    CALLBACKS.get()
}

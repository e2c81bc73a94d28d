//! The Rust functions that the assembly stubs call: one value, given once when the machine starts, before managed code
//! runs.
//!
//! Invariant: hooks never unwind (a panic in them aborts, being `extern "C"`); an exception for the program is left in
//! `ThreadAbi.pending_exception`. No stub is reached before the hooks are there, so neither stubs nor their Rust ask
//! whether they are.

use saki_abi::{CALLEE_SAVED, NativeAbi, ObjRef, ThreadAbi};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Once;

/// Where a throwing stub continues: filled in by the unwinder, loaded by the stub after the unwinder has returned.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Landing {
    /// Address of the landing pad.
    pub pc: usize,
    /// The stack pointer there.
    pub sp: usize,
    /// The frame pointer there: that of the frame that handles the exception.
    pub fp: usize,
    /// The exception object, in the first result register.
    pub exception: usize,
    /// Clause index or unwind token, in the second result register.
    pub selector: u64,
    /// The values of [`CALLEE_SAVED`]; from the stub those at its call. Empty where landings do not keep them.
    pub registers: [usize; LANDING_REGISTERS],
}

/// The number of registers that keep their values where an exception lands.
pub const LANDING_REGISTERS: usize = if NativeAbi::HOST.landings_keep_registers { CALLEE_SAVED.len() } else { 0 };

const _: () = assert!(size_of::<Landing>() == 40 + 8 * LANDING_REGISTERS);

/// The hooks. All get the current thread, whose `exit_frame` is the stub's frame.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct StubHooks {
    /// (thread, entry argument) → code address to continue in. 0 = `pending_exception` is set. The hook itself calls
    /// `MethodEntry::lead_to` when the method is compiled.
    pub compile: unsafe extern "C" fn(*mut ThreadAbi, *const ()) -> usize,
    /// (thread, receiver, interface method) → code address; cached for (vtable, method). 0 = `pending_exception` is
    /// set.
    pub resolve_interface: unsafe extern "C" fn(*mut ThreadAbi, ObjRef, *const ()) -> usize,
    /// Safepoint slow path.
    pub poll: unsafe extern "C" fn(*mut ThreadAbi),
    /// Safepoint slow path at the entry of a method, with the values of rbx, r12, r13 and r14 there. 0, or the stack
    /// pointer of the stub where its frame and the method's lie from now on (`grow`).
    pub poll_entry: unsafe extern "C" fn(*mut ThreadAbi, usize, usize, usize, usize) -> usize,
    /// Type in `stub_arg[0]`.
    pub class_init: unsafe extern "C" fn(*mut ThreadAbi),
    /// Vtable in `stub_arg[0]`, object to `stub_result`.
    pub alloc_slow: unsafe extern "C" fn(*mut ThreadAbi),
    /// Object in `stub_arg[0]`.
    pub barrier_slow: unsafe extern "C" fn(*mut ThreadAbi),
    /// Method in `stub_arg[0]`, IL offset of a loop in `stub_arg[1]`, code to `stub_result` (`StubId::Hot`).
    pub hot: unsafe extern "C" fn(*mut ThreadAbi),
    /// The thread has left for native code, and finds that a stop is requested: tells the stopper. Not a safepoint.
    pub native_entered: unsafe extern "C" fn(*mut ThreadAbi),
    /// Native code has returned, and the poll word is not 0: waits while a stop is requested, and does what else the
    /// word asks for. Reads of the thread's references are allowed after the wait only.
    pub native_returned: unsafe extern "C" fn(*mut ThreadAbi),
    /// The unwinder's.
    pub unwind: UnwindHooks,
}

/// The hooks of the unwinder: each fills in the `Landing` at which the stub continues.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct UnwindHooks {
    /// (thread, stub's frame pointer, out) Throws `pending_exception` from the stub's caller.
    pub throw_pending: unsafe extern "C" fn(*mut ThreadAbi, usize, *mut Landing),
    /// (thread, stub's frame pointer, out, exception, token) Continues the second pass.
    pub resume: unsafe extern "C" fn(*mut ThreadAbi, usize, *mut Landing, ObjRef, u64),
    /// (thread, stub's frame pointer, out, fault kind) Throws for a hardware fault.
    pub fault: unsafe extern "C" fn(*mut ThreadAbi, usize, *mut Landing, u64),
}

/// Holds the hooks at an address that assembly knows: `call [HOOKS + offset_of!(StubHooks, poll)]` reads one.
#[repr(transparent)]
pub(crate) struct Installed<T>(UnsafeCell<MaybeUninit<T>>);

// SAFETY: written once, by `install`, before managed code runs on any thread; only read afterwards.
unsafe impl Sync for Installed<StubTable> {}

/// What stubs call: the hooks, at its start, and a function of this crate.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct StubTable {
    hooks: StubHooks,
    /// (thread, address of an entry stub) → code address to continue in, or 0 with an exception pending.
    pub compile_entry: unsafe extern "C" fn(*mut ThreadAbi, usize) -> usize,
}

pub(crate) static HOOKS: Installed<StubTable> = Installed(UnsafeCell::new(MaybeUninit::zeroed()));
static IS_INSTALLED: Once = Once::new();

/// What the compile trampoline calls.
pub(crate) type CompileEntry = unsafe extern "C" fn(*mut ThreadAbi, usize) -> usize;

/// Gives the stubs their hooks, before any managed code runs. The first ones stay.
pub(crate) fn install(hooks: StubHooks, compile_entry: CompileEntry) {
    let table = StubTable { hooks, compile_entry };
    // SAFETY: one call comes here, and nobody reads before managed code runs.
    IS_INSTALLED.call_once(|| unsafe { *HOOKS.0.get() = MaybeUninit::new(table) });
}

/// The hooks.
///
/// # Safety
/// They are installed: managed code runs.
pub(crate) unsafe fn installed() -> &'static StubHooks {
    // SAFETY: never written again once managed code runs.
    let hooks = unsafe { &*HOOKS.0.get() };
    // SAFETY: the caller promises that they are there.
    &unsafe { hooks.assume_init_ref() }.hooks
}

/// What a hook that looks for code returned: 0 if an exception is pending.
///
/// # Safety
/// `thread` is current.
pub(crate) unsafe fn code_or_pending(thread: *mut ThreadAbi, code: usize) -> usize {
    // SAFETY: `thread` is current, and only its owner touches this field.
    let pending = unsafe { !(*thread).pending_exception.is_null() };
    if !pending && code == 0 {
        saki_base::bug!("a resolving hook returned neither code nor an exception");
    }
    if pending { 0 } else { code }
}

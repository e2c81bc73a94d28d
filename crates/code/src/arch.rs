//! What this crate needs of a processor architecture, and which one this is.
//!
//! Each architecture is a folder below `arch/`, with a file for each subject:
//!
//! | file | subject |
//! |---|---|
//! | `registers` | registers and their roles in managed code |
//! | `masm` | encodings: the implementation of [`masm::MacroAssembler`], of which the baseline compiler composes code |
//! | `stubs` | assembly stubs, and the small stubs that are made at run time |
//! | `patching` | relocations, and the fields of calls (`patch_site`) |
//! | `frames` | recognising prologues, epilogues and stack probes at a program counter |
//!
//! Its `mod.rs` has one type that implements [`Architecture`]. A new architecture writes that folder (and files of the
//! same kind as those of `os::fault_context`, `os::i_cache`, `fiber::switch` and `thread::spill`), the settings of
//! `jit::isa`, and a row of `abi::NativeAbi`. The liveness of frame words (`frame_liveness`) and the walk of native
//! frames (`sampler`) may be missing: nothing depends on them.
//!
//! Invariant: no other file of this crate, of `unwind` or of `jit::baseline` knows an instruction or a register, but
//! for `frame_liveness`.

use saki_abi::{StubId, ThreadAbi};

pub(crate) use interface::{Architecture, FIELD_BYTES, RETURN_BYTES, STUB_BYTES};
pub use interface::{DebuggerFrames, FrameState};

#[cfg(target_arch = "aarch64")]
#[path = "arch/aarch64.rs"]
mod target;
#[cfg(target_arch = "x86_64")]
#[path = "arch/x86_64.rs"]
mod target;

mod interface;
pub mod masm;
pub(crate) mod patch_site;

/// The architecture for which this is compiled.
pub(crate) use target::Target as Arch;

/// What debuggers are told of the architecture and of its frames.
pub const DEBUGGER_FRAMES: DebuggerFrames = Arch::DEBUGGER_FRAMES;

/// EntryFrame: the previous `exit_frame` is at FP + this.
pub const ENTRY_PREVIOUS_EXIT_OFFSET: isize = Arch::ENTRY_PREVIOUS_EXIT_OFFSET;
/// EntryFrame: SP = FP − this while managed code runs.
pub const ENTRY_SAVED_BYTES: usize = Arch::ENTRY_SAVED_BYTES;

/// Calls `target(arguments…)` (Tail convention, at most three integer arguments) as managed code on `thread`. Returns 0
/// after a normal return, with the result register in `*result` unless that is null; or 1 when an exception left the
/// code, which is then in `pending_exception`.
///
/// # Safety
/// `thread` is the current thread's; `target` is code that keeps the conventions in the crate's documentation, and
/// it is safe to call with these arguments.
#[inline]
pub unsafe fn enter(thread: *mut ThreadAbi, target: usize, arguments: [u64; 3], result: *mut u64) -> u32 {
    // SAFETY: the thread is current and `target` keeps the conventions (contract), which is all that the stub relies
    // on.
    unsafe { Arch::enter(thread, target, arguments, result) }
}

/// Goes on where the C function that managed code called last would return to, as if it had returned 0, if it was
/// called through a stub (`StubId::CallNative` and its like): the frames in between are left without a trace. Returns
/// if it was called in another way, since its arguments are in memory, or on an architecture that has no such stub.
///
/// # Safety
/// `thread` is the current thread's, in native code, and no frame of Rust lies between the C function and the caller,
/// which has nothing to drop.
pub unsafe fn return_from_native_call(thread: *mut ThreadAbi) {
    // SAFETY: the thread is current and in native code, and the frames that are left have nothing to drop.
    unsafe { Arch::return_from_native_call(thread) };
}

/// The return address of frames called by [`enter`]: the walker recognises the boundary by it.
pub fn enter_return_address() -> usize {
    Arch::enter_return_address()
}

/// The address at which an exception lands that reaches the boundary (FP = the EntryFrame's, SP = FP −
/// `ENTRY_SAVED_BYTES`).
pub fn enter_unwound_address() -> usize {
    Arch::enter_unwound_address()
}

/// Address of the stub that compiled code names by `id`; relocate calls against it (a veneer bridges the distance).
pub fn stub_address(id: StubId) -> usize {
    Arch::stub_address(id)
}

/// Where the signal handler sends a thread that faulted in compiled code: the kind of fault is the first argument, the
/// faulting PC + 1 the return address (`saki_os::FaultContext::set_return_address`).
pub fn fault_throw_address() -> usize {
    Arch::fault_throw_address()
}

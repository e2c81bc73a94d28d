//! The interface that each architecture implements, and the sizes that all of them keep.
//!
//! Invariant: this names nothing of the crate but its errors, and an architecture's folder nothing but this, so that
//! they can be read first. Left out: which architecture this is (`arch`).

use crate::error::CodeError;
use saki_abi::{Reloc, StubId, ThreadAbi};

/// Bytes of an entry stub, an unboxing stub and a veneer.
pub(crate) const STUB_BYTES: usize = 16;

/// Bytes of the body that goes back to the outer part of a stack.
pub(crate) const RETURN_BYTES: usize = 32;

/// Bytes of the field that names the target of a direct call or jump.
pub(crate) const FIELD_BYTES: usize = 4;

/// What debuggers are told of the architecture and of its frames. In a frame the caller's frame pointer is saved at
/// CFA - 16 and the return address at CFA - 8, on each architecture; CFA is the stack pointer before the call.
#[derive(Clone, Copy, Debug)]
pub struct DebuggerFrames {
    /// `e_machine` (ELF).
    pub elf_machine: u16,
    /// DWARF's numbers of registers.
    pub stack_pointer: u16,
    /// See `stack_pointer`.
    pub frame_pointer: u16,
    /// The register, or the column, of the return address.
    pub return_address: u16,
    /// Bytes that a call pushes: the return address, or nothing.
    pub pushed_by_call_bytes: u8,
    /// The instructions with which a body makes its frame.
    pub prologue: &'static [u8],
    /// Length of the first of them, behind which both words are saved.
    pub push_len_bytes: u32,
    /// Bytes of the shortest instruction.
    pub code_alignment_bytes: u8,
}

/// The instructions that this crate writes, runs and recognises. Addresses are those of the executable view.
pub(crate) trait Architecture {
    /// What debuggers are told of the architecture and of its frames.
    const DEBUGGER_FRAMES: DebuggerFrames;
    /// EntryFrame: the previous `exit_frame` is at FP + this.
    const ENTRY_PREVIOUS_EXIT_OFFSET: isize;
    /// EntryFrame: SP = FP − this while managed code runs.
    const ENTRY_SAVED_BYTES: usize;
    /// Offset of the lazy tail in an entry stub: until there is code, the stub jumps to it, and it calls the compile
    /// trampoline.
    const LAZY_TAIL_OFFSET: usize;
    /// Bytes of the last part of the body that goes back to the outer part of a stack, to which methods return.
    const RETURN_TAIL_BYTES: usize;
    /// Bytes below the frame pointer of `StubId::PollEntry`, down to its stack pointer while the hook runs.
    const POLL_ENTRY_SAVED_BYTES: usize;
    /// Those of them that hold registers of the method, from the stack pointer up.
    const POLL_ENTRY_REGISTER_BYTES: usize;

    /// Whether the rest of this interface works. It is asked before anything else of it is used.
    ///
    /// # Errors
    /// `CodeError::Unsupported`: Saki does not run on this architecture yet.
    fn check() -> Result<(), CodeError>;

    // Stubs. Each is written once and then only read and executed.

    /// The stub at `stub`: a jump to the address in the word at `cell`, then the lazy tail, which leads to `hop`, the
    /// compile trampoline's veneer.
    fn encode_entry(stub: usize, cell: usize, hop: usize) -> [u8; STUB_BYTES];
    /// The stub at `stub` that adds the header's size to the first argument and jumps to the address in the word at
    /// `cell`.
    fn encode_unbox(stub: usize, cell: usize) -> [u8; STUB_BYTES];
    /// A jump to `target`, however far, that changes no register in which something is passed.
    fn encode_veneer(target: usize) -> [u8; STUB_BYTES];
    /// Where the lazy tails of entry stubs go: compiles the method and jumps to its code.
    fn compile_trampoline() -> usize;
    /// The stub that compiled code names by `id`.
    fn stub_address(id: StubId) -> usize;
    /// Where the signal handler sends a thread that faulted in compiled code, with the kind of fault as first argument
    /// and the faulting PC + 1 as its return address.
    fn fault_throw_address() -> usize;

    // Patching.

    /// Applies a relocation to `body`, which will run at `start`; the target is an address. `far` gives an address
    /// within reach that jumps to its argument.
    ///
    /// # Errors
    /// `BadRelocation`, or the errors of `far`.
    fn relocate(
        body: &mut [u8],
        start: usize,
        reloc: &Reloc<usize>,
        far: impl FnOnce(usize) -> Result<usize, CodeError>,
    ) -> Result<(), CodeError>;
    /// The four bytes `old`, at the address `field`, of a call or jump that was placed by `relocate`, changed to lead
    /// to `target`, which lies in the region.
    fn call_field(field: usize, old: [u8; FIELD_BYTES], target: usize) -> [u8; FIELD_BYTES];
    /// The target of the call with these bytes at the address `field`.
    fn call_target(field: usize, bytes: [u8; FIELD_BYTES]) -> usize;

    // Entering managed code.

    /// See `crate::enter`.
    ///
    /// # Safety
    /// `thread` is the current thread's; `target` is code that keeps the conventions in the crate's documentation, and
    /// it is safe to call with these arguments.
    unsafe fn enter(thread: *mut ThreadAbi, target: usize, arguments: [u64; 3], result: *mut u64) -> u32;
    /// See `crate::return_from_native_call`.
    ///
    /// # Safety
    /// Those of that function.
    unsafe fn return_from_native_call(_thread: *mut ThreadAbi) {}
    /// The return address of frames that `enter` has called.
    fn enter_return_address() -> usize;
    /// Where an exception lands that reaches `enter` (FP = the EntryFrame's, SP = FP − `ENTRY_SAVED_BYTES`).
    fn enter_unwound_address() -> usize;

    // Stacks in two parts, see `crate::growth`.

    /// The body whose end goes back to the outer part of the stack; the return address is that of its last
    /// `RETURN_TAIL_BYTES`.
    fn encode_return_to_outer() -> [u8; RETURN_BYTES];

    // Recognising code.

    /// How far the frame of the body at `start` is made or undone at its instruction `pc`.
    ///
    /// # Safety
    /// `pc` is in a placed body that begins at `start`.
    unsafe fn frame_state(start: usize, pc: usize) -> FrameState;
    /// Whether the instruction at `pc` is a stack probe: in the prologue of a frame larger than a page, it touches the
    /// stack page by page.
    ///
    /// # Safety
    /// `pc` is in a placed body with these first and past-the-end addresses.
    unsafe fn is_stack_probe(start: usize, end: usize, pc: usize) -> bool;
}

/// To which frame the frame pointer points at an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameState {
    /// The caller's frame: this body has pushed nothing yet, or nothing is left of what it pushed. x86-64: the return
    /// address is at SP; aarch64: it is in x30.
    NotPushed,
    /// The caller's frame: the frame pointer is saved at SP, and the return address is behind it.
    Pushed,
    /// The body's own.
    Complete,
}

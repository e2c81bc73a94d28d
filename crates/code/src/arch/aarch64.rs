//! aarch64, a file for each subject: registers and their roles (`registers`), the macro assembler (`masm`, and what is
//! seldom used `numbers`, `atomics` and `vectors`) and the words of its instructions (`encoding`), the instructions
//! that the rest writes and recognises (`instructions`), assembly stubs and the small stubs that are made at run time
//! (`stubs`), stubs for calls of native code (`native_calls`), places that are changed in code (`patching`),
//! recognising what a thread is stopped at (`frames`), the way back to the outer part of a stack (`growth`).

#[path = "aarch64/atomics.rs"]
mod atomics;
#[path = "aarch64/encoding.rs"]
mod encoding;
#[path = "aarch64/frames.rs"]
mod frames;
#[path = "aarch64/growth.rs"]
mod growth;
#[path = "aarch64/instructions.rs"]
mod instructions;
#[path = "aarch64/masm.rs"]
pub(super) mod masm;
#[path = "aarch64/native_calls.rs"]
mod native_calls;
#[path = "aarch64/numbers.rs"]
mod numbers;
#[path = "aarch64/patching.rs"]
mod patching;
#[path = "aarch64/registers.rs"]
mod registers;
#[path = "aarch64/stubs.rs"]
mod stubs;
#[path = "aarch64/vectors.rs"]
mod vectors;

use super::{Architecture, DebuggerFrames, FIELD_BYTES, FrameState, RETURN_BYTES, STUB_BYTES};
use crate::error::CodeError;
use saki_abi::{Reloc, StubId, ThreadAbi};

pub(crate) struct Target;

impl Architecture for Target {
    const DEBUGGER_FRAMES: DebuggerFrames = DebuggerFrames {
        elf_machine: 183,
        stack_pointer: 31,
        frame_pointer: 29,
        return_address: 30,
        pushed_by_call_bytes: 0,
        // stp x29, x30, [sp, #-16]!; mov x29, sp
        prologue: &[0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91],
        push_len_bytes: 4,
        code_alignment_bytes: 4,
    };
    const ENTRY_PREVIOUS_EXIT_OFFSET: isize = stubs::ENTRY_PREVIOUS_EXIT_OFFSET;
    const ENTRY_SAVED_BYTES: usize = stubs::ENTRY_SAVED_BYTES;
    const LAZY_TAIL_OFFSET: usize = stubs::LAZY_TAIL_OFFSET;
    const RETURN_TAIL_BYTES: usize = STUB_BYTES;
    const POLL_ENTRY_SAVED_BYTES: usize = stubs::POLL_ENTRY_SAVED_BYTES;
    const POLL_ENTRY_REGISTER_BYTES: usize = stubs::POLL_ENTRY_SAVED_BYTES;

    /// The other cores fetch what is written, and calls that are changed, only after a context synchronisation, which
    /// `os::i_cache` asks the kernel for.
    fn check() -> Result<(), CodeError> {
        if saki_os::membarrier::synchronise_cores() {
            Ok(())
        } else {
            Err(CodeError::Unsupported { architecture: "aarch64 without membarrier's SYNC_CORE (Linux 4.16)" })
        }
    }

    fn encode_entry(stub: usize, cell: usize, hop: usize) -> [u8; STUB_BYTES] {
        stubs::encode_entry(stub, cell, hop)
    }

    fn encode_unbox(stub: usize, cell: usize) -> [u8; STUB_BYTES] {
        stubs::encode_unbox(stub, cell)
    }

    fn encode_veneer(target: usize) -> [u8; STUB_BYTES] {
        stubs::encode_veneer(target)
    }

    fn compile_trampoline() -> usize {
        stubs::compile_trampoline as *const () as usize
    }

    fn stub_address(id: StubId) -> usize {
        stubs::of_id(id) as *const () as usize
    }

    fn fault_throw_address() -> usize {
        stubs::fault_throw as *const () as usize
    }

    fn relocate(
        body: &mut [u8],
        start: usize,
        reloc: &Reloc<usize>,
        far: impl FnOnce(usize) -> Result<usize, CodeError>,
    ) -> Result<(), CodeError> {
        patching::relocate(body, start, reloc, far)
    }

    fn call_field(field: usize, old: [u8; FIELD_BYTES], target: usize) -> [u8; FIELD_BYTES] {
        patching::call_field(field, old, target)
    }

    fn call_target(field: usize, bytes: [u8; FIELD_BYTES]) -> usize {
        patching::call_target(field, bytes)
    }

    unsafe fn enter(thread: *mut ThreadAbi, target: usize, arguments: [u64; 3], result: *mut u64) -> u32 {
        // SAFETY: `thread` is current and the target may be called with these arguments (contract); `saki_enter` keeps
        // the C ABI, saves all registers that managed code changes, and loads x21.
        unsafe { stubs::saki_enter(thread, target, arguments[0], arguments[1], arguments[2], result) }
    }

    unsafe fn return_from_native_call(thread: *mut ThreadAbi) {
        // SAFETY: the contract is the same.
        unsafe { native_calls::return_from_native_call(thread) };
    }

    fn enter_return_address() -> usize {
        stubs::saki_enter_return as *const () as usize
    }

    fn enter_unwound_address() -> usize {
        stubs::saki_enter_unwound as *const () as usize
    }

    fn encode_return_to_outer() -> [u8; RETURN_BYTES] {
        growth::encode_return()
    }

    unsafe fn frame_state(start: usize, pc: usize) -> FrameState {
        // SAFETY: `pc` is in a placed body that begins at `start` (contract), which `frames` reads and which stays
        // mapped.
        unsafe { frames::frame_state(start, pc) }
    }

    unsafe fn is_stack_probe(start: usize, end: usize, pc: usize) -> bool {
        // SAFETY: `start..end` is a placed body (contract), which `frames` reads and which stays mapped.
        unsafe { frames::is_stack_probe(start, end, pc) }
    }
}

//! x86-64, a file for each subject: registers and their roles (`registers`), encodings (`masm`, and of what is seldom
//! used `numbers`, `atomics` and `vectors`), assembly stubs and the small stubs that are made at run time (`stubs`),
//! places that are changed in code (`patching`), recognising what a thread is stopped at (`frames`), moving a frame to
//! another part of the stack (`growth`).

#[path = "x86_64/atomics.rs"]
mod atomics;
#[path = "x86_64/frames.rs"]
mod frames;
#[path = "x86_64/growth.rs"]
mod growth;
#[path = "x86_64/masm.rs"]
pub(super) mod masm;
#[path = "x86_64/native_calls.rs"]
mod native_calls;
#[path = "x86_64/numbers.rs"]
mod numbers;
#[path = "x86_64/patching.rs"]
mod patching;
#[path = "x86_64/registers.rs"]
mod registers;
#[path = "x86_64/stubs.rs"]
mod stubs;
#[path = "x86_64/vectors.rs"]
mod vectors;

use super::{Architecture, DebuggerFrames, FrameState, RETURN_BYTES, STUB_BYTES};
use crate::error::CodeError;
use saki_abi::{Reloc, StubId, ThreadAbi};

pub(crate) struct Target;

impl Architecture for Target {
    const DEBUGGER_FRAMES: DebuggerFrames = DebuggerFrames {
        elf_machine: 62,
        stack_pointer: 7,
        frame_pointer: 6,
        return_address: 16,
        pushed_by_call_bytes: 8,
        // push rbp; mov rbp, rsp
        prologue: &[0x55, 0x48, 0x89, 0xe5],
        push_len_bytes: 1,
        code_alignment_bytes: 1,
    };
    const ENTRY_PREVIOUS_EXIT_OFFSET: isize = stubs::ENTRY_PREVIOUS_EXIT_OFFSET;
    const ENTRY_SAVED_BYTES: usize = 64;
    const LAZY_TAIL_OFFSET: usize = stubs::LAZY_TAIL_OFFSET;
    const RETURN_TAIL_BYTES: usize = growth::RETURN_TAIL_BYTES;
    const POLL_ENTRY_SAVED_BYTES: usize = growth::STUB_SAVED_BYTES;
    const POLL_ENTRY_REGISTER_BYTES: usize = growth::STUB_REGISTER_BYTES;

    fn check() -> Result<(), CodeError> {
        Ok(())
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

    fn call_field(field: usize, _: [u8; patching::FIELD_BYTES], target: usize) -> [u8; patching::FIELD_BYTES] {
        patching::call_field(field, target)
    }

    fn call_target(field: usize, bytes: [u8; patching::FIELD_BYTES]) -> usize {
        patching::call_target(field, bytes)
    }

    unsafe fn enter(thread: *mut ThreadAbi, target: usize, arguments: [u64; 3], result: *mut u64) -> u32 {
        // SAFETY: `thread` is current and the target may be called with these arguments (contract); `saki_enter` keeps
        // the C ABI, saves all registers that managed code changes, and loads r15.
        unsafe { stubs::saki_enter(thread, target, arguments[0], arguments[1], arguments[2], result) }
    }

    unsafe fn return_from_native_call(thread: *mut ThreadAbi) {
        // SAFETY: the thread is current and in native code, and the frames that are left have nothing to drop.
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

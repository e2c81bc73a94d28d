//! aarch64: the interface is not implemented yet; `check` makes the start of the machine fail with that reason.
//!
//! This file lets all crates compile for aarch64, so that the compiler sees what they need of the architecture. Left
//! out: every function.

use super::patch_site::FIELD_BYTES;
use super::{Architecture, FrameState, RETURN_BYTES, STUB_BYTES};
use crate::error::CodeError;
use saki_abi::{Reloc, StubId, ThreadAbi};
use std::ops::Range;

pub(crate) struct Target;

fn not_written() -> ! {
    saki_base::bug!("code for aarch64 was asked for, though `code::init` refuses to start there")
}

impl Architecture for Target {
    const ENTRY_PREVIOUS_EXIT_OFFSET: isize = 0;
    const ENTRY_SAVED_BYTES: usize = 0;
    const LAZY_TAIL_OFFSET: usize = 0;

    fn check() -> Result<(), CodeError> {
        Err(CodeError::Unsupported { architecture: "aarch64" })
    }

    fn encode_entry(_: usize, _: usize, _: usize) -> [u8; STUB_BYTES] {
        not_written()
    }

    fn encode_unbox(_: usize, _: usize) -> [u8; STUB_BYTES] {
        not_written()
    }

    fn encode_veneer(_: usize) -> [u8; STUB_BYTES] {
        not_written()
    }

    fn compile_trampoline() -> usize {
        not_written()
    }

    fn stub_address(_: StubId) -> usize {
        not_written()
    }

    fn fault_throw_address() -> usize {
        not_written()
    }

    fn relocate(
        _: &mut [u8],
        _: usize,
        _: &Reloc<usize>,
        _: impl FnOnce(usize) -> Result<usize, CodeError>,
    ) -> Result<(), CodeError> {
        not_written()
    }

    fn call_field(_: usize, _: usize) -> [u8; FIELD_BYTES] {
        not_written()
    }

    fn call_target(_: usize, _: [u8; FIELD_BYTES]) -> usize {
        not_written()
    }

    /// # Safety
    /// None: it does not return.
    unsafe fn enter(_: *mut ThreadAbi, _: usize, _: [u64; 3], _: *mut u64) -> u32 {
        not_written()
    }

    fn enter_return_address() -> usize {
        not_written()
    }

    fn enter_unwound_address() -> usize {
        not_written()
    }

    fn encode_return_to_outer() -> [u8; RETURN_BYTES] {
        not_written()
    }

    /// # Safety
    /// None: it does not return.
    unsafe fn move_frame(_: *mut ThreadAbi, _: [usize; 4], _: Range<usize>, _: usize) -> usize {
        not_written()
    }

    /// # Safety
    /// None: it does not return.
    unsafe fn frame_state(_: usize, _: usize) -> FrameState {
        not_written()
    }

    /// # Safety
    /// None: it does not return.
    unsafe fn is_stack_probe(_: usize, _: usize, _: usize) -> bool {
        not_written()
    }
}

//! x86-64: what `crate::growth` needs of it: the way back to the outer part of a stack.
//!
//! Left out: the moving of frames, which is the same on all architectures.

use super::stubs::encode_veneer;
use crate::arch::RETURN_BYTES;
use saki_abi::thread::{
    THREAD_OUTER_LIMIT_OFFSET, THREAD_OUTER_SP_OFFSET, THREAD_POLL_OFFSET, THREAD_POLL_STACK, THREAD_STACK_LIMIT_OFFSET,
};
use std::arch::naked_asm;

/// Bytes below the frame pointer of a preserving stub, and those of them that hold registers, the lower ones.
pub(super) const STUB_SAVED_BYTES: usize = 336;
pub(super) const STUB_REGISTER_BYTES: usize = 328;
/// Bytes of the jump at the end of `encode_return`.
pub(super) const RETURN_TAIL_BYTES: usize = 14;

/// Where methods return from the inner part: rbp is the link, the results are in their registers.
///
/// # Safety
/// Only methods whose frames `crate::growth` has moved return here, by the body of `encode_return`; r15 is the thread.
#[unsafe(naked)]
unsafe extern "C" fn return_to_outer() {
    naked_asm!(
        "mov r11, [rbp - 8]",
        "add r11, rsp",
        "sub r11, [rbp - 16]",
        "mov r10, [rbp + 8]",
        "mov rbp, [rbp]",
        "mov rsp, r11",
        "mov r11, [r15 + {outer_limit}]",
        "mov [r15 + {stack_limit}], r11",
        "mov qword ptr [r15 + {outer_sp}], 0",
        "lock or dword ptr [r15 + {poll}], {poll_stack}",
        "jmp r10",
        outer_limit = const THREAD_OUTER_LIMIT_OFFSET,
        stack_limit = const THREAD_STACK_LIMIT_OFFSET,
        outer_sp = const THREAD_OUTER_SP_OFFSET,
        poll = const THREAD_POLL_OFFSET,
        poll_stack = const THREAD_POLL_STACK,
    )
}

/// See `Architecture::encode_return_to_outer`. Traps, since nothing else is executed, then a jump that works at every
/// place.
pub(super) fn encode_return() -> [u8; RETURN_BYTES] {
    let mut body = [0xcc; RETURN_BYTES];
    let jump = encode_veneer(return_to_outer as *const () as usize);
    body[RETURN_BYTES - RETURN_TAIL_BYTES..].copy_from_slice(&jump[..RETURN_TAIL_BYTES]);
    body
}

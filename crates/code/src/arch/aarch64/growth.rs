//! aarch64: what `crate::growth` needs of it: the way back to the outer part of a stack.
//!
//! Left out: the moving of frames, which is the same on all architectures.

use super::instructions::TRAP;
use super::stubs::encode_veneer;
use crate::arch::{RETURN_BYTES, STUB_BYTES};
use saki_abi::thread::{
    THREAD_OUTER_LIMIT_OFFSET, THREAD_OUTER_SP_OFFSET, THREAD_POLL_OFFSET, THREAD_POLL_STACK, THREAD_STACK_LIMIT_OFFSET,
};
use std::arch::naked_asm;

/// Where methods return from the inner part: x29 is the link, the results are in their registers, which x0, x1, x16 and
/// x17 are not.
///
/// # Safety
/// Only methods whose frames `crate::growth` has moved return here, by the body of `encode_return`; x21 is the thread.
#[unsafe(naked)]
unsafe extern "C" fn return_to_outer() {
    naked_asm!(
        "ldp x16, x17, [x29, #-16]",
        "mov x0, sp",
        "sub x0, x0, x16",
        "add x17, x17, x0",
        "ldp x29, x30, [x29]",
        "mov sp, x17",
        "ldr x16, [x21, #{outer_limit}]",
        "str x16, [x21, #{stack_limit}]",
        "str xzr, [x21, #{outer_sp}]",
        // Relaxed: the thread asks itself. Others set bits at the same time.
        "add x16, x21, #{poll}",
        "2:",
        "ldxr w0, [x16]",
        "orr w0, w0, #{poll_stack}",
        "stxr w1, w0, [x16]",
        "cbnz w1, 2b",
        "ret",
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
    let mut body = [0; RETURN_BYTES];
    body.as_chunks_mut().0.fill(TRAP.to_le_bytes());
    body[RETURN_BYTES - STUB_BYTES..].copy_from_slice(&encode_veneer(return_to_outer as *const () as usize));
    body
}

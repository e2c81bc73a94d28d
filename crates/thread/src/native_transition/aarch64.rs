//! AArch64: the entry into native code, with the registers that `spill` knows as callee-saved.

use crate::managed_thread::SAVED_REGISTERS_OFFSET;
use std::arch::naked_asm;

/// Saves the caller's callee-saved registers in the thread and goes on in `body(thread, caller's sp)`.
///
/// # Safety
/// `thread` is the current thread's, RUNNING; the caller's contract is that of `saki_thread::enter_native`.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn enter_native_entry(thread: *mut saki_abi::ThreadAbi) {
    naked_asm!(
        "mov x9, #{saved}",
        "add x9, x0, x9",
        "stp x19, x20, [x9]",
        "stp x21, x22, [x9, #16]",
        "stp x23, x24, [x9, #32]",
        "stp x25, x26, [x9, #48]",
        "stp x27, x28, [x9, #64]",
        "stp x29, x30, [x9, #80]",
        "mov x1, sp",
        "b {body}",
        saved = const SAVED_REGISTERS_OFFSET,
        body = sym super::enter_native_body,
    )
}

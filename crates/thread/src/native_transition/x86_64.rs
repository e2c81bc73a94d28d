//! x86-64, System V: the entry into native code, with the registers that `spill` knows as callee-saved.

use crate::managed_thread::SAVED_REGISTERS_OFFSET;
use std::arch::naked_asm;

/// Saves the caller's callee-saved registers in the thread and goes on in `body(thread, caller's sp)`.
///
/// # Safety
/// `thread` is the current thread's, RUNNING; the caller's contract is that of `saki_thread::enter_native`.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn enter_native_entry(thread: *mut saki_abi::ThreadAbi) {
    naked_asm!(
        "mov [rdi + {saved}], rbx",
        "mov [rdi + {saved} + 8], rbp",
        "mov [rdi + {saved} + 16], r12",
        "mov [rdi + {saved} + 24], r13",
        "mov [rdi + {saved} + 32], r14",
        "mov [rdi + {saved} + 40], r15",
        "lea rsi, [rsp + 8]",
        "jmp {body}",
        saved = const SAVED_REGISTERS_OFFSET,
        body = sym super::enter_native_body,
    )
}

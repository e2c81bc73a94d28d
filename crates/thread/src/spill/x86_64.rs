//! x86-64, System V: rbx, rbp, r12–r15 are callee-saved.

use std::arch::{asm, naked_asm};

pub(crate) const CALLEE_SAVED_COUNT: usize = 6;

/// ```text
///          return address     ← rsp + 56 at the call
///          rbp
///          rbx
///          r12 r13 r14 r15
///          padding
/// sp  →    (call of `f(argument, sp)`: everything of the callers is at or above sp)
/// ```
///
/// # Safety
/// `f` may be called with `argument`.
#[unsafe(naked)]
pub(super) unsafe extern "C-unwind" fn spill_and_call(
    argument: *mut u8,
    f: unsafe extern "C-unwind" fn(*mut u8, usize),
) {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        ".cfi_offset rbx, -24",
        ".cfi_offset r12, -32",
        ".cfi_offset r13, -40",
        ".cfi_offset r14, -48",
        ".cfi_offset r15, -56",
        "sub rsp, 8",
        "mov rax, rsi",
        "mov rsi, rsp",
        "call rax",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}

/// Copies the callee-saved registers as they are in the frame this is inlined into.
#[inline(always)]
pub(crate) fn capture_registers(into: &mut [usize; CALLEE_SAVED_COUNT]) {
    // SAFETY: writes the six words of `into`, changes nothing else.
    unsafe {
        asm!(
            "mov [{0}], rbx",
            "mov [{0} + 8], rbp",
            "mov [{0} + 16], r12",
            "mov [{0} + 24], r13",
            "mov [{0} + 32], r14",
            "mov [{0} + 40], r15",
            in(reg) into.as_mut_ptr(),
            options(nostack, preserves_flags),
        );
    }
}

/// The stack pointer of the frame this is inlined into, below its red zone.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    let sp: usize;
    // SAFETY: only reads rsp.
    unsafe { asm!("mov {}, rsp", out(reg) sp, options(nomem, nostack, preserves_flags)) };
    // A leaf function may keep locals below rsp.
    sp - saki_abi::NativeAbi::X86_64.red_zone_bytes
}

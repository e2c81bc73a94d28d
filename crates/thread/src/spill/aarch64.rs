//! AArch64: x19–x30 are callee-saved (the vector registers d8–d15 hold no references).

use std::arch::{asm, naked_asm};

pub(crate) const CALLEE_SAVED_COUNT: usize = 12;

/// Pushes x19–x30 and calls `f(argument, sp)`; everything of the callers is at or above sp.
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
        "stp x29, x30, [sp, #-96]!",
        ".cfi_def_cfa_offset 96",
        ".cfi_offset x29, -96",
        ".cfi_offset x30, -88",
        "stp x19, x20, [sp, #16]",
        "stp x21, x22, [sp, #32]",
        "stp x23, x24, [sp, #48]",
        "stp x25, x26, [sp, #64]",
        "stp x27, x28, [sp, #80]",
        "mov x29, sp",
        "mov x9, x1",
        "mov x1, sp",
        "blr x9",
        "ldp x19, x20, [sp, #16]",
        "ldp x21, x22, [sp, #32]",
        "ldp x23, x24, [sp, #48]",
        "ldp x25, x26, [sp, #64]",
        "ldp x27, x28, [sp, #80]",
        "ldp x29, x30, [sp], #96",
        "ret",
        ".cfi_endproc",
    )
}

/// Copies the callee-saved registers as they are in the frame this is inlined into.
#[inline(always)]
pub(crate) fn capture_registers(into: &mut [usize; CALLEE_SAVED_COUNT]) {
    // SAFETY: writes the twelve words of `into`, changes nothing else.
    unsafe {
        asm!(
            "stp x19, x20, [{0}]",
            "stp x21, x22, [{0}, #16]",
            "stp x23, x24, [{0}, #32]",
            "stp x25, x26, [{0}, #48]",
            "stp x27, x28, [{0}, #64]",
            "stp x29, x30, [{0}, #80]",
            in(reg) into.as_mut_ptr(),
            options(nostack, preserves_flags),
        );
    }
}

/// The stack pointer of the frame this is inlined into.
#[inline(always)]
pub(crate) fn stack_pointer() -> usize {
    let sp: usize;
    // SAFETY: only reads sp.
    unsafe { asm!("mov {}, sp", out(reg) sp, options(nomem, nostack, preserves_flags)) };
    sp
}

//! AArch64. The switch is inline and declares every register clobbered; x19, x29 and x30 are stored by hand.
//!
//! ```text
//! suspended:  sp → [ resume address ][ x19 ][ x29 ][ x30 ] … frames of the suspended context …
//! prepared:   sp → [ trampoline ][ entry ][ argument ][ 0 ] = top - 32 … top
//! ```

use super::Entry;
use std::arch::{asm, naked_asm};

/// # Safety
/// `top` is the 16-byte aligned end of a writable stack that nothing else uses, and that outlives the context.
pub(super) unsafe fn prepare(top: usize, entry: Entry, argument: *mut u8) -> usize {
    let sp = top - 32;
    let words = [first_resume as *const () as usize, entry as usize, argument as usize, 0];
    // SAFETY: the 32 bytes below `top` are writable and unused, by the contract of `switch::prepare`.
    unsafe { (sp as *mut [usize; 4]).write(words) };
    sp
}

/// # Safety
/// Entered by `switch` only, on the stack of a context that `prepare` made.
#[unsafe(naked)]
unsafe extern "C" fn first_resume() -> ! {
    naked_asm!(
        // The outermost frame: walkers of stacks end here, those by frame pointers at the 0 in x29.
        ".cfi_startproc",
        ".cfi_undefined x30",
        "ldr x9, [sp, #8]",
        "ldr x0, [sp, #16]",
        "add sp, sp, #32",
        "mov x29, xzr",
        "blr x9",
        "brk #1",
        ".cfi_endproc",
    )
}

/// # Safety
/// `from` can be written; `to` is the stack pointer of a suspended or prepared context. Otherwise as
/// `switch::switch`.
#[inline(always)]
pub(super) unsafe fn switch(from: *mut usize, to: usize) {
    // SAFETY: `from` is writable and `to` is a suspended context, by the contract of `switch::switch`; all registers
    // that the asm does not keep itself are declared clobbered.
    unsafe {
        asm!(
            "sub sp, sp, #32",
            "adr x9, 2f",
            "stp x9, x19, [sp]",
            "stp x29, x30, [sp, #16]",
            "mov x9, sp",
            "str x9, [x0]",
            "mov sp, x1",
            "ldr x9, [sp]",
            "br x9",
            "2:",
            "ldr x19, [sp, #8]",
            "ldp x29, x30, [sp, #16]",
            "add sp, sp, #32",
            inout("x0") from => _, inout("x1") to => _,
            out("x20") _, out("x21") _, out("x22") _, out("x23") _, out("x24") _,
            out("x25") _, out("x26") _, out("x27") _, out("x28") _,
            clobber_abi("C"),
        );
    }
}

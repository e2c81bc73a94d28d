//! x86-64. The switch is inline and declares every register clobbered, so the compiler saves what is live and nothing
//! else; rbx and rbp cannot be declared and are pushed. It ends in `jmp`, which leaves the return predictor alone.
//!
//! ```text
//! suspended:  sp → [ resume address ][ rbx ][ rbp ] … frames of the suspended context …
//! prepared:   sp → [ trampoline ][ entry ][ argument ] = top - 48 … top
//! ```

use super::Entry;
use std::arch::{asm, naked_asm};

/// Bytes of a prepared context below the top; keeps 16-byte alignment.
const PREPARED_BYTES: usize = 48;

/// # Safety
/// `top` is the 16-byte aligned end of a writable stack that nothing else uses, and that outlives the context.
pub(super) unsafe fn prepare(top: usize, entry: Entry, argument: *mut u8) -> usize {
    let sp = top - PREPARED_BYTES;
    let words = [first_resume as *const () as usize, entry as usize, argument as usize, 0, 0, 0];
    // SAFETY: the 48 bytes below `top` are writable and unused, by the contract of `switch::prepare`.
    unsafe { (sp as *mut [usize; 6]).write(words) };
    sp
}

/// Entered by `switch` with rsp = sp + 8 of a prepared context.
///
/// # Safety
/// Entered by `switch` only, on the stack of a context that `prepare` made.
#[unsafe(naked)]
unsafe extern "C" fn first_resume() -> ! {
    naked_asm!(
        // The outermost frame: walkers of stacks end here, those by frame pointers at the 0 in rbp.
        ".cfi_startproc",
        ".cfi_undefined rip",
        "pop rax", // entry
        "pop rdi", // argument; rsp = top - 24
        "xor ebp, ebp",
        "and rsp, -16",
        "call rax",
        "ud2",
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
            "push rbp",
            "push rbx",
            "lea rax, [rip + 2f]",
            "push rax",
            "mov [rdi], rsp",
            "mov rsp, rsi",
            "pop rax",
            "jmp rax",
            "2:",
            "pop rbx",
            "pop rbp",
            inout("rdi") from => _, inout("rsi") to => _,
            out("rax") _, out("rcx") _, out("rdx") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
            clobber_abi("sysv64"),
        );
    }
}

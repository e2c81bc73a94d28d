//! x86-64: DWARF's numbers are those of the System V ABI, §3.6.2.

use super::{Moment, Values, Which};
use std::mem::offset_of;

const RBX: usize = 3;
/// The frame pointer.
pub const FP: usize = 6;
/// The stack pointer.
pub const SP: usize = 7;
/// The column of the return address.
pub const RETURN_ADDRESS: usize = 16;
/// Registers that have a value in `Values`.
pub const REGISTERS: usize = 16;
/// The registers that callees preserve, without the stack pointer.
pub const PRESERVED: [usize; 6] = [RBX, FP, 12, 13, 14, 15];

/// The register in which a function finds its return address; there is none.
pub fn link(_: &Values) -> Option<usize> {
    None
}

/// A return address as it is: none is signed.
pub fn plain_address(address: usize) -> usize {
    address
}

/// Bytes from the stack pointer in a signal handler's trampoline to the word of the kernel's frame that holds this
/// register.
pub fn interrupted_register(which: Which) -> usize {
    let number = match which {
        Which::Pc => libc::REG_RIP,
        Which::Sp => libc::REG_RSP,
        Which::Preserved(RBX) => libc::REG_RBX,
        Which::Preserved(FP) => libc::REG_RBP,
        Which::Preserved(12) => libc::REG_R12,
        Which::Preserved(13) => libc::REG_R13,
        Which::Preserved(14) => libc::REG_R14,
        Which::Preserved(_) => libc::REG_R15,
    };
    offset_of!(libc::ucontext_t, uc_mcontext) + offset_of!(libc::mcontext_t, gregs) + 8 * number as usize
}

/// The registers of the frame that this is inlined into.
#[inline(always)]
pub(crate) fn here() -> Moment {
    let mut found = [0_usize; 7];
    let pc: usize;
    // SAFETY: copies registers to `found`, which has room for them. They are of one moment: nothing between the
    // instructions changes them.
    unsafe {
        std::arch::asm!(
            "lea {pc}, [rip]",
            "mov [{found}], rsp",
            "mov [{found} + 8], rbx",
            "mov [{found} + 16], rbp",
            "mov [{found} + 24], r12",
            "mov [{found} + 32], r13",
            "mov [{found} + 40], r14",
            "mov [{found} + 48], r15",
            pc = out(reg) pc,
            found = in(reg) found.as_mut_ptr(),
            options(nostack, preserves_flags)
        );
    }
    let mut values: Values = [0; REGISTERS];
    for (number, value) in PRESERVED.into_iter().zip(&found[1..]) {
        values[number] = *value;
    }
    Moment { pc, sp: found[0], values }
}

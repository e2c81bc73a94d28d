//! aarch64: DWARF's numbers are those of AADWARF64, §4.1.

use super::{Moment, Values, Which};
use std::mem::offset_of;

/// The frame pointer.
pub const FP: usize = 29;
/// The stack pointer.
pub const SP: usize = 31;
/// The column of the return address: x30.
pub const RETURN_ADDRESS: usize = 30;
/// Registers that have a value in `Values`.
pub const REGISTERS: usize = 32;
/// The registers that callees preserve, without the stack pointer; and x30, which is whole until a function calls one.
pub const PRESERVED: [usize; 12] = [19, 20, 21, 22, 23, 24, 25, 26, 27, 28, FP, RETURN_ADDRESS];

/// The register in which a function finds its return address.
pub fn link(values: &Values) -> Option<usize> {
    Some(values[RETURN_ADDRESS])
}

/// Bits of a user's address; a signature of the address lies above them (Arm ARM §D8.8).
const ADDRESS_BITS: u32 = 48;

/// A return address without its signature.
pub fn plain_address(address: usize) -> usize {
    address & ((1 << ADDRESS_BITS) - 1)
}

/// Bytes from the stack pointer in a signal handler's trampoline to the word of the kernel's frame that holds this
/// register: before the context lies `siginfo_t` (Linux, arch/arm64/kernel/signal.c, `rt_sigframe`).
pub fn interrupted_register(which: Which) -> usize {
    let machine = size_of::<libc::siginfo_t>() + offset_of!(libc::ucontext_t, uc_mcontext);
    machine
        + match which {
            Which::Pc => offset_of!(libc::mcontext_t, pc),
            Which::Sp => offset_of!(libc::mcontext_t, sp),
            Which::Preserved(number) => offset_of!(libc::mcontext_t, regs) + 8 * number,
        }
}

/// The registers of the frame that this is inlined into.
#[inline(always)]
pub(crate) fn here() -> Moment {
    let mut found = [0_usize; PRESERVED.len()];
    let (pc, sp): (usize, usize);
    // SAFETY: copies registers to `found`, which has room for them. They are of one moment: nothing between the
    // instructions changes them.
    unsafe {
        std::arch::asm!(
            "adr {pc}, .",
            "mov {sp}, sp",
            "stp x19, x20, [{found}]",
            "stp x21, x22, [{found}, #16]",
            "stp x23, x24, [{found}, #32]",
            "stp x25, x26, [{found}, #48]",
            "stp x27, x28, [{found}, #64]",
            "stp x29, x30, [{found}, #80]",
            pc = out(reg) pc,
            sp = out(reg) sp,
            found = in(reg) found.as_mut_ptr(),
            options(nostack, preserves_flags)
        );
    }
    let mut values: Values = [0; REGISTERS];
    for (number, value) in PRESERVED.into_iter().zip(&found) {
        values[number] = *value;
    }
    Moment { pc, sp, values }
}

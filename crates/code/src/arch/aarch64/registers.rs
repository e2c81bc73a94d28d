//! aarch64: the registers, and their roles in managed code (`docs/design/aarch64.md`, "Conventions"; AAPCS64 §6.1).

use crate::masm::{Reg, RegisterSet};

/// Registers that hold no value between operations: the compiler's scratch register, and those of single operations.
/// Stubs that keep all registers do not keep x16 and x17.
pub(super) const X16: Reg = Reg::general(16);
pub(super) const X17: Reg = Reg::general(17);
pub(super) const X15: Reg = Reg::general(15);
pub(super) const X14: Reg = Reg::general(14);
pub(super) const V29: Reg = Reg::float(29);
pub(super) const V30: Reg = Reg::float(30);
pub(super) const V31: Reg = Reg::float(31);

pub(super) const THREAD: Reg = Reg::general(21);
pub(super) const FRAME: Reg = Reg::general(29);
/// The number is that of the zero register, too: instructions have one of them.
pub(super) const STACK: Reg = Reg::general(31);

/// Registers of the first integer arguments of managed code (Cranelift's Tail convention).
pub(super) const ARGUMENTS: [Reg; 6] = numbered(2, false);
/// Registers of the first integer arguments of native code.
pub(super) const NATIVE_ARGUMENTS: [Reg; 8] = numbered(0, false);
/// Registers of the first floating-point arguments of both.
pub(super) const FLOAT_ARGUMENTS: [Reg; 8] = numbered(0, true);
/// Registers of results of native code.
pub(super) const NATIVE_RESULTS: [Reg; 2] = numbered(0, false);
pub(super) const NATIVE_FLOAT_RESULTS: [Reg; 4] = numbered(0, true);
/// Holds the address of a native function's result in memory.
pub(super) const X8: Reg = Reg::general(8);

/// Registers that a callee keeps, but for the thread. Of the floating-point ones it keeps the lower halves.
pub(super) const CALLEE_SAVED: [Reg; 17] = {
    let mut registers = [Reg::general(19); 17];
    let general = [19, 20, 22, 23, 24, 25, 26, 27, 28];
    let mut index = 0;
    while index < registers.len() {
        registers[index] = match index < general.len() {
            true => Reg::general(general[index]),
            false => Reg::float((index - general.len()) as u8 + 8),
        };
        index += 1;
    }
    registers
};

/// What the baseline compiler may use: the registers that a callee changes, but for those above and the platform's x18.
pub(super) const ALLOCATABLE: RegisterSet = {
    let mut set = RegisterSet::EMPTY;
    let mut number = 0;
    while number < 32 {
        if number < X14.number() {
            set = set.with(Reg::general(number));
        }
        let is_kept = number >= 8 && number < 16;
        if !is_kept && number < V29.number() {
            set = set.with(Reg::float(number));
        }
        number += 1;
    }
    set
};

/// Registers with ascending numbers.
const fn numbered<const COUNT: usize>(first: u8, is_float: bool) -> [Reg; COUNT] {
    let mut registers = [Reg::general(first); COUNT];
    let mut index = 0;
    while index < COUNT {
        let number = first + index as u8;
        registers[index] = if is_float { Reg::float(number) } else { Reg::general(number) };
        index += 1;
    }
    registers
}

const _: () = {
    let abi = saki_abi::NativeAbi::AARCH64;
    assert!(NATIVE_ARGUMENTS.len() == abi.integer_registers && FLOAT_ARGUMENTS.len() == abi.float_registers);
    let mut index = 0;
    while index < CALLEE_SAVED.len() {
        assert!(!ALLOCATABLE.contains(CALLEE_SAVED[index]));
        index += 1;
    }
};

//! x86-64: the registers, and their roles in managed code (System V ABI §3.2.3, and the conventions in the crate's
//! documentation).

use crate::masm::{Reg, RegisterSet};

pub(super) const RAX: Reg = Reg::general(0);
pub(super) const RCX: Reg = Reg::general(1);
pub(super) const RDX: Reg = Reg::general(2);
pub(super) const RBX: Reg = Reg::general(3);
pub(super) const RSP: Reg = Reg::general(4);
pub(super) const RBP: Reg = Reg::general(5);
pub(super) const RSI: Reg = Reg::general(6);
pub(super) const RDI: Reg = Reg::general(7);
pub(super) const R8: Reg = Reg::general(8);
pub(super) const R9: Reg = Reg::general(9);
pub(super) const R10: Reg = Reg::general(10);
pub(super) const R11: Reg = Reg::general(11);
pub(super) const R12: Reg = Reg::general(12);
pub(super) const R13: Reg = Reg::general(13);
pub(super) const R14: Reg = Reg::general(14);
pub(super) const R15: Reg = Reg::general(15);
pub(super) const XMM0: Reg = Reg::float(0);
pub(super) const XMM15: Reg = Reg::float(15);

/// Number of registers of each class.
pub(super) const REGISTERS_PER_CLASS: u8 = 16;

/// Registers of the first integer arguments.
pub(super) const ARGUMENTS: [Reg; 6] = [RDI, RSI, RDX, RCX, R8, R9];

/// Registers of the first floating-point arguments.
pub(super) const FLOAT_ARGUMENTS: [Reg; 8] = {
    let mut registers = [XMM0; 8];
    let mut number = 0;
    while number < registers.len() {
        registers[number] = Reg::float(number as u8);
        number += 1;
    }
    registers
};

/// Registers that a callee keeps.
pub(super) const CALLEE_SAVED: [Reg; 4] = [RBX, R12, R13, R14];

/// What the baseline compiler may use: the registers that a callee changes, but for a scratch register of each class.
pub(super) const ALLOCATABLE: RegisterSet = {
    let mut set = RegisterSet::EMPTY;
    let mut number = 0;
    while number < REGISTERS_PER_CLASS {
        set = set.with(Reg::general(number)).with(Reg::float(number));
        number += 1;
    }
    let kept = [RBX, RSP, RBP, R12, R13, R14, R15, R11, XMM15];
    let mut index = 0;
    while index < kept.len() {
        set = set.without(kept[index]);
        index += 1;
    }
    set
};

const _: () = {
    let abi = saki_abi::NativeAbi::X86_64;
    assert!(ARGUMENTS.len() == abi.integer_registers && FLOAT_ARGUMENTS.len() == abi.float_registers);
    let saved = saki_abi::CALLEE_SAVED;
    let mut index = 0;
    assert!(saved.len() == CALLEE_SAVED.len());
    while index < saved.len() {
        assert!(CALLEE_SAVED[index].number() == saved[index]);
        assert!(!ALLOCATABLE.contains(CALLEE_SAVED[index]));
        index += 1;
    }
};

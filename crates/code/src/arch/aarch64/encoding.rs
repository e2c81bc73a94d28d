//! aarch64: the words of the instructions of which the macro assembler chooses. Encodings: Arm ARM (DDI 0487), §C4.1.
//!
//! Operands are register numbers: 31 is the zero register, or the stack pointer where the instruction has that.
//! Left out: which instruction serves an operation (`masm`), and those of stubs and patches (`instructions`).

use crate::masm::{Extension, MachineType, MemoryAccess};

/// The zero register.
pub(super) const ZERO: u32 = 31;

/// `dmb ish`
pub(super) const BARRIER: u32 = 0xd503_3bbf;
/// `clrex`
pub(super) const CLEAR_EXCLUSIVE: u32 = 0xd503_3f5f;
/// `udf #0xc11f`, the trap of the code generator.
pub(super) const UNDEFINED: u32 = 0x0000_c11f;
/// `mov x29, sp`
pub(super) const SET_FRAME_POINTER: u32 = 0x9100_03fd;
/// `mov sp, x29`
pub(super) const RESET_STACK_POINTER: u32 = 0x9100_03bf;
/// `sub sp, sp, #4096; str wzr, [sp]`, which `frames` recognises.
pub(super) const PROBE: [u32; 2] = [0xd140_07ff, 0xb900_03ff];

/// Conditions (Arm ARM §C1.2.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Condition {
    Equal = 0,
    NotEqual = 1,
    CarrySet = 2,
    CarryClear = 3,
    Minus = 4,
    Overflow = 6,
    Higher = 8,
    LowerOrSame = 9,
    GreaterOrEqual = 10,
    Less = 11,
    Greater = 12,
    LessOrEqual = 13,
}

/// The condition's number with the opposite meaning.
pub(super) fn inverted(condition: Condition) -> u32 {
    condition as u32 ^ 1
}

/// Bit 31: whether the operation has 64 bits.
pub(super) fn width(ty: MachineType) -> u32 {
    match ty {
        MachineType::I64 => 1 << 31,
        _ => 0,
    }
}

/// Bit 22 of instructions of floating-point numbers: whether they are doubles.
pub(super) fn precision(ty: MachineType) -> u32 {
    match ty {
        MachineType::F64 => 1 << 22,
        _ => 0,
    }
}

/// `word` with the registers of an operation of one operand.
pub(super) fn unary(word: u32, to: u32, from: u32) -> u32 {
    word | from << 5 | to
}

/// `word` with the registers of an operation of two operands.
pub(super) fn binary(word: u32, to: u32, left: u32, right: u32) -> u32 {
    word | right << 16 | left << 5 | to
}

// Sums and differences. The words have 32 bits; `width` is added.

pub(super) const ADD_IMMEDIATE: u32 = 0x1100_0000;
pub(super) const SUBTRACT_IMMEDIATE: u32 = 0x5100_0000;
pub(super) const ADD: u32 = 0x0b00_0000;
pub(super) const SUBTRACT: u32 = 0x4b00_0000;
/// Added to one of the words above: the operation sets the flags.
pub(super) const SETS_FLAGS: u32 = 1 << 29;
/// Added to `ADD` or `SUBTRACT`: the right operand is extended; register 31 is SP on the left and as destination.
pub(super) const EXTENDED: u32 = 1 << 21;
/// How it is extended: a word by zeros, not at all, or a word by its sign.
pub(super) const UXTW: u32 = 2 << 13;
pub(super) const UXTX: u32 = 3 << 13;
pub(super) const SXTW: u32 = 6 << 13;
/// The right operand is shifted by so many bits to the left, or to the right with copies of the sign.
pub(super) fn shifted_left(count: u32) -> u32 {
    count << 10
}
pub(super) const SIGN_ONLY: u32 = 2 << 22 | 63 << 10;

/// The fields of an immediate operand of a sum or difference; None if it has no encoding.
pub(super) fn arithmetic_immediate(value: u64) -> Option<u32> {
    match value {
        0..=0xfff => Some((value as u32) << 10),
        _ if value & 0xfff == 0 && value < 1 << 24 => Some(1 << 22 | (value as u32 >> 12) << 10),
        _ => None,
    }
}

// Bits.

pub(super) const AND: u32 = 0x0a00_0000;
pub(super) const OR: u32 = 0x2a00_0000;
pub(super) const OR_NOT: u32 = 0x2a20_0000;
pub(super) const EXCLUSIVE_OR: u32 = 0x4a00_0000;
pub(super) const AND_IMMEDIATE: u32 = 0x1200_0000;
pub(super) const OR_IMMEDIATE: u32 = 0x3200_0000;
pub(super) const EXCLUSIVE_OR_IMMEDIATE: u32 = 0x5200_0000;

/// The fields of an immediate operand of a bitwise operation (Arm ARM, `DecodeBitMasks`): a run of ones, rotated within
/// an element of 2 to 64 bits that is repeated. None if the value is no such pattern.
pub(super) fn bit_mask(ty: MachineType, value: u64) -> Option<u32> {
    let value = match ty {
        MachineType::I64 => value,
        _ => value & 0xffff_ffff | value << 32,
    };
    if value == 0 || value == u64::MAX {
        return None;
    }
    let repeats = |bits: &u32| value.rotate_right(*bits) == value;
    let bits = [2, 4, 8, 16, 32].into_iter().find(repeats).unwrap_or(64);
    let mask = u64::MAX >> (64 - bits);
    let element = value & mask;
    let ones = element.count_ones();
    // The run begins at the lowest one, or, where it wraps around, behind the highest zero.
    let begins_at = if element & 1 == 0 {
        element.trailing_zeros()
    } else {
        bits - (!element & mask).leading_zeros().wrapping_sub(64 - bits)
    };
    let run = mask >> (bits - ones);
    let rotated = if begins_at == bits { run } else { (run << begins_at | run >> (bits - begins_at)) & mask };
    if rotated != element {
        return None;
    }
    let rotation = (bits - begins_at) % bits;
    let size_and_ones = (bits * 2).wrapping_neg() & 0x3f | (ones - 1);
    Some(u32::from(bits == 64) << 22 | rotation << 16 | size_and_ones << 10)
}

pub(super) const MOVE_ZERO: u32 = 0x5280_0000;
pub(super) const MOVE_NOT: u32 = 0x1280_0000;
pub(super) const MOVE_KEEP: u32 = 0x7280_0000;

/// `word` (one of the three above, 64 bits) with sixteen bits for part number `part` of the register.
pub(super) fn move_wide(word: u32, to: u32, part: u32, bits: u16) -> u32 {
    1 << 31 | word | part << 21 | u32::from(bits) << 5 | to
}

/// Copies bits `first..=last` to the low bits, extended; or, where `last < first`, the low `last + 1` bits to bit
/// `width - first`.
pub(super) fn bit_field(is_signed: bool, ty: MachineType, to: u32, from: u32, first: u32, last: u32) -> u32 {
    let word = if is_signed { 0x1300_0000 } else { 0x5300_0000 };
    unary(width(ty) | width(ty) >> 9 | word | first << 16 | last << 10, to, from)
}

pub(super) const SHIFT_LEFT: u32 = 0x1ac0_2000;
pub(super) const SHIFT_RIGHT_UNSIGNED: u32 = 0x1ac0_2400;
pub(super) const SHIFT_RIGHT: u32 = 0x1ac0_2800;
pub(super) const DIVIDE_UNSIGNED: u32 = 0x1ac0_0800;
pub(super) const DIVIDE: u32 = 0x1ac0_0c00;
pub(super) const REVERSE_BITS: u32 = 0x5ac0_0000;
pub(super) const COUNT_LEADING_ZEROS: u32 = 0x5ac0_1000;
/// Of 32 bits.
pub(super) const REVERSE_BYTES: u32 = 0x5ac0_0800;
pub(super) const REVERSE_BYTES_WIDE: u32 = 0xdac0_0c00;
pub(super) const MULTIPLY_ADD: u32 = 0x1b00_0000;
pub(super) const MULTIPLY_SUBTRACT: u32 = 0x1b00_8000;
/// The products of words, with 64 bits.
pub(super) const MULTIPLY_ADD_WORDS: u32 = 0x9b20_0000;
pub(super) const MULTIPLY_ADD_WORDS_UNSIGNED: u32 = 0x9ba0_0000;
/// The upper halves of products of 64 bits.
pub(super) const MULTIPLY_HIGH: u32 = 0x9b40_7c00;
pub(super) const MULTIPLY_HIGH_UNSIGNED: u32 = 0x9bc0_7c00;
pub(super) const SELECT: u32 = 0x1a80_0000;
pub(super) const SELECT_OR_INCREMENT: u32 = 0x1a80_0400;

/// A product and a third operand.
pub(super) fn multiply(word: u32, to: u32, left: u32, right: u32, third: u32) -> u32 {
    binary(word | third << 10, to, left, right)
}

/// `to = condition ? yes : no`
pub(super) fn select(ty: MachineType, to: u32, yes: u32, no: u32, condition: Condition) -> u32 {
    binary(SELECT | width(ty) | (condition as u32) << 12, to, yes, no)
}

/// `cset to, condition`
pub(super) fn set_on(condition: Condition, to: u32) -> u32 {
    binary(SELECT_OR_INCREMENT | inverted(condition) << 12, to, ZERO, ZERO)
}

// Branches, to themselves.

pub(super) const BRANCH: u32 = 0x1400_0000;
pub(super) const BRANCH_LINK: u32 = 0x9400_0000;
pub(super) const BRANCH_ON: u32 = 0x5400_0000;
pub(super) const BRANCH_IF_ZERO: u32 = 0x3400_0000;
pub(super) const BRANCH_IF_NOT_ZERO: u32 = 0x3500_0000;
pub(super) const CALL_REGISTER: u32 = 0xd63f_0000;
pub(super) const BRANCH_REGISTER: u32 = 0xd61f_0000;

/// The branch to an instruction at this distance, in instructions. None: it is out of reach.
pub(super) fn lead(word: u32, distance: i32) -> Option<u32> {
    // `b` has 26 bits at the low end; `b.cond`, `cbz`, `cbnz` and `ldr` of a literal have 19 from bit 5 on.
    let (bits, low) = if word & 0x7c00_0000 == BRANCH { (26, 0) } else { (19, 5) };
    let limit = 1 << (bits - 1);
    let field = ((1u32 << bits) - 1) << low;
    (-limit..limit).contains(&distance).then_some(word & !field | distance.cast_unsigned() << low & field)
}

// Memory.

/// `ldr to, .`
pub(super) const LOAD_LITERAL: u32 = 0x5800_0000;
const LOAD_PAIR: u32 = 0xa940_0000;
const STORE_PAIR: u32 = 0xa900_0000;
/// Added to the word of `memory`: the offset is that of `scaled_offset`.
const IS_SCALED: u32 = 1 << 24;

/// The word of a load or store, without its registers and its offset; log2 of the bytes.
pub(super) fn memory(access: MemoryAccess, is_load: bool) -> (u32, u32) {
    const LOAD: u32 = 1 << 22;
    const LOAD_SIGNED: u32 = 3 << 22;
    const VECTOR: u32 = 1 << 26;
    let kind = if is_load { LOAD } else { 0 };
    let signed = if is_load { LOAD_SIGNED } else { 0 };
    let (log2_bytes, bits) = match access {
        MemoryAccess::Narrow(Extension::S8) => (0, signed),
        MemoryAccess::Narrow(Extension::Z8) => (0, kind),
        MemoryAccess::Narrow(Extension::S16) => (1, signed),
        MemoryAccess::Narrow(Extension::Z16) => (1, kind),
        MemoryAccess::Whole(MachineType::I32) => (2, kind),
        MemoryAccess::Whole(MachineType::I64) => (3, kind),
        MemoryAccess::Whole(MachineType::F32) => (2, kind | VECTOR),
        MemoryAccess::Whole(MachineType::F64) => (3, kind | VECTOR),
        // The size is in the field of the operation.
        MemoryAccess::Whole(MachineType::V128) => return (0x3800_0000 | kind | VECTOR | 2 << 22, 4),
    };
    (log2_bytes << 30 | 0x3800_0000 | bits, log2_bytes)
}

/// The fields of an offset that counts in units of the access. None: there is no encoding.
pub(super) fn scaled_offset(log2_bytes: u32, offset_bytes: i64) -> Option<u32> {
    let units = offset_bytes >> log2_bytes;
    let is_encoded = units << log2_bytes == offset_bytes && (0..1 << 12).contains(&units);
    is_encoded.then_some(IS_SCALED | (units as u32) << 10)
}

/// The fields of any offset that an access can have.
pub(super) fn offset(log2_bytes: u32, offset_bytes: i64) -> Option<u32> {
    let unscaled = || (-256..256).contains(&offset_bytes).then_some((offset_bytes as u32 & 0x1ff) << 12);
    scaled_offset(log2_bytes, offset_bytes).or_else(unscaled)
}

/// `ldp` or `stp` of 64 bits; the offset is a multiple of 8. None: it is out of reach.
pub(super) fn pair(is_load: bool, registers: [u32; 2], base: u32, offset_bytes: i32) -> Option<u32> {
    let units = offset_bytes / 8;
    let word = if is_load { LOAD_PAIR } else { STORE_PAIR };
    let word = word | (units as u32 & 0x7f) << 15 | registers[1] << 10 | base << 5 | registers[0];
    (offset_bytes % 8 == 0 && (-64..64).contains(&units)).then_some(word)
}

/// Bits 30 and 31 of atomic accesses. None: not an integer.
fn atomic_size(access: MemoryAccess) -> Option<u32> {
    match access {
        MemoryAccess::Narrow(Extension::S8 | Extension::Z8) => Some(0),
        MemoryAccess::Narrow(Extension::S16 | Extension::Z16) => Some(1 << 30),
        MemoryAccess::Whole(MachineType::I32) => Some(2 << 30),
        MemoryAccess::Whole(MachineType::I64) => Some(3 << 30),
        MemoryAccess::Whole(_) => None,
    }
}

pub(super) const LOAD_ACQUIRE: u32 = 0x08df_fc00;
pub(super) const STORE_RELEASE: u32 = 0x089f_fc00;
pub(super) const LOAD_EXCLUSIVE: u32 = 0x085f_fc00;
/// Its status is the register in the place of the right operand: 0 if it has stored.
pub(super) const STORE_EXCLUSIVE: u32 = 0x0800_fc00;
/// LSE: the register in the place of the right operand is compared with, or added, or stored.
pub(super) const COMPARE_AND_SWAP: u32 = 0x08e0_fc00;
pub(super) const LOAD_AND_ADD: u32 = 0x38e0_0000;
pub(super) const SWAP: u32 = 0x38e0_8000;

/// `word` (one of the seven above) for integers of the access's width.
///
/// # Panics
/// If the access is not to an integer.
pub(super) fn atomic(word: u32, access: MemoryAccess) -> u32 {
    let Some(size) = atomic_size(access) else { saki_base::bug!("an atomic operation of {access:?}") };
    word | size
}

// Floating-point numbers. The words are for single precision; `precision` is added.

pub(super) const FLOAT_ADD: u32 = 0x1e20_2800;
pub(super) const FLOAT_SUBTRACT: u32 = 0x1e20_3800;
pub(super) const FLOAT_MULTIPLY: u32 = 0x1e20_0800;
pub(super) const FLOAT_DIVIDE: u32 = 0x1e20_1800;
pub(super) const FLOAT_COMPARE: u32 = 0x1e20_2000;
pub(super) const FLOAT_NEGATE: u32 = 0x1e21_4000;
pub(super) const FLOAT_SQUARE_ROOT: u32 = 0x1e21_c000;
pub(super) const ROUND_NEAREST: u32 = 0x1e24_4000;
pub(super) const ROUND_UP: u32 = 0x1e24_c000;
pub(super) const ROUND_DOWN: u32 = 0x1e25_4000;
pub(super) const ROUND_TO_ZERO: u32 = 0x1e25_c000;
pub(super) const SINGLE_TO_DOUBLE: u32 = 0x1e22_c000;
pub(super) const DOUBLE_TO_SINGLE: u32 = 0x1e62_4000;
/// Conversions have `width` and `precision`.
pub(super) const INTEGER_TO_FLOAT: u32 = 0x1e22_0000;
pub(super) const FLOAT_TO_INTEGER: u32 = 0x1e38_0000;
pub(super) const FLOAT_TO_UNSIGNED: u32 = 0x1e39_0000;
pub(super) const BITS_TO_SINGLE: u32 = 0x1e27_0000;
pub(super) const BITS_OF_SINGLE: u32 = 0x1e26_0000;
pub(super) const BITS_TO_DOUBLE: u32 = 0x9e67_0000;
pub(super) const BITS_OF_DOUBLE: u32 = 0x9e66_0000;

// Vectors of 16 bytes.

/// `movi v.2d, #0`
pub(super) const VECTOR_ZERO: u32 = 0x6f00_e400;
/// `movi v.16b, #0x8f`
pub(super) const VECTOR_BYTES_8F: u32 = 0x4f04_e5e0;
/// `mov v.d[1], x`
pub(super) const SET_UPPER_HALF: u32 = 0x4e18_1c00;
pub(super) const VECTOR_AND: u32 = 0x4e20_1c00;
pub(super) const VECTOR_OR: u32 = 0x4ea0_1c00;
pub(super) const VECTOR_EXCLUSIVE_OR: u32 = 0x6e20_1c00;
pub(super) const VECTOR_TABLE: u32 = 0x4e00_0000;

#[cfg(test)]
mod tests {
    use super::MachineType::{F64, I32, I64};
    use super::MemoryAccess::{Narrow, Whole};
    use super::*;

    fn access(access: MemoryAccess, is_load: bool, register: u32, base: u32, offset_bytes: i64) -> u32 {
        let (word, log2_bytes) = memory(access, is_load);
        unary(word | offset(log2_bytes, offset_bytes).expect("within reach"), register, base)
    }

    #[test]
    fn words_are_those_of_gnu_as() {
        let instructions = [
            (
                "add x1, x2, #0xabc",
                0x912a_f041,
                unary(width(I64) | ADD_IMMEDIATE | arithmetic_immediate(0xabc).expect("fits"), 1, 2),
            ),
            (
                "sub w3, w4, #0x123000",
                0x5144_8c83,
                unary(SUBTRACT_IMMEDIATE | arithmetic_immediate(0x12_3000).expect("fits"), 3, 4),
            ),
            (
                "cmn x5, #7",
                0xb100_1cbf,
                unary(width(I64) | ADD_IMMEDIATE | SETS_FLAGS | arithmetic_immediate(7).expect("fits"), ZERO, 5),
            ),
            (
                "sub sp, sp, #32",
                0xd100_83ff,
                unary(width(I64) | SUBTRACT_IMMEDIATE | arithmetic_immediate(32).expect("fits"), 31, 31),
            ),
            ("add x17, x29, x17, uxtx", 0x8b31_63b1, binary(width(I64) | ADD | EXTENDED | UXTX, 17, 29, 17)),
            (
                "add x3, x15, w4, uxtw #3",
                0x8b24_4de3,
                binary(width(I64) | ADD | EXTENDED | UXTW | shifted_left(3), 3, 15, 4),
            ),
            (
                "cmp x17, w17, sxtw",
                0xeb31_c23f,
                binary(width(I64) | SUBTRACT | SETS_FLAGS | EXTENDED | SXTW, ZERO, 17, 17),
            ),
            ("cmp x17, x3, asr #63", 0xeb83_fe3f, binary(width(I64) | SUBTRACT | SETS_FLAGS | SIGN_ONLY, ZERO, 17, 3)),
            ("adds w6, w7, w8", 0x2b08_00e6, binary(ADD | SETS_FLAGS, 6, 7, 8)),
            ("sub x6, xzr, x8", 0xcb08_03e6, binary(width(I64) | SUBTRACT, 6, ZERO, 8)),
            ("orn w6, wzr, w8", 0x2a28_03e6, binary(OR_NOT, 6, ZERO, 8)),
            ("eor x6, x7, x8", 0xca08_00e6, binary(width(I64) | EXCLUSIVE_OR, 6, 7, 8)),
            ("and w1, w2, #0xff", 0x1200_1c41, unary(AND_IMMEDIATE | bit_mask(I32, 0xff).expect("a mask"), 1, 2)),
            (
                "orr x1, x2, #0xffff0000ffff0000",
                0xb210_3c41,
                unary(width(I64) | OR_IMMEDIATE | bit_mask(I64, 0xffff_0000_ffff_0000).expect("a mask"), 1, 2),
            ),
            (
                "eor x1, x2, #0x8000000000000001",
                0xd241_0441,
                unary(
                    width(I64) | EXCLUSIVE_OR_IMMEDIATE | bit_mask(I64, 0x8000_0000_0000_0001).expect("a mask"),
                    1,
                    2,
                ),
            ),
            (
                "and x1, x2, #0x5555555555555555",
                0x9200_f041,
                unary(width(I64) | AND_IMMEDIATE | bit_mask(I64, 0x5555_5555_5555_5555).expect("a mask"), 1, 2),
            ),
            (
                "and w1, w2, #0xfffffff8",
                0x121d_7041,
                unary(AND_IMMEDIATE | bit_mask(I32, -8i64 as u64).expect("a mask"), 1, 2),
            ),
            (
                "and x1, x2, #0x7fffffffffffffff",
                0x9240_f841,
                unary(width(I64) | AND_IMMEDIATE | bit_mask(I64, i64::MAX as u64).expect("a mask"), 1, 2),
            ),
            (
                "orr w1, w2, #0xe3e3e3e3",
                0x3203_d041,
                unary(OR_IMMEDIATE | bit_mask(I32, 0xe3e3_e3e3).expect("a mask"), 1, 2),
            ),
            ("movz x4, #0x1234, lsl #32", 0xd2c2_4684, move_wide(MOVE_ZERO, 4, 2, 0x1234)),
            ("movn x4, #0x1234, lsl #16", 0x92a2_4684, move_wide(MOVE_NOT, 4, 1, 0x1234)),
            ("movk x4, #0xffff, lsl #48", 0xf2ff_ffe4, move_wide(MOVE_KEEP, 4, 3, 0xffff)),
            ("sxtb w1, w2", 0x1300_1c41, bit_field(true, I32, 1, 2, 0, 7)),
            ("uxth w1, w2", 0x5300_3c41, bit_field(false, I32, 1, 2, 0, 15)),
            ("sxtw x1, w2", 0x9340_7c41, bit_field(true, I64, 1, 2, 0, 31)),
            ("lsl x1, x2, #3", 0xd37d_f041, bit_field(false, I64, 1, 2, 61, 60)),
            ("lsr w1, w2, #5", 0x5305_7c41, bit_field(false, I32, 1, 2, 5, 31)),
            ("asr x1, x2, #63", 0x937f_fc41, bit_field(true, I64, 1, 2, 63, 63)),
            ("lsl w1, w2, w3", 0x1ac3_2041, binary(SHIFT_LEFT, 1, 2, 3)),
            ("lsr x1, x2, x3", 0x9ac3_2441, binary(width(I64) | SHIFT_RIGHT_UNSIGNED, 1, 2, 3)),
            ("asr w1, w2, w3", 0x1ac3_2841, binary(SHIFT_RIGHT, 1, 2, 3)),
            ("sdiv x1, x2, x3", 0x9ac3_0c41, binary(width(I64) | DIVIDE, 1, 2, 3)),
            ("udiv w1, w2, w3", 0x1ac3_0841, binary(DIVIDE_UNSIGNED, 1, 2, 3)),
            ("rbit x1, x2", 0xdac0_0041, unary(width(I64) | REVERSE_BITS, 1, 2)),
            ("clz w1, w2", 0x5ac0_1041, unary(COUNT_LEADING_ZEROS, 1, 2)),
            ("rev w1, w2", 0x5ac0_0841, unary(REVERSE_BYTES, 1, 2)),
            ("rev x1, x2", 0xdac0_0c41, unary(REVERSE_BYTES_WIDE, 1, 2)),
            ("madd x1, x2, x3, x4", 0x9b03_1041, multiply(width(I64) | MULTIPLY_ADD, 1, 2, 3, 4)),
            ("msub w1, w2, w3, w4", 0x1b03_9041, multiply(MULTIPLY_SUBTRACT, 1, 2, 3, 4)),
            ("smull x1, w2, w3", 0x9b23_7c41, multiply(MULTIPLY_ADD_WORDS, 1, 2, 3, ZERO)),
            ("umaddl x1, w2, w3, x4", 0x9ba3_1041, multiply(MULTIPLY_ADD_WORDS_UNSIGNED, 1, 2, 3, 4)),
            ("smulh x1, x2, x3", 0x9b43_7c41, binary(MULTIPLY_HIGH, 1, 2, 3)),
            ("umulh x1, x2, x3", 0x9bc3_7c41, binary(MULTIPLY_HIGH_UNSIGNED, 1, 2, 3)),
            ("csel x1, x1, x15, mi", 0x9a8f_4021, select(I64, 1, 1, 15, Condition::Minus)),
            ("cset w1, ls", 0x1a9f_87e1, set_on(Condition::LowerOrSame, 1)),
            ("b .-8", 0x17ff_fffe, lead(BRANCH, -2).expect("near")),
            ("b.vs .+12", 0x5400_0066, lead(BRANCH_ON | Condition::Overflow as u32, 3).expect("near")),
            ("cbz x5, .-4", 0xb4ff_ffe5, lead(BRANCH_IF_ZERO | width(I64) | 5, -1).expect("near")),
            ("cbnz w5, .+4", 0x3500_0025, lead(BRANCH_IF_NOT_ZERO | 5, 1).expect("near")),
            ("blr x9", 0xd63f_0120, CALL_REGISTER | 9 << 5),
            ("br x9", 0xd61f_0120, BRANCH_REGISTER | 9 << 5),
            ("ldr x3, .+16", 0x5800_0083, lead(LOAD_LITERAL | 3, 4).expect("near")),
            ("ldrsb w1, [x2, #3]", 0x39c0_0c41, access(Narrow(Extension::S8), true, 1, 2, 3)),
            ("strb w1, [x2, #4095]", 0x393f_fc41, access(Narrow(Extension::Z8), false, 1, 2, 4095)),
            ("ldrb wzr, [x2]", 0x3940_005f, access(Narrow(Extension::Z8), true, 31, 2, 0)),
            ("ldrsh w1, [x2, #6]", 0x79c0_0c41, access(Narrow(Extension::S16), true, 1, 2, 6)),
            ("ldurh w1, [x2, #5]", 0x7840_5041, access(Narrow(Extension::Z16), true, 1, 2, 5)),
            ("ldr w1, [sp, #16380]", 0xb97f_ffe1, access(Whole(I32), true, 1, 31, 16380)),
            ("stur x1, [x29, #-256]", 0xf810_03a1, access(Whole(I64), false, 1, 29, -256)),
            ("str xzr, [sp, #32760]", 0xf93f_ffff, access(Whole(I64), false, 31, 31, 32760)),
            ("ldr s1, [x2, #4]", 0xbd40_0441, access(Whole(MachineType::F32), true, 1, 2, 4)),
            ("stur d1, [x29, #-8]", 0xfc1f_83a1, access(Whole(MachineType::F64), false, 1, 29, -8)),
            ("ldr q1, [x2, #32]", 0x3dc0_0841, access(Whole(MachineType::V128), true, 1, 2, 32)),
            ("stur q1, [x29, #-16]", 0x3c9f_03a1, access(Whole(MachineType::V128), false, 1, 29, -16)),
            ("ldp x16, x17, [x29]", 0xa940_47b0, pair(true, [16, 17], 29, 0).expect("near")),
            ("stp x16, x17, [sp, #-16]", 0xa93f_47f0, pair(false, [16, 17], 31, -16).expect("near")),
            ("ldarb w1, [x2]", 0x08df_fc41, unary(atomic(LOAD_ACQUIRE, Narrow(Extension::Z8)), 1, 2)),
            ("ldar x1, [x2]", 0xc8df_fc41, unary(atomic(LOAD_ACQUIRE, Whole(I64)), 1, 2)),
            ("stlrh w1, [x2]", 0x489f_fc41, unary(atomic(STORE_RELEASE, Narrow(Extension::S16)), 1, 2)),
            ("stlr w1, [x2]", 0x889f_fc41, unary(atomic(STORE_RELEASE, Whole(I32)), 1, 2)),
            ("ldaxr x15, [x2]", 0xc85f_fc4f, unary(atomic(LOAD_EXCLUSIVE, Whole(I64)), 15, 2)),
            ("stlxrb w16, w1, [x2]", 0x0810_fc41, binary(atomic(STORE_EXCLUSIVE, Narrow(Extension::Z8)), 1, 2, 16)),
            ("casal w11, w3, [x4]", 0x88eb_fc83, binary(atomic(COMPARE_AND_SWAP, Whole(I32)), 3, 4, 11)),
            ("ldaddalh w3, w3, [x4]", 0x78e3_0083, binary(atomic(LOAD_AND_ADD, Narrow(Extension::S16)), 3, 4, 3)),
            ("swpal x3, x3, [x4]", 0xf8e3_8083, binary(atomic(SWAP, Whole(I64)), 3, 4, 3)),
            ("dmb ish", 0xd503_3bbf, BARRIER),
            ("clrex", 0xd503_3f5f, CLEAR_EXCLUSIVE),
            ("udf #0xc11f", 0x0000_c11f, UNDEFINED),
            ("mov x29, sp", 0x9100_03fd, SET_FRAME_POINTER),
            ("mov sp, x29", 0x9100_03bf, RESET_STACK_POINTER),
            ("sub sp, sp, #4096", 0xd140_07ff, PROBE[0]),
            ("str wzr, [sp]", 0xb900_03ff, PROBE[1]),
            ("fadd s1, s2, s3", 0x1e23_2841, binary(FLOAT_ADD, 1, 2, 3)),
            ("fsub d1, d2, d3", 0x1e63_3841, binary(precision(F64) | FLOAT_SUBTRACT, 1, 2, 3)),
            ("fmul s1, s2, s3", 0x1e23_0841, binary(FLOAT_MULTIPLY, 1, 2, 3)),
            ("fdiv d1, d2, d3", 0x1e63_1841, binary(precision(F64) | FLOAT_DIVIDE, 1, 2, 3)),
            ("fcmp d2, d3", 0x1e63_2040, binary(precision(F64) | FLOAT_COMPARE, 0, 2, 3)),
            ("fneg s1, s2", 0x1e21_4041, unary(FLOAT_NEGATE, 1, 2)),
            ("fsqrt d1, d2", 0x1e61_c041, unary(precision(F64) | FLOAT_SQUARE_ROOT, 1, 2)),
            ("frintn s1, s2", 0x1e24_4041, unary(ROUND_NEAREST, 1, 2)),
            ("frintp d1, d2", 0x1e64_c041, unary(precision(F64) | ROUND_UP, 1, 2)),
            ("frintm s1, s2", 0x1e25_4041, unary(ROUND_DOWN, 1, 2)),
            ("frintz d1, d2", 0x1e65_c041, unary(precision(F64) | ROUND_TO_ZERO, 1, 2)),
            ("fcvt d1, s2", 0x1e22_c041, unary(SINGLE_TO_DOUBLE, 1, 2)),
            ("fcvt s1, d2", 0x1e62_4041, unary(DOUBLE_TO_SINGLE, 1, 2)),
            ("scvtf d1, w2", 0x1e62_0041, unary(precision(F64) | INTEGER_TO_FLOAT, 1, 2)),
            ("scvtf s1, x2", 0x9e22_0041, unary(width(I64) | INTEGER_TO_FLOAT, 1, 2)),
            ("fcvtzs x1, d2", 0x9e78_0041, unary(width(I64) | precision(F64) | FLOAT_TO_INTEGER, 1, 2)),
            ("fcvtzu w1, s2", 0x1e39_0041, unary(FLOAT_TO_UNSIGNED, 1, 2)),
            ("fmov s1, w2", 0x1e27_0041, unary(BITS_TO_SINGLE, 1, 2)),
            ("fmov w1, s2", 0x1e26_0041, unary(BITS_OF_SINGLE, 1, 2)),
            ("fmov d1, x2", 0x9e67_0041, unary(BITS_TO_DOUBLE, 1, 2)),
            ("fmov x1, d2", 0x9e66_0041, unary(BITS_OF_DOUBLE, 1, 2)),
            ("movi v1.2d, #0", 0x6f00_e401, VECTOR_ZERO | 1),
            ("movi v1.16b, #0x8f", 0x4f04_e5e1, VECTOR_BYTES_8F | 1),
            ("mov v1.d[1], x2", 0x4e18_1c41, unary(SET_UPPER_HALF, 1, 2)),
            ("and v1.16b, v2.16b, v3.16b", 0x4e23_1c41, binary(VECTOR_AND, 1, 2, 3)),
            ("orr v1.16b, v2.16b, v3.16b", 0x4ea3_1c41, binary(VECTOR_OR, 1, 2, 3)),
            ("eor v1.16b, v2.16b, v3.16b", 0x6e23_1c41, binary(VECTOR_EXCLUSIVE_OR, 1, 2, 3)),
            ("tbl v1.16b, {v2.16b}, v3.16b", 0x4e03_0041, binary(VECTOR_TABLE, 1, 2, 3)),
        ];
        for (text, expected, word) in instructions {
            assert_eq!(word, expected, "{text}: {word:#010x}");
        }
    }

    #[test]
    fn immediates_without_an_encoding_are_refused() {
        for value in [0x1001, 1 << 24, u64::MAX] {
            assert_eq!(arithmetic_immediate(value), None, "{value:#x}");
        }
        for value in [0, u64::MAX, 5, 0x1234, 0xffff_0000_0000_00f0] {
            assert_eq!(bit_mask(I64, value), None, "{value:#x}");
        }
        assert_eq!(bit_mask(I32, 0xffff_ffff), None);
        assert_eq!((offset(3, 32_768), offset(3, -257), offset(3, 257), offset(0, 4096)), (None, None, None, None));
        assert_eq!((lead(BRANCH_ON, 1 << 18), lead(BRANCH, 1 << 25)), (None, None));
        assert!(lead(BRANCH_ON, -(1 << 18)).is_some() && lead(BRANCH, -(1 << 25)).is_some());
    }
}

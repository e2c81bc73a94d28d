//! aarch64: products, shifts by constants, and operations on numbers that programs seldom use.

use super::encoding::{self as encode, Condition, SETS_FLAGS, SXTW, ZERO, binary, precision, unary, width};
use super::masm::{Assembler, v, x};
use super::registers::{V30, X15, X17};
use crate::masm::{IntegerOp, Label, MachineType, MacroAssembler, NumericAssembler, Reg, Rounding, ShiftOp};

impl<T: Copy + PartialEq> Assembler<T> {
    /// `to = left * right`; jumps to `overflow`, if given, where the exact product of signed operands does not fit.
    pub(super) fn product(&mut self, ty: MachineType, to: u32, left: u32, right: u32, overflow: Option<Label>) {
        let wide = width(MachineType::I64);
        let exact = x(X17);
        let Some(overflow) = overflow else {
            self.put(encode::multiply(encode::MULTIPLY_ADD | width(ty), to, left, right, ZERO));
            return;
        };
        if ty == MachineType::I64 {
            self.put(binary(encode::MULTIPLY_HIGH, exact, left, right));
            self.put(encode::multiply(encode::MULTIPLY_ADD | wide, to, left, right, ZERO));
            self.put(binary(wide | encode::SUBTRACT | SETS_FLAGS | encode::SIGN_ONLY, ZERO, exact, to));
        } else {
            self.put(encode::multiply(encode::MULTIPLY_ADD_WORDS, exact, left, right, ZERO));
            self.put(binary(wide | encode::SUBTRACT | SETS_FLAGS | encode::EXTENDED | SXTW, ZERO, exact, exact));
            self.put(binary(encode::OR, to, ZERO, exact));
        }
        self.jump_on(Condition::NotEqual, overflow);
    }

    /// `to = from op count`; the count is less than the width.
    pub(super) fn shift_to(&mut self, op: ShiftOp, ty: MachineType, to: u32, from: u32, count: u32) {
        let bits = if ty == MachineType::I64 { 64 } else { 32 };
        self.put(match op {
            ShiftOp::Left => encode::bit_field(false, ty, to, from, (bits - count) % bits, bits - 1 - count),
            ShiftOp::Right => encode::bit_field(true, ty, to, from, count, bits - 1),
            ShiftOp::RightUnsigned => encode::bit_field(false, ty, to, from, count, bits - 1),
        });
    }
}

impl<T: Copy + PartialEq> NumericAssembler for Assembler<T> {
    fn multiply_unsigned(&mut self, ty: MachineType, right: Reg, overflow: Label) {
        let (left, right, high) = (x(Self::DIVIDEND), x(right), x(X17));
        if ty == MachineType::I64 {
            self.put(binary(encode::MULTIPLY_HIGH_UNSIGNED, high, left, right));
            self.put(encode::multiply(encode::MULTIPLY_ADD | width(ty), left, left, right, ZERO));
        } else {
            self.put(encode::multiply(encode::MULTIPLY_ADD_WORDS_UNSIGNED, left, left, right, ZERO));
            self.shift_to(ShiftOp::RightUnsigned, MachineType::I64, high, left, 32);
        }
        self.jump_on_zero(MachineType::I64, X17, false, overflow);
    }

    /// `fcvtzs` gives the nearest integer, and 0 for NaN: right for what is less than the limit.
    fn float_to_integer(&mut self, ty: MachineType, to: Reg, from_type: MachineType, from: Reg) {
        let is_wide = ty == MachineType::I64;
        let limit: f64 = if is_wide { 9_223_372_036_854_775_808.0 } else { 2_147_483_648.0 };
        let bits = match from_type {
            MachineType::F32 => u64::from((limit as f32).to_bits()),
            _ => limit.to_bits(),
        };
        self.put(unary(encode::FLOAT_TO_INTEGER | width(ty) | precision(from_type), x(to), v(from)));
        self.float_constant(V30, bits);
        self.put(binary(encode::FLOAT_COMPARE | precision(from_type), 0, v(from), v(V30)));
        self.constant(X15, if is_wide { i64::MIN } else { i64::from(i32::MIN) });
        self.put(encode::select(ty, x(to), x(to), x(X15), Condition::Minus));
    }

    fn float_to_nearest_integer(
        &mut self,
        is_signed: bool,
        ty: MachineType,
        to: Reg,
        from_type: MachineType,
        from: Reg,
    ) -> bool {
        let word = if is_signed { encode::FLOAT_TO_INTEGER } else { encode::FLOAT_TO_UNSIGNED };
        self.put(unary(word | width(ty) | precision(from_type), x(to), v(from)));
        true
    }

    fn square_root(&mut self, ty: MachineType, register: Reg) {
        self.put(unary(encode::FLOAT_SQUARE_ROOT | precision(ty), v(register), v(register)));
    }

    fn round(&mut self, rounding: Rounding, ty: MachineType, register: Reg) {
        let word = match rounding {
            Rounding::Nearest => encode::ROUND_NEAREST,
            Rounding::Floor => encode::ROUND_DOWN,
            Rounding::Ceiling => encode::ROUND_UP,
            Rounding::Zero => encode::ROUND_TO_ZERO,
        };
        self.put(unary(word | precision(ty), v(register), v(register)));
    }

    fn float_bits(&mut self, op: IntegerOp, left: Reg, right: Reg) {
        let word = match op {
            IntegerOp::And => encode::VECTOR_AND,
            IntegerOp::Or => encode::VECTOR_OR,
            IntegerOp::ExclusiveOr => encode::VECTOR_EXCLUSIVE_OR,
            IntegerOp::Add | IntegerOp::Subtract => saki_base::bug!("{op:?} of bits"),
        };
        self.put(binary(word, v(left), v(left), v(right)));
    }

    fn move_bits(&mut self, ty: MachineType, to: Reg, from: Reg) {
        let is_wide = ty == MachineType::I64;
        let word = match (to.is_float(), is_wide) {
            (true, true) => encode::BITS_TO_DOUBLE,
            (true, false) => encode::BITS_TO_SINGLE,
            (false, true) => encode::BITS_OF_DOUBLE,
            (false, false) => encode::BITS_OF_SINGLE,
        };
        self.put(unary(word, u32::from(to.number()), u32::from(from.number())));
    }

    fn count_zeros(&mut self, is_leading: bool, ty: MachineType, to: Reg, from: Reg) {
        let mut from = from;
        if !is_leading {
            self.put(unary(encode::REVERSE_BITS | width(ty), x(to), x(from)));
            from = to;
        }
        self.put(unary(encode::COUNT_LEADING_ZEROS | width(ty), x(to), x(from)));
    }

    fn swap_bytes(&mut self, ty: MachineType, register: Reg) {
        let word = if ty == MachineType::I64 { encode::REVERSE_BYTES_WIDE } else { encode::REVERSE_BYTES };
        self.put(unary(word, x(register), x(register)));
    }

    fn vector_constant(&mut self, register: Reg, bytes: u128) {
        self.float_constant(register, bytes as u64);
        let high = (bytes >> 64) as u64;
        if high != 0 {
            self.constant(X17, high.cast_signed());
            self.put(unary(encode::SET_UPPER_HALF, v(register), x(X17)));
        }
    }
}

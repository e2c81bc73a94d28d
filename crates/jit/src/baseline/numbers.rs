//! Operations on single numbers that programs seldom use, and conversions (ECMA-335 §III.3.27 ff.), as
//! `lower::arith` and `lower::conv` describe them.

use super::arguments::Argument;
use super::context::Emitter;
use super::exceptions::Failure;
use super::plan::Value;
use crate::symbols::RelocTarget;
use saki_abi::HelperId;
use saki_code::masm::{Extension, IntegerOp, MachineType, MacroAssembler, Reg, RegImm, Relation, Rounding, ShiftOp};
use saki_il::ir::{BinOp, ConvTarget, UnOp};

/// All bits of a floating-point number but its sign.
fn magnitude_bits(ty: MachineType) -> u64 {
    if ty == MachineType::F32 { (1 << 31) - 1 } else { (1 << 63) - 1 }
}

/// A conversion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conversion {
    pub target: ConvTarget,
    pub checked: bool,
    pub source_unsigned: bool,
}

impl<M: MacroAssembler<Target = RelocTarget>> Emitter<'_, M> {
    pub(super) fn unary(&mut self, result: Value, op: UnOp, a: Value) -> Option<()> {
        let ty = self.machine_of(a);
        let register = match op {
            UnOp::BitcastI32F32 | UnOp::BitcastI64F64 | UnOp::BitcastF32I32 | UnOp::BitcastF64I64 => {
                let source = self.use_register(a);
                let is_narrow = matches!(op, UnOp::BitcastI32F32 | UnOp::BitcastF32I32);
                let register = self.fresh(!source.is_float());
                self.masm.move_bits(if is_narrow { MachineType::I32 } else { MachineType::I64 }, register, source);
                self.registers.release(a);
                register
            }
            UnOp::Clz | UnOp::Ctz => {
                let source = self.use_register(a);
                let register = self.fresh(false);
                self.masm.count_zeros(op == UnOp::Clz, ty, register, source);
                self.registers.release(a);
                register
            }
            _ => {
                let register = self.consume(a);
                self.registers.lock(register);
                self.change(op, ty, register)?;
                register
            }
        };
        self.define(result, register);
        Some(())
    }

    /// `register = op register`.
    fn change(&mut self, op: UnOp, ty: MachineType, register: Reg) -> Option<()> {
        let is_float = ty.is_float();
        match op {
            UnOp::Neg if is_float => self.masm.negate_float(ty, register),
            UnOp::Neg => self.masm.negate(ty, register),
            UnOp::Not if !is_float => self.masm.not(ty, register),
            UnOp::Abs if is_float => {
                self.masm.float_constant(M::FLOAT_SCRATCH, magnitude_bits(ty));
                self.masm.float_bits(IntegerOp::And, register, M::FLOAT_SCRATCH);
            }
            UnOp::Abs => {
                let next = self.masm.label();
                self.masm.jump_if(Relation::GreaterOrEqual, ty, register, RegImm::Imm(0), next, None);
                self.masm.negate(ty, register);
                self.masm.bind(next);
            }
            UnOp::Sqrt if is_float => self.masm.square_root(ty, register),
            UnOp::Floor if is_float => self.masm.round(Rounding::Floor, ty, register),
            UnOp::Ceil if is_float => self.masm.round(Rounding::Ceiling, ty, register),
            UnOp::Trunc if is_float => self.masm.round(Rounding::Zero, ty, register),
            UnOp::RoundEven if is_float => self.masm.round(Rounding::Nearest, ty, register),
            UnOp::Popcnt if !is_float => self.count_ones(ty, register),
            UnOp::Bswap if !is_float => self.masm.swap_bytes(ty, register),
            UnOp::CheckFinite if is_float => {
                let failed = self.failure(Failure::Overflow);
                let infinity = self.fresh(true);
                let bits =
                    if ty == MachineType::F32 { u64::from(f32::INFINITY.to_bits()) } else { f64::INFINITY.to_bits() };
                self.masm.float_constant(M::FLOAT_SCRATCH, magnitude_bits(ty));
                self.masm.float_bits(IntegerOp::And, M::FLOAT_SCRATCH, register);
                self.masm.float_constant(infinity, bits);
                let bad = Relation::GreaterOrEqualUnsigned;
                self.masm.jump_if(bad, ty, M::FLOAT_SCRATCH, RegImm::Reg(infinity), failed, None);
            }
            _ => return None,
        }
        Some(())
    }

    /// The number of set bits, by sums of ever wider fields.
    fn count_ones(&mut self, ty: MachineType, register: Reg) {
        let fields = |byte: u64| {
            if ty == MachineType::I64 { (byte * (u64::MAX / 255)) as i64 } else { (byte * 0x0101_0101) as i64 }
        };
        let other = self.fresh(false);
        let mask = M::SCRATCH;
        let and = |this: &mut Self, register: Reg| {
            this.masm.integer(IntegerOp::And, ty, register, RegImm::Reg(mask), None);
        };
        self.move_register(other, register);
        self.masm.shift(ShiftOp::RightUnsigned, ty, other, 1);
        self.masm.constant(mask, fields(0x55));
        and(self, other);
        self.masm.integer(IntegerOp::Subtract, ty, register, RegImm::Reg(other), None);
        self.move_register(other, register);
        self.masm.shift(ShiftOp::RightUnsigned, ty, other, 2);
        self.masm.constant(mask, fields(0x33));
        and(self, other);
        and(self, register);
        self.masm.integer(IntegerOp::Add, ty, register, RegImm::Reg(other), None);
        self.move_register(other, register);
        self.masm.shift(ShiftOp::RightUnsigned, ty, other, 4);
        self.masm.integer(IntegerOp::Add, ty, register, RegImm::Reg(other), None);
        self.masm.constant(mask, fields(0x0f));
        and(self, register);
        self.masm.constant(mask, fields(0x01));
        self.masm.multiply(ty, register, mask, None);
        self.masm.shift(ShiftOp::RightUnsigned, ty, register, if ty == MachineType::I64 { 56 } else { 24 });
    }

    /// Arithmetic of two operands that is neither integer arithmetic of one instruction nor one of the four of floats.
    pub(super) fn rare_binary(&mut self, result: Value, op: BinOp, ty: MachineType, a: Value, b: Value) -> Option<()> {
        let register = match (op, ty.is_float()) {
            (BinOp::Rem, true) => {
                let helper = if ty == MachineType::F32 { HelperId::FRemSingle } else { HelperId::FRem };
                self.call_helper(helper, &[Argument::Value(a), Argument::Value(b)], Some((result, ty)));
                return Some(());
            }
            (BinOp::FCopySign, true) => {
                let sign = self.use_register(b);
                let register = self.consume(a);
                self.registers.lock(register);
                let other = self.fresh(true);
                self.masm.float_constant(other, magnitude_bits(ty));
                self.masm.float_bits(IntegerOp::And, register, other);
                self.masm.float_constant(other, magnitude_bits(ty) + 1);
                self.masm.float_bits(IntegerOp::And, other, sign);
                self.masm.float_bits(IntegerOp::Or, register, other);
                self.registers.release(b);
                register
            }
            (BinOp::MulOvfUn, false) => {
                let failed = self.failure(Failure::Overflow);
                self.claim(M::DIVIDEND);
                self.claim(M::REMAINDER);
                let right = self.use_register(b);
                self.load_value(a, M::DIVIDEND);
                self.masm.multiply_unsigned(ty, right, failed);
                self.registers.release(a);
                self.registers.release(b);
                M::DIVIDEND
            }
            _ => return None,
        };
        self.define(result, register);
        Some(())
    }

    // Conversions.

    pub(super) fn convert(&mut self, result: Value, value: Value, conversion: Conversion) -> Option<()> {
        let Conversion { target, checked, source_unsigned } = conversion;
        let from = self.machine_of(value);
        let to_float = match target {
            ConvTarget::R4 => Some(MachineType::F32),
            ConvTarget::R8 | ConvTarget::RUn => Some(MachineType::F64),
            _ => None,
        };
        if let Some(to) = to_float {
            self.float_of(result, value, to, source_unsigned || target == ConvTarget::RUn);
            return Some(());
        }
        if from.is_float() {
            return self.integer_of_float(result, value, target, checked);
        }
        if checked {
            self.range_check(value, from, target, source_unsigned)?;
        }
        let source = self.use_register(value);
        self.registers.release(value);
        let register = self.fresh(false);
        self.cut(target, from, register, source, source_unsigned);
        self.define(result, register);
        Some(())
    }

    /// Truncates an integer, and extends it to the stack type. `unsigned`: it must not be extended by its sign.
    fn cut(&mut self, target: ConvTarget, from: MachineType, to: Reg, source: Reg, unsigned: bool) {
        match (target, from) {
            (ConvTarget::I1, _) => self.masm.extend(Extension::S8, to, source),
            (ConvTarget::U1, _) => self.masm.extend(Extension::Z8, to, source),
            (ConvTarget::I2, _) => self.masm.extend(Extension::S16, to, source),
            (ConvTarget::U2, _) => self.masm.extend(Extension::Z16, to, source),
            // The low half of the register is the result; the rest means nothing.
            (ConvTarget::I4 | ConvTarget::U4, _) => self.masm.widen(false, to, source),
            (ConvTarget::I8 | ConvTarget::I, MachineType::I32) => self.masm.widen(!unsigned, to, source),
            (_, MachineType::I32) => self.masm.widen(false, to, source),
            _ => self.move_register(to, source),
        }
    }

    /// Throws OverflowException unless the target type can hold the integer.
    fn range_check(
        &mut self,
        value: Value,
        from: MachineType,
        target: ConvTarget,
        source_unsigned: bool,
    ) -> Option<()> {
        let (bits, is_signed) = target.integer()?;
        let source_bits = if from == MachineType::I64 { 64 } else { 32 };
        let (relation, limit) = match (source_unsigned, is_signed) {
            (true, false) if bits >= source_bits => return Some(()),
            (true, true) if bits > source_bits => return Some(()),
            (false, true) if bits >= source_bits => return Some(()),
            // Exactly the negative numbers are out of range.
            (false, false) if bits >= source_bits => (Relation::Less, 0),
            (true, true) if bits == source_bits => (Relation::Less, 0),
            (_, false) => (Relation::GreaterUnsigned, (1i64 << bits) - 1),
            (true, true) => (Relation::GreaterUnsigned, (1i64 << (bits - 1)) - 1),
            (false, true) => {
                let failed = self.failure(Failure::Overflow);
                let register = self.use_register(value);
                match bits {
                    8 => self.masm.extend(Extension::S8, M::SCRATCH, register),
                    16 => self.masm.extend(Extension::S16, M::SCRATCH, register),
                    _ => self.move_register(M::SCRATCH, register),
                }
                if from == MachineType::I64 {
                    self.masm.widen(true, M::SCRATCH, M::SCRATCH);
                }
                self.masm.jump_if(Relation::NotEqual, from, M::SCRATCH, RegImm::Reg(register), failed, None);
                self.registers.unlock_all();
                return Some(());
            }
        };
        let failed = self.failure(Failure::Overflow);
        let register = self.use_register(value);
        let limit = match i32::try_from(limit) {
            Ok(limit) => RegImm::Imm(limit),
            Err(_) => {
                self.masm.constant(M::SCRATCH, limit);
                RegImm::Reg(M::SCRATCH)
            }
        };
        self.masm.jump_if(relation, from, register, limit, failed, None);
        self.registers.unlock_all();
        Some(())
    }

    fn float_of(&mut self, result: Value, value: Value, to: MachineType, unsigned: bool) {
        let from = self.machine_of(value);
        let source = self.use_register(value);
        self.registers.release(value);
        let register = self.fresh(true);
        match from {
            MachineType::F32 | MachineType::F64 if from == to => self.move_register(register, source),
            MachineType::F32 | MachineType::F64 => self.masm.convert_float(to, register, source),
            _ if !unsigned => self.masm.integer_to_float(to, register, from, source),
            MachineType::I32 => {
                self.masm.widen(false, M::SCRATCH, source);
                self.masm.integer_to_float(to, register, MachineType::I64, M::SCRATCH);
            }
            _ => self.float_of_unsigned(to, register, source),
        }
        self.define(result, register);
    }

    /// `to` = an unsigned 64-bit number. One with the highest bit is halved before, so that its lowest bit decides how
    /// the half is rounded, and doubled after.
    fn float_of_unsigned(&mut self, ty: MachineType, to: Reg, source: Reg) {
        let (large, done) = (self.masm.label(), self.masm.label());
        self.registers.lock(source);
        // Before the paths part: what the register held is stored for both.
        let half = self.fresh(false);
        self.masm.jump_if(Relation::Less, MachineType::I64, source, RegImm::Imm(0), large, None);
        self.masm.integer_to_float(ty, to, MachineType::I64, source);
        self.masm.jump(done);
        self.masm.bind(large);
        self.move_register(half, source);
        self.masm.shift(ShiftOp::RightUnsigned, MachineType::I64, half, 1);
        self.move_register(M::SCRATCH, source);
        self.masm.integer(IntegerOp::And, MachineType::I64, M::SCRATCH, RegImm::Imm(1), None);
        self.masm.integer(IntegerOp::Or, MachineType::I64, half, RegImm::Reg(M::SCRATCH), None);
        self.masm.integer_to_float(ty, to, MachineType::I64, half);
        self.masm.float(saki_code::masm::FloatOp::Add, ty, to, to);
        self.masm.bind(done);
    }

    fn integer_of_float(&mut self, result: Value, value: Value, target: ConvTarget, checked: bool) -> Option<()> {
        let from = self.machine_of(value);
        let is_wide = matches!(target, ConvTarget::U8 | ConvTarget::U);
        if checked || is_wide && !self.options.saturates_conversions {
            // The helpers take doubles.
            let place = self.registers.new_area(8);
            let source = self.use_register(value);
            if from == MachineType::F32 {
                self.masm.convert_float(MachineType::F64, M::FLOAT_SCRATCH, source);
                self.store_slot(M::FLOAT_SCRATCH, place, MachineType::F64);
            } else {
                self.store_slot(source, place, MachineType::F64);
            }
            self.registers.release(value);
            self.registers.unlock_all();
            let number = Argument::Slot(place, MachineType::F64);
            if checked {
                let target = Argument::Constant(i64::from(target.number()));
                self.call_helper(HelperId::ConvR8Checked, &[number, target], Some((result, self.machine_of(result))));
            } else {
                self.call_helper(HelperId::ConvR8ToU8, &[number], Some((result, MachineType::I64)));
            }
            return Some(());
        }
        let source = self.use_register(value);
        let register = self.fresh(false);
        match (target, self.options.saturates_conversions) {
            (ConvTarget::I8 | ConvTarget::I, false) => {
                self.masm.float_to_integer(MachineType::I64, register, from, source);
            }
            // The low half of the result.
            (ConvTarget::U4, false) => self.masm.float_to_integer(MachineType::I64, register, from, source),
            (_, false) => {
                self.masm.float_to_integer(MachineType::I32, register, from, source);
                self.cut(target, MachineType::I32, register, register, false);
            }
            (ConvTarget::I8 | ConvTarget::I, true) => self.saturate(MachineType::I64, register, from, source),
            (ConvTarget::U8 | ConvTarget::U, true) => self.saturate_unsigned(register, from, source),
            (ConvTarget::U4, true) => self.saturate_unsigned_narrow(register, from, source),
            (_, true) => {
                self.saturate(MachineType::I32, register, from, source);
                self.cut(target, MachineType::I32, register, register, false);
            }
        }
        self.registers.release(value);
        self.define(result, register);
        Some(())
    }

    /// `to` = the nearest integer; 0 for NaN.
    fn saturate(&mut self, ty: MachineType, to: Reg, from: MachineType, source: Reg) {
        if self.masm.float_to_nearest_integer(true, ty, to, from, source) {
            return;
        }
        let (done, number) = (self.masm.label(), self.masm.label());
        let least = if ty == MachineType::I64 { i64::MIN } else { i64::from(i32::MIN) };
        self.masm.float_to_integer(ty, to, from, source);
        self.masm.constant(M::SCRATCH, least);
        self.masm.jump_if(Relation::NotEqual, ty, to, RegImm::Reg(M::SCRATCH), done, None);
        self.masm.jump_if(Relation::Equal, from, source, RegImm::Reg(source), number, None);
        self.masm.constant(to, 0);
        self.masm.jump(done);
        self.masm.bind(number);
        self.masm.float_constant(M::FLOAT_SCRATCH, 0);
        self.masm.jump_if(Relation::Less, from, source, RegImm::Reg(M::FLOAT_SCRATCH), done, None);
        self.masm.constant(to, if ty == MachineType::I64 { i64::MAX } else { i64::from(i32::MAX) });
        self.masm.bind(done);
    }

    /// `to` = the nearest unsigned 64-bit integer; 0 for NaN.
    fn saturate_unsigned(&mut self, to: Reg, from: MachineType, source: Reg) {
        if self.masm.float_to_nearest_integer(false, MachineType::I64, to, from, source) {
            return;
        }
        let (zero, large, done) = (self.masm.label(), self.masm.label(), self.masm.label());
        let bits = |number: f64| match from {
            MachineType::F32 => u64::from((number as f32).to_bits()),
            _ => number.to_bits(),
        };
        let limit = self.fresh(true);
        self.masm.float_constant(limit, 0);
        // Holds for NaN, too.
        self.masm.jump_if(Relation::LessUnsigned, from, source, RegImm::Reg(limit), zero, None);
        self.masm.float_constant(limit, bits(9_223_372_036_854_775_808.0));
        self.masm.jump_if(Relation::GreaterOrEqual, from, source, RegImm::Reg(limit), large, None);
        self.masm.float_to_integer(MachineType::I64, to, from, source);
        self.masm.jump(done);
        self.masm.bind(large);
        self.move_register(M::FLOAT_SCRATCH, source);
        self.masm.float(saki_code::masm::FloatOp::Subtract, from, M::FLOAT_SCRATCH, limit);
        self.masm.float_to_integer(MachineType::I64, to, from, M::FLOAT_SCRATCH);
        // The least integer where the rest does not fit: both together are the greatest unsigned one then.
        self.masm.constant(M::SCRATCH, i64::MIN);
        let fits = self.masm.label();
        self.masm.jump_if(Relation::NotEqual, MachineType::I64, to, RegImm::Reg(M::SCRATCH), fits, None);
        self.masm.constant(to, -1);
        self.masm.jump(done);
        self.masm.bind(fits);
        self.masm.integer(IntegerOp::ExclusiveOr, MachineType::I64, to, RegImm::Reg(M::SCRATCH), None);
        self.masm.jump(done);
        self.masm.bind(zero);
        self.masm.constant(to, 0);
        self.masm.bind(done);
    }

    /// `to` = the nearest unsigned 32-bit integer; 0 for NaN.
    fn saturate_unsigned_narrow(&mut self, to: Reg, from: MachineType, source: Reg) {
        if self.masm.float_to_nearest_integer(false, MachineType::I32, to, from, source) {
            return;
        }
        let (zero, done) = (self.masm.label(), self.masm.label());
        self.masm.float_constant(M::FLOAT_SCRATCH, 0);
        let below = Relation::LessUnsigned;
        self.masm.jump_if(below, from, source, RegImm::Reg(M::FLOAT_SCRATCH), zero, None);
        self.masm.float_to_integer(MachineType::I64, to, from, source);
        self.masm.constant(M::SCRATCH, i64::from(u32::MAX));
        let fits = Relation::LessOrEqualUnsigned;
        self.masm.jump_if(fits, MachineType::I64, to, RegImm::Reg(M::SCRATCH), done, None);
        self.move_register(to, M::SCRATCH);
        self.masm.jump(done);
        self.masm.bind(zero);
        self.masm.constant(to, 0);
        self.masm.bind(done);
    }
}

//! Arithmetic, comparisons, bit operations.
//!
//! Shift counts are taken modulo the width. Division by zero and MinValue / −1 trap outside regions. Overflow of checked
//! operations is tested with the machine's flags.

use super::exceptions::Failure;
use super::{Lowered, Lowering};
use crate::error::CompileError;
use crate::signatures::machine_type;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use saki_abi::HelperId;
use saki_il::ir::{BinOp, CmpOp, IrType, UnOp, ValueId};

impl Lowering<'_, '_> {
    pub(super) fn binary(&mut self, op: BinOp, a: ValueId, b: ValueId, ty: IrType) -> Lowered<Value> {
        let divisor = self.constant(b);
        let (left, right) = (self.value(a)?, self.value(b)?);
        if matches!(op, BinOp::Shl | BinOp::Shr | BinOp::ShrUn) {
            return Ok(match op {
                BinOp::Shl => self.b.ins().ishl(left, right),
                BinOp::Shr => self.b.ins().sshr(left, right),
                _ => self.b.ins().ushr(left, right),
            });
        }
        let ty = machine_type(ty).unwrap_or_else(|| self.type_of(left));
        let (left, right) = (self.coerce(left, ty)?, self.coerce(right, ty)?);
        if ty.is_float() {
            return self.float_binary(op, left, right);
        }
        let ins = self.b.ins();
        Ok(match op {
            BinOp::Add => ins.iadd(left, right),
            BinOp::Sub => ins.isub(left, right),
            BinOp::Mul => ins.imul(left, right),
            BinOp::And => ins.band(left, right),
            BinOp::Or => ins.bor(left, right),
            BinOp::Xor => ins.bxor(left, right),
            BinOp::Div | BinOp::DivUn | BinOp::Rem | BinOp::RemUn => self.divide(op, left, right, divisor),
            BinOp::AddOvf => self.overflowing(|ins, a, b| ins.sadd_overflow(a, b), left, right),
            BinOp::AddOvfUn => self.overflowing(|ins, a, b| ins.uadd_overflow(a, b), left, right),
            BinOp::SubOvf => self.overflowing(|ins, a, b| ins.ssub_overflow(a, b), left, right),
            BinOp::SubOvfUn => self.overflowing(|ins, a, b| ins.usub_overflow(a, b), left, right),
            BinOp::MulOvf => self.overflowing(|ins, a, b| ins.smul_overflow(a, b), left, right),
            BinOp::MulOvfUn => self.overflowing(|ins, a, b| ins.umul_overflow(a, b), left, right),
            BinOp::Shl | BinOp::Shr | BinOp::ShrUn | BinOp::FCopySign => {
                return Err(CompileError::invalid_ir(format!("{op:?} of integers")));
            }
        })
    }

    fn float_binary(&mut self, op: BinOp, left: Value, right: Value) -> Lowered<Value> {
        let ins = self.b.ins();
        Ok(match op {
            BinOp::Add => ins.fadd(left, right),
            BinOp::Sub => ins.fsub(left, right),
            BinOp::Mul => ins.fmul(left, right),
            BinOp::Div => ins.fdiv(left, right),
            BinOp::FCopySign => ins.fcopysign(left, right),
            BinOp::Rem => {
                let helper = if self.type_of(left) == types::F32 { HelperId::FRemSingle } else { HelperId::FRem };
                self.call_helper_nothrow(helper, &[left, right]).expect("fmod has a result")
            }
            _ => return Err(CompileError::invalid_ir(format!("{op:?} of floats"))),
        })
    }

    fn overflowing(
        &mut self,
        emit: impl FnOnce(cranelift_frontend::FuncInstBuilder<'_, '_>, Value, Value) -> (Value, Value),
        left: Value,
        right: Value,
    ) -> Value {
        let (result, overflow) = emit(self.b.ins(), left, right);
        self.check(overflow, Failure::Overflow);
        result
    }

    fn divide(&mut self, op: BinOp, left: Value, right: Value, divisor: Option<i64>) -> Value {
        let ty = self.type_of(left);
        let signed = matches!(op, BinOp::Div | BinOp::Rem);
        let may_be_zero = divisor.is_none_or(|d| d == 0);
        let may_be_minus_one = signed && divisor.is_none_or(|d| d == -1);
        if may_be_zero && self.is_protected() {
            self.check_non_zero(right, Failure::DivideByZero);
        }
        // Outside regions `sdiv` traps by itself; `srem` gives 0 for MinValue % -1, where .NET throws.
        if may_be_minus_one && (self.is_protected() || op == BinOp::Rem) {
            let least = if ty == types::I32 { i64::from(i32::MIN) } else { i64::MIN };
            let is_minus_one = self.b.ins().icmp_imm_s(IntCC::Equal, right, -1);
            let is_least = self.b.ins().icmp_imm_s(IntCC::Equal, left, least);
            let overflow = self.b.ins().band(is_minus_one, is_least);
            self.check(overflow, Failure::Overflow);
        }
        let ins = self.b.ins();
        match op {
            BinOp::Div => ins.sdiv(left, right),
            BinOp::DivUn => ins.udiv(left, right),
            BinOp::Rem => ins.srem(left, right),
            _ => ins.urem(left, right),
        }
    }

    pub(super) fn unary(&mut self, op: UnOp, a: ValueId) -> Lowered<Value> {
        let a = self.value(a)?;
        let ty = self.type_of(a);
        let cast = |this: &mut Self, to: Type| this.b.ins().bitcast(to, MemFlagsData::new(), a);
        Ok(match op {
            UnOp::Neg if ty.is_float() => self.b.ins().fneg(a),
            UnOp::Neg => self.b.ins().ineg(a),
            UnOp::Not => self.b.ins().bnot(a),
            UnOp::Sqrt => self.b.ins().sqrt(a),
            UnOp::Abs if ty.is_float() => self.b.ins().fabs(a),
            UnOp::Abs => self.b.ins().iabs(a),
            UnOp::Floor => self.b.ins().floor(a),
            UnOp::Ceil => self.b.ins().ceil(a),
            UnOp::Trunc => self.b.ins().trunc(a),
            UnOp::RoundEven => self.b.ins().nearest(a),
            UnOp::Clz => self.b.ins().clz(a),
            UnOp::Ctz => self.b.ins().ctz(a),
            UnOp::Popcnt => self.b.ins().popcnt(a),
            UnOp::Bswap => self.b.ins().bswap(a),
            UnOp::CheckFinite => {
                let magnitude = self.b.ins().fabs(a);
                let infinity = if ty == types::F32 {
                    self.b.ins().f32const(f32::INFINITY)
                } else {
                    self.b.ins().f64const(f64::INFINITY)
                };
                let bad = self.b.ins().fcmp(FloatCC::UnorderedOrGreaterThanOrEqual, magnitude, infinity);
                self.check(bad, Failure::Overflow);
                a
            }
            UnOp::BitcastI32F32 => cast(self, types::F32),
            UnOp::BitcastF32I32 => cast(self, types::I32),
            UnOp::BitcastI64F64 => cast(self, types::F64),
            UnOp::BitcastF64I64 => cast(self, types::I64),
        })
    }

    pub(super) fn compare(&mut self, op: CmpOp, a: ValueId, b: ValueId) -> Lowered<Value> {
        let (mut left, mut right) = (self.value(a)?, self.value(b)?);
        let (left_type, right_type) = (self.type_of(left), self.type_of(right));
        if left_type != right_type {
            let wide = if left_type.bits() > right_type.bits() { left_type } else { right_type };
            left = self.coerce(left, wide)?;
            right = self.coerce(right, wide)?;
        }
        let flag = if left_type.is_float() {
            self.b.ins().fcmp(float_condition(op), left, right)
        } else {
            self.b.ins().icmp(int_condition(op), left, right)
        };
        Ok(self.b.ins().uextend(types::I32, flag))
    }

    pub(super) fn select(&mut self, condition: ValueId, a: ValueId, b: ValueId) -> Lowered<Value> {
        let condition = self.value(condition)?;
        let a = self.value(a)?;
        let ty = self.type_of(a);
        let b = self.value_as(b, ty)?;
        Ok(self.b.ins().select(condition, a, b))
    }
}

fn int_condition(op: CmpOp) -> IntCC {
    match op {
        CmpOp::Eq => IntCC::Equal,
        CmpOp::NeUn => IntCC::NotEqual,
        CmpOp::Lt => IntCC::SignedLessThan,
        CmpOp::LtUn => IntCC::UnsignedLessThan,
        CmpOp::Gt => IntCC::SignedGreaterThan,
        CmpOp::GtUn => IntCC::UnsignedGreaterThan,
        CmpOp::Le => IntCC::SignedLessThanOrEqual,
        CmpOp::LeUn => IntCC::UnsignedLessThanOrEqual,
        CmpOp::Ge => IntCC::SignedGreaterThanOrEqual,
        CmpOp::GeUn => IntCC::UnsignedGreaterThanOrEqual,
    }
}

fn float_condition(op: CmpOp) -> FloatCC {
    match op {
        CmpOp::Eq => FloatCC::Equal,
        CmpOp::NeUn => FloatCC::NotEqual,
        CmpOp::Lt => FloatCC::LessThan,
        CmpOp::LtUn => FloatCC::UnorderedOrLessThan,
        CmpOp::Gt => FloatCC::GreaterThan,
        CmpOp::GtUn => FloatCC::UnorderedOrGreaterThan,
        CmpOp::Le => FloatCC::LessThanOrEqual,
        CmpOp::LeUn => FloatCC::UnorderedOrLessThanOrEqual,
        CmpOp::Ge => FloatCC::GreaterThanOrEqual,
        CmpOp::GeUn => FloatCC::UnorderedOrGreaterThanOrEqual,
    }
}

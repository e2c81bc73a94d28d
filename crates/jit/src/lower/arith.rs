//! Arithmetic, comparisons, bit operations.
//!
//! Shift counts are taken modulo the width. Division by zero and MinValue / −1 trap outside regions. Overflow of
//! checked operations is tested with the machine's flags.

use super::context::Lowering;
use super::failure::Failure;
use crate::error::CompileError;
use crate::error::Lowered;
use crate::signatures::machine_type;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use saki_abi::HelperId;
use saki_il::ir::{BinOp, CmpOp, IrType, UnOp, ValueId};

pub(super) fn binary(cx: &mut Lowering<'_, '_>, op: BinOp, a: ValueId, b: ValueId, ty: IrType) -> Lowered<Value> {
    let divisor = cx.constant(b);
    let (left, right) = (cx.value(a)?, cx.value(b)?);
    if matches!(op, BinOp::Shl | BinOp::Shr | BinOp::ShrUn) {
        return Ok(match op {
            BinOp::Shl => cx.b.ins().ishl(left, right),
            BinOp::Shr => cx.b.ins().sshr(left, right),
            _ => cx.b.ins().ushr(left, right),
        });
    }
    let ty = machine_type(ty).unwrap_or_else(|| cx.type_of(left));
    let (left, right) = (cx.coerce(left, ty)?, cx.coerce(right, ty)?);
    if ty.is_float() {
        return float_binary(cx, op, left, right);
    }
    let ins = cx.b.ins();
    Ok(match op {
        BinOp::Add => ins.iadd(left, right),
        BinOp::Sub => ins.isub(left, right),
        BinOp::Mul => ins.imul(left, right),
        BinOp::And => ins.band(left, right),
        BinOp::Or => ins.bor(left, right),
        BinOp::Xor => ins.bxor(left, right),
        BinOp::Div | BinOp::DivUn | BinOp::Rem | BinOp::RemUn => divide(cx, op, left, right, divisor),
        BinOp::AddOvf => overflowing(cx, |ins, a, b| ins.sadd_overflow(a, b), left, right),
        BinOp::AddOvfUn => overflowing(cx, |ins, a, b| ins.uadd_overflow(a, b), left, right),
        BinOp::SubOvf => overflowing(cx, |ins, a, b| ins.ssub_overflow(a, b), left, right),
        BinOp::SubOvfUn => overflowing(cx, |ins, a, b| ins.usub_overflow(a, b), left, right),
        BinOp::MulOvf => overflowing(cx, |ins, a, b| ins.smul_overflow(a, b), left, right),
        BinOp::MulOvfUn => overflowing(cx, |ins, a, b| ins.umul_overflow(a, b), left, right),
        BinOp::Shl | BinOp::Shr | BinOp::ShrUn | BinOp::FCopySign => {
            return Err(CompileError::invalid_ir(format!("{op:?} of integers")));
        }
    })
}

fn float_binary(cx: &mut Lowering<'_, '_>, op: BinOp, left: Value, right: Value) -> Lowered<Value> {
    let ins = cx.b.ins();
    Ok(match op {
        BinOp::Add => ins.fadd(left, right),
        BinOp::Sub => ins.fsub(left, right),
        BinOp::Mul => ins.fmul(left, right),
        BinOp::Div => ins.fdiv(left, right),
        BinOp::FCopySign => ins.fcopysign(left, right),
        BinOp::Rem => {
            let helper = if cx.type_of(left) == types::F32 { HelperId::FRemSingle } else { HelperId::FRem };
            cx.call_helper_nothrow(helper, &[left, right]).expect("fmod has a result")
        }
        _ => return Err(CompileError::invalid_ir(format!("{op:?} of floats"))),
    })
}

fn overflowing(
    cx: &mut Lowering<'_, '_>,
    emit: impl FnOnce(cranelift_frontend::FuncInstBuilder<'_, '_>, Value, Value) -> (Value, Value),
    left: Value,
    right: Value,
) -> Value {
    let (result, overflow) = emit(cx.b.ins(), left, right);
    cx.check(overflow, Failure::Overflow);
    result
}

fn divide(cx: &mut Lowering<'_, '_>, op: BinOp, left: Value, right: Value, divisor: Option<i64>) -> Value {
    let ty = cx.type_of(left);
    let signed = matches!(op, BinOp::Div | BinOp::Rem);
    let may_be_zero = divisor.is_none_or(|d| d == 0);
    let may_be_minus_one = signed && divisor.is_none_or(|d| d == -1);
    if may_be_zero && cx.is_protected() {
        cx.check_non_zero(right, Failure::DivideByZero);
    }
    // Outside regions `sdiv` traps by itself; `srem` gives 0 for MinValue % -1, where .NET throws.
    if may_be_minus_one && (cx.is_protected() || op == BinOp::Rem) {
        let least = if ty == types::I32 { i64::from(i32::MIN) } else { i64::MIN };
        let is_minus_one = cx.b.ins().icmp_imm_s(IntCC::Equal, right, -1);
        let is_least = cx.b.ins().icmp_imm_s(IntCC::Equal, left, least);
        let overflow = cx.b.ins().band(is_minus_one, is_least);
        cx.check(overflow, Failure::Overflow);
    }
    let ins = cx.b.ins();
    match op {
        BinOp::Div => ins.sdiv(left, right),
        BinOp::DivUn => ins.udiv(left, right),
        BinOp::Rem => ins.srem(left, right),
        _ => ins.urem(left, right),
    }
}

pub(super) fn unary(cx: &mut Lowering<'_, '_>, op: UnOp, a: ValueId) -> Lowered<Value> {
    let a = cx.value(a)?;
    let ty = cx.type_of(a);
    let cast = |this: &mut Lowering<'_, '_>, to: Type| this.b.ins().bitcast(to, MemFlagsData::new(), a);
    Ok(match op {
        UnOp::Neg if ty.is_float() => cx.b.ins().fneg(a),
        UnOp::Neg => cx.b.ins().ineg(a),
        UnOp::Not => cx.b.ins().bnot(a),
        UnOp::Sqrt => cx.b.ins().sqrt(a),
        UnOp::Abs if ty.is_float() => cx.b.ins().fabs(a),
        UnOp::Abs => cx.b.ins().iabs(a),
        UnOp::Floor => cx.b.ins().floor(a),
        UnOp::Ceil => cx.b.ins().ceil(a),
        UnOp::Trunc => cx.b.ins().trunc(a),
        UnOp::RoundEven => cx.b.ins().nearest(a),
        UnOp::Clz => cx.b.ins().clz(a),
        UnOp::Ctz => cx.b.ins().ctz(a),
        UnOp::Popcnt => cx.b.ins().popcnt(a),
        UnOp::Bswap => cx.b.ins().bswap(a),
        UnOp::CheckFinite => {
            let magnitude = cx.b.ins().fabs(a);
            let infinity =
                if ty == types::F32 { cx.b.ins().f32const(f32::INFINITY) } else { cx.b.ins().f64const(f64::INFINITY) };
            let bad = cx.b.ins().fcmp(FloatCC::UnorderedOrGreaterThanOrEqual, magnitude, infinity);
            cx.check(bad, Failure::Overflow);
            a
        }
        UnOp::BitcastI32F32 => cast(cx, types::F32),
        UnOp::BitcastF32I32 => cast(cx, types::I32),
        UnOp::BitcastI64F64 => cast(cx, types::F64),
        UnOp::BitcastF64I64 => cast(cx, types::I64),
    })
}

pub(super) fn compare(cx: &mut Lowering<'_, '_>, op: CmpOp, a: ValueId, b: ValueId) -> Lowered<Value> {
    let (mut left, mut right) = (cx.value(a)?, cx.value(b)?);
    let (left_type, right_type) = (cx.type_of(left), cx.type_of(right));
    if left_type != right_type {
        let wide = if left_type.bits() > right_type.bits() { left_type } else { right_type };
        left = cx.coerce(left, wide)?;
        right = cx.coerce(right, wide)?;
    }
    let flag = if left_type.is_float() {
        cx.b.ins().fcmp(float_condition(op), left, right)
    } else {
        cx.b.ins().icmp(int_condition(op), left, right)
    };
    Ok(cx.b.ins().uextend(types::I32, flag))
}

pub(super) fn select(cx: &mut Lowering<'_, '_>, condition: ValueId, a: ValueId, b: ValueId) -> Lowered<Value> {
    let condition = cx.value(condition)?;
    let a = cx.value(a)?;
    let ty = cx.type_of(a);
    let b = cx.value_as(b, ty)?;
    Ok(cx.b.ins().select(condition, a, b))
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

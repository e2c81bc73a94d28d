//! Arithmetic, comparisons, bit operations.
//!
//! Shift counts are taken modulo the width. Division by zero and MinValue / −1 trap outside regions.
//!
//! Cranelift does not join an operation that gives an overflow flag with the branch on it: the flag becomes a byte,
//! which is tested. So overflow is seen by comparing operand and result where one comparison is enough, and by the flag
//! elsewhere (a sum or difference of two signed numbers whose signs are unknown, a product of two unknown numbers).

use super::context::Lowering;
use super::failure::Failure;
use super::ranges;
use crate::error::CompileError;
use crate::error::Lowered;
use crate::signatures::machine_type;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use saki_abi::HelperId;
use saki_il::ir::{BinOp, CmpOp, IrType, UnOp, ValueId};
use std::ops::RangeInclusive;

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
    if let Some(checked) = overflow_by_comparison(cx, op, (a, left), (b, right)) {
        return Ok(checked);
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
        BinOp::SubOvf => overflowing(cx, |ins, a, b| ins.ssub_overflow(a, b), left, right),
        BinOp::MulOvf => overflowing(cx, |ins, a, b| ins.smul_overflow(a, b), left, right),
        BinOp::MulOvfUn => overflowing(cx, |ins, a, b| ins.umul_overflow(a, b), left, right),
        BinOp::AddOvfUn | BinOp::SubOvfUn | BinOp::Shl | BinOp::Shr | BinOp::ShrUn | BinOp::FCopySign => {
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

/// A checked operation whose overflow one comparison finds, or that cannot overflow. None: another operation.
fn overflow_by_comparison(
    cx: &mut Lowering<'_, '_>,
    op: BinOp,
    (a, left): (ValueId, Value),
    (b, right): (ValueId, Value),
) -> Option<Value> {
    let ty = cx.type_of(left);
    let (least, greatest) = match ty {
        types::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        _ => (i64::MIN, i64::MAX),
    };
    let of_type = |range: RangeInclusive<i64>| least <= *range.start() && *range.end() <= greatest;
    let known = |cx: &Lowering<'_, '_>, id| ranges::range(cx, id).filter(|range| of_type(range.clone()));
    match op {
        BinOp::AddOvf => {
            let ((of_left, of_right), sum) = ((known(cx, a), known(cx, b)), cx.b.ins().iadd(left, right));
            let is_between = |sum: Option<i64>| sum.is_some_and(|sum| (least..=greatest).contains(&sum));
            if let (Some(x), Some(y)) = (&of_left, &of_right)
                && is_between(x.start().checked_add(*y.start()))
                && is_between(x.end().checked_add(*y.end()))
            {
                return Some(sum);
            }
            // A sum with a number of known sign is on the wrong side of the other number.
            let (addend, other) = match (of_left, of_right) {
                (_, Some(range)) if *range.start() >= 0 || *range.end() <= 0 => (range, left),
                (Some(range), _) if *range.start() >= 0 || *range.end() <= 0 => (range, right),
                _ => return None,
            };
            let wrong = if *addend.start() >= 0 { IntCC::SignedLessThan } else { IntCC::SignedGreaterThan };
            let bad = cx.b.ins().icmp(wrong, sum, other);
            cx.check(bad, Failure::Overflow);
            Some(sum)
        }
        BinOp::SubOvf => {
            let subtrahend = known(cx, b).filter(|range| *range.start() >= 0 || *range.end() <= 0)?;
            let wrong = if *subtrahend.start() >= 0 { IntCC::SignedGreaterThan } else { IntCC::SignedLessThan };
            let difference = cx.b.ins().isub(left, right);
            let bad = cx.b.ins().icmp(wrong, difference, left);
            cx.check(bad, Failure::Overflow);
            Some(difference)
        }
        // The one operation that traps by its flag.
        BinOp::AddOvfUn if !cx.is_protected() => {
            Some(cx.b.ins().uadd_overflow_trap(left, right, Failure::Overflow.trap_code()))
        }
        BinOp::AddOvfUn => {
            let sum = cx.b.ins().iadd(left, right);
            let bad = cx.b.ins().icmp(IntCC::UnsignedLessThan, sum, left);
            cx.check(bad, Failure::Overflow);
            Some(sum)
        }
        BinOp::SubOvfUn => {
            let bad = cx.b.ins().icmp(IntCC::UnsignedLessThan, left, right);
            cx.check(bad, Failure::Overflow);
            Some(cx.b.ins().isub(left, right))
        }
        BinOp::MulOvf | BinOp::MulOvfUn => {
            let (factor, other) = match (cx.constant(a), cx.constant(b)) {
                (_, Some(factor)) if factor > 0 => (factor, left),
                (Some(factor), _) if factor > 0 => (factor, right),
                _ => return None,
            };
            let bad = if op == BinOp::MulOvf {
                // From `least / factor` to `greatest / factor`, both rounded towards zero.
                let first = cx.b.ins().iconst(ty, least / factor);
                let distance = cx.b.ins().isub(other, first);
                let width = (greatest / factor).wrapping_sub(least / factor);
                cx.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, distance, width)
            } else {
                let greatest = if ty == types::I32 { u64::from(u32::MAX) } else { u64::MAX };
                cx.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, other, (greatest / factor as u64) as i64)
            };
            cx.check(bad, Failure::Overflow);
            Some(cx.b.ins().imul(left, right))
        }
        _ => None,
    }
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

//! Operations on vectors of 16 bytes.
//!
//! Between operations a vector is an I8X16; each operation views it as the lanes that it names. An operation without an
//! instruction on the processor becomes a short sequence of others, with bit-identical results.

use super::context::Lowering;
use crate::error::CompileError;
use crate::error::Lowered;
use crate::vector_memory::VECTOR;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{ConstantData, InstBuilder, Type, Value, types};
use saki_il::ir::{Lanes, Op, ValueId, VectorOp};

fn lane_type(lanes: Lanes) -> Type {
    match lanes {
        Lanes::I8 | Lanes::U8 => types::I8X16,
        Lanes::I16 | Lanes::U16 => types::I16X8,
        Lanes::I32 | Lanes::U32 => types::I32X4,
        Lanes::I64 | Lanes::U64 => types::I64X2,
        Lanes::F32 => types::F32X4,
        Lanes::F64 => types::F64X2,
    }
}

fn operand(cx: &mut Lowering<'_, '_>, id: Option<ValueId>, lanes: Lanes) -> Lowered<Value> {
    let id = id.ok_or_else(|| CompileError::invalid_ir("a vector operation lacks an operand"))?;
    let value = cx.value(id)?;
    Ok(cx.as_lanes(value, lane_type(lanes)))
}

/// A scalar operand, in the type of a lane.
fn lane_operand(cx: &mut Lowering<'_, '_>, id: Option<ValueId>, lanes: Lanes) -> Lowered<Value> {
    let id = id.ok_or_else(|| CompileError::invalid_ir("a vector operation lacks an operand"))?;
    let lane = lane_type(lanes).lane_type();
    let value = cx.value(id)?;
    if cx.type_of(value) == lane { Ok(value) } else { cx.coerce(value, lane) }
}

pub(super) fn vector(
    cx: &mut Lowering<'_, '_>,
    op: VectorOp,
    lanes: Lanes,
    a: ValueId,
    b: Option<ValueId>,
    c: Option<ValueId>,
) -> Lowered<Value> {
    use VectorOp as V;
    let ty = lane_type(lanes);
    let result = match op {
        V::Splat => {
            let scalar = lane_operand(cx, Some(a), lanes)?;
            cx.b.ins().splat(ty, scalar)
        }
        V::Extract(lane) => {
            let vector = operand(cx, Some(a), lanes)?;
            let value = cx.b.ins().extractlane(vector, lane);
            return Ok(extended(cx, value, lanes));
        }
        V::Insert(lane) => {
            let vector = operand(cx, Some(a), lanes)?;
            let scalar = lane_operand(cx, b, lanes)?;
            cx.b.ins().insertlane(vector, scalar, lane)
        }
        V::AllTrue | V::AnyTrue => {
            let vector = operand(cx, Some(a), lanes.as_signed())?;
            let flag = match op {
                V::AllTrue => cx.b.ins().vall_true(vector),
                _ => cx.b.ins().vany_true(vector),
            };
            return Ok(cx.b.ins().uextend(types::I32, flag));
        }
        V::HighBits => {
            let vector = operand(cx, Some(a), lanes.as_signed())?;
            return Ok(cx.b.ins().vhigh_bits(types::I32, vector));
        }
        V::BitSelect => {
            let mask = operand(cx, Some(a), Lanes::I8)?;
            let (yes, no) = (operand(cx, b, Lanes::I8)?, operand(cx, c, Lanes::I8)?);
            cx.b.ins().bitselect(mask, yes, no)
        }
        V::ShiftLeft | V::ShiftRight | V::ShiftRightLogical => {
            let vector = operand(cx, Some(a), lanes.as_signed())?;
            let count = b.ok_or_else(|| CompileError::invalid_ir("a shift lacks its count"))?;
            let count = cx.value_as(count, types::I32)?;
            match op {
                V::ShiftLeft => cx.b.ins().ishl(vector, count),
                V::ShiftRight => cx.b.ins().sshr(vector, count),
                _ => cx.b.ins().ushr(vector, count),
            }
        }
        V::Shuffle => shuffle(cx, a, b, c)?,
        V::Narrow => narrow_lanes(cx, a, b, lanes)?,
        V::PackSigned | V::PackUnsigned => {
            let (low, high) = (operand(cx, Some(a), lanes)?, operand(cx, b, lanes)?);
            if !matches!(lanes, Lanes::I16 | Lanes::I32) {
                return Err(CompileError::invalid_ir(format!("{op:?} of {lanes:?}")));
            }
            let ins = cx.b.ins();
            if op == V::PackSigned { ins.snarrow(low, high) } else { ins.unarrow(low, high) }
        }
        V::Not | V::Neg | V::Abs | V::Sqrt | V::Floor | V::Ceil | V::Truncate | V::Round => {
            vector_unary(cx, op, lanes, a)?
        }
        V::WidenLow | V::WidenHigh | V::ToFloat | V::ToInteger | V::ToDouble | V::ToSingle => {
            vector_conversion(cx, op, lanes, a)?
        }
        _ => {
            let left = operand(cx, Some(a), lanes)?;
            let right = operand(cx, b, lanes)?;
            vector_binary(cx, op, lanes, left, right)?
        }
    };
    Ok(cx.as_lanes(result, VECTOR))
}

fn extended(cx: &mut Lowering<'_, '_>, value: Value, lanes: Lanes) -> Value {
    match lanes {
        Lanes::I8 | Lanes::I16 => cx.b.ins().sextend(types::I32, value),
        Lanes::U8 | Lanes::U16 => cx.b.ins().uextend(types::I32, value),
        _ => value,
    }
}

fn vector_unary(cx: &mut Lowering<'_, '_>, op: VectorOp, lanes: Lanes, a: ValueId) -> Lowered<Value> {
    use VectorOp as V;
    let vector = operand(cx, Some(a), lanes)?;
    let is_float = lanes.is_float();
    let ins = cx.b.ins();
    Ok(match op {
        V::Not => {
            let bits = cx.as_lanes(vector, VECTOR);
            cx.b.ins().bnot(bits)
        }
        V::Neg if is_float => ins.fneg(vector),
        V::Neg => ins.ineg(vector),
        V::Abs if is_float => ins.fabs(vector),
        V::Abs if lanes.is_unsigned() => vector,
        V::Abs => ins.iabs(vector),
        V::Sqrt if is_float => ins.sqrt(vector),
        V::Floor if is_float => ins.floor(vector),
        V::Ceil if is_float => ins.ceil(vector),
        V::Truncate if is_float => ins.trunc(vector),
        V::Round if is_float => ins.nearest(vector),
        _ => return Err(CompileError::invalid_ir(format!("{op:?} of {lanes:?}"))),
    })
}

fn vector_binary(cx: &mut Lowering<'_, '_>, op: VectorOp, lanes: Lanes, a: Value, b: Value) -> Lowered<Value> {
    use VectorOp as V;
    let is_float = lanes.is_float();
    let ins = cx.b.ins();
    Ok(match op {
        V::Add if is_float => ins.fadd(a, b),
        V::Sub if is_float => ins.fsub(a, b),
        V::Mul if is_float => ins.fmul(a, b),
        V::Div if is_float => ins.fdiv(a, b),
        V::Add => ins.iadd(a, b),
        V::Sub => ins.isub(a, b),
        V::Mul if lanes.bytes() == 1 => multiply_bytes(cx, a, b),
        V::Mul => ins.imul(a, b),
        V::AddSaturated | V::SubSaturated if lanes.bytes() <= 2 => match (op, lanes.is_unsigned()) {
            (V::AddSaturated, false) => ins.sadd_sat(a, b),
            (V::AddSaturated, true) => ins.uadd_sat(a, b),
            (_, false) => ins.ssub_sat(a, b),
            (_, true) => ins.usub_sat(a, b),
        },
        V::Average if lanes.is_unsigned() && lanes.bytes() <= 2 => ins.avg_round(a, b),
        V::MultiplyHigh if lanes.bytes() == 2 => multiply_high(cx, a, b, lanes.is_unsigned()),
        V::Unordered if is_float => ins.fcmp(FloatCC::Unordered, a, b),
        V::And | V::AndNot | V::Or | V::Xor => {
            let (a, b) = (cx.as_lanes(a, VECTOR), cx.as_lanes(b, VECTOR));
            let ins = cx.b.ins();
            match op {
                V::And => ins.band(a, b),
                V::AndNot => ins.band_not(a, b),
                V::Or => ins.bor(a, b),
                _ => ins.bxor(a, b),
            }
        }
        V::ShuffleBytes if lanes.bytes() == 1 => shuffle_bytes(cx, a, b),
        V::MultiplyAddPairs if lanes == Lanes::U8 => multiply_add_bytes(cx, a, b),
        V::MultiplyAddPairs if lanes == Lanes::I16 => {
            let low = [a, b].map(|half| cx.b.ins().swiden_low(half));
            let high = [a, b].map(|half| cx.b.ins().swiden_high(half));
            let low = cx.b.ins().imul(low[0], low[1]);
            let high = cx.b.ins().imul(high[0], high[1]);
            cx.b.ins().iadd_pairwise(low, high)
        }
        V::Min | V::Max => minimum_or_maximum(cx, op, lanes, a, b),
        V::Eq | V::Lt | V::Le | V::Gt | V::Ge => vector_compare(cx, op, lanes, a, b),
        _ => return Err(CompileError::invalid_ir(format!("{op:?} of {lanes:?}"))),
    })
}

/// Multiplies bytes, by 16-bit products of the even and of the odd bytes.
fn multiply_bytes(cx: &mut Lowering<'_, '_>, a: Value, b: Value) -> Value {
    let (a, b) = (cx.as_lanes(a, types::I16X8), cx.as_lanes(b, types::I16X8));
    let even = cx.b.ins().imul(a, b);
    let low_bytes =
        cx.vector_const(u128::from_le_bytes([0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0]));
    let low_bytes = cx.as_lanes(low_bytes, types::I16X8);
    let even = cx.b.ins().band(even, low_bytes);
    let eight = cx.i32_const(8);
    let (a, b) = (cx.b.ins().ushr(a, eight), cx.b.ins().ushr(b, eight));
    let odd = cx.b.ins().imul(a, b);
    let odd = cx.b.ins().ishl(odd, eight);
    cx.b.ins().bor(even, odd)
}

/// The upper 16 bits of the products of 16-bit lanes, by 32-bit products.
fn multiply_high(cx: &mut Lowering<'_, '_>, a: Value, b: Value, is_unsigned: bool) -> Value {
    let sixteen = cx.i32_const(16);
    let mut halves = [a, b];
    for (index, half) in halves.iter_mut().enumerate() {
        let [x, y] = [a, b].map(|v| match (index, is_unsigned) {
            (0, false) => cx.b.ins().swiden_low(v),
            (0, true) => cx.b.ins().uwiden_low(v),
            (_, false) => cx.b.ins().swiden_high(v),
            (_, true) => cx.b.ins().uwiden_high(v),
        });
        let product = cx.b.ins().imul(x, y);
        *half = if is_unsigned { cx.b.ins().ushr(product, sixteen) } else { cx.b.ins().sshr(product, sixteen) };
    }
    // The values fit, so that none is saturated.
    let [low, high] = halves;
    if is_unsigned { cx.b.ins().unarrow(low, high) } else { cx.b.ins().snarrow(low, high) }
}

/// `VectorOp::ShuffleBytes`. AArch64's `tbl` gives zero for every number that names no byte.
fn shuffle_bytes(cx: &mut Lowering<'_, '_>, a: Value, b: Value) -> Value {
    if !cx.is_aarch64() {
        return cx.b.ins().x86_pshufb(a, b);
    }
    let read_bits = cx.vector_const(u128::from_le_bytes([0x8f; 16]));
    let numbers = cx.b.ins().band(b, read_bits);
    cx.b.ins().swizzle(a, numbers)
}

/// `VectorOp::MultiplyAddPairs` of bytes. The products fit in 16 bits, their sums may not.
fn multiply_add_bytes(cx: &mut Lowering<'_, '_>, a: Value, b: Value) -> Value {
    if !cx.is_aarch64() {
        return cx.b.ins().x86_pmaddubsw(b, a);
    }
    let (left, right) = (cx.b.ins().uwiden_low(a), cx.b.ins().swiden_low(b));
    let low = cx.b.ins().imul(left, right);
    let (left, right) = (cx.b.ins().uwiden_high(a), cx.b.ins().swiden_high(b));
    let high = cx.b.ins().imul(left, right);
    let (low, high) = (cx.as_lanes(low, VECTOR), cx.as_lanes(high, VECTOR));
    let [even, odd] = [0, 2].map(|first| {
        let products = std::array::from_fn(|at| first + at as u8 / 2 * 4 + at as u8 % 2);
        let products = shuffled(cx, low, high, products);
        cx.as_lanes(products, types::I16X8)
    });
    cx.b.ins().sadd_sat(even, odd)
}

/// `VectorOp::ToInteger`. AArch64 makes zero of NaN and the greatest integer of what is too great; what is too small is
/// the least one already.
fn to_integers(cx: &mut Lowering<'_, '_>, vector: Value) -> Value {
    if !cx.is_aarch64() {
        return cx.b.ins().x86_cvtt2dq(types::I32X4, vector);
    }
    let four = |word: u32| [word; 4].into_iter().fold(0_u128, |all, word| all << 32 | u128::from(word));
    let limit = cx.vector_const(four(2_147_483_648_f32.to_bits()));
    let limit = cx.as_lanes(limit, types::F32X4);
    let least = cx.vector_const(four(1 << 31));
    let least = cx.as_lanes(least, types::I32X4);
    let fits = cx.b.ins().fcmp(FloatCC::LessThan, vector, limit);
    let integers = cx.b.ins().fcvt_to_sint_sat(types::I32X4, vector);
    cx.b.ins().bitselect(fits, integers, least)
}

fn minimum_or_maximum(cx: &mut Lowering<'_, '_>, op: VectorOp, lanes: Lanes, a: Value, b: Value) -> Value {
    let is_minimum = op == VectorOp::Min;
    if !lanes.is_float() && lanes.bytes() < 8 {
        let ins = cx.b.ins();
        return match (is_minimum, lanes.is_unsigned()) {
            (true, true) => ins.umin(a, b),
            (true, false) => ins.smin(a, b),
            (false, true) => ins.umax(a, b),
            (false, false) => ins.smax(a, b),
        };
    }
    // `b < a`, not `a > b`: the code generator knows the pattern of `maxps`.
    let (left, right) = if is_minimum { (a, b) } else { (b, a) };
    let mask = vector_compare(cx, VectorOp::Lt, lanes, left, right);
    let mask = cx.as_lanes(mask, lane_type(lanes));
    cx.b.ins().bitselect(mask, a, b)
}

fn vector_compare(cx: &mut Lowering<'_, '_>, op: VectorOp, lanes: Lanes, a: Value, b: Value) -> Value {
    use VectorOp as V;
    if lanes.is_float() {
        let condition = match op {
            V::Eq => FloatCC::Equal,
            V::Lt => FloatCC::LessThan,
            V::Le => FloatCC::LessThanOrEqual,
            V::Gt => FloatCC::GreaterThan,
            _ => FloatCC::GreaterThanOrEqual,
        };
        return cx.b.ins().fcmp(condition, a, b);
    }
    // There is no unsigned comparison of 64 bits, so the sign bits are inverted.
    let (mut a, mut b) = (a, b);
    if lanes == Lanes::U64 && op != V::Eq {
        let signs = cx.vector_const(u128::from(1_u64 << 63) << 64 | u128::from(1_u64 << 63));
        let signs = cx.as_lanes(signs, types::I64X2);
        a = cx.b.ins().bxor(a, signs);
        b = cx.b.ins().bxor(b, signs);
    }
    let is_unsigned = lanes.is_unsigned() && lanes != Lanes::U64;
    let condition = match (op, is_unsigned) {
        (V::Eq, _) => IntCC::Equal,
        (V::Lt, false) => IntCC::SignedLessThan,
        (V::Le, false) => IntCC::SignedLessThanOrEqual,
        (V::Gt, false) => IntCC::SignedGreaterThan,
        (_, false) => IntCC::SignedGreaterThanOrEqual,
        (V::Lt, true) => IntCC::UnsignedLessThan,
        (V::Le, true) => IntCC::UnsignedLessThanOrEqual,
        (V::Gt, true) => IntCC::UnsignedGreaterThan,
        (_, true) => IntCC::UnsignedGreaterThanOrEqual,
    };
    cx.b.ins().icmp(condition, a, b)
}

fn vector_conversion(cx: &mut Lowering<'_, '_>, op: VectorOp, lanes: Lanes, a: ValueId) -> Lowered<Value> {
    use VectorOp as V;
    let vector = operand(cx, Some(a), lanes)?;
    let is_low = op == V::WidenLow;
    Ok(match (op, lanes) {
        (V::ToFloat, Lanes::I32) => cx.b.ins().fcvt_from_sint(types::F32X4, vector),
        (V::ToFloat, Lanes::U32) => cx.b.ins().fcvt_from_uint(types::F32X4, vector),
        (V::ToDouble, Lanes::I32) => {
            let wide = cx.b.ins().swiden_low(vector);
            cx.b.ins().fcvt_from_sint(types::F64X2, wide)
        }
        (V::ToSingle, Lanes::F64) => cx.b.ins().fvdemote(vector),
        (V::ToInteger, Lanes::F32) => to_integers(cx, vector),
        (V::WidenLow | V::WidenHigh, Lanes::F32) => {
            let half = if is_low { vector } else { high_half(cx, vector) };
            cx.b.ins().fvpromote_low(half)
        }
        (V::WidenLow | V::WidenHigh, Lanes::I8 | Lanes::I16 | Lanes::I32) => {
            if is_low {
                cx.b.ins().swiden_low(vector)
            } else {
                cx.b.ins().swiden_high(vector)
            }
        }
        (V::WidenLow | V::WidenHigh, Lanes::U8 | Lanes::U16 | Lanes::U32) => {
            if is_low {
                cx.b.ins().uwiden_low(vector)
            } else {
                cx.b.ins().uwiden_high(vector)
            }
        }
        _ => return Err(CompileError::invalid_ir(format!("{op:?} of {lanes:?}"))),
    })
}

/// Moves the upper 8 bytes to the lower half.
fn high_half(cx: &mut Lowering<'_, '_>, vector: Value) -> Value {
    let ty = cx.type_of(vector);
    let bytes = cx.as_lanes(vector, VECTOR);
    let high = shuffled(cx, bytes, bytes, [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15]);
    cx.as_lanes(high, ty)
}

fn shuffled(cx: &mut Lowering<'_, '_>, a: Value, b: Value, bytes: [u8; 16]) -> Value {
    let mask = cx.b.func.dfg.immediates.push(ConstantData::from(bytes.as_slice()));
    cx.b.ins().shuffle(a, b, mask)
}

fn shuffle(cx: &mut Lowering<'_, '_>, a: ValueId, b: Option<ValueId>, c: Option<ValueId>) -> Lowered<Value> {
    let (left, right) = (operand(cx, Some(a), Lanes::I8)?, operand(cx, b, Lanes::I8)?);
    let Some(Op::ConstV128(mask)) = c.and_then(|c| cx.inst(c)).map(|inst| &inst.op) else {
        return Err(CompileError::invalid_ir("a shuffle by a mask that is not constant"));
    };
    let mask = mask.to_le_bytes();
    if mask.iter().any(|&byte| byte > 31) {
        return Err(CompileError::invalid_ir("a shuffle by bytes that are not there"));
    }
    Ok(shuffled(cx, left, right, mask))
}

fn narrow_lanes(cx: &mut Lowering<'_, '_>, a: ValueId, b: Option<ValueId>, lanes: Lanes) -> Lowered<Value> {
    let (low, high) = (operand(cx, Some(a), lanes)?, operand(cx, b, lanes)?);
    if lanes == Lanes::F64 {
        let (low, high) = (cx.b.ins().fvdemote(low), cx.b.ins().fvdemote(high));
        let (low, high) = (cx.as_lanes(low, VECTOR), cx.as_lanes(high, VECTOR));
        return Ok(shuffled(cx, low, high, [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]));
    }
    let width = lanes.bytes() as u8;
    if !matches!(width, 2 | 4 | 8) || lanes.is_float() {
        return Err(CompileError::invalid_ir(format!("narrowing {lanes:?}")));
    }
    // The low half of each lane, of both operands.
    let bytes = std::array::from_fn(|at| {
        let at = at as u8;
        at / (width / 2) * width + at % (width / 2)
    });
    let (low, high) = (cx.as_lanes(low, VECTOR), cx.as_lanes(high, VECTOR));
    Ok(shuffled(cx, low, high, bytes))
}

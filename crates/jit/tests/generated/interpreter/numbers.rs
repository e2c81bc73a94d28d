//! Operations on single numbers.
//!
//! A NaN among the operands of a float operation is its result, made quiet, the first one before the second; other
//! results that are no numbers are the processor's. ECMA-335 leaves this open, but bits of floats can be seen.

use super::{Bits, Outcome};
use crate::common::{DIVIDE_BY_ZERO, OVERFLOW};
use saki_il::ir::{BinOp, CmpOp, ConvTarget, IrType, UnOp};

/// The bits that a value of this type has.
pub fn cut(bits: Bits, ty: IrType) -> Bits {
    match ty {
        IrType::I32 | IrType::F32 => bits & 0xffff_ffff,
        IrType::V128 => bits,
        _ => bits & Bits::from(u64::MAX),
    }
}

/// The result of an operation on floats, whose operands, all as wide, are given to find a NaN among them.
macro_rules! float_result {
    ($name:ident, $float:ty, $bits:ty, $quiet:expr, $default:expr) => {
        pub fn $name(operands: &[$float], result: $float) -> $float {
            // aarch64 takes signalling ones first.
            let is_first = |operand: &$float| cfg!(target_arch = "aarch64") && operand.to_bits() & $quiet == 0;
            let mut found = operands.iter().filter(|operand| operand.is_nan());
            let first = found.clone().find(|&operand| is_first(operand));
            match first.or_else(|| found.next()) {
                Some(nan) => <$float>::from_bits(nan.to_bits() | $quiet),
                None if result.is_nan() => {
                    // x86-64's has the sign, aarch64's has not.
                    let nan = <$float>::from_bits($default);
                    if cfg!(target_arch = "aarch64") { nan.abs() } else { nan }
                }
                None => result,
            }
        }
    };
}

float_result!(result_f64, f64, u64, 1 << 51, 0xfff8_0000_0000_0000);
float_result!(result_f32, f32, u32, 1 << 22, 0xffc0_0000);

pub fn f64_of(bits: Bits) -> f64 {
    f64::from_bits(bits as u64)
}

pub fn f32_of(bits: Bits) -> f32 {
    f32::from_bits(bits as u32)
}

pub fn to_single(number: f64) -> f32 {
    if number.is_nan() {
        let bits = number.to_bits();
        return f32::from_bits((bits >> 32) as u32 & 0x8000_0000 | 0x7fc0_0000 | (bits >> 29) as u32 & 0x003f_ffff);
    }
    number as f32
}

pub fn to_double(number: f32) -> f64 {
    if number.is_nan() {
        let bits = u64::from(number.to_bits());
        return f64::from_bits((bits & 0x8000_0000) << 32 | 0x7ff8 << 48 | (bits & 0x003f_ffff) << 29);
    }
    f64::from(number)
}

pub fn binary(op: BinOp, ty: IrType, a: Bits, b: Bits) -> Outcome {
    match ty {
        IrType::F64 => {
            let (x, y) = (f64_of(a), f64_of(b));
            let result = match op {
                BinOp::Add => x + y,
                BinOp::Sub => x - y,
                BinOp::Mul => x * y,
                BinOp::Div => x / y,
                BinOp::FCopySign => return Ok(a & !(1 << 63) | b & 1 << 63),
                other => panic!("no meaning for {other:?} of floats"),
            };
            Ok(result_f64(&[x, y], result).to_bits().into())
        }
        IrType::F32 => {
            let (x, y) = (f32_of(a), f32_of(b));
            let result = match op {
                BinOp::Add => x + y,
                BinOp::Sub => x - y,
                BinOp::Mul => x * y,
                BinOp::Div => x / y,
                BinOp::FCopySign => return Ok(a & !(1 << 31) | b & 1 << 31),
                other => panic!("no meaning for {other:?} of floats"),
            };
            Ok(result_f32(&[x, y], result).to_bits().into())
        }
        _ => integer(op, if ty == IrType::I32 { 32 } else { 64 }, a, b),
    }
}

/// The number as a signed one of this width.
pub fn signed(bits: Bits, width: u32) -> i128 {
    (bits << (128 - width)).cast_signed() >> (128 - width)
}

fn integer(op: BinOp, width: u32, a: Bits, b: Bits) -> Outcome {
    let (x, y) = (signed(a, width), signed(b, width));
    // The exact result, if it is to fit.
    let fits = |exact: i128| {
        if signed(exact.cast_unsigned(), width) == exact { Ok(exact.cast_unsigned()) } else { Err(OVERFLOW) }
    };
    let fits_unsigned = |exact: Option<Bits>| exact.filter(|exact| exact >> width == 0).ok_or(OVERFLOW);
    let count = b as u32 % width;
    Ok(match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => a << count,
        BinOp::Shr => (x >> count).cast_unsigned(),
        BinOp::ShrUn => a >> count,
        BinOp::Div | BinOp::DivUn | BinOp::Rem | BinOp::RemUn if b == 0 => return Err(DIVIDE_BY_ZERO),
        BinOp::Div => fits(x / y)?,
        BinOp::Rem => {
            fits(x / y)?;
            (x % y).cast_unsigned()
        }
        BinOp::DivUn => a / b,
        BinOp::RemUn => a % b,
        BinOp::AddOvf => fits(x + y)?,
        BinOp::SubOvf => fits(x - y)?,
        BinOp::MulOvf => fits(x.checked_mul(y).ok_or(OVERFLOW)?)?,
        BinOp::AddOvfUn => fits_unsigned(a.checked_add(b))?,
        BinOp::SubOvfUn => fits_unsigned(a.checked_sub(b))?,
        BinOp::MulOvfUn => fits_unsigned(a.checked_mul(b))?,
        BinOp::FCopySign => panic!("no meaning for {op:?} of integers"),
    })
}

pub fn unary(op: UnOp, from: IrType, a: Bits) -> Bits {
    let width = if matches!(from, IrType::I32 | IrType::F32) { 32 } else { 64 };
    match op {
        UnOp::BitcastI32F32 | UnOp::BitcastF32I32 | UnOp::BitcastI64F64 | UnOp::BitcastF64I64 => return a,
        UnOp::Neg if matches!(from, IrType::F32 | IrType::F64) => return a ^ 1 << (width - 1),
        UnOp::Abs if matches!(from, IrType::F32 | IrType::F64) => return a & !(1 << (width - 1)),
        UnOp::Neg => return a.wrapping_neg(),
        UnOp::Not => return !a,
        UnOp::Abs => return signed(a, width).wrapping_abs().cast_unsigned(),
        UnOp::Clz => return Bits::from(a.leading_zeros() - (128 - width)),
        UnOp::Ctz => return Bits::from(a.trailing_zeros().min(width)),
        UnOp::Popcnt => return Bits::from(a.count_ones()),
        UnOp::Bswap => return a.swap_bytes() >> (128 - width),
        _ => {}
    }
    match from {
        IrType::F32 => {
            let x = f32_of(a);
            let result = match op {
                UnOp::Sqrt => x.sqrt(),
                UnOp::Floor => x.floor(),
                UnOp::Ceil => x.ceil(),
                UnOp::Trunc => x.trunc(),
                UnOp::RoundEven => x.round_ties_even(),
                other => panic!("no meaning for {other:?} of floats"),
            };
            result_f32(&[x], result).to_bits().into()
        }
        _ => {
            let x = f64_of(a);
            let result = match op {
                UnOp::Sqrt => x.sqrt(),
                UnOp::Floor => x.floor(),
                UnOp::Ceil => x.ceil(),
                UnOp::Trunc => x.trunc(),
                UnOp::RoundEven => x.round_ties_even(),
                other => panic!("no meaning for {other:?} of floats"),
            };
            result_f64(&[x], result).to_bits().into()
        }
    }
}

pub fn compare(op: CmpOp, ty: IrType, a: Bits, b: Bits) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let is_float = matches!(ty, IrType::F32 | IrType::F64);
    let width = if ty == IrType::I32 { 32 } else { 64 };
    let order = match ty {
        IrType::F32 => f32_of(a).partial_cmp(&f32_of(b)),
        IrType::F64 => f64_of(a).partial_cmp(&f64_of(b)),
        _ => Some(match op {
            CmpOp::LtUn | CmpOp::GtUn | CmpOp::LeUn | CmpOp::GeUn => a.cmp(&b),
            _ => signed(a, width).cmp(&signed(b, width)),
        }),
    };
    // Without an order, the comparisons named unsigned hold.
    let or_unordered = |holds: Option<bool>| holds.unwrap_or(is_float);
    match op {
        CmpOp::Eq => order == Some(Equal),
        CmpOp::NeUn => order != Some(Equal),
        CmpOp::Lt => order == Some(Less),
        CmpOp::Gt => order == Some(Greater),
        CmpOp::Le => matches!(order, Some(Less | Equal)),
        CmpOp::Ge => matches!(order, Some(Greater | Equal)),
        CmpOp::LtUn => or_unordered(order.map(|order| order == Less)),
        CmpOp::GtUn => or_unordered(order.map(|order| order == Greater)),
        CmpOp::LeUn => or_unordered(order.map(|order| order != Greater)),
        CmpOp::GeUn => or_unordered(order.map(|order| order != Less)),
    }
}

pub fn convert(
    (from, value): (IrType, Bits),
    target: ConvTarget,
    checked: bool,
    source_unsigned: bool,
    saturates: bool,
) -> Outcome {
    let width = if matches!(from, IrType::I32 | IrType::F32) { 32 } else { 64 };
    let Some((bits, is_signed)) = target.integer() else {
        return Ok(to_float(from, value, target, source_unsigned));
    };
    match from {
        IrType::F32 | IrType::F64 => {
            assert!(!checked, "checked conversions of floats are the runtime's");
            let number = if from == IrType::F32 { to_double(f32_of(value)) } else { f64_of(value) };
            Ok(float_to_integer(number, bits, is_signed, saturates))
        }
        _ => {
            let exact = if source_unsigned { value.cast_signed() } else { signed(value, width) };
            let range = match is_signed {
                true => -(1_i128 << (bits - 1))..1_i128 << (bits - 1),
                false => 0..1_i128 << bits,
            };
            if checked && !range.contains(&exact) {
                return Err(OVERFLOW);
            }
            // Only `conv.u8` and unsigned sources are extended by zeroes.
            let exact = if is_signed || checked { exact } else { value.cast_signed() };
            Ok(narrow(exact.cast_unsigned(), bits, is_signed))
        }
    }
}

/// The low bits, extended.
fn narrow(value: Bits, bits: u32, is_signed: bool) -> Bits {
    if is_signed { signed(value, bits).cast_unsigned() } else { value & ((1 << bits) - 1) }
}

/// Numbers that do not fit become what x64's instructions give, by way of an integer of 32 or 64 bits; or the nearest.
fn float_to_integer(number: f64, bits: u32, is_signed: bool, saturates: bool) -> Bits {
    if saturates {
        return match (bits, is_signed) {
            (64, true) => Bits::from((number as i64).cast_unsigned()),
            (64, false) => Bits::from(number as u64),
            (32, false) => Bits::from(number as u32),
            _ => narrow(Bits::from((number as i32).cast_unsigned()), bits, is_signed),
        };
    }
    let way = if bits == 64 || bits == 32 && !is_signed { 64 } else { 32 };
    let whole = number.trunc();
    let limit = f64::powi(2.0, way - 1);
    let fits = whole >= -limit && whole < limit;
    let integer = if fits { whole as i128 } else { -(1_i128 << (way - 1)) };
    narrow(integer.cast_unsigned(), bits, is_signed)
}

fn to_float(from: IrType, value: Bits, target: ConvTarget, source_unsigned: bool) -> Bits {
    let is_unsigned = source_unsigned || target == ConvTarget::RUn;
    let is_single = target == ConvTarget::R4;
    match from {
        IrType::F32 if is_single => value,
        IrType::F64 if !is_single => value,
        IrType::F32 => to_double(f32_of(value)).to_bits().into(),
        IrType::F64 => to_single(f64_of(value)).to_bits().into(),
        _ => {
            let exact = match is_unsigned {
                true => value.cast_signed(),
                false => signed(value, if from == IrType::I32 { 32 } else { 64 }),
            };
            if is_single { (exact as f32).to_bits().into() } else { (exact as f64).to_bits().into() }
        }
    }
}

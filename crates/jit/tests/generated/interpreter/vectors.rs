//! Operations on vectors, lane by lane.

use super::Bits;
use super::numbers::{f32_of, f64_of, result_f32, result_f64, signed, to_double, to_single};
use saki_il::ir::{Lanes, VectorOp};
use std::cmp::Ordering;

/// The bits of the lanes.
fn split(vector: Bits, bytes: u32) -> Vec<Bits> {
    let bits = 8 * bytes;
    (0..16 / bytes).map(|lane| vector >> (lane * bits) & mask(bits)).collect()
}

fn join(lanes: impl IntoIterator<Item = Bits>, bytes: u32) -> Bits {
    let bits = 8 * bytes;
    lanes.into_iter().enumerate().fold(0, |vector, (lane, value)| vector | (value & mask(bits)) << (lane as u32 * bits))
}

fn mask(bits: u32) -> Bits {
    Bits::MAX >> (128 - bits)
}

/// The lane as a number.
fn number(lane: Bits, lanes: Lanes) -> i128 {
    if lanes.is_unsigned() { lane.cast_signed() } else { signed(lane, 8 * lanes.bytes()) }
}

/// The number of this width that is nearest.
fn saturated(number: i128, bits: u32, is_unsigned: bool) -> Bits {
    let (least, greatest) = match is_unsigned {
        true => (0, (1 << bits) - 1),
        false => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
    };
    number.clamp(least, greatest).cast_unsigned()
}

/// The result of an operation; a vector, or a scalar as the operation says.
pub fn apply(op: VectorOp, lanes: Lanes, [a, b, c]: [Bits; 3]) -> Bits {
    use VectorOp as V;
    let (bytes, bits) = (lanes.bytes(), 8 * lanes.bytes());
    let each = |of: &dyn Fn(Bits) -> Bits| join(split(a, bytes).into_iter().map(of), bytes);
    let all_bytes = |of: &dyn Fn(usize) -> u8| Bits::from_le_bytes(std::array::from_fn(of));
    let (a_bytes, b_bytes) = (a.to_le_bytes(), b.to_le_bytes());
    match op {
        V::Splat => join(std::iter::repeat_n(a, lanes.count() as usize), bytes),
        V::Extract(lane) => {
            let value = split(a, bytes)[lane as usize];
            if lanes.is_float() { value } else { number(value, lanes).cast_unsigned() }
        }
        V::Insert(lane) => {
            let mut values = split(a, bytes);
            values[lane as usize] = b;
            join(values, bytes)
        }
        V::And => a & b,
        V::AndNot => a & !b,
        V::Or => a | b,
        V::Xor => a ^ b,
        V::Not => !a,
        V::BitSelect => a & b | !a & c,
        V::AllTrue => split(a, bytes).iter().all(|&lane| lane != 0).into(),
        V::AnyTrue => (a != 0).into(),
        V::HighBits => {
            split(a, bytes).iter().enumerate().fold(0, |found, (at, lane)| found | (lane >> (bits - 1)) << at)
        }
        V::ShiftLeft => each(&|lane| lane << (b as u32 % bits)),
        V::ShiftRight => each(&|lane| (signed(lane, bits) >> (b as u32 % bits)).cast_unsigned()),
        V::ShiftRightLogical => each(&|lane| lane >> (b as u32 % bits)),
        V::Shuffle => {
            let both = [a_bytes, b_bytes].concat();
            all_bytes(&|at| both[c.to_le_bytes()[at] as usize])
        }
        V::ShuffleBytes => all_bytes(&|at| match b_bytes[at] {
            0x80.. => 0,
            from => a_bytes[from as usize & 15],
        }),
        V::Neg if lanes.is_float() => each(&|lane| lane ^ 1 << (bits - 1)),
        V::Abs if lanes.is_float() => each(&|lane| lane & !(1 << (bits - 1))),
        V::Neg => each(&|lane| lane.wrapping_neg()),
        V::Abs => each(&|lane| number(lane, lanes).wrapping_abs().cast_unsigned()),
        V::Sqrt | V::Floor | V::Ceil | V::Truncate | V::Round => each(&|lane| float_unary(op, lanes, lane)),
        V::WidenLow | V::WidenHigh => {
            let values = split(a, bytes);
            let half = values.len() / 2;
            let values = if op == V::WidenLow { &values[..half] } else { &values[half..] };
            let wide = |&lane: &Bits| match lanes {
                Lanes::F32 => Bits::from(to_double(f32_of(lane)).to_bits()),
                _ => number(lane, lanes).cast_unsigned(),
            };
            join(values.iter().map(wide), 2 * bytes)
        }
        V::Narrow if lanes == Lanes::F64 => {
            let both = [split(a, 8), split(b, 8)].concat();
            join(both.into_iter().map(|lane| to_single(f64_of(lane)).to_bits().into()), 4)
        }
        V::Narrow => join([split(a, bytes), split(b, bytes)].concat(), bytes / 2),
        V::PackSigned | V::PackUnsigned => {
            let both = [split(a, bytes), split(b, bytes)].concat();
            let pack = |lane: Bits| saturated(signed(lane, bits), bits / 2, op == V::PackUnsigned);
            join(both.into_iter().map(pack), bytes / 2)
        }
        V::ToFloat => each(&|lane| (number(lane, lanes) as f32).to_bits().into()),
        V::ToDouble => join(split(a, 4)[..2].iter().map(|&lane| (number(lane, lanes) as f64).to_bits().into()), 8),
        V::ToSingle => join(split(a, 8).into_iter().map(|lane| to_single(f64_of(lane)).to_bits().into()), 4),
        V::ToInteger => each(&|lane| {
            let whole = f64::from(f32_of(lane)).trunc();
            let fits = whole >= f64::from(i32::MIN) && whole <= f64::from(i32::MAX);
            Bits::from(if fits { whole as i32 } else { i32::MIN }.cast_unsigned())
        }),
        V::MultiplyAddPairs => {
            let signs = if lanes == Lanes::U8 { Lanes::I8 } else { lanes };
            let products: Vec<i128> = split(a, bytes)
                .iter()
                .zip(split(b, bytes))
                .map(|(&x, y)| number(x, lanes) * number(y, signs))
                .collect();
            let sum = |pair: &[i128]| match lanes {
                Lanes::U8 => saturated(pair[0] + pair[1], 16, false),
                _ => (pair[0] + pair[1]).cast_unsigned(),
            };
            join(products.chunks(2).map(sum), 2 * bytes)
        }
        _ => {
            let pairs = split(a, bytes).into_iter().zip(split(b, bytes));
            join(
                pairs.map(|(x, y)| if lanes.is_float() { float(op, lanes, x, y) } else { integer(op, lanes, x, y) }),
                bytes,
            )
        }
    }
}

fn integer(op: VectorOp, lanes: Lanes, a: Bits, b: Bits) -> Bits {
    use VectorOp as V;
    let (x, y, bits) = (number(a, lanes), number(b, lanes), 8 * lanes.bytes());
    let mask = |holds: bool| if holds { Bits::MAX } else { 0 };
    match op {
        V::Add => a.wrapping_add(b),
        V::Sub => a.wrapping_sub(b),
        V::Mul => a.wrapping_mul(b),
        V::AddSaturated => saturated(x + y, bits, lanes.is_unsigned()),
        V::SubSaturated => saturated(x - y, bits, lanes.is_unsigned()),
        V::Average => (a + b).div_ceil(2),
        V::MultiplyHigh => ((x * y) >> bits).cast_unsigned(),
        V::Min => x.min(y).cast_unsigned(),
        V::Max => x.max(y).cast_unsigned(),
        V::Eq => mask(x == y),
        V::Lt => mask(x < y),
        V::Le => mask(x <= y),
        V::Gt => mask(x > y),
        V::Ge => mask(x >= y),
        other => panic!("no meaning for {other:?} of {lanes:?}"),
    }
}

fn float(op: VectorOp, lanes: Lanes, a: Bits, b: Bits) -> Bits {
    use VectorOp as V;
    let is_single = lanes == Lanes::F32;
    let order = match is_single {
        true => f32_of(a).partial_cmp(&f32_of(b)),
        false => f64_of(a).partial_cmp(&f64_of(b)),
    };
    let mask = |holds: bool| if holds { Bits::MAX } else { 0 };
    match op {
        V::Min => return if order == Some(Ordering::Less) { a } else { b },
        V::Max => return if order == Some(Ordering::Greater) { a } else { b },
        V::Eq => return mask(order == Some(Ordering::Equal)),
        V::Lt => return mask(order == Some(Ordering::Less)),
        V::Le => return mask(matches!(order, Some(Ordering::Less | Ordering::Equal))),
        V::Gt => return mask(order == Some(Ordering::Greater)),
        V::Ge => return mask(matches!(order, Some(Ordering::Greater | Ordering::Equal))),
        V::Unordered => return mask(order.is_none()),
        _ => {}
    }
    if is_single {
        let (x, y) = (f32_of(a), f32_of(b));
        let result = match op {
            V::Add => x + y,
            V::Sub => x - y,
            V::Mul => x * y,
            V::Div => x / y,
            other => panic!("no meaning for {other:?} of floats"),
        };
        return result_f32(&[x, y], result).to_bits().into();
    }
    let (x, y) = (f64_of(a), f64_of(b));
    let result = match op {
        V::Add => x + y,
        V::Sub => x - y,
        V::Mul => x * y,
        V::Div => x / y,
        other => panic!("no meaning for {other:?} of floats"),
    };
    result_f64(&[x, y], result).to_bits().into()
}

fn float_unary(op: VectorOp, lanes: Lanes, a: Bits) -> Bits {
    use saki_il::ir::{IrType, UnOp};
    let op = match op {
        VectorOp::Sqrt => UnOp::Sqrt,
        VectorOp::Floor => UnOp::Floor,
        VectorOp::Ceil => UnOp::Ceil,
        VectorOp::Truncate => UnOp::Trunc,
        _ => UnOp::RoundEven,
    };
    super::numbers::unary(op, if lanes == Lanes::F32 { IrType::F32 } else { IrType::F64 }, a)
}

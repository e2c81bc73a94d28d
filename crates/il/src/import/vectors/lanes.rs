//! Operations on lanes: one IR operation each, or a short sequence where no processor has such an instruction.

use super::rows::{Permutation, VectorCall};
use super::values::VectorEmitter;
use crate::import::stack::{Effect, StackEntry};
use crate::ir::{BinOp, CmpOp, ConvTarget, IrType, Lanes, MemType, Op, UnOp, ValueId, VectorOp};
use crate::vector_types::VectorType;
use saki_types::LoadResult;

impl VectorEmitter<'_, '_> {
    /// An operation on vectors and scalars whose result is a vector. None: not handled, without effect.
    pub(super) fn lane_call(
        &mut self,
        call: VectorCall,
        vector: VectorType,
        args: &[StackEntry],
        result: Option<VectorType>,
    ) -> LoadResult<Option<ValueId>> {
        use VectorCall as C;
        use VectorOp as V;
        let VectorType { lanes, mem, count } = vector;
        if let C::PermuteBy(permutation) = call {
            return self.permuted_by(permutation, vector, args);
        }
        let a = match call {
            C::OfScalar(_) => self.splat(&args[0], vector)?,
            _ => self.vector_value(&args[0], mem)?,
        };
        let b = match call {
            C::Binary(_) | C::Swapped(_) | C::Propagating(_) | C::Pairwise(_) | C::SubtractAdd => true,
            C::Quotients | C::Narrow | C::Lerp | C::Clamp | C::Cross | C::OfScalar(_) | C::Differences => true,
            C::Mix | C::Reflect | C::ReflectScalarsFirst => true,
            C::Complement(_) => true,
            C::Permute(_) => args.len() > 1,
            C::Select => true,
            _ => false,
        };
        let b = if b { self.vector_value(&args[1], mem)? } else { a };
        Ok(Some(match call {
            C::Unary(op) => self.vector_unary(op, lanes, a),
            C::Binary(op @ (V::PackSigned | V::PackUnsigned)) => self.vector_binary(op, lanes.as_signed(), a, b),
            C::Binary(V::Div) if count < lanes.count() => {
                let quotients = self.vector_binary(V::Div, lanes, a, b);
                self.first_lanes(quotients, count)
            }
            C::Binary(op) | C::OfScalar(op) => self.vector_binary(op, lanes, a, b),
            C::Swapped(op) => self.vector_binary(op, lanes, b, a),
            C::Complement(op) => {
                let value = self.vector_binary(op, lanes, a, b);
                self.vector_unary(V::Not, lanes, value)
            }
            C::ByScalar(op) => {
                let b = self.splat(&args[1], vector)?;
                self.vector_binary(op, lanes, a, b)
            }
            C::ScalarFirst(op) => {
                let b = self.splat(&args[1], vector)?;
                self.vector_binary(op, lanes, b, a)
            }
            C::Magnitude => self.magnitude(a, lanes),
            C::FromZero => {
                let zero = self.bits([0; 16]);
                self.vector_binary(V::Sub, lanes, zero, a)
            }
            C::Select => {
                let c = self.vector_value(&args[2], mem)?;
                self.vector_op(V::BitSelect, lanes, a, Some(b), Some(c))
            }
            C::Reinterpret => a,
            C::Narrow => self.vector_binary(V::Narrow, lanes, a, b),
            C::Convert(op) => self.vector_unary(op, lanes, a),
            C::ConvertEach(target) => {
                let Some(to) = result else { return Ok(None) };
                self.lane_by_lane(count, lanes, to.lanes, a, |this, x| this.emit.b.conv(x, target))
            }
            C::Quotients => self.quotients(lanes, count, a, b),
            C::Roots => self.lane_by_lane(count, lanes, lanes, a, |this, x| this.integer_root(x, lanes)),
            C::Lerp => {
                let amount = self.splat(&args[2], vector)?;
                let way = self.vector_binary(V::Sub, lanes, b, a);
                let way = self.vector_binary(V::Mul, lanes, way, amount);
                self.vector_binary(V::Add, lanes, a, way)
            }
            C::Mix => {
                let amount = self.lane_value(&args[2], lanes)?;
                let one = self.emit.b.inst(Op::ConstF32(1.0), IrType::F32);
                let rest = self.emit.b.inst(Op::Bin(BinOp::Sub, one, amount), IrType::F32);
                let (rest, amount) = (self.splat_value(rest, vector), self.splat_value(amount, vector));
                let (a, b) = (self.vector_binary(V::Mul, lanes, a, rest), self.vector_binary(V::Mul, lanes, b, amount));
                self.vector_binary(V::Add, lanes, a, b)
            }
            C::Reflect => {
                let dot = self.vector_dot(lanes, count, a, b);
                let two = self.emit.b.inst(Op::ConstF32(2.0), IrType::F32);
                let (dot, two) = (self.splat_value(dot, vector), self.splat_value(two, vector));
                let way = self.vector_binary(V::Mul, lanes, b, dot);
                let way = self.vector_binary(V::Mul, lanes, way, two);
                self.vector_binary(V::Sub, lanes, a, way)
            }
            C::ReflectScalarsFirst => {
                let dot = self.vector_dot(lanes, count, a, b);
                let two = self.emit.b.inst(Op::ConstF32(2.0), IrType::F32);
                let twice = self.emit.b.inst(Op::Bin(BinOp::Mul, two, dot), IrType::F32);
                let twice = self.splat_value(twice, vector);
                let way = self.vector_binary(V::Mul, lanes, twice, b);
                self.vector_binary(V::Sub, lanes, a, way)
            }
            C::Clamp => {
                let most = self.vector_value(&args[2], mem)?;
                let value = self.vector_binary(V::Min, lanes, most, a);
                self.vector_binary(V::Max, lanes, b, value)
            }
            C::Cross => self.cross(a, b),
            C::Shift(op) => {
                let amount = self.emit.value(&args[1])?;
                let amount = self.emit.fit(amount, IrType::I32);
                self.shifted(op, lanes, a, amount)
            }
            C::Permute(bytes) => self.permuted(a, b, bytes),
            C::Propagating(op) => {
                let compare = if op == V::Min { V::Lt } else { V::Gt };
                let is_chosen = self.vector_binary(compare, lanes, a, b);
                let is_nan = self.vector_binary(V::Unordered, lanes, a, a);
                let mask = self.vector_binary(V::Or, lanes, is_chosen, is_nan);
                self.vector_op(V::BitSelect, lanes, mask, Some(a), Some(b))
            }
            C::Pairwise(op) => {
                let (even, odd) = match lanes.bytes() {
                    4 => ([0, 2, 4, 6], [1, 3, 5, 7]),
                    _ => ([0, 1, 4, 5], [2, 3, 6, 7]),
                };
                let (even, odd) = (self.permuted(a, b, by_fours(even)), self.permuted(a, b, by_fours(odd)));
                self.vector_binary(op, lanes, even, odd)
            }
            C::SubtractAdd => {
                let (low, high) = (self.vector_binary(V::Sub, lanes, a, b), self.vector_binary(V::Add, lanes, a, b));
                let turns = if lanes.bytes() == 4 { [0, 5, 2, 7] } else { [0, 1, 6, 7] };
                self.permuted(low, high, by_fours(turns))
            }
            C::Reciprocal => {
                let one = self.emit.b.inst(Op::ConstF32(1.0), IrType::F32);
                let one = self.splat_value(one, vector);
                self.vector_binary(V::Div, lanes, one, a)
            }
            C::InverseRoot => self.inverse_roots(a),
            C::Rounded if lanes == Lanes::F32 => {
                let value = self.vector_unary(V::Round, lanes, a);
                self.vector_unary(V::ToInteger, lanes, value)
            }
            C::Rounded => {
                let value = self.vector_unary(V::Round, lanes, a);
                self.lane_by_lane(count, lanes, Lanes::I32, value, |this, x| this.emit.b.conv(x, ConvTarget::I4))
            }
            C::Truncated => {
                self.lane_by_lane(count, lanes, Lanes::I32, a, |this, x| this.emit.b.conv(x, ConvTarget::I4))
            }
            C::Differences => self.differences(a, b),
            _ => return Ok(None),
        }))
    }

    /// Applies a scalar operation to each of the first lanes; the others are zero.
    fn lane_by_lane(
        &mut self,
        count: u32,
        from: Lanes,
        to: Lanes,
        value: ValueId,
        mut each: impl FnMut(&mut Self, ValueId) -> ValueId,
    ) -> ValueId {
        let mut all = self.bits([0; 16]);
        for lane in 0..count as u8 {
            let scalar = self.vector_unary(VectorOp::Extract(lane), from, value);
            let scalar = each(self, scalar);
            all = self.vector_binary(VectorOp::Insert(lane), to, all, scalar);
        }
        all
    }

    /// Integer division lane by lane; throws the exceptions of scalar division.
    fn quotients(&mut self, lanes: Lanes, count: u32, a: ValueId, b: ValueId) -> ValueId {
        let op = if lanes.is_unsigned() { BinOp::DivUn } else { BinOp::Div };
        let mut lane = 0;
        self.lane_by_lane(count, lanes, lanes, a, |this, dividend| {
            let divisor = this.vector_unary(VectorOp::Extract(lane), lanes, b);
            lane += 1;
            this.emit.b.inst(Op::Bin(op, dividend, divisor), lanes.scalar())
        })
    }

    /// Roots of integers, computed as `(T)Math.Sqrt(x)`.
    fn integer_root(&mut self, value: ValueId, lanes: Lanes) -> ValueId {
        use ConvTarget as T;
        let to_float = if matches!(lanes, Lanes::U32 | Lanes::U64) { T::RUn } else { T::R8 };
        let value = self.emit.b.conv(value, to_float);
        let root = self.emit.b.inst(Op::Un(UnOp::Sqrt, value), IrType::F64);
        let back = match lanes {
            Lanes::I8 => T::I1,
            Lanes::U8 => T::U1,
            Lanes::I16 => T::I2,
            Lanes::U16 => T::U2,
            Lanes::I32 => T::I4,
            Lanes::U32 => T::U4,
            Lanes::I64 => T::I8,
            _ => T::U8,
        };
        self.emit.b.conv(root, back)
    }

    /// Absolute values of signed integers.
    fn magnitude(&mut self, value: ValueId, lanes: Lanes) -> ValueId {
        let value = self.vector_unary(VectorOp::Abs, lanes, value);
        let zero = self.bits([0; 16]);
        let is_least = self.vector_binary(VectorOp::Lt, lanes, value, zero);
        let any = self.vector_unary(VectorOp::AnyTrue, lanes, is_least);
        // 0 or −1; the checked conversion to an unsigned number throws OverflowException for −1.
        let none = self.emit.b.i32(0);
        let flag = self.emit.b.inst(Op::Bin(BinOp::Sub, none, any), IrType::I32);
        self.emit
            .b
            .inst(Op::Conv { value: flag, target: ConvTarget::U4, checked: true, source_unsigned: false }, IrType::I32);
        value
    }

    /// The dot product. Floats are added in the class library's order, so that results round alike. Integers wrap at
    /// the width of a lane, so the order is free.
    pub(super) fn vector_dot(&mut self, lanes: Lanes, count: u32, a: ValueId, b: ValueId) -> ValueId {
        let products = self.vector_binary(VectorOp::Mul, lanes, a, b);
        if !lanes.is_float() {
            let sums = self.folded(products, lanes);
            return self.vector_unary(VectorOp::Extract(0), lanes, sums);
        }
        let ir = lanes.scalar();
        let mut sum = self.vector_unary(VectorOp::Extract(0), lanes, products);
        for lane in 1..count as u8 {
            let product = self.vector_unary(VectorOp::Extract(lane), lanes, products);
            sum = self.emit.b.inst(Op::Bin(BinOp::Add, sum, product), ir);
        }
        sum
    }

    /// The sum of all integer lanes, in each lane.
    pub(super) fn folded(&mut self, value: ValueId, lanes: Lanes) -> ValueId {
        let (mut sum, mut distance) = (value, 8);
        while u32::from(distance) >= lanes.bytes() {
            let moved = self.permuted(sum, sum, std::array::from_fn(|byte| (byte as u8 + distance) % 16));
            sum = self.vector_binary(VectorOp::Add, lanes, sum, moved);
            distance /= 2;
        }
        sum
    }

    pub(super) fn vector_widen(&mut self, lanes: Lanes, args: &[StackEntry]) -> LoadResult<bool> {
        let source = self.vector_value(&args[0], MemType::V128)?;
        let halves = [VectorOp::WidenLow, VectorOp::WidenHigh].map(|op| self.vector_unary(op, lanes, source));
        self.emit.spill(Effect::Memory)?;
        for (half, target) in halves.into_iter().zip(&args[1..]) {
            self.store_vector(target, half, MemType::V128)?;
        }
        Ok(true)
    }

    /// The cross product of the first three lanes; the last one stays zero.
    pub(super) fn cross(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let (left, right) = (by_fours([1, 2, 0, 3]), by_fours([2, 0, 1, 3]));
        let (a1, b1) = (self.permuted(a, a, left), self.permuted(b, b, right));
        let (a2, b2) = (self.permuted(a, a, right), self.permuted(b, b, left));
        let (x, y) = (
            self.vector_binary(VectorOp::Mul, Lanes::F32, a1, b1),
            self.vector_binary(VectorOp::Mul, Lanes::F32, a2, b2),
        );
        self.vector_binary(VectorOp::Sub, Lanes::F32, x, y)
    }

    /// Shifts as C# does, which uses 5 bits of the amount for lanes of 2 and 4 bytes and 6 for lanes of 8; the IR
    /// operations take it modulo the lane's width.
    fn shifted(&mut self, op: VectorOp, lanes: Lanes, value: ValueId, amount: ValueId) -> ValueId {
        if lanes.bytes() != 2 {
            return self.vector_binary(op, lanes, value, amount);
        }
        let bits = self.emit.b.const_i32(amount).map(|amount| amount & 31);
        if bits.is_some_and(|bits| bits > 15) && op != VectorOp::ShiftRight {
            return self.bits([0; 16]);
        }
        if let Some(bits) = bits {
            let amount = self.emit.b.i32(bits.min(15));
            return self.vector_binary(op, lanes, value, amount);
        }
        let (mask, width) = (self.emit.b.i32(31), self.emit.b.i32(16));
        let amount = self.emit.b.inst(Op::Bin(BinOp::And, amount, mask), IrType::I32);
        if op == VectorOp::ShiftRight {
            let most = self.emit.b.i32(15);
            let is_less = self.emit.b.inst(Op::Cmp(CmpOp::Lt, amount, width), IrType::I32);
            let amount = self.emit.b.inst(Op::Select(is_less, amount, most), IrType::I32);
            return self.vector_binary(op, lanes, value, amount);
        }
        let value = self.vector_binary(op, lanes, value, amount);
        // A mask with all bits set if the amount is less than 16, else none.
        let difference = self.emit.b.inst(Op::Bin(BinOp::Sub, amount, width), IrType::I32);
        let mask = self.emit.b.inst(Op::Bin(BinOp::Shr, difference, mask), IrType::I32);
        let mask = self.vector_unary(VectorOp::Splat, lanes, mask);
        self.vector_binary(VectorOp::And, lanes, value, mask)
    }

    fn permuted_by(
        &mut self,
        permutation: Permutation,
        vector: VectorType,
        args: &[StackEntry],
    ) -> LoadResult<Option<ValueId>> {
        let chosen = self.emit.value(args.last().expect("a method with parameters"))?;
        let Some(chosen) = self.emit.b.const_i32(chosen) else { return Ok(None) };
        let pick = |lane: u32, bits: u32| (chosen as u32 >> (lane * bits) & ((1 << bits) - 1)) as u8;
        let bytes = match (permutation, vector.lanes.bytes()) {
            (Permutation::Lanes, 4) => by_fours([pick(0, 2), pick(1, 2), 4 + pick(2, 2), 4 + pick(3, 2)]),
            (Permutation::Lanes, _) => {
                let (x, y) = (2 * pick(0, 1), 4 + 2 * pick(1, 1));
                by_fours([x, x + 1, y, y + 1])
            }
            (permutation, _) => std::array::from_fn(|byte| {
                let (lane, byte) = (byte as u8 / 2, byte as u8 % 2);
                let lane = match (permutation, lane) {
                    (Permutation::High, 4..) => 4 + pick(u32::from(lane) - 4, 2),
                    (Permutation::Low, 0..4) => pick(u32::from(lane), 2),
                    _ => lane,
                };
                2 * lane + byte
            }),
        };
        let a = self.vector_value(&args[0], vector.mem)?;
        let b = if args.len() == 3 { self.vector_value(&args[1], vector.mem)? } else { a };
        Ok(Some(self.permuted(a, b, bytes)))
    }

    /// 1 / √x, computed in double precision and rounded at the end.
    fn inverse_roots(&mut self, value: ValueId) -> ValueId {
        let one = self.emit.b.inst(Op::ConstF64(1.0), IrType::F64);
        let one = self.splat_value(one, VectorType { lanes: Lanes::F64, count: 2, mem: MemType::V128 });
        let [low, high] = [VectorOp::WidenLow, VectorOp::WidenHigh].map(|half| {
            let wide = self.vector_unary(half, Lanes::F32, value);
            let root = self.vector_unary(VectorOp::Sqrt, Lanes::F64, wide);
            self.vector_binary(VectorOp::Div, Lanes::F64, one, root)
        });
        self.vector_binary(VectorOp::Narrow, Lanes::F64, low, high)
    }

    /// Sums of absolute differences of bytes. The class library reads the second operand's bytes as signed, unlike the
    /// processor's instruction.
    fn differences(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let [low, high] = [VectorOp::WidenLow, VectorOp::WidenHigh].map(|half| {
            let (x, y) = (self.vector_unary(half, Lanes::U8, a), self.vector_unary(half, Lanes::I8, b));
            let difference = self.vector_binary(VectorOp::Sub, Lanes::I16, x, y);
            let magnitudes = self.vector_unary(VectorOp::Abs, Lanes::I16, difference);
            self.folded(magnitudes, Lanes::I16)
        });
        let sums = self.permuted(low, high, by_fours([0, 1, 4, 5]));
        let mask = self.bits(std::array::from_fn(|byte| if byte % 8 < 2 { 0xff } else { 0 }));
        self.vector_binary(VectorOp::And, Lanes::I16, sums, mask)
    }
}

/// The byte permutation that selects lanes of 4 bytes: 0–3 of the first operand, 4–7 of the second one.
pub(super) fn by_fours(lanes: [u8; 4]) -> [u8; 16] {
    std::array::from_fn(|byte| 4 * lanes[byte / 4] + byte as u8 % 4)
}

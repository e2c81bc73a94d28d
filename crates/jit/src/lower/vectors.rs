//! Operations on vectors of 16 bytes.
//!
//! Between operations a vector is an I8X16; each operation views it as the lanes that it names. An operation without an instruction on the processor
//! becomes a short sequence of others, with bit-identical results.

use super::{Lowered, Lowering, MemoryKind};
use crate::error::CompileError;
use crate::vector_memory::{self, VECTOR};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::V128Imm;
use cranelift_codegen::ir::{ConstantData, InstBuilder, MemFlagsData, Type, Value, types};
use saki_il::ir::{IrType, Lanes, MemType, Op, ValueId, VectorOp};

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

impl Lowering<'_, '_> {
    pub(super) fn vector_const(&mut self, bits: u128) -> Value {
        let data = ConstantData::from(V128Imm(bits.to_le_bytes()).0.as_slice());
        let constant = self.b.func.dfg.constants.insert(data);
        self.b.ins().vconst(VECTOR, constant)
    }

    fn as_lanes(&mut self, value: Value, ty: Type) -> Value {
        vector_memory::as_lanes(&mut self.b, value, ty)
    }

    fn operand(&mut self, id: Option<ValueId>, lanes: Lanes) -> Lowered<Value> {
        let id = id.ok_or_else(|| CompileError::invalid_ir("a vector operation lacks an operand"))?;
        let value = self.value(id)?;
        Ok(self.as_lanes(value, lane_type(lanes)))
    }

    /// A scalar operand, in the type of a lane.
    fn lane_operand(&mut self, id: Option<ValueId>, lanes: Lanes) -> Lowered<Value> {
        let id = id.ok_or_else(|| CompileError::invalid_ir("a vector operation lacks an operand"))?;
        let lane = lane_type(lanes).lane_type();
        let value = self.value(id)?;
        if self.type_of(value) == lane { Ok(value) } else { self.coerce(value, lane) }
    }

    pub(super) fn vector(
        &mut self,
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
                let scalar = self.lane_operand(Some(a), lanes)?;
                self.b.ins().splat(ty, scalar)
            }
            V::Extract(lane) => {
                let vector = self.operand(Some(a), lanes)?;
                let value = self.b.ins().extractlane(vector, lane);
                return Ok(self.extended(value, lanes));
            }
            V::Insert(lane) => {
                let vector = self.operand(Some(a), lanes)?;
                let scalar = self.lane_operand(b, lanes)?;
                self.b.ins().insertlane(vector, scalar, lane)
            }
            V::AllTrue | V::AnyTrue => {
                let vector = self.operand(Some(a), lanes.as_signed())?;
                let flag = match op {
                    V::AllTrue => self.b.ins().vall_true(vector),
                    _ => self.b.ins().vany_true(vector),
                };
                return Ok(self.b.ins().uextend(types::I32, flag));
            }
            V::HighBits => {
                let vector = self.operand(Some(a), lanes.as_signed())?;
                return Ok(self.b.ins().vhigh_bits(types::I32, vector));
            }
            V::BitSelect => {
                let mask = self.operand(Some(a), Lanes::I8)?;
                let (yes, no) = (self.operand(b, Lanes::I8)?, self.operand(c, Lanes::I8)?);
                self.b.ins().bitselect(mask, yes, no)
            }
            V::ShiftLeft | V::ShiftRight | V::ShiftRightLogical => {
                let vector = self.operand(Some(a), lanes.as_signed())?;
                let count = b.ok_or_else(|| CompileError::invalid_ir("a shift lacks its count"))?;
                let count = self.value_as(count, types::I32)?;
                match op {
                    V::ShiftLeft => self.b.ins().ishl(vector, count),
                    V::ShiftRight => self.b.ins().sshr(vector, count),
                    _ => self.b.ins().ushr(vector, count),
                }
            }
            V::Shuffle => self.shuffle(a, b, c)?,
            V::Narrow => self.narrow_lanes(a, b, lanes)?,
            V::PackSigned | V::PackUnsigned => {
                let (low, high) = (self.operand(Some(a), lanes)?, self.operand(b, lanes)?);
                if !matches!(lanes, Lanes::I16 | Lanes::I32) {
                    return Err(CompileError::invalid_ir(format!("{op:?} of {lanes:?}")));
                }
                let ins = self.b.ins();
                if op == V::PackSigned { ins.snarrow(low, high) } else { ins.unarrow(low, high) }
            }
            V::Not | V::Neg | V::Abs | V::Sqrt | V::Floor | V::Ceil | V::Round => self.vector_unary(op, lanes, a)?,
            V::WidenLow | V::WidenHigh | V::ToFloat | V::ToInteger | V::ToDouble | V::ToSingle => {
                self.vector_conversion(op, lanes, a)?
            }
            _ => {
                let left = self.operand(Some(a), lanes)?;
                let right = self.operand(b, lanes)?;
                self.vector_binary(op, lanes, left, right)?
            }
        };
        Ok(self.as_lanes(result, VECTOR))
    }

    fn extended(&mut self, value: Value, lanes: Lanes) -> Value {
        match lanes {
            Lanes::I8 | Lanes::I16 => self.b.ins().sextend(types::I32, value),
            Lanes::U8 | Lanes::U16 => self.b.ins().uextend(types::I32, value),
            _ => value,
        }
    }

    fn vector_unary(&mut self, op: VectorOp, lanes: Lanes, a: ValueId) -> Lowered<Value> {
        use VectorOp as V;
        let vector = self.operand(Some(a), lanes)?;
        let is_float = lanes.is_float();
        let ins = self.b.ins();
        Ok(match op {
            V::Not => {
                let bits = self.as_lanes(vector, VECTOR);
                self.b.ins().bnot(bits)
            }
            V::Neg if is_float => ins.fneg(vector),
            V::Neg => ins.ineg(vector),
            V::Abs if is_float => ins.fabs(vector),
            V::Abs if lanes.is_unsigned() => vector,
            V::Abs => ins.iabs(vector),
            V::Sqrt if is_float => ins.sqrt(vector),
            V::Floor if is_float => ins.floor(vector),
            V::Ceil if is_float => ins.ceil(vector),
            V::Round if is_float => ins.nearest(vector),
            _ => return Err(CompileError::invalid_ir(format!("{op:?} of {lanes:?}"))),
        })
    }

    fn vector_binary(&mut self, op: VectorOp, lanes: Lanes, a: Value, b: Value) -> Lowered<Value> {
        use VectorOp as V;
        let is_float = lanes.is_float();
        let ins = self.b.ins();
        Ok(match op {
            V::Add if is_float => ins.fadd(a, b),
            V::Sub if is_float => ins.fsub(a, b),
            V::Mul if is_float => ins.fmul(a, b),
            V::Div if is_float => ins.fdiv(a, b),
            V::Add => ins.iadd(a, b),
            V::Sub => ins.isub(a, b),
            V::Mul if lanes.bytes() == 1 => self.multiply_bytes(a, b),
            V::Mul => ins.imul(a, b),
            V::AddSaturated | V::SubSaturated if lanes.bytes() <= 2 => match (op, lanes.is_unsigned()) {
                (V::AddSaturated, false) => ins.sadd_sat(a, b),
                (V::AddSaturated, true) => ins.uadd_sat(a, b),
                (_, false) => ins.ssub_sat(a, b),
                (_, true) => ins.usub_sat(a, b),
            },
            V::Average if lanes.is_unsigned() && lanes.bytes() <= 2 => ins.avg_round(a, b),
            V::MultiplyHigh if lanes.bytes() == 2 => self.multiply_high(a, b, lanes.is_unsigned()),
            V::Unordered if is_float => ins.fcmp(FloatCC::Unordered, a, b),
            V::And | V::AndNot | V::Or | V::Xor => {
                let (a, b) = (self.as_lanes(a, VECTOR), self.as_lanes(b, VECTOR));
                let ins = self.b.ins();
                match op {
                    V::And => ins.band(a, b),
                    V::AndNot => ins.band_not(a, b),
                    V::Or => ins.bor(a, b),
                    _ => ins.bxor(a, b),
                }
            }
            V::Min | V::Max => self.minimum_or_maximum(op, lanes, a, b),
            V::Eq | V::Lt | V::Le | V::Gt | V::Ge => self.vector_compare(op, lanes, a, b),
            _ => return Err(CompileError::invalid_ir(format!("{op:?} of {lanes:?}"))),
        })
    }

    /// Multiplies bytes, by 16-bit products of the even and of the odd bytes.
    fn multiply_bytes(&mut self, a: Value, b: Value) -> Value {
        let (a, b) = (self.as_lanes(a, types::I16X8), self.as_lanes(b, types::I16X8));
        let even = self.b.ins().imul(a, b);
        let low_bytes = self.vector_const(u128::from_le_bytes([
            0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0,
        ]));
        let low_bytes = self.as_lanes(low_bytes, types::I16X8);
        let even = self.b.ins().band(even, low_bytes);
        let eight = self.i32_const(8);
        let (a, b) = (self.b.ins().ushr(a, eight), self.b.ins().ushr(b, eight));
        let odd = self.b.ins().imul(a, b);
        let odd = self.b.ins().ishl(odd, eight);
        self.b.ins().bor(even, odd)
    }

    /// The upper 16 bits of the products of 16-bit lanes, by 32-bit products.
    fn multiply_high(&mut self, a: Value, b: Value, is_unsigned: bool) -> Value {
        let sixteen = self.i32_const(16);
        let mut halves = [a, b];
        for (index, half) in halves.iter_mut().enumerate() {
            let [x, y] = [a, b].map(|v| match (index, is_unsigned) {
                (0, false) => self.b.ins().swiden_low(v),
                (0, true) => self.b.ins().uwiden_low(v),
                (_, false) => self.b.ins().swiden_high(v),
                (_, true) => self.b.ins().uwiden_high(v),
            });
            let product = self.b.ins().imul(x, y);
            *half = if is_unsigned { self.b.ins().ushr(product, sixteen) } else { self.b.ins().sshr(product, sixteen) };
        }
        // The values fit, so that none is saturated.
        let [low, high] = halves;
        if is_unsigned { self.b.ins().unarrow(low, high) } else { self.b.ins().snarrow(low, high) }
    }

    fn minimum_or_maximum(&mut self, op: VectorOp, lanes: Lanes, a: Value, b: Value) -> Value {
        let is_minimum = op == VectorOp::Min;
        if !lanes.is_float() && lanes.bytes() < 8 {
            let ins = self.b.ins();
            return match (is_minimum, lanes.is_unsigned()) {
                (true, true) => ins.umin(a, b),
                (true, false) => ins.smin(a, b),
                (false, true) => ins.umax(a, b),
                (false, false) => ins.smax(a, b),
            };
        }
        // `b < a`, not `a > b`: the code generator knows the pattern of `maxps`.
        let (left, right) = if is_minimum { (a, b) } else { (b, a) };
        let mask = self.vector_compare(VectorOp::Lt, lanes, left, right);
        let mask = self.as_lanes(mask, lane_type(lanes));
        self.b.ins().bitselect(mask, a, b)
    }

    fn vector_compare(&mut self, op: VectorOp, lanes: Lanes, a: Value, b: Value) -> Value {
        use VectorOp as V;
        if lanes.is_float() {
            let condition = match op {
                V::Eq => FloatCC::Equal,
                V::Lt => FloatCC::LessThan,
                V::Le => FloatCC::LessThanOrEqual,
                V::Gt => FloatCC::GreaterThan,
                _ => FloatCC::GreaterThanOrEqual,
            };
            return self.b.ins().fcmp(condition, a, b);
        }
        // There is no unsigned comparison of 64 bits, so the sign bits are inverted.
        let (mut a, mut b) = (a, b);
        if lanes == Lanes::U64 && op != V::Eq {
            let signs = self.vector_const(u128::from(1_u64 << 63) << 64 | u128::from(1_u64 << 63));
            let signs = self.as_lanes(signs, types::I64X2);
            a = self.b.ins().bxor(a, signs);
            b = self.b.ins().bxor(b, signs);
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
        self.b.ins().icmp(condition, a, b)
    }

    fn vector_conversion(&mut self, op: VectorOp, lanes: Lanes, a: ValueId) -> Lowered<Value> {
        use VectorOp as V;
        let vector = self.operand(Some(a), lanes)?;
        let is_low = op == V::WidenLow;
        Ok(match (op, lanes) {
            (V::ToFloat, Lanes::I32) => self.b.ins().fcvt_from_sint(types::F32X4, vector),
            (V::ToFloat, Lanes::U32) => self.b.ins().fcvt_from_uint(types::F32X4, vector),
            (V::ToDouble, Lanes::I32) => {
                let wide = self.b.ins().swiden_low(vector);
                self.b.ins().fcvt_from_sint(types::F64X2, wide)
            }
            (V::ToSingle, Lanes::F64) => self.b.ins().fvdemote(vector),
            (V::ToInteger, Lanes::F32) => self.b.ins().x86_cvtt2dq(types::I32X4, vector),
            (V::WidenLow | V::WidenHigh, Lanes::F32) => {
                let half = if is_low { vector } else { self.high_half(vector) };
                self.b.ins().fvpromote_low(half)
            }
            (V::WidenLow | V::WidenHigh, Lanes::I8 | Lanes::I16 | Lanes::I32) => {
                if is_low {
                    self.b.ins().swiden_low(vector)
                } else {
                    self.b.ins().swiden_high(vector)
                }
            }
            (V::WidenLow | V::WidenHigh, Lanes::U8 | Lanes::U16 | Lanes::U32) => {
                if is_low {
                    self.b.ins().uwiden_low(vector)
                } else {
                    self.b.ins().uwiden_high(vector)
                }
            }
            _ => return Err(CompileError::invalid_ir(format!("{op:?} of {lanes:?}"))),
        })
    }

    /// Moves the upper 8 bytes to the lower half.
    fn high_half(&mut self, vector: Value) -> Value {
        let ty = self.type_of(vector);
        let bytes = self.as_lanes(vector, VECTOR);
        let high = self.shuffled(bytes, bytes, [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15]);
        self.as_lanes(high, ty)
    }

    fn shuffled(&mut self, a: Value, b: Value, bytes: [u8; 16]) -> Value {
        let mask = self.b.func.dfg.immediates.push(ConstantData::from(bytes.as_slice()));
        self.b.ins().shuffle(a, b, mask)
    }

    fn shuffle(&mut self, a: ValueId, b: Option<ValueId>, c: Option<ValueId>) -> Lowered<Value> {
        let (left, right) = (self.operand(Some(a), Lanes::I8)?, self.operand(b, Lanes::I8)?);
        let Some(Op::ConstV128(mask)) = c.and_then(|c| self.func.insts.get(c.0 as usize)).map(|inst| &inst.op) else {
            return Err(CompileError::invalid_ir("a shuffle by a mask that is not constant"));
        };
        let mask = mask.to_le_bytes();
        if mask.iter().any(|&byte| byte > 31) {
            return Err(CompileError::invalid_ir("a shuffle by bytes that are not there"));
        }
        Ok(self.shuffled(left, right, mask))
    }

    fn narrow_lanes(&mut self, a: ValueId, b: Option<ValueId>, lanes: Lanes) -> Lowered<Value> {
        let (low, high) = (self.operand(Some(a), lanes)?, self.operand(b, lanes)?);
        if lanes == Lanes::F64 {
            let (low, high) = (self.b.ins().fvdemote(low), self.b.ins().fvdemote(high));
            let (low, high) = (self.as_lanes(low, VECTOR), self.as_lanes(high, VECTOR));
            return Ok(self.shuffled(low, high, [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]));
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
        let (low, high) = (self.as_lanes(low, VECTOR), self.as_lanes(high, VECTOR));
        Ok(self.shuffled(low, high, bytes))
    }

    /// The value of a vector operand, which is a value or an address.
    pub(super) fn vector_operand(&mut self, id: ValueId, mem: MemType) -> Lowered<Value> {
        if self.func.insts.get(id.0 as usize).is_some_and(|inst| inst.ty == IrType::V128) {
            return self.value(id);
        }
        let address = self.value_as(id, types::I64)?;
        let flags = self.unaligned();
        Ok(vector_memory::load(&mut self.b, address, 0, mem, flags))
    }

    /// Writes a vector to memory of the frame, or of a caller's.
    pub(super) fn store_vector(&mut self, address: Value, value: Value, mem: MemType) {
        let flags = self.unaligned();
        vector_memory::store(&mut self.b, address, 0, value, mem, flags);
    }

    /// Flags of an access that cannot fault and need not be aligned.
    fn unaligned(&self) -> MemFlagsData {
        let region = self.trusted(MemoryKind::Program).alias_region();
        MemFlagsData::new().with_notrap().with_alias_region(region)
    }
}

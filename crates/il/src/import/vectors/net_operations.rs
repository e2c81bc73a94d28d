//! Operations that only .NET's vectors have (`net`): pointers, halves, lanes by number, sums, and counts of bits.

use super::lanes::by_fours;
use super::rows::VectorCall;
use super::values::VectorEmitter;
use crate::import::kinds::mem_type;
use crate::import::stack::{Effect, StackEntry, Val};
use crate::ir::{BinOp, CmpOp, IrType, Lanes, MemFlags, MemType, NullCheck, Op, UnOp, ValueId, VectorOp};
use crate::vector_types::VectorType;
use saki_types::{LoadResult, Method, Ty};

/// How far back the constant that a vector is, is looked for.
const MAX_LOOK_BACK: usize = 256;
/// Added to a byte with saturation, it sets the highest bit of all numbers but those of lanes.
const BEYOND_LANES: u8 = 0x70;

impl VectorEmitter<'_, '_> {
    /// Imports a call of an operation of this file. None: it is not one; false: not handled, without effect.
    pub(super) fn net_call(
        &mut self,
        call: VectorCall,
        vector: VectorType,
        method: &'static Method,
        args: &[StackEntry],
    ) -> LoadResult<Option<bool>> {
        use VectorCall as C;
        let lanes = vector.lanes;
        let sig = self.emit.closed_sig(method)?;
        match call {
            C::Element | C::First => {
                let lane = if call == C::First { Some(0) } else { self.lane_number(&args[1], vector)? };
                let Some(lane) = lane else { return Ok(Some(false)) };
                let value = self.vector_value(&args[0], MemType::V128)?;
                let element = self.vector_unary(VectorOp::Extract(lane), lanes, value);
                self.push_lane(element, lanes, sig.ret);
                return Ok(Some(true));
            }
            C::Sum => {
                let value = self.vector_value(&args[0], MemType::V128)?;
                let sum = self.sum(value, lanes);
                self.push_lane(sum, lanes, sig.ret);
                return Ok(Some(true));
            }
            C::Half(is_upper) => {
                let value = self.vector_value(&args[0], MemType::V128)?;
                let half = self.vector_unary(VectorOp::Extract(u8::from(is_upper)), Lanes::I64, value);
                self.push_vector(half, sig.ret, MemType::I64);
                return Ok(Some(true));
            }
            C::NoCommonBits => {
                let (a, b) = (self.vector_value(&args[0], MemType::V128)?, self.vector_value(&args[1], MemType::V128)?);
                let common = self.vector_binary(VectorOp::And, lanes, a, b);
                let any = self.vector_unary(VectorOp::AnyTrue, Lanes::I64, common);
                let one = self.emit.b.i32(1);
                let none = self.emit.b.inst(Op::Bin(BinOp::Xor, any, one), IrType::I32);
                self.emit.push(StackEntry::scalar(none, IrType::I32).with_type(sig.ret));
                return Ok(Some(true));
            }
            C::Store => return self.store_lanes(&args[0], &args[1], args.get(2), sig.params.get(2).copied(), lanes),
            C::StoreTo => return self.store_lanes(&args[1], &args[0], None, None, lanes),
            C::StoreScalar => {
                let Some(mem) = sig.params[0].element().map(mem_type).transpose()?.flatten() else {
                    return Ok(Some(false));
                };
                let value = self.vector_value(&args[1], MemType::V128)?;
                let element = self.vector_unary(VectorOp::Extract(0), lanes, value);
                let (addr, offset, flags) = self.lane_place(&args[0], None, None, lanes)?;
                self.emit.spill(Effect::Memory)?;
                self.emit.b.store(addr, offset, element, mem, flags);
                return Ok(Some(true));
            }
            _ => {}
        }
        let value = match call {
            C::Load => {
                let (addr, offset, flags) =
                    self.lane_place(&args[0], args.get(1), sig.params.get(1).copied(), lanes)?;
                Some(self.emit.b.load(addr, offset, MemType::V128, flags))
            }
            C::LoadScalar => {
                let Some(mem) = sig.params[0].element().map(mem_type).transpose()?.flatten() else {
                    return Ok(Some(false));
                };
                let (addr, offset, flags) = self.lane_place(&args[0], None, None, lanes)?;
                let element = self.emit.b.load(addr, offset, mem, flags);
                let zero = self.bits([0; 16]);
                Some(self.vector_binary(VectorOp::Insert(0), lanes, zero, element))
            }
            C::SplatOf => Some(self.splat(&args[0], vector)?),
            C::ElementsOf => Some(self.elements(args, lanes)?),
            C::ScalarOf => {
                let zero = self.bits([0; 16]);
                Some(self.with_lanes(zero, 0, lanes, args)?)
            }
            C::OfHalves => {
                let zero = self.bits([0; 16]);
                let half = self.half_value(&args[0])?;
                let lower = self.vector_binary(VectorOp::Insert(0), Lanes::I64, zero, half);
                let half = self.half_value(&args[1])?;
                Some(self.vector_binary(VectorOp::Insert(1), Lanes::I64, lower, half))
            }
            C::WithHalf(is_upper) => {
                let value = self.vector_value(&args[0], MemType::V128)?;
                let half = self.half_value(&args[1])?;
                Some(self.vector_binary(VectorOp::Insert(u8::from(is_upper)), Lanes::I64, value, half))
            }
            C::WithElement => match self.lane_number(&args[1], vector)? {
                Some(lane) => {
                    let value = self.vector_value(&args[0], MemType::V128)?;
                    let element = self.lane_value(&args[2], lanes)?;
                    Some(self.vector_binary(VectorOp::Insert(lane), lanes, value, element))
                }
                None => None,
            },
            C::Extreme(op) => {
                let (a, b) = (self.vector_value(&args[0], MemType::V128)?, self.vector_value(&args[1], MemType::V128)?);
                Some(self.extreme(op, lanes, a, b))
            }
            C::ShiftModulo(op) => {
                let value = self.vector_value(&args[0], MemType::V128)?;
                let amount = self.emit.value(&args[1])?;
                let amount = self.emit.fit(amount, IrType::I32);
                Some(self.vector_binary(op, lanes, value, amount))
            }
            C::ShiftBeyond(op) => {
                let value = self.vector_value(&args[0], MemType::V128)?;
                let amount = self.emit.value(&args[1])?;
                let amount = self.emit.fit(amount, IrType::I32);
                Some(self.shifted_beyond(op, lanes, value, amount))
            }
            C::SelectLanes => self.selected_lanes(lanes, args)?,
            C::AlignRight => self.aligned_right(args)?,
            C::SelectFours => match self.constant_number(&args[2])? {
                Some(chosen) => {
                    let (a, b) =
                        (self.vector_value(&args[0], MemType::V128)?, self.vector_value(&args[1], MemType::V128)?);
                    let [x, y, z, w] = std::array::from_fn(|lane| (chosen >> (2 * lane) & 3) as u8);
                    Some(self.permuted(a, b, by_fours([x, y, 4 + z, 4 + w])))
                }
                None => None,
            },
            _ => return Ok(None),
        };
        let Some(value) = value else { return Ok(Some(false)) };
        self.push_vector(value, sig.ret, MemType::V128);
        Ok(Some(true))
    }

    fn push_lane(&mut self, element: ValueId, lanes: Lanes, ty: Ty) {
        self.emit.push(StackEntry::scalar(element, lanes.scalar()).with_type(ty));
    }

    fn constant_number(&mut self, entry: &StackEntry) -> LoadResult<Option<i32>> {
        let value = self.emit.value(entry)?;
        Ok(self.emit.b.const_i32(value))
    }

    /// The lane that an argument selects, if it is a constant and there is such a lane.
    fn lane_number(&mut self, entry: &StackEntry, vector: VectorType) -> LoadResult<Option<u8>> {
        let index = self.emit.value(entry)?;
        let index = self.emit.fit(index, IrType::I32);
        Ok(self.known_lane(index, vector))
    }

    /// The place to which a pointer to lanes points, `number` lanes behind it.
    fn lane_place(
        &mut self,
        pointer: &StackEntry,
        number: Option<&StackEntry>,
        number_type: Option<Ty>,
        lanes: Lanes,
    ) -> LoadResult<(ValueId, i32, MemFlags)> {
        let (addr, offset, mut flags) = self.emit.address_arg(pointer)?;
        flags.unaligned = true;
        let (Some(number), Some(number_type)) = (number, number_type) else { return Ok((addr, offset, flags)) };
        if flags.null_check == NullCheck::Needed {
            self.emit.b.effect(Op::NullCheck(addr));
            flags.null_check = NullCheck::None;
        }
        let number = self.emit.coerce(number, number_type)?;
        let size = self.emit.b.i64(i64::from(lanes.bytes()));
        let distance = self.emit.b.inst(Op::Bin(BinOp::Mul, number, size), IrType::I64);
        Ok((self.emit.b.inst(Op::Bin(BinOp::Add, addr, distance), IrType::ByRef), offset, flags))
    }

    fn store_lanes(
        &mut self,
        vector: &StackEntry,
        pointer: &StackEntry,
        number: Option<&StackEntry>,
        number_type: Option<Ty>,
        lanes: Lanes,
    ) -> LoadResult<Option<bool>> {
        let value = self.vector_value(vector, MemType::V128)?;
        let (addr, offset, flags) = self.lane_place(pointer, number, number_type, lanes)?;
        self.emit.spill(Effect::Memory)?;
        self.emit.b.store(addr, offset, value, MemType::V128, flags);
        Ok(Some(true))
    }

    /// The 8 bytes of a `Vector64<T>`.
    fn half_value(&mut self, entry: &StackEntry) -> LoadResult<ValueId> {
        let (addr, offset, flags) = self.vector_place(entry)?;
        Ok(self.emit.b.load(addr, offset, MemType::I64, flags))
    }

    /// A scalar in each lane: a constant if all are.
    fn elements(&mut self, args: &[StackEntry], lanes: Lanes) -> LoadResult<ValueId> {
        let width = lanes.bytes() as usize;
        let mut bytes = [0; 16];
        for (lane, entry) in args.iter().enumerate() {
            let value = self.lane_value(entry, lanes)?;
            let bits = match *self.emit.b.op(value) {
                Op::ConstI32(n) => n as u64,
                Op::ConstI64(n) => n as u64,
                Op::ConstF32(n) => u64::from(n.to_bits()),
                Op::ConstF64(n) => n.to_bits(),
                _ => {
                    let zero = self.bits([0; 16]);
                    return self.with_lanes(zero, 0, lanes, args);
                }
            };
            bytes[lane * width..][..width].copy_from_slice(&bits.to_le_bytes()[..width]);
        }
        Ok(self.bits(bytes))
    }

    /// The sum of all lanes. Integers wrap; floats are added by neighbouring pairs, then the pairs' sums.
    fn sum(&mut self, value: ValueId, lanes: Lanes) -> ValueId {
        if !lanes.is_float() {
            let sums = self.folded(value, lanes);
            return self.vector_unary(VectorOp::Extract(0), lanes, sums);
        }
        let mut sums: Vec<ValueId> =
            (0..lanes.count() as u8).map(|lane| self.vector_unary(VectorOp::Extract(lane), lanes, value)).collect();
        while sums.len() > 1 {
            let add = |pair: &[ValueId]| self.emit.b.inst(Op::Bin(BinOp::Add, pair[0], pair[1]), lanes.scalar());
            sums = sums.chunks(2).map(add).collect();
        }
        sums[0]
    }

    /// The first operand where it is less, or greater, where it is NaN, and where it is the lesser, or greater, zero;
    /// else the second one.
    fn extreme(&mut self, op: VectorOp, lanes: Lanes, a: ValueId, b: ValueId) -> ValueId {
        use VectorOp as V;
        let (compare, signed) = if op == V::Min { (V::Lt, a) } else { (V::Gt, b) };
        let is_beyond = self.vector_binary(compare, lanes, a, b);
        let is_nan = self.vector_binary(V::Unordered, lanes, a, a);
        let is_equal = self.vector_binary(V::Eq, lanes, a, b);
        let zero = self.bits([0; 16]);
        let is_negative = self.vector_binary(V::Lt, lanes.as_signed(), signed, zero);
        let is_lesser_zero = self.vector_binary(V::And, lanes, is_equal, is_negative);
        let mask = self.vector_binary(V::Or, lanes, is_beyond, is_nan);
        let mask = self.vector_binary(V::Or, lanes, mask, is_lesser_zero);
        self.vector_op(V::BitSelect, lanes, mask, Some(a), Some(b))
    }

    /// A logical shift by an unsigned number, which may be greater than the width of a lane.
    fn shifted_beyond(&mut self, op: VectorOp, lanes: Lanes, value: ValueId, amount: ValueId) -> ValueId {
        let width = lanes.bytes() as i32 * 8;
        if let Some(bits) = self.emit.b.const_i32(amount)
            && !(0..width).contains(&bits)
        {
            return self.bits([0; 16]);
        }
        let shifted = self.vector_binary(op, lanes, value, amount);
        if self.emit.b.const_i32(amount).is_some() {
            return shifted;
        }
        let (limit, zero) = (self.emit.b.i32(width), self.emit.b.i32(0));
        let is_less = self.emit.b.inst(Op::Cmp(CmpOp::LtUn, amount, limit), IrType::I32);
        let mask = self.emit.b.inst(Op::Bin(BinOp::Sub, zero, is_less), IrType::I32);
        let mask = self.vector_unary(VectorOp::Splat, Lanes::I32, mask);
        self.vector_binary(VectorOp::And, lanes, shifted, mask)
    }

    /// None: numbers of lanes of more than a byte that are not constant.
    fn selected_lanes(&mut self, lanes: Lanes, args: &[StackEntry]) -> LoadResult<Option<ValueId>> {
        let width = lanes.bytes() as usize;
        if let Some(numbers) = self.constant_vector(&args[1]) {
            let value = self.vector_value(&args[0], MemType::V128)?;
            let zero = self.bits([0; 16]);
            let bytes = std::array::from_fn(|byte| {
                let number = numbers[byte / width * width..][..width].iter().rev();
                let number = number.fold(0_u64, |number, &part| number << 8 | u64::from(part));
                if number < u64::from(lanes.count()) { (number as usize * width + byte % width) as u8 } else { 16 }
            });
            return Ok(Some(self.permuted(value, zero, bytes)));
        }
        if width != 1 {
            return Ok(None);
        }
        let (value, numbers) =
            (self.vector_value(&args[0], MemType::V128)?, self.vector_value(&args[1], MemType::V128)?);
        let beyond = self.bits([BEYOND_LANES; 16]);
        let numbers = self.vector_binary(VectorOp::AddSaturated, Lanes::U8, numbers, beyond);
        Ok(Some(self.vector_binary(VectorOp::ShuffleBytes, Lanes::U8, value, numbers)))
    }

    /// Bytes of the second operand and then of the first one, from a number of bytes on; None if that is not constant.
    fn aligned_right(&mut self, args: &[StackEntry]) -> LoadResult<Option<ValueId>> {
        let Some(first) = self.constant_number(&args[2])? else { return Ok(None) };
        let (a, b) = (self.vector_value(&args[0], MemType::V128)?, self.vector_value(&args[1], MemType::V128)?);
        let zero = self.bits([0; 16]);
        let (low, high, first) = if first <= 16 { (b, a, first) } else { (a, zero, first - 16) };
        if first > 16 {
            return Ok(Some(zero));
        }
        Ok(Some(self.permuted(low, high, std::array::from_fn(|byte| byte as u8 + first as u8))))
    }

    /// The constant that a vector is, if it was made in the current block.
    fn constant_vector(&self, entry: &StackEntry) -> Option<[u8; 16]> {
        let (Val::Temp(mut local) | Val::InLocal(mut local, 0)) = entry.val else { return None };
        let builder = &self.emit.b;
        let block = &builder.f.blocks[builder.current?.0 as usize];
        for value in block.insts.iter().rev().take(MAX_LOOK_BACK) {
            if builder.is_exposed(local) {
                return None;
            }
            match builder.f.insts[value.0 as usize].op {
                Op::Store { addr, value, .. } if builder.local_at(addr).is_some_and(|(to, _)| to == local) => {
                    let Op::ConstV128(bits) = *builder.op(value) else { return None };
                    return Some(bits.to_le_bytes());
                }
                Op::CopyStruct { dst, src, .. } if builder.local_at(dst).is_some_and(|(to, _)| to == local) => {
                    let (from, 0) = builder.local_at(src)? else { return None };
                    local = from;
                }
                Op::InitStruct { addr, .. } if builder.local_at(addr).is_some_and(|(to, _)| to == local) => {
                    return None;
                }
                Op::Call { struct_result: Some(addr), .. }
                    if builder.local_at(addr).is_some_and(|(to, _)| to == local) =>
                {
                    return None;
                }
                _ => {}
            }
        }
        None
    }

    /// Counts bits of an integer of 4 or 8 bytes. False: not handled.
    pub(super) fn count_bits(
        &mut self,
        call: VectorCall,
        method: &'static Method,
        argument: &StackEntry,
    ) -> LoadResult<bool> {
        let ty = self.emit.closed_sig(method)?.params[0];
        let ir = match mem_type(ty)? {
            Some(MemType::I32) => IrType::I32,
            Some(MemType::I64) => IrType::I64,
            _ => return Ok(false),
        };
        let value = self.emit.coerce(argument, ty)?;
        let count = match call {
            VectorCall::Bits(op) => {
                let count = self.emit.b.inst(Op::Un(op, value), ir);
                self.emit.fit(count, IrType::I32)
            }
            _ => {
                let (one, highest) = match ir {
                    IrType::I32 => (self.emit.b.i32(1), 31),
                    _ => (self.emit.b.i64(1), 63),
                };
                let value = self.emit.b.inst(Op::Bin(BinOp::Or, value, one), ir);
                let zeros = self.emit.b.inst(Op::Un(UnOp::Clz, value), ir);
                let zeros = self.emit.fit(zeros, IrType::I32);
                let highest = self.emit.b.i32(highest);
                self.emit.b.inst(Op::Bin(BinOp::Sub, highest, zeros), IrType::I32)
            }
        };
        self.emit.push_scalar(count, IrType::I32);
        Ok(true)
    }
}

//! Vectors as values: loading, storing, and the instructions that all operations share.

use crate::import::builder::plain;
use crate::import::emitter::Emitter;
use crate::import::stack::{Effect, StackEntry, Val};
use crate::ir::{AliasClass, BinOp, IrType, Lanes, MemFlags, MemType, Op, ValueId, VectorOp};
use crate::vector_types::VectorType;
use saki_types::{LoadResult, Ty};

/// Emits operations of vector types. Besides what it is emitted with, it has no state.
pub(crate) struct VectorEmitter<'a, 'e> {
    pub(crate) emit: &'a mut Emitter<'e>,
}

impl VectorEmitter<'_, '_> {
    pub(super) fn vector_op(
        &mut self,
        op: VectorOp,
        lanes: Lanes,
        a: ValueId,
        b: Option<ValueId>,
        c: Option<ValueId>,
    ) -> ValueId {
        self.emit.b.inst(Op::Vector { op, lanes, a, b, c }, op.result(lanes))
    }

    pub(super) fn vector_unary(&mut self, op: VectorOp, lanes: Lanes, a: ValueId) -> ValueId {
        self.vector_op(op, lanes, a, None, None)
    }

    pub(super) fn vector_binary(&mut self, op: VectorOp, lanes: Lanes, a: ValueId, b: ValueId) -> ValueId {
        self.vector_op(op, lanes, a, Some(b), None)
    }

    pub(super) fn bits(&mut self, bytes: [u8; 16]) -> ValueId {
        self.emit.b.inst(Op::ConstV128(u128::from_le_bytes(bytes)), IrType::V128)
    }

    pub(super) fn permuted(&mut self, a: ValueId, b: ValueId, bytes: [u8; 16]) -> ValueId {
        let mask = self.bits(bytes);
        self.vector_op(VectorOp::Shuffle, Lanes::U8, a, Some(b), Some(mask))
    }

    /// Keeps the first `count` lanes of 4 bytes and sets the others to zero.
    pub(super) fn first_lanes(&mut self, value: ValueId, count: u32) -> ValueId {
        if count == 4 {
            return value;
        }
        let mask = self.bits(std::array::from_fn(|byte| if byte < 4 * count as usize { 0xff } else { 0 }));
        self.vector_binary(VectorOp::And, Lanes::U8, value, mask)
    }

    /// The address of a struct argument, passed by value or by address (`this`).
    pub(super) fn vector_place(&mut self, entry: &StackEntry) -> LoadResult<(ValueId, i32, MemFlags)> {
        if !matches!(entry.ir, IrType::Struct(_)) {
            return self.emit.address_arg(entry);
        }
        if let Val::InMemory { addr, offset, flags } = entry.val
            && !flags.volatile
        {
            return Ok((addr, offset, flags));
        }
        let entry = match entry.val {
            Val::InMemory { .. } => StackEntry { val: Val::Temp(self.emit.own_struct(entry)?), ..*entry },
            _ => *entry,
        };
        let addr = self.emit.struct_addr(&entry)?;
        let (addr, offset) = self.emit.b.split_offset(addr);
        Ok((addr, offset, plain(AliasClass::Any)))
    }

    /// The value of a vector argument, passed by value or by address.
    pub(super) fn vector_value(&mut self, entry: &StackEntry, mem: MemType) -> LoadResult<ValueId> {
        let (addr, offset, flags) = self.vector_place(entry)?;
        Ok(self.emit.b.load(addr, offset, mem, flags))
    }

    pub(super) fn push_vector(&mut self, value: ValueId, ty: Ty, mem: MemType) {
        let temp = self.emit.b.temp(IrType::Struct(ty));
        let addr = self.emit.b.addr_of(temp);
        self.emit.b.store(addr, 0, value, mem, plain(AliasClass::Any));
        self.emit.push(StackEntry::of_struct(Val::Temp(temp), ty));
    }

    /// Writes a vector through a pointer.
    pub(super) fn store_vector(&mut self, target: &StackEntry, value: ValueId, mem: MemType) -> LoadResult<()> {
        let (addr, offset, flags) = self.emit.address_arg(target)?;
        match self.emit.b.local_at(addr) {
            Some((local, _)) => self.emit.spill(Effect::Local(local))?,
            None => self.emit.spill(Effect::Memory)?,
        }
        self.emit.b.store(addr, offset, value, mem, flags);
        Ok(())
    }

    /// A scalar argument, converted to the scalar type of a lane.
    pub(super) fn lane_value(&mut self, entry: &StackEntry, lanes: Lanes) -> LoadResult<ValueId> {
        let value = self.emit.value(entry)?;
        Ok(self.emit.fit(value, lanes.scalar()))
    }

    /// A scalar in each used lane; the others are zero.
    pub(super) fn splat(&mut self, entry: &StackEntry, vector: VectorType) -> LoadResult<ValueId> {
        let scalar = self.lane_value(entry, vector.lanes)?;
        Ok(self.splat_value(scalar, vector))
    }

    pub(super) fn splat_value(&mut self, scalar: ValueId, vector: VectorType) -> ValueId {
        let VectorType { lanes, count, .. } = vector;
        let constant = match *self.emit.b.op(scalar) {
            Op::ConstI32(n) => Some(n as u64),
            Op::ConstI64(n) => Some(n as u64),
            Op::ConstF32(n) => Some(u64::from(n.to_bits())),
            Op::ConstF64(n) => Some(n.to_bits()),
            _ => None,
        };
        if let Some(lane) = constant {
            let (width, lane) = (lanes.bytes() as usize, lane.to_le_bytes());
            let used = count as usize * width;
            return self.bits(std::array::from_fn(|byte| if byte < used { lane[byte % width] } else { 0 }));
        }
        let all = self.vector_unary(VectorOp::Splat, lanes, scalar);
        if count == lanes.count() { all } else { self.first_lanes(all, count) }
    }

    /// Puts scalars into lanes from `first` on.
    pub(super) fn with_lanes(
        &mut self,
        start: ValueId,
        first: u8,
        lanes: Lanes,
        args: &[StackEntry],
    ) -> LoadResult<ValueId> {
        let mut all = start;
        for (lane, entry) in (first..).zip(args) {
            let scalar = self.lane_value(entry, lanes)?;
            all = self.vector_binary(VectorOp::Insert(lane), lanes, all, scalar);
        }
        Ok(all)
    }

    /// Pushes whether all lanes of a mask are set, or whether not all are.
    pub(super) fn push_all_true(&mut self, mask: ValueId, lanes: Lanes, wanted: bool) {
        let mut flag = self.vector_unary(VectorOp::AllTrue, lanes, mask);
        if !wanted {
            let one = self.emit.b.i32(1);
            flag = self.emit.b.inst(Op::Bin(BinOp::Xor, flag, one), IrType::I32);
        }
        self.emit.push_scalar(flag, IrType::I32);
    }
}

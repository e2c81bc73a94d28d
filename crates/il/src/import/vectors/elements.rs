//! Methods that read and write elements: of arrays, and lanes selected by a number.
//!
//! If all elements are in range the access is made in line. Otherwise the class library's method is called, on a copy
//! of the vector so that the variable itself stays in a register, and throws its exception. Constructors and reads from
//! arrays need no such call: they throw IndexOutOfRangeException, as a bounds check does.

use super::values::VectorEmitter;
use crate::import::builder::plain;
use crate::import::call_sites::PlannedCall;
use crate::import::kinds::mem_type;
use crate::import::stack::{Effect, StackEntry, Val};
use crate::ir::{
    AliasClass, BinOp, BlockId, CallTarget, CmpOp, ConvTarget, IrType, LocalId, MemFlags, MemType, Op, Terminator,
    ValueId, VectorOp,
};
use crate::vector_types::VectorType;
use saki_types::{LoadResult, Method};

impl VectorEmitter<'_, '_> {
    /// Throws IndexOutOfRangeException unless all elements are in range, as the class library does. `index_first`: a
    /// negative index is reported before a null array.
    pub(super) fn vector_from_array(
        &mut self,
        vector: VectorType,
        args: &[StackEntry],
        index_first: bool,
    ) -> LoadResult<ValueId> {
        let array = self.emit.value(&args[0])?;
        if index_first {
            let index = self.emit.value(&args[1])?;
            let index = self.emit.fit(index, IrType::I32);
            let (top, one) = (self.emit.b.i32(31), self.emit.b.i32(1));
            let is_negative = self.emit.b.inst(Op::Bin(BinOp::ShrUn, index, top), IrType::I32);
            self.emit.b.effect(Op::BoundsCheck { index: is_negative, length: one });
        }
        let length = self.emit.b.inst(Op::ArrayLen(array), IrType::I32);
        let index = match args.get(1) {
            Some(entry) => {
                let index = self.emit.value(entry)?;
                let index = self.emit.fit(index, IrType::I32);
                self.emit.b.effect(Op::BoundsCheck { index, length });
                index
            }
            None => self.emit.b.i32(0),
        };
        let rest = self.emit.b.i32(vector.count as i32 - 1);
        let last = self.emit.b.inst(Op::Bin(BinOp::Add, index, rest), IrType::I32);
        self.emit.b.effect(Op::BoundsCheck { index: last, length });
        let element_size_bytes = vector.lanes.bytes();
        let addr = self.emit.b.inst(Op::ElementAddr { array, index, element_size_bytes }, IrType::ByRef);
        Ok(self.emit.b.load(addr, 0, vector.mem, plain(AliasClass::Element)))
    }

    /// The first elements of a span of the class library, which is a pointer and a length. None if the span type has
    /// other fields.
    pub(super) fn vector_from_span(&mut self, vector: VectorType, span: &StackEntry) -> LoadResult<Option<ValueId>> {
        let IrType::Struct(ty) = span.ir else { return Ok(None) };
        let mut offsets = [None; 2];
        for field in ty.fields()?.iter().filter(|field| !field.is_static()) {
            match field.name {
                "_pointer" => offsets[0] = Some(field.offset_bytes()? as i32),
                "_length" => offsets[1] = Some(field.offset_bytes()? as i32),
                _ => return Ok(None),
            }
        }
        let [Some(pointer), Some(length)] = offsets else { return Ok(None) };
        let (addr, offset, flags) = self.vector_place(span)?;
        let pointer = self.emit.b.load(addr, offset + pointer, MemType::ByRef, flags);
        let length = self.emit.b.load(addr, offset + length, MemType::I32, flags);
        let last = self.emit.b.i32(vector.count as i32 - 1);
        self.emit.b.effect(Op::BoundsCheck { index: last, length });
        let unaligned = MemFlags { unaligned: true, ..plain(AliasClass::Any) };
        Ok(Some(self.emit.b.load(pointer, 0, vector.mem, unaligned)))
    }

    /// Copies in line if all elements fit. `this` and `array`: indices of these arguments; an index argument may
    /// follow.
    pub(super) fn vector_copy_to(
        &mut self,
        method: &'static Method,
        vector: VectorType,
        this: usize,
        array: usize,
        args: &[StackEntry],
    ) -> LoadResult<bool> {
        let array = self.emit.value(&args[array])?;
        let value = self.vector_value(&args[this], vector.mem)?;
        self.emit.spill(Effect::Memory)?;
        let length = self.emit.b.inst(Op::ArrayLen(array), IrType::I32);
        let zero = self.emit.b.i32(0);
        let index = match args.get(2) {
            Some(entry) => {
                let index = self.emit.value(entry)?;
                self.emit.fit(index, IrType::I32)
            }
            None => zero,
        };
        // index >= 0 and index <= length - count, both signed.
        let count = self.emit.b.i32(vector.count as i32);
        let room = self.emit.b.inst(Op::Bin(BinOp::Sub, length, count), IrType::I32);
        let is_below = self.emit.b.inst(Op::Cmp(CmpOp::Le, index, room), IrType::I32);
        let is_natural = self.emit.b.inst(Op::Cmp(CmpOp::Ge, index, zero), IrType::I32);
        let cond = self.emit.b.inst(Op::Bin(BinOp::And, is_below, is_natural), IrType::I32);
        let branches = self.branches(cond);
        let element_size_bytes = vector.lanes.bytes();
        let addr = self.emit.b.inst(Op::ElementAddr { array, index, element_size_bytes }, IrType::ByRef);
        self.emit.b.store(addr, 0, value, vector.mem, plain(AliasClass::Element));
        self.call_otherwise(branches, method, vector, this, value, args)?;
        Ok(true)
    }

    /// Branches on `cond` and continues in the block where it holds.
    fn branches(&mut self, cond: ValueId) -> (BlockId, BlockId) {
        let region = self.emit.b.region();
        let (here, call, done) = (self.emit.b.block(region), self.emit.b.block(region), self.emit.b.block(region));
        self.emit.b.terminate(Terminator::Brif { cond, then: here, otherwise: call });
        self.emit.b.current = Some(here);
        (call, done)
    }

    /// Ends the code in line, and in the other block calls the method, with `value` in place of the argument `at`. A
    /// scalar result is dropped.
    fn call_otherwise(
        &mut self,
        (call, done): (BlockId, BlockId),
        method: &'static Method,
        vector: VectorType,
        at: usize,
        value: ValueId,
        args: &[StackEntry],
    ) -> LoadResult<()> {
        self.emit.b.terminate(Terminator::Jump(done));
        self.emit.b.current = Some(call);
        self.emit.b.mark_cold();
        let owner = super::table::subject(method)?.ty;
        let copy = self.emit.b.temp(IrType::Struct(owner));
        self.emit.b.expose(copy);
        let addr = self.emit.b.addr_of(copy);
        self.emit.b.store(addr, 0, value, vector.mem, plain(AliasClass::Any));
        let mut args = args.to_vec();
        let this = (!method.is_static()).then_some(IrType::ByRef);
        args[at] = match this {
            Some(ir) => StackEntry::scalar(addr, ir).non_null(),
            None => StackEntry::of_struct(Val::Temp(copy), owner),
        };
        let sig = self.emit.closed_sig(method)?;
        let call = PlannedCall { target: CallTarget::Direct(method), this, params: &sig.params, ret: sig.ret };
        self.emit.emit_call(&call, &args)?;
        self.emit.b.terminate(Terminator::Jump(done));
        self.emit.b.current = Some(done);
        self.emit.known.forget_block();
        Ok(())
    }

    /// The lane that a constant index selects.
    pub(super) fn known_lane(&self, index: ValueId, vector: VectorType) -> Option<u8> {
        self.emit.b.const_i32(index).and_then(|n| u8::try_from(n).ok()).filter(|n| u32::from(*n) < vector.count)
    }

    /// Copies the vector to memory and returns the address of an element of the copy, so that a vector in a register
    /// stays there.
    fn element_in_copy(
        &mut self,
        method: &'static Method,
        vector: VectorType,
        value: ValueId,
        index: ValueId,
    ) -> (LocalId, ValueId) {
        let copy = self.emit.b.temp(IrType::Struct(method.owner));
        let base = self.emit.b.addr_of(copy);
        self.emit.b.store(base, 0, value, vector.mem, plain(AliasClass::Any));
        let wide = self.emit.b.conv(index, ConvTarget::U8);
        let size = self.emit.b.i64(i64::from(vector.lanes.bytes()));
        let distance = self.emit.b.inst(Op::Bin(BinOp::Mul, wide, size), IrType::I64);
        (copy, self.emit.b.inst(Op::Bin(BinOp::Add, base, distance), IrType::ByRef))
    }

    /// Reads an element by its index, which is checked first.
    pub(super) fn vector_item(
        &mut self,
        method: &'static Method,
        vector: VectorType,
        args: &[StackEntry],
    ) -> LoadResult<bool> {
        let index = self.emit.value(&args[1])?;
        let index = self.emit.fit(index, IrType::I32);
        let ret = method.sig()?.ret;
        let ir = vector.lanes.scalar();
        let Some(mem) = mem_type(ret)? else { return Ok(false) };
        if let Some(lane) = self.known_lane(index, vector) {
            let value = self.vector_value(&args[0], vector.mem)?;
            let element = self.vector_unary(VectorOp::Extract(lane), vector.lanes, value);
            self.emit.push(StackEntry::scalar(element, ir).with_type(ret));
            return Ok(true);
        }
        let count = self.emit.b.i32(vector.count as i32);
        self.emit.b.effect(Op::BoundsCheck { index, length: count });
        let value = self.vector_value(&args[0], vector.mem)?;
        let (_, at) = self.element_in_copy(method, vector, value, index);
        let element = self.emit.b.load(at, 0, mem, plain(AliasClass::Any));
        self.emit.push(StackEntry::scalar(element, ir).with_type(ret));
        Ok(true)
    }

    /// Whether the index, an arbitrary 32-bit value, is that of a lane.
    fn is_lane(&mut self, index: ValueId, vector: VectorType) -> ValueId {
        let count = self.emit.b.i32(vector.count as i32);
        self.emit.b.inst(Op::Cmp(CmpOp::LtUn, index, count), IrType::I32)
    }

    pub(super) fn vector_component(
        &mut self,
        method: &'static Method,
        vector: VectorType,
        args: &[StackEntry],
    ) -> LoadResult<bool> {
        let index = self.emit.value(&args[1])?;
        let index = self.emit.fit(index, IrType::I32);
        if self.known_lane(index, vector).is_some() {
            return self.vector_item(method, vector, args);
        }
        let ret = method.sig()?.ret;
        let Some(mem) = mem_type(ret)? else { return Ok(false) };
        let value = self.vector_value(&args[0], vector.mem)?;
        self.emit.spill(Effect::Memory)?;
        let found = self.emit.b.temp(mem.loaded());
        let cond = self.is_lane(index, vector);
        let branches = self.branches(cond);
        let (_, at) = self.element_in_copy(method, vector, value, index);
        let element = self.emit.b.load(at, 0, mem, plain(AliasClass::Any));
        self.emit.b.set(found, element);
        self.call_otherwise(branches, method, vector, 0, value, args)?;
        let element = self.emit.b.get(found);
        self.emit.push(StackEntry::scalar(element, mem.loaded()).with_type(ret));
        Ok(true)
    }

    pub(super) fn set_vector_component(
        &mut self,
        method: &'static Method,
        vector: VectorType,
        args: &[StackEntry],
    ) -> LoadResult<bool> {
        let index = self.emit.value(&args[1])?;
        let index = self.emit.fit(index, IrType::I32);
        let element = self.lane_value(&args[2], vector.lanes)?;
        let old = self.vector_value(&args[0], vector.mem)?;
        if let Some(lane) = self.known_lane(index, vector) {
            let value = self.vector_binary(VectorOp::Insert(lane), vector.lanes, old, element);
            self.store_vector(&args[0], value, vector.mem)?;
            return Ok(true);
        }
        let Some(mem) = method.sig()?.params.last().map(|ty| mem_type(ty)).transpose()?.flatten() else {
            return Ok(false);
        };
        self.emit.spill(Effect::Memory)?;
        let cond = self.is_lane(index, vector);
        let branches = self.branches(cond);
        let (copy, at) = self.element_in_copy(method, vector, old, index);
        self.emit.b.store(at, 0, element, mem, plain(AliasClass::Any));
        let base = self.emit.b.addr_of(copy);
        let value = self.emit.b.load(base, 0, vector.mem, plain(AliasClass::Any));
        self.store_vector(&args[0], value, vector.mem)?;
        self.call_otherwise(branches, method, vector, 0, old, args)?;
        Ok(true)
    }
}

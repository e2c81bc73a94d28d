//! Calls of vector types' methods, in place.
//!
//! A vector on the evaluation stack is a struct like any other. An operation loads its operands from where they are and stores its result to a temporary; `opt::promote`
//! keeps such locals in registers. What would throw the class library's own exceptions in another way than by a check of the importer's calls the method then.

mod table;

use super::Importer;
use super::builder::plain;
use super::stack::{Effect, Entry, Val};
use crate::ir::{AliasClass, ConvTarget, IrType, Lanes, MemType, Op, ValueId, VectorOp};
use crate::vector_types::{VectorType, vector_type};
use saki_types::{LoadResult, Method, Ty};
pub(super) use table::{VectorCall, find};

impl Importer<'_> {
    fn vector_op(&mut self, op: VectorOp, lanes: Lanes, a: ValueId, b: Option<ValueId>, c: Option<ValueId>) -> ValueId {
        self.b.inst(Op::Vector { op, lanes, a, b, c }, op.result(lanes))
    }

    /// The value of a vector, given as itself or by its address (`this`).
    fn vector_value(&mut self, entry: &Entry, mem: MemType) -> LoadResult<ValueId> {
        if !matches!(entry.ir, IrType::Struct(_)) {
            let (addr, offset, flags) = self.address_arg(entry)?;
            return Ok(self.b.load(addr, offset, mem, flags));
        }
        if let Val::InMemory { addr, offset, flags } = entry.val
            && !flags.volatile
        {
            return Ok(self.b.load(addr, offset, mem, flags));
        }
        let entry = match entry.val {
            Val::InMemory { .. } => Entry { val: Val::Temp(self.own_struct(entry)?), ..*entry },
            _ => *entry,
        };
        let addr = self.struct_addr(&entry)?;
        let (addr, offset) = self.b.split_offset(addr);
        Ok(self.b.load(addr, offset, mem, plain(AliasClass::Any)))
    }

    fn push_vector(&mut self, value: ValueId, ty: Ty, mem: MemType) {
        let temp = self.b.temp(IrType::Struct(ty));
        let addr = self.b.addr_of(temp);
        self.b.store(addr, 0, value, mem, plain(AliasClass::Any));
        self.push(Entry::of_struct(Val::Temp(temp), ty));
    }

    /// A scalar argument as a lane takes it.
    fn lane_value(&mut self, entry: &Entry, lanes: Lanes) -> LoadResult<ValueId> {
        let value = self.value(entry)?;
        Ok(self.fit(value, lanes.scalar()))
    }

    fn splat(&mut self, entry: &Entry, vector: VectorType) -> LoadResult<ValueId> {
        let scalar = self.lane_value(entry, vector.lanes)?;
        if vector.count == vector.lanes.count() {
            return Ok(self.vector_op(VectorOp::Splat, vector.lanes, scalar, None, None));
        }
        // The lanes that are not in use stay zero.
        let zero = self.b.inst(Op::ConstV128(0), IrType::V128);
        let lanes = 0..vector.count as u8;
        Ok(lanes.fold(zero, |all, lane| self.vector_op(VectorOp::Insert(lane), vector.lanes, all, Some(scalar), None)))
    }

    /// `newobj` of a vector. False: nothing has happened.
    pub(super) fn new_vector(&mut self, call: VectorCall, constructor: &'static Method) -> LoadResult<bool> {
        let Some(vector) = vector_type(constructor.owner) else { return Ok(false) };
        let args = self.pop_args(self.closed_sig(constructor)?, false)?;
        let Some(value) = self.constructed(call, vector, &args)? else {
            self.s.stack.extend(args);
            return Ok(false);
        };
        self.push_vector(value, constructor.owner, vector.mem);
        Ok(true)
    }

    fn constructed(&mut self, call: VectorCall, vector: VectorType, args: &[Entry]) -> LoadResult<Option<ValueId>> {
        let lanes = vector.lanes;
        Ok(match call {
            VectorCall::Splat => Some(self.splat(&args[0], vector)?),
            VectorCall::Elements => {
                let mut all = self.b.inst(Op::ConstV128(0), IrType::V128);
                for (lane, entry) in args.iter().enumerate() {
                    let scalar = self.lane_value(entry, lanes)?;
                    all = self.vector_op(VectorOp::Insert(lane as u8), lanes, all, Some(scalar), None);
                }
                Some(all)
            }
            VectorCall::FromArray => Some(self.vector_from_array(vector, args)?),
            _ => None,
        })
    }

    /// IndexOutOfRangeException unless all elements are there, as the class library throws.
    fn vector_from_array(&mut self, vector: VectorType, args: &[Entry]) -> LoadResult<ValueId> {
        let array = self.value(&args[0])?;
        let length = self.b.inst(Op::ArrayLen(array), IrType::I32);
        let index = match args.get(1) {
            Some(entry) => {
                let index = self.value(entry)?;
                let index = self.fit(index, IrType::I32);
                self.b.effect(Op::BoundsCheck { index, length });
                index
            }
            None => self.b.i32(0),
        };
        let rest = self.b.i32(vector.count as i32 - 1);
        let last = self.b.inst(Op::Bin(crate::ir::BinOp::Add, index, rest), IrType::I32);
        self.b.effect(Op::BoundsCheck { index: last, length });
        let element_size_bytes = vector.lanes.bytes();
        let addr = self.b.inst(Op::ElementAddr { array, index, element_size_bytes }, IrType::ByRef);
        Ok(self.b.load(addr, 0, vector.mem, plain(AliasClass::Element)))
    }

    /// A call in place. False: nothing has happened.
    pub(super) fn vector_call(
        &mut self,
        call: VectorCall,
        method: &'static Method,
        args: &[Entry],
    ) -> LoadResult<bool> {
        use VectorCall as C;
        let sig = self.closed_sig(method)?;
        if let C::Constant(number) = call {
            self.push_i32(number);
            return Ok(true);
        }
        match call {
            C::Widen(lanes) => return self.vector_widen(lanes, args),
            C::Narrow(lanes) => {
                let (low, high) =
                    (self.vector_value(&args[0], MemType::V128)?, self.vector_value(&args[1], MemType::V128)?);
                let value = self.vector_op(VectorOp::Narrow, lanes, low, Some(high), None);
                self.push_vector(value, sig.ret, MemType::V128);
                return Ok(true);
            }
            C::Convert(op, lanes) => {
                let source = self.vector_value(&args[0], MemType::V128)?;
                let value = self.vector_op(op, lanes, source, None, None);
                self.push_vector(value, sig.ret, MemType::V128);
                return Ok(true);
            }
            _ => {}
        }
        let Some(vector) = vector_type(method.owner) else { return Ok(false) };
        let VectorType { lanes, mem, count } = vector;
        let value = match call {
            C::Bytes(byte) => self.b.inst(Op::ConstV128(u128::from_le_bytes([byte; 16])), IrType::V128),
            C::One => {
                let one = match lanes.scalar() {
                    IrType::F32 => self.b.inst(Op::ConstF32(1.0), IrType::F32),
                    IrType::F64 => self.b.inst(Op::ConstF64(1.0), IrType::F64),
                    IrType::I64 => self.b.i64(1),
                    _ => self.b.i32(1),
                };
                self.vector_op(VectorOp::Splat, lanes, one, None, None)
            }
            C::Unary(op) => {
                let value = self.vector_value(&args[0], mem)?;
                self.vector_op(op, lanes, value, None, None)
            }
            C::Magnitude => self.vector_magnitude(&args[0], vector)?,
            C::Binary(op) => {
                let (a, b) = (self.vector_value(&args[0], mem)?, self.vector_value(&args[1], mem)?);
                self.vector_op(op, lanes, a, Some(b), None)
            }
            C::ByScalar(op) => {
                let a = self.vector_value(&args[0], mem)?;
                let b = self.splat(&args[1], vector)?;
                self.vector_op(op, lanes, a, Some(b), None)
            }
            C::OfScalar(op) => {
                let a = self.splat(&args[0], vector)?;
                let b = self.vector_value(&args[1], mem)?;
                self.vector_op(op, lanes, a, Some(b), None)
            }
            C::Select => {
                let mask = self.vector_value(&args[0], mem)?;
                let (yes, no) = (self.vector_value(&args[1], mem)?, self.vector_value(&args[2], mem)?);
                self.vector_op(VectorOp::BitSelect, lanes, mask, Some(yes), Some(no))
            }
            C::Reinterpret => self.vector_value(&args[0], mem)?,
            C::AllEqual(wanted) => {
                let (a, b) = (self.vector_value(&args[0], mem)?, self.vector_value(&args[1], mem)?);
                let mask = self.vector_op(VectorOp::Eq, lanes, a, Some(b), None);
                let mut flag = self.vector_op(VectorOp::AllTrue, lanes, mask, None, None);
                if !wanted {
                    let one = self.b.i32(1);
                    flag = self.b.inst(Op::Bin(crate::ir::BinOp::Xor, flag, one), IrType::I32);
                }
                self.push_scalar(flag, IrType::I32);
                return Ok(true);
            }
            C::Dot => {
                let (a, b) = (self.vector_value(&args[0], mem)?, self.vector_value(&args[1], mem)?);
                let sum = self.vector_dot(lanes, count, a, b);
                self.push(Entry::scalar(sum, lanes.scalar()).with_type(sig.ret));
                return Ok(true);
            }
            C::Item => return self.vector_item(method, vector, args),
            C::CopyTo => return self.vector_copy_to(method, vector, args),
            C::Splat | C::Elements | C::FromArray => {
                let Some(value) = self.constructed(call, vector, &args[1..])? else { return Ok(false) };
                let (addr, offset, flags) = self.address_arg(&args[0])?;
                match self.b.local_at(addr) {
                    Some((local, _)) => self.spill(Effect::Local(local))?,
                    None => self.spill(Effect::Memory)?,
                }
                self.b.store(addr, offset, value, mem, flags);
                return Ok(true);
            }
            C::Constant(_) | C::Widen(_) | C::Narrow(_) | C::Convert(..) => return Ok(false),
        };
        self.push_vector(value, sig.ret, mem);
        Ok(true)
    }

    /// Abs of signed integers.
    fn vector_magnitude(&mut self, entry: &Entry, vector: VectorType) -> LoadResult<ValueId> {
        let lanes = vector.lanes;
        let value = self.vector_value(entry, vector.mem)?;
        let value = self.vector_op(VectorOp::Abs, lanes, value, None, None);
        let zero = self.b.inst(Op::ConstV128(0), IrType::V128);
        let is_least = self.vector_op(VectorOp::Lt, lanes, value, Some(zero), None);
        let any = self.vector_op(VectorOp::AnyTrue, lanes, is_least, None, None);
        // 0 or −1, which no unsigned number is.
        let none = self.b.i32(0);
        let flag = self.b.inst(Op::Bin(crate::ir::BinOp::Sub, none, any), IrType::I32);
        self.b
            .inst(Op::Conv { value: flag, target: ConvTarget::U4, checked: true, source_unsigned: false }, IrType::I32);
        Ok(value)
    }

    /// In the class library's order, which rounds as it does. Integers wrap at the width of a lane.
    fn vector_dot(&mut self, lanes: Lanes, count: u32, a: ValueId, b: ValueId) -> ValueId {
        use crate::ir::BinOp;
        let products = self.vector_op(VectorOp::Mul, lanes, a, Some(b), None);
        let ir = lanes.scalar();
        let mut sum = self.vector_op(VectorOp::Extract(0), lanes, products, None, None);
        for lane in 1..count as u8 {
            let product = self.vector_op(VectorOp::Extract(lane), lanes, products, None, None);
            sum = self.b.inst(Op::Bin(BinOp::Add, sum, product), ir);
        }
        match lanes {
            Lanes::I8 => self.b.conv(sum, ConvTarget::I1),
            Lanes::U8 => self.b.conv(sum, ConvTarget::U1),
            Lanes::I16 => self.b.conv(sum, ConvTarget::I2),
            Lanes::U16 => self.b.conv(sum, ConvTarget::U2),
            _ => sum,
        }
    }

    fn vector_widen(&mut self, lanes: Lanes, args: &[Entry]) -> LoadResult<bool> {
        let source = self.vector_value(&args[0], MemType::V128)?;
        let halves = [VectorOp::WidenLow, VectorOp::WidenHigh].map(|op| self.vector_op(op, lanes, source, None, None));
        self.spill(Effect::Memory)?;
        for (half, target) in halves.into_iter().zip(&args[1..]) {
            let (addr, offset, flags) = self.address_arg(target)?;
            if let Some((local, _)) = self.b.local_at(addr) {
                self.spill(Effect::Local(local))?;
            }
            self.b.store(addr, offset, half, MemType::V128, flags);
        }
        Ok(true)
    }

    /// An element by its index, which is checked first.
    fn vector_item(&mut self, method: &'static Method, vector: VectorType, args: &[Entry]) -> LoadResult<bool> {
        let index = self.value(&args[1])?;
        let index = self.fit(index, IrType::I32);
        let ret = method.sig()?.ret;
        let lanes = vector.lanes;
        let ir = lanes.scalar();
        if let Some(lane) =
            self.b.const_i32(index).and_then(|lane| u32::try_from(lane).ok()).filter(|n| *n < vector.count)
        {
            let value = self.vector_value(&args[0], vector.mem)?;
            let element = self.vector_op(VectorOp::Extract(lane as u8), lanes, value, None, None);
            self.push(Entry::scalar(element, ir).with_type(ret));
            return Ok(true);
        }
        let Some(mem) = super::kinds::mem_type(ret)? else { return Ok(false) };
        let count = self.b.i32(vector.count as i32);
        self.b.effect(Op::BoundsCheck { index, length: count });
        let addr = match args[0].ir {
            IrType::Struct(_) => self.struct_addr(&args[0])?,
            _ => {
                let (addr, offset, _) = self.address_arg(&args[0])?;
                self.b.offset(addr, offset)
            }
        };
        // The elements of a copy in memory: a vector in a register stays there.
        let value = self.b.load(addr, 0, vector.mem, plain(AliasClass::Any));
        let copy = self.b.temp(IrType::Struct(method.owner));
        let base = self.b.addr_of(copy);
        self.b.store(base, 0, value, vector.mem, plain(AliasClass::Any));
        let wide = self.b.conv(index, ConvTarget::U8);
        let size = self.b.i64(i64::from(lanes.bytes()));
        let distance = self.b.inst(Op::Bin(crate::ir::BinOp::Mul, wide, size), IrType::I64);
        let at = self.b.inst(Op::Bin(crate::ir::BinOp::Add, base, distance), IrType::ByRef);
        let element = self.b.load(at, 0, mem, plain(AliasClass::Any));
        self.push(Entry::scalar(element, ir).with_type(ret));
        Ok(true)
    }

    /// In place where all elements have room; else the method is called, and throws what it throws.
    fn vector_copy_to(&mut self, method: &'static Method, vector: VectorType, args: &[Entry]) -> LoadResult<bool> {
        use crate::ir::{BinOp, CallTarget, CmpOp, Terminator};
        let array = self.value(&args[1])?;
        let value = self.vector_value(&args[0], vector.mem)?;
        self.spill(Effect::Memory)?;
        let length = self.b.inst(Op::ArrayLen(array), IrType::I32);
        let zero = self.b.i32(0);
        let index = match args.get(2) {
            Some(entry) => {
                let index = self.value(entry)?;
                self.fit(index, IrType::I32)
            }
            None => zero,
        };
        // index >= 0 and index <= length - count, both signed.
        let count = self.b.i32(vector.count as i32);
        let room = self.b.inst(Op::Bin(BinOp::Sub, length, count), IrType::I32);
        let is_below = self.b.inst(Op::Cmp(CmpOp::Le, index, room), IrType::I32);
        let is_natural = self.b.inst(Op::Cmp(CmpOp::Ge, index, zero), IrType::I32);
        let cond = self.b.inst(Op::Bin(BinOp::And, is_below, is_natural), IrType::I32);
        let region = self.b.region();
        let (store, call, done) = (self.b.block(region), self.b.block(region), self.b.block(region));
        self.b.terminate(Terminator::Brif { cond, then: store, otherwise: call });
        self.b.current = Some(store);
        let element_size_bytes = vector.lanes.bytes();
        let addr = self.b.inst(Op::ElementAddr { array, index, element_size_bytes }, IrType::ByRef);
        self.b.store(addr, 0, value, vector.mem, plain(AliasClass::Element));
        self.b.terminate(Terminator::Jump(done));
        self.b.current = Some(call);
        self.mark_cold();
        // A copy: the variable itself is to stay in a register.
        let copy = self.b.temp(IrType::Struct(method.owner));
        self.b.expose(copy);
        let this = self.b.addr_of(copy);
        self.b.store(this, 0, value, vector.mem, plain(AliasClass::Any));
        let mut args = args.to_vec();
        args[0] = Entry::scalar(this, IrType::ByRef).non_null();
        let sig = self.closed_sig(method)?;
        let site = super::call_sites::CallSite {
            target: CallTarget::Direct(method),
            this: Some(IrType::ByRef),
            params: &sig.params,
            ret: sig.ret,
        };
        self.emit_call(&site, &args)?;
        self.b.terminate(Terminator::Jump(done));
        self.b.current = Some(done);
        self.forget_block_facts();
        Ok(true)
    }
}

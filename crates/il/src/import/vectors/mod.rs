//! Methods of vector types, imported in line.
//!
//! A vector on the evaluation stack is a struct like any other. An operation loads its operands from where they are and stores its result to a temporary; `opt::promote`
//! keeps such locals in registers. Where an exception of the class library's cannot be thrown by one of the importer's checks, the class library's method is called to
//! throw it.
//! `table` says which methods there are, `lanes` has the operations that take more than one instruction, `elements` those that read and write arrays and single lanes.

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod document;
mod elements;
mod lanes;
mod matrices;
mod numerics;
mod simd;
mod table;

use super::builder::plain;
use super::importer::Importer;
use super::stack::{Effect, Entry, Val};
use crate::ir::{AliasClass, IrType, Lanes, MemFlags, MemType, Op, UnOp, ValueId, VectorOp};
use crate::vector_types::{VectorType, vector_type};
use saki_abi::native::{NativeAbi, VectorRegisters};
use saki_types::{LoadResult, Method, Ty};
pub(super) use table::{VectorCall, find};

/// `Mono.Simd.AccelMode` of a processor whose vectors are used: SSE1 to SSE42. SSE4A is left out, since no operation uses it.
const ACCELERATION_MODE: i32 = match NativeAbi::HOST.vectors {
    VectorRegisters::Sse => 0x3f,
    VectorRegisters::Neon => 0,
};

impl Importer<'_> {
    fn vector_op(&mut self, op: VectorOp, lanes: Lanes, a: ValueId, b: Option<ValueId>, c: Option<ValueId>) -> ValueId {
        self.b.inst(Op::Vector { op, lanes, a, b, c }, op.result(lanes))
    }

    fn vector_unary(&mut self, op: VectorOp, lanes: Lanes, a: ValueId) -> ValueId {
        self.vector_op(op, lanes, a, None, None)
    }

    fn vector_binary(&mut self, op: VectorOp, lanes: Lanes, a: ValueId, b: ValueId) -> ValueId {
        self.vector_op(op, lanes, a, Some(b), None)
    }

    fn bits(&mut self, bytes: [u8; 16]) -> ValueId {
        self.b.inst(Op::ConstV128(u128::from_le_bytes(bytes)), IrType::V128)
    }

    fn permuted(&mut self, a: ValueId, b: ValueId, bytes: [u8; 16]) -> ValueId {
        let mask = self.bits(bytes);
        self.vector_op(VectorOp::Shuffle, Lanes::U8, a, Some(b), Some(mask))
    }

    /// Keeps the first `count` lanes of 4 bytes and sets the others to zero.
    fn first_lanes(&mut self, value: ValueId, count: u32) -> ValueId {
        if count == 4 {
            return value;
        }
        let mask = self.bits(std::array::from_fn(|byte| if byte < 4 * count as usize { 0xff } else { 0 }));
        self.vector_binary(VectorOp::And, Lanes::U8, value, mask)
    }

    /// The address of a struct argument, passed by value or by address (`this`).
    fn vector_place(&mut self, entry: &Entry) -> LoadResult<(ValueId, i32, MemFlags)> {
        if !matches!(entry.ir, IrType::Struct(_)) {
            return self.address_arg(entry);
        }
        if let Val::InMemory { addr, offset, flags } = entry.val
            && !flags.volatile
        {
            return Ok((addr, offset, flags));
        }
        let entry = match entry.val {
            Val::InMemory { .. } => Entry { val: Val::Temp(self.own_struct(entry)?), ..*entry },
            _ => *entry,
        };
        let addr = self.struct_addr(&entry)?;
        let (addr, offset) = self.b.split_offset(addr);
        Ok((addr, offset, plain(AliasClass::Any)))
    }

    /// The value of a vector argument, passed by value or by address.
    fn vector_value(&mut self, entry: &Entry, mem: MemType) -> LoadResult<ValueId> {
        let (addr, offset, flags) = self.vector_place(entry)?;
        Ok(self.b.load(addr, offset, mem, flags))
    }

    fn push_vector(&mut self, value: ValueId, ty: Ty, mem: MemType) {
        let temp = self.b.temp(IrType::Struct(ty));
        let addr = self.b.addr_of(temp);
        self.b.store(addr, 0, value, mem, plain(AliasClass::Any));
        self.push(Entry::of_struct(Val::Temp(temp), ty));
    }

    /// Writes a vector through a pointer.
    fn store_vector(&mut self, target: &Entry, value: ValueId, mem: MemType) -> LoadResult<()> {
        let (addr, offset, flags) = self.address_arg(target)?;
        match self.b.local_at(addr) {
            Some((local, _)) => self.spill(Effect::Local(local))?,
            None => self.spill(Effect::Memory)?,
        }
        self.b.store(addr, offset, value, mem, flags);
        Ok(())
    }

    /// A scalar argument, converted to the scalar type of a lane.
    fn lane_value(&mut self, entry: &Entry, lanes: Lanes) -> LoadResult<ValueId> {
        let value = self.value(entry)?;
        Ok(self.fit(value, lanes.scalar()))
    }

    /// A scalar in each used lane; the others are zero.
    fn splat(&mut self, entry: &Entry, vector: VectorType) -> LoadResult<ValueId> {
        let scalar = self.lane_value(entry, vector.lanes)?;
        Ok(self.splat_value(scalar, vector))
    }

    fn splat_value(&mut self, scalar: ValueId, vector: VectorType) -> ValueId {
        let VectorType { lanes, count, .. } = vector;
        let constant = match *self.b.op(scalar) {
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

    /// Imports `newobj` of a vector. False: not handled, without effect.
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
                let zero = self.bits([0; 16]);
                Some(self.with_lanes(zero, 0, lanes, args)?)
            }
            VectorCall::Joined => {
                let IrType::Struct(ty) = args[0].ir else { return Ok(None) };
                let Some(part) = vector_type(ty) else { return Ok(None) };
                let value = self.vector_value(&args[0], part.mem)?;
                Some(self.with_lanes(value, part.count as u8, lanes, &args[1..])?)
            }
            VectorCall::FromSpan => self.vector_from_span(vector, &args[0])?,
            VectorCall::FromArray => Some(self.vector_from_array(vector, args, false)?),
            _ => None,
        })
    }

    /// Puts scalars into lanes from `first` on.
    fn with_lanes(&mut self, start: ValueId, first: u8, lanes: Lanes, args: &[Entry]) -> LoadResult<ValueId> {
        let mut all = start;
        for (lane, entry) in (first..).zip(args) {
            let scalar = self.lane_value(entry, lanes)?;
            all = self.vector_binary(VectorOp::Insert(lane), lanes, all, scalar);
        }
        Ok(all)
    }

    /// The constant result of a method that reports features of the processor, so that calls through reflection and delegates return the same as calls in line.
    pub(super) fn constant_of(&self, method: &'static Method) -> Option<i32> {
        if !self.options.vectors {
            return None;
        }
        match find(method).ok()?? {
            VectorCall::Constant(number) => Some(number),
            VectorCall::AccelerationMode => Some(ACCELERATION_MODE),
            _ => None,
        }
    }

    /// Imports a call in line. False: not handled, without effect.
    pub(super) fn vector_call(
        &mut self,
        call: VectorCall,
        method: &'static Method,
        args: &[Entry],
    ) -> LoadResult<bool> {
        use VectorCall as C;
        let sig = self.closed_sig(method)?;
        match call {
            C::AsWritten => return Ok(false),
            C::Nothing => return Ok(true),
            C::Constant(number) => {
                self.push_i32(number);
                return Ok(true);
            }
            C::AccelerationMode => {
                self.push_i32(ACCELERATION_MODE);
                return Ok(true);
            }
            C::Matrix(call) => return self.matrix_call(call, method, args),
            _ => {}
        }
        let Some(vector) = table::subject(method)?.vector else { return Ok(false) };
        let VectorType { lanes, mem, count } = vector;
        let value = match call {
            C::Bytes(byte) => self.bits([byte; 16]),
            C::One => {
                let one = match lanes.scalar() {
                    IrType::F32 => self.b.inst(Op::ConstF32(1.0), IrType::F32),
                    IrType::F64 => self.b.inst(Op::ConstF64(1.0), IrType::F64),
                    IrType::I64 => self.b.i64(1),
                    _ => self.b.i32(1),
                };
                self.splat_value(one, vector)
            }
            C::Unary(VectorOp::HighBits) => {
                let value = self.vector_value(&args[0], mem)?;
                let mask = self.vector_unary(VectorOp::HighBits, lanes, value);
                self.push_scalar(mask, IrType::I32);
                return Ok(true);
            }
            C::AllEqual(wanted) => {
                let (a, b) = (self.vector_value(&args[0], mem)?, self.vector_value(&args[1], mem)?);
                let mask = self.vector_binary(VectorOp::Eq, lanes, a, b);
                self.push_all_true(mask, lanes, wanted);
                return Ok(true);
            }
            C::All(op) | C::AnyOf(op) => {
                let (a, b) = (self.vector_value(&args[0], mem)?, self.vector_value(&args[1], mem)?);
                let mask = self.vector_binary(op, lanes, a, b);
                let test = if matches!(call, C::All(_)) { VectorOp::AllTrue } else { VectorOp::AnyTrue };
                let flag = self.vector_unary(test, lanes, mask);
                self.push_scalar(flag, IrType::I32);
                return Ok(true);
            }
            C::Dot => {
                let (a, b) = (self.vector_value(&args[0], mem)?, self.vector_value(&args[1], mem)?);
                let sum = self.vector_dot(lanes, count, a, b);
                self.push(Entry::scalar(sum, lanes.scalar()).with_type(sig.ret));
                return Ok(true);
            }
            C::Length | C::LengthSquared => {
                let mut value = self.vector_value(&args[0], mem)?;
                if let Some(other) = args.get(1) {
                    let other = self.vector_value(other, mem)?;
                    value = self.vector_binary(VectorOp::Sub, lanes, value, other);
                }
                let mut sum = self.vector_dot(lanes, count, value, value);
                if call == C::Length {
                    sum = self.b.inst(Op::Un(UnOp::Sqrt, sum), IrType::F32);
                }
                self.push(Entry::scalar(sum, IrType::F32).with_type(sig.ret));
                return Ok(true);
            }
            C::Widen => return self.vector_widen(lanes, args),
            C::Item => return self.vector_item(method, vector, args),
            C::Component => return self.vector_component(method, vector, args),
            C::SetComponent => return self.set_vector_component(method, vector, args),
            C::CopyTo => return self.vector_copy_to(method, vector, 0, 1, args),
            C::SetArray => return self.vector_copy_to(method, vector, 1, 0, args),
            C::ArrayPart => self.vector_from_array(vector, args, lanes.bytes() <= 2)?,
            C::Splat | C::Elements | C::Joined | C::FromArray | C::FromSpan => {
                let Some(value) = self.constructed(call, vector, &args[1..])? else { return Ok(false) };
                self.store_vector(&args[0], value, mem)?;
                return Ok(true);
            }
            _ => match self.lane_call(call, vector, args, vector_type(sig.ret))? {
                Some(value) => value,
                None => return Ok(false),
            },
        };
        let mem = vector_type(sig.ret).map_or(mem, |result| result.mem);
        self.push_vector(value, sig.ret, mem);
        Ok(true)
    }

    /// Pushes whether all lanes of a mask are set, or whether not all are.
    fn push_all_true(&mut self, mask: ValueId, lanes: Lanes, wanted: bool) {
        let mut flag = self.vector_unary(VectorOp::AllTrue, lanes, mask);
        if !wanted {
            let one = self.b.i32(1);
            flag = self.b.inst(Op::Bin(crate::ir::BinOp::Xor, flag, one), IrType::I32);
        }
        self.push_scalar(flag, IrType::I32);
    }
}

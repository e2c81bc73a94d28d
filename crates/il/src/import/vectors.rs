//! Methods of vector types, imported in line.
//!
//! A vector on the evaluation stack is a struct like any other. An operation loads its operands from where they are and
//! stores its result to a temporary; `opt::promote` keeps such locals in registers. Where an exception of the class
//! library's cannot be thrown by one of the importer's checks, the class library's method is called to throw it.
//! `rows` and `table` say which methods there are, `values` loads and stores vectors, `lanes` has the operations that
//! take more than one instruction, `elements` those that read and write arrays and single lanes.

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod document;
mod elements;
mod lanes;
mod matrices;
mod net;
mod net_operations;
mod numerics;
mod rows;
mod simd;
mod table;
mod values;

use super::options::ImportOptions;
use super::stack::StackEntry;
use crate::ir::{IrType, Op, UnOp, ValueId, VectorOp};
use crate::vector_types::{VectorType, X86, vector_type};
pub(super) use rows::VectorCall;
use saki_abi::native::{NativeAbi, VectorRegisters};
use saki_types::{LoadResult, Method};
pub(super) use table::find;
pub(super) use values::VectorEmitter;

/// `Mono.Simd.AccelMode` of a processor whose vectors are used: SSE1 to SSE42. SSE4A is left out, since no operation
/// uses it.
const ACCELERATION_MODE: i32 = match NativeAbi::HOST.vectors {
    VectorRegisters::Sse => 0x3f,
    VectorRegisters::Neon => 0,
};

/// Whether calls of the method become operations of the compiler's, if it has vectors; those of instructions only in
/// the core assembly.
///
/// # Errors
/// The errors of the method's signature.
pub fn is_vector_operation(method: &'static Method) -> LoadResult<bool> {
    Ok(find(method)?.is_some())
}

/// Whether the method is one of a class of x86's instructions.
pub(super) fn is_of_instructions(method: &'static Method) -> bool {
    method.owner.def().is_some_and(|def| def.namespace == X86)
}

/// The constant result of a method that reports features of the processor, so that calls through reflection and
/// delegates return the same as calls in line.
pub(super) fn constant_of(options: &ImportOptions, method: &'static Method) -> Option<i32> {
    if !options.vectors || is_of_instructions(method) {
        return None;
    }
    match find(method).ok()?? {
        VectorCall::Constant(number) => Some(number),
        VectorCall::AccelerationMode => Some(ACCELERATION_MODE),
        _ => None,
    }
}

impl VectorEmitter<'_, '_> {
    /// Imports `newobj` of a vector. False: not handled, without effect.
    pub(super) fn new_vector(&mut self, call: VectorCall, constructor: &'static Method) -> LoadResult<bool> {
        let Some(vector) = vector_type(constructor.owner) else { return Ok(false) };
        let args = self.emit.pop_args(self.emit.closed_sig(constructor)?, false)?;
        let Some(value) = self.constructed(call, vector, &args)? else {
            self.emit.s.stack.extend(args);
            return Ok(false);
        };
        self.push_vector(value, constructor.owner, vector.mem);
        Ok(true)
    }

    fn constructed(
        &mut self,
        call: VectorCall,
        vector: VectorType,
        args: &[StackEntry],
    ) -> LoadResult<Option<ValueId>> {
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

    /// Imports a call in line. False: not handled, without effect.
    pub(super) fn vector_call(
        &mut self,
        call: VectorCall,
        method: &'static Method,
        args: &[StackEntry],
    ) -> LoadResult<bool> {
        use VectorCall as C;
        let sig = self.emit.closed_sig(method)?;
        match call {
            C::AsWritten => return Ok(false),
            C::Nothing => return Ok(true),
            C::Constant(number) => {
                self.emit.push_i32(number);
                return Ok(true);
            }
            C::AccelerationMode => {
                self.emit.push_i32(ACCELERATION_MODE);
                return Ok(true);
            }
            C::Matrix(call) => return self.matrix_call(call, method, args),
            C::Bits(_) | C::Log2 => return self.count_bits(call, method, &args[0]),
            _ => {}
        }
        let Some(vector) = table::subject(method)?.vector else { return Ok(false) };
        if let Some(is_done) = self.net_call(call, vector, method, args)? {
            return Ok(is_done);
        }
        let VectorType { lanes, mem, count } = vector;
        let value = match call {
            C::Bytes(byte) => self.bits([byte; 16]),
            C::One => {
                let one = match lanes.scalar() {
                    IrType::F32 => self.emit.b.inst(Op::ConstF32(1.0), IrType::F32),
                    IrType::F64 => self.emit.b.inst(Op::ConstF64(1.0), IrType::F64),
                    IrType::I64 => self.emit.b.i64(1),
                    _ => self.emit.b.i32(1),
                };
                self.splat_value(one, vector)
            }
            C::Unary(VectorOp::HighBits) => {
                let value = self.vector_value(&args[0], mem)?;
                let mask = self.vector_unary(VectorOp::HighBits, lanes, value);
                self.emit.push_scalar(mask, IrType::I32);
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
                self.emit.push_scalar(flag, IrType::I32);
                return Ok(true);
            }
            C::Dot => {
                let (a, b) = (self.vector_value(&args[0], mem)?, self.vector_value(&args[1], mem)?);
                let sum = self.vector_dot(lanes, count, a, b);
                self.emit.push(StackEntry::scalar(sum, lanes.scalar()).with_type(sig.ret));
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
                    sum = self.emit.b.inst(Op::Un(UnOp::Sqrt, sum), IrType::F32);
                }
                self.emit.push(StackEntry::scalar(sum, IrType::F32).with_type(sig.ret));
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
}

//! Arguments of native calls that the code generator cannot place by itself: structs by value whose native layout is not
//! the managed one.
//!
//! The whole argument list is brought into plain words so that each lands where the System V convention of x86-64 wants
//! it: integer words first (filled up to all registers when something goes to the stack), then floats, then the words of
//! the stack. Invariant: what goes to the stack is an integer word behind six others, so it cannot land in a register.
//! Left out: other processors, for which the plan refuses such structs.

use super::builder::{FunctionBuilder, flags};
use super::marshal::{Action, Eightbyte, MethodPlan, ParamPlan, eightbytes};
use crate::ir::{AliasClass, CallSig, ConvTarget, IrType, MemType, Op, UnOp, ValueId};
use saki_types::LoadResult;

const INTEGER_REGISTERS: usize = 6;
const FLOAT_REGISTERS: usize = 8;

#[derive(Default)]
struct Words {
    integers: Vec<ValueId>,
    floats: Vec<ValueId>,
    stack: Vec<ValueId>,
    /// Integer registers that are not taken by the code generator's own hidden argument.
    integer_limit: usize,
}

/// Whether the call needs this.
pub(super) fn is_needed(plan: &MethodPlan) -> bool {
    plan.params.iter().chain([&plan.ret]).any(|param| param.action == Action::StructValue)
}

/// Where a struct result of another layout arrives.
pub(super) enum StructResult {
    /// The callee writes it to this address.
    Memory(ValueId),
    /// One register holds it.
    Register(Eightbyte),
}

/// How the result of the plan arrives, if it is such a struct.
///
/// # Errors
/// Those of the layouts.
pub(super) fn struct_result(b: &mut FunctionBuilder, ret: &ParamPlan) -> LoadResult<Option<StructResult>> {
    if ret.action != Action::StructValue {
        return Ok(None);
    }
    Ok(Some(match eightbytes(&ret.native, ret.ty)?.as_deref() {
        Some([class]) => StructResult::Register(*class),
        // The plan refuses results in two registers.
        _ => {
            let place = b.local(IrType::Block(ret.native.size_bytes()?.next_multiple_of(8)));
            StructResult::Memory(b.address_of(place))
        }
    }))
}

/// Rearranges arguments and signature; see the module header.
///
/// # Errors
/// Those of the layouts.
pub(super) fn arrange(
    b: &mut FunctionBuilder,
    plan: &MethodPlan,
    sig: &CallSig,
    arguments: &[ValueId],
    result: Option<&StructResult>,
) -> LoadResult<(CallSig, Vec<ValueId>)> {
    let mut words = Words { integer_limit: INTEGER_REGISTERS, ..Words::default() };
    if let Some(StructResult::Memory(place)) = result {
        words.integers.push(*place);
    }
    if let Some(IrType::Struct(ty)) = sig.ret
        && eightbytes(&plan.ret.native, ty)?.is_none()
    {
        words.integer_limit -= 1;
    }
    for ((param, ty), value) in plan.params.iter().zip(&sig.params).zip(arguments) {
        match ty {
            _ if param.action == Action::StructValue => words.push_struct(b, param, *value)?,
            IrType::Struct(ty) => {
                let copy = b.local(IrType::Block(param.native.size_bytes()?.next_multiple_of(8)));
                let dst = b.address_of(copy);
                let flags = flags(AliasClass::Any);
                b.emit(Op::CopyStruct { dst, src: *value, ty, barrier: false, flags }, IrType::Void);
                words.push_struct(b, param, dst)?;
            }
            IrType::F32 | IrType::F64 => words.push_float(b, *ty, *value),
            IrType::I32 => words.push_integer(b, *value, true),
            _ => words.push_integer(b, *value, false),
        }
    }
    if !words.stack.is_empty() {
        while words.integers.len() < words.integer_limit {
            let zero = b.const_i64(0);
            words.integers.push(zero);
        }
    }
    let ret = match result {
        None => sig.ret,
        Some(StructResult::Memory(_) | StructResult::Register(Eightbyte::Integer)) => Some(IrType::I64),
        Some(StructResult::Register(Eightbyte::Sse)) => Some(IrType::F64),
    };
    let values: Vec<ValueId> = words.integers.into_iter().chain(words.floats).chain(words.stack).collect();
    let params = values.iter().map(|value| b.value_type(*value)).map(word_type).collect();
    Ok((CallSig { params, ret, ..CallSig::default() }, values))
}

/// Addresses are plain words to native code.
fn word_type(ty: IrType) -> IrType {
    if matches!(ty, IrType::ByRef | IrType::Ref) { IrType::I64 } else { ty }
}

impl Words {
    fn push_integer(&mut self, b: &mut FunctionBuilder, value: ValueId, is_narrow: bool) {
        if self.integers.len() < self.integer_limit {
            self.integers.push(value);
        } else {
            let word = if is_narrow { b.conv(value, ConvTarget::I8) } else { value };
            self.stack.push(word);
        }
    }

    fn push_float(&mut self, b: &mut FunctionBuilder, ty: IrType, value: ValueId) {
        if self.floats.len() < FLOAT_REGISTERS {
            self.floats.push(value);
            return;
        }
        let word = if ty == IrType::F32 {
            let bits = b.emit(Op::Un(UnOp::BitcastF32I32, value), IrType::I32);
            b.conv(bits, ConvTarget::U8)
        } else {
            b.emit(Op::Un(UnOp::BitcastF64I64, value), IrType::I64)
        };
        self.stack.push(word);
    }

    /// A struct at `address`, whose storage is a multiple of 8 bytes.
    fn push_struct(&mut self, b: &mut FunctionBuilder, param: &ParamPlan, address: ValueId) -> LoadResult<()> {
        let classes = eightbytes(&param.native, param.ty)?;
        if let Some(classes) = &classes {
            let integers = classes.iter().filter(|class| **class == Eightbyte::Integer).count();
            let floats = classes.len() - integers;
            if self.integers.len() + integers <= self.integer_limit && self.floats.len() + floats <= FLOAT_REGISTERS {
                for (index, class) in classes.iter().enumerate() {
                    let (mem, list) = match class {
                        Eightbyte::Integer => (MemType::I64, &mut self.integers),
                        Eightbyte::Sse => (MemType::F64, &mut self.floats),
                    };
                    list.push(b.load(address, index as i32 * 8, mem, flags(AliasClass::Any)));
                }
                return Ok(());
            }
        }
        for index in 0..param.native.size_bytes()?.div_ceil(8) {
            let word = b.load(address, index as i32 * 8, MemType::I64, flags(AliasClass::Any));
            self.stack.push(word);
        }
        Ok(())
    }
}

//! Calls of C functions.
//!
//! Scalars are passed unchanged; C functions that return `bool`, `char` or `short` leave the upper bits undefined,
//! which the importer masks. 32-bit integers are sign-extended, because programs pass `int` to functions that take a
//! `long`, which works under Mono and with most C compilers. Which argument is passed where, `native_signature` says.
//! Left out: variadic C functions on x86-64 (al is not set).

use super::clif_builder::MemoryKind;
use super::context::Lowering;
use super::native_transition::NativeCall;
use crate::error::CompileError;
use crate::error::Lowered;
use crate::native_signature::{NativeParam, NativePart, NativeResult, NativeSignature};
use crate::type_facts::{ValueLayout, value_layout};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use saki_il::ir::{CallSig, IrType, Transition, ValueId};

pub(super) fn native_call(
    cx: &mut Lowering<'_, '_>,
    code: ValueId,
    transition: Transition,
    sig: &CallSig,
    args: &[ValueId],
    struct_result: Option<ValueId>,
) -> Lowered<Option<Value>> {
    if args.len() != sig.params.len() {
        return Err(CompileError::invalid_ir("arguments and parameters of a native call differ in number"));
    }
    let code = cx.value_as(code, types::I64)?;
    let NativeSignature { mut machine, params, result } = NativeSignature::new(cx.native_abi(), sig)?;
    let mut values: Vec<Option<Value>> = vec![None; machine.params.len()];
    if let NativeResult::Memory { position } = result {
        values[position] = Some(result_place(cx, struct_result)?);
    }
    for ((&arg, param), &ty) in args.iter().zip(&params).zip(&sig.params) {
        match param {
            &NativeParam::Scalar { position, ty } => {
                let value = cx.value_as(arg, ty)?;
                values[position] = Some(to_word(cx, value, machine.params[position].value_type));
            }
            NativeParam::Parts(parts) => {
                let (address, flags) = (struct_copy(cx, arg, ty)?, cx.trusted(MemoryKind::Program));
                for &NativePart { position, ty, offset } in parts {
                    values[position] = Some(cx.b.ins().load(ty, flags, address, offset));
                }
            }
            &NativeParam::Address { position } => values[position] = Some(struct_copy(cx, arg, ty)?),
        }
    }
    let mut words = Vec::with_capacity(values.len());
    for (param, value) in machine.params.iter_mut().zip(values) {
        if param.value_type == types::I32 {
            *param = param.sext();
        }
        words.push(value.unwrap_or_else(|| cx.b.ins().iconst(types::I64, 0)));
    }
    let results = NativeCall { code, sig, signature: machine, values: &words }.make(cx, transition)?;
    let value = match &result {
        NativeResult::Scalar => results.first().copied(),
        NativeResult::Memory { .. } => None,
        NativeResult::Parts(parts) => {
            let place = result_place(cx, struct_result)?;
            store_parts(cx, sig, place, parts, &results)?;
            None
        }
    };
    cx.release_temps();
    Ok(value)
}

fn result_place(cx: &mut Lowering<'_, '_>, struct_result: Option<ValueId>) -> Lowered<Value> {
    match struct_result {
        Some(place) => cx.value_as(place, types::I64),
        None => Err(CompileError::invalid_ir("a struct result without a place")),
    }
}

/// The scalar in the low bytes of a word for the stack, if that is asked for; the upper ones are those of a sign
/// extension, or 0.
fn to_word(cx: &mut Lowering<'_, '_>, value: Value, ty: Type) -> Value {
    let from = cx.type_of(value);
    if from == ty {
        return value;
    }
    match from {
        types::I32 => cx.b.ins().sextend(ty, value),
        types::F32 => {
            let bits = cx.b.ins().bitcast(types::I32, MemFlagsData::new(), value);
            cx.b.ins().uextend(ty, bits)
        }
        _ => cx.b.ins().bitcast(ty, MemFlagsData::new(), value),
    }
}

/// The address of a copy of the struct that can be read in whole words of 8 bytes.
fn struct_copy(cx: &mut Lowering<'_, '_>, arg: ValueId, ty: IrType) -> Lowered<Value> {
    let IrType::Struct(ty) = ty else {
        return Err(CompileError::invalid_ir("a scalar that is passed as a struct"));
    };
    let source = cx.value_as(arg, types::I64)?;
    let layout = value_layout(ty)?;
    let padded = ValueLayout::plain(layout.size_bytes.next_multiple_of(8), 8);
    let slot = cx.struct_temp(padded);
    let address = cx.b.ins().stack_addr(types::I64, slot, 0);
    cx.copy_memory(address, source, layout);
    Ok(address)
}

/// Stores a struct that is in the registers of a result.
fn store_parts(
    cx: &mut Lowering<'_, '_>,
    sig: &CallSig,
    place: Value,
    parts: &[NativePart],
    results: &[Value],
) -> Lowered {
    let Some(IrType::Struct(ty)) = sig.ret else {
        return Err(CompileError::invalid_ir("a scalar result in parts"));
    };
    let layout = value_layout(ty)?;
    let slot = cx.struct_temp(ValueLayout::plain(layout.size_bytes.next_multiple_of(16), 8));
    let address = cx.b.ins().stack_addr(types::I64, slot, 0);
    let flags = cx.trusted(MemoryKind::Program);
    for part in parts {
        cx.b.ins().store(flags, results[part.position], address, part.offset);
    }
    cx.copy_memory(place, address, layout);
    Ok(())
}

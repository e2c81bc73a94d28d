//! Calls of C functions.
//!
//! Scalars are passed unchanged; C functions that return `bool`, `char` or `short` leave the upper bits undefined,
//! which the importer masks. 32-bit integers are sign-extended, because programs pass `int` to functions that take a
//! `long`, which works under Mono and with most C compilers. Left out: variadic C functions (al is not set) and structs
//! by value on aarch64.

use super::clif_builder::MemoryKind;
use super::context::Lowering;
use super::native_transition::NativeCall;
use crate::error::CompileError;
use crate::error::Lowered;
use crate::signatures::machine_type;
use crate::struct_classes::{classify, eightbyte_type};
use crate::type_facts::{ValueLayout, value_layout};
use cranelift_codegen::ir::{AbiParam, ArgumentPurpose, InstBuilder, Signature, Value, types};
use cranelift_codegen::isa::CallConv;
use saki_abi::native::{ArgumentRegisters, MAX_REGISTER_STRUCT_BYTES, StructClass};
use saki_il::ir::{CallSig, IrType, Transition, ValueId};
use saki_types::Ty;

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
    let mut signature = Signature::new(CallConv::SystemV);
    let mut values = Vec::with_capacity(args.len() + 1);
    let mut registers = cx.native_abi().argument_registers();
    let result_class = native_result(cx, sig, struct_result, &mut signature, &mut values, &mut registers)?;
    for (&arg, &param) in args.iter().zip(&sig.params) {
        match param {
            IrType::Struct(ty) => native_struct(cx, arg, ty, &mut signature, &mut values, &mut registers)?,
            param => {
                let ty = machine_type(param).ok_or_else(|| CompileError::invalid_ir("a void parameter"))?;
                let pool = if ty.is_float() { &mut registers.float } else { &mut registers.integer };
                *pool = pool.saturating_sub(1);
                let abi = AbiParam::new(ty);
                signature.params.push(if ty == types::I32 { abi.sext() } else { abi });
                values.push(cx.value_as(arg, ty)?);
            }
        }
    }
    let results = NativeCall { code, sig, signature, values: &values }.make(cx, transition)?;
    let value = store_native_result(cx, sig, struct_result, result_class, &results)?;
    cx.release_temps();
    Ok(value)
}

/// Declares the result; for a struct returned in memory, adds the pointer as first argument.
fn native_result(
    cx: &mut Lowering<'_, '_>,
    sig: &CallSig,
    struct_result: Option<ValueId>,
    signature: &mut Signature,
    values: &mut Vec<Value>,
    registers: &mut ArgumentRegisters,
) -> Lowered<Option<StructClass>> {
    match sig.ret {
        Some(IrType::Struct(ty)) => {
            let class = classify(cx.native_abi(), ty)?;
            match &class {
                StructClass::Registers(parts) => {
                    signature.returns.extend(parts.iter().map(|&part| AbiParam::new(eightbyte_type(part))));
                }
                StructClass::Memory => {
                    let Some(place) = struct_result else {
                        return Err(CompileError::invalid_ir("a struct result without a place"));
                    };
                    signature.params.push(AbiParam::new(types::I64));
                    values.push(cx.value_as(place, types::I64)?);
                    registers.integer -= 1;
                }
            }
            Ok(Some(class))
        }
        ret => {
            signature.returns.extend(ret.and_then(machine_type).map(AbiParam::new));
            Ok(None)
        }
    }
}

fn native_struct(
    cx: &mut Lowering<'_, '_>,
    arg: ValueId,
    ty: Ty,
    signature: &mut Signature,
    values: &mut Vec<Value>,
    registers: &mut ArgumentRegisters,
) -> Lowered {
    let source = cx.value_as(arg, types::I64)?;
    let layout = value_layout(ty)?;
    // A copy whose size is a multiple of 8 can be read in whole eightbytes.
    let padded = ValueLayout::plain(layout.size_bytes.next_multiple_of(8), 8);
    let slot = cx.struct_temp(padded);
    let address = cx.b.ins().stack_addr(types::I64, slot, 0);
    cx.copy_memory(address, source, layout);
    match classify(cx.native_abi(), ty)? {
        StructClass::Registers(parts) if registers.take(&parts) => {
            let flags = cx.trusted(MemoryKind::Program);
            for (index, &part) in parts.iter().enumerate() {
                let ty = eightbyte_type(part);
                signature.params.push(AbiParam::new(ty));
                values.push(cx.b.ins().load(ty, flags, address, index as i32 * 8));
            }
        }
        _ => {
            let purpose = ArgumentPurpose::StructArgument(padded.size_bytes);
            signature.params.push(AbiParam::special(types::I64, purpose));
            values.push(address);
        }
    }
    Ok(())
}

fn store_native_result(
    cx: &mut Lowering<'_, '_>,
    sig: &CallSig,
    struct_result: Option<ValueId>,
    class: Option<StructClass>,
    results: &[Value],
) -> Lowered<Option<Value>> {
    let (Some(StructClass::Registers(_)), Some(IrType::Struct(ty))) = (class, sig.ret) else {
        return Ok(results.first().copied().filter(|_| !matches!(sig.ret, Some(IrType::Struct(_)))));
    };
    let Some(place) = struct_result else {
        return Err(CompileError::invalid_ir("a struct result without a place"));
    };
    let place = cx.value_as(place, types::I64)?;
    let slot = cx.struct_temp(ValueLayout::plain(MAX_REGISTER_STRUCT_BYTES, 8));
    let address = cx.b.ins().stack_addr(types::I64, slot, 0);
    let flags = cx.trusted(MemoryKind::Program);
    for (index, &part) in results.iter().enumerate() {
        cx.b.ins().store(flags, part, address, index as i32 * 8);
    }
    let layout = value_layout(ty)?;
    cx.copy_memory(place, address, layout);
    Ok(None)
}

//! How structs with their managed layout are passed to native code: their scalars, for `abi::StructClass`; and the
//! stub through which a function with such arguments is called.

use crate::error::CompileError;
use cranelift_codegen::ir::{Type, types};
use saki_abi::StubId;
use saki_abi::native::{MAX_REGISTER_STRUCT_BYTES, NativeAbi, RegisterPart, Scalar, StructClass};
use saki_abi::stubs::MAX_MEMORY_ARGUMENT_BYTES;
use saki_il::ir::{CallSig, IrType, Transition};
use saki_types::{ElementType, Ty};

/// How the thread leaves managed state for a call of a C function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NativeDoor {
    /// It stays in managed state.
    None,
    /// By the stub, which copies so many bytes of arguments in memory.
    Stub { stub: StubId, memory_bytes: u32 },
    /// By helpers, since the arguments in memory are too many for the stub. An exception cannot leave the function.
    Helpers,
}

/// # Errors
/// Those of `classify`.
pub(crate) fn native_door(abi: &NativeAbi, transition: Transition, sig: &CallSig) -> Result<NativeDoor, CompileError> {
    let stubs = match transition {
        Transition::None => return Ok(NativeDoor::None),
        Transition::Leave => [StubId::CallNative, StubId::CallNativeInMemory],
        Transition::LeaveSavingError => [StubId::CallNativeSavingError, StubId::CallNativeInMemorySavingError],
    };
    let memory_bytes = memory_bytes(abi, sig)?.next_multiple_of(16);
    Ok(match memory_bytes {
        0 => NativeDoor::Stub { stub: stubs[0], memory_bytes },
        _ if memory_bytes as usize <= MAX_MEMORY_ARGUMENT_BYTES => NativeDoor::Stub { stub: stubs[1], memory_bytes },
        _ => NativeDoor::Helpers,
    })
}

/// Bytes in which the arguments have room that a C function of this signature gets in memory. 0: there are none.
fn memory_bytes(abi: &NativeAbi, sig: &CallSig) -> Result<u32, CompileError> {
    let mut registers = abi.argument_registers();
    if let Some(IrType::Struct(ty)) = sig.ret
        && classify(abi, ty)?.registers().is_none()
        && abi.passes_result_address_as_argument()
    {
        registers.integer -= 1;
    }
    let mut memory_bytes = 0;
    for &param in &sig.params {
        let fits = match param {
            IrType::Struct(ty) => match classify(abi, ty)? {
                StructClass::Registers(parts) => registers.take(&parts),
                StructClass::Reference => registers.take(&[RegisterPart::Integer]),
                StructClass::Memory => false,
            },
            IrType::F32 | IrType::F64 => registers.take(&[RegisterPart::Float64]),
            _ => registers.take(&[RegisterPart::Integer]),
        };
        if !fits {
            // Beside the size, room for alignment to 16 bytes.
            memory_bytes += match param {
                IrType::Struct(ty) => ty.value_size_bytes()?.next_multiple_of(8) + 8,
                _ => 8,
            };
        }
    }
    Ok(memory_bytes)
}

/// Machine type in which the part is passed.
pub(crate) fn part_type(part: RegisterPart) -> Type {
    match part {
        RegisterPart::Integer => types::I64,
        RegisterPart::Float64 => types::F64,
        RegisterPart::Float32 => types::F32,
    }
}

/// Classifies a struct by its fields.
///
/// # Errors
/// The load errors of its fields' types.
pub(crate) fn classify(abi: &NativeAbi, ty: Ty) -> Result<StructClass, CompileError> {
    let struct_bytes = ty.value_size_bytes()?;
    if struct_bytes > MAX_REGISTER_STRUCT_BYTES {
        return Ok(abi.classify(struct_bytes, &[]));
    }
    let mut scalars = Vec::new();
    let mut pending = vec![(ty, 0u32)];
    while let Some((ty, offset_bytes)) = pending.pop() {
        let ty = ty.underlying();
        if ty.element_type == ElementType::ValueType {
            let mut last = None;
            let mut count = 0;
            for field in ty.fields()?.iter().filter(|f| !f.is_static() && !f.is_literal()) {
                last = Some((field.storage_ty()?, field.offset_bytes()?));
                count += 1;
                pending.push((field.storage_ty()?, offset_bytes + field.offset_bytes()?));
            }
            if let (Some(length), Some((element, _))) = (ty.inline_array_length()?, last) {
                let stride = ty.value_size_bytes()? / length;
                pending.extend((1..length).map(|index| (element, offset_bytes + index * stride)));
                continue;
            }
            // A fixed-size buffer has a field for its first element only.
            if let (1, Some((element, first))) = (count, last)
                && element.underlying().element_type != ElementType::ValueType
                && !element.is_reference_type()
            {
                let (stride, end) = (element.value_size_bytes()?.max(1), ty.value_size_bytes()?);
                let places = (first + stride..end).step_by(stride as usize);
                pending.extend(places.map(|at| (element, offset_bytes + at)));
            }
            continue;
        }
        let is_address = ty.is_reference_type() || ty.is_byref() || ty.is_pointer();
        let size_bytes = if is_address { 8 } else { ty.value_size_bytes()? };
        let is_float = matches!(ty.element_type, ElementType::R4 | ElementType::R8);
        scalars.push(Scalar { offset_bytes, size_bytes, is_float });
    }
    Ok(abi.classify(struct_bytes, &scalars))
}

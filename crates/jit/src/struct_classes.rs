//! How structs with their managed layout are passed to native code: their scalars, for `abi::StructClass`; and whether
//! a signature needs memory for arguments.

use crate::error::CompileError;
use cranelift_codegen::ir::{Type, types};
use saki_abi::native::{MAX_REGISTER_STRUCT_BYTES, NativeAbi, RegisterPart, Scalar, StructClass};
use saki_il::ir::{CallSig, IrType};
use saki_types::{ElementType, Ty};

/// Whether a C function of this signature gets all its arguments in registers.
///
/// # Errors
/// Those of `classify`.
pub(crate) fn passes_in_registers(abi: &NativeAbi, sig: &CallSig) -> Result<bool, CompileError> {
    let mut registers = abi.argument_registers();
    if let Some(IrType::Struct(ty)) = sig.ret
        && classify(abi, ty)?.registers().is_none()
        && abi.passes_result_address_as_argument()
    {
        registers.integer -= 1;
    }
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
            return Ok(false);
        }
    }
    Ok(true)
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
                last = Some((field.ty()?, field.offset_bytes()?));
                count += 1;
                pending.push((field.ty()?, offset_bytes + field.offset_bytes()?));
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

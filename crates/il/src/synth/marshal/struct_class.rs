//! How a native struct is passed by value: its scalars, for `abi::StructClass`.
//!
//! Only for structs whose native layout differs from the managed one; the code generator finds the scalars of the
//! others itself.

use super::layout::native_layout;
use super::native_type::NativeType;
use saki_abi::native::{MAX_REGISTER_STRUCT_BYTES, NativeAbi, Scalar, StructClass};
use saki_types::{ElementType, LoadResult, Ty};

/// How the struct is passed.
///
/// # Errors
/// The errors of the layouts.
pub fn struct_class(native: &NativeType, ty: Ty) -> LoadResult<StructClass> {
    let size_bytes = native.size_bytes()?;
    if size_bytes > MAX_REGISTER_STRUCT_BYTES {
        return Ok(NativeAbi::HOST.classify(size_bytes, &[]));
    }
    let mut scalars = Vec::new();
    collect(native, ty, 0, &mut scalars)?;
    Ok(NativeAbi::HOST.classify(size_bytes, &scalars))
}

fn collect(native: &NativeType, ty: Ty, offset_bytes: u32, scalars: &mut Vec<Scalar>) -> LoadResult<()> {
    let mut push = |size_bytes: u32, is_float: bool| scalars.push(Scalar { offset_bytes, size_bytes, is_float });
    match native {
        NativeType::Same { size_bytes, .. } => match ty.underlying().element_type {
            ElementType::R4 | ElementType::R8 => push(*size_bytes, true),
            ElementType::ValueType => collect_fields(ty, offset_bytes, scalars)?,
            _ => push(*size_bytes, false),
        },
        NativeType::Struct(ty) | NativeType::ClassInline(ty) => collect_fields(ty, offset_bytes, scalars)?,
        NativeType::FixedString { units, wide } => {
            let unit_bytes = if *wide { 2 } else { 1 };
            for index in 0..*units {
                scalars.push(Scalar {
                    offset_bytes: offset_bytes + index * unit_bytes,
                    size_bytes: unit_bytes,
                    is_float: false,
                });
            }
        }
        NativeType::FixedChars { count } => {
            for index in 0..*count {
                scalars.push(Scalar { offset_bytes: offset_bytes + index, size_bytes: 1, is_float: false });
            }
        }
        NativeType::FixedArray { element, element_type, count } => {
            let stride = element.size_bytes()?;
            for index in 0..*count {
                collect(element, element_type, offset_bytes + index * stride, scalars)?;
            }
        }
        other => push(other.size_bytes()?, false),
    }
    Ok(())
}

fn collect_fields(ty: Ty, offset_bytes: u32, scalars: &mut Vec<Scalar>) -> LoadResult<()> {
    let layout = native_layout(ty)?;
    for field in &layout.fields {
        collect(&field.native, field.field.ty()?, offset_bytes + field.offset_bytes, scalars)?;
    }
    // A fixed-size buffer has a field for its first element only.
    if let [first] = layout.fields.as_slice()
        && first.field.ty()?.underlying().element_type != ElementType::ValueType
    {
        let stride = first.native.size_bytes()?.max(1);
        let mut next = first.offset_bytes + stride;
        while next + stride <= layout.size_bytes {
            collect(&first.native, first.field.ty()?, offset_bytes + next, scalars)?;
            next += stride;
        }
    }
    Ok(())
}

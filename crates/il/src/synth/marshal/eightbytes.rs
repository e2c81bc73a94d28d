//! How the System V convention of x86-64 passes a native struct by value.
//!
//! Only for structs whose native layout differs from the managed one; the code generator classifies the others itself.
//! Invariant: a struct with a field that crosses an eightbyte boundary is passed in memory. Left out: vector and x87 types, to
//! which no managed type is marshalled.

use super::layout::native_layout;
use super::native_type::NativeType;
use saki_types::{ElementType, LoadResult, Ty};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Eightbyte {
    Integer,
    Sse,
}

/// Size of the largest struct that is passed in registers.
const MAX_REGISTER_BYTES: u32 = 16;

/// A scalar inside the struct.
struct Leaf {
    offset_bytes: u32,
    size_bytes: u32,
    is_float: bool,
}

/// The classes of a struct's eightbytes; None when it is passed in memory.
///
/// # Errors
/// The errors of the layouts.
pub fn eightbytes(native: &NativeType, ty: Ty) -> LoadResult<Option<Vec<Eightbyte>>> {
    let size_bytes = native.size_bytes()?;
    if size_bytes > MAX_REGISTER_BYTES || size_bytes == 0 {
        return Ok(None);
    }
    let mut leaves = Vec::new();
    collect(native, ty, 0, &mut leaves)?;
    if leaves.iter().any(|leaf| leaf.offset_bytes % leaf.size_bytes.max(1) != 0) {
        return Ok(None);
    }
    let class = |index: u32| {
        let mut inside = leaves.iter().filter(|leaf| leaf.offset_bytes / 8 == index);
        if inside.all(|leaf| leaf.is_float) { Eightbyte::Sse } else { Eightbyte::Integer }
    };
    Ok(Some((0..size_bytes.div_ceil(8)).map(class).collect()))
}

fn collect(native: &NativeType, ty: Ty, offset_bytes: u32, leaves: &mut Vec<Leaf>) -> LoadResult<()> {
    let mut push = |size_bytes: u32, is_float: bool| leaves.push(Leaf { offset_bytes, size_bytes, is_float });
    match native {
        NativeType::Same { size_bytes, .. } => match ty.underlying().element_type {
            ElementType::R4 | ElementType::R8 => push(*size_bytes, true),
            ElementType::ValueType => collect_fields(ty, offset_bytes, leaves)?,
            _ => push(*size_bytes, false),
        },
        NativeType::Struct(ty) | NativeType::ClassInline(ty) => collect_fields(ty, offset_bytes, leaves)?,
        NativeType::FixedString { units, wide } => {
            let unit_bytes = if *wide { 2 } else { 1 };
            for index in 0..*units {
                leaves.push(Leaf {
                    offset_bytes: offset_bytes + index * unit_bytes,
                    size_bytes: unit_bytes,
                    is_float: false,
                });
            }
        }
        NativeType::FixedChars { count } => {
            for index in 0..*count {
                leaves.push(Leaf { offset_bytes: offset_bytes + index, size_bytes: 1, is_float: false });
            }
        }
        NativeType::FixedArray { element, element_type, count } => {
            let stride = element.size_bytes()?;
            for index in 0..*count {
                collect(element, element_type, offset_bytes + index * stride, leaves)?;
            }
        }
        other => push(other.size_bytes()?, false),
    }
    Ok(())
}

fn collect_fields(ty: Ty, offset_bytes: u32, leaves: &mut Vec<Leaf>) -> LoadResult<()> {
    let layout = native_layout(ty)?;
    for field in &layout.fields {
        collect(&field.native, field.field.ty()?, offset_bytes + field.offset_bytes, leaves)?;
    }
    // A fixed-size buffer has a field for its first element only.
    if let [first] = layout.fields.as_slice()
        && first.field.ty()?.underlying().element_type != ElementType::ValueType
    {
        let stride = first.native.size_bytes()?.max(1);
        let mut next = first.offset_bytes + stride;
        while next + stride <= layout.size_bytes {
            collect(&first.native, first.field.ty()?, offset_bytes + next, leaves)?;
            next += stride;
        }
    }
    Ok(())
}

//! Scalars on their way to and from native code, and the handle classes' fields.
//!
//! Invariant: the C side may leave the upper bits of a narrow result or callback argument undefined, so every narrow
//! value that comes from native code is extended here.

use super::builder::FunctionBuilder;
use super::delegate::required_field;
use super::marshal::{BoolForm, NativeType, handle_class};
use crate::ir::{BinOp, CmpOp, ConvTarget, IrType, MemType, Op, ValueId};
use saki_types::{ElementType, LoadError, LoadErrorKind, LoadResult, Method, Ty, load_texts};

/// Extends an I32 returned by native code from the width of `mem`.
pub(super) fn narrow_scalar(b: &mut FunctionBuilder, mem: Option<MemType>, value: ValueId) -> ValueId {
    let target = match mem {
        Some(MemType::I8) => ConvTarget::I1,
        Some(MemType::U8) => ConvTarget::U1,
        Some(MemType::I16) => ConvTarget::I2,
        Some(MemType::U16) => ConvTarget::U2,
        _ => return value,
    };
    b.conv(value, target)
}

/// The memory type of a converted scalar in native memory.
pub(super) fn native_scalar(native: &NativeType) -> MemType {
    match native {
        NativeType::Bool(BoolForm::Int32) => MemType::I32,
        NativeType::Bool(BoolForm::Variant) => MemType::I16,
        _ => MemType::U8,
    }
}

pub(super) fn bool_to_native(b: &mut FunctionBuilder, form: BoolForm, value: ValueId) -> ValueId {
    let zero = b.const_i32(0);
    let truth = b.cmp(CmpOp::NeUn, value, zero);
    match form {
        BoolForm::Variant => b.bin(BinOp::Sub, zero, truth),
        BoolForm::Int32 | BoolForm::Byte => truth,
    }
}

pub(super) fn bool_from_native(b: &mut FunctionBuilder, form: BoolForm, word: ValueId) -> ValueId {
    let word = match form {
        BoolForm::Int32 => word,
        BoolForm::Byte => b.conv(word, ConvTarget::U1),
        BoolForm::Variant => b.conv(word, ConvTarget::U2),
    };
    let zero = b.const_i32(0);
    b.emit(Op::Cmp(CmpOp::NeUn, word, zero), IrType::I32)
}

/// Offset of `handle` in a SafeHandle or CriticalHandle object.
///
/// # Errors
/// `MissingField`.
pub(super) fn handle_offset(ty: Ty) -> LoadResult<i32> {
    let base = handle_class(ty)?.unwrap_or(ty);
    Ok(required_field(base, "handle")?.offset_bytes()? as i32)
}

/// Offset of the handle in a HandleRef value: its only IntPtr field.
///
/// # Errors
/// `MissingField`.
pub fn handle_ref_offset(ty: Ty) -> LoadResult<i32> {
    for field in ty.fields()? {
        if !field.is_static() && field.ty()?.element_type == ElementType::I {
            return Ok(field.offset_bytes()? as i32);
        }
    }
    Err(LoadError::new(LoadErrorKind::MissingField, "HandleRef has no handle", ty.full_name()))
}

/// A method of the type or a base class; it must exist.
///
/// # Errors
/// `MissingMethod`.
pub(super) fn required_method(ty: Ty, name: &str, param_count: usize) -> LoadResult<&'static Method> {
    let mut next = Some(ty);
    while let Some(current) = next {
        if let Some(method) = current.find_method(name, param_count)? {
            return Ok(method);
        }
        // Constructors are not inherited.
        next = if name == ".ctor" { None } else { current.parent()? };
    }
    let subject = format!("{}.{name}", ty.full_name());
    // .NET's message is the name alone.
    let message = if load_texts::are_mono() { format!("Method not found: {subject}") } else { name.to_owned() };
    Err(LoadError::new(LoadErrorKind::MissingMethod, message, subject))
}

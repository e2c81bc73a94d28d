//! `Marshal.SizeOf`, `OffsetOf`, `StructureToPtr`, `PtrToStructure`, `DestroyStructure`.
//!
//! Invariant: the layout is the one that P/Invoke uses. Left out: the internal calls around these functions.

use crate::convert::{directive_error, fields_to_managed, fields_to_native, release_fields};
use saki_abi::ObjRef;
use saki_il::synth::marshal::{
    CharSet, NativeLayout, NativeType, Place, data_offset_bytes, native_layout, native_type,
};
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::object;
use saki_runtime::thread::{CurrentThread, Managed};
use saki_types::ty::type_flags;
use saki_types::{ElementType, Ty};

/// The layout of a type that must have one.
fn layout_of(t: CurrentThread, ty: Ty) -> Managed<&'static NativeLayout> {
    let layout = native_layout(ty).to_managed(t)?;
    match &layout.refused {
        None => Ok(layout),
        Some(_) => {
            let message = format!(
                "Type '{}' cannot be marshaled as an unmanaged structure; no meaningful size or offset can be computed.",
                ty.full_name()
            );
            Err(exceptions::throw(t, "System", "ArgumentException", &message))
        }
    }
}

/// Bytes of a value or object of this type in native memory.
///
/// # Errors
/// ArgumentException for a type without native layout: enums, automatic layout, arrays.
pub fn size_of(t: CurrentThread, ty: Ty) -> Managed<usize> {
    if ty.is_pointer() {
        return Ok(8);
    }
    if ty.element_type == ElementType::Void {
        return Ok(1);
    }
    if ty.is_byref() || ty.is_array() || ty.flags() & type_flags::LAYOUT_MASK == 0 {
        let name = ty.def().map_or_else(|| ty.full_name(), |def| def.name.to_string());
        let message = format!("Type {name} cannot be marshaled as an unmanaged structure.");
        return Err(exceptions::throw_argument(t, &message, "t"));
    }
    let native = native_type(ty, None, CharSet::Ansi, Place::Field).to_managed(t)?;
    match native {
        // Primitives have no fields worth looking at.
        NativeType::Same { .. } | NativeType::Bool(_) | NativeType::AnsiChar => {
            Ok(native.size_bytes().to_managed(t)? as usize)
        }
        _ => {
            let layout = layout_of(t, ty)?;
            // A size given with explicit offsets is exact: it need not fit the alignment.
            Ok(match layout.spare_bytes {
                0 => layout.size_bytes as usize,
                spare => (layout.size_bytes + spare).next_multiple_of(layout.align_bytes) as usize,
            })
        }
    }
}

/// Offset of a field in native memory.
///
/// # Errors
/// ArgumentException when there is no such field.
pub fn offset_of(t: CurrentThread, ty: Ty, field: &str) -> Managed<usize> {
    let layout = layout_of(t, ty)?;
    match layout.fields.iter().rev().find(|f| f.field.name == field) {
        Some(found) => Ok(found.offset_bytes as usize),
        None => {
            let name = ty.def().map_or_else(|| ty.full_name(), |def| def.name.to_string());
            let message = format!("Field passed in is not a marshaled member of the type {name}");
            Err(exceptions::throw_argument(t, &message, "fieldName"))
        }
    }
}

/// Copies the fields of a boxed value or object to native memory. `delete_old`: the memory holds a structure already.
///
/// # Errors
/// As `to_native`.
///
/// # Safety
/// `address` has room for the native structure.
pub unsafe fn structure_to_ptr(t: CurrentThread, source: ObjRef, address: *mut u8, delete_old: bool) -> Managed<()> {
    let ty = object::type_of(source);
    let data = source.field_ptr::<u8>(saki_abi::object::OBJECT_HEADER_BYTES as usize);
    let native = native_type(ty, None, CharSet::Ansi, Place::Field).to_managed(t)?;
    if let NativeType::Same { .. } | NativeType::Bool(_) | NativeType::AnsiChar = native {
        // SAFETY: the caller's promise.
        return unsafe { crate::convert::to_native(t, &native, data, address) };
    }
    let layout = layout_of(t, ty)?;
    if delete_old {
        // SAFETY: the caller says that the memory holds a structure.
        unsafe { release_fields(t, ty, address)? };
    }
    // SAFETY: the caller's promise; slots must start zeroed.
    unsafe { std::ptr::write_bytes(address, 0, layout.size_bytes as usize) };
    // SAFETY: as above; `source` is an object of `ty`.
    unsafe { fields_to_native(t, ty, data, address) }
}

/// A new boxed value or object from native memory; null gives null.
///
/// # Errors
/// As `to_managed`.
///
/// # Safety
/// `address` is null or holds a native structure of `ty`.
pub unsafe fn ptr_to_new_structure(t: CurrentThread, address: *const u8, ty: Ty) -> Managed<ObjRef> {
    if address.is_null() {
        return Ok(ObjRef::NULL);
    }
    let made = object::new_instance(t, ty)?;
    // SAFETY: the caller's promise.
    unsafe { fill(t, address, made, ty)? };
    Ok(made)
}

/// Fills an existing object.
///
/// # Errors
/// ArgumentException for a boxed value; as `to_managed`.
///
/// # Safety
/// `address` holds a native structure of the object's type.
pub unsafe fn ptr_to_structure(t: CurrentThread, address: *const u8, destination: ObjRef) -> Managed<()> {
    let ty = object::type_of(destination);
    if ty.is_value_type() {
        let message = "The structure must not be a value class.";
        return Err(exceptions::throw_argument(t, message, "structure"));
    }
    // SAFETY: the caller's promise.
    unsafe { fill(t, address, destination, ty) }
}

/// # Safety
/// `address` holds a native structure of `ty`; `object` is of that type.
unsafe fn fill(t: CurrentThread, address: *const u8, object: ObjRef, ty: Ty) -> Managed<()> {
    let data = object.field_ptr::<u8>(saki_abi::object::OBJECT_HEADER_BYTES as usize);
    let native = native_type(ty, None, CharSet::Ansi, Place::Field).to_managed(t)?;
    if let NativeType::Same { .. } | NativeType::Bool(_) | NativeType::AnsiChar = native {
        // SAFETY: the caller's promise.
        return unsafe { crate::convert::to_managed(t, &native, address, data) };
    }
    layout_of(t, ty)?;
    debug_assert_eq!(data_offset_bytes(ty) == 0, ty.is_value_type());
    // SAFETY: the caller's promise.
    unsafe { fields_to_managed(t, ty, address, data) }
}

/// Frees what the fields of a native structure own.
///
/// # Errors
/// As `size_of`.
///
/// # Safety
/// `address` holds a native structure of `ty`.
pub unsafe fn destroy_structure(t: CurrentThread, address: *mut u8, ty: Ty) -> Managed<()> {
    if address.is_null() {
        return Err(directive_error(t, "A null structure cannot be destroyed."));
    }
    let native = native_type(ty, None, CharSet::Ansi, Place::Field).to_managed(t)?;
    if native.is_same() {
        return Ok(());
    }
    layout_of(t, ty)?;
    // SAFETY: the caller's promise.
    unsafe { release_fields(t, ty, address) }
}

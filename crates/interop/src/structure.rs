//! `Marshal.SizeOf`, `OffsetOf`, `StructureToPtr`, `PtrToStructure`, `DestroyStructure`.
//!
//! Invariant: the layout is the one that P/Invoke uses. Left out: the internal calls around these functions.

use crate::refusals::{argument_error, directive_error, layout_error};
use crate::release::release_fields;
use crate::slots::{ManagedFields, ManagedSlot, NativeSlot};
use crate::to_managed::{fields_to_managed, to_managed};
use crate::to_native::{fields_to_native, size_of_native, to_native};
use saki_il::synth::marshal::{CharSet, MarshalPosition, NativeLayout, NativeType, native_layout, native_type};
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, Thrown, ToManaged};
use saki_runtime::object::references::Obj;
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_types::ty::type_flags;
use saki_types::{ElementType, Ty, universe};

/// The layout of a type that must have one.
fn layout_of(t: CurrentThread, ty: Ty) -> Managed<&'static NativeLayout> {
    let layout = native_layout(ty).to_managed(t)?;
    match &layout.refused {
        None => Ok(layout),
        Some(_) => Err(no_structure(t, ty)),
    }
}

/// The layout of a type whose fields are copied: .NET says which of them cannot be.
fn layout_of_fields(t: CurrentThread, ty: Ty) -> Managed<&'static NativeLayout> {
    match &native_layout(ty).to_managed(t)?.refused {
        Some(why) if universe().profile().refuses_more_native_fields => Err(layout_error(t, why)),
        _ => layout_of(t, ty),
    }
}

/// Whether a structure has a SafeHandle as a field, at any depth.
fn has_handles(t: CurrentThread, layout: &NativeLayout) -> Managed<bool> {
    for field in &layout.fields {
        let is_handle = match &field.native {
            NativeType::SafeHandle(_) => true,
            NativeType::Struct(ty) | NativeType::ClassInline(ty) => has_handles(t, native_layout(ty).to_managed(t)?)?,
            _ => false,
        };
        if is_handle {
            return Ok(true);
        }
    }
    Ok(false)
}

fn no_structure(t: CurrentThread, ty: Ty) -> Thrown {
    let message = format!(
        "Type '{}' cannot be marshaled as an unmanaged structure; no meaningful size or offset can be computed.",
        ty.full_name()
    );
    argument_error(t, &message)
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
        if universe().profile().refuses_more_native_fields {
            return Err(no_structure(t, ty));
        }
        let name = ty.def().map_or_else(|| ty.full_name(), |def| def.name.to_string());
        let message = format!("Type {name} cannot be marshaled as an unmanaged structure.");
        return Err(exceptions::throw_argument(t, &message, "t"));
    }
    let native = native_type(ty, None, CharSet::Ansi, MarshalPosition::Field).to_managed(t)?;
    match native {
        // Primitives have no layout of fields.
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
    match layout.fields.iter().rev().find(|f| f.field.name == field && f.element_offset_bytes == 0) {
        Some(found) => Ok(found.offset_bytes as usize),
        None => {
            let name = ty.def().map_or_else(|| ty.full_name(), |def| def.name.to_string());
            let message = format!("Field passed in is not a marshaled member of the type {name}");
            Err(exceptions::throw_argument(t, &message, "fieldName"))
        }
    }
}

/// The native type of a value or object that is not part of a structure.
fn native_type_of(t: CurrentThread, ty: Ty) -> Managed<NativeType> {
    native_type(ty, None, CharSet::Ansi, MarshalPosition::Field).to_managed(t)
}

/// Whether values of the type are converted as a whole, not field by field.
fn has_no_fields(native: &NativeType) -> bool {
    matches!(native, NativeType::Same { .. } | NativeType::Bool(_) | NativeType::AnsiChar)
}

/// # Safety
/// The address is not null, and `size_bytes` bytes can be read and written there for `'t`.
unsafe fn memory<'t>(_t: CurrentThread<'t>, address: *mut u8, size_bytes: usize) -> NativeSlot<'t> {
    // SAFETY: `address` is not null, and `size_bytes` bytes can be read and written there.
    unsafe { NativeSlot::at(address, size_bytes) }
        .unwrap_or_else(|| saki_base::bug!("a native structure at no address"))
}

/// Copies the fields of a boxed value or object to native memory. `delete_old`: the memory holds a structure already.
///
/// # Errors
/// ArgumentException for values that do not fit and types without native layout, MarshalDirectiveException,
/// OutOfMemoryException.
///
/// # Safety
/// `address` is not null and has room for the native structure, and holds one if `delete_old` says so.
pub unsafe fn structure_to_ptr<'t>(
    t: CurrentThread<'t>,
    source: Obj<'t>,
    address: *mut u8,
    delete_old: bool,
) -> Managed<()> {
    let ty = source.ty();
    let native = native_type_of(t, ty)?;
    if has_no_fields(&native) {
        // SAFETY: `address` has room for the native structure, whose size this is.
        let slot = unsafe { memory(t, address, size_of_native(t, &native)?) };
        return to_native(t, &native, ManagedSlot::of_box(t, source)?, slot);
    }
    let layout = layout_of_fields(t, ty)?;
    if universe().profile().refuses_more_native_fields && has_handles(t, layout)? {
        // Nobody would keep the handle while native code uses its value.
        let message = "Structures containing SafeHandle fields are not allowed in this operation.";
        return Err(exceptions::throw(t, ExceptionType::InvalidOperation, message));
    }
    // SAFETY: `address` has room for the native structure, whose size the layout gives.
    let slot = unsafe { memory(t, address, layout.size_bytes as usize) };
    if delete_old {
        // SAFETY: with `delete_old` the memory holds a native structure of this type.
        unsafe { release_fields(t, ty, slot)? };
    }
    slot.fill_zero();
    fields_to_native(t, ty, ManagedFields::of(source, ty), slot)
}

/// A new boxed value or object from native memory; None for null.
///
/// # Errors
/// ArgumentException for types without native layout, MarshalDirectiveException, OutOfMemoryException.
///
/// # Safety
/// `address` is null or holds a native structure of `ty`.
pub unsafe fn ptr_to_new_structure<'t>(t: CurrentThread<'t>, address: *mut u8, ty: Ty) -> Managed<Option<Obj<'t>>> {
    if address.is_null() {
        return Ok(None);
    }
    let made = Obj::new(t, ty)?;
    // SAFETY: `address`, not null here, holds a native structure of `ty`, the type of the new object.
    unsafe { fill(t, address, made)? };
    Ok(Some(made))
}

/// Fills an existing object.
///
/// # Errors
/// ArgumentException for a boxed value; as `to_managed`.
///
/// # Safety
/// `address` holds a native structure of the object's type.
pub unsafe fn ptr_to_structure<'t>(t: CurrentThread<'t>, address: *mut u8, destination: Obj<'t>) -> Managed<()> {
    if destination.ty().is_value_type() {
        let message = "The structure must not be a value class.";
        return Err(exceptions::throw_argument(t, message, "structure"));
    }
    // SAFETY: `address` holds a native structure of the object's type, which is not a value type.
    unsafe { fill(t, address, destination) }
}

/// Fills an existing object or boxed value.
///
/// # Errors
/// What `to_managed` throws.
///
/// # Safety
/// `address` holds a native structure of the object's type.
pub unsafe fn fill<'t>(t: CurrentThread<'t>, address: *mut u8, object: Obj<'t>) -> Managed<()> {
    let ty = object.ty();
    let native = native_type_of(t, ty)?;
    if has_no_fields(&native) {
        // SAFETY: `address` holds a native structure of `ty`, whose size this is.
        let slot = unsafe { memory(t, address, size_of_native(t, &native)?) };
        return to_managed(t, &native, slot, ManagedSlot::of_box(t, object)?);
    }
    let layout = layout_of_fields(t, ty)?;
    // SAFETY: `address` holds a native structure of `ty`, whose size the layout gives.
    let slot = unsafe { memory(t, address, layout.size_bytes as usize) };
    fields_to_managed(t, ty, slot, ManagedFields::of(object, ty))
}

/// Frees the memory that the fields of a native structure own.
///
/// # Errors
/// ArgumentException for a type without native layout: enums, automatic layout, arrays.
///
/// # Safety
/// `address` is null or holds a native structure of `ty`.
pub unsafe fn destroy_structure(t: CurrentThread, address: *mut u8, ty: Ty) -> Managed<()> {
    if address.is_null() {
        return Err(directive_error(t, "A null structure cannot be destroyed."));
    }
    let native = native_type_of(t, ty)?;
    if native.is_same() {
        return Ok(());
    }
    let layout = layout_of(t, ty)?;
    // SAFETY: `address`, not null here, holds a native structure of `ty`, whose size the layout gives.
    let slot = unsafe { memory(t, address, layout.size_bytes as usize) };
    // SAFETY: the slot holds a native structure of `ty`, and its fields are zeroed once they are freed.
    unsafe { release_fields(t, ty, slot) }
}

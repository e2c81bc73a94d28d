//! Managed values from native ones, by `NativeType`.
//!
//! Invariant: native memory is only read here; its owner does not change. Left out: freeing it (`release`).

use crate::any_object;
use crate::builder_text::{new_builder, set_builder_units};
use crate::date;
use crate::delegates;
use crate::refusals::{argument_error, directive_error, layout_error};
use crate::slots::{ManagedElements, ManagedFields, ManagedSlot, NativeSlot, array};
use crate::text;
use crate::to_native::{handle_value, size_of_native};
use saki_il::synth::marshal::{BoolForm, NativeType, StringForm, native_layout};
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::references::{Array, Obj, Str};
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_types::{Ty, universe};

/// Sets a managed variable, of the type that `native` was made from, from a native value.
///
/// # Errors
/// MarshalDirectiveException, OutOfMemoryException.
pub fn to_managed<'t>(
    t: CurrentThread<'t>,
    native: &NativeType,
    slot: NativeSlot,
    managed: ManagedSlot<'t>,
) -> Managed<()> {
    to_managed_of_length(t, native, slot, managed, None)
}

/// Sets a managed variable, of the type that `native` was made from, from a native value. `length`: the number of
/// elements of an array that native code made, when known.
///
/// # Errors
/// MarshalDirectiveException, OutOfMemoryException.
pub fn to_managed_of_length<'t>(
    t: CurrentThread<'t>,
    native: &NativeType,
    slot: NativeSlot,
    managed: ManagedSlot<'t>,
    length: Option<usize>,
) -> Managed<()> {
    match native {
        NativeType::Void => {}
        NativeType::Same { size_bytes, .. } => managed.copy_from(slot, *size_bytes as usize),
        NativeType::Bool(form) => {
            let truth = match form {
                BoolForm::Int32 => slot.read::<i32>() != 0,
                BoolForm::Byte => slot.read::<u8>() != 0,
                BoolForm::Variant => slot.read::<i16>() != 0,
            };
            managed.write(u8::from(truth));
        }
        NativeType::AnsiChar => managed.write(u16::from(slot.read::<u8>())),
        NativeType::FixedChars { count } => {
            for index in 0..*count as usize {
                managed.write_at(2 * index, u16::from(slot.element(index, 1).read::<u8>()));
            }
        }
        NativeType::String(form) => {
            // SAFETY: native code left null or a string of this form.
            let string = unsafe { text::managed_copy(t, *form, slot.read::<*mut u8>()) }?;
            managed.store(t, string);
        }
        NativeType::FixedString { units, wide } => {
            let string = fixed_string_to_managed(t, slot, *units as usize, *wide)?;
            managed.store(t, string);
        }
        NativeType::FixedArray { element, element_type, count } => {
            let array = Array::new(t, element_type, *count as usize)?;
            elements_to_managed(t, element, slot, array)?;
            managed.store(t, array);
        }
        NativeType::Array { element, element_type, count } => {
            let length = length.or(count.constant.map(|n| n as usize));
            let array = array_to_managed(t, element, element_type, slot, length)?;
            managed.store(t, array);
        }
        NativeType::Struct(ty) => fields_to_managed(t, ty, slot, managed.fields(ty))?,
        NativeType::ClassInline(ty) => {
            let object = new_object(t, ty, slot)?;
            managed.store(t, object);
        }
        NativeType::ClassPointer(ty) => {
            let size_bytes = native_layout(ty).to_managed(t)?.size_bytes as usize;
            let object = slot.target(size_bytes).map(|fields| new_object(t, ty, fields)).transpose()?;
            managed.store(t, object);
        }
        NativeType::Delegate(ty) => {
            let delegate = delegates::delegate_for(t, slot.read(), ty)?;
            managed.store(t, delegate);
        }
        NativeType::SafeHandle(ty) | NativeType::CriticalHandle(ty) => {
            // Handles occur here as fields only: the object stays, and native code must not change the handle.
            let is_same = match managed.obj() {
                Some(handle) => handle_value(t, ty, handle)? == slot.read::<usize>(),
                None => false,
            };
            if !is_same {
                return Err(exceptions::throw(
                    t,
                    ExceptionType::NotSupported,
                    "A handle field cannot be changed by native code.",
                ));
            }
        }
        NativeType::Date => match date::from_ole(slot.read()) {
            Some(data) => managed.write(data),
            None => return Err(argument_error(t, "Not a legal OleAut date.")),
        },
        // The handle belongs to managed code, so a change by native code is ignored.
        NativeType::HandleRef(_) => {}
        NativeType::NullObject { size_bytes } => {
            if !slot.part(0, *size_bytes as usize).is_zero() {
                return Err(directive_error(t, "Objects and interfaces other than null need COM."));
            }
        }
        NativeType::StringBuilder(form) => {
            let builder = builder_text(*form, slot).map(|units| new_builder(t, &units)).transpose()?;
            managed.store(t, builder);
        }
        NativeType::Custom { .. } | NativeType::AnyObject(_) => {
            return Err(directive_error(t, "The value cannot come from native code."));
        }
        NativeType::Refused(why) => return Err(directive_error(t, why)),
    }
    Ok(())
}

/// A new object of a class with layout.
fn new_object<'t>(t: CurrentThread<'t>, ty: Ty, fields: NativeSlot) -> Managed<Obj<'t>> {
    let object = Obj::new(t, ty)?;
    fields_to_managed(t, ty, fields, ManagedFields::of(object, ty))?;
    Ok(object)
}

/// The array at which a slot points; None for null.
fn array_to_managed<'t>(
    t: CurrentThread<'t>,
    element: &NativeType,
    element_type: Ty,
    slot: NativeSlot,
    length: Option<usize>,
) -> Managed<Option<Array<'t>>> {
    if slot.read::<usize>() == 0 {
        return Ok(None);
    }
    let Some(length) = length else {
        return Err(directive_error(t, "The length of an array from native code is not known."));
    };
    let array = Array::new(t, element_type, length)?;
    if let Some(block) = slot.target(size_of_native(t, element)? * length) {
        elements_to_managed(t, element, block, array)?;
    }
    Ok(Some(array))
}

/// Sets managed fields from native struct memory.
///
/// # Errors
/// MarshalDirectiveException, OutOfMemoryException.
pub fn fields_to_managed<'t>(t: CurrentThread<'t>, ty: Ty, slot: NativeSlot, fields: ManagedFields<'t>) -> Managed<()> {
    let layout = native_layout(ty).to_managed(t)?;
    if let Some(why) = &layout.refused {
        return Err(layout_error(t, why));
    }
    for field in &layout.fields {
        let managed = fields.marshalled(t, field)?;
        if matches!(&field.native, NativeType::Array { count, .. } if count.constant.is_none()) {
            let message = format!("Field '{:?}': the length of an array from native code is not known.", field.field);
            return Err(directive_error(t, &message));
        }
        to_managed(t, &field.native, slot.after(field.offset_bytes as usize), managed)?;
    }
    Ok(())
}

/// Sets all elements of an array from native ones.
///
/// # Errors
/// MarshalDirectiveException, OutOfMemoryException.
pub fn elements_to_managed<'t>(
    t: CurrentThread<'t>,
    element: &NativeType,
    block: NativeSlot,
    array: Array<'t>,
) -> Managed<()> {
    let (elements, stride_bytes) = (ManagedElements::of(array), size_of_native(t, element)?);
    for index in 0..array.length() {
        to_managed(t, element, block.element(index, stride_bytes), elements.get(index))?;
    }
    Ok(())
}

fn fixed_string_to_managed<'t>(t: CurrentThread<'t>, slot: NativeSlot, units: usize, wide: bool) -> Managed<Str<'t>> {
    if wide {
        let all: Vec<u16> = (0..units).map(|index| slot.element(index, 2).read()).collect();
        let length = all.iter().position(|u| *u == 0).unwrap_or(units);
        return Str::from_units(t, &all[..length]);
    }
    // In Mono the last byte of an ANSI string counts as its terminator, whatever its value; a UTF-16 string may fill
    // its field.
    let has_terminator = !universe().profile().refuses_more_native_fields;
    let all = slot.part(0, units.saturating_sub(usize::from(has_terminator))).bytes();
    let length = all.iter().position(|b| *b == 0).unwrap_or(all.len());
    Str::from_utf8(t, &all[..length])
}

/// The text of a builder's native buffer, to which the slot points; None for null.
fn builder_text(form: StringForm, slot: NativeSlot) -> Option<Vec<u16>> {
    let block: *mut u8 = slot.read();
    if block.is_null() {
        return None;
    }
    Some(match text::unit_bytes(form) {
        // SAFETY: native code left terminated text of this form.
        2 => unsafe { text::wide_units(block) },
        // SAFETY: native code left terminated text of this form.
        _ => String::from_utf8_lossy(unsafe { text::c_bytes(block) }).encode_utf16().collect(),
    })
}

/// Copies native code's changes of the memory behind a by-value pointer into the object that was passed. `to_native`
/// made `slot` from the variable.
///
/// # Errors
/// MarshalDirectiveException, OutOfMemoryException.
pub fn update_managed<'t>(
    t: CurrentThread<'t>,
    native: &NativeType,
    slot: NativeSlot,
    managed: ManagedSlot<'t>,
) -> Managed<()> {
    match managed.ty().is_reference_type().then(|| managed.obj()).flatten() {
        Some(object) => update_object(t, native, slot, object),
        None => Ok(()),
    }
}

/// Copies native code's changes of the memory behind a by-value pointer into the object that was passed, from which
/// `slot` was made.
///
/// # Errors
/// MarshalDirectiveException, OutOfMemoryException.
pub fn update_object<'t>(t: CurrentThread<'t>, native: &NativeType, slot: NativeSlot, object: Obj<'t>) -> Managed<()> {
    if slot.read::<usize>() == 0 {
        return Ok(());
    }
    match native {
        NativeType::Array { element, .. } => {
            let array = array(object);
            let stride_bytes = size_of_native(t, element)?;
            let Some(block) = slot.target(stride_bytes * array.length()) else { return Ok(()) };
            if !matches!(**element, NativeType::StringBuilder(_)) {
                return elements_to_managed(t, element, block, array);
            }
            let builders = ManagedElements::of(array);
            for index in 0..array.length() {
                update_managed(t, element, block.element(index, stride_bytes), builders.get(index))?;
            }
            Ok(())
        }
        NativeType::AnyObject(charset) => any_object::update(t, object, *charset, slot),
        NativeType::ClassPointer(ty) => {
            let size_bytes = native_layout(ty).to_managed(t)?.size_bytes as usize;
            match slot.target(size_bytes) {
                Some(fields) => fields_to_managed(t, ty, fields, ManagedFields::of(object, ty)),
                None => Ok(()),
            }
        }
        NativeType::StringBuilder(form) => match builder_text(*form, slot) {
            Some(units) => set_builder_units(t, object, &units),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

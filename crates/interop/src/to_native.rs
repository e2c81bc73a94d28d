//! Native values from managed ones, by `NativeType`.
//!
//! Invariant: `release` can free the slot even after a conversion has failed half-way, because slots start zeroed, 0
//! owns no memory, and a block is stored in its slot before it is filled. Native memory is the C heap (`free`,
//! `Marshal.FreeHGlobal`, `Marshal.FreeCoTaskMem`). Left out: the registers that structs by value are passed in
//! (`saki_il::synth::native_registers`).

use crate::any_object;
use crate::builder_text::builder_units;
use crate::date;
use crate::delegates;
use crate::refusals::{argument_error, directive_error, layout_error};
use crate::slots::{ManagedElements, ManagedFields, ManagedSlot, NativeBlock, NativeSlot, array, string};
use crate::text;
use saki_il::synth::marshal::{BoolForm, NativeType, StringForm, handle_class, native_layout};
use saki_il::synth::native_value::handle_ref_offset;
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::references::{Array, Obj};
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_types::Ty;

/// Bytes of a native slot.
pub fn size_of_native(t: CurrentThread, native: &NativeType) -> Managed<usize> {
    Ok(native.size_bytes().to_managed(t)? as usize)
}

/// The handle value of a SafeHandle or CriticalHandle of the declared type `ty`.
pub fn handle_value<'t>(t: CurrentThread<'t>, ty: Ty, handle: Obj<'t>) -> Managed<usize> {
    let base = handle_class(ty).to_managed(t)?.unwrap_or(ty);
    match base.find_field("handle").to_managed(t)? {
        Some(field) => Ok(ManagedFields::of(handle, base).field(t, field)?.read()),
        None => Err(exceptions::throw(t, ExceptionType::MissingField, "SafeHandle.handle")),
    }
}

/// A character as one byte; characters other than ASCII's do not fit and become '?'.
fn ansi_char(unit: u16) -> u8 {
    if unit < 0x80 { unit as u8 } else { b'?' }
}

/// Fills a zeroed native slot from a managed variable of the type that `native` was made from.
///
/// # Errors
/// ArgumentException for values that do not fit, MarshalDirectiveException, OutOfMemoryException.
pub fn to_native<'t>(
    t: CurrentThread<'t>,
    native: &NativeType,
    managed: ManagedSlot<'t>,
    slot: NativeSlot,
) -> Managed<()> {
    match native {
        NativeType::Void => {}
        NativeType::Same { size_bytes, .. } => managed.copy_to(slot, *size_bytes as usize),
        NativeType::Bool(form) => {
            let truth = managed.read::<u8>() != 0;
            match form {
                BoolForm::Int32 => slot.write(i32::from(truth)),
                BoolForm::Byte => slot.write(u8::from(truth)),
                BoolForm::Variant => slot.write(-i16::from(truth)),
            }
        }
        NativeType::AnsiChar => slot.write(ansi_char(managed.read())),
        NativeType::FixedChars { count } => {
            for index in 0..*count as usize {
                slot.element(index, 1).write(ansi_char(managed.read_at(2 * index)));
            }
        }
        NativeType::Struct(ty) => fields_to_native(t, ty, managed.fields(ty), slot)?,
        NativeType::HandleRef(ty) => {
            let offset_bytes = handle_ref_offset(ty).to_managed(t)? as usize;
            slot.write(managed.read_at::<usize>(offset_bytes));
        }
        NativeType::Date => slot.write(date::to_ole(managed.read())),
        NativeType::Custom { .. } => {
            return Err(directive_error(t, "A custom-marshalled value inside another value."));
        }
        NativeType::Refused(why) => return Err(directive_error(t, why)),
        // Variables of the other native types hold references.
        _ => match managed.obj() {
            Some(object) => object_to_native(t, native, object, slot)?,
            None if matches!(native, NativeType::SafeHandle(_) | NativeType::CriticalHandle(_)) => {
                return Err(exceptions::throw_argument_null(t, "handle"));
            }
            None => {}
        },
    }
    Ok(())
}

/// Fills a zeroed native slot from an object of the type that `native` was made from.
///
/// # Errors
/// ArgumentException for values that do not fit, MarshalDirectiveException, OutOfMemoryException.
pub fn object_to_native<'t>(
    t: CurrentThread<'t>,
    native: &NativeType,
    object: Obj<'t>,
    slot: NativeSlot,
) -> Managed<()> {
    match native {
        NativeType::String(form) => slot.write(text::native_copy(t, *form, string(object).units())?),
        NativeType::StringBuilder(form) => slot.write(builder_to_native(t, *form, object)?.address()),
        NativeType::FixedString { units, wide } => {
            fixed_string_to_native(string(object).units(), slot, *units as usize, *wide);
        }
        NativeType::FixedArray { element, count, .. } => {
            let (array, count) = (array(object), *count as usize);
            if array.length() < count {
                return Err(argument_error(
                    t,
                    "Type could not be marshaled because the length of an embedded array instance does not match the declared length in the layout.",
                ));
            }
            elements_to_native(t, element, array, slot, count)?;
        }
        NativeType::Array { element, .. } => {
            let array = array(object);
            let length = array.length();
            // One more element, which is zero, marks the end of string arrays for C.
            let block = NativeBlock::allocate(t, size_of_native(t, element)? * (length + 1))?.leak();
            slot.write(block.address());
            elements_to_native(t, element, array, block, length)?;
        }
        NativeType::ClassInline(ty) => fields_to_native(t, ty, ManagedFields::of(object, ty), slot)?,
        NativeType::ClassPointer(ty) => {
            let size_bytes = native_layout(ty).to_managed(t)?.size_bytes;
            let block = NativeBlock::allocate(t, size_bytes as usize)?.leak();
            slot.write(block.address());
            fields_to_native(t, ty, ManagedFields::of(object, ty), block)?;
        }
        NativeType::Delegate(_) => slot.write(delegates::function_pointer(t, object)?),
        NativeType::SafeHandle(ty) | NativeType::CriticalHandle(ty) => slot.write(handle_value(t, ty, object)?),
        NativeType::AnyObject(charset) => any_object::to_native(t, object, *charset, slot)?,
        NativeType::NullObject { .. } => {
            return Err(directive_error(t, "Objects and interfaces other than null need COM."));
        }
        _ => saki_base::bug!("{native:?} is the native type of no object"),
    }
    Ok(())
}

/// Fills native struct memory from managed fields.
///
/// # Errors
/// ArgumentException for values that do not fit, MarshalDirectiveException, OutOfMemoryException.
pub fn fields_to_native<'t>(t: CurrentThread<'t>, ty: Ty, fields: ManagedFields<'t>, slot: NativeSlot) -> Managed<()> {
    let layout = native_layout(ty).to_managed(t)?;
    if let Some(why) = &layout.refused {
        return Err(layout_error(t, why));
    }
    for field in &layout.fields {
        let managed = fields.marshalled(t, field)?;
        to_native(t, &field.native, managed, slot.after(field.offset_bytes as usize))?;
    }
    Ok(())
}

/// Fills native elements, which start zeroed, from the first `count` elements of an array.
///
/// # Errors
/// ArgumentException for values that do not fit, MarshalDirectiveException, OutOfMemoryException.
pub fn elements_to_native<'t>(
    t: CurrentThread<'t>,
    element: &NativeType,
    array: Array<'t>,
    block: NativeSlot,
    count: usize,
) -> Managed<()> {
    let (elements, stride_bytes) = (ManagedElements::of(array), size_of_native(t, element)?);
    for index in 0..count {
        to_native(t, element, elements.get(index), block.element(index, stride_bytes))?;
    }
    Ok(())
}

/// Writes a text into a field of fixed size, which is zeroed, so a shorter text is terminated.
fn fixed_string_to_native(text: &[u16], slot: NativeSlot, units: usize, wide: bool) {
    if units == 0 {
        return;
    }
    if wide {
        slot.copy_from(text::bytes_of(&text[..text.len().min(units - 1)]));
    } else {
        let bytes = text::utf8_of(text);
        slot.copy_from(&bytes[..bytes.len().min(units - 1)]);
    }
}

/// A native buffer that has room for as many characters as the builder.
fn builder_to_native(t: CurrentThread, form: StringForm, builder: Obj) -> Managed<NativeSlot<'static>> {
    let (units, capacity) = builder_units(builder);
    let unit_bytes = text::unit_bytes(form);
    let content = match unit_bytes {
        2 => text::bytes_of(&units).to_vec(),
        _ => text::utf8_of(&units),
    };
    let block = NativeBlock::allocate(t, ((capacity + 1) * unit_bytes).max(content.len() + 2))?.leak();
    block.copy_from(&content);
    Ok(block)
}

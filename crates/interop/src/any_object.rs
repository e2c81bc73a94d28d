//! `UnmanagedType.AsAny`: an object parameter that is marshalled by the type of the object that is passed.
//!
//! Native code gets a pointer to a native copy: of a string's or builder's characters, of an array's elements, of the
//! fields of a class with layout, of a boxed value. Invariant: `free` sees the object that `to_native` saw, because
//! wrappers keep the parameter. Left out: objects without a native form, which give an ArgumentException.

use crate::refusals::argument_error;
use crate::release::release;
use crate::slots::{ManagedSlot, NativeBlock, NativeSlot, PlainElements, array};
use crate::text;
use crate::to_managed::{to_managed, update_object};
use crate::to_native::{object_to_native, size_of_native, to_native as value_to_native};
use saki_il::synth::marshal::{CharSet, MarshalPosition, NativeType, native_layout, native_type};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::object::references::Obj;
use saki_runtime::object::thread::{CurrentThread, Managed};

/// The native form of an object.
enum Form {
    /// A pointer that the conversions of this native type make.
    Pointer(NativeType),
    /// A boxed value, behind a pointer.
    Value(NativeType),
    /// Elements of the same bits on both sides, behind a pointer.
    Elements,
}

fn form_of(t: CurrentThread, object: Obj, charset: CharSet) -> Managed<Form> {
    let ty = object.ty();
    let native = native_type(ty, None, charset, MarshalPosition::Param).to_managed(t)?;
    match native {
        NativeType::String(_) | NativeType::StringBuilder(_) => Ok(Form::Pointer(native)),
        NativeType::ClassPointer(ty) if native_layout(ty).to_managed(t)?.refused.is_none() => Ok(Form::Pointer(native)),
        NativeType::Array { ref element, .. } if element.is_same() => Ok(Form::Elements),
        NativeType::Same { .. } | NativeType::Bool(_) | NativeType::AnsiChar | NativeType::Struct(_)
            if ty.is_value_type() =>
        {
            Ok(Form::Value(native))
        }
        _ => Err(argument_error(t, "No PInvoke conversion exists for value passed to Object-typed parameter.")),
    }
}

/// Sets a slot to the address of a native copy of an object.
///
/// # Errors
/// ArgumentException, OutOfMemoryException, and those of the fields' conversions.
pub fn to_native<'t>(t: CurrentThread<'t>, object: Obj<'t>, charset: CharSet, slot: NativeSlot) -> Managed<()> {
    match form_of(t, object, charset)? {
        Form::Pointer(native) => object_to_native(t, &native, object, slot)?,
        Form::Value(native) => {
            let block = NativeBlock::allocate(t, size_of_native(t, &native)?)?.leak();
            value_to_native(t, &native, ManagedSlot::of_box(t, object)?, block)?;
            slot.write(block.address());
        }
        Form::Elements => {
            let elements = PlainElements::of(array(object));
            let block = NativeBlock::allocate(t, elements.size_bytes())?;
            elements.copy_to(block.slot());
            slot.write(block.leak().address());
        }
    }
    Ok(())
}

/// Copies back native code's changes of the copy that `to_native` made of this object.
///
/// # Errors
/// ArgumentException for values that do not fit, MarshalDirectiveException, OutOfMemoryException.
pub fn update<'t>(t: CurrentThread<'t>, object: Obj<'t>, charset: CharSet, slot: NativeSlot) -> Managed<()> {
    match form_of(t, object, charset)? {
        // Strings cannot change.
        Form::Pointer(NativeType::String(_)) => {}
        Form::Pointer(native) => update_object(t, &native, slot, object)?,
        Form::Value(native) => {
            if let Some(copy) = slot.target(size_of_native(t, &native)?) {
                to_managed(t, &native, copy, ManagedSlot::of_box(t, object)?)?;
            }
        }
        Form::Elements => {
            let elements = PlainElements::of(array(object));
            if let Some(copy) = slot.target(elements.size_bytes()) {
                elements.copy_from(copy);
            }
        }
    }
    Ok(())
}

/// Frees the copy.
///
/// # Errors
/// Load errors.
///
/// # Safety
/// `to_native` set the slot for this object, and the copy is not used again.
pub unsafe fn free(t: CurrentThread, object: Obj, charset: CharSet, slot: NativeSlot) -> Managed<()> {
    match form_of(t, object, charset)? {
        // SAFETY: `to_native` set the slot for this object, whose form is asked for again with the same character set.
        Form::Pointer(native) => unsafe { release(t, &native, slot, None) },
        Form::Value(native) => {
            if let Some(copy) = slot.target(size_of_native(t, &native)?) {
                // SAFETY: `to_native` filled the copy from a value of this type, of which `native` is the form.
                unsafe { release(t, &native, copy, None)? };
            }
            // SAFETY: `to_native` allocated the copy.
            unsafe { text::free(slot.read()) };
            Ok(())
        }
        Form::Elements => {
            // SAFETY: `to_native` allocated the copy of the elements; the slot holds its address.
            unsafe { text::free(slot.read()) };
            Ok(())
        }
    }
}

//! `UnmanagedType.AsAny`: an object parameter that is marshalled by the type of the object that is passed.
//!
//! Native code gets a pointer to a native copy: of a string's or builder's characters, of an array's elements, of the fields
//! of a class with layout, of a boxed value. Invariant: `free` sees the object that `to_native` saw, because wrappers keep
//! the parameter. Left out: objects without a native form, which give an ArgumentException.

use crate::convert::{self, element_stride};
use crate::text;
use saki_abi::ObjRef;
use saki_abi::object::{ARRAY_DATA_OFFSET, OBJECT_HEADER_BYTES};
use saki_il::synth::marshal::{CharSet, NativeType, Place, native_layout, native_type};
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::object;
use saki_runtime::thread::{CurrentThread, Managed};

/// The native form of an object.
enum Form {
    /// A pointer that the conversions of this native type make.
    Pointer(NativeType),
    /// A boxed value, behind a pointer.
    Value(NativeType),
    /// Elements of the same bits on both sides, behind a pointer.
    Elements,
}

fn form_of(t: CurrentThread, object: ObjRef, charset: CharSet) -> Managed<Form> {
    let ty = object::type_of(object);
    let native = native_type(ty, None, charset, Place::Param).to_managed(t)?;
    match native {
        NativeType::String(_) | NativeType::StringBuilder(_) => Ok(Form::Pointer(native)),
        NativeType::ClassPointer(ty) if native_layout(ty).to_managed(t)?.refused.is_none() => Ok(Form::Pointer(native)),
        NativeType::Array { ref element, .. } if element.is_same() => Ok(Form::Elements),
        NativeType::Same { .. } | NativeType::Bool(_) | NativeType::AnsiChar | NativeType::Struct(_)
            if ty.is_value_type() =>
        {
            Ok(Form::Value(native))
        }
        _ => Err(exceptions::throw(
            t,
            "System",
            "ArgumentException",
            "No PInvoke conversion exists for value passed to Object-typed parameter.",
        )),
    }
}

fn boxed_value(object: ObjRef) -> *mut u8 {
    object.field_ptr(OBJECT_HEADER_BYTES as usize)
}

fn elements(t: CurrentThread, array: ObjRef) -> Managed<(*mut u8, usize)> {
    let element = object::type_of(array).element().unwrap_or_else(|| object::type_of(array));
    let bytes = element_stride(t, element)? * object::array_length(array);
    Ok((array.field_ptr(ARRAY_DATA_OFFSET as usize), bytes))
}

/// A native copy of an object.
///
/// # Errors
/// ArgumentException, OutOfMemoryException, and those of the fields' conversions.
pub fn to_native(t: CurrentThread, object: ObjRef, charset: CharSet) -> Managed<usize> {
    match form_of(t, object, charset)? {
        Form::Pointer(native) => {
            let mut word = 0usize;
            // SAFETY: a reference and a pointer slot of its native type.
            unsafe { convert::to_native(t, &native, (&raw const object).cast(), (&raw mut word).cast())? };
            Ok(word)
        }
        Form::Value(native) => {
            let block = text::allocate(t, native.size_bytes().to_managed(t)? as usize)?;
            // SAFETY: the value in its box, and a block of its native size.
            unsafe { convert::to_native(t, &native, boxed_value(object), block)? };
            Ok(block as usize)
        }
        Form::Elements => {
            let (from, bytes) = elements(t, object)?;
            let block = text::allocate(t, bytes)?;
            // SAFETY: the array's elements, and a block as large.
            unsafe { std::ptr::copy_nonoverlapping(from, block, bytes) };
            Ok(block as usize)
        }
    }
}

/// Copies back native code's changes of the copy.
///
/// # Errors
/// As `to_native`.
///
/// # Safety
/// `block` is from `to_native` of this object.
pub unsafe fn update(t: CurrentThread, object: ObjRef, charset: CharSet, block: usize) -> Managed<()> {
    match form_of(t, object, charset)? {
        // Strings cannot change.
        Form::Pointer(NativeType::String(_)) => Ok(()),
        Form::Pointer(native) => {
            let mut object = object;
            // SAFETY: a reference and the pointer slot that was made from it.
            unsafe { convert::update_managed(t, &native, (&raw const block).cast(), (&raw mut object).cast()) }
        }
        // SAFETY: the caller's promise.
        Form::Value(native) => unsafe { convert::to_managed(t, &native, block as *const u8, boxed_value(object)) },
        Form::Elements => {
            let (to, bytes) = elements(t, object)?;
            // SAFETY: the array's elements, and a block as large.
            unsafe { std::ptr::copy_nonoverlapping(block as *const u8, to, bytes) };
            Ok(())
        }
    }
}

/// Frees the copy.
///
/// # Errors
/// Load errors.
///
/// # Safety
/// As `update`; the copy is not used again.
pub unsafe fn free(t: CurrentThread, object: ObjRef, charset: CharSet, block: usize) -> Managed<()> {
    match form_of(t, object, charset)? {
        Form::Pointer(native) => {
            let mut block = block;
            // SAFETY: the caller's promise.
            unsafe { convert::release(t, &native, (&raw mut block).cast(), None) }
        }
        Form::Value(native) => {
            // SAFETY: as above.
            unsafe { convert::release(t, &native, block as *mut u8, None)? };
            // SAFETY: allocated by `to_native`.
            unsafe { text::free(block as *mut u8) };
            Ok(())
        }
        Form::Elements => {
            // SAFETY: as above.
            unsafe { text::free(block as *mut u8) };
            Ok(())
        }
    }
}

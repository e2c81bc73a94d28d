//! The marshalling helpers of compiled wrappers: arguments and results, forwards and in callbacks.
//!
//! A by-value parameter's word *is* its native slot; the word of a `ref` parameter, or of a struct by value, is the address
//! of a slot of the C heap.
//! Invariant: `marshal_free` may run after any part of `marshal_in`, also after a failed one, once.
//! Left out: conversions that wrappers make inline (`saki_il::synth::pinvoke`).

use crate::convert::{
    elements_to_managed, elements_to_native, release, to_managed, to_managed_of_length, to_native, update_managed,
};
use crate::descriptor::MarshalDescriptor;
use crate::text;
use saki_abi::ObjRef;
use saki_il::synth::marshal::{NativeType, ParamPlan};
use saki_il::synth::pinvoke::ARRAY_LENGTH_OFFSET;
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::object;
use saki_runtime::thread::{CurrentThread, Managed};

/// (address of the managed value, descriptor) → native word.
///
/// # Errors
/// As `to_native`; nothing is left allocated then.
pub fn marshal_in(t: CurrentThread, value: usize, info: usize) -> Managed<i64> {
    // SAFETY: `Symbol::MarshalInfo`.
    let descriptor = unsafe { MarshalDescriptor::from_address(info) };
    let plan = &descriptor.plan;
    let managed = value as *const u8;
    if !plan.by_ref && !is_struct(&plan.native) {
        let mut word = 0i64;
        let slot = (&raw mut word).cast::<u8>();
        // A builder or array that is only `[Out]` still gives native code its buffer.
        // SAFETY: the wrapper passes the address of the parameter.
        let converted = unsafe { to_native(t, &plan.native, managed, slot) };
        if let Err(thrown) = converted {
            release_after_error(t, &plan.native, slot, element_count(&plan.native, managed));
            return Err(thrown);
        }
        return Ok(word);
    }
    let size = plan.native.size_bytes().to_managed(t)? as usize;
    // Whole eightbytes, because structs by value are read in them; one more for the length of an array.
    let slot = text::allocate(t, size.next_multiple_of(8) + ARRAY_LENGTH_OFFSET as usize)?;
    if plan.is_in || !plan.by_ref {
        // SAFETY: the slot has the native size, zeroed; the wrapper passes the by-reference argument.
        if let Err(thrown) = unsafe { to_native(t, &plan.native, managed, slot) } {
            release_after_error(t, &plan.native, slot, None);
            // SAFETY: allocated above.
            unsafe { text::free(slot) };
            return Err(thrown);
        }
    }
    Ok(slot as i64)
}

/// Length of a by-reference array that native code made: the number that the wrapper stored behind its slot, or the
/// length of the array that was passed.
///
/// # Safety
/// `slot` is from `marshal_in` of this plan, for the reference at `managed`.
unsafe fn passed_length(plan: &ParamPlan, slot: *const u8, managed: *const u8) -> Option<usize> {
    let NativeType::Array { count, .. } = &plan.native else { return None };
    if count.param.is_none() || !plan.is_out {
        return if plan.is_in { element_count(&plan.native, managed) } else { None };
    }
    // SAFETY: `marshal_in` allocates the place.
    let length: i64 = unsafe { crate::convert::read(slot.add(ARRAY_LENGTH_OFFSET as usize)) };
    Some(usize::try_from(length).unwrap_or(0))
}

/// A struct by value travels as the address of its native copy.
fn is_struct(native: &NativeType) -> bool {
    matches!(native, NativeType::Struct(_))
}

/// Frees a half-filled slot without disturbing the pending exception.
fn release_after_error(t: CurrentThread, native: &NativeType, slot: *mut u8, length: Option<usize>) {
    let pending = t.take_pending();
    // SAFETY: filled by `to_native` as far as it got; zero elsewhere.
    let _ = unsafe { release(t, native, slot, length) };
    t.set_pending(pending);
}

/// Length of the array that a by-value array parameter holds.
fn element_count(native: &NativeType, managed: *const u8) -> Option<usize> {
    if !matches!(native, NativeType::Array { .. }) || managed.is_null() {
        return None;
    }
    // SAFETY: the managed slot of an array parameter holds a reference.
    let array: ObjRef = unsafe { crate::convert::read(managed) };
    (!array.is_null()).then(|| object::array_length(array))
}

/// (native word, address of the managed value, descriptor): copies back; for a result: converts and frees.
///
/// # Errors
/// As `to_managed`.
pub fn marshal_out(t: CurrentThread, word: i64, value: usize, info: usize) -> Managed<()> {
    // SAFETY: `Symbol::MarshalInfo`.
    let descriptor = unsafe { MarshalDescriptor::from_address(info) };
    let plan = &descriptor.plan;
    let managed = value as *mut u8;
    let mut word = word;
    let slot = (&raw mut word).cast::<u8>();
    if plan.index == 0 && is_struct(&plan.native) {
        // SAFETY: the wrapper passes the address of the native result. Memory that its fields point to stays native.
        return unsafe { to_managed(t, &plan.native, word as *const u8, managed) };
    }
    if plan.index == 0 {
        // SAFETY: a result's word is its slot; the wrapper passes a local of the managed type.
        let converted = unsafe { to_managed(t, &plan.native, slot, managed) };
        // Strings and arrays belong to the caller; the target of a class pointer or delegate does not.
        if matches!(plan.native, NativeType::String(_) | NativeType::Array { .. }) {
            release_after_error(t, &plan.native, slot, None);
        }
        return converted;
    }
    if plan.by_ref {
        let slot = word as *const u8;
        // SAFETY: the word is the slot's address; the wrapper passes the by-reference argument.
        return unsafe { to_managed_of_length(t, &plan.native, slot, managed, passed_length(plan, slot, managed)) };
    }
    // SAFETY: the word came from `marshal_in` of this value.
    unsafe { update_managed(t, &plan.native, slot, managed) }
}

/// (native word, address of the managed value, descriptor): frees the memory that `marshal_in` allocated. A word of 0 is
/// allowed.
///
/// # Errors
/// Load errors.
pub fn marshal_free(t: CurrentThread, word: i64, value: usize, info: usize) -> Managed<()> {
    if word == 0 {
        return Ok(());
    }
    // SAFETY: `Symbol::MarshalInfo`.
    let descriptor = unsafe { MarshalDescriptor::from_address(info) };
    let plan = &descriptor.plan;
    if plan.by_ref || is_struct(&plan.native) {
        let slot = word as *mut u8;
        // SAFETY: as in `marshal_out`.
        let length = unsafe { passed_length(plan, slot, value as *const u8) };
        // SAFETY: the slot of `marshal_in`, whose contents native code may have replaced by its own allocations.
        unsafe { release(t, &plan.native, slot, length)? };
        // SAFETY: allocated by `marshal_in`.
        unsafe { text::free(slot) };
        return Ok(());
    }
    if let NativeType::AnyObject(charset) = &plan.native {
        // SAFETY: the wrapper passes the address of the parameter, which it keeps.
        let object: ObjRef = unsafe { crate::convert::read(value as *const u8) };
        // SAFETY: the word came from `marshal_in` of this object; a null object has the word 0.
        return unsafe { crate::any_object::free(t, object, *charset, word as usize) };
    }
    let mut word = word;
    let length = element_count(&plan.native, value as *const u8);
    // SAFETY: the word came from `marshal_in`.
    unsafe { release(t, &plan.native, (&raw mut word).cast(), length) }
}

/// A native caller's argument → the managed value at `value`.
///
/// # Errors
/// As `to_managed`.
pub fn callback_in(t: CurrentThread, word: i64, value: usize, info: usize) -> Managed<()> {
    // SAFETY: `Symbol::MarshalInfo`.
    let descriptor = unsafe { MarshalDescriptor::from_address(info) };
    let plan = &descriptor.plan;
    let is_address = plan.by_ref || is_struct(&plan.native);
    let slot = if is_address { word as *const u8 } else { (&raw const word).cast() };
    if slot.is_null() {
        // A `ref` to a class is the object's fields, which must be somewhere.
        return match plan.native {
            NativeType::ClassPointer(_) => Err(exceptions::throw_default(t, "ArgumentNullException")),
            _ => Ok(()),
        };
    }
    if let (false, NativeType::Array { element, element_type, .. }) = (plan.by_ref, &plan.native) {
        // SAFETY: the wrapper passes a local with an array of the length that native code gave.
        let array: ObjRef = unsafe { crate::convert::read(value as *const u8) };
        // SAFETY: native code passed as many elements as it said.
        return unsafe { elements_to_managed(t, element, element_type, word as *const u8, array) };
    }
    // SAFETY: native code passes values of the delegate's signature; the wrapper passes a local of the managed type.
    unsafe { to_managed(t, &plan.native, slot, value as *mut u8) }
}

/// A managed result (index 0), or the value that the delegate left in an `out`/`ref` argument, → native.
///
/// # Errors
/// As `to_native`.
pub fn callback_out(t: CurrentThread, value: usize, word: i64, info: usize) -> Managed<i64> {
    // SAFETY: `Symbol::MarshalInfo`.
    let descriptor = unsafe { MarshalDescriptor::from_address(info) };
    let plan = &descriptor.plan;
    let managed = value as *const u8;
    if plan.index == 0 && is_struct(&plan.native) {
        let (slot, size) = (word as *mut u8, plan.native.size_bytes().to_managed(t)? as usize);
        // SAFETY: the wrapper passes the place for the native result.
        unsafe { std::ptr::write_bytes(slot, 0, size) };
        // SAFETY: as above; the value is the delegate's result. Native code owns what is allocated.
        unsafe { to_native(t, &plan.native, managed, slot)? };
        return Ok(0);
    }
    if plan.index == 0 {
        let mut result = 0i64;
        // SAFETY: a result's word is its slot. Native code owns what is allocated.
        unsafe { to_native(t, &plan.native, managed, (&raw mut result).cast())? };
        return Ok(result);
    }
    let slot = word as *mut u8;
    if slot.is_null() {
        return Ok(0);
    }
    if plan.by_ref {
        // SAFETY: native code passed the address of a slot of this type.
        unsafe { to_native(t, &plan.native, managed, slot)? };
        return Ok(0);
    }
    if let NativeType::Array { element, element_type, .. } = &plan.native {
        // SAFETY: the wrapper passes a local with the array.
        let array: ObjRef = unsafe { crate::convert::read(managed) };
        let (count, size) = (object::array_length(array), element.size_bytes().to_managed(t)? as usize);
        // SAFETY: native code passed room for as many elements as it said, which is the array's length.
        unsafe { std::ptr::write_bytes(slot, 0, count * size) };
        // SAFETY: as above.
        unsafe { elements_to_native(t, element, element_type, array, slot, count)? };
        return Ok(0);
    }
    // An `[Out]` object behind a pointer: its fields go back to where they came from.
    if let NativeType::ClassPointer(ty) = &plan.native {
        // SAFETY: as above.
        let object: ObjRef = unsafe { crate::convert::read(managed) };
        if !object.is_null() {
            let data = object.field_ptr::<u8>(saki_il::synth::marshal::data_offset_bytes(ty) as usize);
            // SAFETY: native code passed a struct of this layout.
            unsafe { crate::convert::fields_to_native(t, ty, data, slot)? };
        }
    }
    Ok(0)
}

/// MarshalDirectiveException with the reason why the value cannot be marshalled.
///
/// # Errors
/// Always.
pub fn throw_marshal_directive(t: CurrentThread, info: usize) -> Managed<()> {
    // SAFETY: `Symbol::MarshalInfo`.
    let descriptor = unsafe { MarshalDescriptor::from_address(info) };
    let message = match &descriptor.plan.native {
        NativeType::Refused(why) => why.clone(),
        NativeType::Array { .. } if descriptor.plan.index == 0 => {
            format!("Cannot marshal '{}' as a result: its length is not known.", descriptor.plan.ty.full_name())
        }
        _ => format!("Cannot marshal parameter #{} of {}.", descriptor.plan.index, descriptor.method.full_name()),
    };
    Err(exceptions::throw(t, "System.Runtime.InteropServices", "MarshalDirectiveException", &message))
}

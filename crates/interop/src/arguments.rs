//! The marshalling helpers of compiled wrappers: arguments and results, forwards and in callbacks.
//!
//! A wrapper names a managed value by the address of its variable. A by-value parameter's word *is* its native slot;
//! the word of a `ref` parameter, or of a struct by value, is the address of a slot of the C heap. Invariant:
//! `marshal_free` may run after any part of `marshal_in`, also after a failed one, once. Left out: conversions that
//! wrappers make inline (`saki_il::synth::pinvoke`).

use crate::any_object;
use crate::descriptor::MarshalDescriptor;
use crate::release::release;
use crate::slots::{ManagedFields, ManagedSlot, NativeBlock, NativeSlot, NativeWord, array};
use crate::text;
use crate::to_managed::{elements_to_managed, to_managed, to_managed_of_length, update_managed};
use crate::to_native::{elements_to_native, fields_to_native, size_of_native, to_native};
use saki_il::synth::marshal::{NativeType, ParamPlan, native_layout};
use saki_il::synth::pinvoke::ARRAY_LENGTH_OFFSET;
use saki_runtime::ExceptionType;
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_runtime::object::{exception_trace, exceptions};
use saki_types::Ty;

/// The address of a variable of managed code that a wrapper names: its parameter or local, or a `ref` argument.
#[derive(Clone, Copy)]
pub struct Variable(usize);

impl Variable {
    /// # Safety
    /// The address is null, or that of a variable of the type that the descriptor passed with it names, which outlives
    /// the wrapper's call.
    pub unsafe fn passed(address: usize) -> Variable {
        Variable(address)
    }

    /// The variable; None for a null `ref`.
    fn slot<'t>(self, t: CurrentThread<'t>, plan: &ParamPlan) -> Managed<Option<ManagedSlot<'t>>> {
        // SAFETY: by the promise of `passed`; the plan is the descriptor's.
        unsafe { ManagedSlot::at(t, self.0, plan.ty) }
    }

    /// The variable; a null `ref` is a NullReferenceException.
    fn known_slot<'t>(self, t: CurrentThread<'t>, plan: &ParamPlan) -> Managed<ManagedSlot<'t>> {
        self.slot(t, plan)?.ok_or_else(|| exceptions::throw_null_reference(t))
    }
}

/// Size of the blocks that `marshal_in` makes: whole eightbytes, because structs by value are read in eightbytes, and
/// one more eightbyte for the length of an array.
fn block_bytes(t: CurrentThread, descriptor: &MarshalDescriptor) -> Managed<usize> {
    Ok(descriptor.native_size_bytes(t)?.next_multiple_of(8) + ARRAY_LENGTH_OFFSET as usize)
}

/// Whether the value is a struct, which is passed as the address of its native copy.
fn is_struct(native: &NativeType) -> bool {
    matches!(native, NativeType::Struct(_))
}

/// Converts the managed value at an address and returns the native word.
///
/// # Errors
/// ArgumentException for values that do not fit, MarshalDirectiveException, OutOfMemoryException; nothing stays
/// allocated after one.
pub fn marshal_in(t: CurrentThread, value: Variable, descriptor: &MarshalDescriptor) -> Managed<i64> {
    let plan = &descriptor.plan;
    if !plan.by_ref && !is_struct(&plan.native) {
        let managed = value.known_slot(t, plan)?;
        let mut word = NativeWord::ZERO;
        let slot = NativeSlot::of_word(&mut word);
        // The buffer of a builder or array is made even if the parameter is only `[Out]`: native code writes into it.
        if let Err(thrown) = to_native(t, &plan.native, managed, slot) {
            release_after_error(t, &plan.native, slot, element_count(&plan.native, managed));
            return Err(thrown);
        }
        return Ok(word.get());
    }
    let block = NativeBlock::allocate(t, block_bytes(t, descriptor)?)?;
    if plan.is_in || !plan.by_ref {
        let managed = value.known_slot(t, plan)?;
        if let Err(thrown) = to_native(t, &plan.native, managed, block.slot()) {
            release_after_error(t, &plan.native, block.slot(), None);
            return Err(thrown);
        }
    }
    Ok(block.leak().address() as i64)
}

/// Length of a by-reference array that native code made: the number that the wrapper stored behind the slot in the
/// block of `marshal_in`, or the length of the array that was passed.
fn passed_length(plan: &ParamPlan, block: NativeSlot, managed: Option<ManagedSlot>) -> Option<usize> {
    let NativeType::Array { count, .. } = &plan.native else { return None };
    if count.param.is_none() || !plan.is_out {
        return if plan.is_in { element_count(&plan.native, managed?) } else { None };
    }
    let length: i64 = block.part(ARRAY_LENGTH_OFFSET as usize, size_of::<i64>()).read();
    Some(usize::try_from(length).unwrap_or(0))
}

/// Frees a half-filled slot without disturbing the pending exception.
fn release_after_error(t: CurrentThread, native: &NativeType, slot: NativeSlot, length: Option<usize>) {
    let pending = t.take_pending();
    // SAFETY: filled by `to_native` as far as it got, zero elsewhere; or a result that was converted.
    let _ = unsafe { release(t, native, slot, length) };
    t.set_pending(pending);
}

/// Length of the array that an array parameter holds.
fn element_count(native: &NativeType, managed: ManagedSlot) -> Option<usize> {
    if !matches!(native, NativeType::Array { .. }) {
        return None;
    }
    managed.obj().map(|object| array(object).length())
}

/// Copies native code's changes back to the managed value at an address. A result is converted, and its native memory
/// freed.
///
/// # Errors
/// MarshalDirectiveException, OutOfMemoryException.
pub fn marshal_out(t: CurrentThread, word: NativeWord, value: Variable, descriptor: &MarshalDescriptor) -> Managed<()> {
    let plan = &descriptor.plan;
    let managed = value.known_slot(t, plan)?;
    let mut word = word;
    if plan.index == 0 && is_struct(&plan.native) {
        // Memory that fields of the result point to is not freed.
        return match word.target(t, descriptor.native_size_bytes(t)?) {
            Some(result) => to_managed(t, &plan.native, result, managed),
            None => saki_base::bug!("no place for the result of {}", descriptor.method.full_name()),
        };
    }
    if plan.index == 0 {
        let slot = NativeSlot::of_word(&mut word);
        let converted = to_managed(t, &plan.native, slot, managed);
        // Strings and arrays belong to the caller; the target of a class pointer or delegate does not.
        if matches!(plan.native, NativeType::String(_) | NativeType::Array { .. }) {
            release_after_error(t, &plan.native, slot, None);
        }
        return converted;
    }
    if plan.by_ref {
        return match word.target(t, block_bytes(t, descriptor)?) {
            Some(block) => {
                let length = passed_length(plan, block, Some(managed));
                to_managed_of_length(t, &plan.native, block, managed, length)
            }
            None => saki_base::bug!("a `ref` parameter of {} was not converted", descriptor.method.full_name()),
        };
    }
    // The word came from `marshal_in` of this variable.
    update_managed(t, &plan.native, NativeSlot::of_word(&mut word), managed)
}

/// Frees the memory that `marshal_in` allocated for the managed value at an address. A word of 0 is allowed.
///
/// # Errors
/// Load errors.
pub fn marshal_free(
    t: CurrentThread,
    word: NativeWord,
    value: Variable,
    descriptor: &MarshalDescriptor,
) -> Managed<()> {
    let plan = &descriptor.plan;
    let managed = if word.get() == 0 { None } else { value.slot(t, plan)? };
    if plan.by_ref || is_struct(&plan.native) {
        let Some(block) = word.target(t, block_bytes(t, descriptor)?) else { return Ok(()) };
        let length = passed_length(plan, block, managed);
        // SAFETY: the block of `marshal_in`, whose contents native code may have replaced by its own allocations.
        unsafe { release(t, &plan.native, block, length)? };
        // SAFETY: `marshal_in` allocated the block, and wrappers free it once.
        unsafe { text::free(block.address()) };
        return Ok(());
    }
    let Some(managed) = managed else { return Ok(()) };
    let mut word = word;
    let slot = NativeSlot::of_word(&mut word);
    if let NativeType::AnyObject(charset) = &plan.native {
        return match managed.obj() {
            // SAFETY: the word came from `marshal_in` of this object, which the wrapper keeps.
            Some(object) => unsafe { any_object::free(t, object, *charset, slot) },
            // A null object has the word 0.
            None => Ok(()),
        };
    }
    let length = element_count(&plan.native, managed);
    // SAFETY: the word came from `marshal_in`.
    unsafe { release(t, &plan.native, slot, length) }
}

/// Sets the managed value at `value` from a native caller's argument.
///
/// # Errors
/// MarshalDirectiveException, OutOfMemoryException.
pub fn callback_in(t: CurrentThread, word: NativeWord, value: Variable, descriptor: &MarshalDescriptor) -> Managed<()> {
    let plan = &descriptor.plan;
    let managed = value.known_slot(t, plan)?;
    if let (false, NativeType::Array { element, .. }) = (plan.by_ref, &plan.native) {
        // The wrapper passes a local with an array of the length that native code gave.
        let (Some(object), stride_bytes) = (managed.obj(), size_of_native(t, element)?) else { return Ok(()) };
        let array = array(object);
        return match word.target(t, stride_bytes * array.length()) {
            Some(block) => elements_to_managed(t, element, block, array),
            None => Ok(()),
        };
    }
    if plan.by_ref || is_struct(&plan.native) {
        return match word.target(t, descriptor.native_size_bytes(t)?) {
            Some(slot) => to_managed(t, &plan.native, slot, managed),
            // A `ref` to a class points to the object's fields, so null is an error.
            None if matches!(plan.native, NativeType::ClassPointer(_)) => {
                Err(exceptions::throw_default(t, ExceptionType::ArgumentNull))
            }
            None => Ok(()),
        };
    }
    let mut word = word;
    to_managed(t, &plan.native, NativeSlot::of_word(&mut word), managed)
}

/// Converts a managed result (index 0), or the value that the delegate left in an `out` or `ref` argument, for the
/// native caller.
///
/// # Errors
/// ArgumentException for values that do not fit, MarshalDirectiveException, OutOfMemoryException.
pub fn callback_out(
    t: CurrentThread,
    value: Variable,
    word: NativeWord,
    descriptor: &MarshalDescriptor,
) -> Managed<i64> {
    let plan = &descriptor.plan;
    let managed = value.known_slot(t, plan)?;
    // Native code owns the memory that is allocated for a result.
    if plan.index == 0 && !is_struct(&plan.native) {
        let mut result = NativeWord::ZERO;
        to_native(t, &plan.native, managed, NativeSlot::of_word(&mut result))?;
        return Ok(result.get());
    }
    let memory = |size_bytes| word.target(t, size_bytes);
    if plan.index == 0 || plan.by_ref {
        let Some(slot) = memory(descriptor.native_size_bytes(t)?) else { return Ok(0) };
        if plan.index == 0 {
            slot.fill_zero();
        }
        to_native(t, &plan.native, managed, slot)?;
        return Ok(0);
    }
    match &plan.native {
        NativeType::Array { element, .. } => {
            let (Some(object), stride_bytes) = (managed.obj(), size_of_native(t, element)?) else { return Ok(0) };
            let array = array(object);
            // Native code passed room for the number of elements that it named, which is the array's length.
            if let Some(slot) = memory(array.length() * stride_bytes) {
                slot.fill_zero();
                elements_to_native(t, element, array, slot, array.length())?;
            }
        }
        // An `[Out]` object behind a pointer: its fields are copied back to the caller's structure.
        NativeType::ClassPointer(ty) => {
            let size_bytes = native_layout(ty);
            let size_bytes = exceptions::ToManaged::to_managed(size_bytes, t)?.size_bytes as usize;
            if let (Some(object), Some(slot)) = (managed.obj(), memory(size_bytes)) {
                fields_to_native(t, ty, ManagedFields::of(object, ty), slot)?;
            }
        }
        _ => {}
    }
    Ok(0)
}

/// Whether this is the reason why the type, or what it refers to, has no native layout.
fn is_of_layout(ty: Ty, why: &str) -> bool {
    let ty = ty.element().filter(|_| ty.is_byref()).unwrap_or(ty);
    let has_fields = ty.def().is_some() && !ty.is_open;
    has_fields && native_layout(ty).is_ok_and(|layout| layout.refused.as_deref() == Some(why))
}

/// MarshalDirectiveException with the reason why the value cannot be marshalled; for a struct that has no native layout
/// the exception for that.
///
/// # Errors
/// Always.
pub fn throw_marshal_directive(t: CurrentThread, descriptor: &MarshalDescriptor) -> Managed<()> {
    let begun = |thrown| match descriptor.method.is_pinvoke() {
        true => exception_trace::begin_in_stub(t, thrown, descriptor.method, 1),
        false => thrown,
    };
    let message = match &descriptor.plan.native {
        NativeType::Refused(why) if is_of_layout(descriptor.plan.ty, why) => {
            return Err(begun(crate::refusals::layout_error(t, why)));
        }
        NativeType::Refused(why) => why.clone(),
        NativeType::Array { .. } if descriptor.plan.index == 0 => {
            format!("Cannot marshal '{}' as a result: its length is not known.", descriptor.plan.ty.full_name())
        }
        _ => format!("Cannot marshal parameter #{} of {}.", descriptor.plan.index, descriptor.method.full_name()),
    };
    Err(begun(crate::refusals::directive_error(t, &message)))
}

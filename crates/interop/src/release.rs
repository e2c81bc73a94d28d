//! Freeing the memory that native values own, by `NativeType`.
//!
//! Invariant: if native code has replaced memory of `to_native` by its own, that is freed, too: both are of the C heap.

use crate::slots::NativeSlot;
use crate::text;
use crate::to_native::size_of_native;
use saki_il::synth::marshal::{NativeType, native_layout};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_types::Ty;

/// Frees the memory that a slot owns; the slot itself stays. `length`: the number of elements of an array, when known.
///
/// # Errors
/// Load errors.
///
/// # Safety
/// `slot` was filled by `to_native` (or by native code in its place), and the memory that it owns is not used again.
pub unsafe fn release(t: CurrentThread, native: &NativeType, slot: NativeSlot, length: Option<usize>) -> Managed<()> {
    match native {
        // SAFETY: null or a string of this form, which the slot owns.
        NativeType::String(form) => unsafe { text::free_string(*form, slot.read()) },
        // SAFETY: null or a block of the C heap, which the slot owns.
        NativeType::StringBuilder(_) => unsafe { text::free(slot.read()) },
        NativeType::FixedArray { element, count, .. } => {
            // SAFETY: the elements lie in the slot, which owns their memory.
            unsafe { release_elements(t, element, slot, *count as usize)? };
        }
        NativeType::Array { element, count, .. } => {
            let length = length.or(count.constant.map(|n| n as usize)).unwrap_or(0);
            let size_bytes = size_of_native(t, element)?.saturating_mul(length);
            if let Some(block) = slot.target(size_bytes) {
                // SAFETY: the slot owns the block and the memory that its elements own.
                unsafe { release_elements(t, element, block, length)? };
                // SAFETY: the slot owns the block, whose elements own nothing any more.
                unsafe { text::free(block.address()) };
            }
        }
        // SAFETY: `to_native` filled the slot, so each of the struct's fields is a filled slot of its own.
        NativeType::Struct(ty) | NativeType::ClassInline(ty) => unsafe { release_fields(t, ty, slot)? },
        NativeType::ClassPointer(ty) => {
            let size_bytes = native_layout(ty).to_managed(t)?.size_bytes as usize;
            if let Some(block) = slot.target(size_bytes) {
                // SAFETY: the slot owns the block and the memory that its fields own.
                unsafe { release_fields(t, ty, block)? };
                // SAFETY: the slot owns the block, whose fields own nothing any more.
                unsafe { text::free(block.address()) };
            }
        }
        _ => {}
    }
    Ok(())
}

/// # Safety
/// Each of the first `count` elements of `block` was filled by `to_native` (or by native code in its place), and the
/// memory that they own is not used again.
unsafe fn release_elements(t: CurrentThread, element: &NativeType, block: NativeSlot, count: usize) -> Managed<()> {
    if !element.owns_memory().to_managed(t)? {
        return Ok(());
    }
    let stride_bytes = size_of_native(t, element)?;
    for index in 0..count {
        // SAFETY: `index < count`, and each of the first `count` elements of `block` was filled by `to_native`.
        unsafe { release(t, element, block.element(index, stride_bytes), None)? };
    }
    Ok(())
}

/// Frees the memory that the fields of a native struct own, and zeroes those pointers.
///
/// # Errors
/// Load errors.
///
/// # Safety
/// `slot` holds a struct of type `ty` that was filled by `to_native` (or by native code in its place), and the memory
/// that its fields own is not used again.
pub unsafe fn release_fields(t: CurrentThread, ty: Ty, slot: NativeSlot) -> Managed<()> {
    for field in &native_layout(ty).to_managed(t)?.fields {
        let slot = slot.after(field.offset_bytes as usize);
        // SAFETY: the struct was filled by `to_native`, so this field's slot was; the field owns its memory alone.
        unsafe { release(t, &field.native, slot, None)? };
        if matches!(field.native, NativeType::String(_) | NativeType::Array { .. } | NativeType::ClassPointer(_)) {
            slot.write(0usize);
        }
    }
    Ok(())
}

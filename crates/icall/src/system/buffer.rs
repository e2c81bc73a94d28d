//! System.Buffer.

use crate::arguments::{argument_error_for, non_null};
use saki_loops::copy::copy;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed};
use saki_types::{ElementType as E, Ty};

/// Bytes of all elements of an array; -1 if they are neither numbers nor enumerations: references must not be forged.
#[inline]
fn byte_length(array: Array) -> i64 {
    let element = array.ty().element();
    let bytes = || array.length() as i64 * i64::from(array.vtable().element_size_bytes);
    if element.is_some_and(|element| ((E::Boolean as u8)..=E::R8 as u8).contains(&(element.element_type as u8))) {
        return bytes();
    }
    // Value types other than structs and void.
    let is_number =
        |ty: Ty| ty.is_value_type() && !matches!(ty.underlying().element_type, E::ValueType | E::TypedByRef | E::Void);
    match element {
        Some(element) if is_number(element) => bytes(),
        _ => -1,
    }
}

/// Address of a range of bytes of an array; None if it does not lie in the array, or the elements are not numbers.
#[inline]
pub(crate) fn byte_range(array: Array, offset_bytes: i32, count_bytes: i32) -> Option<*mut u8> {
    let fits =
        offset_bytes >= 0 && count_bytes >= 0 && i64::from(offset_bytes) + i64::from(count_bytes) <= byte_length(array);
    fits.then(|| array.element_address(0).wrapping_add(offset_bytes as usize))
}

fn internal_byte_length(t: CurrentThread, array: Option<Array>) -> Managed<i32> {
    Ok(byte_length(non_null(t, array, "array")?) as i32)
}

/// False when a range lies outside its array or the elements are not numbers; managed code then throws.
fn internal_block_copy(
    t: CurrentThread,
    source: Option<Array>,
    source_offset_bytes: i32,
    destination: Option<Array>,
    destination_offset_bytes: i32,
    count_bytes: i32,
) -> Managed<bool> {
    let source = non_null(t, source, "src")?;
    let destination = non_null(t, destination, "dst")?;
    if count_bytes < 0 {
        return Err(argument_error_for(t, "count", "is negative"));
    }
    let source = byte_range(source, source_offset_bytes, count_bytes);
    let destination = byte_range(destination, destination_offset_bytes, count_bytes);
    let (Some(source), Some(destination)) = (source, destination) else { return Ok(false) };
    // SAFETY: both ranges were checked; they may overlap.
    unsafe { copy(source, destination, count_bytes as usize) };
    Ok(true)
}

fn internal_memcpy(_t: CurrentThread, destination: *mut u8, source: *const u8, count_bytes: i32) {
    // SAFETY: the managed caller's unsafe code vouches for both ranges.
    unsafe { copy(source, destination, count_bytes as usize) };
}

/// The internal calls of `System.Buffer`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Buffer::_ByteLength", &internal_byte_length),
    InternalCall::new("System.Buffer::InternalBlockCopy", &internal_block_copy),
    InternalCall::new("System.Buffer::InternalMemcpy", &internal_memcpy),
];

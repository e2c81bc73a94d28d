//! System.Buffer.

use crate::arguments::{argument_error_for, non_null};
use crate::loops::kernels;
use saki_abi::ObjRef;
use saki_runtime::{CurrentThread, InternalCall, object};
use saki_types::{ElementType as E, Ty};

/// Bytes of all elements of an array; -1 if they are neither numbers nor enumerations: references must not be forged.
#[inline]
pub(crate) fn byte_length(array: ObjRef) -> i64 {
    let element = object::type_of(array).element();
    let bytes = || object::array_length(array) as i64 * i64::from(object::vtable(array).element_size_bytes);
    if element.is_some_and(|element| ((E::Boolean as u8)..=E::R8 as u8).contains(&(element.element_type as u8))) {
        return bytes();
    }
    // Value types that are neither structs nor without values.
    let is_number =
        |ty: Ty| ty.is_value_type() && !matches!(ty.underlying().element_type, E::ValueType | E::TypedByRef | E::Void);
    match element {
        Some(element) if is_number(element) => bytes(),
        _ => -1,
    }
}

fn internal_byte_length(t: CurrentThread, array: ObjRef) -> i32 {
    t.run(|| {
        non_null(t, array, "array")?;
        Ok(byte_length(array) as i32)
    })
}

/// False when a range lies outside its array or the elements are no numbers; managed code then throws.
fn internal_block_copy(
    t: CurrentThread,
    source: ObjRef,
    source_offset_bytes: i32,
    destination: ObjRef,
    destination_offset_bytes: i32,
    count_bytes: i32,
) -> i32 {
    t.run(|| {
        non_null(t, source, "src")?;
        non_null(t, destination, "dst")?;
        if count_bytes < 0 {
            return Err(argument_error_for(t, "count", "is negative"));
        }
        let fits = |array, offset: i32| offset >= 0 && i64::from(offset) + i64::from(count_bytes) <= byte_length(array);
        if !fits(source, source_offset_bytes) || !fits(destination, destination_offset_bytes) {
            return Ok(0);
        }
        let src = object::element_address(source, source_offset_bytes as usize, 1);
        let dst = object::element_address(destination, destination_offset_bytes as usize, 1);
        // SAFETY: both ranges were checked; they may overlap.
        unsafe { kernels::copy(src, dst, count_bytes as usize) };
        Ok(1)
    })
}

fn internal_memcpy(_t: CurrentThread, destination: *mut u8, source: *const u8, count_bytes: i32) {
    // SAFETY: the managed caller's unsafe code vouches for both ranges.
    unsafe { kernels::copy(source, destination, count_bytes as usize) };
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Buffer::_ByteLength", &internal_byte_length),
    InternalCall::new("System.Buffer::InternalBlockCopy", &internal_block_copy),
    InternalCall::new("System.Buffer::InternalMemcpy", &internal_memcpy),
];

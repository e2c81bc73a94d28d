//! Blobs of `mono/metadata/metadata.h` and `blob.h`: numbers, and types and signatures read from memory.

use crate::call::{load, put};
use crate::types::MonoArrayType;
use saki_metadata::SigReader;
use saki_types::signature::{resolve_method_sig, resolve_type_sig};
use saki_types::{GenericContext, Image, LoadResult, MethodSig, Ty};
use std::ffi::c_int;

/// The bytes that a blob at an address can have at most: its end is not told.
///
/// # Safety
/// Memory at the address is readable up to the end of what is read there.
unsafe fn bytes_at<'a>(at: *const u8, most: usize) -> &'a [u8] {
    // SAFETY: what is read of it lies in the host's memory; a slice over the rest of an image is never read.
    unsafe { std::slice::from_raw_parts(at, most) }
}

/// The number at an address, and its bytes: 1, 2 or 4.
///
/// # Safety
/// A compressed number lies there.
unsafe fn number(at: *const u8) -> (u32, usize) {
    // SAFETY: the first byte of the number.
    let first = unsafe { at.read() };
    let length = match first {
        0..0x80 => 1,
        0x80..0xc0 => 2,
        _ => 4,
    };
    // SAFETY: the number has so many bytes.
    let bytes = unsafe { bytes_at(at, length) };
    let mask: u32 = match length {
        1 => 0x7f,
        2 => 0x3fff,
        _ => 0x1fff_ffff,
    };
    (bytes.iter().fold(0, |sum: u32, byte| (sum << 8) | u32::from(*byte)) & mask, length)
}

/// The compressed number at `at`, and the address after it.
///
/// # Safety
/// A number lies there; `after` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_decode_value(at: *const u8, after: *mut *const u8) -> u32 {
    // SAFETY: the host's number.
    let (value, length) = unsafe { number(at) };
    // SAFETY: null or the host's variable.
    unsafe { put(after, at.wrapping_add(length)) };
    value
}

/// [`mono_metadata_decode_value`]: the length of a blob.
///
/// # Safety
/// That of [`mono_metadata_decode_value`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_decode_blob_size(at: *const u8, after: *mut *const u8) -> u32 {
    // SAFETY: the host's number, and null or its variable.
    unsafe { mono_metadata_decode_value(at, after) }
}

/// The compressed number with a sign at `at`, and the address after it.
///
/// # Safety
/// That of [`mono_metadata_decode_value`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_decode_signed_value(at: *const u8, after: *mut *const u8) -> i32 {
    // SAFETY: the host's number.
    let (value, length) = unsafe { number(at) };
    // SAFETY: null or the host's variable.
    unsafe { put(after, at.wrapping_add(length)) };
    let bits = match length {
        1 => 7,
        2 => 14,
        _ => 29,
    };
    // The sign is the lowest bit; the others are those of the number in so many bits.
    let half = (value >> 1) as i32;
    if value & 1 == 0 { half } else { half - (1 << (bits - 1)) }
}

/// Writes a compressed number; the address after it.
///
/// # Safety
/// `to` has room for four bytes; `after` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_encode_value(value: u32, to: *mut u8, after: *mut *mut u8) {
    let bytes: Vec<u8> = match value {
        0..0x80 => vec![value as u8],
        0x80..0x4000 => ((value | 0x8000) as u16).to_be_bytes().to_vec(),
        _ => (value | 0xc000_0000).to_be_bytes().to_vec(),
    };
    // SAFETY: room for four bytes.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    // SAFETY: null or the host's variable.
    unsafe { put(after, to.wrapping_add(bytes.len())) };
}

/// The type token at `at`, and the address after it.
///
/// # Safety
/// That of [`mono_metadata_decode_value`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_parse_typedef_or_ref(
    _image: &'static Image,
    at: *const u8,
    after: *mut *const u8,
) -> u32 {
    // SAFETY: the host's number, and null or its variable.
    crate::tables::mono_metadata_token_from_dor(unsafe { mono_metadata_decode_value(at, after) })
}

/// The bytes of an image from an address in it on; those that the longest signature takes for memory elsewhere.
///
/// # Safety
/// A signature lies at the address.
unsafe fn signature_at<'a>(image: &'static Image, at: *const u8) -> &'a [u8] {
    /// More than any signature takes; what is read ends with the signature.
    const MOST_BYTES: usize = 1 << 12;
    let file = image.meta.bytes().as_ptr_range();
    let most = if file.contains(&at) { file.end.addr() - at.addr() } else { MOST_BYTES };
    // SAFETY: a signature lies there, and is read to its end.
    unsafe { bytes_at(at, most) }
}

/// Reads a part of a signature, and tells the address after it.
///
/// # Safety
/// A signature lies at `at`; `after` is null or the host's variable.
unsafe fn read<T>(
    image: &'static Image,
    at: *const u8,
    after: *mut *const u8,
    read: impl FnOnce(&mut SigReader) -> LoadResult<T>,
) -> LoadResult<T> {
    // SAFETY: a signature lies there.
    let mut reader = SigReader::new(unsafe { signature_at(image, at) });
    let found = read(&mut reader)?;
    // SAFETY: null or the host's variable.
    unsafe { put(after, at.wrapping_add(reader.offset_bytes())) };
    Ok(found)
}

/// # Safety
/// That of [`read`].
unsafe fn type_at(
    function: &str,
    image: &'static Image,
    at: *const u8,
    after: *mut *const u8,
    is_field: bool,
) -> Option<Ty> {
    const FIELD: u8 = 6;
    load(function, || {
        let parse = |reader: &mut SigReader| {
            if is_field && reader.peek_u8() == Some(FIELD) {
                reader.read_u8()?;
            }
            resolve_type_sig(image, &reader.read_type()?, &GenericContext::NONE)
        };
        // SAFETY: the host's signature, and null or its variable.
        unsafe { read(image, at, after, parse) }.map(Some)
    })
}

/// The type at an address, and the address after it; null if it cannot be loaded.
///
/// # Safety
/// A type of a signature lies at `at`; `after` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_parse_type(
    image: &'static Image,
    _mode: c_int,
    _attributes: i16,
    at: *const u8,
    after: *mut *const u8,
) -> Option<Ty> {
    // SAFETY: the host's signature, and null or its variable.
    unsafe { type_at("mono_metadata_parse_type", image, at, after, false) }
}

/// [`mono_metadata_parse_type`] of a parameter.
///
/// # Safety
/// That of [`mono_metadata_parse_type`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_parse_param(
    image: &'static Image,
    at: *const u8,
    after: *mut *const u8,
) -> Option<Ty> {
    // SAFETY: the host's signature, and null or its variable.
    unsafe { type_at("mono_metadata_parse_param", image, at, after, false) }
}

/// [`mono_metadata_parse_type`] of a field, with or without the byte that marks it.
///
/// # Safety
/// That of [`mono_metadata_parse_type`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_parse_field_type(
    image: &'static Image,
    _flags: i16,
    at: *const u8,
    after: *mut *const u8,
) -> Option<Ty> {
    // SAFETY: the host's signature, and null or its variable.
    unsafe { type_at("mono_metadata_parse_field_type", image, at, after, true) }
}

/// The method signature at an address, which lives as long as the process; null if a type cannot be loaded.
///
/// # Safety
/// A signature lies at `at`; `after` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_parse_method_signature(
    image: &'static Image,
    _method: c_int,
    at: *const u8,
    after: *mut *const u8,
) -> Option<&'static MethodSig> {
    load("mono_metadata_parse_method_signature", || {
        let parse = |reader: &mut SigReader| resolve_method_sig(image, &reader.read_method()?, &GenericContext::NONE);
        // SAFETY: the host's signature, and null or its variable.
        let sig: &'static MethodSig = Box::leak(Box::new(unsafe { read(image, at, after, parse) }?));
        Ok(Some(sig))
    })
}

/// `MonoCustomMod`: whether the modifier is required, in the lowest bit, and its token in the others.
#[repr(transparent)]
pub struct MonoCustomMod(u32);

/// Reads a custom modifier, and tells the address after it: 1, or 0 if there is none.
///
/// # Safety
/// A part of a signature lies at `at`; `modifier` and `after` are null or the host's variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_parse_custom_mod(
    image: &'static Image,
    modifier: *mut MonoCustomMod,
    at: *const u8,
    after: *mut *const u8,
) -> c_int {
    const REQUIRED: u8 = 0x1f;
    const OPTIONAL: u8 = 0x20;
    // SAFETY: the first byte of the host's signature.
    let kind = unsafe { at.read() };
    if kind != REQUIRED && kind != OPTIONAL {
        return 0;
    }
    // SAFETY: a token follows; null or the host's variable.
    let token = unsafe { mono_metadata_parse_typedef_or_ref(image, at.wrapping_add(1), after) };
    // SAFETY: null or the host's variable.
    unsafe { put(modifier, MonoCustomMod((token << 1) | u32::from(kind == REQUIRED))) };
    1
}

/// Reads the shape of an array, without the byte that says that it is one, and tells the address after it; it lives as
/// long as the process. Null if the elements cannot be loaded.
///
/// # Safety
/// The elements' type and the shape lie at `at`; `after` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_metadata_parse_array(
    image: &'static Image,
    at: *const u8,
    after: *mut *const u8,
) -> *const MonoArrayType {
    let mut at = at;
    // SAFETY: the host's signature, and a variable of ours.
    let Some(element) = (unsafe { type_at("mono_metadata_parse_array", image, at, &raw mut at, false) }) else {
        return std::ptr::null();
    };
    // SAFETY: numbers follow, and a variable of ours.
    let mut next = || unsafe { mono_metadata_decode_value(at, &raw mut at) };
    let rank = next();
    let sizes = (0..next()).map(|_| next() as c_int).collect::<Vec<_>>();
    let bound_count = next();
    // SAFETY: numbers follow, and a variable of ours.
    let mut next = || unsafe { mono_metadata_decode_signed_value(at, &raw mut at) };
    let bounds = (0..bound_count).map(|_| next()).collect::<Vec<_>>();
    // SAFETY: null or the host's variable.
    unsafe { put(after, at) };
    Box::leak(Box::new(MonoArrayType::new(crate::classes::class_of(element), rank, sizes, bounds)))
}

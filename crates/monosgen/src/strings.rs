//! Strings of `mono/metadata/object.h`, and `mono_free`.

use crate::call::{call, call_managed, call_quietly, held, some};
use crate::machine::end;
use crate::text::given;
use saki_abi::ObjRef;
use saki_metadata::Token;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::object::strings::text_of;
use saki_runtime::vm::domains::Domain;
use saki_runtime::{Str, Word};
use saki_types::{Image, LoadError};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// A string of these bytes; null if they are not UTF-8.
fn of_utf8(function: &str, bytes: &[u8]) -> ObjRef {
    let Ok(text) = std::str::from_utf8(bytes) else { return ObjRef::NULL };
    call_quietly(function, |t| Ok(Str::new(t, text)?.word()))
}

/// A string of UTF-8; null for bytes that are none.
///
/// # Safety
/// `text` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_new(_domain: Option<&'static Domain>, text: *const c_char) -> ObjRef {
    // SAFETY: the host's text, which ends in NUL.
    of_utf8("mono_string_new", unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// A string of UTF-8 in the current domain; null for null.
///
/// # Safety
/// `text` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_new_wrapper(text: *const c_char) -> ObjRef {
    if text.is_null() {
        return ObjRef::NULL;
    }
    // SAFETY: not null, so the host's text, which ends in NUL.
    of_utf8("mono_string_new_wrapper", unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// A string of so many bytes of UTF-8; null for bytes that are none.
///
/// # Safety
/// `text` has so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_new_len(
    _domain: Option<&'static Domain>,
    text: *const c_char,
    length: u32,
) -> ObjRef {
    // SAFETY: the host's bytes.
    of_utf8("mono_string_new_len", unsafe { std::slice::from_raw_parts(text.cast(), length as usize) })
}

/// A string of so many UTF-16 units.
///
/// # Safety
/// `text` has so many units.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_new_utf16(
    _domain: Option<&'static Domain>,
    text: *const u16,
    length: i32,
) -> ObjRef {
    // SAFETY: the host's units.
    let units = unsafe { units(text, usize::try_from(length).unwrap_or(0)) };
    call_quietly("mono_string_new_utf16", |t| Ok(Str::from_units(t, &units)?.word()))
}

/// A copy of the host's units; it need not be aligned.
///
/// # Safety
/// `text` has `length` units, or `length` is 0.
unsafe fn units(text: *const u16, length: usize) -> Vec<u16> {
    // SAFETY: an index below the number of units that the host gives.
    (0..length).map(|index| unsafe { text.add(index).read_unaligned() }).collect()
}

/// The number of units before one that is 0.
///
/// # Safety
/// `text` ends in 0.
unsafe fn length_of<T: PartialEq + Default>(text: *const T) -> usize {
    // SAFETY: no unit before this one is 0, so that it is there.
    (0..).take_while(|&index| unsafe { text.add(index).read_unaligned() } != T::default()).count()
}

/// UTF-16 of UTF-32; None if that is none.
///
/// # Safety
/// `text` has `length` units.
unsafe fn utf16_of_utf32(text: *const u32, length: usize) -> Option<Vec<u16>> {
    let mut units = Vec::with_capacity(length);
    for index in 0..length {
        // SAFETY: an index below the number of units that the host gives.
        let c = char::from_u32(unsafe { text.add(index).read_unaligned() })?;
        units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
    }
    Some(units)
}

/// A string of so many units of UTF-32; null for units that are none.
///
/// # Safety
/// `text` has so many units.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_new_utf32(
    _domain: Option<&'static Domain>,
    text: *const u32,
    length: i32,
) -> ObjRef {
    // SAFETY: the host's units.
    let units = unsafe { utf16_of_utf32(text, usize::try_from(length).unwrap_or(0)) };
    let Some(units) = units else { return ObjRef::NULL };
    call_quietly("mono_string_new_utf32", |t| Ok(Str::from_units(t, &units)?.word()))
}

/// A string of UTF-16 that ends in 0, in the current domain; null for null.
///
/// # Safety
/// `text` is null or ends in 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_from_utf16(text: *const u16) -> ObjRef {
    if text.is_null() {
        return ObjRef::NULL;
    }
    // SAFETY: not null, so the host's text, which ends in 0.
    let units = unsafe { units(text, length_of(text)) };
    call_quietly("mono_string_from_utf16", |t| Ok(Str::from_units(t, &units)?.word()))
}

/// A string of UTF-32 that ends in 0, in the current domain; null for null.
///
/// # Safety
/// `text` is null or ends in 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_from_utf32(text: *const u32) -> ObjRef {
    if text.is_null() {
        return ObjRef::NULL;
    }
    // SAFETY: not null, so the host's text, which ends in 0.
    let Some(units) = (unsafe { utf16_of_utf32(text, length_of(text)) }) else { return ObjRef::NULL };
    call_quietly("mono_string_from_utf32", |t| Ok(Str::from_units(t, &units)?.word()))
}

/// A string of so many UTF-16 units, all 0.
#[unsafe(no_mangle)]
pub extern "C" fn mono_string_new_size(_domain: Option<&'static Domain>, length: i32) -> ObjRef {
    call_quietly("mono_string_new_size", |t| {
        Ok(Str::filled(t, usize::try_from(length).unwrap_or(usize::MAX), |_| {})?.word())
    })
}

/// The empty string.
#[unsafe(no_mangle)]
pub extern "C" fn mono_string_empty(_domain: Option<&'static Domain>) -> ObjRef {
    call_quietly("mono_string_empty", |t| Ok(Str::intern_units(t, &[])?.word()))
}

/// The empty string of the current domain.
#[unsafe(no_mangle)]
pub extern "C" fn mono_string_empty_wrapper() -> ObjRef {
    mono_string_empty(None)
}

/// The literal of an image at this place of its heap of strings, without the token's table.
#[unsafe(no_mangle)]
pub extern "C" fn mono_ldstr(_domain: Option<&'static Domain>, image: &'static Image, index: u32) -> ObjRef {
    const USER_STRING: u32 = 0x7000_0000;
    call_managed("mono_ldstr", |t| {
        let units = image.meta.user_string(Token(USER_STRING | index)).map_err(LoadError::from).to_managed(t)?;
        Ok(Str::intern_units(t, &units)?.word())
    })
}

/// The interned string with the same text: the string itself if it is the first.
///
/// # Safety
/// `object` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_intern(object: ObjRef) -> ObjRef {
    const FUNCTION: &str = "mono_string_intern";
    // SAFETY: the host's string.
    call_quietly(FUNCTION, |t| Ok(unsafe { string(FUNCTION, object) }.intern(t)?.word()))
}

/// The interned string with the same text; null if there is none.
///
/// # Safety
/// `object` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_is_interned(object: ObjRef) -> ObjRef {
    const FUNCTION: &str = "mono_string_is_interned";
    // SAFETY: the host's string.
    call(FUNCTION, |t| unsafe { string(FUNCTION, object) }.interned(t).word())
}

/// The string in the host's hands.
///
/// # Safety
/// `string` is an object that the host holds.
pub(crate) unsafe fn string(function: &str, string: ObjRef) -> Str<'static> {
    // SAFETY: an object that the host holds.
    unsafe { some(function, string) }.as_str().unwrap_or_else(|| end(function, "gets an object that is no string"))
}

/// The number of UTF-16 units.
///
/// # Safety
/// `object` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_length(object: ObjRef) -> c_int {
    // SAFETY: the host's string.
    call("mono_string_length", |_| unsafe { string("mono_string_length", object) }.units().len() as c_int)
}

/// The string's UTF-16 units, which end in 0, in the object itself.
///
/// # Safety
/// `object` is a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_chars(object: ObjRef) -> *mut u16 {
    // SAFETY: the host's string.
    call("mono_string_chars", |_| unsafe { string("mono_string_chars", object) }.first_unit().cast_mut())
}

/// A copy in UTF-8 that ends in NUL, for [`mono_free`]; null for null.
///
/// # Safety
/// `object` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_to_utf8(object: ObjRef) -> *mut c_char {
    if object.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the host's string.
    call("mono_string_to_utf8", |_| given(text_of(unsafe { string("mono_string_to_utf8", object) }.units()).as_bytes()))
}

/// [`mono_string_to_utf8`], which does not fail.
///
/// # Safety
/// `object` is null or a string, `error` a `MonoError`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_to_utf8_checked(
    object: ObjRef,
    error: *mut crate::errors::MonoError,
) -> *mut c_char {
    // SAFETY: the host's room for an error.
    unsafe { crate::errors::mono_error_init(error) };
    // SAFETY: null or the host's string.
    unsafe { mono_string_to_utf8(object) }
}

/// A copy in UTF-16 that ends in 0, for [`mono_free`]; null for null.
///
/// # Safety
/// `object` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_to_utf16(object: ObjRef) -> *mut u16 {
    const FUNCTION: &str = "mono_string_to_utf16";
    if object.is_null() {
        return ptr::null_mut();
    }
    call(FUNCTION, |_| {
        // SAFETY: the host's string.
        let mut units = unsafe { string(FUNCTION, object) }.units().to_vec();
        units.push(0);
        given(&units.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<u8>>()).cast()
    })
}

/// A copy in UTF-32 that ends in 0, for [`mono_free`]; null for null.
///
/// # Safety
/// `object` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_to_utf32(object: ObjRef) -> *mut u32 {
    const FUNCTION: &str = "mono_string_to_utf32";
    if object.is_null() {
        return ptr::null_mut();
    }
    call(FUNCTION, |_| {
        // SAFETY: the host's string.
        let text = text_of(unsafe { string(FUNCTION, object) }.units());
        let units = text.chars().map(u32::from).chain([0]);
        given(&units.flat_map(u32::to_le_bytes).collect::<Vec<u8>>()).cast()
    })
}

/// Whether two strings have the same units. Null is equal to null.
///
/// # Safety
/// `a` and `b` are null or strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_equal(a: ObjRef, b: ObjRef) -> c_int {
    const FUNCTION: &str = "mono_string_equal";
    if a.is_null() || b.is_null() {
        return c_int::from(a == b);
    }
    // SAFETY: the host's strings.
    call(FUNCTION, |_| c_int::from(unsafe { string(FUNCTION, a).units() == string(FUNCTION, b).units() }))
}

/// Equal strings have equal numbers: 31 times that of the units before, and the unit.
///
/// # Safety
/// `object` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_hash(object: ObjRef) -> u32 {
    call("mono_string_hash", |_| {
        // SAFETY: null or the host's string.
        let string = unsafe { held(object) }.and_then(|object| object.as_str());
        let units = string.map_or(&[][..], |string| string.units());
        units.iter().fold(0, |hash: u32, &unit| (hash << 5).wrapping_sub(hash).wrapping_add(u32::from(unit)))
    })
}

/// The library keeps its allocator: 0.
#[unsafe(no_mangle)]
pub extern "C" fn mono_set_allocator_vtable(_functions: *const c_void) -> c_int {
    0
}

/// Frees what a function of this library gave to the host.
///
/// # Safety
/// `memory` is null or such memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_free(memory: *mut c_void) {
    // SAFETY: the C library made it.
    unsafe { libc::free(memory) };
}

//! Strings of `mono/metadata/object.h`, and `mono_free`.

use crate::call::{call, call_managed, some};
use crate::machine::end;
use crate::text::given;
use saki_abi::ObjRef;
use saki_runtime::object::strings::{new_string_utf8, text_of};
use saki_runtime::vm::domains::Domain;
use saki_runtime::{Str, Word};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// A string of UTF-8.
///
/// # Safety
/// `text` ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_string_new(_domain: Option<&'static Domain>, text: *const c_char) -> ObjRef {
    // SAFETY: the host's text, which ends in NUL.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    call_managed("mono_string_new", |t| Ok(new_string_utf8(t, bytes)?.word()))
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

/// Frees what a function of this library gave to the host.
///
/// # Safety
/// `memory` is null or such memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_free(memory: *mut c_void) {
    // SAFETY: the C library made it.
    unsafe { libc::free(memory) };
}

//! `mono/utils/mono-error.h`: the errors that functions with "checked" in their names fill.

use std::ffi::{c_char, c_int, c_ushort};

/// As the header lays it out.
#[repr(C)]
pub struct MonoError {
    code: u16,
    flags: u16,
    /// The text; it lives as long as the process.
    message: *const c_char,
    hidden: [usize; 11],
}

const NONE: u16 = 0;
/// `MONO_ERROR_TYPE_LOAD`.
const TYPE_LOAD: u16 = 3;
const CLEANED_UP: u16 = 0xffff;

impl MonoError {
    /// Makes it an error of loading a class.
    pub(crate) fn set_type_load(&mut self) {
        self.code = TYPE_LOAD;
    }
}

/// Makes it no error.
///
/// # Safety
/// `error` is a `MonoError`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_error_init(error: *mut MonoError) {
    // SAFETY: the host's room for an error.
    unsafe { mono_error_init_flags(error, 0) };
}

/// Makes it no error, with flags.
///
/// # Safety
/// `error` is a `MonoError`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_error_init_flags(error: *mut MonoError, flags: c_ushort) {
    let made = MonoError { code: NONE, flags, message: std::ptr::null(), hidden: [0; 11] };
    // SAFETY: the host's room for an error.
    unsafe { crate::call::put(error, made) };
}

/// Ends the use of an error.
#[unsafe(no_mangle)]
pub extern "C" fn mono_error_cleanup(error: &mut MonoError) {
    error.code = CLEANED_UP;
    error.message = std::ptr::null();
}

/// Whether it is no error.
#[unsafe(no_mangle)]
pub extern "C" fn mono_error_ok(error: &MonoError) -> c_int {
    c_int::from(error.code == NONE)
}

/// `MONO_ERROR_NONE` and so on.
#[unsafe(no_mangle)]
pub extern "C" fn mono_error_get_error_code(error: &MonoError) -> c_ushort {
    error.code
}

/// The text of the error; null for none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_error_get_message(error: &MonoError) -> *const c_char {
    error.message
}

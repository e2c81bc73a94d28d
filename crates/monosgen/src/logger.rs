//! `mono/utils/mono-logger.h`: messages about the machine's work, and other texts that the machine writes. Which
//! messages are shown a host decides before the machine starts.
//!
//! Handlers are called on any thread, in any state, under any lock of the machine: they must not call the library.

use crate::config;
use crate::host_functions::{self, Hook, Log, Print};
use crate::text::text;
use saki_base::messages::{self, Listener};
use std::ffi::{CString, c_char, c_int, c_void};
use std::fmt::Arguments;

/// Sets the least important level of messages that are shown: "error", "warning", "info", "debug".
///
/// # Safety
/// `level` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_trace_set_level_string(level: *const c_char) {
    if !level.is_null() {
        // SAFETY: not null, so the host's text, which ends in NUL.
        config::set_message_level(unsafe { text(level) });
    }
}

/// Sets the subjects of messages that are shown: "asm,dll", or "all".
///
/// # Safety
/// `mask` is null or ends in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_trace_set_mask_string(mask: *const c_char) {
    if !mask.is_null() {
        // SAFETY: not null, so the host's text, which ends in NUL.
        config::set_message_mask(unsafe { text(mask) });
    }
}

fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// Gives a text to a handler, if there is one.
fn print(handler: Option<Print>, text: Arguments<'_>, is_output: bool) -> bool {
    let Some(handler) = handler else { return false };
    // SAFETY: a text that ends in NUL.
    unsafe { handler(c_text(&text.to_string()).as_ptr(), c_int::from(is_output)) };
    true
}

fn log(level: &str, message: &str) -> bool {
    let Some(handler) = host_functions::with(|functions| functions.messages.log) else { return false };
    let (level, message) = (c_text(level), c_text(message));
    // SAFETY: texts that end in NUL, and the host's data.
    unsafe { (handler.function)(c"Mono".as_ptr(), level.as_ptr(), message.as_ptr(), 0, handler.data()) };
    true
}

/// Has messages come here.
fn listen() {
    messages::listen(Listener {
        error: |text| print(host_functions::with(|functions| functions.messages.error), text, false),
        output: |text| print(host_functions::with(|functions| functions.messages.output), text, true),
        log,
    });
}

/// Has messages that are shown go to the host's function.
///
/// # Safety
/// The function may be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_trace_set_log_handler(function: Log, data: *mut c_void) {
    host_functions::with(|functions| functions.messages.log = Some(Hook::new(function, data)));
    listen();
}

/// Has what the machine writes to standard output go to the host's function; what programs write does not.
///
/// # Safety
/// The function may be called on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_trace_set_print_handler(function: Print) {
    host_functions::with(|functions| functions.messages.output = Some(function));
    listen();
}

/// Has what the machine writes to standard error go to the host's function; what programs write does not.
///
/// # Safety
/// The function may be called on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_trace_set_printerr_handler(function: Print) {
    host_functions::with(|functions| functions.messages.error = Some(function));
    listen();
}

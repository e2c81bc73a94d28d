//! `mono/utils/mono-logger.h`: messages about the machine's work. Which are shown a host decides before the machine
//! starts.

use crate::config;
use crate::text::text;
use std::ffi::c_char;

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

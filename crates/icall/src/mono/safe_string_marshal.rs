//! Mono.SafeStringMarshal: strings as malloc'ed UTF-8, for internal calls that take them so.

use saki_runtime::object::exceptions;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, RefPlace, Str};

/// NUL-terminated UTF-8; null for null. Freed with `GFree`.
fn string_to_utf8(t: CurrentThread, string: Option<Str>) -> Managed<*mut u8> {
    let Some(string) = string else { return Ok(std::ptr::null_mut()) };
    let units = string.units();
    if units.iter().all(|&unit| unit < 0x80) {
        return ascii(t, units);
    }
    let decoded = || char::decode_utf16(units.iter().copied()).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
    let len_bytes: usize = decoded().map(char::len_utf8).sum();
    // SAFETY: no preconditions.
    let memory = unsafe { libc::calloc(1, len_bytes + 1) } as *mut u8;
    if memory.is_null() {
        return Err(exceptions::out_of_memory(t));
    }
    // SAFETY: `len_bytes + 1` bytes were allocated, zeroed: the last stays so.
    let mut rest = unsafe { std::slice::from_raw_parts_mut(memory, len_bytes + 1) };
    for c in decoded() {
        let len = c.encode_utf8(rest).len();
        rest = &mut rest[len..];
    }
    Ok(memory)
}

/// NUL-terminated UTF-8 of the string in a variable; null for null. Freed with `GFree`.
fn referenced_string_to_utf8(t: CurrentThread, string: RefPlace) -> Managed<*mut u8> {
    string_to_utf8(t, string.get().and_then(Obj::as_str))
}

fn ascii(t: CurrentThread, units: &[u16]) -> Managed<*mut u8> {
    // SAFETY: no preconditions.
    let memory = unsafe { libc::malloc(units.len() + 1) } as *mut u8;
    if memory.is_null() {
        return Err(exceptions::out_of_memory(t));
    }
    for (index, &unit) in units.iter().enumerate() {
        // SAFETY: within the `units.len() + 1` bytes that were allocated.
        unsafe { *memory.add(index) = unit as u8 };
    }
    // SAFETY: the last of the `units.len() + 1` bytes that were allocated.
    unsafe { *memory.add(units.len()) = 0 };
    Ok(memory)
}

fn free(_t: CurrentThread, memory: *mut libc::c_void) {
    // SAFETY: null, or from malloc, given back once.
    unsafe { libc::free(memory) };
}

/// The internal calls of `Mono.SafeStringMarshal`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@6.8 Mono.SafeStringMarshal::StringToUtf8", &string_to_utf8),
    InternalCall::new("@6.12,6.14 Mono.SafeStringMarshal::StringToUtf8_icall", &referenced_string_to_utf8),
    InternalCall::new("Mono.SafeStringMarshal::GFree", &free),
];

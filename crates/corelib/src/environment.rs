//! System.Environment: variables, exit, times; messages of Win32 error codes.
//!
//! As under .NET on Unix, a program has a copy of the process's environment, made when it first asks: what it sets is
//! seen by itself and by processes that it starts, not by native code.

use crate::text::{optional_text_at, text_at};
use saki_base::locks::{Mutex, rank};
use saki_os::error::set_errno;
use saki_runtime::{CurrentThread, InternalCall, vm};
use std::os::unix::ffi::OsStringExt;

const NANOSECONDS_PER_MILLISECOND: u64 = 1_000_000;

/// Win32 error codes.
const SUCCESS: i32 = 0;
const INSUFFICIENT_BUFFER: i32 = 122;
const ENVVAR_NOT_FOUND: i32 = 203;
const MR_MID_NOT_FOUND: i32 = 317;

/// Names and values, in the order in which they were added.
static VARIABLES: Mutex<rank::ProgramEnvironment, Option<Vec<(String, String)>>> = Mutex::new(None);

fn process_variables() -> Vec<(String, String)> {
    let text = |text: std::ffi::OsString| String::from_utf8_lossy(&text.into_vec()).into_owned();
    std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect()
}

/// Calls `f` with the variables.
fn with_variables<R>(f: impl FnOnce(&mut Vec<(String, String)>) -> R) -> R {
    f(VARIABLES.lock().get_or_insert_with(process_variables))
}

fn get_variable(_t: CurrentThread, name: *const u16, buffer: *mut u16, units: u32) -> u32 {
    let name = text_at(name);
    let value = with_variables(|variables| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.encode_utf16().collect::<Vec<u16>>())
    });
    let Some(value) = value else {
        set_errno(ENVVAR_NOT_FOUND);
        return 0;
    };
    set_errno(SUCCESS);
    let length = u32::try_from(value.len()).unwrap_or(u32::MAX);
    if length >= units {
        return length.saturating_add(1);
    }
    // SAFETY: the buffer has room for `units` units.
    unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), buffer, value.len()) };
    // SAFETY: there is room for the NUL, since the value is shorter than the buffer.
    unsafe { buffer.add(value.len()).write(0) };
    length
}

fn set_variable(_t: CurrentThread, name: *const u16, value: *const u16) -> i32 {
    let name = text_at(name);
    let value = optional_text_at(value);
    with_variables(|variables| {
        let known = variables.iter().position(|(known, _)| *known == name);
        match (known, value) {
            (Some(at), Some(value)) => variables[at].1 = value,
            (None, Some(value)) => variables.push((name, value)),
            (Some(at), None) => drop(variables.remove(at)),
            (None, None) => {
                set_errno(ENVVAR_NOT_FOUND);
                return 0;
            }
        }
        set_errno(SUCCESS);
        1
    })
}

/// "NAME=VALUE" with a NUL after each, and a NUL at the end; the caller gives the block back.
fn variable_block(_t: CurrentThread) -> *const u16 {
    let units: Vec<u16> = with_variables(|variables| {
        let lines = variables.iter().map(|(name, value)| format!("{name}={value}\0"));
        lines.collect::<String>().encode_utf16().chain([0]).collect()
    });
    // SAFETY: plain allocation.
    let block = unsafe { libc::malloc(units.len() * size_of::<u16>()) }.cast::<u16>();
    if !block.is_null() {
        // SAFETY: a block with room for the units.
        unsafe { std::ptr::copy_nonoverlapping(units.as_ptr(), block, units.len()) };
    }
    block
}

fn free_variable_block(_t: CurrentThread, block: *mut u16) -> i32 {
    // SAFETY: a block of `variable_block`, which nothing uses any more.
    unsafe { libc::free(block.cast()) };
    1
}

/// The texts of the codes that the class library's own calls can end with.
fn message_of(code: u32) -> Option<&'static str> {
    Some(match code {
        0 => "The operation completed successfully.",
        2 => "The system cannot find the file specified.",
        3 => "The system cannot find the path specified.",
        5 => "Access is denied.",
        6 => "The handle is invalid.",
        8 => "Not enough memory resources are available to process this command.",
        87 => "The parameter is incorrect.",
        122 => "The data area passed to a system call is too small.",
        123 => "The filename, directory name, or volume label syntax is incorrect.",
        126 => "The specified module could not be found.",
        127 => "The specified procedure could not be found.",
        183 => "Cannot create a file when that file already exists.",
        203 => "The system could not find the environment option that was entered.",
        206 => "The filename or extension is too long.",
        288 => "Attempt to release mutex not owned by caller.",
        _ => return None,
    })
}

fn format_message(
    _t: CurrentThread,
    _flags: i32,
    _source: isize,
    code: u32,
    _language: i32,
    buffer: *mut u16,
    units: i32,
    _arguments: isize,
) -> i32 {
    let Some(message) = message_of(code) else {
        set_errno(MR_MID_NOT_FOUND);
        return 0;
    };
    let text: Vec<u16> = message.encode_utf16().collect();
    if text.len() >= usize::try_from(units).unwrap_or(0) {
        set_errno(INSUFFICIENT_BUFFER);
        return 0;
    }
    // SAFETY: the buffer has room for `units` units, which are more than the text has.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), buffer, text.len()) };
    i32::try_from(text.len()).unwrap_or(0)
}

fn exit_code(_t: CurrentThread) -> i32 {
    vm::exit_code()
}

fn set_exit_code(_t: CurrentThread, code: i32) {
    vm::set_exit_code(code);
}

fn tick_count_64(t: CurrentThread) -> i64 {
    (t.vm().clock().monotonic_ns() / NANOSECONDS_PER_MILLISECOND).cast_signed()
}

fn tick_count(t: CurrentThread) -> i32 {
    tick_count_64(t) as i32
}

/// The processors that the process may use.
pub(crate) fn processor_count(_t: CurrentThread) -> i32 {
    i32::try_from(saki_sched::parallelism()).unwrap_or(1)
}

/// The internal calls of `System.Environment`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::GetEnvironmentVariableW", &get_variable),
    InternalCall::new("@net QCall::SetEnvironmentVariableW", &set_variable),
    InternalCall::new("@net QCall::GetEnvironmentStringsW", &variable_block),
    InternalCall::new("@net QCall::FreeEnvironmentStringsW", &free_variable_block),
    InternalCall::new("@net QCall::FormatMessageW", &format_message),
    InternalCall::new("@net QCall::Environment_Exit", &saki_icall::system::environment::exit),
    InternalCall::new("@net System.Environment::get_ExitCode", &exit_code),
    InternalCall::new("@net System.Environment::set_ExitCode", &set_exit_code),
    InternalCall::new("@net9 System.Environment::get_TickCount", &tick_count),
    InternalCall::new("@net9 System.Environment::get_TickCount64", &tick_count_64),
    InternalCall::new("@net QCall::Environment_GetProcessorCount", &processor_count),
];

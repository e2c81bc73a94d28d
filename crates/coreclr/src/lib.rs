//! `libcoreclr.so`: a machine behind CoreCLR's hosting interface, for .NET's own hosts.
//!
//! `dotnet app.dll` and apphosts resolve a program, load the runtime's library and call it (dotnet/runtime
//! `src/coreclr/hosts/inc/coreclrhost.h`). This library has the functions that they call, so that they run on Saki
//! without a change. The machine is a *guest* in a process that has begun (`guest` says what that means).
//!
//! Invariant: no function unwinds into the host, and none returns success for something that was not done. Left out:
//! CoreCLR's other exports, for debuggers and profilers of its own; what has to be done by the class libraries
//! (`hosting::net` says what is missing).

mod error_writer;
mod guest;
mod status;

use error_writer::ErrorWriter;
use guest::Failure;
use saki_hosting::functions::{self, NoFunction};
use saki_hosting::properties::RuntimeProperties;
use status::{INVALID_ARGUMENT, INVALID_OPERATION, NULL_POINTER, SUCCESS};
use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The domain in which the host's program runs: there is one.
const DOMAIN: c_uint = 1;

/// A status for the host; the text of a failure goes where the host wants it.
fn status_of(result: Result<(), Failure>) -> c_int {
    match result {
        Ok(()) => SUCCESS,
        Err(Failure { status, text }) => {
            error_writer::write(&text);
            status
        }
    }
}

fn bad_argument(what: &str) -> Failure {
    Failure { status: INVALID_ARGUMENT, text: format!("the host gives {what}") }
}

/// A copy of the host's text; what is not UTF-8 in it is replaced.
///
/// # Safety
/// `text` is null or the address of a text that ends in NUL and does not change during the call.
unsafe fn text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not null, so a text that ends in NUL (coreclrhost.h); the host waits while it is copied.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// A copy of a path of the host's.
///
/// # Safety
/// That of [`text`].
unsafe fn path(path: *const c_char) -> Option<PathBuf> {
    if path.is_null() {
        return None;
    }
    // SAFETY: not null, so a text that ends in NUL (coreclrhost.h); the host waits while it is copied.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    Some(PathBuf::from(OsStr::from_bytes(bytes)))
}

/// Copies of the host's texts. None: the array or one of its places is null.
///
/// # Safety
/// `texts` is null or the address of `count` places, each as [`text`] wants it.
unsafe fn texts(texts: *const *const c_char, count: c_int) -> Option<Vec<String>> {
    let count = usize::try_from(count).ok()?;
    if count == 0 {
        return Some(Vec::new());
    }
    if texts.is_null() {
        return None;
    }
    // SAFETY: not null, so an array of `count` pointers (coreclrhost.h); the host waits while it is read.
    let places = unsafe { std::slice::from_raw_parts(texts, count) };
    // SAFETY: each place of the array is null or the address of a text that ends in NUL (coreclrhost.h).
    places.iter().map(|&place| unsafe { text(place) }).collect()
}

/// Starts a machine on the calling thread.
///
/// # Safety
/// As coreclrhost.h has it: texts end in NUL, the arrays have `property_count` places, the results have room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coreclr_initialize(
    _exe_path: *const c_char,
    _domain_name: *const c_char,
    property_count: c_int,
    property_keys: *const *const c_char,
    property_values: *const *const c_char,
    host_handle: *mut *mut c_void,
    domain_id: *mut c_uint,
) -> c_int {
    // SAFETY: the host's array has `property_count` names.
    let keys = unsafe { texts(property_keys, property_count) };
    // SAFETY: the host's array has `property_count` values.
    let values = unsafe { texts(property_values, property_count) };
    let (Some(keys), Some(values)) = (keys, values) else {
        return status_of(Err(bad_argument("properties without names or values")));
    };
    if host_handle.is_null() || domain_id.is_null() {
        return status_of(Err(bad_argument("no room for its handles")));
    }
    let properties = RuntimeProperties::new(keys.into_iter().zip(values).collect());
    let result = guest::start(properties);
    if result.is_ok() {
        // SAFETY: not null, so the host's room for a handle.
        unsafe { host_handle.write(guest::handle()) };
        // SAFETY: not null, so the host's room for a number.
        unsafe { domain_id.write(DOMAIN) };
    }
    status_of(result)
}

/// Runs a program: `Main`, the foreground threads, the handlers of ProcessExit. The host ends the process.
///
/// # Safety
/// As coreclrhost.h has it: texts end in NUL, the array has `argc` places, the result has room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coreclr_execute_assembly(
    host_handle: *mut c_void,
    _domain_id: c_uint,
    argc: c_int,
    argv: *const *const c_char,
    managed_assembly_path: *const c_char,
    exit_code: *mut c_uint,
) -> c_int {
    // SAFETY: the host's path, which ends in NUL.
    let program = unsafe { path(managed_assembly_path) };
    // SAFETY: the host's array has `argc` texts.
    let arguments = unsafe { texts(argv, argc) };
    let (Some(program), Some(arguments)) = (program, arguments) else {
        return status_of(Err(bad_argument("no program, or arguments without text")));
    };
    let result = guest::check(host_handle).and_then(|()| guest::execute(&program, &arguments));
    status_of(result.map(|code| {
        if !exit_code.is_null() {
            // SAFETY: not null, so the host's room for a number.
            unsafe { exit_code.write(code as c_uint) };
        }
    }))
}

/// A function pointer to a static method: its own with UnmanagedCallersOnlyAttribute, else one that converts arguments
/// as for a callback. Any thread of the host may ask, and may call what it gets.
///
/// # Safety
/// As coreclrhost.h has it: texts end in NUL, the result has room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coreclr_create_delegate(
    host_handle: *mut c_void,
    domain_id: c_uint,
    assembly_name: *const c_char,
    type_name: *const c_char,
    method_name: *const c_char,
    delegate: *mut *mut c_void,
) -> c_int {
    if delegate.is_null() {
        return status_of(Err(Failure { status: NULL_POINTER, text: "the host gives no room for a function".into() }));
    }
    // SAFETY: not null, so the host's room for an address.
    unsafe { delegate.write(std::ptr::null_mut()) };
    // An empty text counts as none.
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    // SAFETY: the host's text, which ends in NUL.
    let assembly = filled(unsafe { text(assembly_name) });
    // SAFETY: the host's text, which ends in NUL.
    let class = filled(unsafe { text(type_name) });
    // SAFETY: the host's text, which ends in NUL.
    let method = filled(unsafe { text(method_name) });
    let (Some(assembly), Some(class), Some(method)) = (assembly, class, method) else {
        return status_of(Err(bad_argument("no assembly, type or method")));
    };
    let found = guest::check(host_handle).and_then(|()| {
        if domain_id != DOMAIN {
            let text = format!("the host names domain {domain_id}, and there is {DOMAIN} alone");
            return Err(Failure { status: INVALID_OPERATION, text });
        }
        let found = functions::function_of(&assembly, &class, &method);
        found.map_err(|NoFunction { result, text }| Failure { status: result, text })
    });
    status_of(found.map(|address| {
        // SAFETY: not null, so the host's room for an address.
        unsafe { delegate.write(std::ptr::with_exposed_provenance_mut(address)) };
    }))
}

/// Ends the program, if it has not ended yet.
///
/// # Safety
/// None.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coreclr_shutdown(host_handle: *mut c_void, _domain_id: c_uint) -> c_int {
    status_of(guest::check(host_handle).and_then(|()| guest::shut_down()).map(|_| ()))
}

/// Ends the program, if it has not ended yet, and tells the host its exit code.
///
/// # Safety
/// The result has room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coreclr_shutdown_2(
    host_handle: *mut c_void,
    _domain_id: c_uint,
    latched_exit_code: *mut c_int,
) -> c_int {
    let result = guest::check(host_handle).and_then(|()| guest::shut_down());
    status_of(result.map(|code| {
        if !latched_exit_code.is_null() {
            // SAFETY: not null, so the host's room for a number.
            unsafe { latched_exit_code.write(code) };
        }
    }))
}

/// Sets the function that failures are written to; none: standard error.
///
/// # Safety
/// The function takes a text that ends in NUL, and does not unwind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn coreclr_set_error_writer(error_writer: Option<ErrorWriter>) -> c_int {
    error_writer::set(error_writer);
    SUCCESS
}

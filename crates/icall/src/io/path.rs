//! System.IO.Path, and UTF-16 paths from managed code as system paths.

use super::errors::{IoResult, Win32Error};
use saki_os::error::Errno;
use saki_runtime::{CurrentThread, InternalCall, Managed, Str};
use std::ffi::{CStr, CString};

/// The NUL-terminated UTF-16 path that managed code passes, as UTF-8.
///
/// # Errors
/// INVALID_NAME for null and for text that is not valid UTF-16.
///
/// # Safety
/// Unless the address is null, units lie there up to a NUL unit: a string that the managed caller has pinned.
pub(crate) unsafe fn system_path(path: *const u16) -> IoResult<CString> {
    if path.is_null() {
        return Err(Win32Error::INVALID_NAME);
    }
    let mut length = 0;
    // SAFETY: no unit up to `length` was NUL, so this one belongs to the string, which ends with one.
    while unsafe { *path.add(length) } != 0 {
        length += 1;
    }
    // SAFETY: `length` units were read above.
    let units = unsafe { std::slice::from_raw_parts(path, length) };
    system_path_of(units)
}

/// The counted UTF-16 path that managed code passes, as UTF-8.
///
/// # Errors
/// INVALID_NAME, also for an embedded NUL.
pub(crate) fn system_path_of(units: &[u16]) -> IoResult<CString> {
    let text = String::from_utf16(units).map_err(|_| Win32Error::INVALID_NAME)?;
    CString::new(text).map_err(|_| Win32Error::INVALID_NAME)
}

/// The code for a failed call on `path`, which distinguishes a missing directory from a missing file.
pub(crate) fn path_error(path: &CStr, errno: Errno) -> Win32Error {
    if errno != Errno(libc::ENOENT) {
        return Win32Error::from_errno(errno);
    }
    let text = path.to_string_lossy();
    let directory = match std::path::Path::new(&*text).parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => return Win32Error::FILE_NOT_FOUND,
    };
    if directory.exists() { Win32Error::FILE_NOT_FOUND } else { Win32Error::PATH_NOT_FOUND }
}

/// The directory for temporary files.
pub(crate) fn temporary_directory() -> String {
    let from = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    from("TMPDIR").or_else(|| from("TMP")).or_else(|| from("TEMP")).unwrap_or_else(|| "/tmp".to_string())
}

fn get_temp_path<'t>(t: CurrentThread<'t>) -> Managed<Str<'t>> {
    Str::new(t, &temporary_directory())
}

/// The internal calls of `System.IO.Path`.
pub const TABLE: &[InternalCall] = &[InternalCall::new("System.IO.Path::get_temp_path", &get_temp_path)];

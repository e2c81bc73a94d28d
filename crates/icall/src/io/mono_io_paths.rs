//! System.IO.MonoIO: the current directory and file attributes.
//!
//! Left out: creating, moving, copying, deleting and finding by path: the class library does these by P/Invoke.

use super::errors::{IoResult, Win32Error, report_success};
use super::path::{path_error, system_path};
use saki_os::error::Errno;
use saki_runtime::{CurrentThread, InternalCall, Managed, Place, Str};

const FILE_ATTRIBUTE_READ_ONLY: i32 = 1;
/// Not a Windows attribute: sets the execute bits where the read bits are set.
const FILE_ATTRIBUTE_EXECUTABLE: i32 = i32::MIN;

fn get_current_directory<'t>(t: CurrentThread<'t>, error: Place<i32>) -> Managed<Option<Str<'t>>> {
    match std::env::current_dir() {
        Ok(directory) => {
            error.set(0);
            Str::new(t, &directory.to_string_lossy()).map(Some)
        }
        Err(failure) => {
            error.set(Win32Error::from_errno(Errno(failure.raw_os_error().unwrap_or(0))).0);
            Ok(None)
        }
    }
}

fn change_directory(path: *const u16) -> IoResult<()> {
    // SAFETY: managed code pins a string, which ends with a NUL unit.
    let path = unsafe { system_path(path) }.map_err(|_| Win32Error::INVALID_PARAMETER)?;
    // SAFETY: a NUL-terminated path.
    match saki_thread::blocking(|| unsafe { libc::chdir(path.as_ptr()) }) {
        0 => Ok(()),
        _ => Err(Win32Error::last()),
    }
}

fn set_current_directory(_t: CurrentThread, path: *const u16, error: Place<i32>) -> bool {
    report_success(change_directory(path), error)
}

fn change_attributes(path: *const u16, attributes: i32) -> IoResult<()> {
    // SAFETY: managed code pins a string, which ends with a NUL unit.
    let path = unsafe { system_path(path) }?;
    // SAFETY: zeroed, then filled by stat.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a NUL-terminated path and room for the status.
    let mut result = unsafe { libc::stat(path.as_ptr(), &mut status) };
    if result != 0 && Errno::last() == Errno(libc::ENOENT) {
        // SAFETY: a NUL-terminated path and room for the status. A dangling symbolic link exists.
        result = unsafe { libc::lstat(path.as_ptr(), &mut status) };
    }
    if result != 0 {
        return Err(path_error(&path, Errno::last()));
    }
    let mut permissions = status.st_mode & 0o7777;
    if attributes & FILE_ATTRIBUTE_READ_ONLY != 0 {
        permissions &= !0o222;
    } else {
        permissions |= 0o200;
    }
    if attributes & FILE_ATTRIBUTE_EXECUTABLE != 0 {
        permissions |= (permissions & 0o444) >> 2;
    }
    // SAFETY: a NUL-terminated path. A refused change is not reported, as in Mono.
    unsafe { libc::chmod(path.as_ptr(), permissions) };
    Ok(())
}

fn set_file_attributes(_t: CurrentThread, path: *const u16, attributes: i32, error: Place<i32>) -> bool {
    report_success(change_attributes(path, attributes), error)
}

/// The internal calls of `System.IO.MonoIO`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.IO.MonoIO::GetCurrentDirectory", &get_current_directory),
    InternalCall::new("System.IO.MonoIO::SetCurrentDirectory", &set_current_directory),
    InternalCall::new("System.IO.MonoIO::SetFileAttributes", &set_file_attributes),
];

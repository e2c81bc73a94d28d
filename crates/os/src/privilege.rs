//! Whether this process has rights that its starter lacks, and who it is.
//!
//! Invariant: the answers come from the kernel, which fixed them before the process ran; the environment cannot change
//! them.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The effective user, whose rights apply when files are opened.
#[must_use]
pub fn effective_user() -> u32 {
    // SAFETY: reads a number.
    unsafe { libc::geteuid() }
}

/// Whether the kernel started this executable with more rights than its starter has: set-user-id, set-group-id, file
/// capabilities, or a security module's decision. Such a process must not follow choices of the starter, such as the
/// environment (AT_SECURE of `getauxval`).
#[must_use]
pub fn is_elevated() -> bool {
    // SAFETY: reads the auxiliary vector.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Whether this process may make files in the folder, or write to the file.
///
/// # Errors
/// Why it may not.
pub fn may_write(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: a path that ends with a zero byte.
    let result = unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::W_OK, libc::AT_EACCESS) };
    if result == 0 { Ok(()) } else { Err(crate::error::last_error()) }
}

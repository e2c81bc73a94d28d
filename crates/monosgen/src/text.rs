//! Texts of C: copies of the host's, and texts for the host.

use saki_base::locks::{Mutex, rank};
use std::collections::HashMap;
use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;

/// A copy of the host's text; what is not UTF-8 in it is replaced.
///
/// # Safety
/// `text` is not null and ends in NUL.
pub(crate) unsafe fn text(text: *const c_char) -> String {
    // SAFETY: a text of C's.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A path of the host's.
///
/// # Safety
/// `path` is not null and ends in NUL.
pub(crate) unsafe fn path(path: *const c_char) -> PathBuf {
    // SAFETY: a text of C's.
    PathBuf::from(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()))
}

/// Texts that live as long as the process.
static KEPT: Mutex<rank::HostTexts, Option<HashMap<String, CString>>> = Mutex::new(None);

/// A text that ends in NUL and lives as long as the process, for a name that the machine keeps without NUL. The same
/// text has the same address.
pub(crate) fn kept(text: &str) -> *const c_char {
    let mut kept = KEPT.lock();
    let kept = kept.get_or_insert_default();
    if let Some(known) = kept.get(text) {
        return known.as_ptr();
    }
    // A name with a NUL in it ends there, as in C.
    let until_nul = text.split('\0').next().unwrap_or_default();
    let copy = CString::new(until_nul).unwrap_or_default();
    // The map moves the structure, not the text that it owns.
    let address = copy.as_ptr();
    kept.insert(text.to_owned(), copy);
    address
}

/// A copy of the C heap's, for `mono_free`; null without memory.
pub(crate) fn given(bytes: &[u8]) -> *mut c_char {
    // SAFETY: no preconditions.
    let copy = unsafe { libc::calloc(bytes.len() + 1, 1) }.cast::<u8>();
    if !copy.is_null() {
        // SAFETY: the room that was made for them.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), copy, bytes.len()) };
    }
    copy.cast()
}

/// Writes a line to the C library's standard output, between what the host writes there.
pub(crate) fn write_line(line: &str) {
    let line = CString::new(line).unwrap_or_default();
    // SAFETY: a text that ends in NUL.
    unsafe { libc::puts(line.as_ptr()) };
}

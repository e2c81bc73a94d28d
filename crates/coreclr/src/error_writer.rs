//! Where failures are written to: the host's function, or standard error.
//!
//! | `WRITER` | meaning | who moves it |
//! |---|---|---|
//! | 0 | standard error | at first, and the host, by a call without a function |
//! | else | the address of the host's function | the host: Release, with all that the function needs; `write` Acquires |
//!
//! Left out: messages of a running program, which go to standard error.

use saki_base::tell;
use std::ffi::{CString, c_char};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A host's function; it gets a line without its end.
pub type ErrorWriter = extern "C" fn(*const c_char);

static WRITER: AtomicUsize = AtomicUsize::new(0);

/// Sets or removes the host's function.
pub(crate) fn set(writer: Option<ErrorWriter>) {
    WRITER.store(writer.map_or(0, |writer| writer as usize), Ordering::Release);
}

/// Writes a line.
pub(crate) fn write(line: &str) {
    let line = format!("saki: {line}");
    let address = WRITER.load(Ordering::Acquire);
    if address == 0 {
        return tell!("{line}");
    }
    // SAFETY: only `set` stores there, and nothing but 0 and functions of this type.
    let writer = unsafe { std::mem::transmute::<usize, ErrorWriter>(address) };
    if let Ok(text) = CString::new(line) {
        writer(text.as_ptr());
    }
}

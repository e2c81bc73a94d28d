//! Loading a profiler's library: `mono_profiler_load`.

use crate::text::text;
use saki_os::message_log::{self, Level, LogSubject};
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem;
use std::ptr;

/// Loads the profiler that a text like "name:arguments" names and hands it the text: `mono_profiler_init_NAME` of the
/// program, or of libmono-profiler-NAME.so, which the dynamic linker looks for. A profiler that is not there is told of
/// on standard error.
///
/// # Safety
/// `description` is null ("log:report") or ends in NUL; the library's function may be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_profiler_load(description: *const c_char) {
    const DEFAULT: &CStr = c"log:report";
    // SAFETY: not null, so the host's text, which ends in NUL.
    let given = if description.is_null() { DEFAULT } else { unsafe { CStr::from_ptr(description) } };
    let given = if given == c"default" { DEFAULT } else { given };
    // SAFETY: a text that ends in NUL.
    let all = unsafe { text(given.as_ptr()) };
    let name = all.split(':').next().unwrap_or_default();
    let library = format!("libmono-profiler-{name}.so");
    let is_there = load(None, name, given) || load(Some(&library), name, given);
    if !is_there {
        saki_base::tell!(
            "saki: the '{name}' profiler is neither in the main executable nor can it be loaded from '{library}'"
        );
    }
}

/// Calls the initialiser in a library, or in the program, if it is there.
fn load(library: Option<&str>, name: &str, description: &CStr) -> bool {
    let (Ok(file), Ok(symbol)) =
        (library.map(CString::new).transpose(), CString::new(format!("mono_profiler_init_{name}")))
    else {
        return false;
    };
    // SAFETY: null, or a text that ends in NUL. Initialisers of the library run, as the host wants.
    let handle = unsafe { libc::dlopen(file.as_ref().map_or(ptr::null(), |file| file.as_ptr()), libc::RTLD_NOW) };
    if handle.is_null() {
        message_log::message(Level::Debug, LogSubject::Libraries, format_args!("No profiler in {library:?}."));
        return false;
    }
    // SAFETY: a handle that is never closed, and a text that ends in NUL.
    let function = unsafe { libc::dlsym(handle, symbol.as_ptr()) };
    if function.is_null() {
        return false;
    }
    // SAFETY: by its name a function of this type.
    let initialise = unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn(*const c_char)>(function) };
    // SAFETY: a text that ends in NUL.
    unsafe { initialise(description.as_ptr()) };
    true
}

//! Finding native libraries and functions, with the names and places that Mono tries.
//!
//! A library name is tried as it is, without ".dll", with "lib" in front; each time beside the assembly, then wherever
//! the dynamic linker looks, with and without ".so". Invariant: a library is opened once and never closed.

use saki_base::locks::{Mutex, rank};
use saki_os::message_log::{self, Level, LogSubject};
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_void};
use std::path::{Path, PathBuf};

/// A `dlopen` handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Library(usize);

static LOADED: Mutex<rank::NativeLibraries, Option<HashMap<PathBuf, Option<Library>>>> = Mutex::new(None);

/// File names to try for a library, in order; names without a directory go to the dynamic linker's own search.
pub fn candidates(name: &str, assembly_directory: Option<&Path>) -> Vec<PathBuf> {
    let path = Path::new(name);
    let is_absolute = path.is_absolute();
    let base = path.file_name().map_or_else(|| name.to_string(), |f| f.to_string_lossy().into_owned());
    let mut names = vec![name.to_string()];
    if let Some(stem) = name.strip_suffix(".dll") {
        names.push(stem.to_string());
    }
    if !base.starts_with("lib") {
        names.push(path.with_file_name(format!("lib{base}")).to_string_lossy().into_owned());
        if let Some(stem) = base.strip_suffix(".dll") {
            names.push(path.with_file_name(format!("lib{stem}")).to_string_lossy().into_owned());
        }
    }
    let mut out: Vec<PathBuf> = Vec::new();
    let mut add = |path: PathBuf| {
        if !out.contains(&path) {
            out.push(path);
        }
    };
    for name in &names {
        let forms = if name.ends_with(".so") || name.contains(".so.") {
            vec![name.clone()]
        } else {
            vec![format!("{name}.so"), name.clone()]
        };
        if is_absolute {
            forms.iter().rev().for_each(|form| add(PathBuf::from(form)));
            continue;
        }
        if let Some(directory) = assembly_directory {
            forms.iter().for_each(|form| add(directory.join(form)));
        }
        forms.iter().for_each(|form| add(PathBuf::from(form)));
    }
    out
}

/// The names under which a function is looked for.
pub fn symbol_names(function: &str, exact: bool, unicode: bool) -> Vec<String> {
    match (exact, unicode) {
        (true, _) => vec![function.to_string()],
        (false, true) => vec![format!("{function}W"), function.to_string()],
        (false, false) => vec![function.to_string(), format!("{function}A")],
    }
}

/// Opens the first candidate that the dynamic linker accepts. "__Internal" is the running program.
///
/// # Errors
/// The names tried, one line each, with the linker's reason.
pub fn open(name: &str, assembly_directory: Option<&Path>) -> Result<Library, String> {
    if name == "__Internal" {
        // SAFETY: a null name asks for the handle of the program itself.
        let handle = unsafe { libc::dlopen(std::ptr::null(), libc::RTLD_LAZY) };
        return Ok(Library(handle as usize));
    }
    message_log::message(Level::Info, LogSubject::Libraries, format_args!("DllImport attempting to load: '{name}'."));
    let mut tried = String::new();
    for candidate in candidates(name, assembly_directory) {
        let fails = |why: &dyn std::fmt::Display| {
            let text = format_args!("DllImport error loading library '{}': '{why}'.", candidate.display());
            message_log::message(Level::Info, LogSubject::Libraries, text);
        };
        // The linker is not called for a path that does not exist; names without a directory always go to the linker.
        if candidate.parent().is_some_and(|p| !p.as_os_str().is_empty()) && !candidate.exists() {
            fails(&"not there");
            tried.push_str(&format!("{}: not there\n", candidate.display()));
            continue;
        }
        match open_path(&candidate) {
            Ok(library) => {
                message_log::message(
                    Level::Info,
                    LogSubject::Libraries,
                    format_args!("DllImport loaded library '{name}'."),
                );
                return Ok(library);
            }
            Err(why) => {
                fails(&why);
                tried.push_str(&why);
                tried.push('\n');
            }
        }
    }
    Err(tried)
}

/// Opens a file, or by a name without a directory what the dynamic linker finds.
///
/// # Errors
/// The linker's reason.
pub fn open_path(path: &Path) -> Result<Library, String> {
    if let Some(Some(known)) = LOADED.lock().as_ref().and_then(|table| table.get(path)) {
        return Ok(*known);
    }
    let name =
        CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| format!("{}: NUL in name", path.display()))?;
    // The lock is not held, because initialisers of the library may load other libraries. The library's symbols are
    // global, as under Mono: a library may need symbols of another one that the program loaded before. SAFETY: a
    // NUL-terminated name; running the library's initialisers is part of loading.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_GLOBAL) };
    if handle.is_null() {
        return Err(last_error(path));
    }
    let library = Library(handle as usize);
    LOADED.lock().get_or_insert_default().insert(path.to_path_buf(), Some(library));
    Ok(library)
}

/// The linker's reason for the last failure.
pub(crate) fn last_error(path: &Path) -> String {
    // SAFETY: gives null or a string that stays until this thread's next dl call.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return path.display().to_string();
    }
    // SAFETY: not null, NUL-terminated, see above.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

impl Library {
    /// The dynamic linker's handle.
    pub fn handle(self) -> usize {
        self.0
    }

    /// The library of a handle that `handle` gave.
    pub fn of_handle(handle: usize) -> Library {
        Library(handle)
    }

    /// Address of a symbol.
    pub fn symbol(self, name: &str) -> Option<usize> {
        let name = CString::new(name).ok()?;
        // The linker's lock is held while initialisers of a library run, which may take long and call managed code: the
        // world must not have to wait for this thread meanwhile.
        // SAFETY: a handle of `dlopen` that is never closed, and a NUL-terminated name.
        let address = saki_thread::blocking(|| unsafe { libc::dlsym(self.0 as *mut c_void, name.as_ptr()) });
        (!address.is_null()).then_some(address as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::{candidates, open, symbol_names};
    use std::path::{Path, PathBuf};

    fn check(name: &str, directory: Option<&str>, expect: &[&str]) {
        let expect: Vec<PathBuf> = expect.iter().map(PathBuf::from).collect();
        assert_eq!(candidates(name, directory.map(Path::new)), expect);
    }

    #[test]
    fn candidate_names() {
        check("libc.so.6", None, &["libc.so.6"]);
        check(
            "foo",
            Some("/app"),
            &["/app/foo.so", "/app/foo", "foo.so", "foo", "/app/libfoo.so", "/app/libfoo", "libfoo.so", "libfoo"],
        );
        check("/x/libfoo.so", Some("/app"), &["/x/libfoo.so"]);
        check("/x/foo", None, &["/x/foo", "/x/foo.so", "/x/libfoo", "/x/libfoo.so"]);
    }

    #[test]
    fn finds_functions_of_libc() {
        let libc = open("libc.so.6", None).expect("libc");
        assert!(libc.symbol("getpid").is_some());
        assert!(libc.symbol("no_such_function_anywhere").is_none());
        assert!(open("no-such-library-anywhere", None).is_err());
        assert_eq!(symbol_names("F", false, true), ["FW", "F"]);
    }
}

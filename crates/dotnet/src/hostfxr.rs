//! .NET's host resolver, loaded: it answers which properties a program's runtime would get.
//!
//! The functions are those of `src/native/corehost/hostfxr.h` (dotnet/runtime);
//! `docs/design/features/native-hosting.md` there describes them. The library stays loaded, as its authors ask: it and
//! hostpolicy, which it loads, register destructors.
//!
//! Invariant: no context is open when a function of this file has returned, so that a later question finds the library
//! unused, and the texts that it gave are copies. Left out: its functions that load a runtime.

use saki_base::bug;
use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

/// An opaque handle to a program's context.
type Context = *mut c_void;
type ErrorWriter = extern "C" fn(*const c_char);

#[repr(C)]
struct InitializeParameters {
    size_bytes: usize,
    host_path: *const c_char,
    dotnet_root: *const c_char,
}

type SetErrorWriter = unsafe extern "C" fn(Option<ErrorWriter>) -> Option<ErrorWriter>;
type Initialize = unsafe extern "C" fn(c_int, *const *const c_char, *const InitializeParameters, *mut Context) -> c_int;
type GetProperties = unsafe extern "C" fn(Context, *mut usize, *mut *const c_char, *mut *const c_char) -> c_int;
type Close = unsafe extern "C" fn(Context) -> c_int;

/// A framework in the version that the program asks for is missing.
pub const FRAMEWORK_MISSING: u32 = 0x8000_8096;
/// The arrays were too small: the answer to the question how many properties there are.
const BUFFER_TOO_SMALL: u32 = 0x8000_8098;

/// The answer when the resolver refuses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The resolver's status code (`src/native/corehost/error_codes.h`), 0 if it could not be loaded.
    pub code: u32,
    /// The lines of its explanation.
    pub lines: Vec<String>,
}

thread_local! {
    /// What the resolver wrote; it asks for a function without context, a thread at a time.
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

extern "C" fn keep_line(message: *const c_char) {
    if message.is_null() {
        return;
    }
    // SAFETY: the resolver passes a text that ends in NUL and lives during the call.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    LINES.with_borrow_mut(|lines| lines.extend(text.lines().map(str::to_owned)));
}

/// A loaded resolver.
pub struct Hostfxr {
    set_error_writer: SetErrorWriter,
    initialize: Initialize,
    get_properties: GetProperties,
    close: Close,
}

impl Hostfxr {
    /// Loads the library.
    ///
    /// # Errors
    /// The dynamic linker's: the file or one that it needs is missing, or it is another library.
    pub fn load(file: &Path) -> Result<Hostfxr, Refusal> {
        let path = c_text(file.as_os_str());
        // SAFETY: the path ends in NUL. The library's initialisers are those of .NET's host resolver, which only
        // prepares its data.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            return Err(linker_error());
        }
        let set_error_writer = symbol(library, c"hostfxr_set_error_writer")?;
        let initialize = symbol(library, c"hostfxr_initialize_for_dotnet_command_line")?;
        let get_properties = symbol(library, c"hostfxr_get_runtime_properties")?;
        let close = symbol(library, c"hostfxr_close")?;
        Ok(Hostfxr {
            // SAFETY: the function of this name has this signature (hostfxr.h), and the library is never unloaded.
            set_error_writer: unsafe { std::mem::transmute::<*mut c_void, SetErrorWriter>(set_error_writer) },
            // SAFETY: the function of this name has this signature (hostfxr.h), and the library is never unloaded.
            initialize: unsafe { std::mem::transmute::<*mut c_void, Initialize>(initialize) },
            // SAFETY: the function of this name has this signature (hostfxr.h), and the library is never unloaded.
            get_properties: unsafe { std::mem::transmute::<*mut c_void, GetProperties>(get_properties) },
            // SAFETY: the function of this name has this signature (hostfxr.h), and the library is never unloaded.
            close: unsafe { std::mem::transmute::<*mut c_void, Close>(close) },
        })
    }

    /// The properties that the runtime would get for a command line, `words` behind `dotnet`, in the resolver's order.
    ///
    /// # Errors
    /// The resolver's refusal: a framework is missing, a file is damaged, the program is none.
    pub fn properties(&self, root: &Path, words: &[&OsStr]) -> Result<Vec<(String, String)>, Refusal> {
        LINES.with_borrow_mut(Vec::clear);
        // SAFETY: the function takes a function that does not unwind, or none.
        let before = unsafe { (self.set_error_writer)(Some(keep_line)) };
        let result = self.ask(root, words);
        // SAFETY: the writer is the one that was set before, or none.
        unsafe { (self.set_error_writer)(before) };
        result.map_err(|code| Refusal { code, lines: LINES.with_borrow_mut(std::mem::take) })
    }

    fn ask(&self, root: &Path, words: &[&OsStr]) -> Result<Vec<(String, String)>, u32> {
        let words: Vec<CString> = words.iter().map(|word| c_text(word)).collect();
        let pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
        let (host_path, dotnet_root) = (c_text(root.join("dotnet").as_os_str()), c_text(root.as_os_str()));
        let parameters = InitializeParameters {
            size_bytes: size_of::<InitializeParameters>(),
            host_path: host_path.as_ptr(),
            dotnet_root: dotnet_root.as_ptr(),
        };
        let mut context: Context = ptr::null_mut();
        let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
        // SAFETY: `count` words that end in NUL, parameters of the stated size and room for the handle, all alive
        // during the call.
        let status = unsafe { (self.initialize)(count, pointers.as_ptr(), &parameters, &mut context) };
        if status < 0 || context.is_null() {
            return Err(status as u32);
        }
        let result = self.properties_of(context);
        // SAFETY: the handle came from `initialize` and is closed once.
        unsafe { (self.close)(context) };
        result
    }

    fn properties_of(&self, context: Context) -> Result<Vec<(String, String)>, u32> {
        let mut count = 0;
        // SAFETY: the handle is open; without arrays the function only tells the number of properties.
        let status = unsafe { (self.get_properties)(context, &mut count, ptr::null_mut(), ptr::null_mut()) };
        if status < 0 && status as u32 != BUFFER_TOO_SMALL {
            return Err(status as u32);
        }
        let (mut keys, mut values) = (vec![ptr::null(); count], vec![ptr::null(); count]);
        // SAFETY: the handle is open, and both arrays have `count` places.
        let status = unsafe { (self.get_properties)(context, &mut count, keys.as_mut_ptr(), values.as_mut_ptr()) };
        if status < 0 {
            return Err(status as u32);
        }
        Ok(keys.into_iter().zip(values).take(count).map(|(key, value)| (own_text(key), own_text(value))).collect())
    }
}

/// A copy of one of the resolver's texts, while its context is open.
fn own_text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the resolver's texts end in NUL and live until the context is closed, which `ask` does later.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The text for C, up to a NUL in it.
fn c_text(text: &OsStr) -> CString {
    let bytes = text.as_bytes();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_else(|_| bug!("a text without a NUL has one"))
}

fn symbol(library: *mut c_void, name: &CStr) -> Result<*mut c_void, Refusal> {
    // SAFETY: an open library and a name that ends in NUL.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    if address.is_null() { Err(linker_error()) } else { Ok(address) }
}

/// The dynamic linker's last error on this thread.
fn linker_error() -> Refusal {
    // SAFETY: no preconditions; the text lives until the thread's next call of the linker.
    let text = unsafe { libc::dlerror() };
    let line = if text.is_null() {
        "the dynamic linker refuses it".to_owned()
    } else {
        // SAFETY: a text of the C library that ends in NUL.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    };
    Refusal { code: 0, lines: vec![line] }
}

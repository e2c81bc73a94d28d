//! `mono/utils/mono-dl-fallback.h`: native libraries that the host supplies, for P/Invokes.
//!
//! Handlers are asked when no file was found under any name that is tried, not after each name as under Mono. Libraries
//! are never closed, so the function that would close one is never called.

use crate::call::in_host_code;
use crate::host_functions::{self, FindSymbol, Hook, LibraryHandler, LoadLibrary};
use saki_interop::library;
use saki_interop::resolve::{self, NativeName};
use saki_runtime::object::exceptions;
use saki_runtime::{CurrentThread, ExceptionType, Managed};
use saki_types::Method;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The flag of Mono's API for libraries whose functions are found when they are called.
const LAZY: c_int = 1;

/// The number of the last handler. Relaxed: numbers differ, and nothing else.
static LAST_NUMBER: AtomicUsize = AtomicUsize::new(0);

/// What the host has for a handler: its number; null is none.
#[repr(transparent)]
pub struct MonoDlFallbackHandler(*mut c_void);

/// Has the host's functions asked for native libraries that are not found. Null without one of the first two.
///
/// # Safety
/// The functions may be called with `data` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_dl_fallback_register(
    load: Option<LoadLibrary>,
    symbol: Option<FindSymbol>,
    _close: *const c_void,
    data: *mut c_void,
) -> MonoDlFallbackHandler {
    let (Some(load), Some(symbol)) = (load, symbol) else { return MonoDlFallbackHandler(ptr::null_mut()) };
    let number = LAST_NUMBER.fetch_add(1, Ordering::Relaxed) + 1;
    let handler = LibraryHandler { number, load: Hook::new(load, data), symbol };
    host_functions::with(|functions| functions.library_handlers.insert(0, handler));
    MonoDlFallbackHandler(ptr::without_provenance_mut(number))
}

/// Ends what [`mono_dl_fallback_register`] began. Functions that were found stay.
#[unsafe(no_mangle)]
pub extern "C" fn mono_dl_fallback_unregister(handler: MonoDlFallbackHandler) {
    let number = handler.0.addr();
    host_functions::with(|functions| functions.library_handlers.retain(|handler| handler.number != number));
}

/// Calls a function of the host's that may make a text about an error, which is dropped.
fn without_error(function: impl FnOnce(*mut *mut c_char) -> *mut c_void) -> *mut c_void {
    let mut error = ptr::null_mut();
    let result = function(&raw mut error);
    // SAFETY: null, or a text of the C heap, as the header says.
    unsafe { libc::free(error.cast()) };
    result
}

/// The function of a P/Invoke in the first library that a handler has under one of the names that are tried, if it is
/// there; None without a library.
fn find(handlers: &[LibraryHandler], names: &[CString], symbols: &[CString]) -> Option<Option<usize>> {
    for name in names {
        for handler in handlers {
            let data = handler.load.data();
            // SAFETY: the host's function and its data; a text that ends in NUL.
            let library = without_error(|error| unsafe { (handler.load.function)(name.as_ptr(), LAZY, error, data) });
            if library.is_null() {
                continue;
            }
            return Some(symbols.iter().find_map(|symbol| {
                // SAFETY: the host's function, its data and its library; a text that ends in NUL.
                let found = without_error(|error| unsafe { (handler.symbol)(library, symbol.as_ptr(), error, data) });
                (!found.is_null()).then(|| found.expose_provenance())
            }));
        }
    }
    None
}

/// The native function of a P/Invoke: what the machine finds, or else the host.
///
/// # Errors
/// DllNotFoundException, EntryPointNotFoundException; load errors.
pub(crate) fn resolve_native(t: CurrentThread, method: &'static Method) -> Managed<usize> {
    let thrown = match resolve::resolve_native(t, method) {
        Ok(found) => return Ok(found),
        Err(thrown) => thrown,
    };
    let handlers = host_functions::with(|functions| functions.library_handlers.clone());
    if handlers.is_empty() || !t.pending().is_some_and(|exception| ExceptionType::DllNotFound.is(exception.ty())) {
        return Err(thrown);
    }
    let exception = t.take_exception();
    let name = NativeName::of(t, method)?;
    let folder = method.image().meta.path().parent().map(std::path::PathBuf::from);
    let c_text = |text: &[u8]| CString::new(text).unwrap_or_default();
    let names: Vec<CString> = library::candidates(&name.library, folder.as_deref())
        .iter()
        .map(|path| c_text(path.as_os_str().as_encoded_bytes()))
        .collect();
    let symbols: Vec<CString> = name.symbols().iter().map(|symbol| c_text(symbol.as_bytes())).collect();
    match in_host_code(|| find(&handlers, &names, &symbols)) {
        Some(Some(found)) => Ok(found),
        Some(None) => Err(exceptions::throw(t, ExceptionType::EntryPointNotFound, &name.function)),
        None => Err(exceptions::throw_made(t, Ok(exception))),
    }
}

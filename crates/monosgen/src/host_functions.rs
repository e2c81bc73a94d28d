//! Functions that the host has given for later: hooks, handlers, callbacks. They are kept in one place.
//!
//! A host gives them at any time, also before the machine starts, and to functions of C without a handle. Invariant:
//! the lock is not held while a function of the host's runs, so that it may call the library.

use crate::assembly_names::MonoAssemblyName;
use saki_abi::ObjRef;
use saki_base::locks::{Mutex, rank};
use saki_runtime::vm::domains::Domain;
use saki_types::Assembly;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// A function of the host's, with the data that it wants to get.
#[derive(Clone, Copy)]
pub(crate) struct Hook<F> {
    pub(crate) function: F,
    data: usize,
}

impl<F> Hook<F> {
    pub(crate) fn new(function: F, data: *mut c_void) -> Hook<F> {
        Hook { function, data: data.expose_provenance() }
    }

    pub(crate) fn data(&self) -> *mut c_void {
        ptr::with_exposed_provenance_mut(self.data)
    }
}

/// `MonoAssemblySearchFunc`.
pub(crate) type Search = unsafe extern "C" fn(*mut MonoAssemblyName, *mut c_void) -> Option<&'static Assembly>;
/// `MonoAssemblyPreLoadFunc`: the second argument is the folders of `mono_set_assemblies_path`, up to a null.
pub(crate) type Preload =
    unsafe extern "C" fn(*mut MonoAssemblyName, *mut *mut c_char, *mut c_void) -> Option<&'static Assembly>;
/// `MonoAssemblyLoadFunc`.
pub(crate) type Load = unsafe extern "C" fn(&'static Assembly, *mut c_void);
/// `MonoLogCallback`: domain, level, text, whether the process ends, the host's data.
pub(crate) type Log = unsafe extern "C" fn(*const c_char, *const c_char, *const c_char, c_int, *mut c_void);
/// `MonoPrintCallback`: the text, and whether it is one of standard output.
pub(crate) type Print = unsafe extern "C" fn(*const c_char, c_int);
/// `MonoUnhandledExceptionFunc`.
pub(crate) type UnhandledHook = unsafe extern "C" fn(ObjRef, *mut c_void);

/// An assembly in the host's memory.
#[derive(Clone)]
pub(crate) struct Bundle {
    /// With ".dll" or ".exe".
    pub(crate) file: String,
    pub(crate) bytes: &'static [u8],
}

/// Hooks for execution, or those for inspection only. The last one stands first.
#[derive(Clone, Default)]
pub(crate) struct SearchHooks {
    pub(crate) search: Vec<Hook<Search>>,
    pub(crate) preload: Vec<Hook<Preload>>,
    pub(crate) postload: Vec<Hook<Search>>,
}

/// What a host has given for assemblies.
#[derive(Default)]
pub(crate) struct AssemblyHooks {
    pub(crate) for_execution: SearchHooks,
    pub(crate) for_reflection: SearchHooks,
    pub(crate) load: Vec<Hook<Load>>,
    pub(crate) bundles: Vec<Bundle>,
    /// What was loaded of bundles, by the addresses of the domain's types and of the bytes.
    pub(crate) loaded: Vec<(usize, usize, &'static Assembly)>,
}

/// What a host has given for messages.
#[derive(Default)]
pub(crate) struct MessageHandlers {
    pub(crate) log: Option<Hook<Log>>,
    pub(crate) output: Option<Print>,
    pub(crate) error: Option<Print>,
}

/// All that the host has given.
#[derive(Default)]
pub(crate) struct HostFunctions {
    pub(crate) assemblies: AssemblyHooks,
    pub(crate) messages: MessageHandlers,
    pub(crate) unhandled: Option<Hook<UnhandledHook>>,
    /// `MonoDomainFunc`.
    pub(crate) cleanup: Option<unsafe extern "C" fn(&'static Domain, *mut c_void)>,
}

static FUNCTIONS: Mutex<rank::HostFunctions, Option<HostFunctions>> = Mutex::new(None);

/// Reads or changes what the host has given. `body` calls none of it.
pub(crate) fn with<R>(body: impl FnOnce(&mut HostFunctions) -> R) -> R {
    body(FUNCTIONS.lock().get_or_insert_default())
}

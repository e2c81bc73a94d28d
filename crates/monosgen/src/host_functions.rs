//! Functions that the host has given for later: hooks, handlers, callbacks. They are kept in one place.
//!
//! A host gives them at any time, also before the machine starts, and to functions of C without a handle. Invariant:
//! the lock is not held while a function of the host's runs, so that it may call the library.

use crate::assembly_names::MonoAssemblyName;
use saki_abi::ObjRef;
use saki_base::locks::{Mutex, rank};
use saki_runtime::vm::domains::Domain;
use saki_sync::handle_table::Handle;
use saki_types::Assembly;
use std::collections::HashMap;
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

/// A queue of `mono_gc_reference_queue_new`, with the objects that are watched.
pub(crate) struct ReferenceQueue {
    /// By which the host knows it.
    pub(crate) number: usize,
    pub(crate) callback: unsafe extern "C" fn(*mut c_void),
    /// Handles of objects, and the host's data.
    pub(crate) entries: Vec<(Handle, usize)>,
    /// All objects count as dead, and the queue is dropped.
    pub(crate) is_ending: bool,
}

/// A handler of `mono_dl_fallback_register`.
#[derive(Clone, Copy)]
pub(crate) struct LibraryHandler {
    /// By which the host knows it.
    pub(crate) number: usize,
    pub(crate) load: Hook<LoadLibrary>,
    pub(crate) symbol: FindSymbol,
}

/// `MonoDlFallbackLoad`: name, flags, the place of an error's text.
pub(crate) type LoadLibrary = unsafe extern "C" fn(*const c_char, c_int, *mut *mut c_char, *mut c_void) -> *mut c_void;
/// `MonoDlFallbackSymbol`: library, name, the place of an error's text.
pub(crate) type FindSymbol =
    unsafe extern "C" fn(*mut c_void, *const c_char, *mut *mut c_char, *mut c_void) -> *mut c_void;
/// `MonoThreadManageCallback`.
pub(crate) type ManageCallback = unsafe extern "C" fn(ObjRef) -> c_int;
/// `MonoResourceCallback`: the resource, the value, whether the lower limit was reached.
pub(crate) type ResourceCallback = unsafe extern "C" fn(c_int, usize, c_int);

/// Where a counter's number comes from, as C passes it: the address of the number, or a function that gives it.
#[repr(C)]
#[derive(Clone, Copy)]
pub union CounterSource {
    pub(crate) address: *const u8,
    pub(crate) int: unsafe extern "C" fn() -> c_int,
    pub(crate) long: unsafe extern "C" fn() -> i64,
    pub(crate) double: unsafe extern "C" fn() -> f64,
    pub(crate) text: unsafe extern "C" fn() -> *const c_char,
}

/// A counter of `mono/utils/mono-counters.h`. It is never freed.
pub struct MonoCounter {
    /// It lives as long as the process.
    pub(crate) name: *const c_char,
    /// Type, section, unit and variance in one, and whether the source is a function.
    pub(crate) kind: c_int,
    pub(crate) source: CounterSource,
    pub(crate) size_bytes: usize,
}

// SAFETY: the name lives as long as the process; the source is read where the host asks for the number.
unsafe impl Send for MonoCounter {}
// SAFETY: nothing changes in it.
unsafe impl Sync for MonoCounter {}

/// What hosts and the machine count.
#[derive(Default)]
pub(crate) struct Counters {
    /// `mono_counters_init` was called, or the machine has started.
    pub(crate) are_on: bool,
    /// The sections of dumps.
    pub(crate) sections: c_int,
    pub(crate) all: Vec<&'static MonoCounter>,
    pub(crate) on_register: Vec<unsafe extern "C" fn(&'static MonoCounter)>,
}

/// All that the host has given.
#[derive(Default)]
pub(crate) struct HostFunctions {
    pub(crate) assemblies: AssemblyHooks,
    pub(crate) messages: MessageHandlers,
    pub(crate) reference_queues: Vec<ReferenceQueue>,
    pub(crate) library_handlers: Vec<LibraryHandler>,
    /// By the managed ids of threads.
    pub(crate) manage_callbacks: HashMap<i32, ManageCallback>,
    pub(crate) counters: Counters,
    pub(crate) resource_limit_reached: Option<ResourceCallback>,
    pub(crate) unhandled: Option<Hook<UnhandledHook>>,
    /// `MonoDomainFunc`.
    pub(crate) cleanup: Option<unsafe extern "C" fn(&'static Domain, *mut c_void)>,
}

static FUNCTIONS: Mutex<rank::HostFunctions, Option<HostFunctions>> = Mutex::new(None);

/// Reads or changes what the host has given. `body` calls none of it.
pub(crate) fn with<R>(body: impl FnOnce(&mut HostFunctions) -> R) -> R {
    body(FUNCTIONS.lock().get_or_insert_default())
}

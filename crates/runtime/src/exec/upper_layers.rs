//! The crates above `runtime`, as values: marshalling, remoting, internal calls, notifications of the host.
//!
//! `Vm::builder` takes the values, so that no machine starts without them and none is exchanged while it runs. Helpers that compiled code calls by name, but
//! an upper crate implements, call these values.

use crate::host_events::HostEvent;
use crate::internal_calls::InternalCallTables;
use crate::library_loops::LoopRow;
use crate::references::{Array, Obj};
use crate::thread::{CurrentThread, Managed};
use saki_types::{Field, Image, LoaderEvents, Method, collectible};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// See the module header.
pub struct UpperLayers {
    pub interop: Interop,
    pub remoting: Remoting,
    /// Events of loading types, which are passed to the program.
    pub loader_events: &'static dyn LoaderEvents,
    /// Tables of internal calls; of equal rows the later one counts.
    pub internal_calls: InternalCallTables,
    /// Functions that replace loops of the class library.
    pub library_loops: Vec<&'static [LoopRow]>,
    /// Functions of the machine that stand in for those of the class libraries' native libraries.
    pub own_functions: Vec<&'static [OwnFunction]>,
    /// Each drops the entries that are dead (`types::collectible::is_dead`) from tables of its crate.
    pub forget_dead: Vec<fn()>,
    /// What the upper layers do when the process forks.
    pub forks: saki_os::ForkActions,
    pub host: HostEvents,
}

/// Events that the host, the program that contains the machine, is notified of.
#[derive(Clone, Copy)]
pub struct HostEvents {
    /// The program has ended, and no object has been finalized at exit yet. Called before the handlers of ProcessExit, on the thread that ends the process, which can
    /// run managed code.
    pub before_exit: fn(),
    /// A client has sent `os::signal::of_clients`. True: it was found, and is served.
    pub serve_request: fn() -> bool,
    /// An exception is unhandled, and the process is about to end. True: the host has reported it.
    pub report_unhandled: for<'t> fn(CurrentThread<'t>, Obj<'t>) -> bool,
    /// A collection is over and finalizers have run, on their thread; only if `vm::finalizer::follow_collections` asked
    /// for it.
    pub after_collection: fn(CurrentThread<'_>),
    /// The handlers of ProcessExit and the finalizers at exit have run, on the thread that ends the process.
    pub after_exit: fn(),
    /// Gets the events that `host_events::set_wanted` asks for.
    pub profiler: fn(HostEvent<'_>),
    /// The probes that a method's code gets, of `vm::host_probes`; asked while it is compiled, if the kind `Probes` is
    /// wanted.
    pub probes: fn(&'static Method) -> u32,
    /// Whether the statements of a method are counted (`vm::coverage`); asked while it is compiled.
    pub is_covered: fn(&'static Method) -> bool,
}

impl Default for HostEvents {
    /// The events of a host that ignores them all.
    fn default() -> Self {
        HostEvents {
            before_exit: || (),
            serve_request: || false,
            report_unhandled: |_, _| false,
            after_collection: |_| (),
            after_exit: || (),
            profiler: |_| (),
            probes: |_| 0,
            is_covered: |_| false,
        }
    }
}

/// Calls and field accesses through a RealProxy.
#[derive(Clone, Copy)]
pub struct Remoting {
    /// Calls a method on a proxy with an array of boxed arguments, and returns the boxed result; by-reference results are stored into the array.
    pub invoke: for<'t> fn(CurrentThread<'t>, Obj<'t>, &'static Method, Array<'t>) -> Managed<Option<Obj<'t>>>,
    pub get_field: for<'t> fn(CurrentThread<'t>, Obj<'t>, &'static Field) -> Managed<Option<Obj<'t>>>,
    pub set_field: for<'t> fn(CurrentThread<'t>, Obj<'t>, &'static Field, Option<Obj<'t>>) -> Managed<()>,
    /// The object behind a proxy, if the thread is in its context already.
    pub server_in_this_context: for<'t> fn(CurrentThread<'t>, Obj<'t>) -> Managed<Option<Obj<'t>>>,
}

/// A function of the virtual machine that replaces one of Mono's or .NET's native libraries: it does the same, but a thread that waits in it parks, or can be aborted.
pub struct OwnFunction {
    /// How the name of the library's file begins.
    pub library: &'static str,
    pub name: &'static str,
    /// The function's address. It is called as native code, in a safe region.
    pub address: *const (),
    /// Gets the address of the library's function, if the function calls it.
    pub original: Option<&'static AtomicUsize>,
}

// SAFETY: the address of code.
unsafe impl Sync for OwnFunction {}

static LAYERS: OnceLock<UpperLayers> = OnceLock::new();

/// Sets the layers; `vm` calls it before managed code runs. A second start of a machine fails before this call.
pub(crate) fn set(layers: UpperLayers) {
    let _ = LAYERS.set(layers);
}

/// The upper layers of the running machine.
pub fn upper_layers() -> &'static UpperLayers {
    LAYERS.get().unwrap_or_else(|| saki_base::bug!("no machine runs"))
}

/// What the host is notified of, and asked.
pub(crate) fn host_events() -> &'static HostEvents {
    &upper_layers().host
}

/// Tells the host's profiler, once there is one.
pub(crate) fn tell_host(event: HostEvent<'_>) {
    if let Some(layers) = LAYERS.get() {
        (layers.host.profiler)(event);
    }
}

/// The cell of a P/Invoke's native address, 0 until resolved. It lives as long as the method.
pub fn native_cell(method: &'static Method) -> usize {
    &raw const method.runtime.rare().native as usize
}

/// Resolves and stores a P/Invoke's native address.
///
/// # Errors
/// DllNotFoundException, EntryPointNotFoundException.
pub fn resolve_native(t: CurrentThread, method: &'static Method) -> Managed<usize> {
    let address = (upper_layers().interop.resolve_native)(t, method)
        .map_err(|thrown| crate::exception_trace::begin_in_stub(t, thrown, method, 2))?;
    // Release: the library is loaded before its address is seen.
    AtomicUsize::store(&method.runtime.rare().native, address, Ordering::Release);
    Ok(address)
}

/// A vararg call site: the image and token of its signature.
#[repr(C)]
pub struct VarArgCookie {
    pub image: &'static Image,
    /// MemberRef or StandAloneSig token.
    pub token: u32,
}

/// Address of the cookie that `arglist` passes to ArgIterator.
pub fn vararg_cookie(image: &'static Image, token: u32) -> usize {
    std::ptr::from_ref(collectible::keep_beside(image, VarArgCookie { image, token })).addr()
}

/// Defines [`Interop`], and the helpers that compiled code calls for its functions.
macro_rules! interop {
    ($($(#[$doc:meta])* $name:ident($($param:ident: $ty:ty),*) -> $ret:ty;)*) => {
        $(
            pub(crate) fn $name<'t>(t: CurrentThread<'t>, $($param: $ty),*) -> Managed<$ret> {
                // SAFETY: helpers, which compiled code alone calls, with the words, variables, descriptors and contexts of its own wrappers.
                unsafe { (upper_layers().interop.$name)(t, $($param),*) }
            }
        )*

        /// Finding native code, marshalling for calls of it, and calls from it.
        #[derive(Clone, Copy)]
        pub struct Interop {
            /// The native entry point; DllNotFoundException, EntryPointNotFoundException.
            pub resolve_native: fn(CurrentThread, &'static Method) -> Managed<usize>,
            /// Address of the marshalling descriptor of a parameter (0 = return value).
            pub marshal_info: fn(CurrentThread, &'static Method, u32) -> Managed<usize>,
            /// The C function through which native code calls a method with UnmanagedCallersOnlyAttribute.
            pub native_entry: fn(CurrentThread, &'static Method) -> Managed<usize>,
            $($(#[$doc])* pub $name: for<'t> unsafe fn(CurrentThread<'t>, $($ty),*) -> Managed<$ret>,)*
        }
    };
}

interop! {
    /// Converts a managed value, given by its address, by a descriptor; returns the native word.
    marshal_in(value: usize, descriptor: usize) -> i64;
    /// Converts a native word, by a descriptor, into the managed value at an address.
    marshal_out(word: i64, value: usize, descriptor: usize) -> ();
    marshal_free(word: i64, value: usize, descriptor: usize) -> ();
    delegate_begin_invoke(delegate: Option<Obj<'t>>, arguments: Option<Array<'t>>) -> Option<Obj<'t>>;
    delegate_end_invoke(delegate: Option<Obj<'t>>, arguments: Option<Array<'t>>) -> Option<Obj<'t>>;
    /// The ICustomMarshaler of a descriptor.
    custom_marshaler(descriptor: usize) -> Option<Obj<'t>>;
    /// Throws the exception that the descriptor describes.
    throw_marshal_directive(descriptor: usize) -> ();
    /// The delegate that native code calls.
    callback_delegate(context: usize) -> Option<Obj<'t>>;
    callback_in(word: i64, value: usize, descriptor: usize) -> ();
    callback_out(value: usize, word: i64, descriptor: usize) -> i64;
}

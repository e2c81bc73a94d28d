//! What crates above provide: P/Invoke resolution and marshalling descriptors (`interop`).
//!
//! Installed once at start-up, before managed code runs. Without them P/Invoke throws NotImplementedException.

use crate::exceptions;
use crate::thread::{Managed, Thread};
use saki_abi::ObjRef;
use saki_types::{Image, Method, collectible};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The interop crate's functions.
#[derive(Clone, Copy)]
pub struct InteropHooks {
    /// The native entry point; DllNotFoundException, EntryPointNotFoundException.
    pub resolve_native: fn(Thread, &'static Method) -> Managed<usize>,
    /// Address of the marshalling descriptor of a parameter (0 = return value).
    pub marshal_info: fn(Thread, &'static Method, u32) -> Managed<usize>,
    /// (managed value or its address, descriptor) → native word.
    pub marshal_in: fn(Thread, usize, usize) -> Managed<i64>,
    /// (native word, address of the managed value, descriptor)
    pub marshal_out: fn(Thread, i64, usize, usize) -> Managed<()>,
    pub marshal_free: fn(Thread, i64, usize, usize) -> Managed<()>,
}

static INTEROP: OnceLock<InteropHooks> = OnceLock::new();

pub fn install_interop(hooks: InteropHooks) {
    let _ = INTEROP.set(hooks);
}

/// # Errors
/// NotImplementedException when no interop layer is installed.
pub fn interop(t: Thread) -> Managed<&'static InteropHooks> {
    INTEROP.get().ok_or_else(|| exceptions::throw_not_implemented(t, "P/Invoke without an interop layer"))
}

/// The cell of a P/Invoke's native address: inside the method itself, 0 until resolved.
pub fn native_cell(method: &'static Method) -> usize {
    &raw const method.runtime.native as usize
}

/// Resolves and stores a P/Invoke's native address.
///
/// # Errors
/// DllNotFoundException, EntryPointNotFoundException.
pub fn resolve_native(t: Thread, method: &'static Method) -> Managed<usize> {
    let address = (interop(t)?.resolve_native)(t, method)?;
    // Release: the library is loaded before its address is seen.
    AtomicUsize::store(&method.runtime.native, address, Ordering::Release);
    Ok(address)
}

/// # Errors
/// What the interop layer throws.
pub fn marshal_info(t: Thread, method: &'static Method, index: u32) -> Managed<usize> {
    (interop(t)?.marshal_info)(t, method, index)
}

/// A vararg call site: where its signature is.
#[repr(C)]
pub struct VarArgCookie {
    pub image: &'static Image,
    /// MemberRef or StandAloneSig token.
    pub token: u32,
}

/// Address of the cookie that `arglist` hands to ArgIterator.
pub fn vararg_cookie(image: &'static Image, token: u32) -> usize {
    std::ptr::from_ref(collectible::keep_beside(image, VarArgCookie { image, token })).addr()
}

macro_rules! missing_helpers {
    ($($name:ident($($param:ident: $ty:ty),*) -> $ret:ty = $what:literal;)*) => {
        $(
            /// # Safety
            /// A helper: called by its thunk.
            pub unsafe extern "C" fn $name(t: Thread, $($param: $ty),*) -> $ret {
                t.run(|| {
                    let table = EXTRA.get().and_then(|extra| extra.$name);
                    match table {
                        Some(function) => function(t, $($param),*),
                        None => Err(exceptions::throw_not_implemented(t, $what)),
                    }
                })
            }
        )*

        /// Helpers that crates above implement; None throws NotImplementedException.
        #[derive(Clone, Copy, Default)]
        pub struct ExtraHelpers {
            $(pub $name: Option<fn(Thread, $($ty),*) -> Managed<$ret>>,)*
        }
    };
}

static EXTRA: OnceLock<ExtraHelpers> = OnceLock::new();

pub fn install_extra(extra: ExtraHelpers) {
    let _ = EXTRA.set(extra);
}

missing_helpers! {
    delegate_begin_invoke(delegate: ObjRef, arguments: ObjRef) -> ObjRef = "Delegate.BeginInvoke";
    delegate_end_invoke(delegate: ObjRef, arguments: ObjRef) -> ObjRef = "Delegate.EndInvoke";
    custom_marshaler(descriptor: usize) -> ObjRef = "ICustomMarshaler";
    throw_marshal_directive(descriptor: usize) -> () = "MarshalDirectiveException";
    callback_delegate(context: usize) -> ObjRef = "native callbacks";
    callback_in(word: i64, value: usize, descriptor: usize) -> () = "native callbacks";
    callback_out(value: usize, word: i64, descriptor: usize) -> i64 = "native callbacks";
}

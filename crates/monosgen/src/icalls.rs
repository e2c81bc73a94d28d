//! Internal calls that the host implements, and exceptions that it throws out of them: `mono/metadata/loader.h` and
//! `object.h`.

use crate::call::{call, raise, some};
use crate::machine::end;
use crate::text::text;
use saki_abi::ObjRef;
use saki_runtime::exec::{callback_exceptions, host_calls};
use saki_types::Method;
use std::ffi::{c_char, c_int, c_void};

/// Registers a function for an internal call: "Namespace.Type::Method" or "Namespace.Type::Method(int,string)". It gets
/// the arguments as they are, `this` first, references as addresses of objects.
///
/// # Safety
/// `name` ends in NUL; the function has the method's signature.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_add_internal_call(name: *const c_char, function: *const c_void) {
    // SAFETY: the host's text, which ends in NUL.
    host_calls::add(&unsafe { text(name) }, function.addr());
}

/// [`mono_add_internal_call`].
///
/// # Safety
/// That of [`mono_add_internal_call`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_dangerous_add_raw_internal_call(name: *const c_char, function: *const c_void) {
    // SAFETY: the host's text, which ends in NUL.
    unsafe { mono_add_internal_call(name, function) };
}

/// The host's function for an internal call; null if it has none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_lookup_internal_call(method: &'static Method) -> *const c_void {
    let found = call("mono_lookup_internal_call", |_| host_calls::function(method));
    std::ptr::with_exposed_provenance(found.ok().flatten().unwrap_or(0))
}

/// Throws in the managed code that called the host's code, and does not return. The frames of the host are left without
/// a trace, as under Mono.
///
/// # Safety
/// `exception` is an exception; no frame of the host's up to its internal call has anything to clean up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_raise_exception(exception: ObjRef) {
    const FUNCTION: &str = "mono_raise_exception";
    // SAFETY: the host's object.
    raise(FUNCTION, unsafe { some(FUNCTION, exception) });
    end(FUNCTION, "cannot leave a call whose arguments do not fit into registers");
}

/// [`mono_raise_exception`].
///
/// # Safety
/// That of [`mono_raise_exception`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_reraise_exception(exception: ObjRef) {
    // SAFETY: the host's exception.
    unsafe { mono_raise_exception(exception) };
}

/// Throws when the host's code has returned to the managed code that called it. Whether it will: not if an exception
/// waits already and `overwrite` is 0.
///
/// # Safety
/// `exception` is an exception.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_runtime_set_pending_exception(exception: ObjRef, overwrite: c_int) -> c_int {
    const FUNCTION: &str = "mono_runtime_set_pending_exception";
    call(FUNCTION, |t| {
        if callback_exceptions::is_kept(t) && overwrite == 0 {
            return 0;
        }
        // SAFETY: the host's object.
        callback_exceptions::keep(t, unsafe { some(FUNCTION, exception) });
        1
    })
}

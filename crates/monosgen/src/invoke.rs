//! Calling managed code: `mono_runtime_invoke` and its relatives of `mono/metadata/object.h`.

use crate::call::{call_catching, call_managed, held};
use crate::machine::end;
use saki_abi::ObjRef;
use saki_reflect::invocation_by_address::invoke_exactly;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{CurrentThread, Managed, Slot, Word};
use saki_types::Method;
use std::ffi::c_void;
use std::ptr;

/// Calls exactly this method and gives its result, boxed if it is a value; null for void. What it throws goes to `exc`.
///
/// # Safety
/// `object` is what the method wants: an object, or the address of the value for a method of a value type. `params` has
/// a place for each parameter: the object for a reference type, the pointer for a pointer type, the address of the
/// value or of the variable for others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_runtime_invoke(
    method: &'static Method,
    object: *mut u8,
    params: *mut *mut u8,
    exc: *mut ObjRef,
) -> ObjRef {
    // SAFETY: the host's promise.
    unsafe { call_catching("mono_runtime_invoke", exc, |t| invoke(t, method, object, params)) }
}

/// # Safety
/// That of [`mono_runtime_invoke`].
pub(crate) unsafe fn invoke(
    t: CurrentThread,
    method: &'static Method,
    object: *mut u8,
    params: *mut *mut u8,
) -> Managed<ObjRef> {
    let sig = method.sig().to_managed(t)?;
    let mut addresses = Vec::with_capacity(sig.params.len());
    for (index, &ty) in sig.params.iter().enumerate() {
        // SAFETY: a place for each parameter.
        let place = unsafe { params.add(index) };
        let is_place = ty.is_reference_type() || ty.is_pointer();
        // SAFETY: the place holds an address, since the parameter is neither a reference nor a pointer.
        addresses.push(if is_place { place.cast() } else { unsafe { place.read() } });
    }
    let this = (!method.is_static()).then(|| Slot::from_ptr(object));
    // SAFETY: addresses of variables of the parameters' types; the host promises `this`.
    Ok(unsafe { invoke_exactly(t, method, this, addresses.as_ptr()) }?.word())
}

/// A C function that calls exactly this method: `this`, the arguments as they are (structs in boxes), and at the end
/// the address of room for an exception. It stays for ever.
#[unsafe(no_mangle)]
pub extern "C" fn mono_method_get_unmanaged_thunk(method: &'static Method) -> *const c_void {
    call_managed("mono_method_get_unmanaged_thunk", |t| {
        Ok(ptr::with_exposed_provenance(saki_interop::raw_entries::raw_entry(t, method)?))
    })
}

/// Runs the constructor without parameters.
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_runtime_object_init(object: ObjRef) {
    const FUNCTION: &str = "mono_runtime_object_init";
    call_managed(FUNCTION, |t| {
        // SAFETY: the host's object, on its stack.
        let Some(this) = (unsafe { held(object) }) else { end(FUNCTION, "gets null") };
        let Some(constructor) = this.ty().find_method(".ctor", 0).to_managed(t)? else {
            end(FUNCTION, "finds no constructor without parameters")
        };
        let target = if this.ty().is_value_type() { this.data() } else { object.0.cast() };
        // SAFETY: no parameters, and an object of the constructor's class.
        unsafe { invoke(t, constructor, target, ptr::null_mut()) }.map(|_| ())
    });
}

//! Objects of `mono/metadata/object.h`: making, copying and asking them; monitors.

use crate::call::{call, call_catching, call_managed, call_quietly, held, put, some};
use saki_abi::ObjRef;
use saki_metadata::Token;
use saki_runtime::exec::{class_init, invoke, monitors};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::vm::domains::{self, Domain};
use saki_runtime::{Managed, Obj, Word};
use saki_types::{GenericContext, Image, Method, Ty, universe};
use std::ffi::{c_char, c_int};

/// A new object, whose constructor has not run.
#[unsafe(no_mangle)]
pub extern "C" fn mono_object_new(_domain: Option<&'static Domain>, class: Ty) -> ObjRef {
    call_managed("mono_object_new", |t| Ok(Obj::new(t, class)?.word()))
}

/// [`mono_object_new`].
#[unsafe(no_mangle)]
pub extern "C" fn mono_object_new_specific(class: Ty) -> ObjRef {
    mono_object_new(None, class)
}

/// [`mono_object_new`].
#[unsafe(no_mangle)]
pub extern "C" fn mono_object_new_fast(class: Ty) -> ObjRef {
    mono_object_new(None, class)
}

/// [`mono_object_new`].
#[unsafe(no_mangle)]
pub extern "C" fn mono_object_new_alloc_specific(class: Ty) -> ObjRef {
    mono_object_new(None, class)
}

/// [`mono_object_new`] of the type of a token.
#[unsafe(no_mangle)]
pub extern "C" fn mono_object_new_from_token(
    _domain: Option<&'static Domain>,
    image: &'static Image,
    token: u32,
) -> ObjRef {
    call_quietly("mono_object_new_from_token", |t| {
        let class = image.resolve_type(Token(token), &GenericContext::NONE).to_managed(t)?;
        Ok(Obj::new(t, class)?.word())
    })
}

/// Runs the class constructor, if it has not run.
#[unsafe(no_mangle)]
pub extern "C" fn mono_runtime_class_init(class: Ty) {
    call_managed("mono_runtime_class_init", |t| class_init::ensure(t, class));
}

/// The class of an object.
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_get_class(object: ObjRef) -> Ty {
    // SAFETY: the host's object.
    call("mono_object_get_class", |_| unsafe { some("mono_object_get_class", object) }.ty())
}

/// The class of an object.
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_get_vtable(object: ObjRef) -> Ty {
    // SAFETY: the host's object.
    unsafe { mono_object_get_class(object) }
}

/// The domain of an object's class.
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_get_domain(object: ObjRef) -> &'static Domain {
    const FUNCTION: &str = "mono_object_get_domain";
    // SAFETY: the host's object.
    call(FUNCTION, |_| domains::of_universe(unsafe { some(FUNCTION, object) }.ty().universe()))
}

/// The address of the value in a box.
///
/// # Safety
/// `object` is a box.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_unbox(object: ObjRef) -> *mut u8 {
    // SAFETY: the host's object.
    call("mono_object_unbox", |_| unsafe { some("mono_object_unbox", object) }.data())
}

/// Bytes of an object as Mono lays it out.
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_get_size(object: ObjRef) -> u32 {
    const FUNCTION: &str = "mono_object_get_size";
    /// Mono's headers of strings and arrays, and what it keeps of a dimension with bounds.
    const STRING_HEADER_BYTES: usize = 20;
    const ARRAY_HEADER_BYTES: usize = 32;
    const BOUND_BYTES: usize = 8;
    call(FUNCTION, |_| {
        // SAFETY: the host's object.
        let object = unsafe { some(FUNCTION, object) };
        if let Some(string) = object.as_str() {
            return (STRING_HEADER_BYTES + 2 * (string.units().len() + 1)) as u32;
        }
        let Some(array) = object.as_array() else {
            return crate::classes::mono_class_instance_size(object.ty()) as u32;
        };
        let elements = ARRAY_HEADER_BYTES + array.element_size_bytes() * array.length();
        let bounds = array.bounds().map_or(0, <[_]>::len);
        let before_bounds = if bounds == 0 { elements } else { elements.next_multiple_of(4) };
        (before_bounds + bounds * BOUND_BYTES) as u32
    })
}

/// A number that stays the object's: `RuntimeHelpers.GetHashCode`.
///
/// # Safety
/// `object` is null or an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_hash(object: ObjRef) -> c_int {
    // SAFETY: null or the host's object.
    call("mono_object_hash", |_| unsafe { held(object) }.map_or(0, monitors::hash_code))
}

/// A shallow copy.
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_clone(object: ObjRef) -> ObjRef {
    const FUNCTION: &str = "mono_object_clone";
    // SAFETY: the host's object.
    call_quietly(FUNCTION, |t| Ok(unsafe { some(FUNCTION, object) }.cloned(t)?.word()))
}

/// The object, if it may be used as the class; otherwise null, also for null.
///
/// # Safety
/// `object` is null or an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_isinst(object: ObjRef, class: Ty) -> ObjRef {
    call_quietly("mono_object_isinst", |t| {
        // SAFETY: null or the host's object.
        let Some(found) = (unsafe { held(object) }) else { return Ok(ObjRef::NULL) };
        Ok(if found.is_instance(t, class)? { object } else { ObjRef::NULL })
    })
}

/// [`mono_object_isinst`], which sees through proxies as well.
///
/// # Safety
/// `object` is null or an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_isinst_mbyref(object: ObjRef, class: Ty) -> ObjRef {
    // SAFETY: null or the host's object.
    unsafe { mono_object_isinst(object, class) }
}

/// [`mono_object_isinst`].
///
/// # Safety
/// `object` is null or an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_castclass_mbyref(object: ObjRef, class: Ty) -> ObjRef {
    // SAFETY: null or the host's object.
    unsafe { mono_object_isinst(object, class) }
}

/// What `ToString` gives. What it throws goes to `exc`.
///
/// # Safety
/// `object` is an object; `exc` is null or has room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_to_string(object: ObjRef, exc: *mut ObjRef) -> ObjRef {
    const FUNCTION: &str = "mono_object_to_string";
    let to_string = |t| -> Managed<ObjRef> {
        // SAFETY: the host's object.
        let object = unsafe { some(FUNCTION, object) };
        let Some(method) = universe().object().find_method("ToString", 0).to_managed(t)? else {
            return Ok(ObjRef::NULL);
        };
        Ok(ObjRef(invoke::invoke_virtual(t, method, object, &[])?.as_usize() as *mut _))
    };
    // SAFETY: null or the host's room for an object.
    unsafe { call_catching(FUNCTION, exc, to_string) }
}

/// What a call of the method on the object runs.
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_object_get_virtual_method(
    object: ObjRef,
    method: &'static Method,
) -> Option<&'static Method> {
    const FUNCTION: &str = "mono_object_get_virtual_method";
    crate::call::load(FUNCTION, || {
        // SAFETY: the host's object.
        let class = unsafe { some(FUNCTION, object) }.ty();
        if method.is_virtual() { class.resolve_virtual(method).map(Some) } else { Ok(Some(method)) }
    })
}

/// A box with a copy of the value; null for a `Nullable<T>` without value.
///
/// # Safety
/// `value` is the address of a value of the class.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_value_box(_domain: Option<&'static Domain>, class: Ty, value: *const u8) -> ObjRef {
    // SAFETY: a value of this type lies at the address.
    call_quietly("mono_value_box", |t| Ok(unsafe { Obj::boxed(t, class, value) }?.word()))
}

/// Takes the object's lock; 0 if that takes more milliseconds (0xffffffff: waits for ever).
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_monitor_try_enter(object: ObjRef, milliseconds: u32) -> c_int {
    const FUNCTION: &str = "mono_monitor_try_enter";
    // SAFETY: the host's object.
    let object = unsafe { some(FUNCTION, object) };
    call_managed(FUNCTION, |t| Ok(c_int::from(monitors::try_enter(t, Some(object), milliseconds as i32)?)))
}

/// Takes the object's lock: 1.
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_monitor_enter(object: ObjRef) -> c_int {
    // SAFETY: the host's object.
    unsafe { mono_monitor_try_enter(object, u32::MAX) }
}

/// Takes the object's lock, and says so.
///
/// # Safety
/// `object` is an object; `is_taken` is null or the host's variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_monitor_enter_v4(object: ObjRef, is_taken: *mut c_char) {
    // SAFETY: the host's object.
    let taken = unsafe { mono_monitor_enter(object) };
    // SAFETY: null or the host's variable.
    unsafe { put(is_taken, taken as c_char) };
}

/// Releases the object's lock; SynchronizationLockException if the thread does not have it.
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_monitor_exit(object: ObjRef) {
    const FUNCTION: &str = "mono_monitor_exit";
    // SAFETY: the host's object.
    call_managed(FUNCTION, |t| monitors::exit(t, Some(unsafe { some(FUNCTION, object) })));
}

/// The `Invoke` of a delegate class.
#[unsafe(no_mangle)]
pub extern "C" fn mono_get_delegate_invoke(class: Ty) -> Option<&'static Method> {
    delegate_method("mono_get_delegate_invoke", class, "Invoke")
}

/// The `BeginInvoke` of a delegate class; null if it has none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_get_delegate_begin_invoke(class: Ty) -> Option<&'static Method> {
    delegate_method("mono_get_delegate_begin_invoke", class, "BeginInvoke")
}

/// The `EndInvoke` of a delegate class; null if it has none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_get_delegate_end_invoke(class: Ty) -> Option<&'static Method> {
    delegate_method("mono_get_delegate_end_invoke", class, "EndInvoke")
}

fn delegate_method(function: &str, class: Ty, name: &str) -> Option<&'static Method> {
    crate::call::load(function, || Ok(class.methods_named(name)?.first().copied()))
}

//! Managed code that runs for transparent proxies and objects of context-bound classes: what compiled code calls for them, casts, and activation.

use crate::exception_types::ExceptionType;
use crate::exceptions::{self, ToManaged};
use crate::invoke::{self, Slot};
use crate::object;
use crate::proxies::{self, HAS_TYPE_INFO, NAMESPACE, REAL_PROXY};
use crate::thread::{CurrentThread, Managed};
use crate::type_objects::type_object;
use crate::upper_layers::upper_layers;
use parking_lot::RwLock;
use rustc_hash::{FxBuildHasher, FxHashSet};
use saki_abi::ObjRef;
use saki_types::{Field, Method, Ty, universe};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a proxy that is not of the type by its class may be used as `ty`.
///
/// # Errors
/// What the RealProxy's `CanCastTo` throws.
pub fn can_cast(t: CurrentThread, proxy: ObjRef, ty: Ty) -> Managed<bool> {
    if ty.is_corlib(NAMESPACE, "TransparentProxy") {
        // The type that it is made as: the class library casts to it to get at the RealProxy.
        return Ok(true);
    }
    let class = proxies::remote_class(proxy);
    for interface in class.interfaces() {
        if interface.is_assignable_to(ty).to_managed(t)? {
            return Ok(true);
        }
    }
    if HAS_TYPE_INFO.get::<u8>(proxy) == 0 || (!ty.is_interface() && !ty.is_marshal_by_ref()) {
        return Ok(false);
    }
    let real_proxy = REAL_PROXY.get_ref(proxy);
    let info = universe().corlib_type("System.Runtime.Remoting", "IRemotingTypeInfo").to_managed(t)?;
    let Some(question) = info.find_method("CanCastTo", 2).to_managed(t)? else { return Ok(false) };
    let wanted = type_object(t, ty)?;
    let answer = invoke::invoke_virtual(t, question, real_proxy, &[Slot::from_ref(wanted), Slot::from_ref(proxy)])?;
    if answer.as_i32() & 0xff == 0 {
        return Ok(false);
    }
    proxies::upgrade(proxy, class, ty).to_managed(t)?;
    Ok(true)
}

pub fn invoke_helper(t: CurrentThread, proxy: ObjRef, method: &'static Method, arguments: ObjRef) -> ObjRef {
    t.run(|| {
        let result = (upper_layers().remoting.invoke)(t, proxy, method, arguments)?;
        let ret = method.sig().to_managed(t)?.ret;
        // A custom proxy may forget the value.
        if result.is_null() && ret.is_value_type() && !ret.is_nullable() && ret != universe().void() {
            return object::new_instance(t, ret);
        }
        Ok(result)
    })
}

pub fn get_field_helper(t: CurrentThread, proxy: ObjRef, field: &'static Field) -> ObjRef {
    t.run(|| (upper_layers().remoting.get_field)(t, proxy, field))
}

pub fn field_address_helper(t: CurrentThread, proxy: ObjRef, field: &'static Field) -> *mut u8 {
    t.run(|| match (upper_layers().remoting.server_in_this_context)(t, proxy)? {
        Some(server) => Ok(server.field_ptr(field.offset_bytes().to_managed(t)? as usize)),
        None => {
            let message = "Attempt to load field address from object in another appdomain or context.";
            Err(exceptions::throw(t, ExceptionType::InvalidOperation, message))
        }
    })
}

pub fn set_field_helper(t: CurrentThread, proxy: ObjRef, field: &'static Field, value: ObjRef) {
    t.run(|| (upper_layers().remoting.set_field)(t, proxy, field, value));
}

/// Classes whose `new` the program has redirected, by address: activation decides which object is made.
static REDIRECTED: RwLock<FxHashSet<usize>> = RwLock::new(FxHashSet::with_hasher(FxBuildHasher));
static HAS_REDIRECTED: AtomicBool = AtomicBool::new(false);

/// `ActivationServices.EnableProxyActivation`: whether `new` asks the class library's activation first.
pub fn redirect_activation(ty: Ty, enable: bool) {
    let mut redirected = REDIRECTED.write();
    match enable {
        true => redirected.insert(std::ptr::from_ref(ty).addr()),
        false => redirected.remove(&std::ptr::from_ref(ty).addr()),
    };
    // Relaxed: a thread that knows of the call sees the flag, too; the lock orders the set.
    HAS_REDIRECTED.store(!redirected.is_empty(), Ordering::Relaxed);
}

/// As `new_context_bound` for a class that is marshalled by reference: an object, unless the program has redirected the class.
///
/// # Errors
/// As `new_context_bound`.
pub fn new_marshal_by_ref(t: CurrentThread, ty: Ty) -> Managed<ObjRef> {
    if HAS_REDIRECTED.load(Ordering::Relaxed) && REDIRECTED.read().contains(&std::ptr::from_ref(ty).addr()) {
        return new_context_bound(t, ty);
    }
    object::new_instance(t, ty)
}

pub fn new_marshal_by_ref_helper(t: CurrentThread, ty: Ty) -> ObjRef {
    t.run(|| new_marshal_by_ref(t, ty))
}

/// A new object of a context-bound class, not constructed yet: the class library's activation makes it, as a rule a proxy.
///
/// # Errors
/// What activation throws; OutOfMemoryException.
pub fn new_context_bound(t: CurrentThread, ty: Ty) -> Managed<ObjRef> {
    let services = universe().corlib_type("System.Runtime.Remoting.Activation", "ActivationServices").to_managed(t)?;
    if let Some(create) = services.find_method("CreateProxyForType", 1).to_managed(t)? {
        let shown = type_object(t, ty)?;
        let proxy = invoke::invoke(t, create, &[Slot::from_ref(shown)])?.as_ref();
        if !proxy.is_null() {
            return Ok(proxy);
        }
    }
    object::new_instance(t, ty)
}

pub fn new_context_bound_helper(t: CurrentThread, ty: Ty) -> ObjRef {
    t.run(|| new_context_bound(t, ty))
}

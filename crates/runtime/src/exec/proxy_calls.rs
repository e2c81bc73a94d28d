//! Managed code that runs for transparent proxies and objects of context-bound classes: the helpers of compiled code, casts, and activation.

use crate::exception_types::ExceptionType;
use crate::exceptions::{self, ToManaged};
use crate::invoke::{self, Slot};
use crate::proxies::{self, HAS_TYPE_INFO, REAL_PROXY};
use crate::references::{Array, Obj};
use crate::thread::{CurrentThread, Managed};
use crate::upper_layers::upper_layers;
use rustc_hash::{FxBuildHasher, FxHashSet};
use saki_base::locks::{RwLock, rank};
use saki_types::{Field, LibraryType, Method, Ty, universe};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a proxy whose class is not assignable to `ty` may be used as `ty`.
///
/// # Errors
/// What the RealProxy's `CanCastTo` throws.
pub fn can_cast(t: CurrentThread, proxy: Obj, ty: Ty) -> Managed<bool> {
    if ty.is(LibraryType::TransparentProxy) {
        // The class library casts a proxy to TransparentProxy to get at its RealProxy.
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
    // Reflection may have set the field to null.
    let Some(real_proxy) = REAL_PROXY.obj(proxy) else { return Ok(false) };
    let info = universe().library_type(LibraryType::IRemotingTypeInfo).to_managed(t)?;
    let Some(question) = info.find_method("CanCastTo", 2).to_managed(t)? else { return Ok(false) };
    let wanted = Obj::of_type(t, ty)?;
    let answer = invoke::invoke_virtual(t, question, real_proxy, &[Slot::from_ref(wanted), Slot::from_ref(proxy)])?;
    if answer.as_i32() & 0xff == 0 {
        return Ok(false);
    }
    proxies::upgrade(proxy, class, ty).to_managed(t)?;
    Ok(true)
}

/// The proxy or the array that a wrapper for proxies passes: it has called a method of the one and made the other.
fn passed<T>(reference: Option<T>) -> T {
    reference.unwrap_or_else(|| saki_base::bug!("no proxy, or no arguments, for a call on a proxy"))
}

pub fn invoke_helper<'t>(
    t: CurrentThread<'t>,
    proxy: Option<Obj<'t>>,
    method: &'static Method,
    arguments: Option<Array<'t>>,
) -> Managed<Option<Obj<'t>>> {
    let result = (upper_layers().remoting.invoke)(t, passed(proxy), method, passed(arguments))?;
    let ret = method.sig().to_managed(t)?.ret;
    // A custom proxy may return null for a value type.
    if result.is_none() && ret.is_value_type() && !ret.is_nullable() && ret != universe().void() {
        return Obj::new(t, ret).map(Some);
    }
    Ok(result)
}

pub fn get_field_helper<'t>(
    t: CurrentThread<'t>,
    proxy: Option<Obj<'t>>,
    field: &'static Field,
) -> Managed<Option<Obj<'t>>> {
    (upper_layers().remoting.get_field)(t, passed(proxy), field)
}

pub fn field_address_helper(t: CurrentThread, proxy: Option<Obj>, field: &'static Field) -> Managed<*mut u8> {
    match (upper_layers().remoting.server_in_this_context)(t, passed(proxy))? {
        Some(server) => Ok(server.field_address(field.offset_bytes().to_managed(t)? as usize)),
        None => {
            let message = "Attempt to load field address from object in another appdomain or context.";
            Err(exceptions::throw(t, ExceptionType::InvalidOperation, message))
        }
    }
}

pub fn set_field_helper(
    t: CurrentThread,
    proxy: Option<Obj>,
    field: &'static Field,
    value: Option<Obj>,
) -> Managed<()> {
    (upper_layers().remoting.set_field)(t, passed(proxy), field, value)
}

/// Classes whose `new` the program has redirected, by address: activation decides which object is made.
static REDIRECTED: RwLock<rank::RedirectedMethods, FxHashSet<usize>> =
    RwLock::new(FxHashSet::with_hasher(FxBuildHasher));
static HAS_REDIRECTED: AtomicBool = AtomicBool::new(false);

/// `ActivationServices.EnableProxyActivation`: whether `new` asks the class library's activation first.
pub fn redirect_activation(ty: Ty, enable: bool) {
    let mut redirected = REDIRECTED.write();
    match enable {
        true => redirected.insert(std::ptr::from_ref(ty).addr()),
        false => redirected.remove(&std::ptr::from_ref(ty).addr()),
    };
    // Relaxed: a thread that has synchronised with this call sees the flag; the lock orders accesses to the set.
    HAS_REDIRECTED.store(!redirected.is_empty(), Ordering::Relaxed);
}

/// A new object of a class that is marshalled by reference, not constructed yet. If the program has redirected the
/// class, the class library's activation makes it, as a rule a proxy.
///
/// # Errors
/// TypeLoadException, OutOfMemoryException; exceptions of activation for a class that is redirected.
pub fn new_marshal_by_ref<'t>(t: CurrentThread<'t>, ty: Ty) -> Managed<Obj<'t>> {
    // Relaxed: as in `redirect_activation`.
    if HAS_REDIRECTED.load(Ordering::Relaxed) && REDIRECTED.read().contains(&std::ptr::from_ref(ty).addr()) {
        return new_context_bound(t, ty);
    }
    Obj::new(t, ty)
}

pub fn new_marshal_by_ref_helper<'t>(t: CurrentThread<'t>, ty: Ty) -> Managed<Option<Obj<'t>>> {
    new_marshal_by_ref(t, ty).map(Some)
}

/// A new object of a context-bound class, not constructed yet: the class library's activation makes it, as a rule a proxy.
///
/// # Errors
/// Exceptions of activation; OutOfMemoryException.
pub fn new_context_bound<'t>(t: CurrentThread<'t>, ty: Ty) -> Managed<Obj<'t>> {
    let services = universe().library_type(LibraryType::ActivationServices).to_managed(t)?;
    if let Some(create) = services.find_method("CreateProxyForType", 1).to_managed(t)? {
        let shown = Obj::of_type(t, ty)?;
        let made = invoke::invoke(t, create, &[Slot::from_ref(shown)])?;
        // SAFETY: the method returns an object or null.
        if let Some(proxy) = unsafe { made.as_obj() } {
            // A ProxyAttribute of the program may have made it.
            if !proxy.is_instance(t, ty)? {
                let (from, to) = (proxy.ty().full_name(), ty.full_name());
                let message = format!("Unable to cast object of type '{from}' to type '{to}'.");
                return Err(exceptions::throw(t, ExceptionType::InvalidCast, &message));
            }
            return Ok(proxy);
        }
    }
    Obj::new(t, ty)
}

pub fn new_context_bound_helper<'t>(t: CurrentThread<'t>, ty: Ty) -> Managed<Option<Obj<'t>>> {
    new_context_bound(t, ty).map(Some)
}

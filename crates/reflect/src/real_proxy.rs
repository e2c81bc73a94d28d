//! What everything on transparent proxies begins with: the RealProxy behind one, fields that are read and written
//! through it, and what comes back by reference.
//!
//! Left out: calls (`remoting`, `cross_domain`).

use crate::library_calls::{call_for_object, class_method};
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::proxies::REAL_PROXY;
use saki_runtime::{CurrentThread, Managed, Obj};
use saki_types::{Field, LibraryType, Method, Ty, universe};

/// The RealProxy of a transparent proxy. A proxy is made with one, but reflection may set the field to null.
///
/// # Errors
/// NullReferenceException.
pub(crate) fn real_proxy_of<'t>(t: CurrentThread<'t>, proxy: Obj<'t>) -> Managed<Obj<'t>> {
    REAL_PROXY.obj(proxy).ok_or_else(|| exceptions::throw_null_reference(t))
}

/// The value to store for a by-reference parameter: `value`, or a zeroed box where a value type cannot be null.
pub(crate) fn or_default<'t>(t: CurrentThread<'t>, value: Option<Obj<'t>>, param: Ty) -> Managed<Option<Obj<'t>>> {
    let needs_value = |ty: &Ty| value.is_none() && ty.is_value_type() && !ty.is_nullable();
    match param.element().filter(needs_value) {
        Some(pointee) => Obj::new(t, pointee).map(Some),
        None => Ok(value),
    }
}

/// A method of the class TransparentProxy, to be called on a proxy.
fn own_method(t: CurrentThread, name: &str, params: usize) -> Managed<&'static Method> {
    class_method(t, universe().library_type(LibraryType::TransparentProxy).to_managed(t)?, name, params)
}

/// The value that a field has behind the proxy.
///
/// # Errors
/// What RealProxy throws.
pub(crate) fn get_field<'t>(t: CurrentThread<'t>, proxy: Obj, field: &'static Field) -> Managed<Option<Obj<'t>>> {
    let words = [
        Slot::from_ref(proxy),
        Slot(std::ptr::from_ref(field.owner).addr() as u64),
        Slot(std::ptr::from_ref(field).addr() as u64),
    ];
    call_for_object(t, own_method(t, "LoadRemoteFieldNew", 2)?, &words)
}

/// Sets a field behind the proxy.
///
/// # Errors
/// What RealProxy throws.
pub(crate) fn set_field(t: CurrentThread, proxy: Obj, field: &'static Field, value: Option<Obj>) -> Managed<()> {
    let words = [
        Slot::from_ref(proxy),
        Slot(std::ptr::from_ref(field.owner).addr() as u64),
        Slot(std::ptr::from_ref(field).addr() as u64),
        Slot::from_ref(value),
    ];
    invoke::invoke(t, own_method(t, "StoreRemoteField", 3)?, &words)?;
    Ok(())
}

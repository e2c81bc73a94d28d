//! System.Runtime.Remoting: transparent proxies' calls and field accesses through their RealProxy, and the internal calls of
//! RealProxy and RemotingServices.

use crate::cross_domain;
use crate::handles::require_method;
use crate::invocation::invoke_boxed;
use crate::native_memory::store_out;
use crate::objects::method_object;
use saki_runtime::Remoting;
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::invoke::{self, Slot};
use saki_runtime::object::{self, type_of};
use saki_runtime::proxies::{self, REAL_PROXY};
use saki_runtime::type_objects::{self, type_object};
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, ObjRef, domains, strings};
use saki_types::{Field, Method, Ty, universe};

const MESSAGING: &str = "System.Runtime.Remoting.Messaging";
const PROXIES: &str = "System.Runtime.Remoting.Proxies";

static CLASS_TO_PROXY: ManagedField = ManagedField::corlib(PROXIES, "RealProxy", "class_to_proxy");
static TARGET_CONTEXT: ManagedField = ManagedField::corlib(PROXIES, "RealProxy", "_targetContext");
static SERVER: ManagedField = ManagedField::corlib(PROXIES, "RealProxy", "_server");
static MESSAGE_ARGUMENTS: ManagedField = ManagedField::corlib(MESSAGING, "MonoMethodMessage", "args");

pub const REMOTING: Remoting = Remoting { invoke: invoke_on_proxy, get_field, set_field, server_in_this_context };

pub(crate) fn class_method(t: CurrentThread, class: Ty, name: &str, params: usize) -> Managed<&'static Method> {
    match class.find_method(name, params).to_managed(t)? {
        Some(method) => Ok(method),
        None => {
            let message = format!("{}.{name}", class.full_name());
            Err(exceptions::throw(t, "System", "MissingMethodException", &message))
        }
    }
}

/// The object behind a proxy of a context-bound class, if the thread is in its context already.
fn server_in_this_context(t: CurrentThread, proxy: ObjRef) -> Managed<Option<ObjRef>> {
    let class = proxies::remote_class(proxy).class();
    if !class.is_subclass_of(universe().context_bound()).to_managed(t)? {
        return Ok(None);
    }
    let real_proxy = REAL_PROXY.get_ref(proxy);
    let current = domains::context(t)?;
    let server = SERVER.get_ref(real_proxy);
    Ok((TARGET_CONTEXT.get_ref(real_proxy) == current && !server.is_null()).then_some(server))
}

/// A call on a transparent proxy: a message for its RealProxy, and what comes back.
fn invoke_on_proxy(t: CurrentThread, proxy: ObjRef, method: &'static Method, arguments: ObjRef) -> Managed<ObjRef> {
    if let Some(server) = server_in_this_context(t, proxy)? {
        let target = if method.is_virtual() { proxies::resolve_on(server, method).to_managed(t)? } else { method };
        return invoke_boxed(t, target, server, arguments);
    }
    if cross_domain::is_direct(t, proxy, method) {
        return cross_domain::call(t, proxy, method, arguments);
    }
    let class = universe().corlib_type(MESSAGING, "MonoMethodMessage").to_managed(t)?;
    let message = object::new_instance(t, class)?;
    let shown = method_object(t, method, method.owner)?;
    let words = [Slot::from_ref(message), Slot::from_ref(shown), Slot::from_ref(ObjRef::NULL)];
    invoke::invoke(t, class_method(t, class, "InitMessage", 2)?, &words)?;
    let sent = MESSAGE_ARGUMENTS.get_ref(message);
    for index in 0..object::array_length(arguments) {
        object::set_element_ref(t, sent, index, object::get_element_ref(arguments, index));
    }
    let class = universe().corlib_type(PROXIES, "RealProxy").to_managed(t)?;
    let private_invoke = class_method(t, class, "PrivateInvoke", 4)?;
    let (mut exception, mut results) = (ObjRef::NULL, ObjRef::NULL);
    let words = [
        Slot::from_ref(REAL_PROXY.get_ref(proxy)),
        Slot::from_ref(message),
        Slot::from_ptr(std::ptr::from_mut(&mut exception).cast::<u8>()),
        Slot::from_ptr(std::ptr::from_mut(&mut results).cast::<u8>()),
    ];
    let result = invoke::invoke(t, private_invoke, &words)?.as_ref();
    if !exception.is_null() {
        return Err(t.throw(exception));
    }
    let returned = if results.is_null() { 0 } else { object::array_length(results) };
    let by_reference = method.sig().to_managed(t)?.params.iter().enumerate().filter(|(_, param)| param.is_byref());
    for (place, (index, param)) in by_reference.enumerate() {
        let mut value = if place < returned { object::get_element_ref(results, place) } else { ObjRef::NULL };
        if let Some(pointee) = param.element().filter(|ty| value.is_null() && ty.is_value_type() && !ty.is_nullable()) {
            value = object::new_instance(t, pointee)?;
        }
        object::set_element_ref(t, arguments, index, value);
    }
    Ok(result)
}

/// A method of TransparentProxy on a proxy itself.
fn own_method(t: CurrentThread, name: &str, params: usize) -> Managed<&'static Method> {
    class_method(t, universe().corlib_type(PROXIES, "TransparentProxy").to_managed(t)?, name, params)
}

pub(crate) fn get_field(t: CurrentThread, proxy: ObjRef, field: &'static Field) -> Managed<ObjRef> {
    let words = [
        Slot::from_ref(proxy),
        Slot(std::ptr::from_ref(field.owner).addr() as u64),
        Slot(std::ptr::from_ref(field).addr() as u64),
    ];
    Ok(invoke::invoke(t, own_method(t, "LoadRemoteFieldNew", 2)?, &words)?.as_ref())
}

pub(crate) fn set_field(t: CurrentThread, proxy: ObjRef, field: &'static Field, value: ObjRef) -> Managed<()> {
    let words = [
        Slot::from_ref(proxy),
        Slot(std::ptr::from_ref(field.owner).addr() as u64),
        Slot(std::ptr::from_ref(field).addr() as u64),
        Slot::from_ref(value),
    ];
    invoke::invoke(t, own_method(t, "StoreRemoteField", 3)?, &words)?;
    Ok(())
}

/// `RealProxy.InternalGetTransparentProxy(className)`; the class is the RealProxy's own.
fn get_transparent_proxy(t: CurrentThread, real_proxy: ObjRef, _class_name: ObjRef) -> ObjRef {
    t.run(|| {
        let ty = type_objects::require(t, CLASS_TO_PROXY.get_ref(real_proxy), "classToProxy")?;
        let info = universe().corlib_type("System.Runtime.Remoting", "IRemotingTypeInfo").to_managed(t)?;
        let has_type_info = object::is_instance(t, real_proxy, info)?;
        proxies::make(t, real_proxy, ty, has_type_info)
    })
}

/// `RealProxy.InternalGetProxyType(proxy)`
fn get_proxy_type(t: CurrentThread, proxy: ObjRef) -> ObjRef {
    t.run(|| type_object(t, proxies::remote_class(proxy).class()))
}

fn is_transparent_proxy(_t: CurrentThread, object: ObjRef) -> i32 {
    i32::from(!object.is_null() && proxies::is_proxy(object))
}

/// `RemotingServices.GetVirtualMethod(type, method)`: the method that a call on an object of exactly `type` runs, or null.
fn get_virtual_method(t: CurrentThread, ty: ObjRef, method: ObjRef) -> ObjRef {
    t.run(|| {
        let ty = type_objects::require(t, ty, "type")?;
        if method.is_null() {
            return Err(exceptions::throw_argument_null(t, "method"));
        }
        let wanted = require_method(t, method)?;
        if ty.is_interface() || wanted.is_static() || !ty.is_assignable_to(wanted.owner).to_managed(t)? {
            return Ok(ObjRef::NULL);
        }
        if !wanted.is_virtual() || (wanted.is_final() && !wanted.owner.is_interface()) {
            return Ok(method);
        }
        let found = ty.resolve_virtual(wanted).to_managed(t)?;
        method_object(t, found, found.owner)
    })
}

/// The field of an object's class or of an ancestor.
fn field_named(t: CurrentThread, object: ObjRef, name: ObjRef) -> Managed<&'static Field> {
    let name = strings::to_rust(name);
    let mut class = Some(type_of(object));
    while let Some(ty) = class {
        if let Some(field) = ty.find_field(&name).to_managed(t)? {
            return Ok(field);
        }
        class = ty.parent().to_managed(t)?;
    }
    Err(exceptions::throw(t, "System", "MissingFieldException", &name))
}

/// Object.FieldGetter and FieldSetter, (type name, field name, value) in `parameters`: none has a body of use.
fn access_field(t: CurrentThread, target: ObjRef, parameters: ObjRef, is_store: bool) -> Managed<ObjRef> {
    let target = if proxies::is_proxy(target) { SERVER.get_ref(REAL_PROXY.get_ref(target)) } else { target };
    if target.is_null() {
        return Err(exceptions::throw_default(t, "NullReferenceException"));
    }
    let field = field_named(t, target, object::get_element_ref(parameters, 1))?;
    let ty = field.ty().to_managed(t)?;
    let address = target.field_ptr::<u8>(field.offset_bytes().to_managed(t)? as usize);
    let results = object::new_array(t, universe().object(), usize::from(!is_store))?;
    match (is_store, ty.is_reference_type()) {
        (false, true) => {
            // SAFETY: a reference field of the object.
            let value = unsafe { *(address as *const ObjRef) };
            object::set_element_ref(t, results, 0, value);
        }
        (false, false) => {
            let boxed = object::box_value(t, ty, address)?;
            object::set_element_ref(t, results, 0, boxed);
        }
        (true, true) => {
            object::store_ref(t, target, address as *mut ObjRef, object::get_element_ref(parameters, 2));
        }
        (true, false) => {
            let boxed = object::get_element_ref(parameters, 2);
            if boxed.is_null() || type_of(boxed) != ty {
                return Err(exceptions::throw_default(t, "InvalidCastException"));
            }
            // SAFETY: a field of the boxed value's type.
            unsafe { object::copy_struct(t, address, object::unboxed(boxed), ty) };
        }
    }
    Ok(results)
}

/// `RemotingServices.InternalExecute(method, object, parameters, out outArgs)`: a call at its destination.
fn internal_execute(
    t: CurrentThread,
    method: ObjRef,
    target: ObjRef,
    parameters: ObjRef,
    results: *mut ObjRef,
) -> ObjRef {
    t.run(|| {
        store_out(t, results, ObjRef::NULL);
        let method = require_method(t, method)?;
        if target.is_null() && !method.is_static() {
            return Err(exceptions::throw_default(t, "NullReferenceException"));
        }
        if method.owner == universe().object() && matches!(method.name, "FieldGetter" | "FieldSetter") {
            let made = access_field(t, target, parameters, method.name == "FieldSetter")?;
            store_out(t, results, made);
            return Ok(ObjRef::NULL);
        }
        let result = invoke_boxed(t, proxies::stub_for(target, method), target, parameters)?;
        let params = &method.sig().to_managed(t)?.params;
        let by_reference = || params.iter().enumerate().filter(|(_, param)| param.is_byref());
        let made = object::new_array(t, universe().object(), by_reference().count())?;
        for (place, (index, _)) in by_reference().enumerate() {
            object::set_element_ref(t, made, place, object::get_element_ref(parameters, index));
        }
        store_out(t, results, made);
        Ok(result)
    })
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Runtime.Remoting.Proxies.RealProxy::InternalGetTransparentProxy", &get_transparent_proxy),
    InternalCall::new("System.Runtime.Remoting.Proxies.RealProxy::InternalGetProxyType", &get_proxy_type),
    InternalCall::new("System.Runtime.Remoting.RemotingServices::IsTransparentProxy", &is_transparent_proxy),
    InternalCall::new("System.Runtime.Remoting.RemotingServices::GetVirtualMethod", &get_virtual_method),
    InternalCall::new("System.Runtime.Remoting.RemotingServices::InternalExecute", &internal_execute),
];

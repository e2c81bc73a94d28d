//! System.Runtime.Remoting: calls on transparent proxies, through their RealProxy or to another domain, and the
//! internal calls of RealProxy and RemotingServices.

use crate::cross_domain;
use crate::field_access::field_variable;
use crate::handles::require_method;
use crate::invocation::invoke_boxed;
use crate::library_calls::{call_for_object, class_method};
use crate::objects::{method_object, text};
use crate::real_proxy::{get_field, or_default, real_proxy_of, set_field};
use saki_runtime::ExceptionType;
use saki_runtime::Remoting;
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::proxies;
use saki_runtime::object::type_objects;
use saki_runtime::vm::domains;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, RefPlace, Str};
use saki_types::{Field, LibraryType, Method, universe};

static CLASS_TO_PROXY: ManagedField = ManagedField::new(LibraryType::RealProxy, "class_to_proxy");
static TARGET_CONTEXT: ManagedField = ManagedField::new(LibraryType::RealProxy, "_targetContext");
static SERVER: ManagedField = ManagedField::new(LibraryType::RealProxy, "_server");
static MESSAGE_ARGUMENTS: ManagedField = ManagedField::new(LibraryType::MonoMethodMessage, "args");

pub const REMOTING: Remoting = Remoting { invoke: invoke_on_proxy, get_field, set_field, server_in_this_context };

/// The object behind a proxy of a context-bound class, if the thread is in that object's context already.
fn server_in_this_context<'t>(t: CurrentThread<'t>, proxy: Obj<'t>) -> Managed<Option<Obj<'t>>> {
    let class = proxies::remote_class(proxy).class();
    let Some(context_bound) = universe().context_bound() else { return Ok(None) };
    if !class.is_subclass_of(context_bound).to_managed(t)? {
        return Ok(None);
    }
    let real_proxy = real_proxy_of(t, proxy)?;
    let current = domains::context(t)?;
    Ok(SERVER.obj(real_proxy).filter(|_| TARGET_CONTEXT.obj(real_proxy) == Some(current)))
}

/// Calls a method on a transparent proxy: directly when the object is in the thread's context or (`cross_domain`) in
/// another domain of this process, otherwise by a message to its RealProxy.
fn invoke_on_proxy<'t>(
    t: CurrentThread<'t>,
    proxy: Obj<'t>,
    method: &'static Method,
    arguments: Array<'t>,
) -> Managed<Option<Obj<'t>>> {
    if let Some(server) = server_in_this_context(t, proxy)? {
        let is_virtual = method.is_virtual();
        let target = if is_virtual { proxies::resolve_on(server, method).to_managed(t)? } else { method };
        return invoke_boxed(t, target, Some(server), Some(arguments));
    }
    if cross_domain::is_direct(t, proxy, method)? {
        return cross_domain::call(t, proxy, method, arguments);
    }
    let class = universe().library_type(LibraryType::MonoMethodMessage).to_managed(t)?;
    let message = Obj::new(t, class)?;
    let shown = method_object(t, method, method.owner)?;
    let words = [Slot::from_ref(message), Slot::from_ref(shown), Slot::from_ref(None::<Obj>)];
    invoke::invoke(t, class_method(t, class, "InitMessage", 2)?, &words)?;
    if let Some(sent) = MESSAGE_ARGUMENTS.array(message) {
        for (index, argument) in arguments.iter().enumerate() {
            sent.set(t, index, argument);
        }
    }
    let class = universe().library_type(LibraryType::RealProxy).to_managed(t)?;
    let private_invoke = class_method(t, class, "PrivateInvoke", 4)?;
    let (mut exception, mut results): (Option<Obj>, Option<Array>) = (None, None);
    let words = [
        Slot::from_ref(real_proxy_of(t, proxy)?),
        Slot::from_ref(message),
        Slot::from_ptr(std::ptr::from_mut(&mut exception)),
        Slot::from_ptr(std::ptr::from_mut(&mut results)),
    ];
    let result = call_for_object(t, private_invoke, &words)?;
    if let Some(exception) = exception {
        return Err(t.throw(exception));
    }
    let by_reference = method.sig().to_managed(t)?.params.iter().enumerate().filter(|(_, param)| param.is_byref());
    for (place, (index, param)) in by_reference.enumerate() {
        let value = results.filter(|results| place < results.length()).and_then(|results| results.get(place));
        arguments.set(t, index, or_default(t, value, param)?);
    }
    Ok(result)
}

/// `RealProxy.InternalGetTransparentProxy(className)`; the class is the RealProxy's own.
fn get_transparent_proxy<'t>(
    t: CurrentThread<'t>,
    real_proxy: Option<Obj>,
    _class_name: Option<Str>,
) -> Managed<Obj<'t>> {
    let Some(real_proxy) = real_proxy else { return Err(exceptions::throw_null_reference(t)) };
    let ty = type_objects::require(t, CLASS_TO_PROXY.obj(real_proxy), "classToProxy")?;
    let info = universe().library_type(LibraryType::IRemotingTypeInfo).to_managed(t)?;
    let has_type_info = real_proxy.is_instance(t, info)?;
    proxies::make(t, Some(real_proxy), ty, has_type_info)
}

/// `RealProxy.InternalGetProxyType(proxy)`
fn get_proxy_type<'t>(t: CurrentThread<'t>, proxy: Option<Obj>) -> Managed<Obj<'t>> {
    match proxy {
        Some(proxy) => Obj::of_type(t, proxies::remote_class(proxy).class()),
        None => Err(exceptions::throw_null_reference(t)),
    }
}

fn is_transparent_proxy(_t: CurrentThread, object: Option<Obj>) -> bool {
    object.is_some_and(|object| object.is_proxy())
}

/// `RemotingServices.GetVirtualMethod(type, method)`: the method that a call on an object of exactly `type` runs, or
/// null.
fn get_virtual_method<'t>(t: CurrentThread<'t>, ty: Option<Obj>, method: Option<Obj<'t>>) -> Managed<Option<Obj<'t>>> {
    let ty = type_objects::require(t, ty, "type")?;
    let wanted = require_method(t, method)?;
    if ty.is_interface() || wanted.is_static() || !ty.is_assignable_to(wanted.owner).to_managed(t)? {
        return Ok(None);
    }
    if !wanted.is_virtual() || (wanted.is_final() && !wanted.owner.is_interface()) {
        return Ok(method);
    }
    let found = ty.resolve_virtual(wanted).to_managed(t)?;
    method_object(t, found, found.owner).map(Some)
}

/// The field of an object's class or of an ancestor.
fn field_named(t: CurrentThread, object: Obj, name: &str) -> Managed<&'static Field> {
    let mut class = Some(object.ty());
    while let Some(ty) = class {
        if let Some(field) = ty.find_field(name).to_managed(t)? {
            return Ok(field);
        }
        class = ty.parent().to_managed(t)?;
    }
    Err(exceptions::throw(t, ExceptionType::MissingField, name))
}

/// Runs instead of Object.FieldGetter and FieldSetter, whose bodies do not do their work. `parameters`: type name,
/// field name, value.
fn access_field<'t>(
    t: CurrentThread<'t>,
    target: Option<Obj<'t>>,
    parameters: Option<Array<'t>>,
    is_store: bool,
) -> Managed<Array<'t>> {
    let is_proxy = |target: &Obj| target.is_proxy();
    let target = match target.filter(is_proxy) {
        Some(proxy) => SERVER.obj(real_proxy_of(t, proxy)?),
        None => target,
    };
    let (Some(target), Some(parameters)) = (target, parameters) else {
        return Err(exceptions::throw_default(t, ExceptionType::NullReference));
    };
    let name = text(parameters.get(1).and_then(Obj::as_str));
    let variable = field_variable(t, field_named(t, target, &name)?, target)?;
    let results = Array::new(t, universe().object(), usize::from(!is_store))?;
    if !is_store {
        results.set(t, 0, variable.load(t)?);
        return Ok(results);
    }
    let value = parameters.get(2);
    let ty = variable.ty();
    if !ty.is_reference_type() && value.is_none_or(|value| value.ty() != ty) {
        return Err(exceptions::throw_default(t, ExceptionType::InvalidCast));
    }
    variable.store(t, value)?;
    Ok(results)
}

/// `RemotingServices.InternalExecute(method, object, parameters, out outArgs)`: a call at its destination.
fn internal_execute<'t>(
    t: CurrentThread<'t>,
    method: Option<Obj>,
    target: Option<Obj<'t>>,
    parameters: Option<Array<'t>>,
    results: RefPlace,
) -> Managed<Option<Obj<'t>>> {
    results.set(t, None::<Obj>);
    let method = require_method(t, method)?;
    if target.is_none() && !method.is_static() {
        return Err(exceptions::throw_default(t, ExceptionType::NullReference));
    }
    if method.owner == universe().object() && matches!(method.name, "FieldGetter" | "FieldSetter") {
        let made = access_field(t, target, parameters, method.name == "FieldSetter")?;
        results.set(t, made);
        return Ok(None);
    }
    let called = target.map_or(method, |target| proxies::stub_for(target, method));
    let result = invoke_boxed(t, called, target, parameters)?;
    let params = &method.sig().to_managed(t)?.params;
    let by_reference = || params.iter().enumerate().filter(|(_, param)| param.is_byref());
    let made = Array::new(t, universe().object(), by_reference().count())?;
    for (place, (index, _)) in by_reference().enumerate() {
        made.set(t, place, parameters.and_then(|parameters| parameters.get(index)));
    }
    results.set(t, made);
    Ok(result)
}

/// The internal calls of `System.Runtime.Remoting.Proxies.RealProxy` and `System.Runtime.Remoting.RemotingServices`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Runtime.Remoting.Proxies.RealProxy::InternalGetTransparentProxy", &get_transparent_proxy),
    InternalCall::new("System.Runtime.Remoting.Proxies.RealProxy::InternalGetProxyType", &get_proxy_type),
    InternalCall::new("System.Runtime.Remoting.RemotingServices::IsTransparentProxy", &is_transparent_proxy),
    InternalCall::new("System.Runtime.Remoting.RemotingServices::GetVirtualMethod", &get_virtual_method),
    InternalCall::new("System.Runtime.Remoting.RemotingServices::InternalExecute", &internal_execute),
];

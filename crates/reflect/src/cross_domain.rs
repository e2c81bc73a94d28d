//! Calls on proxies of objects in another domain of this process, without messages: the thread goes there, calls, comes back.
//!
//! Strings, boxed primitives and arrays of those are copied as they are; all else goes through the class library's
//! serialisation (`RemotingServices.SerializeCallData`), several values in one object[], with the logical call context.
//! By-reference arguments come back, and into the caller's own array what a parameter declared [Out] did to an array of plain
//! values. Not for constructors, context-bound classes and threads in a context of their own, whose sinks want messages.

use crate::invocation::invoke_boxed;
use crate::parameters::{param_flags, param_row};
use crate::remoting::class_method;
use saki_runtime::exceptions::ToManaged;
use saki_runtime::invoke::{self, Slot};
use saki_runtime::object::{self, type_of};
use saki_runtime::proxies::{self, REAL_PROXY};
use saki_runtime::{CurrentThread, Managed, ManagedField, ObjRef, domain_copy, domains, pending, thread_data, threads};
use saki_types::{ElementType, Method, Ty, universe};

const PROXIES: &str = "System.Runtime.Remoting.Proxies";
static TARGET_DOMAIN: ManagedField = ManagedField::corlib(PROXIES, "RealProxy", "_targetDomainId");
static TARGET_URI: ManagedField = ManagedField::corlib(PROXIES, "RealProxy", "_targetUri");
/// `_targetDomainId` of proxies for other things.
const NO_DOMAIN: i32 = -1;

/// Whether a call of the method on the proxy can go this way.
pub fn is_direct(t: CurrentThread, proxy: ObjRef, method: &'static Method) -> bool {
    let real_proxy = REAL_PROXY.get_ref(proxy);
    TARGET_DOMAIN.get::<i32>(real_proxy) != NO_DOMAIN
        && !TARGET_URI.get_ref(real_proxy).is_null()
        && !method.is_constructor()
        && !method.owner.is_context_bound()
        && !proxies::remote_class(proxy).class().is_context_bound()
        && domains::is_in_default_context(t)
        && method.sig().is_ok_and(|sig| sig.params.len() < usize::from(u8::MAX))
}

fn is_plain_type(ty: Ty) -> bool {
    use ElementType as E;
    matches!(
        ty.element_type,
        E::Boolean
            | E::Char
            | E::I1
            | E::U1
            | E::I2
            | E::U2
            | E::I4
            | E::U4
            | E::I8
            | E::U8
            | E::R4
            | E::R8
            | E::String
    )
}

/// Whether `value` is copied as it is.
fn is_plain(value: ObjRef) -> bool {
    if value.is_null() {
        return true;
    }
    let ty = type_of(value);
    is_plain_type(ty) || (ty.is_sz_array() && ty.element().is_some_and(is_plain_type))
}

/// Whether the type is an array, of any rank and depth, of what is copied as it is.
fn is_array_of_plain(ty: Ty) -> bool {
    ty.is_array() && ty.element().is_some_and(|element| is_plain_type(element) || is_array_of_plain(element))
}

/// How an argument comes back.
#[derive(Clone, Copy)]
enum Back {
    /// As the new value of the caller's variable.
    Value,
    /// Element by element into the caller's array.
    Contents,
}

/// The parameters, by position, whose arguments come back.
fn parameters_back(t: CurrentThread, method: &'static Method) -> Managed<Vec<(usize, Back)>> {
    let mut found = Vec::new();
    for (index, param) in method.sig().to_managed(t)?.params.iter().enumerate() {
        if param.is_byref() {
            found.push((index, Back::Value));
        } else if is_array_of_plain(param) {
            let row = param_row(method, index as u16 + 1).to_managed(t)?;
            if row.is_some_and(|(_, row)| row.flags & param_flags::OUT != 0) {
                found.push((index, Back::Contents));
            }
        }
    }
    Ok(found)
}

/// The values of an object[] that have to be serialised, as an object[]; null when there are none. They leave `values`.
fn take_complex(t: CurrentThread, values: ObjRef) -> Managed<ObjRef> {
    let indices: Vec<usize> =
        (0..object::array_length(values)).filter(|&index| !is_plain(object::get_element_ref(values, index))).collect();
    if indices.is_empty() {
        return Ok(ObjRef::NULL);
    }
    let taken = object::new_array(t, universe().object(), 1 + indices.len())?;
    let mut mask = Vec::with_capacity(indices.len());
    for (place, &index) in indices.iter().enumerate() {
        object::set_element_ref(t, taken, place, object::get_element_ref(values, index));
        object::set_element_ref(t, values, index, ObjRef::NULL);
        mask.push(index as u8);
    }
    let places = object::new_byte_array(t, &mask)?;
    object::set_element_ref(t, taken, indices.len(), places);
    Ok(taken)
}

/// Puts deserialised values back where `take_complex` took them from.
fn put_complex(t: CurrentThread, values: ObjRef, taken: ObjRef) {
    if taken.is_null() {
        return;
    }
    let count = object::array_length(taken) - 1;
    let places = object::get_element_ref(taken, count);
    for index in 0..count {
        // SAFETY: a byte for each value.
        let place = unsafe { *object::element_address(places, index, 1) };
        object::set_element_ref(t, values, usize::from(place), object::get_element_ref(taken, index));
    }
}

fn services(t: CurrentThread, name: &str, params: usize) -> Managed<&'static Method> {
    class_method(t, universe().corlib_type("System.Runtime.Remoting", "RemotingServices").to_managed(t)?, name, params)
}

fn call_services(t: CurrentThread, name: &str, argument: ObjRef) -> Managed<ObjRef> {
    Ok(invoke::invoke(t, services(t, name, 1)?, &[Slot::from_ref(argument)])?.as_ref())
}

/// What goes over the border: copied values, and bytes for the rest.
struct Parcel {
    values: ObjRef,
    bytes: ObjRef,
}

fn pack(t: CurrentThread, values: ObjRef) -> Managed<Parcel> {
    let taken = take_complex(t, values)?;
    Ok(Parcel { values, bytes: call_services(t, "SerializeCallData", taken)? })
}

/// The values of a parcel from another domain, in the current one.
fn unpack(t: CurrentThread, parcel: Parcel) -> Managed<ObjRef> {
    let values = domain_copy::copy(t, parcel.values, universe())?;
    let bytes = domain_copy::copy(t, parcel.bytes, universe())?;
    let taken = call_services(t, "DeserializeCallData", bytes)?;
    put_complex(t, values, taken);
    Ok(values)
}

/// How a call ended over there.
enum End {
    /// The result first, then the arguments of `parameters_back`.
    Returned(Parcel),
    /// A serialised exception.
    Threw(ObjRef),
}

fn call_there(t: CurrentThread, uri: ObjRef, method: &'static Method, arguments: Parcel) -> Managed<Parcel> {
    let arguments = unpack(t, arguments)?;
    let method = domain_copy::method_in(method, universe()).to_managed(t)?;
    let uri = domain_copy::copy(t, uri, universe())?;
    let server = call_services(t, "GetServerObject", uri)?;
    let target = if method.is_virtual() || method.owner.is_interface() {
        proxies::resolve_on(server, method).to_managed(t)?
    } else {
        method
    };
    let result = invoke_boxed(t, proxies::stub_for(server, target), server, arguments)?;
    let back = parameters_back(t, method)?;
    let values = object::new_array(t, universe().object(), 1 + back.len())?;
    object::set_element_ref(t, values, 0, result);
    for (place, &(index, _)) in back.iter().enumerate() {
        object::set_element_ref(t, values, place + 1, object::get_element_ref(arguments, index));
    }
    pack(t, values)
}

/// The pending exception of the domain, serialised; one that cannot be is replaced by the one that says so.
fn serialise_pending(t: CurrentThread) -> Managed<ObjRef> {
    let exception = t.take_pending();
    match call_services(t, "SerializeExceptionData", exception) {
        Ok(bytes) => Ok(bytes),
        Err(_) => {
            let reason = t.take_pending();
            call_services(t, "SerializeExceptionData", reason)
        }
    }
}

/// An object of another domain (not null) as one of the current: a copy, or a proxy for what is marshalled by reference.
///
/// # Errors
/// What serialising throws there or deserialising here; AppDomainUnloadedException.
pub fn represent(t: CurrentThread, object: ObjRef) -> Managed<ObjRef> {
    if is_plain(object) {
        return domain_copy::copy(t, object, universe());
    }
    let (home, domain) = (domains::current(), domains::of_universe(type_of(object).universe()));
    domain.add_thread(t)?;
    let (bytes, has_thrown) = domains::run_in(t, domain, || match call_services(t, "SerializeCallData", object) {
        Ok(bytes) => (Ok(bytes), false),
        Err(_) => (serialise_pending(t), true),
    });
    domain.remove_thread(t);
    let Ok(bytes) = bytes else { return Err(domain_copy::copy_pending(t, home.universe)) };
    let bytes = domain_copy::copy(t, bytes, home.universe)?;
    let result = call_services(t, "DeserializeCallData", bytes)?;
    if has_thrown { Err(t.throw(result)) } else { Ok(result) }
}

/// Calls the method on the object behind the proxy; by-reference results are left in `arguments`.
///
/// # Errors
/// What the method threw, as an exception of this domain; AppDomainUnloadedException.
pub fn call(t: CurrentThread, proxy: ObjRef, method: &'static Method, arguments: ObjRef) -> Managed<ObjRef> {
    let real_proxy = REAL_PROXY.get_ref(proxy);
    let Some(domain) = domains::by_id(TARGET_DOMAIN.get::<i32>(real_proxy)) else {
        return Err(domains::throw_unloaded(t));
    };
    let home = domains::current();
    let uri = TARGET_URI.get_ref(real_proxy);
    let sent = object::new_array(t, universe().object(), object::array_length(arguments))?;
    for index in 0..object::array_length(arguments) {
        object::set_element_ref(t, sent, index, object::get_element_ref(arguments, index));
    }
    let parcel = pack(t, sent)?;
    domain.add_thread(t)?;
    thread_data::of(t).domains_entered().borrow_mut().push(domain);
    domains::switch(t, domain);
    let outcome = match call_there(t, uri, method, parcel) {
        Ok(results) => Ok(End::Returned(results)),
        // An abort goes on at home, or ends there when it is the unloading's.
        Err(thrown) if !pending::abort_exception(t).is_null() => Err(thrown),
        Err(_) => serialise_pending(t).map(End::Threw),
    };
    let outcome = match outcome {
        Err(_) if threads::end_abort_by_unload(t, domain) => Err(None),
        Err(_) => Err(Some(domain_copy::copy_pending(t, home.universe))),
        Ok(end) => Ok(end),
    };
    domains::switch(t, home);
    thread_data::of(t).domains_entered().borrow_mut().pop();
    domain.remove_thread(t);
    match outcome {
        Ok(End::Returned(results)) => {
            let values = unpack(t, results)?;
            let params = &method.sig().to_managed(t)?.params;
            for (place, (index, how)) in parameters_back(t, method)?.into_iter().enumerate() {
                let mut value = object::get_element_ref(values, place + 1);
                if let Back::Contents = how {
                    domain_copy::replace_elements(t, value, object::get_element_ref(arguments, index)).to_managed(t)?;
                    continue;
                }
                let is_value = |ty: &Ty| value.is_null() && ty.is_value_type() && !ty.is_nullable();
                if let Some(pointee) = params[index].element().filter(is_value) {
                    value = object::new_instance(t, pointee)?;
                }
                object::set_element_ref(t, arguments, index, value);
            }
            Ok(object::get_element_ref(values, 0))
        }
        Ok(End::Threw(bytes)) => {
            let bytes = domain_copy::copy(t, bytes, home.universe)?;
            let exception = call_services(t, "DeserializeCallData", bytes)?;
            let fix = class_method(t, universe().exception(), "FixRemotingException", 0)?;
            let fixed = invoke::invoke(t, fix, &[Slot::from_ref(exception)])?.as_ref();
            Err(t.throw(fixed))
        }
        Err(Some(thrown)) => Err(thrown),
        Err(None) => Err(domains::throw_unloaded(t)),
    }
}

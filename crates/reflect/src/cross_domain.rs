//! Calls on proxies of objects in another domain of this process, without messages: the thread enters that domain,
//! calls, and returns.
//!
//! Strings, boxed primitives and arrays of those are copied as they are; all else goes through the class library's
//! serialisation (`RemotingServices.SerializeCallData`), several values in one object[], with the logical call context.
//! By-reference arguments are sent back, and if a parameter is declared [Out], the elements of an array of plain values
//! are copied into the caller's own array. Left out: constructors, context-bound classes and threads in a context of
//! their own, whose sinks expect messages.

use crate::invocation::invoke_boxed;
use crate::library_calls::{call_for_object, class_method};
use crate::parameters::{param_flags, param_row};
use crate::real_proxy::{or_default, real_proxy_of};
use saki_runtime::exec::invoke::Slot;
use saki_runtime::exec::{thread_aborts, thread_data};
use saki_runtime::object::exceptions;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::object::proxies;
use saki_runtime::vm::{domain_copy, domains, threads};
use saki_runtime::{Array, CurrentThread, Managed, ManagedField, Obj, Word};
use saki_types::{ElementType, LibraryType, Method, Ty, Universe, universe};

static TARGET_DOMAIN: ManagedField = ManagedField::new(LibraryType::RealProxy, "_targetDomainId");
static TARGET_URI: ManagedField = ManagedField::new(LibraryType::RealProxy, "_targetUri");
/// `_targetDomainId` of proxies whose object is not in another domain of this process.
const NO_DOMAIN: i32 = -1;

/// Whether the method can be called on the proxy without messages.
///
/// # Errors
/// NullReferenceException for a proxy without RealProxy.
pub fn is_direct(t: CurrentThread, proxy: Obj, method: &'static Method) -> Managed<bool> {
    let real_proxy = real_proxy_of(t, proxy)?;
    Ok(TARGET_DOMAIN.get::<i32>(real_proxy) != NO_DOMAIN
        && TARGET_URI.obj(real_proxy).is_some()
        && !method.is_constructor()
        && !method.owner.is_context_bound()
        && !proxies::remote_class(proxy).class().is_context_bound()
        && domains::is_in_default_context(t)
        && method.sig().is_ok_and(|sig| sig.params.len() < usize::from(u8::MAX)))
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
fn is_plain(value: Option<Obj>) -> bool {
    let Some(value) = value else { return true };
    let ty = value.ty();
    is_plain_type(ty) || (ty.is_sz_array() && ty.element().is_some_and(is_plain_type))
}

/// Whether the type is an array, of any rank and depth, of elements that are copied as they are.
fn is_array_of_plain(ty: Ty) -> bool {
    ty.is_array() && ty.element().is_some_and(|element| is_plain_type(element) || is_array_of_plain(element))
}

/// How an argument is sent back.
#[derive(Clone, Copy)]
enum SentBack {
    /// As the new value of the caller's variable.
    Value,
    /// Element by element into the caller's array.
    Contents,
}

/// The parameters, by position, whose arguments are sent back.
fn parameters_back(t: CurrentThread, method: &'static Method) -> Managed<Vec<(usize, SentBack)>> {
    let mut found = Vec::new();
    for (index, param) in method.sig().to_managed(t)?.params.iter().enumerate() {
        if param.is_byref() {
            found.push((index, SentBack::Value));
        } else if is_array_of_plain(param) {
            let row = param_row(method, index as u16 + 1).to_managed(t)?;
            if row.is_some_and(|(_, row)| row.flags & param_flags::OUT != 0) {
                found.push((index, SentBack::Contents));
            }
        }
    }
    Ok(found)
}

/// Moves the values that have to be serialised out of `values` into an object[], whose last element is a byte[] of
/// their indices; None when there are none.
fn take_complex<'t>(t: CurrentThread<'t>, values: Array) -> Managed<Option<Array<'t>>> {
    let indices: Vec<usize> = (0..values.length()).filter(|&index| !is_plain(values.get(index))).collect();
    if indices.is_empty() {
        return Ok(None);
    }
    let taken = Array::new(t, universe().object(), 1 + indices.len())?;
    let mut mask = Vec::with_capacity(indices.len());
    for (place, &index) in indices.iter().enumerate() {
        taken.set(t, place, values.get(index));
        values.set(t, index, None);
        mask.push(index as u8);
    }
    let places = Array::of_bytes(t, &mask)?;
    taken.set(t, indices.len(), Some(*places));
    Ok(Some(taken))
}

/// Puts deserialised values back where `take_complex` took them from.
fn put_complex(t: CurrentThread, values: Array, taken: Array) {
    let count = taken.length() - 1;
    let Some(places) = taken.get(count).and_then(Obj::as_array) else { saki_base::bug!("values without their places") };
    for index in 0..count {
        values.set(t, usize::from(places.value::<u8>(index)), taken.get(index));
    }
}

fn services(t: CurrentThread, name: &str, params: usize) -> Managed<&'static Method> {
    class_method(t, universe().library_type(LibraryType::RemotingServices).to_managed(t)?, name, params)
}

fn call_services<'t>(t: CurrentThread<'t>, name: &str, argument: impl Word) -> Managed<Option<Obj<'t>>> {
    call_for_object(t, services(t, name, 1)?, &[Slot::from_ref(argument)])
}

/// The values that cross between domains: plain ones, which are copied, and the serialised bytes of the others.
struct Parcel<'t> {
    values: Array<'t>,
    bytes: Option<Obj<'t>>,
}

/// `array` (may be null) as an array of `to`: itself if it belongs to `to`, else a copy.
pub(crate) fn copied_array<'t>(
    t: CurrentThread<'t>,
    array: Option<Array<'t>>,
    to: &'static Universe,
) -> Managed<Option<Array<'t>>> {
    Ok(domain_copy::copy(t, array.map(Obj::from), to)?.and_then(Obj::as_array))
}

fn pack<'t>(t: CurrentThread<'t>, values: Array<'t>) -> Managed<Parcel<'t>> {
    let taken = take_complex(t, values)?;
    Ok(Parcel { values, bytes: call_services(t, "SerializeCallData", taken)? })
}

/// The values of a parcel from another domain, in the current one.
fn unpack<'t>(t: CurrentThread<'t>, parcel: Parcel<'t>) -> Managed<Array<'t>> {
    let values = copied_array(t, Some(parcel.values), universe())?;
    let values = values.unwrap_or_else(|| saki_base::bug!("the copy of an array is none"));
    let bytes = domain_copy::copy(t, parcel.bytes, universe())?;
    if let Some(taken) = call_services(t, "DeserializeCallData", bytes)?.and_then(Obj::as_array) {
        put_complex(t, values, taken);
    }
    Ok(values)
}

/// How a call ended in the other domain.
enum Outcome<'t> {
    /// The result first, then the arguments of `parameters_back`.
    Returned(Parcel<'t>),
    /// A serialised exception.
    Threw(Option<Obj<'t>>),
}

fn call_there<'t>(
    t: CurrentThread<'t>,
    uri: Option<Obj>,
    method: &'static Method,
    arguments: Parcel<'t>,
) -> Managed<Parcel<'t>> {
    let arguments = unpack(t, arguments)?;
    let method = domain_copy::method_in(method, universe()).to_managed(t)?;
    let uri = domain_copy::copy(t, uri, universe())?;
    let Some(server) = call_services(t, "GetServerObject", uri)? else {
        return Err(exceptions::throw_null_reference(t));
    };
    let target = if method.is_virtual() || method.owner.is_interface() {
        proxies::resolve_on(server, method).to_managed(t)?
    } else {
        method
    };
    let result = invoke_boxed(t, proxies::stub_for(server, target), Some(server), Some(arguments))?;
    let back = parameters_back(t, method)?;
    let values = Array::new(t, universe().object(), 1 + back.len())?;
    values.set(t, 0, result);
    for (place, &(index, _)) in back.iter().enumerate() {
        values.set(t, place + 1, arguments.get(index));
    }
    pack(t, values)
}

/// The pending exception of the current domain, serialised. If that fails, the exception that says why is serialised
/// instead.
fn serialise_pending<'t>(t: CurrentThread<'t>) -> Managed<Option<Obj<'t>>> {
    let exception = t.take_exception();
    match call_services(t, "SerializeExceptionData", exception) {
        Ok(bytes) => Ok(bytes),
        Err(_) => {
            let reason = t.take_exception();
            call_services(t, "SerializeExceptionData", reason)
        }
    }
}

/// An object of another domain as one of the current domain: a copy, or a proxy if it is marshalled by reference.
///
/// # Errors
/// What serialising throws there or deserialising here; AppDomainUnloadedException.
pub fn represent<'t>(t: CurrentThread<'t>, object: Obj<'t>) -> Managed<Option<Obj<'t>>> {
    if is_plain(Some(object)) {
        return domain_copy::copy(t, Some(object), universe());
    }
    let (home, domain) = (domains::current(), domains::of_universe(object.ty().universe()));
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
pub fn call<'t>(
    t: CurrentThread<'t>,
    proxy: Obj<'t>,
    method: &'static Method,
    arguments: Array<'t>,
) -> Managed<Option<Obj<'t>>> {
    let real_proxy = real_proxy_of(t, proxy)?;
    let Some(domain) = domains::by_id(TARGET_DOMAIN.get::<i32>(real_proxy)) else {
        return Err(domains::throw_unloaded(t));
    };
    let home = domains::current();
    let uri = TARGET_URI.obj(real_proxy);
    let sent = Array::new(t, universe().object(), arguments.length())?;
    for (index, argument) in arguments.iter().enumerate() {
        sent.set(t, index, argument);
    }
    let parcel = pack(t, sent)?;
    domain.add_thread(t)?;
    thread_data::of(t).domains_entered().borrow_mut().push(domain);
    domains::switch(t, domain);
    let outcome = match call_there(t, uri, method, parcel) {
        Ok(results) => Ok(Outcome::Returned(results)),
        // A thread abort continues in the caller's domain, or ends below when the unloading of this domain caused it.
        Err(thrown) if thread_aborts::abort_in_flight(t).is_some() => Err(thrown),
        Err(_) => serialise_pending(t).map(Outcome::Threw),
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
        Ok(Outcome::Returned(results)) => {
            let values = unpack(t, results)?;
            let params = &method.sig().to_managed(t)?.params;
            for (place, (index, how)) in parameters_back(t, method)?.into_iter().enumerate() {
                let value = values.get(place + 1);
                if let SentBack::Contents = how {
                    let own = arguments.get(index);
                    domain_copy::replace_elements(t, value, own).to_managed(t)?;
                    continue;
                }
                arguments.set(t, index, or_default(t, value, params[index])?);
            }
            Ok(values.get(0))
        }
        Ok(Outcome::Threw(bytes)) => {
            let bytes = domain_copy::copy(t, bytes, home.universe)?;
            let exception = call_services(t, "DeserializeCallData", bytes)?;
            let fix = class_method(t, universe().exception(), "FixRemotingException", 0)?;
            let fixed = call_for_object(t, fix, &[Slot::from_ref(exception)])?;
            Err(t.throw(fixed))
        }
        Err(Some(thrown)) => Err(thrown),
        Err(None) => Err(domains::throw_unloaded(t)),
    }
}

//! Objects that decide themselves to which interfaces they can be cast (`IDynamicInterfaceCastable`), and by which
//! default interface methods they implement those.
//!
//! A cast asks the object each time, so its outcome is not remembered. The implementation is asked for once for each
//! exact type and interface method, as in .NET: the caches of interface calls keep it. On .NET's class libraries their
//! own helpers ask, and check what the object answers. Invariant: a slot of the IMT of
//! such a type leads to the resolver (`vtables::fill_imt`), since any interface may be called.

use crate::exception_types::ExceptionType;
use crate::exceptions::{self, Thrown, ToManaged};
use crate::invoke::{Slot, invoke};
use crate::references::Obj;
use crate::thread::{CurrentThread, Managed};
use crate::type_objects;
use saki_metadata::{TableId, Token};
use saki_types::class::has_attribute;
use saki_types::{LoadError, LoadErrorKind, LoadResult, Method, Ty, Type, universe};

const IMPLEMENTATION_ATTRIBUTE: &str = "DynamicInterfaceCastableImplementationAttribute";

/// Whether the object, whose type does not implement the interface, says that it does; None: its type does not let it
/// decide. `throws`: if not, it is to throw an exception of its choice.
///
/// # Errors
/// What the object throws; with `throws` InvalidCastException, if it says no without an exception.
pub(crate) fn is_implemented(t: CurrentThread, object: Obj, interface: Ty, throws: bool) -> Managed<Option<bool>> {
    let Some(castable) = object.ty().dynamic_castable().to_managed(t)? else { return Ok(None) };
    if let Some(ask) = helper("IsInterfaceImplemented", 3).to_managed(t)? {
        let ty = type_objects::type_object(t, interface)?;
        let answer = invoke(t, ask, &[Slot::from_ref(object), Slot::from_ref(ty), Slot::from_bool(throws)])?;
        return Ok(Some(answer.0 as u8 != 0));
    }
    let ask = method_of(castable, "IsInterfaceImplemented", 2).to_managed(t)?;
    let ask = object.ty().resolve_virtual(ask).to_managed(t)?;
    let handle = handle_of(interface);
    let arguments = [Slot::from_ref(object), Slot::from_ptr(&raw const handle), Slot(u64::from(throws))];
    let answer = invoke(t, ask, &arguments)?;
    let is_implemented = answer.0 as u8 != 0;
    if throws && !is_implemented {
        return Err(throw_invalid_cast(t, object, interface));
    }
    Ok(Some(is_implemented))
}

/// The method that a call of an interface method runs on an object whose type does not implement the interface; None:
/// its type does not let it decide.
///
/// # Errors
/// What the object throws; InvalidCastException if it names no type, InvalidOperationException for a type that is no
/// implementation; EntryPointNotFoundException if that leaves the method without body.
pub(crate) fn implementation(
    t: CurrentThread,
    object: Obj,
    wanted: &'static Method,
) -> Managed<Option<&'static Method>> {
    let Some(castable) = object.ty().dynamic_castable().to_managed(t)? else { return Ok(None) };
    let interface = wanted.owner;
    if let Some(ask) = helper("GetInterfaceImplementation", 2).to_managed(t)? {
        let ty = type_objects::type_object(t, interface)?;
        let answer = invoke(t, ask, &[Slot::from_ref(object), Slot::from_ref(ty)])?;
        // SAFETY: the method gives a RuntimeType.
        let found = unsafe { answer.as_obj() }.and_then(type_objects::type_of_object);
        return match found {
            Some(found) => body_in(t, found, wanted).map(Some),
            None => Err(throw_invalid_cast(t, object, interface)),
        };
    }
    let ask = method_of(castable, "GetInterfaceImplementation", 1).to_managed(t)?;
    let ask = object.ty().resolve_virtual(ask).to_managed(t)?;
    let (handle, mut answer) = (handle_of(interface), 0_usize);
    let arguments = [Slot::from_ref(object), Slot::from_ptr(&raw mut answer), Slot::from_ptr(&raw const handle)];
    invoke(t, ask, &arguments)?;
    // SAFETY: a RuntimeTypeHandle holds null or the address of a type's record, which the program got from the machine.
    let Some(found) = (unsafe { (answer as *const Type).as_ref::<'static>() }) else {
        return Err(throw_invalid_cast(t, object, interface));
    };
    check_implementation(t, found, interface)?;
    body_in(t, found, wanted).map(Some)
}

/// A method of the class of .NET's class libraries that asks objects; None on Mono's, which have no such class.
fn helper(name: &str, parameters: usize) -> LoadResult<Option<&'static Method>> {
    const NAMESPACE: &str = "System.Runtime.InteropServices";
    let class = universe().corlib().find_type(NAMESPACE, "DynamicInterfaceCastableHelpers")?;
    class.map_or(Ok(None), |class| class.find_method(name, parameters))
}

/// The body that an interface has for a method of one that it extends.
///
/// # Errors
/// EntryPointNotFoundException if it leaves the method without body.
fn body_in(t: CurrentThread, found: Ty, wanted: &'static Method) -> Managed<&'static Method> {
    let open = wanted.definition().unwrap_or(wanted);
    let Some(body) = found.default_implementation_of(open).to_managed(t)? else {
        return Err(exceptions::throw(t, ExceptionType::EntryPointNotFound, "Entry point was not found."));
    };
    if wanted.generic_args().is_empty() {
        return Ok(body);
    }
    body.owner.universe().instantiate_method(body, wanted.generic_args()).to_managed(t)
}

fn check_implementation(t: CurrentThread, found: Ty, interface: Ty) -> Managed<()> {
    let refuse = |what: String| {
        let message = format!("Type '{}' returned by IDynamicInterfaceCastable {what}.", found.full_name());
        Err(exceptions::throw(t, ExceptionType::InvalidOperation, &message))
    };
    if !found.is_interface() {
        return refuse("is not an interface".to_owned());
    }
    if !is_marked(found).to_managed(t)? {
        return refuse(format!("does not have the attribute '{IMPLEMENTATION_ATTRIBUTE}'"));
    }
    if !found.interfaces().to_managed(t)?.contains(&interface) {
        return refuse(format!("does not implement the requested interface '{}'", interface.full_name()));
    }
    Ok(())
}

fn is_marked(ty: Ty) -> LoadResult<bool> {
    let Some(def) = ty.def() else { return Ok(false) };
    let token = Token::new(TableId::TypeDef, def.rid);
    has_attribute(def.image, token, "System.Runtime.InteropServices", IMPLEMENTATION_ATTRIBUTE)
}

/// A method of the interface IDynamicInterfaceCastable.
fn method_of(castable: Ty, name: &str, parameters: usize) -> LoadResult<&'static Method> {
    castable.find_method(name, parameters)?.ok_or_else(|| {
        let subject = format!("{}.{name}", castable.full_name());
        LoadError::new(LoadErrorKind::MissingMethod, format!("Method not found: {subject}"), subject)
    })
}

/// The word of a RuntimeTypeHandle.
fn handle_of(ty: Ty) -> usize {
    std::ptr::from_ref(ty).addr()
}

fn throw_invalid_cast(t: CurrentThread, object: Obj, interface: Ty) -> Thrown {
    let (from, to) = (object.ty().full_name(), interface.full_name());
    exceptions::throw(t, ExceptionType::InvalidCast, &format!("Invalid cast from '{from}' to '{to}'."))
}

//! `ICustomMarshaler` instances: found by the type name in the descriptor, made by `GetInstance(cookie)`, kept for
//! ever.
//!
//! Invariant: one instance per descriptor. Left out: calls of the instance, which wrappers make.

use crate::descriptor::MarshalDescriptor;
use crate::refusals::directive_error;
use saki_il::synth::marshal::NativeType;
use saki_runtime::ExceptionType;
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::object::cells::RootCell;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::references::{Obj, Str};
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_types::binder::AssemblyName;
use saki_types::{Image, LoadError, LoadResult, Ty, universe};

/// The marshaler of a parameter.
///
/// # Errors
/// TypeLoadException, MarshalDirectiveException; exceptions of `GetInstance`.
pub fn custom_marshaler<'t>(t: CurrentThread<'t>, descriptor: &MarshalDescriptor) -> Managed<Option<Obj<'t>>> {
    if let Some(known) = descriptor.custom_marshaler.get().and_then(|cell| cell.obj(t)) {
        return Ok(Some(known));
    }
    let NativeType::Custom { marshaler_type, cookie } = &descriptor.plan.native else {
        return Err(directive_error(t, "The parameter has no custom marshaler."));
    };
    let ty = find_type(descriptor.method.image(), marshaler_type).to_managed(t)?;
    let candidates = ty.methods_named("GetInstance").to_managed(t)?;
    let mut factory = None;
    for method in candidates {
        if method.is_static() && method.sig().to_managed(t)?.params == [universe().string()] {
            factory = Some(method);
        }
    }
    let Some(factory) = factory else {
        let message = format!(
            "Custom marshaler '{}' does not implement a static GetInstance method that takes a single string parameter and returns an ICustomMarshaler.",
            ty.full_name()
        );
        return Err(exceptions::throw(t, ExceptionType::Application, &message));
    };
    let cookie = Str::new(t, cookie)?;
    let made = invoke::invoke(t, factory, &[Slot::from_ref(cookie)])?;
    // SAFETY: GetInstance returns an ICustomMarshaler.
    let Some(marshaler) = (unsafe { made.as_obj() }) else {
        let message = format!("Custom marshaler '{}' returned a null reference from GetInstance.", ty.full_name());
        return Err(exceptions::throw(t, ExceptionType::Application, &message));
    };
    // The first thread to store wins, so that all threads use one instance.
    let method = std::ptr::from_ref(descriptor.method).addr();
    let cell = descriptor.custom_marshaler.get_or_init(|| RootCell::beside(method, marshaler));
    Ok(Some(cell.obj(t).unwrap_or(marshaler)))
}

/// "Ns.Outer+Inner, Assembly, Version=…"; without an assembly the type is in `image`, or in corlib.
fn find_type(image: &'static Image, text: &str) -> LoadResult<Ty> {
    let (type_name, assembly) = match text.split_once(',') {
        Some((name, rest)) => (name.trim(), AssemblyName::parse(rest.trim())),
        None => (text.trim(), None),
    };
    let images = match assembly {
        Some(name) => vec![universe().binder().resolve(&name, Some(image))?.image],
        None => vec![image, universe().corlib()],
    };
    let mut parts = type_name.split('+');
    let outer = parts.next().unwrap_or_default();
    let (namespace, name) = outer.rsplit_once('.').unwrap_or(("", outer));
    for image in images {
        let Some(mut ty) = image.find_type(namespace, name)? else { continue };
        for inner in parts.clone() {
            let nested = ty.find_nested("", inner)?;
            ty = nested.ok_or_else(|| LoadError::type_load("no such nested type", text))?;
        }
        return Ok(ty);
    }
    Err(LoadError::type_load(format!("Could not load type '{text}'."), text))
}

//! Calling methods of the class library that the runtime knows by name.

use saki_runtime::ExceptionType;
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{CurrentThread, Managed, Obj};
use saki_types::{Method, Ty};

/// The method of this name with so many parameters.
///
/// # Errors
/// MissingMethodException, load errors.
pub(crate) fn class_method(t: CurrentThread, class: Ty, name: &str, params: usize) -> Managed<&'static Method> {
    match class.find_method(name, params).to_managed(t)? {
        Some(method) => Ok(method),
        None => {
            let message = format!("{}.{name}", class.full_name());
            Err(exceptions::throw(t, ExceptionType::MissingMethod, &message))
        }
    }
}

/// Calls a method from the class library non-virtually (`invoke::invoke`) and gives the object that it returns; None
/// for null and for methods that return no reference.
///
/// # Errors
/// What the callee threw is pending.
pub(crate) fn call_for_object<'t>(
    t: CurrentThread<'t>,
    method: &'static Method,
    words: &[Slot],
) -> Managed<Option<Obj<'t>>> {
    let result = invoke::invoke(t, method, words)?;
    object_in(t, method, result)
}

/// The object that a call of `method` has returned; None for null and for methods that return no reference.
pub(crate) fn object_in<'t>(t: CurrentThread<'t>, method: &'static Method, result: Slot) -> Managed<Option<Obj<'t>>> {
    if !method.sig().to_managed(t)?.ret.is_reference_type() {
        return Ok(None);
    }
    // SAFETY: the result of a method with this signature is a reference.
    Ok(unsafe { result.as_obj() })
}

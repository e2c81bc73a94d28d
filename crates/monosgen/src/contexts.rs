//! Contexts of `mono/metadata/appdomain.h`: those of remoting. A `MonoAppContext` is a Context object.

use crate::call::{call_managed, call_quietly, some};
use saki_abi::ObjRef;
use saki_reflect::{field_access, members};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::vm::domains::{self, Domain};
use saki_runtime::{CurrentThread, Managed, Obj, Word};

/// The context that the calling thread is in.
#[unsafe(no_mangle)]
pub extern "C" fn mono_context_get() -> ObjRef {
    call_managed("mono_context_get", |t| Ok(domains::context(t)?.word()))
}

/// Puts the calling thread into a context; null is the domain's own.
///
/// # Safety
/// `context` is null or a Context object of the thread's domain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_context_set(context: ObjRef) {
    call_quietly("mono_context_set", |t| {
        // SAFETY: null or the host's object.
        t.set_root(saki_thread::root::CONTEXT, unsafe { crate::call::held(context) });
        Ok(())
    });
}

/// The domain's own context is made when it is first used: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_context_init(_domain: &'static Domain) {}

fn number(t: CurrentThread, context: Obj, field: &str) -> Managed<i32> {
    let Some(field) = members::find_field(context.ty(), field).to_managed(t)? else { return Ok(0) };
    let value = field_access::get_value(t, field, Some(context))?;
    // SAFETY: the fields are numbers of 32 bits, whose boxes have them.
    Ok(value.map_or(0, |value| unsafe { value.data().cast::<i32>().read() }))
}

/// The context's number; 0 for a domain's own.
///
/// # Safety
/// `context` is a Context object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_context_get_id(context: ObjRef) -> i32 {
    const FUNCTION: &str = "mono_context_get_id";
    // SAFETY: the host's object.
    call_quietly(FUNCTION, |t| number(t, unsafe { some(FUNCTION, context) }, "context_id"))
}

/// The number of the context's domain.
///
/// # Safety
/// `context` is a Context object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_context_get_domain_id(context: ObjRef) -> i32 {
    const FUNCTION: &str = "mono_context_get_domain_id";
    // SAFETY: the host's object.
    call_quietly(FUNCTION, |t| number(t, unsafe { some(FUNCTION, context) }, "domain_id"))
}

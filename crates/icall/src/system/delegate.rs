//! System.Delegate. `saki_runtime::object::delegates` fills delegates in.

use crate::arguments::{argument_error_for, non_null, non_null_this};
use saki_reflect::{handles, objects};
use saki_runtime::ExceptionType;
use saki_runtime::exec::compile;
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::object::{delegate_signatures, delegates, exceptions, type_objects};
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj};

/// An empty delegate of the same type, for `Combine` and `Remove` to put a list in.
fn alloc_like<'t>(t: CurrentThread<'t>, delegate: Option<Obj<'t>>) -> Managed<Obj<'t>> {
    non_null(t, delegate, "d")?.new_of_same_type(t)
}

fn create<'t>(
    t: CurrentThread<'t>,
    ty: Option<Obj>,
    target: Option<Obj>,
    method: Option<Obj>,
    _throw_on_bind_failure: bool,
) -> Managed<Obj<'t>> {
    let ty = type_objects::require(t, ty, "type")?;
    let method = handles::require_method(t, method)?;
    if !ty.is_delegate() {
        return Err(argument_error_for(t, "type", "Type must derive from Delegate."));
    }
    if method.is_generic_definition() {
        let message = " Cannot bind to the target method because its signature differs from that of the delegate type";
        return Err(argument_error_for(t, "method", message));
    }
    if !delegate_signatures::may_bind(t, ty, target, method)? {
        let message =
            "Cannot bind to the target method because its signature is not compatible with that of the delegate type.";
        // Also where the program wants null: the class library has seen no difference, and would use the null.
        return Err(exceptions::throw(t, ExceptionType::Argument, message));
    }
    if method.is_dynamic() {
        // CIL that cannot be compiled raises its exception here, not at the first call.
        compile::compile_method(t, method)?;
    }
    let delegate = Obj::new(t, ty)?;
    delegates::init(t, delegate, target, method, None)?;
    Ok(delegate)
}

/// The method that the delegate calls on its target.
fn virtual_method<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Obj<'t>> {
    let this = non_null_this(t, this)?;
    let Some(method) = delegates::method_of(this) else {
        return Err(exceptions::throw_default(t, ExceptionType::InvalidOperation));
    };
    let method = match delegates::TARGET.obj(this) {
        Some(target) if !method.is_static() => target.ty().resolve_virtual(method).to_managed(t)?,
        _ => method,
    };
    objects::method_object(t, method, method.owner)
}

/// The internal calls of `System.Delegate`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Delegate::AllocDelegateLike_internal", &alloc_like),
    InternalCall::new("System.Delegate::CreateDelegate_internal", &create),
    InternalCall::new("System.Delegate::GetVirtualMethod_internal", &virtual_method),
];

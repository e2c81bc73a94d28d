//! System.Delegate. `saki_runtime::delegates` fills delegates in.

use crate::arguments::{argument_error_for, non_null, non_null_this};
use saki_abi::ObjRef;
use saki_reflect::{handles, objects};
use saki_runtime::exceptions::ToManaged;
use saki_runtime::{CurrentThread, InternalCall, Obj, Word, compile, delegates, exceptions, object, type_objects};

/// An empty delegate of the same type, for `Combine` and `Remove` to put a list in.
fn alloc_like(t: CurrentThread, delegate: ObjRef) -> ObjRef {
    t.run(|| {
        non_null(t, delegate, "d")?;
        object::new_instance_of(t, object::vtable(delegate))
    })
}

/// Managed code has matched the signatures.
fn create(t: CurrentThread, ty: ObjRef, target: ObjRef, method: Option<Obj>, _throw_on_bind_failure: i32) -> ObjRef {
    t.run(|| {
        let ty = type_objects::require(t, ty, "type")?;
        let method = handles::require_method(t, method)?;
        if !ty.is_delegate() {
            return Err(argument_error_for(t, "type", "Type must derive from Delegate."));
        }
        if method.is_generic_definition() {
            let message =
                " Cannot bind to the target method because its signature differs from that of the delegate type";
            return Err(argument_error_for(t, "method", message));
        }
        if method.is_dynamic() {
            // CIL that no code can be made of is told here, not at the first call.
            compile::compile_method(t, method)?;
        }
        let delegate = object::new_instance(t, ty)?;
        delegates::init(t, delegate, target, method, None)?;
        Ok(delegate)
    })
}

/// The method that the delegate calls on its target.
fn virtual_method(t: CurrentThread, this: ObjRef) -> ObjRef {
    t.run(|| {
        non_null_this(t, this)?;
        let Some(method) = delegates::method_of(this) else {
            return Err(exceptions::throw_default(t, "InvalidOperationException"));
        };
        let target = delegates::TARGET.get_ref(this);
        let method = match target.is_null() || method.is_static() {
            true => method,
            false => object::type_of(target).resolve_virtual(method).to_managed(t)?,
        };
        objects::method_object(t, method, method.owner).map(Word::word)
    })
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Delegate::AllocDelegateLike_internal", &alloc_like),
    InternalCall::new("System.Delegate::CreateDelegate_internal", &create),
    InternalCall::new("System.Delegate::GetVirtualMethod_internal", &virtual_method),
];

//! Making objects without running a constructor.

use crate::runtime_type::this_type;
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::proxy_calls;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, Str};
use saki_types::{Ty, universe};

/// A zeroed object of a type that can have instances.
///
/// # Errors
/// ArgumentException for interfaces, abstract classes and open types.
fn uninitialized<'t>(t: CurrentThread<'t>, ty: Ty) -> Managed<Obj<'t>> {
    let can_exist = !ty.is_interface() && !ty.is_abstract() && !ty.is_open && !ty.is_pointer() && !ty.is_byref();
    if !can_exist {
        let message = "Type cannot be instantiated";
        return Err(exceptions::throw_argument(t, message, "type"));
    }
    if ty.is_sz_array() {
        return Array::of_array_type(t, ty, 0).map(Obj::from);
    }
    if ty == universe().string() {
        // Its size depends on its length; a plain allocation would be too small to be a string.
        return Str::new(t, "").map(Obj::from);
    }
    Obj::new(t, ty)
}

/// `RuntimeType.CreateInstanceInternal(type)`: the default value of a value type, boxed; null for Nullable.
fn create_instance<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let ty = this_type(t, ty)?;
    if ty.is_nullable() {
        return Ok(None);
    }
    ty.vtable_layout().to_managed(t)?;
    Obj::new(t, ty).map(Some)
}

/// `ActivationServices.AllocateUninitializedClassInstance(type)`
fn allocate_uninitialized<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Obj<'t>> {
    uninitialized(t, this_type(t, ty)?)
}

/// `ActivationServices.EnableProxyActivation(type, enable)`
fn enable_proxy_activation(t: CurrentThread, ty: Option<Obj>, enable: bool) -> Managed<()> {
    proxy_calls::redirect_activation(this_type(t, ty)?, enable);
    Ok(())
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.RuntimeType::CreateInstanceInternal", &create_instance),
    InternalCall::new(
        "System.Runtime.Remoting.Activation.ActivationServices::AllocateUninitializedClassInstance",
        &allocate_uninitialized,
    ),
    InternalCall::new(
        "System.Runtime.Remoting.Activation.ActivationServices::EnableProxyActivation",
        &enable_proxy_activation,
    ),
];

//! Making objects without running a constructor.

use crate::runtime_type::this_type;
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::{CurrentThread, InternalCall, Managed, ObjRef};
use saki_runtime::{object, proxy_calls, strings};
use saki_types::{Ty, universe};

/// A zeroed object of a type that can have instances.
///
/// # Errors
/// ArgumentException for interfaces, abstract classes and open types.
fn uninitialized(t: CurrentThread, ty: Ty) -> Managed<ObjRef> {
    let can_exist = !ty.is_interface() && !ty.is_abstract() && !ty.is_open && !ty.is_pointer() && !ty.is_byref();
    if !can_exist {
        let message = "Type cannot be instantiated";
        return Err(exceptions::throw_argument(t, message, "type"));
    }
    if ty.is_sz_array() {
        return object::new_sz_array(t, ty, 0);
    }
    if ty == universe().string() {
        // Its size depends on its length; a plain allocation would be too small to be a string.
        return strings::new_string(t, "");
    }
    object::new_instance(t, ty)
}

/// `RuntimeType.CreateInstanceInternal(type)`: the default value of a value type, boxed; null for Nullable.
fn create_instance(t: CurrentThread, ty: ObjRef) -> ObjRef {
    t.run(|| {
        let ty = this_type(t, ty)?;
        if ty.is_nullable() {
            return Ok(ObjRef::NULL);
        }
        ty.vtable_layout().to_managed(t)?;
        object::new_instance(t, ty)
    })
}

/// `ActivationServices.AllocateUninitializedClassInstance(type)`
fn allocate_uninitialized(t: CurrentThread, ty: ObjRef) -> ObjRef {
    t.run(|| uninitialized(t, this_type(t, ty)?))
}

/// `ActivationServices.EnableProxyActivation(type, enable)`
fn enable_proxy_activation(t: CurrentThread, ty: ObjRef, enable: u8) {
    t.run(|| {
        proxy_calls::redirect_activation(this_type(t, ty)?, enable != 0);
        Ok(())
    });
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

//! Making objects without running a constructor.

use crate::runtime_type::this_type;
use crate::type_handle::is_byref_like;
use saki_runtime::ExceptionType;
use saki_runtime::exec::proxy_calls;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj};
use saki_types::{Ty, universe};

/// A zeroed object of a type that can have instances. A delegate would be called through the null in it; strings and
/// arrays have no size of their own.
///
/// # Errors
/// Those of .NET, in its order: ArgumentException for arrays, pointers, delegates and String, MemberAccessException for
/// interfaces, abstract classes and open types, NotSupportedException for types that live on the stack alone.
fn uninitialized<'t>(t: CurrentThread<'t>, ty: Ty) -> Managed<Obj<'t>> {
    let refuse = |exception, message| Err(exceptions::throw(t, exception, message));
    if ty.is_array() || ty.is_pointer() || ty.is_byref() || ty.is_delegate() {
        return refuse(ExceptionType::Argument, "Value was invalid.");
    }
    if ty == universe().string() {
        return refuse(ExceptionType::Argument, "Uninitialized Strings cannot be created.");
    }
    if ty.is_interface() {
        return refuse(ExceptionType::MemberAccess, "Cannot create an instance of an interface.");
    }
    if ty.is_abstract() {
        return refuse(ExceptionType::MemberAccess, "Cannot create an abstract class.");
    }
    if ty.is_open || ty.is_generic_param() {
        let message = "Cannot create a type for which Type.ContainsGenericParameters is true.";
        return refuse(ExceptionType::MemberAccess, message);
    }
    if is_byref_like(ty).to_managed(t)? {
        return refuse(ExceptionType::NotSupported, "Cannot create boxed ByRef-like values.");
    }
    Obj::new(t, if ty.is_nullable() { ty.args[0] } else { ty })
}

/// `RuntimeType.CreateInstanceInternal(type)`: the default value of a value type, boxed; null for Nullable.
fn create_instance<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let ty = this_type(t, ty)?;
    if ty.is_nullable() {
        return Ok(None);
    }
    ty.vtable_layout().to_managed(t)?;
    if ty.is_value_type() { Obj::new(t, ty).map(Some) } else { uninitialized(t, ty).map(Some) }
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

/// The internal calls of `System.RuntimeType` and `System.Runtime.Remoting.Activation.ActivationServices`.
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

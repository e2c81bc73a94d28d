//! Bodies that the runtime supplies, as IR: delegate members, array pseudo-methods, internal-call and native-call
//! wrappers.
//!
//! Each function takes the method and returns its `Function`. Invariant: as in all of `il`, no unsafe code and no
//! addresses.

pub mod accessor;
pub mod array;
mod boxed;
pub mod builder;
pub mod callback;
pub mod delegate;
pub mod host_call;
pub mod internal_call;
pub mod marshal;
mod native_registers;
pub mod native_value;
pub mod pinvoke;
pub mod remoting;

use crate::ir::Function;
use saki_types::{LoadResult, Method, MethodKind};

/// The body of a method without CIL; None for a method that should have had CIL.
///
/// # Errors
/// The errors of the single builders.
pub fn synthesise(method: &'static Method) -> LoadResult<Option<Function>> {
    if let MethodKind::Array(_) = method.kind {
        return array::array_method(method).map(Some);
    }
    if let MethodKind::Remoting(stub) = method.kind {
        return remoting::remoting_stub(method, stub).map(Some);
    }
    if let MethodKind::NativeCall(_) = method.kind {
        return pinvoke::native_function_call(method).map(Some);
    }
    if method.is_runtime_implemented() && method.owner.is_delegate() && !method.is_static() {
        return match method.name {
            "Invoke" => delegate::delegate_invoke(method).map(Some),
            ".ctor" => delegate::delegate_ctor(method).map(Some),
            "BeginInvoke" => delegate::delegate_begin_invoke(method).map(Some),
            "EndInvoke" => delegate::delegate_end_invoke(method).map(Some),
            _ => Ok(None),
        };
    }
    // An internal call may carry the P/Invoke flag by mistake; it is an internal call.
    if method.is_internal_call() {
        return internal_call::internal_call(method).map(Some);
    }
    if method.is_pinvoke() {
        return pinvoke::pinvoke(method).map(Some);
    }
    if let Some(attribute) = method.unsafe_accessor()? {
        return accessor::accessor(method, &attribute).map(Some);
    }
    Ok(None)
}

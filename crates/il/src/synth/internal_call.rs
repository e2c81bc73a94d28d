//! Wrappers around internal calls: callable with the managed convention, they call the Rust function.
//!
//! Invariant: arguments pass unchanged; narrow results are extended here. Left out: finding the Rust function
//! (`Symbol::InternalCall`, runtime).

use super::builder::{FunctionBuilder, call_sig, mem_type};
use super::native_value::narrow_scalar;
use crate::ir::{CallTarget, Function, LocalId, Symbol, Terminator};
use saki_abi::HelperId;
use saki_types::{LibraryMethod, LoadResult, Method};

/// Body of an `InternalCall` method.
///
/// # Errors
/// The errors of the signature.
pub fn internal_call(method: &'static Method) -> LoadResult<Function> {
    let sig = call_sig(method)?;
    let mut b = FunctionBuilder::new(Some(method), method.full_name(), sig.clone());
    let args = (0..sig.params.len()).map(|i| b.operand(LocalId(i as u32))).collect();
    let result = b.call(CallTarget::InternalCall(method), sig, args);
    // The System V convention leaves the upper bits of a `bool`, `u8` or `u16` result undefined.
    let mem = mem_type(method.sig()?.ret)?;
    let result = result.map(|value| narrow_scalar(&mut b, mem, value));
    b.ret(result);
    Ok(b.finish())
}

/// Whether the Rust function of an internal call neither throws, allocates nor walks the stack.
pub fn is_leaf(method: &'static Method) -> bool {
    is_handle_target(method) || is_handle_free(method)
}

/// Whether it is `GCHandle.GetTarget(int)`, which the code generator expands.
pub fn is_handle_target(method: &'static Method) -> bool {
    method.library_role() == Ok(Some(LibraryMethod::GCHandleGetTarget))
}

/// Whether it is `Object.GetType()`, which the code generator expands.
pub fn is_get_type(method: &'static Method) -> bool {
    method.library_role() == Ok(Some(LibraryMethod::ObjectGetType))
}

/// Whether it is `GCHandle.FreeHandle(int)`, whose Rust function returns whether there was a handle.
pub fn is_handle_free(method: &'static Method) -> bool {
    method.library_role() == Ok(Some(LibraryMethod::GCHandleFreeHandle))
}

/// Body of an `InternalCall` method for which there is no Rust function: throws NotImplementedException with its name.
///
/// # Errors
/// The errors of the signature.
pub fn missing_internal_call(method: &'static Method) -> LoadResult<Function> {
    let mut b = FunctionBuilder::new(Some(method), method.full_name(), call_sig(method)?);
    let handle = b.symbol(Symbol::MethodHandle(method));
    b.call_helper(HelperId::MissingInternalCall, vec![handle]);
    b.terminate(Terminator::Unreachable);
    Ok(b.finish())
}

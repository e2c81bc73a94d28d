//! Wrappers around internal calls and delegates that an embedding host implements.
//!
//! Invariant: arguments and results pass as they are, references as addresses of objects, which are pinned; nothing is
//! converted. The thread leaves managed state for the call, and the collector scans the frames of hosts in C
//! (`thread::hold`). Left out: finding the function (`Symbol::NativeCell`, runtime).

use super::builder::{FunctionBuilder, call_sig};
use super::marshal::raw_plan;
use super::pinvoke::{delegate_over_native, emit_native_call, native_address};
use crate::ir::Function;
use saki_types::{LoadResult, Method};

/// Body of an `InternalCall` method that the host implements.
///
/// # Errors
/// The errors of the signature and of the types' layouts.
pub fn host_call(method: &'static Method) -> LoadResult<Function> {
    let plan = raw_plan(method, !method.is_static())?;
    let mut b = FunctionBuilder::new(Some(method), method.full_name(), call_sig(method)?);
    let address = native_address(&mut b, method)?;
    emit_native_call(&mut b, method, &plan, 0, address)?;
    Ok(b.finish())
}

/// Body for delegates over a function of a host in Rust (kind `SelfPassing`): it has `Invoke`'s signature and reads the
/// function's address from the delegate's `extra_arg`. The function gets the delegate, too, as `this`: an argument
/// stays alive while the function runs.
///
/// # Errors
/// The errors of the signature and of the types' layouts.
pub fn host_delegate_invoke(invoke: &'static Method) -> LoadResult<Function> {
    delegate_over_native(invoke, "host", &raw_plan(invoke, true)?, 0)
}

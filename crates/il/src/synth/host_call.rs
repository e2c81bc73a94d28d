//! Wrappers around internal calls that an embedding host implements in C.
//!
//! Invariant: arguments and results pass as they are, references as addresses of objects; nothing is converted. The
//! thread leaves managed state for the call, and the collector scans the host's frames (`thread::hold`). Left out:
//! finding the function (`Symbol::NativeCell`, runtime).

use super::builder::{FunctionBuilder, call_sig};
use super::marshal::{MethodPlan, raw_plan};
use super::pinvoke::{emit_native_call, native_address};
use crate::ir::Function;
use saki_types::{LoadResult, Method};

/// Body of an `InternalCall` method that the host implements.
///
/// # Errors
/// The errors of the signature and of the types' layouts.
pub fn host_call(method: &'static Method) -> LoadResult<Function> {
    let plan: MethodPlan = raw_plan(method)?;
    let mut b = FunctionBuilder::new(Some(method), method.full_name(), call_sig(method)?);
    let address = native_address(&mut b, method)?;
    emit_native_call(&mut b, method, &plan, 0, address)?;
    Ok(b.finish())
}

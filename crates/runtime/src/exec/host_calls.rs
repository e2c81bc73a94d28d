//! Internal calls that an embedding host implements (`mono_add_internal_call`).
//!
//! A host names a method, with or without its parameters, and gives a function of C. The last function for a name wins,
//! but the machine's own function goes before it: the class libraries depend on that. A method that has been compiled
//! keeps what it had then. Invariant: bodies that depend on what a host has are not kept in the code cache. Left out:
//! the wrapper (`il::synth::host_call`).

use crate::{internal_calls, method_names};
use rustc_hash::FxHashMap;
use saki_base::locks::{RwLock, rank};
use saki_types::{LoadResult, Method};
use std::sync::Arc;

/// What makes the C function for a method.
pub type MakeFunction = dyn Fn(&'static Method) -> LoadResult<usize> + Send + Sync;

#[derive(Clone)]
enum HostCall {
    /// The address of a C function, which takes the arguments as they are.
    Function(usize),
    Made(Arc<MakeFunction>),
}

static CALLS: RwLock<rank::HostCalls, Option<FxHashMap<String, HostCall>>> = RwLock::new(None);

/// Registers a function of C for a name: "Namespace.Type::Method", nested types after `/`, or with the parameters'
/// types as Mono writes them: "Namespace.Type::Method(int,string)".
pub fn add(name: &str, function: usize) {
    CALLS.write().get_or_insert_default().insert(name.to_owned(), HostCall::Function(function));
}

/// Registers, for a name, what makes the function for each method of that name.
pub fn add_made(name: &str, make: Arc<MakeFunction>) {
    CALLS.write().get_or_insert_default().insert(name.to_owned(), HostCall::Made(make));
}

fn find(method: &'static Method) -> Option<HostCall> {
    if !method.is_internal_call() || internal_calls::find(method).is_some() {
        return None;
    }
    let calls = CALLS.read();
    let calls = calls.as_ref()?;
    let name = method_names::name_of(method);
    let exact = parameters(method).and_then(|parameters| calls.get(&format!("{name}({parameters})")));
    exact.or_else(|| calls.get(&name)).cloned()
}

/// Whether a host implements this internal call, which is not the machine's.
pub fn is_there(method: &'static Method) -> bool {
    find(method).is_some()
}

/// The host's C function for an internal call; None if the host has none.
///
/// # Errors
/// Those of making it.
pub fn function(method: &'static Method) -> LoadResult<Option<usize>> {
    match find(method) {
        Some(HostCall::Function(address)) => Ok(Some(address)),
        Some(HostCall::Made(make)) => make(method).map(Some),
        None => Ok(None),
    }
}

/// Whether the method's body depends on what a host has.
pub(crate) fn decides_about(method: &'static Method) -> bool {
    method.is_internal_call() && internal_calls::find(method).is_none()
}

/// The parameters' types, as Mono describes methods.
fn parameters(method: &'static Method) -> Option<String> {
    let names: Vec<String> = method.sig().ok()?.params.iter().map(|ty| ty.signature_name()).collect();
    Some(names.join(","))
}

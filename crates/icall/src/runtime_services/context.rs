//! System.Runtime.Remoting.Contexts.

use crate::arguments::non_null;
use saki_abi::ObjRef;
use saki_runtime::{CurrentThread, InternalCall, context_statics};

/// A context lives as long as an object refers to it: unloading needs no list of them.
fn register_context(t: CurrentThread, context: ObjRef) {
    t.run(|| non_null(t, context, "ctx"));
}

fn release_context(t: CurrentThread, context: ObjRef) {
    t.run(|| {
        non_null(t, context, "ctx")?;
        context_statics::release(t, context);
        Ok(())
    });
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Runtime.Remoting.Contexts.Context::RegisterContext", &register_context),
    InternalCall::new("System.Runtime.Remoting.Contexts.Context::ReleaseContext", &release_context),
];

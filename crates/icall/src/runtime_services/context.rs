//! System.Runtime.Remoting.Contexts.

use crate::arguments::non_null;
use saki_runtime::exec::context_statics;
use saki_runtime::object::host_events::{HostEvent, tell_if_wanted};
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj};

/// A context lives as long as an object refers to it, so unloading needs no list of contexts.
fn register_context(t: CurrentThread, context: Option<Obj>) -> Managed<()> {
    tell_if_wanted(HostEvent::ContextMade(non_null(t, context, "ctx")?));
    Ok(())
}

fn release_context(t: CurrentThread, context: Option<Obj>) -> Managed<()> {
    let context = non_null(t, context, "ctx")?;
    tell_if_wanted(HostEvent::ContextReleased(context));
    context_statics::release(t, context);
    Ok(())
}

/// The internal calls of `System.Runtime.Remoting.Contexts.Context`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Runtime.Remoting.Contexts.Context::RegisterContext", &register_context),
    InternalCall::new("System.Runtime.Remoting.Contexts.Context::ReleaseContext", &release_context),
];

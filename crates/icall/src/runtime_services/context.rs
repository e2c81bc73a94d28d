//! System.Runtime.Remoting: contexts, and the question whether an object is a proxy. Proxies themselves are missing.

use crate::arguments::non_null;
use saki_abi::ObjRef;
use saki_runtime::{InternalCall, Thread};

/// Registration serves the unloading of domains, of which there is one that stays.
extern "C" fn register_context(t: Thread, context: ObjRef) {
    t.run(|| non_null(t, context, "ctx"));
}

extern "C" fn release_context(t: Thread, context: ObjRef) {
    t.run(|| non_null(t, context, "ctx"));
}

/// No object is: nothing makes transparent proxies.
extern "C" fn is_transparent_proxy(_t: Thread, _object: ObjRef) -> i32 {
    0
}

pub const TABLE: &[InternalCall] = &[
    ("System.Runtime.Remoting.Contexts.Context::RegisterContext", register_context as *const ()),
    ("System.Runtime.Remoting.Contexts.Context::ReleaseContext", release_context as *const ()),
    ("System.Runtime.Remoting.RemotingServices::IsTransparentProxy", is_transparent_proxy as *const ()),
];

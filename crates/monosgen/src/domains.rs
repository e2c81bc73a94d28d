//! `mono/metadata/appdomain.h`: domains.

use crate::call::call;
use saki_runtime::vm::domains::{self, Domain};

/// The first domain; null if no machine runs.
#[unsafe(no_mangle)]
pub extern "C" fn mono_get_root_domain() -> Option<&'static Domain> {
    crate::machine::is_started().then(domains::root_domain)
}

/// The domain of the calling thread; null if no machine runs.
#[unsafe(no_mangle)]
pub extern "C" fn mono_domain_get() -> Option<&'static Domain> {
    if !crate::machine::is_started() {
        return None;
    }
    call("mono_domain_get", |_| Some(domains::current()))
}

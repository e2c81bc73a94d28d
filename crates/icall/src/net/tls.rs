//! Mono.Net.Security: TLS is done by libmono-btls, a native helper of the class library that managed code calls by P/Invoke.

use saki_runtime::{InternalCall, Thread};

/// Whether managed code may use libmono-btls. It is asked for at its first use only; a machine without it then gets
/// DllNotFoundException.
extern "C" fn is_btls_supported(_t: Thread) -> i32 {
    1
}

pub const TABLE: &[InternalCall] =
    &[("Mono.Net.Security.MonoTlsProviderFactory::IsBtlsSupported", is_btls_supported as *const ())];

//! Mono.Net.Security: TLS is done by libmono-btls, a native helper of the class library that managed code calls by
//! P/Invoke.

use saki_runtime::{CurrentThread, InternalCall};

/// Whether managed code may use libmono-btls. It is asked for at its first use only; a machine without it then gets
/// DllNotFoundException.
fn is_btls_supported(_t: CurrentThread) -> i32 {
    1
}

/// The internal calls of `Mono.Net.Security.MonoTlsProviderFactory`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("Mono.Net.Security.MonoTlsProviderFactory::IsBtlsSupported", &is_btls_supported)];

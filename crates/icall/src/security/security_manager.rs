//! System.Security.SecurityManager and Evidence: code access security, which is always off.

use saki_runtime::{CurrentThread, InternalCall, Obj};

fn is_enabled(_t: CurrentThread) -> bool {
    false
}

/// Security stays off, as documented since .NET 4.
fn set_enabled(_t: CurrentThread, _value: bool) {}

/// Authenticode signatures exist on Windows only.
fn is_authenticode_present(_t: CurrentThread, _assembly: Option<Obj>) -> bool {
    false
}

/// The internal calls of `System.Security.SecurityManager` and `System.Security.Policy.Evidence`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Security.SecurityManager::get_SecurityEnabled", &is_enabled),
    InternalCall::new("System.Security.SecurityManager::set_SecurityEnabled", &set_enabled),
    InternalCall::new("System.Security.Policy.Evidence::IsAuthenticodePresent", &is_authenticode_present),
];

//! System.Runtime.InteropServices.RuntimeInformation, System.Runtime.Versioning.VersioningHelper.

use saki_runtime::{CurrentThread, InternalCall, Managed, Str};

/// The name that managed code compares with.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: &str = "x86-64";
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: &str = "armv8";

fn os_name<'t>(t: CurrentThread<'t>) -> Managed<Str<'t>> {
    Str::new(t, "linux")
}

fn architecture<'t>(t: CurrentThread<'t>) -> Managed<Str<'t>> {
    Str::new(t, ARCHITECTURE)
}

/// The number in names by `MakeVersionSafeName`, which distinguishes runtimes in one process; the same as Mono's.
fn runtime_id(_t: CurrentThread) -> i32 {
    9
}

/// The internal calls of `System.Runtime.InteropServices.RuntimeInformation` and
/// `System.Runtime.Versioning.VersioningHelper`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Runtime.InteropServices.RuntimeInformation::GetOSName", &os_name),
    InternalCall::new("System.Runtime.Versioning.VersioningHelper::GetRuntimeId", &runtime_id),
    InternalCall::new("System.Runtime.InteropServices.RuntimeInformation::GetRuntimeArchitecture", &architecture),
];

//! Mono.Runtime: programs look for this type to know that they run on Mono, and for its version.

use saki_runtime::object::class_library;
use saki_runtime::{CurrentThread, InternalCall, Managed, Str};

/// The processor, as Mono calls it.
pub const ARCHITECTURE: &str = if cfg!(target_arch = "x86_64") { "amd64" } else { std::env::consts::ARCH };

/// The class libraries' release first, where programs look for it, then the name of this virtual machine.
pub(super) fn display_name() -> String {
    format!("{} (Saki {})", class_library::release(), env!("CARGO_PKG_VERSION"))
}

fn get_display_name<'t>(t: CurrentThread<'t>) -> Managed<Str<'t>> {
    Str::new(t, &display_name())
}

/// The runtime's signal handlers are in place from the start.
fn install_handlers(_t: CurrentThread) {}

/// The internal calls of `Mono.Runtime`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("Mono.Runtime::GetDisplayName", &get_display_name),
    InternalCall::new("Mono.Runtime::mono_runtime_install_handlers", &install_handlers),
];

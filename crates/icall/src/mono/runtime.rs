//! Mono.Runtime: programs look for this type to know that they run on Mono, and for its version.

use saki_abi::ObjRef;
use saki_runtime::{InternalCall, Thread, strings};

/// The class libraries' version first, where programs look for it, then who runs them.
pub(super) const DISPLAY_NAME: &str = concat!("6.8.0.105 (Saki ", env!("CARGO_PKG_VERSION"), ")");

extern "C" fn display_name(t: Thread) -> ObjRef {
    t.run(|| strings::new_string(t, DISPLAY_NAME))
}

/// The runtime's signal handlers are in place from the start.
extern "C" fn install_handlers(_t: Thread) {}

pub const TABLE: &[InternalCall] = &[
    ("Mono.Runtime::GetDisplayName", display_name as *const ()),
    ("Mono.Runtime::mono_runtime_install_handlers", install_handlers as *const ()),
];

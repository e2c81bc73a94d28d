//! The internal calls of the class library outside reflection and interop: a folder per namespace, a file per managed type.
//!
//! Conventions: an internal call is a safe function of the current `CurrentThread` and of the managed arguments, as types that cross
//! (`saki_runtime::crossings`). They are private: only the tables name them, only compiled code calls them, and with arguments of the
//! declared managed types, which a test compares (`tests/internal_call_signatures.rs`).
//!
//! Invariant: what is not here is not registered, so that calling it throws NotImplementedException with its name.

mod arguments;
mod loops;
pub mod registry;
mod system_call;

pub mod diagnostics;
pub mod globalization;
pub mod io;
pub mod mono;
pub mod net;
pub mod process;
pub mod runtime_services;
pub mod security;
pub mod system;
pub mod text;
pub mod threading;

pub use registry::upper_layers;

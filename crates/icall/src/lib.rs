//! The internal calls of the class library outside reflection and interop: a folder per namespace, a file per managed
//! type.
//!
//! Conventions: an internal call is a safe function. Its parameters are the `CurrentThread` and the managed arguments,
//! in types that may cross (`saki_runtime::exec::crossings`). Internal calls are private: only the tables name them,
//! and only compiled code calls them, with arguments of the declared managed types. A test compares the two signatures
//! (`tests/internal_call_signatures.rs`).
//!
//! Invariant: an internal call that is not implemented is not registered, so that calling it throws
//! NotImplementedException with its name.

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

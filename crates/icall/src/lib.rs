//! The internal calls of the class library outside reflection and interop: a folder per namespace, a file per managed type.
//!
//! Conventions: an internal call is an `extern "C"` function of the current `CurrentThread` and the managed arguments; managed
//! results narrower than 32 bits are returned as `i32`, because compiled code reads the whole register. They are private:
//! only the tables name them, and only compiled code calls them, with arguments of the declared managed types.
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

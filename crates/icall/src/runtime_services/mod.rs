//! Namespaces System.Runtime and below it: CompilerServices, InteropServices (without Marshal), Remoting, Versioning.

pub mod context;
pub mod gc_handle;
pub mod runtime_helpers;
pub mod runtime_imports;
pub mod runtime_information;

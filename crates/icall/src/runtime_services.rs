//! Namespaces System.Runtime and below it: CompilerServices, InteropServices (of Marshal only the slots), Remoting,
//! Versioning.

pub mod com_slots;
pub mod context;
pub mod gc_handle;
pub mod runtime_helpers;
pub mod runtime_imports;
pub mod runtime_information;

//! Namespace System.Diagnostics.

pub mod debugger;
pub mod file_version_info;
pub mod stack_frame;
pub mod stack_trace;
pub mod stopwatch;

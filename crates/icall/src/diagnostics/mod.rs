//! Namespace System.Diagnostics.

pub mod debugger;
pub mod stack_frame;
pub mod stack_trace;
pub mod stopwatch;

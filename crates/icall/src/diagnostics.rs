//! Namespace System.Diagnostics.

mod counter_table;
pub mod debugger;
pub mod log_profiler;
pub mod performance_counters;
pub mod stack_frame;
pub mod stack_trace;
pub mod stopwatch;

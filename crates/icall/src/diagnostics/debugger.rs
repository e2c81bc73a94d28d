//! System.Diagnostics.Debugger: no debugger is ever attached, unless an embedding host says so.

use saki_runtime::vm::host_settings;
use saki_runtime::{CurrentThread, InternalCall, RefPlace, Str};

fn is_attached(_t: CurrentThread) -> bool {
    host_settings::is_debugger_attached()
}

fn is_logging(_t: CurrentThread) -> bool {
    false
}

/// Messages go to the attached debugger only.
fn log(_t: CurrentThread, _level: i32, _category: Option<Str>, _message: Option<Str>) {}

/// The form of `log` whose texts are in variables.
fn log_referenced(_t: CurrentThread, _level: i32, _category: RefPlace, _message: RefPlace) {}

/// The internal calls of `System.Diagnostics.Debugger`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Diagnostics.Debugger::IsAttached_internal", &is_attached),
    InternalCall::new("System.Diagnostics.Debugger::IsLogging", &is_logging),
    InternalCall::new("@6.8 System.Diagnostics.Debugger::Log", &log),
    InternalCall::new("@6.12,6.14 System.Diagnostics.Debugger::Log_icall", &log_referenced),
];

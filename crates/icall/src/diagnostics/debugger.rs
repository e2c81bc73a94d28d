//! System.Diagnostics.Debugger: there is none.

use saki_abi::ObjRef;
use saki_runtime::{CurrentThread, InternalCall};

fn is_attached(_t: CurrentThread) -> i32 {
    0
}

fn is_logging(_t: CurrentThread) -> i32 {
    0
}

/// Messages go to the attached debugger only.
fn log(_t: CurrentThread, _level: i32, _category: ObjRef, _message: ObjRef) {}

/// As `log`, with the texts in variables.
fn log_referenced(_t: CurrentThread, _level: i32, _category: *const ObjRef, _message: *const ObjRef) {}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Diagnostics.Debugger::IsAttached_internal", &is_attached),
    InternalCall::new("System.Diagnostics.Debugger::IsLogging", &is_logging),
    InternalCall::new("@6.8 System.Diagnostics.Debugger::Log", &log),
    InternalCall::new("@6.12 System.Diagnostics.Debugger::Log_icall", &log_referenced),
];

//! `bug!` reports a fault of the virtual machine itself: it prints the message and place of the fault and aborts.
//!
//! Invariant: never returns, never unwinds (a panic must not cross a managed frame), and a fault inside the report does
//! not recurse. Left out: errors of the input, which are `Result`s, and of the program, which are managed exceptions.

use std::fmt::Arguments;
use std::sync::atomic::{AtomicBool, Ordering};

static REPORTING: AtomicBool = AtomicBool::new(false);

/// Prints the report and aborts. Called by `bug!`.
#[cold]
#[inline(never)]
pub fn report(message: Arguments<'_>, file: &str, line: u32) -> ! {
    crate::tell!("saki: internal error at {file}:{line}: {message}");
    // Relaxed: only decides who walks the stack; a second report just aborts.
    if !REPORTING.swap(true, Ordering::Relaxed) && std::env::var_os("SAKI_BACKTRACE").is_some() {
        crate::tell!("{}", std::backtrace::Backtrace::force_capture());
    }
    std::process::abort()
}

/// Reports a fault of the virtual machine and aborts: `bug!("slot {i} of {n}")`.
#[macro_export]
macro_rules! bug {
    ($($message:tt)*) => { $crate::bug::report(::std::format_args!($($message)*), file!(), line!()) };
}

/// `bug!` unless the condition holds; checked in every build.
#[macro_export]
macro_rules! bug_unless {
    ($condition:expr, $($message:tt)*) => { if !$condition { $crate::bug!($($message)*) } };
}

//! `bug!` reports a fault of the virtual machine itself: it prints the message and place of the fault and aborts.
//!
//! Invariant: never returns, never unwinds (a panic must not cross a managed frame), and a fault inside the report does
//! not recurse. Left out: errors of the input, which are `Result`s, and of the program, which are managed exceptions.

use std::fmt::Arguments;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The function that adds state (managed stack, thread states) to a bug report; 0 = none.
static HOOK: AtomicUsize = AtomicUsize::new(0);
static REPORTING: AtomicBool = AtomicBool::new(false);

/// Sets the function called after the message of a bug report is printed and before the process aborts.
pub fn set_bug_hook(hook: fn()) {
    // Release: pairs with the Acquire in `report`, so that the hook sees what its setter prepared.
    HOOK.store(hook as usize, Ordering::Release);
}

/// Prints the report and aborts. Called by `bug!`.
#[cold]
#[inline(never)]
pub fn report(message: Arguments<'_>, file: &str, line: u32) -> ! {
    eprintln!("saki: internal error at {file}:{line}: {message}");
    // Relaxed: only decides who runs the hook; a second report just aborts.
    if !REPORTING.swap(true, Ordering::Relaxed) {
        let hook = HOOK.load(Ordering::Acquire);
        if hook != 0 {
            // SAFETY: `HOOK` only ever holds 0 or a `fn()` stored by `set_bug_hook`.
            let hook: fn() = unsafe { std::mem::transmute::<usize, fn()>(hook) };
            hook();
        }
        if std::env::var_os("SAKI_BACKTRACE").is_some() {
            eprintln!("{}", std::backtrace::Backtrace::force_capture());
        }
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

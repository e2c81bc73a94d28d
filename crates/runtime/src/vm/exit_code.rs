//! The exit code that the program asks for, and whether its `Main` returns one.
//!
//! All accesses are Relaxed: the values publish no other memory.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

static EXIT_CODE: AtomicI32 = AtomicI32::new(0);
/// Relaxed: set before `Main` begins, on its thread.
static MAIN_RETURNS_VALUE: AtomicBool = AtomicBool::new(false);

/// `Environment.ExitCode`.
pub fn exit_code() -> i32 {
    EXIT_CODE.load(Ordering::Relaxed)
}

/// Sets `Environment.ExitCode`, with which the process ends unless `Main` returns another one.
pub fn set_exit_code(code: i32) {
    EXIT_CODE.store(code, Ordering::Relaxed);
}

/// Whether the program's `Main`, which is about to run, has a result.
pub(crate) fn note_main(returns_value: bool) {
    MAIN_RETURNS_VALUE.store(returns_value, Ordering::Relaxed);
}

/// Whether `Main` returns a value, as passed to `note_main`.
pub(crate) fn main_returns_value() -> bool {
    MAIN_RETURNS_VALUE.load(Ordering::Relaxed)
}

//! The stack that the command runs on: the kernel's, or one that the command maps itself where the limit (`ulimit -s`)
//! is small.
//!
//! Invariant: the command runs on one thread, which has an alternate stack for signals when it begins. Left out:
//! raising the limit, which the program's children would inherit.

use crate::exit::fail;
use saki_os::limits::{Resource, limit_bytes};
use saki_os::signal::AlternateStack;
use std::sync::OnceLock;

/// Reading an assembly and compiling a method take up to half of it, and the program wants some, too.
const LEAST_BYTES: usize = 1 << 20;

static COMMAND: OnceLock<fn() -> i32> = OnceLock::new();

extern "C" fn run_command() -> ! {
    std::process::exit(COMMAND.get().map_or(0, |command| command()))
}

/// Runs the command; its exit code, unless it ends the process.
pub fn run(command: fn() -> i32) -> i32 {
    if limit_bytes(Resource::Stack) >= LEAST_BYTES {
        return command();
    }
    let _ = COMMAND.set(command);
    let started = saki_os::thread::start(None, saki_thread::default_stack_bytes(), |mask| {
        // Never taken away. Without memory for it handlers run on the thread's own stack.
        std::mem::forget(AlternateStack::install());
        mask.set();
        saki_os::thread::run_below_gap(run_command)
    });
    match started {
        // This thread waits until the process ends; signals are the other one's.
        Ok(()) => saki_os::thread::sleep_for_ever(),
        Err(error) => fail(&format!("a stack limit of less than {} KiB, and no thread: {error}", LEAST_BYTES >> 10)),
    }
}

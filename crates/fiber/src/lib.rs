//! Stacks and the context switch for green threads.
//!
//! Invariant: a suspended context is one stack pointer; everything else of it is on its stack. No system call is made by
//! a switch, and no signal mask or floating-point control word is saved. Left out: scheduling.

mod pool;
mod switch;

pub use pool::{GUARD_BYTES, PooledStack, StackCounts, StackPool, StackPoolOptions};
pub use saki_os::GuardKind;
pub use switch::{Context, prepare, switch};

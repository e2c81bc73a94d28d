//! Stacks and the context switch for green threads.
//!
//! Invariant: a suspended context is one stack pointer; the rest of its state is on its stack. A switch makes no system
//! call and saves no signal mask or floating-point control word. Left out: scheduling.

mod pool;
mod switch;

pub use pool::{GUARD_BYTES, PooledStack, SMALL_STACK_BYTES, StackCounts, StackPool, StackPoolOptions};
pub use saki_os::GuardKind;
pub use switch::{Context, prepare, switch};

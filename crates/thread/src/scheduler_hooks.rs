//! What threads ask of a scheduler of green threads (`saki_sched`), if there is one.

use crate::growth::StackPart;
use crate::managed_thread::ManagedThread;
use std::sync::OnceLock;

/// The scheduler's functions for threads. Called on the thread itself.
pub struct SchedulerHooks {
    /// The thread is SAFE and leaves native code, and its carrier was taken; returns on a carrier.
    pub reclaim: fn(&'static ManagedThread),
    /// The thread is RUNNING; returns after other threads have had their turn.
    pub yield_now: fn(&'static ManagedThread),
    /// The thread is SAFE, and its next call blocks: its carrier can be taken at once.
    pub about_to_block: fn(&'static ManagedThread),
    /// The inner part of the stack of a thread whose stack grows; None if there is no room for it. It lies below the
    /// outer part.
    pub take_inner_stack: fn(&'static ManagedThread) -> Option<StackPart>,
    /// Puts all stacks that lie elsewhere (`cold_stack`) back in their places. The world is stopped.
    pub restore_cold_stacks: fn(),
}

static HOOKS: OnceLock<&'static SchedulerHooks> = OnceLock::new();

/// Installs the scheduler; once, before the first green thread.
pub fn install_scheduler(hooks: &'static SchedulerHooks) {
    if HOOKS.set(hooks).is_err() {
        saki_base::bug!("two schedulers");
    }
}

/// The scheduler's functions, if there is a scheduler.
#[inline(always)]
pub(crate) fn scheduler_hooks() -> Option<&'static SchedulerHooks> {
    HOOKS.get().copied()
}

/// See `SchedulerHooks`.
pub(crate) fn restore_cold_stacks() {
    if let Some(hooks) = HOOKS.get() {
        (hooks.restore_cold_stacks)();
    }
}

//! Managed threads across a fork (`saki_os::fork`): the world is stopped for it, and the child keeps the thread that
//! forked.
//!
//! The other managed threads end in the child, as if they had returned: threads that join them go on. Their locks stay
//! taken, as those of other threads always do after a fork. Invariant: until the child comes back to the machine the
//! forking thread has `POLL_FORKED`, so that it starts the other parts again before it runs managed code. Left out:
//! what carriers and threads keep for other parts, which their hooks give back.

use crate::child_locks;
use crate::current::current;
use crate::managed_thread::{ManagedThread, ThreadKind};
use crate::process_number;
use crate::registry;
use crate::request::POLL_FORKED;
use crate::safepoint::{StopReason, StopToken, resume_the_world, stop_the_world};
use saki_base::locks::rank;
use saki_os::{ForkActions, ForkStage, on_fork};
use saki_sync::word_locks::Mutex;
use std::sync::atomic::Ordering;

/// Proof that the world is stopped for a fork.
static STOPPED: Mutex<rank::ForkStop, Option<StopToken>> = Mutex::new(None);

/// Stops the world for a fork. The thread that forks calls it, and `resume` in both processes.
pub fn stop() {
    let token = stop_the_world(StopReason::Fork);
    let before = STOPPED.lock().replace(token);
    assert!(before.is_none(), "the world was stopped twice for a fork");
}

/// Lets the other threads go on, if there are any.
pub fn resume() {
    let token = STOPPED.lock().take();
    resume_the_world(token.unwrap_or_else(|| saki_base::bug!("the world was not stopped for this fork")));
}

/// Adds the threads to the parts that take notice of forks.
pub fn start() {
    on_fork(
        ForkStage::Threads,
        ForkActions { prepare: registry::hold_locks, parent: registry::release_locks, child, ..ForkActions::NONE },
    );
}

fn child() {
    process_number::begin_child();
    saki_os::membarrier::register_child();
    child_locks::revive(&STOPPED);
    let me = current();
    // The process ends when its last foreground thread does. If the main thread is gone, the forking one stands for it.
    if let Some(me) = me.filter(|me| me.kind() != ThreadKind::Main) {
        // Relaxed: the child has one thread.
        me.kind.store(ThreadKind::Foreground as u32, Ordering::Relaxed);
    }
    registry::keep_only(me);
    if let Some(me) = me {
        me.set_poll(POLL_FORKED);
    }
    resume();
}

impl ManagedThread {
    /// A forked child does not have the threads that wait for the end of this one.
    pub(crate) fn forget_joiners(&self) {
        self.joiners.lock().clear();
    }
}

//! The scheduler across a fork (`saki_os::fork`): a child gets a new one, in which the thread that forked runs.
//!
//! Workers in their base contexts are not stopped for a fork, so a child finds queues and counts in the middle of
//! changes. It therefore begins with new ones, and with a new worker for its OS thread; what the parent's scheduler had
//! is left where it is. Invariant: a thread that a child does not have is in no queue and on no timer, and its parker
//! no longer makes it runnable (`ManagedParker::forget_owner`).

use crate::carriers::{forget_records, hold_records, make_only, release_records};
use crate::green::Green;
use crate::runnable::make_runnable;
use crate::scheduler::take_up;
use crate::watcher_sleep::forget_sleep;
use crate::{cold, mode, native_exit, parts, poller, watcher, workers};
use saki_os::{ForkActions, ForkStage, on_fork};
use saki_thread::{POLL_TAKEN, POLL_YIELD, ThreadKind};

/// Adds the scheduler to the parts that take notice of forks.
pub fn start() {
    on_fork(ForkStage::Scheduler, ForkActions { prepare, parent, child, restart });
}

fn prepare() {
    workers::hold_list();
    hold_records();
    cold::hold_list();
}

fn parent() {
    cold::release_list();
    release_records();
    workers::release_list();
}

fn child() {
    workers::forget_all();
    forget_records();
    cold::forget_all();
    forget_sleep();
    poller::forget();
    let Some(carriers) = mode::mode().carriers() else { return };
    let green = saki_thread::current().and_then(Green::of);
    native_exit::keep_this_os_thread(green.is_some_and(|green| green.thread.kind() == ThreadKind::Main));
    parts::make(carriers, green.is_some());
    let Some(green) = green else { return };
    green.thread.clear_poll(POLL_TAKEN | POLL_YIELD);
    // SAFETY: the thread runs: the cell is its own. The stack belongs to the pool of the parent's scheduler, and stays
    // the thread's.
    let _kept_mapped = unsafe { (*green.stack.get()).take() };
    if let Err(error) = take_up(make_only(), green.thread) {
        saki_base::bug!("no stack for the scheduler of a forked process: {error}");
    }
}

fn restart() {
    if parts::get().is_none() {
        return;
    }
    cold::start_again(make_runnable);
    if let Err(error) = watcher::start() {
        saki_base::bug!("no watcher for the scheduler of a forked process: {error}");
    }
}

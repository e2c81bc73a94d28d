//! The collector across a fork (`saki_os::fork`).
//!
//! Invariant: when the process forks, no collection runs or was asked for, and there are no collector threads. They
//! give their data back to MMTk before they end, and new ones take them: in the parent at once, in the child when it
//! comes back to the machine.

use super::collection::{self, forget_workers, wait_for_workers_to_end, worker_failure};
use super::instance::heap;
use crate::world;
use mmtk::util::{OpaquePointer, VMThread};
use saki_os::{ForkActions, ForkStage, on_fork};
use std::sync::atomic::{AtomicBool, Ordering};

/// The machine has ended, and the collector threads with it. Relaxed: set and read by the thread that has stopped the
/// world, so that the lock of stops orders the accesses.
static HAVE_ENDED: AtomicBool = AtomicBool::new(false);

/// Adds the collector to the parts that take notice of forks.
pub(crate) fn hook() {
    on_fork(ForkStage::World, ForkActions { prepare, parent, child: forget_workers, restart: start_workers });
}

fn prepare() {
    loop {
        world::stop_for_fork();
        // Relaxed: see `HAVE_ENDED`.
        if HAVE_ENDED.load(Ordering::Relaxed) {
            return;
        }
        let Some(epoch) = collection::awaited_epoch() else { break };
        // A collection was asked for, whose threads wait for this stop to end.
        world::resume_after_fork();
        collection::wait_for_epoch(epoch);
    }
    heap().mmtk.prepare_to_fork();
    wait_for_workers_to_end();
}

fn parent() {
    start_workers();
    world::resume_after_fork();
}

/// Ends the collector threads with the machine, when the collection that was asked for is over. Who asks for another one
/// waits for ever.
pub(crate) fn end_workers() {
    prepare();
    // Relaxed: see `HAVE_ENDED`.
    HAVE_ENDED.store(true, Ordering::Relaxed);
    world::resume_after_fork();
}

fn start_workers() {
    // Relaxed: see `HAVE_ENDED`.
    if HAVE_ENDED.load(Ordering::Relaxed) {
        return;
    }
    heap().mmtk.after_fork(VMThread(OpaquePointer::UNINITIALIZED));
    if let Some(error) = worker_failure() {
        saki_base::bug!("no collector thread after a fork: {error}");
    }
}

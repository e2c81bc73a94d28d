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

/// Adds the collector to the parts that take notice of forks.
pub(crate) fn hook() {
    on_fork(ForkStage::World, ForkActions { prepare, parent, child: forget_workers, restart: start_workers });
}

fn prepare() {
    loop {
        world::stop_for_fork();
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

fn start_workers() {
    heap().mmtk.after_fork(VMThread(OpaquePointer::UNINITIALIZED));
    if let Some(error) = worker_failure() {
        saki_base::bug!("no collector thread after a fork: {error}");
    }
}

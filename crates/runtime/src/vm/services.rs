//! The end of the service threads (`os::services`) with the machine.
//!
//! Invariant: after `end` no service thread touches the machine's data: those that can be woken have ended, unless one
//! took longer than `LIMIT`, and those that the kernel holds for somebody else return when it lets them go. A process
//! that exits does not come here: `note_end` at its exit costs one store and waits for none. Left out: managed threads,
//! which `exit` has stopped, and the carriers of green ones.

use crate::thread::CurrentThread;
use crate::thread_dump;
use saki_os::services::{self, Service};
use saki_os::{ExitStage, at_exit};
use std::time::Duration;

/// The longest time for which the end of a machine waits for a round of a service, such as writing the code cache.
const LIMIT: Duration = Duration::from_secs(2);

/// The kinds that can be woken wherever they wait.
const WOKEN: [Service; 11] = [
    Service::CheckWalks,
    Service::CodeCache,
    Service::Collector,
    Service::ProfileEnd,
    Service::ProfileLog,
    Service::ProfileWall,
    Service::Profiler,
    Service::Reactor,
    Service::Stacks,
    Service::Watcher,
    Service::ThreadDump,
];

/// To be called when the machine starts: at exit no service begins another round.
pub(crate) fn start() {
    at_exit(ExitStage::Services, || services::machine().note_end());
}

/// Ends the threads of a machine whose host lives on. Nothing runs managed code any more.
pub(crate) fn end(t: CurrentThread) {
    // While the threads run that a last collection may need.
    saki_gc::end();
    services::machine().note_end();
    services::machine().wake_pausing();
    thread_dump::wake_service();
    saki_sampler::wake_reader();
    saki_sched::wake_for_end();
    saki_reactor::interrupt();
    // Threads that did not end in time are no fault of the host's, and it could do nothing about them.
    let _ = t.managed().blocking(|| services::machine().wait_until_ended(&WOKEN, LIMIT));
}

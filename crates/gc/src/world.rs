//! The collector's use of the thread system: the only file that calls `saki_thread`'s stop and resume.

use saki_base::locks::{Mutex, rank};
use saki_thread::ManagedThread;

/// Proof that the world is stopped, kept between `stop` and `resume`, which may run on different collector threads.
static STOPPED: Mutex<rank::CollectionStop, Option<saki_thread::StopToken>> = Mutex::new(None);

/// Returns when no managed thread runs.
pub(crate) fn stop() {
    let token = saki_thread::stop_the_world(saki_thread::StopReason::Collection);
    let previous = STOPPED.lock().replace(token);
    assert!(previous.is_none(), "the world was stopped twice");
}

/// Lets all threads run again.
pub(crate) fn resume() {
    let token = STOPPED.lock().take().expect("the world is stopped");
    saki_thread::resume_the_world(token);
}

/// Stops all threads for a fork; `resume_after_fork` follows, in the parent.
pub(crate) fn stop_for_fork() {
    saki_thread::fork::stop();
}

/// Undoes `stop_for_fork`.
pub(crate) fn resume_after_fork() {
    saki_thread::fork::resume();
}

/// Calls `visit` with each range of words of a stopped thread that may hold references: its stack and saved registers.
pub(crate) fn for_each_conservative_range(thread: &ManagedThread, visit: impl FnMut(std::ops::Range<usize>)) {
    thread.for_each_conservative_range(visit);
}

/// Runs `f` while no collection does, and none can begin: MMTk takes requests only then. Threads that run managed code
/// are stopped as well.
pub(crate) fn between_collections<R>(f: impl FnOnce() -> R) -> R {
    saki_thread::with_world_stopped(saki_thread::StopReason::Inspection, |_| f())
}

/// Runs `wait`, for the end of a collection, with the current thread counted as stopped. It stays on its carrier, whose
/// part of the heap the caller is changing.
pub(crate) fn while_stopped(wait: impl FnOnce()) {
    match saki_thread::current() {
        Some(thread) => thread.blocking_in_place(wait),
        None => wait(),
    }
}

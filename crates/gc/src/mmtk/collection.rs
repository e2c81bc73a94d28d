//! MMTk's requests to stop the threads, let them wait, and resume them.
//!
//! Invariant: a thread that waits for a collection does so in a safe region, and leaves it only after the epoch moved
//! on.

use super::active_plan::{bound_carriers, hide_limits};
use super::by_need::EXIT_NO_MEMORY;
use super::chase;
use super::clock::{note_pause_start, note_stopped};
use super::instance::{Saki, heap, is_full_collection};
use super::mutator::prepare_for_collection;
use super::thread_pointers::worker_thread_pointer;
use super::trigger::SakiTrigger;
use crate::client::client;
use crate::{conditional, finalize, snapshot_request, world};
use mmtk::Mutator;
use mmtk::util::alloc::AllocationError;
use mmtk::util::heap::GCTriggerPolicy;
use mmtk::util::{OpaquePointer, VMMutatorThread, VMThread, VMWorkerThread};
use mmtk::vm::{Collection, GCThreadContext};
use saki_base::locks::{Mutex, rank};
use saki_os::services::{self, Service};
use saki_sync::WaitWord;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Number of finished collections. Threads that wait for one sleep on `EPOCH_MOVED`, which changes after it.
static EPOCH: AtomicU64 = AtomicU64::new(0);
static EPOCH_MOVED: WaitWord = WaitWord::new(0);
/// One more than the epoch in which a collection was last asked for. Relaxed: changes and is read while its writer, or
/// the world, is stopped.
static REQUESTED: AtomicU64 = AtomicU64::new(0);
/// Collector threads made since the last fork, and those that have not ended, which a fork waits for.
static WORKERS: AtomicUsize = AtomicUsize::new(0);
static LIVE_WORKERS: WaitWord = WaitWord::new(0);
/// Why a collector thread could not be started.
static WORKER_FAILURE: Mutex<rank::WorkerFailure, Option<std::io::Error>> = Mutex::new(None);

/// The error of starting a collector thread, if any; to be called after MMTk has requested its threads.
pub(super) fn worker_failure() -> Option<std::io::Error> {
    WORKER_FAILURE.lock().take()
}

/// Number of finished collections.
pub(crate) fn collection_epoch() -> u64 {
    // Acquire pairs with the release in `resume_mutators`: a thread that sees the number sees the collection's effects.
    EPOCH.load(Ordering::Acquire)
}

/// Requests a full collection and waits; the request may join a nursery collection. For a thread that runs no managed
/// code, or is not attached.
pub(crate) fn collect_from_outside() {
    let nobody = VMMutatorThread(VMThread(OpaquePointer::UNINITIALIZED));
    let before = world::between_collections(|| {
        heap().mmtk.handle_user_collection_request(nobody, true, true);
        note_request()
    });
    wait_for_epoch(before + 1);
}

/// A collection was asked for, by a thread that does not run managed code from now on until it has ended. The present
/// epoch.
fn note_request() -> u64 {
    let epoch = collection_epoch();
    REQUESTED.fetch_max(epoch + 1, Ordering::Relaxed);
    epoch
}

/// With the world stopped, but not for a collection: the epoch that begins when the collection has ended that was asked
/// for, if there is one.
pub(super) fn awaited_epoch() -> Option<u64> {
    let requested = REQUESTED.load(Ordering::Relaxed);
    (requested > collection_epoch()).then_some(requested)
}

/// Waits until so many collections have ended. The thread is attached to nothing, or counts as stopped.
pub(super) fn wait_for_epoch(epoch: u64) {
    loop {
        // Acquire, and before the epoch: pairs with `resume_mutators`.
        let seen = EPOCH_MOVED.load(Ordering::Acquire);
        if collection_epoch() >= epoch {
            return;
        }
        EPOCH_MOVED.wait(seen, None);
    }
}

/// Waits until the collector threads, which were told to, have ended.
pub(super) fn wait_for_workers_to_end() {
    loop {
        // Acquire: pairs with the Release at their end.
        match LIVE_WORKERS.load(Ordering::Acquire) {
            0 => break,
            live => drop(LIVE_WORKERS.wait(live, None)),
        }
    }
    // Relaxed: no collector thread is there, and the one that forks makes them again.
    WORKERS.store(0, Ordering::Relaxed);
}

/// In a forked child, which has none, and no thread that waits for a collection.
pub(super) fn forget_workers() {
    REQUESTED.store(collection_epoch(), Ordering::Relaxed);
}

/// Makes compiled code report each allocation from now on.
pub(crate) fn report_from_now_on() {
    world::between_collections(hide_limits);
}

pub(crate) struct SakiCollection;

impl Collection<Saki> for SakiCollection {
    fn stop_all_mutators<F>(_tls: VMWorkerThread, mut mutator_visitor: F)
    where
        F: FnMut(&'static mut Mutator<Saki>),
    {
        let is_full = is_full_collection();
        client().world_stops(is_full);
        note_pause_start();
        world::stop();
        note_stopped();
        client().world_stopped(is_full);
        chase::begin();
        conditional::begin(is_full);
        client().roots().iter().for_each(|provider| provider.begin(is_full));
        let mut heaps: Vec<_> = bound_carriers().into_iter().map(prepare_for_collection).collect();
        // By thread, whichever carrier has it: carriers may go from one waiting thread to the next while the world is
        // stopped. A nursery collection finds nothing young on the stack of a thread that has not run since the last
        // collection.
        let mut threads = Vec::new();
        saki_thread::for_each_thread_that_ran(|thread| threads.push(thread));
        if is_full {
            threads.clear();
            saki_thread::for_each_thread(|thread| threads.push(thread));
        }
        for (index, thread) in threads.into_iter().enumerate() {
            if !heaps.is_empty() {
                let mutator = index % heaps.len();
                heaps[mutator].threads_to_scan.push(thread);
            }
        }
        heaps.into_iter().for_each(|heap| mutator_visitor(&mut heap.mutator));
    }

    fn resume_mutators(_tls: VMWorkerThread) {
        let was_full = is_full_collection();
        snapshot_request::answer(was_full);
        // Release: pairs with the Acquire of threads that wait for this collection, which see what it has done.
        EPOCH.fetch_add(1, Ordering::Release);
        world::resume();
        // Release: a thread that sees the word sees the epoch.
        EPOCH_MOVED.atomic().fetch_add(1, Ordering::Release);
        EPOCH_MOVED.wake_all();
        client().world_runs(was_full);
        finalize::wake_if_ready();
    }

    fn block_for_gc(tls: VMMutatorThread) {
        if tls.0.0.is_null() {
            // `collect_from_outside` waits itself.
            return;
        }
        // The collection cannot have happened yet: it needs this thread to stop first.
        let before = note_request();
        world::while_stopped(|| wait_for_epoch(before + 1));
    }

    fn spawn_gc_thread(_tls: VMThread, context: GCThreadContext<Saki>) {
        let GCThreadContext::Worker(worker) = context;
        // Relaxed, as the count below: both are counts; what a thread has done is published at its end.
        let ordinal = WORKERS.fetch_add(1, Ordering::Relaxed);
        // A worker that panics leaves the world stopped for ever; a service thread's panic ends the process, with the
        // message printed.
        LIVE_WORKERS.atomic().fetch_add(1, Ordering::Relaxed);
        let spawned = services::machine().start_numbered(Service::Collector, ordinal, move || {
            worker.run(VMWorkerThread(worker_thread_pointer(ordinal)), heap().mmtk);
            // Release: what the thread did is visible to the one that forks.
            LIVE_WORKERS.atomic().fetch_sub(1, Ordering::Release);
            LIVE_WORKERS.wake_all();
        });
        if let Err(error) = spawned {
            LIVE_WORKERS.atomic().fetch_sub(1, Ordering::Release);
            *WORKER_FAILURE.lock() = Some(error);
        }
    }

    fn out_of_memory(_tls: VMThread, error: AllocationError) {
        match error {
            // The allocation returns null and the runtime throws.
            AllocationError::HeapOutOfMemory => {}
            AllocationError::MmapOutOfMemory => {
                saki_base::tell!("saki: the system refused memory for the heap");
                // SAFETY: ends the process without the handlers of exit. The world may be stopped, and this thread may
                // hold locks of the collection: handlers that stop the world or take such locks would never return.
                unsafe { libc::_exit(EXIT_NO_MEMORY) }
            }
        }
    }

    fn create_gc_trigger() -> Box<dyn GCTriggerPolicy<Saki>> {
        Box::new(SakiTrigger)
    }
}

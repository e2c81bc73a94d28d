//! MMTk's requests to stop the threads, let them wait, and resume them.
//!
//! Invariant: a thread that waits for a collection does so in a safe region, and leaves it only after the epoch moved on.

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
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Number of finished collections. Written with the mutex held; read without it only by threads that the collection
/// under way has to wait for, so it cannot move under them.
static EPOCH: AtomicU64 = AtomicU64::new(0);
static EPOCH_LOCK: Mutex<()> = Mutex::new(());
static EPOCH_MOVED: Condvar = Condvar::new();
static WORKERS: AtomicUsize = AtomicUsize::new(0);
/// Why a collector thread could not be started.
static WORKER_FAILURE: Mutex<Option<std::io::Error>> = Mutex::new(None);

/// The error of starting a collector thread, if any; to be called after MMTk has requested its threads.
pub(super) fn worker_failure() -> Option<std::io::Error> {
    WORKER_FAILURE.lock().take()
}

/// Number of finished collections.
pub(crate) fn collection_epoch() -> u64 {
    // Acquire pairs with the release in `resume_mutators`: a thread that sees the number sees the collection's effects.
    EPOCH.load(Ordering::Acquire)
}

/// Requests a full collection and waits; the request may join a nursery collection. For a thread that runs no managed code, or is not
/// attached.
pub(crate) fn collect_from_outside() {
    let nobody = VMMutatorThread(VMThread(OpaquePointer::UNINITIALIZED));
    let before = world::between_collections(|| {
        heap().mmtk.handle_user_collection_request(nobody, true, true);
        collection_epoch()
    });
    let mut guard = EPOCH_LOCK.lock();
    while collection_epoch() == before {
        EPOCH_MOVED.wait(&mut guard);
    }
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
        note_pause_start();
        world::stop();
        note_stopped();
        client().world_stopped();
        chase::begin();
        let is_full = is_full_collection();
        conditional::begin(is_full);
        let mut heaps: Vec<_> = bound_carriers().into_iter().map(prepare_for_collection).collect();
        // By thread, whichever carrier has it: carriers may go from one waiting thread to the next while the world is stopped. A nursery
        // collection finds nothing young on the stack of a thread that has not run since the last collection.
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
        snapshot_request::answer(is_full_collection());
        {
            let _guard = EPOCH_LOCK.lock();
            EPOCH.fetch_add(1, Ordering::Release);
        }
        world::resume();
        EPOCH_MOVED.notify_all();
        finalize::wake_if_ready();
    }

    fn block_for_gc(tls: VMMutatorThread) {
        if tls.0.0.is_null() {
            // `collect_from_outside` waits itself.
            return;
        }
        // The collection cannot have happened yet: it needs this thread to stop first.
        let before = collection_epoch();
        world::while_stopped(|| {
            let mut guard = EPOCH_LOCK.lock();
            while collection_epoch() == before {
                EPOCH_MOVED.wait(&mut guard);
            }
        });
    }

    fn spawn_gc_thread(_tls: VMThread, context: GCThreadContext<Saki>) {
        let GCThreadContext::Worker(worker) = context;
        let ordinal = WORKERS.fetch_add(1, Ordering::Relaxed);
        // A worker that panics leaves the world stopped for ever; a service thread's panic ends the process, with the message printed.
        let spawned = saki_os::thread::start_service(&format!("gc-{ordinal}"), move || {
            worker.run(VMWorkerThread(worker_thread_pointer(ordinal)), heap().mmtk);
        });
        if let Err(error) = spawned {
            *WORKER_FAILURE.lock() = Some(error);
        }
    }

    fn out_of_memory(_tls: VMThread, error: AllocationError) {
        match error {
            // The allocation returns null and the runtime throws.
            AllocationError::HeapOutOfMemory => {}
            AllocationError::MmapOutOfMemory => {
                saki_base::tell!("saki: the system refused memory for the heap");
                std::process::exit(EXIT_NO_MEMORY);
            }
        }
    }

    fn create_gc_trigger() -> Box<dyn GCTriggerPolicy<Saki>> {
        Box::new(SakiTrigger)
    }
}

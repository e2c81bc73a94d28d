//! Events of collections for .NET's EventListener.
//!
//! A collection is reported when it is over: its events carry the times at which its steps happened. Invariant: called
//! while the world is stopped. Left out: what Saki's heap does not have (segments, generations 1, 3 and 4, pinned
//! plugs): their sizes and numbers are 0; events for each object.

use crate::runtime_events::{self, EventKeyword, EventOrigin, EventPayload, RuntimeEventType};
use crate::thread::CurrentThread;
use saki_gc::Collection;
use saki_os::clock::{self, Moment};
use saki_os::thread;
use std::sync::atomic::{AtomicU32, Ordering};

const START: RuntimeEventType = RuntimeEventType::new(1, EventKeyword::GC);
const END: RuntimeEventType = RuntimeEventType::new(2, EventKeyword::GC);
const RESTART_END: RuntimeEventType = RuntimeEventType::new(3, EventKeyword::GC);
const HEAP_STATS: RuntimeEventType = RuntimeEventType::new(4, EventKeyword::GC);
const RESTART_BEGIN: RuntimeEventType = RuntimeEventType::new(7, EventKeyword::GC);
const SUSPEND_END: RuntimeEventType = RuntimeEventType::new(8, EventKeyword::GC);
const SUSPEND_BEGIN: RuntimeEventType = RuntimeEventType::new(9, EventKeyword::GC);

/// The generations that a full collection and one of the nursery collect, in .NET's numbers.
const OLDEST: u32 = 2;
const NURSERY: u32 = 0;

/// The threads that ask for a collection now. Relaxed: the collector stops them before it reads the number.
static ASKING: AtomicU32 = AtomicU32::new(0);

/// Collects for the program, `GC.Collect`: the events say that it was asked for.
pub fn collect_for_program(t: CurrentThread, full: bool) {
    ASKING.fetch_add(1, Ordering::Relaxed);
    saki_gc::collect(t.managed(), full);
    ASKING.fetch_sub(1, Ordering::Relaxed);
}

/// To be called at the end of a collection, before the threads run again.
pub(super) fn collected(collection: &Collection) {
    if START.is_wanted() {
        tell(collection);
    }
}

#[cold]
fn tell(collection: &Collection) {
    /// Reasons of collections: an allocation, and a call of the program's.
    const ALLOCATION: u32 = 0;
    const INDUCED: u32 = 1;
    /// Reason of a stop of the world.
    const FOR_COLLECTION: u32 = 1;
    /// Type of a collection that is neither concurrent nor in the background.
    const BLOCKING: u32 = 0;
    const NO_CLIENT: u64 = 0;

    let native_thread = thread::native_id();
    let now_ns = clock::monotonic_ns();
    let at = |step: Moment| now_ns.saturating_sub(step.elapsed().as_nanos() as u64);
    let [asked, stopped, .., done] = collection.steps.map(at);
    let post = |kind, time_ns, payload| {
        runtime_events::post(kind, EventOrigin { native_thread, time_ns, activity: [0; 16] }, payload);
    };
    let number = (saki_gc::collection_count(0) as u32).to_le_bytes();
    let before = (saki_gc::collection_count(0).wrapping_sub(1) as u32).to_le_bytes();
    let generation = if collection.was_full { OLDEST } else { NURSERY }.to_le_bytes();
    let reason = if ASKING.load(Ordering::Relaxed) == 0 { ALLOCATION } else { INDUCED };

    let stop = EventPayload::default().with(FOR_COLLECTION.to_le_bytes()).with(before).with_instance();
    post(SUSPEND_BEGIN, asked, stop);
    post(SUSPEND_END, stopped, EventPayload::default().with_instance());
    let start = EventPayload::default().with(number).with(generation).with(reason.to_le_bytes());
    let start = start.with(BLOCKING.to_le_bytes()).with_instance().with(NO_CLIENT.to_le_bytes());
    post(START, stopped, start);
    post(END, done, EventPayload::default().with(number).with(generation).with_instance());
    post(HEAP_STATS, done, heap_stats());
    post(RESTART_BEGIN, done, EventPayload::default().with_instance());
    post(RESTART_END, now_ns, EventPayload::default().with_instance());
}

/// Sizes of the generations 0 to 3 and what was promoted from each, the objects for finalization, pinned objects, sync
/// blocks and handles, and the pinned heap, which is generation 4. All that is in use is in the oldest generation, as
/// in what `GC` says.
fn heap_stats() -> EventPayload {
    let sizes: [u64; 10] =
        [0, 0, 0, 0, saki_gc::heap_bytes_used() as u64, 0, 0, 0, 0, saki_gc::finalizable_count() as u64];
    let payload = sizes.iter().fold(EventPayload::default(), |payload, size| payload.with(size.to_le_bytes()));
    let counts = [0_u32; 3];
    let payload = counts.iter().fold(payload, |payload, count| payload.with(count.to_le_bytes())).with_instance();
    payload.with(0_u64.to_le_bytes()).with(0_u64.to_le_bytes())
}

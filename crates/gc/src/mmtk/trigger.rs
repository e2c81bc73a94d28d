//! MMTk's questions about triggering, answered by `policy`.

use super::{Saki, heap, policy};
use crate::observer::Collection;
use crate::policy::CollectionOutcome;
use crate::stats;
use mmtk::util::heap::{GCTriggerPolicy, SpaceStats};
use mmtk::{MMTK, Plan};
use parking_lot::Mutex;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Default)]
struct Clock {
    last_start: Option<Instant>,
    /// Times of the collection under way: when the world had stopped, when weak processing began, and when it last ended.
    stopped: Option<Instant>,
    weak_start: Option<Instant>,
    weak_end: Option<Instant>,
    /// The thread that noted the start, and its processor time then.
    starter: (u32, Duration),
    last_end: Option<Instant>,
}

static CLOCK: Mutex<Clock> = Mutex::new(Clock {
    last_start: None,
    stopped: None,
    weak_start: None,
    weak_end: None,
    starter: (0, Duration::ZERO),
    last_end: None,
});

/// The pause begins: called when the collector asks the world to stop.
pub(super) fn note_pause_start() {
    let mut clock = CLOCK.lock();
    *clock = Clock {
        last_start: Some(Instant::now()),
        starter: processor_time(),
        last_end: clock.last_end,
        ..Clock::default()
    };
}

/// All threads have stopped.
pub(super) fn note_stopped() {
    CLOCK.lock().stopped = Some(Instant::now());
}

/// All strongly reachable objects are marked, and weak processing begins. Called several times, since weak processing may reach
/// more objects.
pub(super) fn note_weak_start() {
    CLOCK.lock().weak_start.get_or_insert_with(Instant::now);
}

/// Weak processing has ended.
pub(super) fn note_weak_end() {
    CLOCK.lock().weak_end = Some(Instant::now());
}

/// The calling thread and the processor time it has had.
fn processor_time() -> (u32, Duration) {
    (saki_os::thread::native_id(), Duration::from_nanos(saki_os::clock::thread_cpu_ns()))
}

/// How many times the largest heap MMTk believes in while it lays out its spaces.
const HEAPS_PER_SPACE: usize = 16;

pub(super) struct SakiTrigger;

impl GCTriggerPolicy<Saki> for SakiTrigger {
    fn on_pending_allocation(&self, pages: usize) {
        policy().add_pending(pages);
    }

    /// Runs before the plan decides whether the next collection is a full one, which depends on the new limit.
    fn on_pause_end(&self, mmtk: &'static MMTK<Saki>) {
        let plan = mmtk.get_plan();
        let was_full = last_was_full(plan);
        let reserved_pages = plan.get_reserved_pages();
        let now = Instant::now();
        let mut clock = CLOCK.lock();
        let start = clock.last_start.unwrap_or(now);
        let pause = now - start;
        // With several collector threads another one may end the pause: then all of it counts as work.
        let (thread, had) = clock.starter;
        let work = Some(processor_time()).filter(|now| now.0 == thread).map_or(pause, |now| now.1 - had);
        let mutator_time = clock.last_end.map_or(Duration::ZERO, |end| start.saturating_duration_since(end));
        clock.last_end = Some(now);
        // A step that did not come took no time.
        let stopped = clock.stopped.unwrap_or(start);
        let weak_start = clock.weak_start.unwrap_or(now);
        let steps = [start, stopped, weak_start, clock.weak_end.unwrap_or(now), now];
        drop(clock);
        policy().end_collection(CollectionOutcome { was_full, reserved_pages, pause, work, mutator_time });
        if was_full {
            super::trim::return_free_memory(reserved_pages * crate::policy::PAGE_BYTES);
        }
        stats::record_collection(was_full, pause, super::chase::marked_objects());
        crate::client::client().collected(&Collection { was_full, steps });
    }

    /// Runs when the plan has decided.
    fn on_gc_end(&self, mmtk: &'static MMTK<Saki>) {
        if (policy().full_is_due() || crate::snapshot::is_wanted())
            && let Some(generational) = mmtk.get_plan().generational()
        {
            generational.force_full_heap_collection();
        }
    }

    fn is_gc_required(&self, space_full: bool, space: Option<SpaceStats<Saki>>, plan: &dyn Plan<VM = Saki>) -> bool {
        policy().nursery_is_full() || policy().large_objects_due() || plan.collection_required(space_full, space)
    }

    fn is_heap_full(&self, plan: &dyn Plan<VM = Saki>) -> bool {
        plan.get_reserved_pages() > policy().limit_pages()
    }

    fn get_current_heap_size_in_pages(&self) -> usize {
        policy().limit_pages()
    }

    /// While the spaces are made MMTk gives each a range of twice this, and counts on it: when the large objects' addresses run
    /// out, because the gaps between them are too small for the next one, the process ends. Addresses cost nothing.
    fn get_max_heap_size_in_pages(&self) -> usize {
        let factor = if super::HEAP.get().is_none() { HEAPS_PER_SPACE } else { 1 };
        policy().max_pages() * factor
    }

    fn can_heap_size_grow(&self) -> bool {
        policy().can_grow()
    }
}

/// Whether the collection that runs (or ran last) is a full one.
pub(super) fn last_was_full(plan: &dyn Plan<VM = Saki>) -> bool {
    plan.generational().is_none_or(|generational| generational.last_collection_full_heap())
}

/// Whether the collection that runs is a full one.
pub(super) fn is_full_collection() -> bool {
    last_was_full(heap().mmtk.get_plan())
}

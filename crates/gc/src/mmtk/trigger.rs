//! MMTk's questions about triggering, answered by `policy`.

use super::clock::{self, Times};
use super::instance::{self, Saki, last_was_full, policy};
use super::{chase, scanning, trim};
use crate::client::client;
use crate::observer::Collection;
use crate::policy::{CollectionOutcome, PAGE_BYTES};
use crate::{snapshot_request, stats};
use mmtk::util::heap::{GCTriggerPolicy, SpaceStats};
use mmtk::{MMTK, Plan};

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
        let Times { pause, work, mutator_time, steps } = clock::note_end();
        let thread_bytes = scanning::take_thread_bytes();
        policy().end_collection(CollectionOutcome {
            was_full,
            reserved_pages,
            thread_bytes,
            pause,
            work,
            mutator_time,
        });
        if was_full {
            trim::return_free_memory(reserved_pages * PAGE_BYTES);
        }
        stats::record_collection(was_full, pause, chase::marked_objects());
        client().collected(&Collection { was_full, steps });
    }

    /// Runs when the plan has decided.
    fn on_gc_end(&self, mmtk: &'static MMTK<Saki>) {
        if (policy().full_is_due() || snapshot_request::is_wanted())
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

    /// While the spaces are made MMTk gives each a range of twice this, and counts on it: when the large objects'
    /// addresses run out, because the gaps between them are too small for the next one, the process ends. Addresses
    /// cost nothing.
    fn get_max_heap_size_in_pages(&self) -> usize {
        let factor = if instance::is_made() { 1 } else { HEAPS_PER_SPACE };
        policy().max_pages() * factor
    }

    fn can_heap_size_grow(&self) -> bool {
        policy().can_grow()
    }
}

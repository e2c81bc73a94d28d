//! Whether the managed work queue may hold an item that no worker has begun.
//!
//! Managed code requests a thread whenever one has ended its turn, whether or not there is work. Each thread that comes
//! looks through the local queues of all workers: with 10,000 workers whose items end one after the other that alone
//! takes a second. So requests wait here while every queued item is known to have begun.
//!
//! | who | does |
//! |---|---|
//! | a thread that has put an item into the queue | `queued` += 1, then looks whether a request waits |
//! | a worker whose item ends, or waits for the first time | `begun` += 1 |
//! | a worker that returns from the queue after a wait, but no item's end | `begun` -= 1: it may have waited for the queue itself |
//! | the pool, under its lock | notes that a request waits, then looks at the numbers once more |
//!
//! All accesses are SeqCst: when one thread queues an item and another lets a request wait, at least one of them sees
//! the other's store. Invariant: `begun` is at most the items taken out of queues plus the workers that are about to
//! take one or to return. Items that are taken out in another way (run by the thread that waits for them) count as
//! queued for ever; then requests are answered at once, which costs only time. An asynchronous exception can keep a
//! thread from counting the item that it has queued, so after the first such exception no request waits here any more.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// The numbers of the module header's table.
pub(super) struct Demand {
    queued: AtomicU64,
    begun: AtomicU64,
    has_waiting_request: AtomicBool,
}

impl Demand {
    pub(super) const fn new() -> Demand {
        Demand { queued: AtomicU64::new(0), begun: AtomicU64::new(0), has_waiting_request: AtomicBool::new(false) }
    }

    /// To be called after an item was queued. Whether a request waits for an item.
    pub(super) fn note_queued(&self) -> bool {
        self.queued.fetch_add(1, SeqCst);
        self.has_waiting_request.load(SeqCst)
    }

    /// `note_queued` of the next item returns true.
    pub(super) fn ask_for_answers(&self) {
        self.has_waiting_request.store(true, SeqCst);
    }

    /// Notes that the calling worker has begun an item, which was not noted before.
    pub(super) fn note_begun(&self) {
        self.begun.fetch_add(1, SeqCst);
    }

    /// Takes back a `note_begun` that may have been wrong.
    pub(super) fn forget_begun(&self) {
        self.begun.fetch_sub(1, SeqCst);
    }

    /// Whether a request should be answered now; if not, `note_queued` of the next item returns true. Called under the
    /// pool's lock.
    pub(super) fn is_worth_a_thread(&self) -> bool {
        if self.may_have_unbegun() {
            self.has_waiting_request.store(false, SeqCst);
            return true;
        }
        self.has_waiting_request.store(true, SeqCst);
        self.may_have_unbegun()
    }

    fn may_have_unbegun(&self) -> bool {
        // In this order: an item that is queued and begun in between counts as unbegun.
        let begun = self.begun.load(SeqCst);
        self.queued.load(SeqCst).wrapping_sub(begun).cast_signed() > 0
    }

    /// Items queued since the start.
    pub(super) fn queued_count(&self) -> u64 {
        self.queued.load(SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_waits_while_all_items_have_begun() {
        let demand = Demand::new();
        assert!(!demand.is_worth_a_thread());
        assert!(demand.note_queued());
        assert!(demand.is_worth_a_thread());
        assert!(!demand.note_queued());
        demand.note_begun();
        assert!(demand.is_worth_a_thread());
        demand.note_begun();
        assert!(!demand.is_worth_a_thread());
        assert_eq!(demand.queued_count(), 2);
    }

    #[test]
    fn a_worker_that_waited_for_the_queue_itself_counts_no_more_when_it_returns() {
        let demand = Demand::new();
        demand.note_queued();
        demand.note_begun();
        assert!(!demand.is_worth_a_thread());
        demand.forget_begun();
        assert!(demand.is_worth_a_thread());
    }

    #[test]
    fn an_item_that_ends_before_it_is_counted_hides_another_one_only_so_long() {
        let demand = Demand::new();
        demand.note_begun();
        demand.note_queued();
        assert!(!demand.is_worth_a_thread());
        assert!(demand.note_queued());
        assert!(demand.is_worth_a_thread());
    }
}

//! When to collect, and how far the heap may grow: pure arithmetic on pages, without any collector behind it.
//!
//! - A nursery collection runs when the small objects allocated since the last collection fill the nursery or when the
//!   large ones fill an allowance of their own.
//! - The nursery is small while nursery collections take little of the time: its memory stays in the caches and costs
//!   few page faults (lambdas compiled and dropped took 0.88 of the time at 4 MiB that they took at 32; a loop that
//!   only allocates took the same time, a tenth of it in pauses). It doubles when they take more than a tenth, and
//!   halves when they take less than a twenty-fourth; halving at most doubles their share. Beyond half of its largest
//!   size it grows to half of the heap at most: its survivors lie all over it and do not move, so that a heap has about
//!   as many blocks with a few survivors as fit into the largest nursery that it had, and in the heap of a server whose
//!   requests leave little behind these were three quarters of all blocks. The time that a collection waits for a
//!   processor, for itself or for threads that it stops, counts at most as much as the time that it works: one long
//!   wait says nothing about the next collection.
//! - The heap may grow to a limit derived from what survived the last full collection. The threads' stacks, which a
//!   full collection scans, count as survivors (as in Go since 1.19): beside a million threads that wait, whose stacks
//!   take three times the memory of their objects, full collections would otherwise follow each other. When a nursery
//!   collection leaves less than a nursery below the limit, the next collection is a full one (MMTk decides that from
//!   the limit).
//! - Only full collections raise the limit for an allocation that waits: its pages are part of the new limit, or the
//!   allocation would trigger collections for ever. After a nursery collection that leaves too little room for the
//!   allocation, a full one follows at once: large arrays, each dropped before the next is made, would otherwise
//!   survive as long as stack words still hold them, and a limit that follows them never asks for a full collection
//!   (300 arrays of 42 MB took 12 GB).
//! - A program is expected to allocate as fast as it has since the last full collection. Free memory that it would not
//!   use within some seconds need not stay resident ([`HeapPolicy::demand_bytes`]): a server that asks for a collection
//!   after a storm gives the storm's memory back.
//! - At the configured maximum, full collections that free next to nothing and take nearly all the time make the next
//!   slow-path allocation fail ("GC overhead limit"); without this, tens of seconds of full collections would precede
//!   the OutOfMemoryException.
//!
//! | atomic | written by | ordering |
//! |---|---|---|
//! | `limit_pages` | the collection's end, world stopped | Relaxed: readers need a value, not its history |
//! | `nursery_bytes`, `large_allowance_pages` | the collection's end, world stopped | Relaxed: as above |
//! | `pending_pages`, `large_pages`, `small_bytes` | mutators add, the collection's end clears | Relaxed: heuristics |
//! | `full_is_due` | the collection's end, world stopped | Relaxed: read by the same thread |
//! | `overhead_exceeded` | set by the collection's end, swapped by a mutator | Relaxed: it guards no data |

use saki_base::locks::{Mutex, rank};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// MMTk's page, in which the policy counts.
pub const PAGE_BYTES: usize = 4096;
/// Growth after a full collection: by half of what lives, and the largest nursery, and the next full collection comes
/// when less than that nursery is left. Mono lets the old generation grow by a third to a half.
/// Binary trees of depth 20 took 2.40 s at 318 MiB with 7/4 and two nurseries, 2.45 s at 260 MiB with this.
const GROWTH_DIVISOR: usize = 2;
/// The first full collection is not worth its pause before the heap has this size. What a nursery collection meets
/// survives until a full one: with 64 MiB here most of a server's heap was requests that had ended. A full collection
/// of such a heap takes 5 to 15 ms.
const FIRST_FULL_BYTES: usize = 32 << 20;
/// Nor is a later one before the heap has this size.
const NEXT_FULL_BYTES: usize = 24 << 20;
/// Pages beyond the pending ones, so that the retried allocation does not land exactly on the limit (a block is 8).
const RETRY_SLACK_PAGES: usize = 16;
/// Full collections in a row at the maximum before the overhead limit strikes.
const OVERHEAD_STREAK: u32 = 10;
/// Share of time in such a streak that counts as "nearly all": 9/10.
const OVERHEAD_MUTATOR_SHARE: u32 = 10;
/// The nursery doubles when nursery collections take more than one part in this many of the time, ...
const GROW_NURSERY_SHARE: u32 = 10;
/// ... and halves when they take less than one in this many.
const SHRINK_NURSERY_SHARE: u32 = 24;
/// Beyond half of its largest size the nursery grows to one part in this many of the heap.
const HEAP_PARTS_OF_NURSERY: usize = 2;
/// Free pages after a full collection below max/20 count as "next to nothing".
const OVERHEAD_FREE_DIVISOR: usize = 20;

/// Seconds of allocation for which a full collection leaves resident memory.
const DEMAND_SECONDS: u32 = 5;

/// The results of a collection, for the policy.
#[derive(Clone, Copy, Debug)]
pub struct CollectionOutcome {
    /// Whether old objects were collected as well.
    pub was_full: bool,
    /// Pages in use plus the collector's own reserve.
    pub reserved_pages: usize,
    /// Bytes of threads' stacks and structures that were scanned.
    pub thread_bytes: usize,
    /// For how long the world was stopped.
    pub pause: Duration,
    /// The part of the pause in which the collector had a processor.
    pub work: Duration,
    /// Time from the end of the previous collection to the start of this one.
    pub mutator_time: Duration,
}

#[derive(Default)]
struct OverheadStreak {
    full_collections: u32,
    collector_time: Duration,
    mutator_time: Duration,
}

/// Allocation since the last full collection, and what it says of the next seconds.
#[derive(Default)]
struct Demand {
    allocated_bytes: usize,
    elapsed: Duration,
    /// From the time between the last two full collections.
    demand_bytes: usize,
}

/// Time in nursery collections and between them; each collection halves the weight of earlier times.
#[derive(Default)]
struct NurseryTimes {
    collector: Duration,
    mutator: Duration,
}

/// The limits between which the nursery's size is chosen; equal = fixed.
#[derive(Clone, Copy, Debug)]
pub struct NurserySizes {
    /// The size of the nursery before anything is known.
    pub first_bytes: usize,
    /// The size up to which it grows.
    pub largest_bytes: usize,
}

/// See the module header.
pub struct HeapPolicy {
    nursery_sizes: NurserySizes,
    nursery_bytes: AtomicUsize,
    small_bytes: AtomicUsize,
    nursery_times: Mutex<rank::NurseryTimes, NurseryTimes>,
    demand: Mutex<rank::HeapDemand, Demand>,
    /// The size of the largest nursery.
    nursery_pages: usize,
    max_pages: usize,
    limit_pages: AtomicUsize,
    pending_pages: AtomicUsize,
    large_pages: AtomicUsize,
    large_allowance_pages: AtomicUsize,
    full_is_due: AtomicBool,
    overhead_exceeded: AtomicBool,
    streak: Mutex<rank::OverheadStreak, OverheadStreak>,
}

impl HeapPolicy {
    /// The policy of a heap that is empty.
    pub fn new(nursery_sizes: NurserySizes, max_heap_bytes: usize) -> Self {
        let nursery_pages = (nursery_sizes.largest_bytes / PAGE_BYTES).max(1);
        let max_pages = (max_heap_bytes / PAGE_BYTES).max(1);
        let limit_pages = (FIRST_FULL_BYTES / PAGE_BYTES + nursery_pages).min(max_pages);
        Self {
            nursery_sizes,
            nursery_bytes: AtomicUsize::new(nursery_sizes.first_bytes),
            small_bytes: AtomicUsize::new(0),
            nursery_times: Mutex::default(),
            demand: Mutex::default(),
            nursery_pages,
            max_pages,
            limit_pages: AtomicUsize::new(limit_pages),
            pending_pages: AtomicUsize::new(0),
            large_pages: AtomicUsize::new(0),
            large_allowance_pages: AtomicUsize::new(nursery_pages),
            full_is_due: AtomicBool::new(false),
            overhead_exceeded: AtomicBool::new(false),
            streak: Mutex::default(),
        }
    }

    /// The size, in pages, at which a collection is due.
    pub fn limit_pages(&self) -> usize {
        self.limit_pages.load(Ordering::Relaxed)
    }

    /// The size, in pages, that the heap may have at most.
    pub fn max_pages(&self) -> usize {
        self.max_pages
    }

    /// Whether the limit is still below the largest size.
    pub fn can_grow(&self) -> bool {
        self.limit_pages() < self.max_pages
    }

    /// An allocation of `pages` waits for the collection that starts now.
    pub fn add_pending(&self, pages: usize) {
        self.pending_pages.fetch_add(pages, Ordering::Relaxed);
    }

    /// Small objects of `bytes` have been allocated.
    pub fn add_small(&self, bytes: usize) {
        self.small_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Whether the small objects alone make a collection due.
    pub fn nursery_is_full(&self) -> bool {
        self.small_bytes.load(Ordering::Relaxed) >= self.nursery_bytes.load(Ordering::Relaxed)
    }

    /// A large object (or memory outside the heap that an object keeps) of `bytes` has been allocated.
    pub fn add_large(&self, bytes: usize) {
        self.large_pages.fetch_add(bytes.div_ceil(PAGE_BYTES), Ordering::Relaxed);
    }

    /// Whether the large objects alone make a collection due.
    pub fn large_objects_due(&self) -> bool {
        self.large_pages.load(Ordering::Relaxed) > self.large_allowance_pages.load(Ordering::Relaxed)
    }

    /// True once per strike of the overhead limit: the caller fails its allocation.
    pub fn take_overhead_exceeded(&self) -> bool {
        // The plain load first: the slow path is hot enough to spare it the locked instruction.
        self.overhead_exceeded.load(Ordering::Relaxed) && self.overhead_exceeded.swap(false, Ordering::Relaxed)
    }

    /// Whether the collection after the one that ended last must be a full one.
    pub fn full_is_due(&self) -> bool {
        self.full_is_due.load(Ordering::Relaxed)
    }

    /// The bytes that the program allocates in the next seconds if it goes on as before the last full collection.
    pub fn demand_bytes(&self) -> usize {
        self.demand.lock().demand_bytes
    }

    /// Computes the new limit. The world is stopped.
    pub fn end_collection(&self, outcome: CollectionOutcome) {
        let pending = self.pending_pages.swap(0, Ordering::Relaxed);
        let large_bytes = self.large_pages.swap(0, Ordering::Relaxed) * PAGE_BYTES;
        let allocated_bytes = large_bytes + self.small_bytes.swap(0, Ordering::Relaxed);
        self.estimate_demand(allocated_bytes, outcome);
        if !outcome.was_full {
            self.size_nursery(outcome);
        }
        let reserved = outcome.reserved_pages;
        // Relaxed, as the counts above: the world is stopped, and its end publishes them.
        self.large_allowance_pages.store(self.nursery_pages.max(reserved / 4), Ordering::Relaxed);
        let needed = reserved + RETRY_SLACK_PAGES;
        self.full_is_due.store(!outcome.was_full && needed + pending > self.limit_pages(), Ordering::Relaxed);
        let wanted = if outcome.was_full {
            let threads = outcome.thread_bytes / PAGE_BYTES;
            let growth = (reserved + threads) / GROWTH_DIVISOR;
            let grown = reserved + growth + self.nursery_pages + pending;
            grown.max(NEXT_FULL_BYTES / PAGE_BYTES + self.nursery_pages).max(needed + pending)
        } else {
            self.limit_pages().max(needed)
        };
        self.limit_pages.store(wanted.min(self.max_pages), Ordering::Relaxed);
        self.account_overhead(outcome);
    }

    fn estimate_demand(&self, allocated_bytes: usize, outcome: CollectionOutcome) {
        let mut demand = self.demand.lock();
        demand.allocated_bytes += allocated_bytes;
        demand.elapsed += outcome.mutator_time + outcome.pause;
        if outcome.was_full {
            let elapsed_ms = demand.elapsed.as_millis().max(1);
            let demand_ms = u128::from(DEMAND_SECONDS) * 1000;
            let expected = demand.allocated_bytes as u128 * demand_ms / elapsed_ms;
            let demand_bytes = usize::try_from(expected).unwrap_or(usize::MAX);
            *demand = Demand { demand_bytes, ..Demand::default() };
        }
    }

    fn size_nursery(&self, outcome: CollectionOutcome) {
        let mut times = self.nursery_times.lock();
        times.collector = times.collector / 2 + outcome.pause.min(outcome.work * 2);
        times.mutator = times.mutator / 2 + outcome.mutator_time;
        let whole = times.collector + times.mutator;
        let now = self.nursery_bytes.load(Ordering::Relaxed);
        let wanted = if times.collector * GROW_NURSERY_SHARE > whole {
            let largest = self.nursery_sizes.largest_bytes;
            let share = outcome.reserved_pages * PAGE_BYTES / HEAP_PARTS_OF_NURSERY;
            (now * 2).min(share.max(largest / 2).max(now)).min(largest)
        } else if times.collector * SHRINK_NURSERY_SHARE < whole {
            (now / 2).max(self.nursery_sizes.first_bytes)
        } else {
            now
        };
        if wanted != now {
            *times = NurseryTimes::default();
            self.nursery_bytes.store(wanted, Ordering::Relaxed);
        }
    }

    fn account_overhead(&self, outcome: CollectionOutcome) {
        let mut streak = self.streak.lock();
        let free_pages = self.max_pages.saturating_sub(outcome.reserved_pages);
        let at_maximum = !self.can_grow() && free_pages < self.max_pages / OVERHEAD_FREE_DIVISOR;
        if !at_maximum {
            *streak = OverheadStreak::default();
            return;
        }
        streak.collector_time += outcome.pause;
        streak.mutator_time += outcome.mutator_time;
        if outcome.was_full {
            streak.full_collections += 1;
        }
        if streak.full_collections >= OVERHEAD_STREAK
            && streak.mutator_time * (OVERHEAD_MUTATOR_SHARE - 1) < streak.collector_time
        {
            *streak = OverheadStreak::default();
            self.overhead_exceeded.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB_PAGES: usize = (1 << 20) / PAGE_BYTES;

    fn fixed(bytes: usize) -> NurserySizes {
        NurserySizes { first_bytes: bytes, largest_bytes: bytes }
    }

    #[test]
    fn nursery_grows_with_the_share_of_its_pauses() {
        let sizes = NurserySizes { first_bytes: 4 << 20, largest_bytes: 32 << 20 };
        let policy = HeapPolicy::new(sizes, 4 << 30);
        let after_in = |heap_pages, pause_ms, work_ms| {
            let outcome = CollectionOutcome {
                was_full: false,
                reserved_pages: heap_pages,
                thread_bytes: 0,
                pause: Duration::from_millis(pause_ms),
                work: Duration::from_millis(work_ms),
                mutator_time: Duration::from_millis(960),
            };
            policy.add_small(3 << 20);
            assert!(!policy.nursery_is_full());
            policy.add_small(29 << 20);
            assert!(policy.nursery_is_full());
            policy.end_collection(outcome);
            policy.nursery_bytes.load(Ordering::Relaxed) >> 20
        };
        let after_waiting = |pause_ms, work_ms| after_in(64 * MIB_PAGES, pause_ms, work_ms);
        let after = |pause_ms| after_waiting(pause_ms, pause_ms);
        assert_eq!([after(100), after(100)], [4, 4]);
        assert_eq!([after_waiting(10_000, 25), after(60)], [4, 4]);
        assert_eq!([after(300), after(300), after(300), after(300)], [8, 16, 32, 32]);
        assert!((0..20).all(|_| after(60) == 32));
        let halving: Vec<_> = (0..20).map(|_| after(20)).collect();
        assert!(halving.is_sorted_by(|before, now| before >= now), "{halving:?}");
        assert_eq!(halving.last(), Some(&4));
        let in_small_heap = || after_in(40 * MIB_PAGES, 300, 300);
        assert_eq!([in_small_heap(), in_small_heap(), in_small_heap(), in_small_heap()], [8, 16, 20, 20]);
        assert_eq!(after(300), 32);
        assert_eq!(in_small_heap(), 32, "a nursery that has been larger has its blocks");
    }

    fn outcome(was_full: bool, reserved_pages: usize) -> CollectionOutcome {
        CollectionOutcome {
            was_full,
            reserved_pages,
            thread_bytes: 0,
            pause: Duration::from_millis(100),
            work: Duration::from_millis(100),
            mutator_time: Duration::from_millis(1),
        }
    }

    #[test]
    fn limit_follows_live_size_and_pending_pages() {
        let policy = HeapPolicy::new(fixed(16 << 20), 4 << 30);
        assert_eq!(policy.limit_pages(), 48 * MIB_PAGES);
        policy.end_collection(outcome(true, 400 * MIB_PAGES));
        assert_eq!(policy.limit_pages(), 616 * MIB_PAGES);
        policy.add_pending(500 * MIB_PAGES);
        policy.end_collection(outcome(false, 410 * MIB_PAGES));
        assert_eq!(policy.limit_pages(), 616 * MIB_PAGES);
        assert!(policy.full_is_due());
        policy.add_pending(500 * MIB_PAGES);
        policy.end_collection(outcome(true, 410 * MIB_PAGES));
        assert_eq!(policy.limit_pages(), (615 + 16 + 500) * MIB_PAGES);
        assert!(!policy.full_is_due());
        policy.end_collection(outcome(true, MIB_PAGES));
        assert_eq!(policy.limit_pages(), 40 * MIB_PAGES);
        policy.end_collection(outcome(true, 4000 * MIB_PAGES));
        assert!(!policy.can_grow());
    }

    #[test]
    fn limit_follows_the_size_of_scanned_threads() {
        let policy = HeapPolicy::new(fixed(16 << 20), 4 << 30);
        let with_threads = CollectionOutcome { thread_bytes: 900 << 20, ..outcome(true, 300 * MIB_PAGES) };
        policy.end_collection(with_threads);
        assert_eq!(policy.limit_pages(), (300 + 600 + 16) * MIB_PAGES);
    }

    #[test]
    fn demand_follows_the_rate_of_allocation_between_full_collections() {
        let policy = HeapPolicy::new(fixed(16 << 20), 4 << 30);
        let after = |was_full, bytes, ms| {
            policy.add_small(bytes);
            let mutator_time = Duration::from_millis(ms);
            let pause = Duration::ZERO;
            policy.end_collection(CollectionOutcome {
                was_full,
                reserved_pages: 100,
                thread_bytes: 0,
                pause,
                work: pause,
                mutator_time,
            });
            policy.demand_bytes()
        };
        assert_eq!(after(false, 4 << 20, 1000), 0);
        assert_eq!(after(true, 4 << 20, 1000), 20 << 20);
        assert_eq!(after(true, 1 << 20, 10_000), (1 << 20) / 2);
        assert_eq!(after(true, 0, 0), 0);
    }

    #[test]
    fn large_objects_have_their_own_allowance() {
        let policy = HeapPolicy::new(fixed(16 << 20), 4 << 30);
        policy.add_large(16 << 20);
        assert!(!policy.large_objects_due());
        policy.add_large(1);
        assert!(policy.large_objects_due());
        policy.end_collection(outcome(false, 10 * MIB_PAGES));
        assert!(!policy.large_objects_due());
    }

    #[test]
    fn overhead_limit_strikes_once_per_streak() {
        let policy = HeapPolicy::new(fixed(1 << 20), 64 << 20);
        for _ in 0..OVERHEAD_STREAK - 1 {
            policy.end_collection(outcome(true, 63 * MIB_PAGES));
            assert!(!policy.take_overhead_exceeded());
        }
        policy.end_collection(outcome(true, 63 * MIB_PAGES));
        assert!(policy.take_overhead_exceeded());
        assert!(!policy.take_overhead_exceeded());
    }
}

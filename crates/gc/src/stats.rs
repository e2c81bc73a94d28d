//! Counters of collections and a histogram of their pauses.
//!
//! Invariant: written only while the world is stopped, by the one collection that runs; read by anyone, Relaxed: each
//! number is correct by itself, but two of them may be of different collections.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Bucket `i` counts pauses of `[2^i, 2^(i+1))` µs; bucket 0 also those below 1 µs, the last one everything above.
pub const PAUSE_BUCKETS: usize = 24;

/// Relaxed, as the others of these: numbers for reports, which publish nothing.
static NURSERY_COLLECTIONS: AtomicU64 = AtomicU64::new(0);
static FULL_COLLECTIONS: AtomicU64 = AtomicU64::new(0);
static PAUSE_TOTAL_NS: AtomicU64 = AtomicU64::new(0);
static MARKED_IN_PLACE: AtomicU64 = AtomicU64::new(0);
static PAUSE_MAX_NS: AtomicU64 = AtomicU64::new(0);
static HISTOGRAM: [AtomicU64; PAUSE_BUCKETS] = [const { AtomicU64::new(0) }; PAUSE_BUCKETS];

/// A copy of all counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapStatistics {
    /// Collections of young objects only.
    pub nursery_collections: u64,
    /// Collections of all objects.
    pub full_collections: u64,
    /// Objects that the collector thread marked without MMTk's queue; 0 with several collector threads.
    pub objects_marked_in_place: u64,
    /// For how long the world was stopped in all collections together.
    pub pause_total: Duration,
    /// The longest stop of the world for a collection.
    pub pause_max: Duration,
    /// See [`PAUSE_BUCKETS`].
    pub pause_histogram: [u64; PAUSE_BUCKETS],
}

impl HeapStatistics {
    /// Upper bound of the pause that `share` (0–1) of the collections stayed below.
    pub fn pause_quantile(&self, share: f64) -> Duration {
        let total: u64 = self.pause_histogram.iter().sum();
        let mut seen = 0;
        for (bucket, count) in self.pause_histogram.iter().enumerate() {
            seen += count;
            if seen as f64 >= total as f64 * share {
                return Duration::from_micros(2 << bucket).min(self.pause_max);
            }
        }
        self.pause_max
    }
}

pub(crate) fn record_collection(was_full: bool, pause: Duration, marked_in_place: u64) {
    MARKED_IN_PLACE.fetch_add(marked_in_place, Ordering::Relaxed);
    let count = if was_full { &FULL_COLLECTIONS } else { &NURSERY_COLLECTIONS };
    count.fetch_add(1, Ordering::Relaxed);
    let ns = pause.as_nanos() as u64;
    PAUSE_TOTAL_NS.fetch_add(ns, Ordering::Relaxed);
    PAUSE_MAX_NS.fetch_max(ns, Ordering::Relaxed);
    let bucket = (ns / 1000).max(1).ilog2() as usize;
    HISTOGRAM[bucket.min(PAUSE_BUCKETS - 1)].fetch_add(1, Ordering::Relaxed);
}

/// Collections so far that collected `generation`: every collection counts for 0, full ones also for 1 and above.
/// This is what `GC.CollectionCount` shows (Mono has two generations).
pub fn collection_count(generation: u32) -> u64 {
    let full = FULL_COLLECTIONS.load(Ordering::Relaxed);
    if generation == 0 { full + NURSERY_COLLECTIONS.load(Ordering::Relaxed) } else { full }
}

/// A copy of all counters.
pub fn statistics() -> HeapStatistics {
    HeapStatistics {
        nursery_collections: NURSERY_COLLECTIONS.load(Ordering::Relaxed),
        full_collections: FULL_COLLECTIONS.load(Ordering::Relaxed),
        objects_marked_in_place: MARKED_IN_PLACE.load(Ordering::Relaxed),
        pause_total: Duration::from_nanos(PAUSE_TOTAL_NS.load(Ordering::Relaxed)),
        pause_max: Duration::from_nanos(PAUSE_MAX_NS.load(Ordering::Relaxed)),
        pause_histogram: std::array::from_fn(|bucket| HISTOGRAM[bucket].load(Ordering::Relaxed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_is_the_upper_bound_of_its_bucket() {
        let mut statistics = HeapStatistics { pause_max: Duration::from_millis(30), ..HeapStatistics::default() };
        statistics.pause_histogram[8] = 99; // 256–511 µs
        statistics.pause_histogram[14] = 1; // 16–32 ms
        assert_eq!(statistics.pause_quantile(0.5), Duration::from_micros(512));
        assert_eq!(statistics.pause_quantile(1.0), Duration::from_millis(30));
    }
}

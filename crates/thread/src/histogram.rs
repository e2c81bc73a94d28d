//! A histogram of durations in powers of two.
//!
//! Invariant: recording is one relaxed increment. Left out: anything finer than a factor of two.

use std::sync::atomic::{AtomicU64, Ordering};

/// Buckets: `counts[b]` counts durations in [2^b, 2^(b+1)) ns; bucket 0 also holds 0.
pub const BUCKET_COUNT: usize = 40;

/// Counters that many threads may add to.
pub struct Histogram {
    counts: [AtomicU64; BUCKET_COUNT],
    max_ns: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// A histogram without entries.
    pub const fn new() -> Histogram {
        Histogram { counts: [const { AtomicU64::new(0) }; BUCKET_COUNT], max_ns: AtomicU64::new(0) }
    }

    /// Counts a duration, in nanoseconds.
    pub fn record_ns(&self, duration_ns: u64) {
        let bucket = (duration_ns.max(1).ilog2() as usize).min(BUCKET_COUNT - 1);
        // Relaxed: statistics.
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.max_ns.fetch_max(duration_ns, Ordering::Relaxed);
    }

    /// A copy of the counts.
    pub fn snapshot(&self) -> HistogramSnapshot {
        HistogramSnapshot {
            // Relaxed: statistics; a snapshot under way may miss some.
            counts: std::array::from_fn(|b| self.counts[b].load(Ordering::Relaxed)),
            max_ns: self.max_ns.load(Ordering::Relaxed),
        }
    }
}

/// The counters at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramSnapshot {
    /// By bucket.
    pub counts: [u64; BUCKET_COUNT],
    /// The longest, 0 when nothing was recorded.
    pub max_ns: u64,
}

impl HistogramSnapshot {
    /// How many durations were counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The most that the `quantile` (0–1) of the durations took: the upper bound of its bucket, or the longest; 0 when
    /// nothing was recorded.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        let wanted = (self.total() as f64 * quantile).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if *count > 0 && seen >= wanted {
                return (2 << bucket).min(self.max_ns);
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_name_the_bucket() {
        let histogram = Histogram::new();
        for ns in [0, 1, 5, 6, 7, 1000, u64::MAX] {
            histogram.record_ns(ns);
        }
        let snapshot = histogram.snapshot();
        assert_eq!((snapshot.total(), snapshot.quantile_ns(0.5)), (7, 8));
        assert_eq!((snapshot.counts[BUCKET_COUNT - 1], snapshot.max_ns), (1, u64::MAX));
    }
}

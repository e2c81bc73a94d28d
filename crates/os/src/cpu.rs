//! Processors.
//!
//! Invariant: the count respects the process's affinity mask and its cgroup quota. Left out: feature detection.

use std::sync::OnceLock;

/// Processors this process may run on, at least 1. The number is determined once: it takes a dozen system calls, and
/// programs ask often.
pub fn count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
}

/// A hint in spin loops.
#[inline(always)]
pub fn spin_hint() {
    std::hint::spin_loop();
}

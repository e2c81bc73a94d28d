//! Processors.
//!
//! Invariant: the count respects the process's affinity mask and its cgroup quota. Left out: feature detection.

/// Processors this process may run on, at least 1.
pub fn count() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// A hint in spin loops.
#[inline(always)]
pub fn spin_hint() {
    std::hint::spin_loop();
}

//! Options of the heap, fixed once at start-up.
//!
//! Left out: parsing of command lines and environment variables, which belongs to `cli` and `runtime`.

/// Forces collections at fixed points, to find missing roots and barriers.
///
/// With stress on, every collection is a full one that treats every block as fragmented, so that each object which no
/// stack word points to moves whenever there is room to move it (the collector keeps 2 % of the heap for that, plus
/// what is free below the limit). Inline allocation is disabled by hiding the thread's buffer: each allocation takes
/// the slow path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stress {
    /// Collect before every n-th allocation of a thread; 0 = never.
    pub every_nth_allocation: u32,
    /// Collect at every n-th call of [`crate::stress_safepoint`] of a thread; 0 = never.
    pub every_nth_safepoint: u32,
}

/// See the module header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapOptions {
    /// Upper bound of the heap, live and free, in bytes. `None` = 3/4 of the memory of the machine.
    pub max_heap_bytes: Option<usize>,
    /// Bytes allocated between two nursery collections. `None` = between [`FIRST_NURSERY_BYTES`] and
    /// [`MAX_NURSERY_BYTES`], as large as the pauses ask for (`policy`).
    pub nursery_bytes: Option<usize>,
    /// Threads that trace. One is the default: waiting workers spin, which costs more than they bring on few cores.
    pub gc_threads: usize,
    /// `None` in normal runs.
    pub stress: Option<Stress>,
}

/// Nursery of programs whose objects die young: it costs few page faults and cache misses. At 2 MiB the fixed cost of a
/// collection, about 0.1 ms, would outweigh the gain.
pub const FIRST_NURSERY_BYTES: usize = 4 << 20;
/// Nursery of programs whose pauses are long: depth-18 binary trees took 0.94 s at 4 MiB, 0.68 at 16 and 0.54 at 32.
pub const MAX_NURSERY_BYTES: usize = 32 << 20;
/// Below this a nursery holds too few 32 KiB blocks to be worth a collection.
pub const MIN_NURSERY_BYTES: usize = 1 << 20;
/// As many as large machines have processors. Each is a thread of the system, and those that find nothing to trace
/// spin.
pub const MAX_GC_THREADS: usize = 256;

impl Default for HeapOptions {
    fn default() -> Self {
        Self { max_heap_bytes: None, nursery_bytes: None, gc_threads: 1, stress: None }
    }
}

//! What compiling costs, for `saki --stats`.
//!
//! Off by default: clocks and counters that all threads share would take a tenth of the time of compiling a small method.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// The costs of compiling; see `keep_statistics`.
#[derive(Default)]
pub struct CompileStatistics {
    pub methods: AtomicU64,
    pub code_bytes: AtomicU64,
    pub import_nanoseconds: AtomicU64,
    pub codegen_nanoseconds: AtomicU64,
    pub place_nanoseconds: AtomicU64,
}

pub static STATISTICS: CompileStatistics = CompileStatistics {
    methods: AtomicU64::new(0),
    code_bytes: AtomicU64::new(0),
    import_nanoseconds: AtomicU64::new(0),
    codegen_nanoseconds: AtomicU64::new(0),
    place_nanoseconds: AtomicU64::new(0),
};

/// CIL of the compiled methods themselves, without those inlined into them; in bytes.
pub static IL_BYTES: AtomicU64 = AtomicU64::new(0);

/// Methods whose code the baseline compiler made; always counted.
pub static BASELINE_METHODS: AtomicU64 = AtomicU64::new(0);

/// Calls that compare before they call a method directly (`il::import`, `guards`).
pub static GUARDED_CALLS: AtomicU64 = AtomicU64::new(0);

static ARE_STATISTICS_WANTED: AtomicBool = AtomicBool::new(false);

/// Starts to keep `STATISTICS`.
pub fn keep_statistics() {
    // Relaxed: set before managed code runs.
    ARE_STATISTICS_WANTED.store(true, Ordering::Relaxed);
}

pub(super) fn are_statistics_wanted() -> bool {
    // Relaxed: see the store.
    ARE_STATISTICS_WANTED.load(Ordering::Relaxed)
}

/// Measures for the statistics.
pub(super) struct Stopwatch(Option<Instant>);

impl Stopwatch {
    pub fn start() -> Stopwatch {
        Stopwatch(are_statistics_wanted().then(Instant::now))
    }

    /// Adds the time since the start, and returns it; 0 when no statistics are kept.
    pub fn add_to(&self, total: &AtomicU64) -> u64 {
        let Some(started) = self.0 else { return 0 };
        let nanoseconds = started.elapsed().as_nanos() as u64;
        // Relaxed: a counter.
        total.fetch_add(nanoseconds, Ordering::Relaxed);
        nanoseconds
    }
}

//! What was measured: a row for each figure, a cell for each runtime.

use super::benchmarks::Figure;

/// One figure under one runtime.
#[derive(Default, Clone)]
pub struct Cell {
    pub(super) samples: Vec<f64>,
    /// The count, where it is not the first one of the benchmark.
    pub(super) at: Option<u64>,
    /// Why there is no figure.
    pub(super) failure: Option<String>,
}

impl Cell {
    pub(super) fn value(&self) -> Option<f64> {
        let mut samples = self.samples.clone();
        samples.sort_by(f64::total_cmp);
        let n = samples.len();
        if n == 0 { None } else { Some((samples[(n - 1) / 2] + samples[n / 2]) / 2.0) }
    }
}

/// One figure under all runtimes, in their order.
pub struct Row {
    pub(super) figure: &'static Figure,
    pub(super) cells: Vec<Cell>,
}

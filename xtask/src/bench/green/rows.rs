//! What was measured: a row for each figure, a cell for each runtime.

use super::benchmarks::Figure;
use crate::bench::figures::median;

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
        median(&self.samples)
    }
}

/// One figure under all runtimes, in their order.
pub struct Row {
    pub(super) figure: &'static Figure,
    pub(super) cells: Vec<Cell>,
}

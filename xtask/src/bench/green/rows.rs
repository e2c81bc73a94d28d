//! What was measured: a row for each figure, a cell for each runtime.

use super::benchmarks::Figure;
pub(super) use crate::bench::figures::Cell;

/// One figure under all runtimes, in their order.
pub struct Row {
    pub(super) figure: &'static Figure,
    pub(super) cells: Vec<Cell>,
}

//! What was measured: a row for each figure, a cell for each runtime.

use crate::bench::figures::median;

/// Connections that are kept busy.
pub(super) const CONNECTIONS: [u64; 4] = [64, 512, 4_000, 10_000];

/// One figure under one runtime.
#[derive(Default, Clone)]
pub struct Cell {
    pub(super) samples: Vec<f64>,
    /// Why there is no figure, or what was wrong in a run.
    pub(super) failure: Option<String>,
}

impl Cell {
    pub(super) fn value(&self) -> Option<f64> {
        median(&self.samples)
    }
}

/// One figure under all runtimes, in their order.
pub struct Row {
    pub(super) label: String,
    pub(super) unit: &'static str,
    /// Whether a larger figure is the better one.
    pub(super) is_rate: bool,
    pub(super) cells: Vec<Cell>,
}

/// The figures, a row each, in the order in which they first came.
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
    pub(super) columns: usize,
}

impl Table {
    fn row(&mut self, label: &str, unit: &'static str, is_rate: bool) -> &mut Row {
        let place = self.rows.iter().position(|row| row.label == label).unwrap_or_else(|| {
            let cells = vec![Cell::default(); self.columns];
            self.rows.push(Row { label: label.to_owned(), unit, is_rate, cells });
            self.rows.len() - 1
        });
        &mut self.rows[place]
    }

    pub(super) fn add(&mut self, column: usize, label: &str, unit: &'static str, is_rate: bool, value: f64) {
        self.row(label, unit, is_rate).cells[column].samples.push(value);
    }

    pub(super) fn fail(&mut self, column: usize, label: &str, unit: &'static str, is_rate: bool, reason: &str) {
        self.row(label, unit, is_rate).cells[column].failure = Some(reason.to_owned());
    }
}

//! What was measured: a row for each figure, a cell for each runtime.

pub(super) use crate::bench::figures::Cell;

/// Connections that are kept busy.
pub(super) const CONNECTIONS: [u64; 4] = [64, 512, 4_000, 10_000];

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

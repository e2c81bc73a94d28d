//! What was measured: a row for each figure, a cell for each runtime.

pub(in crate::bench) use crate::bench::figures::Cell;

/// Connections that are kept busy.
pub(super) const CONNECTIONS: [u64; 4] = [64, 512, 4_000, 10_000];

/// One figure under all runtimes, in their order.
pub struct Row {
    pub(in crate::bench) label: String,
    pub(in crate::bench) unit: &'static str,
    /// Whether a larger figure is the better one.
    pub(in crate::bench) is_rate: bool,
    pub(in crate::bench) cells: Vec<Cell>,
}

/// The figures, a row each, in the order in which they first came.
pub(in crate::bench) struct Table {
    pub(in crate::bench) rows: Vec<Row>,
    pub(in crate::bench) columns: usize,
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

    pub(in crate::bench) fn add(&mut self, column: usize, label: &str, unit: &'static str, is_rate: bool, value: f64) {
        self.row(label, unit, is_rate).cells[column].samples.push(value);
    }

    pub(in crate::bench) fn fail(
        &mut self,
        column: usize,
        label: &str,
        unit: &'static str,
        is_rate: bool,
        reason: &str,
    ) {
        self.row(label, unit, is_rate).cells[column].failure = Some(reason.to_owned());
    }
}

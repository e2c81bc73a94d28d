//! The `#~` stream: rows are kept in the order of their addition, and sorted and encoded at the end. ECMA-335
//! §II.24.2.6, §II.22.

use super::{Heaps, put16, put32};
use crate::rows::columns;
use crate::tables::{ColumnKind, MAX_COLUMNS};
use crate::token::{CodedKind, Rid, TABLE_COUNT, TableId, Token};

/// One row: a number for each column. Coded columns hold the token, the others the value of the file.
type Row = [u32; MAX_COLUMNS];

/// Tables that must be sorted, with the columns of the key. §II.22.
const SORTED: [(TableId, &[usize]); 14] = [
    (TableId::InterfaceImpl, &[0]),
    (TableId::Constant, &[1]),
    (TableId::CustomAttribute, &[0]),
    (TableId::FieldMarshal, &[0]),
    (TableId::DeclSecurity, &[1]),
    (TableId::ClassLayout, &[2]),
    (TableId::FieldLayout, &[1]),
    (TableId::MethodSemantics, &[2]),
    (TableId::MethodImpl, &[0]),
    (TableId::ImplMap, &[1]),
    (TableId::FieldRva, &[1]),
    (TableId::NestedClass, &[0]),
    (TableId::GenericParam, &[2, 0]),
    (TableId::GenericParamConstraint, &[0]),
];

/// Rows of all tables.
pub struct TableWriter {
    rows: [Vec<Row>; TABLE_COUNT],
}

impl Default for TableWriter {
    fn default() -> Self {
        TableWriter { rows: std::array::from_fn(|_| Vec::new()) }
    }
}

impl TableWriter {
    /// Adds a row and returns its number, which is final unless the table is one of `SORTED`.
    pub fn add(&mut self, table: TableId, cells: &[u32]) -> Rid {
        debug_assert_eq!(cells.len(), columns(table).len(), "columns of {table:?}");
        let mut row = [0; MAX_COLUMNS];
        for (to, from) in row.iter_mut().zip(cells) {
            *to = *from;
        }
        let Some(rows) = self.rows.get_mut(table as usize) else { return 0 };
        rows.push(row);
        rows.len() as Rid
    }

    /// Changes a cell of a row added by `add`.
    pub fn set(&mut self, table: TableId, rid: Rid, column: usize, value: u32) {
        let row = self.rows.get_mut(table as usize).and_then(|rows| rows.get_mut((rid as usize).checked_sub(1)?));
        if let Some(cell) = row.and_then(|row| row.get_mut(column)) {
            *cell = value;
        }
    }

    /// The number of rows that were added to the table.
    pub fn count(&self, table: TableId) -> u32 {
        self.rows.get(table as usize).map_or(0, |rows| rows.len() as u32)
    }

    /// The value by which a cell is sorted and as which it is stored.
    fn stored(kind: ColumnKind, value: u32) -> u32 {
        match kind {
            ColumnKind::Coded(coded) if value != 0 => coded.encode(Token(value)).unwrap_or(0),
            _ => value,
        }
    }

    fn sort(&mut self) {
        for (table, key) in SORTED {
            let kinds = columns(table);
            let Some(rows) = self.rows.get_mut(table as usize) else { continue };
            let key_of = |row: &Row| key.iter().map(|&column| Self::stored(kinds[column], row[column])).collect();
            let mut order: Vec<(Vec<u32>, usize)> =
                rows.iter().enumerate().map(|(index, row)| (key_of(row), index)).collect();
            if order.is_sorted() {
                continue;
            }
            order.sort();
            *rows = order.iter().map(|&(_, index)| rows[index]).collect();
            if table == TableId::GenericParam {
                let mut moved = vec![0; order.len() + 1];
                for (to, &(_, from)) in order.iter().enumerate() {
                    moved[from + 1] = to as u32 + 1;
                }
                self.follow_generic_params(&moved);
            }
        }
    }

    /// `moved[old row]` is the new row.
    fn follow_generic_params(&mut self, moved: &[u32]) {
        let new_row = |old: u32| moved.get(old as usize).copied().unwrap_or(old);
        if let Some(rows) = self.rows.get_mut(TableId::GenericParamConstraint as usize) {
            rows.iter_mut().for_each(|row| row[0] = new_row(row[0]));
        }
        if let Some(rows) = self.rows.get_mut(TableId::CustomAttribute as usize) {
            for row in rows.iter_mut().filter(|row| Token(row[0]).table() == TableId::GenericParam) {
                row[0] = Token::new(TableId::GenericParam, new_row(Token(row[0]).rid())).0;
            }
        }
    }

    /// Sorts and encodes the tables. Constraints and attributes of generic parameters are sorted after the parameters
    /// have their final rows.
    pub(super) fn finish(mut self, heaps: &Heaps) -> Vec<u8> {
        const WIDE: usize = 0x1_0000;
        // Constraints and attributes come before and after GenericParam in `SORTED`; the second pass settles both.
        self.sort();
        self.sort();
        let rows = |table: TableId| self.count(table) as usize;
        let is_wide = |kind: ColumnKind| match kind {
            ColumnKind::U16 => false,
            ColumnKind::U32 => true,
            ColumnKind::Str => heaps.strings.len() >= WIDE,
            ColumnKind::Guid => heaps.guids.len() / 16 >= WIDE,
            ColumnKind::Blob => heaps.blobs.len() >= WIDE,
            ColumnKind::Table(table) => rows(table) >= WIDE,
            ColumnKind::Coded(coded) => {
                coded.tables().iter().any(|&table| rows(table) >= 1 << (16 - CodedKind::tag_bits(coded)))
            }
        };
        let heap_sizes = u8::from(is_wide(ColumnKind::Str))
            | u8::from(is_wide(ColumnKind::Guid)) << 1
            | u8::from(is_wide(ColumnKind::Blob)) << 2;
        let mut out = Vec::new();
        put32(&mut out, 0);
        out.extend([2, 0, heap_sizes, 1]);
        let bits = |test: &dyn Fn(TableId) -> bool| {
            TableId::ALL.iter().filter(|&&table| test(table)).fold(0u64, |bits, &table| bits | 1 << table as u8)
        };
        out.extend(bits(&|table| rows(table) != 0).to_le_bytes());
        out.extend(bits(&|table| SORTED.iter().any(|&(sorted, _)| sorted == table)).to_le_bytes());
        TableId::ALL.iter().filter(|&&table| rows(table) != 0).for_each(|&table| put32(&mut out, rows(table) as u32));
        for table in TableId::ALL {
            let Some(rows) = self.rows.get(table as usize) else { continue };
            for row in rows {
                for (&kind, &value) in columns(table).iter().zip(row) {
                    let value = Self::stored(kind, value);
                    if is_wide(kind) { put32(&mut out, value) } else { put16(&mut out, value as u16) }
                }
            }
        }
        out
    }
}

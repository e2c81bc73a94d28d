//! File offsets of the parts of the metadata, for tools that change files (`cargo xtask mutate`).
//!
//! Left out: method bodies, whose RVAs are in the rows.

use crate::image::Image;
use crate::rows::columns;
use crate::tables::ColumnKind;
use crate::token::{CodedKind, Rid, TableId};
use std::ops::Range;

/// The kind of a table cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    Number,
    String,
    Guid,
    Blob,
    Row(TableId),
    Coded(CodedKind),
}

/// One cell of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellPlace {
    pub table: TableId,
    pub rid: Rid,
    /// 0-based.
    pub column: usize,
    pub kind: CellKind,
    /// Offset in the file.
    pub offset_bytes: usize,
    /// 2 or 4.
    pub width_bytes: usize,
}

/// The heaps, as ranges of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeapPlaces {
    pub strings: Range<usize>,
    pub blobs: Range<usize>,
    pub guids: Range<usize>,
    pub user_strings: Range<usize>,
}

impl Image {
    /// The file ranges of the heaps.
    pub fn heap_places(&self) -> HeapPlaces {
        HeapPlaces {
            strings: self.strings.clone(),
            blobs: self.blobs.clone(),
            guids: self.guids.clone(),
            user_strings: self.user_strings.clone(),
        }
    }

    /// Number of columns of a table.
    pub fn column_count(&self, table: TableId) -> usize {
        columns(table).len()
    }

    /// Bytes of a column of a table, which may have no rows; None when there is no such column.
    pub fn column_bytes(&self, table: TableId, column: usize) -> Option<usize> {
        Some(if self.widths().is_wide(*columns(table).get(column)?) { 4 } else { 2 })
    }

    /// The place of a cell; None when there is no such row or column.
    pub fn cell_place(&self, table: TableId, rid: Rid, column: usize) -> Option<CellPlace> {
        let kinds = columns(table);
        let kind = match *kinds.get(column)? {
            ColumnKind::U16 | ColumnKind::U32 => CellKind::Number,
            ColumnKind::Str => CellKind::String,
            ColumnKind::Guid => CellKind::Guid,
            ColumnKind::Blob => CellKind::Blob,
            ColumnKind::Table(table) => CellKind::Row(table),
            ColumnKind::Coded(kind) => CellKind::Coded(kind),
        };
        let (start, widths) = self.row_place(table, rid)?;
        let width = |kind: &ColumnKind| if widths.is_wide(*kind) { 4 } else { 2 };
        let before: usize = kinds[..column].iter().map(width).sum();
        Some(CellPlace { table, rid, column, kind, offset_bytes: start + before, width_bytes: width(&kinds[column]) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::StringIdx;

    #[test]
    fn a_cell_is_where_the_row_reader_finds_it() {
        let image = Image::open(std::path::Path::new("../../fuzz/seeds/seed.exe")).expect("the seed opens");
        for rid in 1..=image.row_count(TableId::TypeDef) {
            let place = image.cell_place(TableId::TypeDef, rid, 1).expect("TypeDef has a name");
            assert_eq!(place.kind, CellKind::String);
            let bytes = &image.bytes()[place.offset_bytes..][..place.width_bytes];
            let raw = bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
            assert_eq!(StringIdx(raw), image.type_def(rid).expect("the row is there").name);
        }
        assert_eq!(image.cell_place(TableId::TypeDef, 0, 0), None);
        assert_eq!(image.cell_place(TableId::TypeDef, 1, 6), None);
        assert!(image.heap_places().blobs.len() > 1);
    }
}

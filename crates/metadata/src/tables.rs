//! The `#~` / `#-` stream: where each table lies and how wide its cells are. ECMA-335 §II.24.2.6.
//!
//! Invariant: after `TableLayout::parse`, every row of every table lies inside the image. Left out: the
//! tables of portable PDB files (0x30 and above), which come last and are skipped.

use crate::bytes::ByteCursor;
use crate::error::BadImage;
use crate::image::Image;
use crate::rows::columns;
use crate::token::{BlobIdx, CodedKind, GuidIdx, StringIdx, TABLE_COUNT, TableId, Token};

/// The most columns a table has (Assembly, AssemblyRef).
pub(crate) const MAX_COLUMNS: usize = 9;

/// The kind of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    U16,
    U32,
    Str,
    Guid,
    Blob,
    Table(TableId),
    Coded(CodedKind),
}

/// Which indexes take 4 bytes instead of 2.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IndexWidths {
    /// Bit 0 `#Strings`, bit 1 `#GUID`, bit 2 `#Blob`: the `HeapSizes` byte.
    heaps: u8,
    /// One bit per table number.
    tables: u64,
    /// One bit per `CodedKind`.
    coded: u16,
}

impl IndexWidths {
    #[inline(always)]
    pub(crate) fn is_wide(&self, kind: ColumnKind) -> bool {
        match kind {
            ColumnKind::U16 => false,
            ColumnKind::U32 => true,
            ColumnKind::Str => self.heaps & 1 != 0,
            ColumnKind::Guid => self.heaps & 2 != 0,
            ColumnKind::Blob => self.heaps & 4 != 0,
            ColumnKind::Table(table) => self.tables >> (table as u8 & 63) & 1 != 0,
            ColumnKind::Coded(coded) => self.coded >> (coded as u8) & 1 != 0,
        }
    }
}

/// Place and shape of one table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TableInfo {
    /// File offset of row 1.
    pub(crate) start_offset: u32,
    pub(crate) row_count: u32,
    pub(crate) row_bytes: u8,
    /// Byte offset of each column in a row.
    column_offsets: [u8; MAX_COLUMNS],
    /// One bit per column: 4 bytes wide.
    column_wide: u16,
}

pub(crate) struct TableLayout {
    pub(crate) tables: [TableInfo; TABLE_COUNT],
    pub(crate) widths: IndexWidths,
    /// Bit per table: the producer says it is sorted by its key.
    pub(crate) sorted: u64,
}

impl TableLayout {
    /// Parses the stream that occupies `start..start + stream.len()` of the file.
    pub(crate) fn parse(stream: &[u8], start: usize) -> Result<Self, BadImage> {
        let mut cursor = ByteCursor::new(stream);
        let short = || BadImage::in_blob(start, "table stream header is cut short");
        cursor.skip(6).ok_or_else(short)?;
        let heap_sizes = cursor.u8().ok_or_else(short)?;
        cursor.skip(1).ok_or_else(short)?;
        let valid = cursor.u64().ok_or_else(short)?;
        let sorted = cursor.u64().ok_or_else(short)?;

        let mut tables = [TableInfo::default(); TABLE_COUNT];
        for number in 0..64 {
            if valid >> number & 1 == 0 {
                continue;
            }
            let row_count = cursor.u32().ok_or_else(short)?;
            if row_count > 0x00ff_ffff {
                return Err(BadImage::in_blob(start, format!("table {number:#x} has {row_count} rows")));
            }
            if let Some(info) = tables.get_mut(number) {
                info.row_count = row_count;
            }
        }
        // An extra word follows the counts when bit 6 of HeapSizes is set (unoptimised metadata).
        if heap_sizes & 0x40 != 0 {
            cursor.skip(4).ok_or_else(short)?;
        }

        let widths = Self::index_widths(heap_sizes, &tables);
        let mut offset = start + cursor.pos();
        let end = start + stream.len();
        for (info, table) in tables.iter_mut().zip(TableId::ALL) {
            let mut row_bytes = 0u8;
            for (column, &kind) in columns(table).iter().enumerate() {
                info.column_offsets[column] = row_bytes;
                let wide = widths.is_wide(kind);
                info.column_wide |= u16::from(wide) << column;
                row_bytes += if wide { 4 } else { 2 };
            }
            info.row_bytes = row_bytes;
            info.start_offset =
                u32::try_from(offset).map_err(|_| BadImage::in_blob(start, "tables beyond 4 GiB of the file"))?;
            let table_bytes = info.row_count as usize * usize::from(row_bytes);
            if table_bytes > end.saturating_sub(offset) {
                let what = format!("table {table:?} with {} rows exceeds its stream", info.row_count);
                return Err(BadImage::in_blob(offset, what));
            }
            offset += table_bytes;
        }
        Ok(Self { tables, widths, sorted })
    }

    fn index_widths(heap_sizes: u8, tables: &[TableInfo; TABLE_COUNT]) -> IndexWidths {
        let rows = |table: TableId| tables.get(table as usize).map_or(0, |info| info.row_count);
        let mut widths = IndexWidths { heaps: heap_sizes, tables: 0, coded: 0 };
        for table in TableId::ALL {
            // A list column points into the Ptr table where there is one.
            let through = match table {
                TableId::Field => rows(TableId::FieldPtr),
                TableId::MethodDef => rows(TableId::MethodPtr),
                TableId::Param => rows(TableId::ParamPtr),
                TableId::Event => rows(TableId::EventPtr),
                TableId::Property => rows(TableId::PropertyPtr),
                _ => 0,
            };
            if rows(table).max(through) > 0xffff {
                widths.tables |= 1 << table as u8;
            }
        }
        for kind in CodedKind::ALL {
            let max_rows = kind.tables().iter().map(|&table| rows(table)).max().unwrap_or(0);
            if max_rows >= 1 << (16 - kind.tag_bits()) {
                widths.coded |= 1 << kind as u8;
            }
        }
        widths
    }

    #[inline]
    pub(crate) fn info(&self, table: TableId) -> Option<&TableInfo> {
        self.tables.get(table as usize)
    }
}

impl TableInfo {
    /// File offset of the row after `index` others.
    #[inline]
    pub(crate) fn row_offset(&self, index: u32) -> usize {
        self.start_offset as usize + index as usize * usize::from(self.row_bytes)
    }

    /// The raw value of one cell. `None` when the row or column does not exist.
    #[inline]
    pub(crate) fn cell(&self, image: &[u8], rid: u32, column: usize) -> Option<u32> {
        let index = rid.wrapping_sub(1);
        if index >= self.row_count {
            return None;
        }
        let row = self.row_offset(index);
        let cell = image.get(row + usize::from(*self.column_offsets.get(column)?)..)?;
        if self.column_wide >> column & 1 != 0 {
            cell.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
        } else {
            cell.first_chunk().map(|bytes| u32::from(u16::from_le_bytes(*bytes)))
        }
    }
}

/// The not yet read cells of one row.
pub(crate) struct RowCells<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) widths: IndexWidths,
}

impl RowCells<'_> {
    /// The raw value of the next cell; 0 past the end, which `TableLayout::parse` rules out.
    #[inline(always)]
    pub(crate) fn next_cell(&mut self, kind: ColumnKind) -> u32 {
        if self.widths.is_wide(kind) {
            match self.bytes.split_first_chunk::<4>() {
                Some((cell, rest)) => {
                    self.bytes = rest;
                    u32::from_le_bytes(*cell)
                }
                None => 0,
            }
        } else {
            match self.bytes.split_first_chunk::<2>() {
                Some((cell, rest)) => {
                    self.bytes = rest;
                    u32::from(u16::from_le_bytes(*cell))
                }
                None => 0,
            }
        }
    }
}

/// A row field made from a raw cell.
pub(crate) trait FromCell: Sized {
    fn from_cell(raw: u32, kind: ColumnKind) -> Option<Self>;

    /// Checks that the row or heap entry to which the field refers exists.
    fn check(self, image: &Image, kind: ColumnKind) -> Result<(), BadImage>;
}

impl FromCell for u16 {
    #[inline(always)]
    fn from_cell(raw: u32, _: ColumnKind) -> Option<Self> {
        Some(raw as u16)
    }

    fn check(self, _: &Image, _: ColumnKind) -> Result<(), BadImage> {
        Ok(())
    }
}

impl FromCell for u32 {
    #[inline(always)]
    fn from_cell(raw: u32, _: ColumnKind) -> Option<Self> {
        Some(raw)
    }

    fn check(self, image: &Image, kind: ColumnKind) -> Result<(), BadImage> {
        match kind {
            // A list may begin one past the end, and 0 stands for none.
            ColumnKind::Table(table) if self > image.row_count(table) + 1 => Err(image.no_such_row(table, self)),
            _ => Ok(()),
        }
    }
}

impl FromCell for StringIdx {
    #[inline(always)]
    fn from_cell(raw: u32, _: ColumnKind) -> Option<Self> {
        Some(StringIdx(raw))
    }

    fn check(self, image: &Image, _: ColumnKind) -> Result<(), BadImage> {
        image.string(self).map(drop)
    }
}

impl FromCell for BlobIdx {
    #[inline(always)]
    fn from_cell(raw: u32, _: ColumnKind) -> Option<Self> {
        Some(BlobIdx(raw))
    }

    fn check(self, image: &Image, _: ColumnKind) -> Result<(), BadImage> {
        image.blob(self).map(drop)
    }
}

impl FromCell for GuidIdx {
    #[inline(always)]
    fn from_cell(raw: u32, _: ColumnKind) -> Option<Self> {
        Some(GuidIdx(raw))
    }

    fn check(self, image: &Image, _: ColumnKind) -> Result<(), BadImage> {
        image.guid(self).map(drop)
    }
}

impl FromCell for Token {
    #[inline(always)]
    fn from_cell(raw: u32, kind: ColumnKind) -> Option<Self> {
        match kind {
            ColumnKind::Coded(coded) => coded.decode(raw),
            _ => None,
        }
    }

    fn check(self, image: &Image, _: ColumnKind) -> Result<(), BadImage> {
        if self.rid() <= image.row_count(self.table()) {
            Ok(())
        } else {
            Err(image.no_such_row(self.table(), self.rid()))
        }
    }
}

//! Portable PDB files: a metadata root whose tables are Document, MethodDebugInformation and more.
//!
//! Format: "Portable PDB v1.0", which extends ECMA-335 §II.24. The two tables needed here are the first of the stream,
//! so the rest is not even located. Invariant: nothing outside the file is read. Left out: locals, scopes, imports,
//! custom debug information, and files that hold type metadata beside the debug tables.

use super::SourcePosition;
use crate::bytes::ByteCursor;
use crate::error::BadImage;
use crate::image::MetadataRoot;
use crate::token::Rid;
use std::ops::Range;

const DOCUMENT: usize = 0x30;
const METHOD_DEBUG_INFORMATION: usize = 0x31;

pub(super) struct PortablePdb {
    bytes: Vec<u8>,
    id: [u8; 20],
    blobs: Range<usize>,
    wide_blobs: bool,
    documents: Table,
    methods: Table,
}

/// Rows of a table, within the file.
struct Table {
    start: usize,
    row_bytes: usize,
    row_count: u32,
    /// The first column: 4 bytes instead of 2.
    wide_first: bool,
}

impl Table {
    fn row<'a>(&self, bytes: &'a [u8], rid: Rid) -> Option<&'a [u8]> {
        let index = rid.checked_sub(1).filter(|&index| index < self.row_count)? as usize;
        bytes.get(self.start + index * self.row_bytes..)?.get(..self.row_bytes)
    }
}

fn cell(cursor: &mut ByteCursor<'_>, wide: bool) -> Option<u32> {
    if wide { cursor.u32() } else { cursor.u16().map(u32::from) }
}

/// The position of a sequence point, and the state from which the next is computed.
#[derive(Clone, Copy, Default)]
struct Point {
    document: Rid,
    line: u32,
    column: u32,
}

impl PortablePdb {
    /// Errors: no metadata root, no `#Pdb` or table stream, or tables outside their stream.
    pub(super) fn parse(bytes: Vec<u8>) -> Result<Self, BadImage> {
        let root = MetadataRoot::parse(&bytes, 0)?;
        let id = bytes.get(root.pdb.clone()).and_then(|s| s.first_chunk()).copied();
        let id = id.ok_or_else(|| BadImage::in_blob(0, "symbol file has no #Pdb stream"))?;
        let tables = root.tables.ok_or_else(|| BadImage::in_blob(0, "symbol file has no table stream"))?;
        let stream = bytes.get(tables.clone()).unwrap_or_default();
        let short = || BadImage::in_blob(tables.start, "table stream of the symbol file is cut short");

        // §II.24.2.6.
        let mut cursor = ByteCursor::at(stream, 6);
        let heap_sizes = cursor.u8().ok_or_else(short)?;
        cursor.skip(1).ok_or_else(short)?;
        let valid = cursor.u64().ok_or_else(short)?;
        cursor.skip(8).ok_or_else(short)?;
        let mut row_counts = [0_u32; 64];
        for (number, count) in row_counts.iter_mut().enumerate() {
            if valid >> number & 1 != 0 {
                *count = cursor.u32().ok_or_else(short)?;
            }
        }
        if row_counts[..DOCUMENT].iter().any(|&count| count != 0) {
            return Err(BadImage::in_blob(tables.start, "symbol file with type metadata"));
        }
        let wide_blobs = heap_sizes & 4 != 0;
        let heap_index_bytes = |bit: u8| if heap_sizes & bit != 0 { 4 } else { 2 };
        let (guid_bytes, blob_bytes) = (heap_index_bytes(2), heap_index_bytes(4));
        let documents = Table {
            start: tables.start + cursor.pos(),
            // Name (blob), hash algorithm (GUID), hash (blob), language (GUID).
            row_bytes: 2 * blob_bytes + 2 * guid_bytes,
            row_count: row_counts[DOCUMENT],
            wide_first: wide_blobs,
        };
        let wide_documents = documents.row_count > 0xffff;
        let methods = Table {
            start: documents.start + documents.row_count as usize * documents.row_bytes,
            // Document, sequence points (blob).
            row_bytes: if wide_documents { 4 } else { 2 } + blob_bytes,
            row_count: row_counts[METHOD_DEBUG_INFORMATION],
            wide_first: wide_documents,
        };
        if methods.start + methods.row_count as usize * methods.row_bytes > tables.end {
            return Err(short());
        }
        let blobs = root.blobs;
        Ok(Self { bytes, id, blobs, wide_blobs, documents, methods })
    }

    /// GUID and time stamp.
    pub(super) fn id(&self) -> &[u8; 20] {
        &self.id
    }

    pub(super) fn line(&self, method_rid: Rid, il_offset: u32) -> Option<SourcePosition> {
        let mut row = ByteCursor::new(self.methods.row(&self.bytes, method_rid)?);
        let document = cell(&mut row, self.methods.wide_first)?;
        let points = cell(&mut row, self.wide_blobs).filter(|&index| index != 0)?;
        let point = point_at(self.blob(points)?, document, il_offset)?;
        Some(SourcePosition { file: self.document_name(point.document)?, line: point.line, column: point.column })
    }

    fn blob(&self, index: u32) -> Option<&[u8]> {
        let heap = self.bytes.get(self.blobs.clone())?;
        let mut cursor = ByteCursor::at(heap, index as usize);
        let len = cursor.compressed_u32()?;
        cursor.take(len as usize)
    }

    /// The name of a document, which is stored as a separator character and the blob indexes of the parts that it
    /// separates.
    fn document_name(&self, rid: Rid) -> Option<String> {
        let mut row = ByteCursor::new(self.documents.row(&self.bytes, rid)?);
        let blob = self.blob(cell(&mut row, self.documents.wide_first)?)?;
        let separator_bytes = match blob.first()? {
            0xf0.. => 4,
            0xe0.. => 3,
            0xc0.. => 2,
            _ => 1,
        };
        let (separator, parts) = blob.split_at_checked(separator_bytes)?;
        // NUL: the parts follow each other.
        let separator = if separator == [0] { &[][..] } else { separator };
        let mut parts = ByteCursor::new(parts);
        let mut name = Vec::new();
        let mut is_first = true;
        while parts.remaining() > 0 {
            if !is_first {
                name.extend_from_slice(separator);
            }
            is_first = false;
            let part = parts.compressed_u32()?;
            if part != 0 {
                name.extend_from_slice(self.blob(part)?);
            }
        }
        Some(String::from_utf8_lossy(&name).into_owned())
    }
}

/// The last visible sequence point at or before `il_offset` in a sequence-points blob. `document` is 0 when the blob
/// names it.
fn point_at(blob: &[u8], document: Rid, il_offset: u32) -> Option<Point> {
    let mut cursor = ByteCursor::new(blob);
    // Token row of the locals' signature.
    cursor.compressed_u32()?;
    let mut point = Point { document, ..Point::default() };
    if document == 0 {
        point.document = cursor.compressed_u32()?;
    }
    let mut found = None;
    let mut offset = 0_u32;
    let mut is_first_record = true;
    let mut is_first_visible = true;
    while cursor.remaining() > 0 {
        let offset_delta = cursor.compressed_u32()?;
        if offset_delta == 0 && !is_first_record {
            point.document = cursor.compressed_u32()?;
            continue;
        }
        is_first_record = false;
        offset = offset.checked_add(offset_delta)?;
        if offset > il_offset {
            break;
        }
        let line_count = cursor.compressed_u32()?;
        let column_count = if line_count == 0 { cursor.compressed_u32()? as i32 } else { cursor.compressed_i32()? };
        if line_count == 0 && column_count == 0 {
            // A hidden point: the visible point before it counts.
            continue;
        }
        if is_first_visible {
            point.line = cursor.compressed_u32()?;
            point.column = cursor.compressed_u32()?;
        } else {
            point.line = point.line.checked_add_signed(cursor.compressed_i32()?)?;
            point.column = point.column.checked_add_signed(cursor.compressed_i32()?)?;
        }
        is_first_visible = false;
        found = Some(point);
    }
    found
}

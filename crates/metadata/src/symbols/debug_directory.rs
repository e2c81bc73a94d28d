//! The debug directory of a PE file: identity of its portable PDB, and a PDB embedded in it.
//!
//! Format: PE/COFF "Debug Directory", and the additions of "PE/COFF Specification Extensions for Portable PDB".
//! Invariant: nothing is read outside the file. Left out: entries for other tools (checksums, reproducible builds).

use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::bytes::ByteCursor;
use crate::error::BadImage;
use crate::image::Image;

const ENTRY_BYTES: u32 = 28;
const TYPE_CODEVIEW: u32 = 2;
const TYPE_EMBEDDED_PORTABLE_PDB: u32 = 17;
/// "RSDS", the CodeView record that holds a GUID.
const CODEVIEW_MAGIC: &[u8] = b"RSDS";
/// Minor version of a CodeView entry whose file is a portable PDB: "PM" as a number.
const PORTABLE_MINOR_VERSION: u16 = 0x504d;
/// "MPDB", before the size and the compressed bytes.
const EMBEDDED_MAGIC: &[u8] = b"MPDB";
/// Upper bound of the expansion of a Deflate stream, whose shortest code for 258 bytes has one bit for the length.
const MAX_EXPANSION: usize = 1032 * 2;

struct DebugEntry<'a> {
    /// Seconds, or part of a content hash.
    time_stamp: [u8; 4],
    minor_version: u16,
    kind: u32,
    data: &'a [u8],
    data_offset: usize,
}

/// The entries that can be read; the rest are skipped.
fn entries(image: &Image) -> impl Iterator<Item = DebugEntry<'_>> {
    let directory = image.debug_dir();
    let table = if directory.rva == 0 { &[][..] } else { image.rva_to_tail(directory.rva).unwrap_or_default() };
    let count = (directory.size_bytes / ENTRY_BYTES) as usize;
    table.chunks_exact(ENTRY_BYTES as usize).take(count).filter_map(|bytes| entry(image, bytes))
}

fn entry<'a>(image: &'a Image, bytes: &[u8]) -> Option<DebugEntry<'a>> {
    let mut cursor = ByteCursor::at(bytes, 4);
    let time_stamp = cursor.array()?;
    cursor.skip(2)?;
    let minor_version = cursor.u16()?;
    let kind = cursor.u32()?;
    let size_bytes = cursor.u32()? as usize;
    cursor.skip(4)?;
    let data_offset = cursor.u32()? as usize;
    let data = image.bytes().get(data_offset..)?.get(..size_bytes)?;
    Some(DebugEntry { time_stamp, minor_version, kind, data, data_offset })
}

/// Identity that the image's portable PDB must have: the GUID of its CodeView entry, then the entry's time stamp.
pub(super) fn pdb_id(image: &Image) -> Option<[u8; 20]> {
    let codeview = entries(image).find(|e| e.kind == TYPE_CODEVIEW && e.minor_version == PORTABLE_MINOR_VERSION)?;
    let guid = codeview.data.strip_prefix(CODEVIEW_MAGIC)?.get(..16)?;
    let mut id = [0; 20];
    id[..16].copy_from_slice(guid);
    id[16..].copy_from_slice(&codeview.time_stamp);
    Some(id)
}

/// The decompressed PDB inside the image.
///
/// Errors: no magic number, an impossible size, a malformed stream.
pub(super) fn embedded_pdb(image: &Image) -> Result<Option<Vec<u8>>, BadImage> {
    let Some(entry) = entries(image).find(|e| e.kind == TYPE_EMBEDDED_PORTABLE_PDB) else { return Ok(None) };
    let bad = |what: &str| image.bad_image(entry.data_offset, what);
    let mut cursor = ByteCursor::new(entry.data);
    if cursor.take(4) != Some(EMBEDDED_MAGIC) {
        return Err(bad("embedded PDB has no MPDB signature"));
    }
    let size_bytes = cursor.u32().ok_or_else(|| bad("embedded PDB is cut short"))? as usize;
    let compressed = cursor.rest();
    if size_bytes > compressed.len().saturating_mul(MAX_EXPANSION) {
        return Err(bad("embedded PDB announces more than its bytes can hold"));
    }
    match decompress_to_vec_with_limit(compressed, size_bytes) {
        Ok(bytes) if bytes.len() == size_bytes => Ok(Some(bytes)),
        _ => Err(bad("embedded PDB does not decompress to the announced size")),
    }
}

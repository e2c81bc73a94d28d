//! `Image`: an opened PE file with CLI metadata; heaps and raw access.
//!
//! Invariant: an image never changes after it is opened; indexes built later are pure functions of its
//! bytes. Opening reads the headers only, rows and heap entries are decoded on demand.

use std::ffi::CStr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::bytes::{ByteCursor, until_nul};
use crate::error::{BadImage, OpenError};
use crate::lookup::LookupIndexes;
use crate::pe::{CliHeader, DataDirectory, PeError, PeHeaders};
use crate::rows::{AssemblyRow, ModuleRow, TableRow};
use crate::stamp::FileStamp;
use crate::storage::Storage;
use crate::tables::{IndexWidths, RowCells, TableInfo, TableLayout};
use crate::token::{BlobIdx, GuidIdx, Rid, StringIdx, TableId, Token};

/// The column of `MethodDefRow::name` (ECMA-335 §II.22.26).
const METHOD_NAME_COLUMN: usize = 3;

/// Open addressing with linear probing; 0 = free. At most half full.
pub(crate) struct NameTable {
    pub(crate) slots: Box<[Rid]>,
}

/// Types by name, filled by `names`.
#[derive(Default)]
pub(crate) struct NameIndexes {
    pub(crate) type_defs: OnceLock<NameTable>,
    pub(crate) exported_types: OnceLock<NameTable>,
}

/// An immutable CLI image. `Send` and `Sync`.
pub struct Image {
    path: PathBuf,
    storage: Storage,
    pe: PeHeaders,
    cli: CliHeader,
    metadata_offset: usize,
    version: String,
    pub(crate) strings: Range<usize>,
    pub(crate) blobs: Range<usize>,
    pub(crate) guids: Range<usize>,
    pub(crate) user_strings: Range<usize>,
    layout: TableLayout,
    pub(crate) lookups: LookupIndexes,
    pub(crate) names: NameIndexes,
}

/// The version string and the streams of a metadata root, as file ranges. §II.24.2.1.
#[derive(Default)]
pub(crate) struct MetadataRoot {
    version: String,
    strings: Range<usize>,
    pub(crate) blobs: Range<usize>,
    guids: Range<usize>,
    user_strings: Range<usize>,
    pub(crate) tables: Option<Range<usize>>,
    /// `#Pdb`: identity of a portable symbol file.
    pub(crate) pdb: Range<usize>,
}

impl MetadataRoot {
    /// `root` starts at `base` in the file. Errors carry file offsets.
    pub(crate) fn parse(root: &[u8], base: usize) -> Result<Self, BadImage> {
        let short = || BadImage::in_blob(base, "metadata root is cut short");
        let mut cursor = ByteCursor::new(root);
        if cursor.u32().ok_or_else(short)? != 0x424a_5342 {
            return Err(BadImage::in_blob(base, "metadata root has no BSJB signature"));
        }
        cursor.skip(8).ok_or_else(short)?;
        let version_bytes = cursor.u32().ok_or_else(short)? as usize;
        let version = cursor.take(version_bytes).ok_or_else(short)?;
        let version = version.split(|&b| b == 0).next().unwrap_or_default();
        let version = String::from_utf8_lossy(version).into_owned();
        cursor.skip(version_bytes.wrapping_neg() & 3).ok_or_else(short)?;
        cursor.skip(2).ok_or_else(short)?;
        let stream_count = cursor.u16().ok_or_else(short)?;

        let mut parsed = Self { version, ..Self::default() };
        for _ in 0..stream_count {
            let header_offset = base + cursor.pos();
            let offset = cursor.u32().ok_or_else(short)? as usize;
            let size = cursor.u32().ok_or_else(short)? as usize;
            let name_area = cursor.rest();
            let name_area = name_area.get(..32).unwrap_or(name_area);
            let name = CStr::from_bytes_until_nul(name_area)
                .map_err(|_| BadImage::in_blob(header_offset, "stream name has no end"))?
                .to_bytes();
            cursor.skip((name.len() + 4) & !3).ok_or_else(short)?;
            let end = offset.checked_add(size).filter(|&end| end <= root.len()).ok_or_else(|| {
                let name = String::from_utf8_lossy(name);
                BadImage::in_blob(header_offset, format!("stream {name} lies outside the metadata"))
            })?;
            let range = base + offset..base + end;
            match name {
                b"#Strings" => parsed.strings = range,
                b"#Blob" => parsed.blobs = range,
                b"#GUID" => parsed.guids = range,
                b"#US" => parsed.user_strings = range,
                b"#~" | b"#-" => parsed.tables = Some(range),
                b"#Pdb" => parsed.pdb = range,
                _ => {}
            }
        }
        Ok(parsed)
    }
}

impl Image {
    /// Maps and opens the file at `path`.
    ///
    /// Errors: see `OpenError`.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        match Storage::map_file(path) {
            Ok(storage) => Self::from_storage(path.to_path_buf(), storage),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(OpenError::NotFound { path: path.to_path_buf() })
            }
            Err(error) => Err(OpenError::Io { path: path.to_path_buf(), error }),
        }
    }

    /// Opens an image held in memory; `name` stands for its path.
    ///
    /// Errors: see `OpenError`; never `NotFound` or `Io`.
    pub fn from_bytes(name: String, bytes: Vec<u8>) -> Result<Self, OpenError> {
        Self::from_storage(PathBuf::from(name), Storage::Owned(bytes))
    }

    fn from_storage(path: PathBuf, storage: Storage) -> Result<Self, OpenError> {
        let bytes = storage.bytes();
        let file_name = || path.to_string_lossy().into_owned();
        let bad = |error: BadImage| OpenError::BadImage(error.rebase(file_name(), 0));
        let pe = PeHeaders::parse(bytes).map_err(|error| match error {
            PeError::NotPe => OpenError::NotPe { path: path.clone() },
            PeError::NoCliHeader => OpenError::NativePe { path: path.clone() },
            PeError::Truncated(error) => {
                OpenError::Truncated { path: path.clone(), error: error.rebase(file_name(), 0) }
            }
            PeError::Bad(error) => bad(error),
        })?;
        let unreachable = |rva: u32, what: &str| {
            let error = BadImage::in_blob(bytes.len(), format!("{what} (RVA {rva:#x}) is outside the file"));
            let error = error.rebase(file_name(), 0);
            if pe.is_cut_off(rva, bytes.len()) {
                OpenError::Truncated { path: path.clone(), error }
            } else {
                OpenError::BadImage(error)
            }
        };
        let tail = |rva: u32| pe.file_range(rva, bytes.len()).and_then(|range| bytes.get(range));

        let cli_rva = pe.cli_directory.rva;
        let cli = tail(cli_rva).and_then(CliHeader::parse).ok_or_else(|| unreachable(cli_rva, "CLI header"))?;
        if cli.is_mixed_mode() {
            return Err(OpenError::MixedMode { path });
        }
        let metadata = cli.metadata;
        let metadata_offset = pe
            .file_range(metadata.rva, bytes.len())
            .filter(|range| range.len() >= metadata.size_bytes as usize)
            .ok_or_else(|| unreachable(metadata.rva, "metadata"))?
            .start;
        let root_bytes = bytes.get(metadata_offset..metadata_offset + metadata.size_bytes as usize);
        let root = MetadataRoot::parse(root_bytes.unwrap_or_default(), metadata_offset).map_err(bad)?;
        let tables =
            root.tables.ok_or_else(|| bad(BadImage::in_blob(metadata_offset, "metadata has no table stream")))?;
        let stream = bytes.get(tables.clone()).unwrap_or_default();
        let layout = TableLayout::parse(stream, tables.start).map_err(bad)?;
        Ok(Self {
            version: root.version,
            strings: root.strings,
            blobs: root.blobs,
            guids: root.guids,
            user_strings: root.user_strings,
            path,
            storage,
            pe,
            cli,
            metadata_offset,
            layout,
            lookups: LookupIndexes::default(),
            names: NameIndexes::default(),
        })
    }

    /// The path given to `open`, or the name given to `from_bytes`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole file.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.storage.bytes()
    }

    /// Visits the file's bytes in order, part by part; of a mapped file no more than a part is in memory because of it.
    pub fn for_each_part(&self, visit: impl FnMut(&[u8])) {
        self.storage.for_each_part(visit);
    }

    /// Takes the pages of a mapped file out of the process's memory. The next look at a page maps it again.
    pub fn give_back_pages(&self) {
        self.storage.give_back_pages();
    }

    /// The file's state before it was mapped; None for an image held in memory.
    pub fn stamp(&self) -> Option<FileStamp> {
        self.storage.stamp()
    }

    /// True for a PE32+ (64-bit) file.
    pub fn is_pe32_plus(&self) -> bool {
        self.pe.is_pe32_plus
    }

    /// The COFF machine number (0x14c i386, 0x8664 AMD64, 0xaa64 ARM64).
    pub fn machine(&self) -> u16 {
        self.pe.machine
    }

    /// The COFF characteristics; 0x2000 = DLL.
    pub fn characteristics(&self) -> u16 {
        self.pe.characteristics
    }

    /// The preferred load address.
    pub fn image_base(&self) -> u64 {
        self.pe.image_base
    }

    /// 2 = windows program, 3 = console program.
    pub fn subsystem(&self) -> u16 {
        self.pe.subsystem
    }

    /// The `DllCharacteristics` of the optional header.
    pub fn dll_characteristics(&self) -> u16 {
        self.pe.dll_characteristics
    }

    /// The flags of the CLI header (`pe::CLI_FLAG_*`).
    pub fn cli_flags(&self) -> u32 {
        self.cli.flags
    }

    /// The major and minor version of the CLI header.
    pub fn runtime_version(&self) -> (u16, u16) {
        (self.cli.runtime_major, self.cli.runtime_minor)
    }

    /// MethodDef or File; nil for a library.
    pub fn entry_point_token(&self) -> Token {
        Token(self.cli.entry_point)
    }

    /// The version string of the metadata root, such as `v4.0.30319`.
    pub fn metadata_version(&self) -> &str {
        &self.version
    }

    /// File offset of the metadata root.
    pub fn metadata_offset(&self) -> usize {
        self.metadata_offset
    }

    /// Where the debug directory lies.
    pub fn debug_dir(&self) -> DataDirectory {
        self.pe.debug_directory
    }

    /// Where embedded resources lie.
    pub fn resources_dir(&self) -> DataDirectory {
        self.cli.resources
    }

    /// Where the strong-name signature lies.
    pub fn strong_name_dir(&self) -> DataDirectory {
        self.cli.strong_name
    }

    /// `len` bytes at `rva`.
    ///
    /// Errors: the bytes are not all in the file data of one section.
    pub fn rva_to_slice(&self, rva: u32, len: usize) -> Result<&[u8], BadImage> {
        let tail = self.rva_to_tail(rva)?;
        tail.get(..len).ok_or_else(|| {
            let what = format!("{len} bytes at RVA {rva:#x} exceed their section");
            self.bad_image(self.rva_to_offset(rva).unwrap_or(0), what)
        })
    }

    /// The bytes from `rva` to the end of its section's file data.
    ///
    /// Errors: no section's file data holds `rva`.
    pub fn rva_to_tail(&self, rva: u32) -> Result<&[u8], BadImage> {
        let bytes = self.bytes();
        self.pe
            .file_range(rva, bytes.len())
            .and_then(|range| bytes.get(range))
            .ok_or_else(|| self.bad_image(0, format!("RVA {rva:#x} is in no section")))
    }

    /// The file data of the section that holds `rva`, if a program may write to the section's memory.
    pub fn writable_section(&self, rva: u32) -> Option<&[u8]> {
        let bytes = self.bytes();
        self.pe.writable_file_range(rva, bytes.len()).and_then(|range| bytes.get(range))
    }

    /// The file offset of `rva`, if a section's file data holds it.
    pub fn rva_to_offset(&self, rva: u32) -> Option<usize> {
        self.pe.file_range(rva, self.bytes().len()).map(|range| range.start)
    }

    /// The `Module` row.
    ///
    /// Errors: the table is empty.
    pub fn module(&self) -> Result<ModuleRow, BadImage> {
        self.module_row(1)
    }

    /// The module version id; zeros when the image has none.
    pub fn mvid(&self) -> [u8; 16] {
        self.module().and_then(|row| self.guid(row.mvid)).unwrap_or_default()
    }

    /// The `Assembly` row; `None` for a netmodule.
    pub fn assembly(&self) -> Option<AssemblyRow> {
        AssemblyRow::read(self, 1).ok()
    }

    /// Number of rows; 0 for a table that is absent.
    #[inline]
    pub fn row_count(&self, table: TableId) -> u32 {
        self.layout.info(table).map_or(0, |info| info.row_count)
    }

    /// A `#Strings` entry, without its NUL.
    ///
    /// Errors: out of range, without NUL, or not UTF-8.
    #[inline]
    pub fn string(&self, index: StringIdx) -> Result<&str, BadImage> {
        let bytes = self.string_bytes(index)?;
        std::str::from_utf8(bytes)
            .map_err(|_| self.bad_image(self.strings.start + index.0 as usize, "name is not UTF-8"))
    }

    /// A `#Strings` entry as bytes, without its NUL.
    ///
    /// Errors: out of range, or without NUL.
    #[inline]
    pub fn string_bytes(&self, index: StringIdx) -> Result<&[u8], BadImage> {
        let heap = self.bytes().get(self.strings.clone()).unwrap_or_default();
        if index.0 == 0 {
            return Ok(&[]);
        }
        heap.get(index.0 as usize..)
            .and_then(until_nul)
            .ok_or_else(|| self.bad_image(self.strings.start, format!("string {:#x} is invalid", index.0)))
    }

    /// Whether a `#Strings` entry exists and is this name. It is not decoded, so a lookup among many names is quick.
    #[inline]
    pub fn is_string(&self, index: StringIdx, name: &str) -> bool {
        if index.0 == 0 {
            return name.is_empty();
        }
        let heap = self.bytes().get(self.strings.clone()).unwrap_or_default();
        let entry = heap.get(index.0 as usize..).unwrap_or_default();
        entry.get(name.len()) == Some(&0) && entry.starts_with(name.as_bytes()) && !name.as_bytes().contains(&0)
    }

    /// Whether the method exists and has this name; only this cell of its row is read.
    #[inline]
    pub fn is_method_named(&self, method: Rid, name: &str) -> bool {
        let cell = self.table_info(TableId::MethodDef);
        let cell = cell.and_then(|info| info.cell(self.bytes(), method, METHOD_NAME_COLUMN));
        cell.is_some_and(|cell| self.is_string(StringIdx(cell), name))
    }

    /// A `#Blob` entry, without its length prefix.
    ///
    /// Errors: the index or the length is out of range.
    #[inline]
    pub fn blob(&self, index: BlobIdx) -> Result<&[u8], BadImage> {
        if index.0 == 0 {
            return Ok(&[]);
        }
        self.heap_entry(&self.blobs, index.0)
            .ok_or_else(|| self.bad_image(self.blobs.start, format!("blob {:#x} is invalid", index.0)))
    }

    /// The file offset of the content of a blob, for error messages.
    pub(crate) fn blob_offset(&self, index: BlobIdx) -> usize {
        self.blobs.start + index.0 as usize + 1
    }

    /// A `#GUID` entry; zeros for index 0.
    ///
    /// Errors: out of range.
    pub fn guid(&self, index: GuidIdx) -> Result<[u8; 16], BadImage> {
        if index.0 == 0 {
            return Ok([0; 16]);
        }
        let heap = self.bytes().get(self.guids.clone()).unwrap_or_default();
        heap.get((index.0 as usize - 1) * 16..)
            .and_then(|tail| tail.first_chunk())
            .copied()
            .ok_or_else(|| self.bad_image(self.guids.start, format!("GUID {:#x} is invalid", index.0)))
    }

    /// The UTF-16 units of a `#US` entry, copied. `token` is 0x70xxxxxx.
    ///
    /// Errors: another kind of token; the offset or the length is out of range.
    pub fn user_string(&self, token: Token) -> Result<Vec<u16>, BadImage> {
        let raw = self.user_string_raw(token)?;
        Ok(raw.as_chunks().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect())
    }

    /// The UTF-16LE bytes of a `#US` entry, without its length prefix and final flag byte; not aligned.
    ///
    /// Errors: another kind of token; the offset or the length is out of range.
    pub fn user_string_raw(&self, token: Token) -> Result<&[u8], BadImage> {
        let invalid = || self.bad_image(self.user_strings.start, format!("user string {token} is invalid"));
        if token.table() != TableId::UserString {
            return Err(invalid());
        }
        let entry = self.heap_entry(&self.user_strings, token.rid()).ok_or_else(invalid)?;
        Ok(entry.get(..entry.len() & !1).unwrap_or_default())
    }

    #[inline]
    fn heap_entry(&self, heap: &Range<usize>, index: u32) -> Option<&[u8]> {
        let heap = self.bytes().get(heap.clone())?;
        let mut cursor = ByteCursor::at(heap, index as usize);
        let len = cursor.compressed_u32()?;
        cursor.take(len as usize)
    }

    /// The cells of row `rid`, or `None` when the table has no such row.
    #[inline(always)]
    pub(crate) fn row_cells(&self, table: TableId, rid: Rid) -> Option<RowCells<'_>> {
        let info = self.layout.info(table)?;
        let index = rid.wrapping_sub(1);
        if index >= info.row_count {
            return None;
        }
        let start = info.row_offset(index);
        let bytes = self.bytes().get(start..start + usize::from(info.row_bytes))?;
        Some(RowCells { bytes, widths: self.layout.widths })
    }

    /// The widths of cells.
    pub(crate) fn widths(&self) -> IndexWidths {
        self.layout.widths
    }

    /// File offset of row `rid` and the widths of its cells.
    pub(crate) fn row_place(&self, table: TableId, rid: Rid) -> Option<(usize, IndexWidths)> {
        let info = self.layout.info(table)?;
        let index = rid.checked_sub(1).filter(|index| *index < info.row_count)?;
        Some((info.row_offset(index), self.layout.widths))
    }

    /// Place and shape of a table.
    pub(crate) fn table_info(&self, table: TableId) -> Option<&TableInfo> {
        self.layout.info(table)
    }

    /// True when the producer marks the table as sorted by its key.
    pub(crate) fn is_marked_sorted(&self, table: TableId) -> bool {
        self.layout.sorted >> (table as u8 & 63) & 1 != 0
    }

    #[cold]
    pub(crate) fn bad_image(&self, offset: usize, what: impl Into<String>) -> BadImage {
        BadImage { file: self.path.to_string_lossy().into_owned(), offset: offset as u64, what: what.into() }
    }

    /// Names this file in an error of a blob parser whose bytes begin at `base_offset`.
    #[cold]
    pub(crate) fn rebase(&self, error: BadImage, base_offset: usize) -> BadImage {
        error.rebase(self.path.to_string_lossy().into_owned(), base_offset)
    }

    #[cold]
    pub(crate) fn no_such_row(&self, table: TableId, rid: Rid) -> BadImage {
        let offset = self.table_info(table).map_or(0, |info| info.row_offset(0));
        let count = self.row_count(table);
        self.bad_image(offset, format!("row {rid:#x} of {table:?}, which has {count:#x} rows"))
    }

    #[cold]
    pub(crate) fn bad_cell(&self, table: TableId, rid: Rid, column: &str, raw: u32) -> BadImage {
        let offset = self.table_info(table).map_or(0, |info| info.row_offset(rid - 1));
        self.bad_image(offset, format!("{table:?}[{rid:#x}].{column} has invalid value {raw:#x}"))
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Image").field("path", &self.path).finish_non_exhaustive()
    }
}

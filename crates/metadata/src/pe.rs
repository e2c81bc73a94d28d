//! PE and CLI headers. ECMA-335 §II.25.
//!
//! Invariant: only the headers are read. Left out: relocations, imports and everything else that only a
//! native loader needs.

use crate::bytes::ByteCursor;
use crate::error::BadImage;

/// `CliHeader::flags`: the image has no native code. §II.25.3.3.1.
pub const CLI_FLAG_IL_ONLY: u32 = 0x1;
/// `CliHeader::flags`: the image runs only in a 32-bit process.
pub const CLI_FLAG_32BIT_REQUIRED: u32 = 0x2;
/// `CliHeader::flags`: CIL with precompiled code beside it.
pub const CLI_FLAG_IL_LIBRARY: u32 = 0x4;
/// `CliHeader::flags`: the image has a strong-name signature.
pub const CLI_FLAG_STRONG_NAME_SIGNED: u32 = 0x8;
/// `CliHeader::flags`: the entry point is native code.
pub const CLI_FLAG_NATIVE_ENTRY_POINT: u32 = 0x10;
/// `CliHeader::flags`: 32-bit is preferred where the choice exists.
pub const CLI_FLAG_32BIT_PREFERRED: u32 = 0x20000;

/// PeSection flag: the section's memory can be written. §II.25.3.
const SECTION_MEM_WRITE: u32 = 0x8000_0000;

/// A relative virtual address and a size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataDirectory {
    pub rva: u32,
    pub size_bytes: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PeSection {
    virtual_address: u32,
    virtual_bytes: u32,
    raw_bytes: u32,
    raw_offset: u32,
    is_writable: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct PeHeaders {
    pub(crate) machine: u16,
    pub(crate) characteristics: u16,
    pub(crate) is_pe32_plus: bool,
    pub(crate) image_base: u64,
    pub(crate) subsystem: u16,
    pub(crate) dll_characteristics: u16,
    pub(crate) cli_directory: DataDirectory,
    pub(crate) debug_directory: DataDirectory,
    pub(crate) sections: Vec<PeSection>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct CliHeader {
    pub(crate) runtime_major: u16,
    pub(crate) runtime_minor: u16,
    pub(crate) metadata: DataDirectory,
    pub(crate) flags: u32,
    pub(crate) entry_point: u32,
    pub(crate) resources: DataDirectory,
    pub(crate) strong_name: DataDirectory,
    pub(crate) vtable_fixups: DataDirectory,
    pub(crate) managed_native_header: DataDirectory,
}

/// Why the headers do not describe a CLI image.
#[derive(Debug)]
pub(crate) enum PeError {
    NotPe,
    NoCliHeader,
    Truncated(BadImage),
    Bad(BadImage),
}

fn truncated(offset: usize, what: &str) -> PeError {
    PeError::Truncated(BadImage::in_blob(offset, what))
}

fn directory(cursor: &mut ByteCursor<'_>) -> Option<DataDirectory> {
    Some(DataDirectory { rva: cursor.u32()?, size_bytes: cursor.u32()? })
}

impl PeHeaders {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, PeError> {
        if !bytes.starts_with(b"MZ") {
            return Err(PeError::NotPe);
        }
        let pe_offset = ByteCursor::at(bytes, 0x3c)
            .u32()
            .ok_or_else(|| truncated(bytes.len(), "DOS header is cut short"))? as usize;
        let Some(signature) = bytes.get(pe_offset..).and_then(|tail| tail.first_chunk::<4>()) else {
            return Err(truncated(bytes.len(), "no PE header where the DOS header says"));
        };
        if signature != b"PE\0\0" {
            return Err(PeError::NotPe);
        }
        Self::parse_after_signature(bytes, pe_offset + 4)
    }

    fn parse_after_signature(bytes: &[u8], coff_offset: usize) -> Result<Self, PeError> {
        let short = || truncated(bytes.len(), "PE headers are cut short");
        let mut coff = ByteCursor::at(bytes, coff_offset);
        let machine = coff.u16().ok_or_else(short)?;
        let section_count = coff.u16().ok_or_else(short)?;
        coff.skip(12).ok_or_else(short)?;
        let optional_bytes = usize::from(coff.u16().ok_or_else(short)?);
        let characteristics = coff.u16().ok_or_else(short)?;

        let optional_offset = coff.pos();
        let optional = coff.take(optional_bytes).ok_or_else(short)?;
        let bad = |what: &str| PeError::Bad(BadImage::in_blob(optional_offset, what));
        let small = || bad("PE optional header is too small");
        let field = |offset: usize| ByteCursor::at(optional, offset);
        let is_pe32_plus = match field(0).u16() {
            Some(0x10b) => false,
            Some(0x20b) => true,
            _ => return Err(bad("unknown PE optional header magic")),
        };
        let image_base = if is_pe32_plus { field(24).u64() } else { field(28).u32().map(u64::from) };
        let image_base = image_base.ok_or_else(small)?;
        let subsystem = field(68).u16().ok_or_else(small)?;
        let dll_characteristics = field(70).u16().ok_or_else(small)?;
        let count_offset = if is_pe32_plus { 108 } else { 92 };
        let directory_count = field(count_offset).u32().ok_or_else(small)?;

        // §II.25.2.3.3; directories past the count are absent.
        let data_directory = |index: usize| {
            if directory_count as usize <= index {
                return Ok(DataDirectory::default());
            }
            directory(&mut field(count_offset + 4 + index * 8)).ok_or_else(small)
        };
        let debug_directory = data_directory(6)?;
        let cli_directory = data_directory(14)?;
        if cli_directory.rva == 0 {
            return Err(PeError::NoCliHeader);
        }

        let mut sections = Vec::with_capacity(usize::from(section_count).min(96));
        for _ in 0..section_count {
            let header: [u8; 40] = coff.array().ok_or_else(short)?;
            let mut cursor = ByteCursor::at(&header, 8);
            let mut word = || cursor.u32().unwrap_or(0);
            let flags = u32::from_le_bytes([header[36], header[37], header[38], header[39]]);
            sections.push(PeSection {
                virtual_bytes: word(),
                virtual_address: word(),
                raw_bytes: word(),
                raw_offset: word(),
                is_writable: flags & SECTION_MEM_WRITE != 0,
            });
        }
        Ok(Self {
            machine,
            characteristics,
            is_pe32_plus,
            image_base,
            subsystem,
            dll_characteristics,
            cli_directory,
            debug_directory,
            sections,
        })
    }

    /// The file range of the whole section that holds `rva`, if a native loader would make it writable.
    pub(crate) fn writable_file_range(&self, rva: u32, file_bytes: usize) -> Option<std::ops::Range<usize>> {
        let section = self.sections.iter().find(|section| {
            section.is_writable && rva.checked_sub(section.virtual_address).is_some_and(|d| d < section.raw_bytes)
        })?;
        self.file_range(section.virtual_address, file_bytes)
    }

    /// The file range from `rva` to the end of its section's file data, cut at the end of the file.
    /// `None` when no section's file data holds `rva`.
    pub(crate) fn file_range(&self, rva: u32, file_bytes: usize) -> Option<std::ops::Range<usize>> {
        for section in &self.sections {
            let delta = rva.wrapping_sub(section.virtual_address);
            // Bytes past the file data are zero-filled by a native loader and not in the file.
            if rva >= section.virtual_address && delta < section.raw_bytes {
                let start = section.raw_offset as usize + delta as usize;
                let end = section.raw_offset as usize + section.raw_bytes as usize;
                let end = end.min(file_bytes);
                return (start < end).then_some(start..end);
            }
        }
        None
    }

    /// True when a section claims `rva` but the file ends before its bytes.
    pub(crate) fn is_cut_off(&self, rva: u32, file_bytes: usize) -> bool {
        self.sections.iter().any(|section| {
            let delta = rva.wrapping_sub(section.virtual_address);
            rva >= section.virtual_address
                && delta < section.raw_bytes.max(section.virtual_bytes)
                && section.raw_offset as usize + section.raw_bytes as usize > file_bytes
        })
    }
}

impl CliHeader {
    /// Parses the 72 bytes of the CLI header. `None` when `bytes` is shorter. §II.25.3.3.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut cursor = ByteCursor::new(bytes);
        cursor.skip(4)?;
        let runtime_major = cursor.u16()?;
        let runtime_minor = cursor.u16()?;
        let metadata = directory(&mut cursor)?;
        let flags = cursor.u32()?;
        let entry_point = cursor.u32()?;
        let resources = directory(&mut cursor)?;
        let strong_name = directory(&mut cursor)?;
        cursor.skip(8)?;
        let vtable_fixups = directory(&mut cursor)?;
        cursor.skip(8)?;
        let managed_native_header = directory(&mut cursor)?;
        Some(Self {
            runtime_major,
            runtime_minor,
            metadata,
            flags,
            entry_point,
            resources,
            strong_name,
            vtable_fixups,
            managed_native_header,
        })
    }

    /// Whether the image needs native code beside its CIL to run; precompiled copies of the CIL do not count.
    pub(crate) fn is_mixed_mode(&self) -> bool {
        self.flags & CLI_FLAG_NATIVE_ENTRY_POINT != 0
            || self.flags & CLI_FLAG_IL_ONLY == 0
                && self.flags & CLI_FLAG_IL_LIBRARY == 0
                && self.managed_native_header.rva == 0
                && self.vtable_fixups.rva != 0
    }
}

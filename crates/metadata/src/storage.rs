//! The bytes of an image: a private read-only file mapping, or an owned vector.
//!
//! Invariant: the bytes never change or move while the value lives. This is the crate's only module
//! with `unsafe`. Left out: protection against another process that shortens the mapped file (the
//! kernel then answers a read with SIGBUS, as it does for every mapped executable).
#![expect(unsafe_code, reason = "mapping a file is an unsafe operation in memmap2")]

use crate::stamp::FileStamp;
use std::fs::File;
use std::path::Path;

pub(crate) enum Storage {
    Mapped(memmap2::Mmap, FileStamp),
    Owned(Vec<u8>),
}

impl Storage {
    /// Maps the file at `path`. An empty file gives an empty vector, because it cannot be mapped.
    pub(crate) fn map_file(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        let status = file.metadata()?;
        if !status.is_file() {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a regular file"));
        }
        if status.len() == 0 {
            return Ok(Self::Owned(Vec::new()));
        }
        // SAFETY: the mapping is private and read-only, so this process cannot change the bytes behind
        // the shared slices made from it; `Mmap` keeps it alive as long as `self`.
        let mapping = unsafe { memmap2::MmapOptions::new().map_copy_read_only(&file)? };
        Ok(Self::Mapped(mapping, FileStamp::of(&status)))
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(mapping, _) => mapping,
            Self::Owned(bytes) => bytes,
        }
    }

    /// The file's stamp, taken before it was mapped; None for bytes in memory.
    pub(crate) fn stamp(&self) -> Option<FileStamp> {
        match self {
            Self::Mapped(_, stamp) => Some(*stamp),
            Self::Owned(_) => None,
        }
    }
}

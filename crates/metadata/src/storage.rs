//! The bytes of an image: a private read-only file mapping, or an owned vector.
//!
//! Invariant: the bytes never change or move while the value lives. This is the crate's only module
//! with `unsafe`. Left out: protection against another process that shortens the mapped file (the
//! kernel then answers a read with SIGBUS, as it does for every mapped executable).
#![expect(unsafe_code, reason = "mapping a file is an unsafe operation in memmap2")]

use crate::stamp::FileStamp;
use std::fs::File;
use std::path::Path;

/// Bytes of a file that are in memory at a time while it is read from begin to end.
const PART_BYTES: usize = 1 << 20;

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

    /// Visits all bytes in order, part by part. Pages of a mapped file do not stay in the process's memory because of
    /// it.
    pub(crate) fn for_each_part(&self, mut visit: impl FnMut(&[u8])) {
        for (number, part) in self.bytes().chunks(PART_BYTES).enumerate() {
            visit(part);
            if let Self::Mapped(mapping, _) = self {
                let advice = memmap2::UncheckedAdvice::DontNeed;
                // SAFETY: a range of the mapping, whose pages have the file's contents when they are read again: it is
                // private and was never written to. Without effect they stay.
                let _ = unsafe { mapping.unchecked_advise_range(advice, number * PART_BYTES, part.len()) };
            }
        }
    }

    /// Takes a mapped file's pages out of the process's memory. The next look at a page maps it again.
    pub(crate) fn give_back_pages(&self) {
        if let Self::Mapped(mapping, _) = self {
            // SAFETY: the mapping's pages have the file's contents when they are read again: it is private and was
            // never written to. Without effect they stay.
            let _ = unsafe { mapping.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_bytes_in_order_and_stay_readable() {
        let path = std::env::temp_dir().join(format!("saki-storage-{}", std::process::id()));
        let bytes: Vec<u8> = (0..2 * PART_BYTES + 5000).map(|at| (at / 3) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let mapped = Storage::map_file(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        for storage in [mapped, Storage::Owned(bytes.clone())] {
            let mut visited = Vec::new();
            storage.for_each_part(|part| visited.extend_from_slice(part));
            assert!(visited == bytes && storage.bytes() == bytes);
            storage.give_back_pages();
            assert!(storage.bytes() == bytes);
        }
    }
}

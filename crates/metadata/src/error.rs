//! The two errors of this crate: `BadImage` for any malformed content, `OpenError` for opening a file.
//!
//! Invariant: every reader reports malformed input through these values; none panics.

use std::fmt;
use std::path::PathBuf;

/// Content that breaks the PE or CLI format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadImage {
    /// Path or name of the image; empty when a free-standing blob was parsed.
    pub file: String,
    /// Byte offset in the file, or in the blob when `file` is empty.
    pub offset: u64,
    /// What is wrong, in words.
    pub what: String,
}

impl BadImage {
    /// An error inside a blob of no known file; `offset_bytes` counts from the start of the blob.
    #[cold]
    pub fn in_blob(offset_bytes: usize, what: impl Into<String>) -> Self {
        Self { file: String::new(), offset: offset_bytes as u64, what: what.into() }
    }

    /// Turns an error with a blob offset into one with a file and a file offset.
    #[cold]
    pub(crate) fn rebase(mut self, file: String, base_offset_bytes: usize) -> Self {
        if self.file.is_empty() {
            self.file = file;
            self.offset += base_offset_bytes as u64;
        }
        self
    }
}

impl fmt::Display for BadImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            write!(f, "{} (at offset {:#x})", self.what, self.offset)
        } else {
            write!(f, "{}: {} (at offset {:#x})", self.file, self.what, self.offset)
        }
    }
}

impl std::error::Error for BadImage {}

/// Why a file could not be opened as a CLI image.
#[derive(Debug)]
pub enum OpenError {
    /// The path names no file.
    NotFound { path: PathBuf },
    /// The file exists but cannot be read.
    Io { path: PathBuf, error: std::io::Error },
    /// The file has no DOS/PE signature.
    NotPe { path: PathBuf },
    /// A PE file without a CLI header: native code only.
    NativePe { path: PathBuf },
    /// A PE file whose CLI header announces native code beside the CIL (C++/CLI).
    MixedMode { path: PathBuf },
    /// The file ends before something its headers announce.
    Truncated { path: PathBuf, error: BadImage },
    /// The headers or the metadata break the format.
    BadImage(BadImage),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { path } => write!(f, "{}: file not found", path.display()),
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Self::NotPe { path } => write!(f, "{}: not a PE file", path.display()),
            Self::NativePe { path } => {
                write!(f, "{}: a native PE file, without a CLI header", path.display())
            }
            Self::MixedMode { path } => {
                write!(f, "{}: a mixed-mode image (native code beside CIL)", path.display())
            }
            Self::Truncated { error, .. } => write!(f, "{error}: the file is truncated"),
            Self::BadImage(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            Self::Truncated { error, .. } | Self::BadImage(error) => Some(error),
            _ => None,
        }
    }
}

impl From<BadImage> for OpenError {
    fn from(error: BadImage) -> Self {
        Self::BadImage(error)
    }
}

//! Why code could not be placed.

use std::fmt;

/// Failure of [`crate::place`], [`crate::init`] or of making an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeError {
    /// The operating system refused a mapping: its purpose, and the errno.
    Map { call: &'static str, errno: i32 },
    /// Saki does not run on this architecture yet.
    Unsupported { architecture: &'static str },
    /// The reserved code region (bytes) is used up.
    RegionFull { region_bytes: usize },
    /// A relocation lies outside the body, or its value does not fit: offset in bytes from the start of the body.
    BadRelocation { offset: u32, reason: &'static str },
}

impl CodeError {
    pub(crate) fn map(call: &'static str, error: &std::io::Error) -> CodeError {
        CodeError::Map { call, errno: error.raw_os_error().unwrap_or(0) }
    }
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodeError::Map { call, errno } => {
                write!(f, "cannot map the {call}: {}", std::io::Error::from_raw_os_error(*errno))
            }
            CodeError::Unsupported { architecture } => write!(f, "Saki does not run on {architecture}"),
            CodeError::RegionFull { region_bytes } => write!(f, "code region of {region_bytes} bytes is full"),
            CodeError::BadRelocation { offset, reason } => write!(f, "relocation at +{offset:#x}: {reason}"),
        }
    }
}

impl std::error::Error for CodeError {}

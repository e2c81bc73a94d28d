//! Why a function could not be compiled.

use saki_types::LoadError;
use std::fmt;

/// A failed compilation.
#[derive(Clone, Debug)]
pub enum CompileError {
    /// A type that the code needs (its layout, its fields) does not load: the program's fault.
    Load(LoadError),
    /// The IR breaks its own rules: a fault of the importer.
    InvalidIr(String),
    /// The code generator refused: a fault of ours.
    Codegen(String),
    /// Something that Saki does not do yet.
    NotSupported(String),
}

impl CompileError {
    pub(crate) fn invalid_ir(message: impl Into<String>) -> CompileError {
        CompileError::InvalidIr(message.into())
    }

    pub(crate) fn not_supported(message: impl Into<String>) -> CompileError {
        CompileError::NotSupported(message.into())
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Load(error) => write!(f, "{error}"),
            CompileError::InvalidIr(message) => write!(f, "invalid IR: {message}"),
            CompileError::Codegen(message) => write!(f, "code generator: {message}"),
            CompileError::NotSupported(message) => write!(f, "not supported: {message}"),
        }
    }
}

impl std::error::Error for CompileError {}

impl From<LoadError> for CompileError {
    fn from(error: LoadError) -> Self {
        CompileError::Load(error)
    }
}

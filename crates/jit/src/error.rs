//! Why a function could not be compiled.

use saki_types::LoadError;
use std::fmt;

/// A failed compilation.
#[derive(Clone, Debug)]
pub enum CompileError {
    /// A type whose layout or fields the code needs does not load: an error of the program.
    Load(LoadError),
    /// The IR violates its invariants: a bug of the importer.
    InvalidIr(String),
    /// The code generator failed: a bug of Saki.
    Codegen(String),
}

/// The result of a step of compilation.
pub(crate) type Lowered<T = ()> = Result<T, CompileError>;

impl CompileError {
    pub(crate) fn invalid_ir(message: impl Into<String>) -> CompileError {
        CompileError::InvalidIr(message.into())
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Load(error) => write!(f, "{error}"),
            CompileError::InvalidIr(message) => write!(f, "invalid IR: {message}"),
            CompileError::Codegen(message) => write!(f, "code generator: {message}"),
        }
    }
}

impl std::error::Error for CompileError {}

impl From<LoadError> for CompileError {
    fn from(error: LoadError) -> Self {
        CompileError::Load(error)
    }
}

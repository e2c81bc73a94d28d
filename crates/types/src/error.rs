//! Why a type, member or assembly could not be loaded; the runtime maps each kind to the documented .NET exception.

use saki_metadata::{BadImage, OpenError};
use std::fmt;
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadErrorKind {
    TypeLoad,
    /// A type that a TypeBuilder has not finished yet. A later attempt may succeed, so `Lazy` does not remember this
    /// error.
    UnfinishedType,
    /// The program has to be asked, which cannot be done now (`requests`). A later attempt may succeed, so `Lazy` does
    /// not remember this error either.
    Unanswered,
    MissingMethod,
    MissingField,
    MissingMember,
    /// Several members fit.
    AmbiguousMatch,
    FileNotFound,
    FileLoad,
    BadImageFormat,
    /// A reference assembly, which has declarations only and is not loaded for execution.
    ReferenceAssembly,
    /// A body, or what it refers to, makes no sense. The message is for the log and for Mono's class libraries: .NET's
    /// exception does not say what is wrong.
    InvalidProgram,
    /// An accessor whose generic parameters are not those of its target: .NET's InvalidProgramException, which has a
    /// message here.
    InvalidAccessor,
    MethodAccess,
    FieldAccess,
    MemberAccess,
    /// A method of an open generic type was to be run.
    InvalidOperation,
    /// A type's name that cannot be parsed.
    InvalidTypeName,
    /// An interface's method has several implementations, none of them more specific than all others.
    AmbiguousImplementation,
    /// The implementation of an interface's method is abstract, or (.NET) there is none.
    EntryPointNotFound,
    /// A generic argument that its parameter does not allow, in a method instantiation.
    Verification,
    /// A feature that Saki lacks.
    NotSupported,
    /// An instruction of a processor that Saki does not use.
    PlatformNotSupported,
}

/// A load failure: kind, message for the user, and the type or file it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadError {
    pub kind: LoadErrorKind,
    pub message: String,
    /// Type, member or file name, as the exception's property wants it.
    pub subject: String,
}

pub type LoadResult<T> = Result<T, LoadError>;

impl LoadError {
    pub fn new(kind: LoadErrorKind, message: impl Into<String>, subject: impl Into<String>) -> Self {
        LoadError { kind, message: message.into(), subject: subject.into() }
    }

    pub fn type_load(message: impl Into<String>, subject: impl Into<String>) -> Self {
        LoadError::new(LoadErrorKind::TypeLoad, message, subject)
    }

    pub fn invalid_program(message: impl Into<String>) -> Self {
        LoadError::new(LoadErrorKind::InvalidProgram, message, "")
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for LoadError {}

impl From<BadImage> for LoadError {
    fn from(bad: BadImage) -> Self {
        LoadError::new(LoadErrorKind::BadImageFormat, bad.to_string(), bad.file)
    }
}

/// The load error for a file that is no usable image.
pub fn open_error(error: &OpenError, path: &Path) -> LoadError {
    let kind = match error {
        OpenError::NotFound { .. } => LoadErrorKind::FileNotFound,
        OpenError::Io { .. } => LoadErrorKind::FileLoad,
        _ => LoadErrorKind::BadImageFormat,
    };
    LoadError::new(kind, error.to_string(), path.display().to_string())
}

//! What the checks look at, and what they find.

use std::path::{Path, PathBuf};

/// What the checks found.
#[derive(Default)]
pub struct Findings {
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
}

impl Findings {
    /// Notes a fault: the run fails. `line` counts from 1.
    pub fn error(&mut self, path: &Path, line: usize, message: impl std::fmt::Display) {
        self.errors.push(format!("{}:{line}: {message}", path.display()));
    }

    /// Notes something that should be better; the run does not fail for it.
    pub fn warning(&mut self, path: &Path, line: usize, message: impl std::fmt::Display) {
        self.warnings.push(format!("{}:{line}: {message}", path.display()));
    }
}

/// One Rust source file, with its path relative to the repository.
pub struct SourceFile {
    pub path: PathBuf,
    pub text: String,
}

/// The folder of the crate to whose sources the file belongs.
pub fn source_crate_of(path: &Path) -> Option<&str> {
    let mut parts = path.iter().filter_map(|part| part.to_str());
    let (folder, name, sources) = (parts.next()?, parts.next()?, parts.next()?);
    (folder == "crates" && sources == "src").then_some(name)
}

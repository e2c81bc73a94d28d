//! Debug symbols: from a method and an IL offset to file, line and column.
//!
//! Two formats: portable PDB (embedded in the image or beside it) and Mono's .mdb. Invariant: a symbol file is used
//! only when its identity is that of the image; malformed content gives no position, never a panic. Left out: Windows
//! PDB files, and what debuggers want besides positions (names and scopes of locals, imports, asynchronous methods).

mod debug_directory;
mod mdb;
mod portable;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::BadImage;
use crate::image::Image;
use crate::token::Rid;
use mdb::MdbFile;
use portable::PortablePdb;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// As the compiler recorded it, usually an absolute path.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 when the symbols have no columns.
    pub column: u32,
}

/// The symbols of one image. `Send` and `Sync`.
pub struct SymbolFile {
    format: SymbolFormat,
}

enum SymbolFormat {
    Mdb(MdbFile),
    Portable(PortablePdb),
}

impl SymbolFile {
    /// The symbols of `image`: embedded in it, else `app.pdb` beside `app.exe`, else `app.exe.mdb`. A file that belongs
    /// to another build, or that is malformed, is ignored.
    pub fn find_for(image: &Image) -> Option<Self> {
        if let Ok(Some(embedded)) = Self::embedded_in(image) {
            return Some(embedded);
        }
        [pdb_path(image.path()), mdb_path(image.path())]
            .into_iter()
            .filter_map(|path| std::fs::read(path).ok())
            .find_map(|bytes| Self::from_bytes(image, bytes).ok())
    }

    /// The portable PDB inside `image`; `None` when there is none.
    ///
    /// Errors: it does not decompress, or breaks its format.
    pub(crate) fn embedded_in(image: &Image) -> Result<Option<Self>, BadImage> {
        let Some(bytes) = debug_directory::embedded_pdb(image)? else { return Ok(None) };
        // Symbols embedded in the image need no identity check.
        PortablePdb::parse(bytes).map(|pdb| Some(Self { format: SymbolFormat::Portable(pdb) }))
    }

    /// The content of a symbol file of either format, for `image`.
    ///
    /// Errors: unknown format, malformed, or the symbols of another image.
    pub fn from_bytes(image: &Image, bytes: Vec<u8>) -> Result<Self, BadImage> {
        let symbols = Self::parse(bytes)?;
        let is_match = match &symbols.format {
            SymbolFormat::Mdb(mdb) => *mdb.image_mvid() == image.mvid(),
            SymbolFormat::Portable(pdb) => debug_directory::pdb_id(image) == Some(*pdb.id()),
        };
        if !is_match {
            return Err(BadImage::in_blob(0, "the symbol file belongs to another build of the image"));
        }
        Ok(symbols)
    }

    /// The content of a symbol file of either format. Whether the symbols belong to an image is not checked.
    pub(crate) fn parse(bytes: Vec<u8>) -> Result<Self, BadImage> {
        let format = if bytes.starts_with(b"BSJB") {
            SymbolFormat::Portable(PortablePdb::parse(bytes)?)
        } else {
            SymbolFormat::Mdb(MdbFile::parse(bytes)?)
        };
        Ok(Self { format })
    }

    /// The source position of the instruction at `il_offset` (bytes) of MethodDef row `method_rid`: that of the last
    /// sequence point at or before it that is not hidden.
    pub fn line(&self, method_rid: Rid, il_offset: u32) -> Option<SourcePosition> {
        match &self.format {
            SymbolFormat::Mdb(mdb) => mdb.line(method_rid, il_offset),
            SymbolFormat::Portable(pdb) => pdb.line(method_rid, il_offset),
        }
    }
}

/// `app.exe` → `app.exe.mdb`.
fn mdb_path(image: &Path) -> PathBuf {
    let mut name = OsString::from(image);
    name.push(".mdb");
    name.into()
}

/// `app.exe` → `app.pdb`; a name without such an extension keeps all of it.
fn pdb_path(image: &Path) -> PathBuf {
    if image.extension().is_some_and(|e| e.eq_ignore_ascii_case("exe") || e.eq_ignore_ascii_case("dll")) {
        return image.with_extension("pdb");
    }
    let mut name = OsString::from(image);
    name.push(".pdb");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::{mdb_path, pdb_path};
    use std::path::Path;

    #[test]
    fn names_of_symbol_files() {
        assert_eq!(mdb_path(Path::new("/a/app.exe")), Path::new("/a/app.exe.mdb"));
        assert_eq!(pdb_path(Path::new("/a/app.exe")), Path::new("/a/app.pdb"));
        assert_eq!(pdb_path(Path::new("My.Library.dll")), Path::new("My.Library.pdb"));
        assert_eq!(pdb_path(Path::new("My.Library")), Path::new("My.Library.pdb"));
    }
}

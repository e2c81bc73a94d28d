//! The files that descriptions are written to: made anew, and given up when they cannot be written.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Makes a file that only this user may write. An older file of that name is removed; a file of another user is an
/// error.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(named(error)),
        _ => {}
    }
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o644).open(path).map_err(named)
}

/// Reports once that a tool gets no more descriptions.
pub(crate) fn give_up(what: &str, error: &io::Error) {
    saki_base::tell!("saki: {what}: {error}; nothing more is written to it");
}

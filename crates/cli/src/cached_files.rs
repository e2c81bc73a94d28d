//! Files that the command keeps in the user's cache besides compiled code.
//!
//! Invariant: a file gets its name when it is whole, so that commands that start at the same time do not disturb each
//! other. Left out: removing them; the cache evicts what was not used for long, so each command checks what it needs.

use saki_hosting::environment;
use saki_runtime::exec::code_cache::trusted;
use std::ffi::OsStr;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The folder of this name in the user's cache, an absolute path that no other user can lead elsewhere. It is made if
/// it is missing.
///
/// # Errors
/// There is no place for a cache, or it is not to be trusted.
pub fn folder(name: &str) -> Result<PathBuf, String> {
    let cache = environment::own_cache().ok_or("no folder for a cache: neither XDG_CACHE_HOME nor HOME is set")?;
    let folder = cache.make_below(OsStr::new(name)).map_err(|e| e.to_string())?;
    trusted::firm_path(folder.path(), cache.trust()).map_err(|e| e.to_string())
}

/// Makes the folder of a file, if it is missing.
///
/// # Errors
/// The system's.
pub fn make_folder_of(file: &Path) -> io::Result<()> {
    let folder = file.parent().unwrap_or(file);
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Makes a file under another name and gives it its own.
///
/// # Errors
/// Those of `make`, and the system's.
pub fn put(place: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let mut temporary = place.as_os_str().to_owned();
    temporary.push(format!(".{:016x}.tmp", saki_os::random::word()?));
    let temporary = PathBuf::from(temporary);
    let made = make(&temporary).and_then(|()| std::fs::rename(&temporary, place));
    if made.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    made
}

/// Writes a file, unless it is there with these contents.
///
/// # Errors
/// The system's.
pub fn put_contents(place: &Path, contents: &[u8]) -> io::Result<()> {
    if std::fs::read(place).is_ok_and(|present| present == contents) {
        return Ok(());
    }
    make_folder_of(place)?;
    put(place, |temporary| {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(temporary)?;
        file.write_all(contents)
    })
}

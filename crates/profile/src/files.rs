//! Writes profiles to disk so that only the user who ran the program can read them.
//!
//! Invariant: each file is created anew, readable by its owner only, and never through a link: an existing name is
//! replaced by a rename, not opened.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Writes `contents` to a file of this name, replacing an existing one.
///
/// # Errors
/// The system's, with the file's name.
pub fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(contents))
}

/// Writes what `contents` writes, a large part at a time, to a file of this name, replacing an existing one.
///
/// # Errors
/// The system's and those of `contents`, with the file's name.
pub fn write_with(path: &Path, contents: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    if is_device(path) {
        return std::fs::File::create(path).and_then(|mut file| contents(&mut file)).map_err(named);
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let result = create(&temporary).and_then(|mut file| contents(&mut file));
    let result = result.and_then(|()| std::fs::rename(&temporary, path));
    if result.is_err() {
        // Nothing of it is to stay, and there may be nothing.
        let _ = std::fs::remove_file(&temporary);
    }
    result.map_err(named)
}

/// A new file of this name to write to, replacing an existing one.
///
/// # Errors
/// The system's, with the file's name.
pub fn open_new(path: &Path) -> io::Result<std::fs::File> {
    let file = if is_device(path) { OpenOptions::new().write(true).open(path) } else { create(path) };
    file.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

fn create(path: &Path) -> io::Result<std::fs::File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Whether the name is of a file that is written to and not replaced: `/dev/null`, `/dev/stdout`, a pipe.
fn is_device(path: &Path) -> bool {
    let is_plain = |kind: std::fs::FileType| kind.is_file() || kind.is_dir();
    let is_below_dev = path.starts_with("/dev") || path.starts_with("/proc");
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_symlink() => is_below_dev,
        Ok(found) => !is_plain(found.file_type()),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn links_are_replaced_and_files_are_the_owners() {
        let folder = std::env::temp_dir().join(format!("saki-profile-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (path, other) = (folder.join("profile"), folder.join("other"));
        std::fs::write(&other, "theirs").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        write(&path, b"ours").unwrap();
        assert_eq!(std::fs::read(&other).unwrap(), b"theirs");
        assert_eq!(std::fs::read(&path).unwrap(), b"ours");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let missing = folder.join("missing/profile");
        assert!(write(&missing, b"").unwrap_err().to_string().starts_with(&*missing.to_string_lossy()));
        assert!(write(Path::new("/dev/full"), b"x").is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

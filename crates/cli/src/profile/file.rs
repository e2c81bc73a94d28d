//! The files of `saki profile`: read within bounds, and written to standard output where their name is `-`.
//!
//! Invariant: reading ends, whatever the name leads to: a device has no end, and a pipe may have none. Left out: the
//! formats (`saki_profile`).

use saki_base::messages;
use saki_profile::{files, heap};
use saki_runtime::exec::code_cache::trusted::temporary_folder;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The name of standard output.
const STANDARD_OUTPUT: &str = "-";

/// Why several files cannot go there.
pub const ONE_FILE: &str = "-o - takes one file: one format, and profiles or the heap";

/// Bytes of the largest profile that is read, a hundred times the largest that was seen.
const MAX_PROFILE_BYTES: u64 = 1 << 30;

/// Bytes of a file that show whether it is a heap snapshot, which may be larger: it grows with the heap.
const START_BYTES: u64 = 16;

/// Whether `path` means standard output.
pub fn is_standard_output(path: &Path) -> bool {
    path == Path::new(STANDARD_OUTPUT)
}

/// The file's name in messages.
pub fn shown(path: &Path) -> String {
    if is_standard_output(path) { "standard output".to_owned() } else { path.display().to_string() }
}

/// Writes a file, or standard output.
///
/// # Errors
/// The system's, with the file's name.
pub fn write_with(path: &Path, contents: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if !is_standard_output(path) {
        return files::write_with(path, contents);
    }
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", shown(path)));
    messages::write_beside_output(contents).map_err(named)
}

/// The system's, with the file's name.
///
/// # Errors
/// The system's, with the file's name.
pub fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    write_with(path, |out| out.write_all(contents))
}

/// The contents of a profile or a heap snapshot.
///
/// # Errors
/// One line with the file's name.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    let named = |error: io::Error| format!("{}: {error}", path.display());
    let mut file = File::open(path).map_err(named)?;
    let status = file.metadata().map_err(named)?;
    let kind = status.file_type();
    if kind.is_char_device() || kind.is_block_device() {
        return Err(format!("{}: a device, not a file", path.display()));
    }
    let mut contents = Vec::new();
    (&mut file).take(START_BYTES).read_to_end(&mut contents).map_err(named)?;
    let max_bytes = if is_snapshot(&contents) && kind.is_file() { u64::MAX } else { MAX_PROFILE_BYTES };
    let is_too_large = |bytes: u64| bytes >= max_bytes;
    if !is_too_large(status.len()) {
        (&mut file).take(max_bytes - START_BYTES).read_to_end(&mut contents).map_err(named)?;
    }
    if is_too_large(status.len().max(contents.len() as u64)) {
        return Err(format!("{}: more than {} MiB, which no profile has", path.display(), MAX_PROFILE_BYTES >> 20));
    }
    Ok(contents)
}

/// Runs `action` with a folder of this user's alone, and removes that.
pub fn in_temporary_folder<R>(action: impl FnOnce(&Path) -> Result<R, String>) -> Result<R, String> {
    let folder = temporary_folder("profile").map_err(|error| format!("a temporary folder: {error}"))?;
    let outcome = action(&folder);
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}

/// Whether these are the contents of a heap snapshot, or the beginning of them.
pub fn is_snapshot(contents: &[u8]) -> bool {
    heap::file::is_heap_file(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `view /dev/zero` read for ever.
    #[test]
    fn what_has_no_end_is_refused() {
        assert_eq!(read(Path::new("/dev/zero")).unwrap_err(), "/dev/zero: a device, not a file");
        let sparse = std::env::temp_dir().join(format!("saki-profile-sparse-{}", std::process::id()));
        let file = File::create(&sparse).unwrap();
        file.set_len(1 << 40).unwrap();
        let refused = read(&sparse).unwrap_err();
        std::fs::remove_file(&sparse).unwrap();
        assert!(refused.ends_with(": more than 1024 MiB, which no profile has"), "{refused}");
    }
}

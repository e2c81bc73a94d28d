//! The cache on disk: `<cache>/<build key>/<module>.saki-code`; replaced atomically, kept below a size.
//!
//! Invariant: a file appears under its name only when it is complete. Whatever goes wrong here (no permission, no room, no
//! directory) costs the saved bodies and nothing else.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// All files together stay below this; those used longest ago go first. Compiling the C# compiler's sources leaves 10 MiB.
const MAX_TOTAL_BYTES: u64 = 256 << 20;

/// `$XDG_CACHE_HOME/saki`, or `~/.cache/saki`; None without either.
pub fn default_directory() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(base.join("saki"))
}

/// What the installation brought: `lib/saki` beside the folder of the executable, if it is there.
pub fn installed_directory() -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?;
    Some(executable.parent()?.parent()?.join("lib/saki")).filter(|directory| directory.is_dir())
}

/// Writes a file under a name of this process's own and renames it into place.
pub(super) fn replace(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = std::fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(contents))
        .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// One file of the cache.
pub struct CacheFile {
    pub path: PathBuf,
    pub size_bytes: u64,
    /// When it was last read or written, as far as the file system tells.
    pub used: SystemTime,
}

/// Below the cache directory: a folder for each build, one for compiled sources with a folder for each.
const MAX_DEPTH: u32 = 3;

/// All files below the cache directory, for every build.
pub fn files(cache: &Path) -> Vec<CacheFile> {
    let mut found = Vec::new();
    collect(cache, 1, &mut found);
    found
}

fn collect(directory: &Path, depth: u32, found: &mut Vec<CacheFile>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        // Not of what a symbolic link points to.
        let Ok(status) = entry.metadata() else { continue };
        if status.is_dir() && depth < MAX_DEPTH {
            collect(&entry.path(), depth + 1, found);
        } else if status.is_file() && depth > 1 {
            let modified = status.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let used = status.accessed().unwrap_or(modified).max(modified);
            found.push(CacheFile { path: entry.path(), size_bytes: status.len(), used });
        }
    }
}

/// Removes a file, and the folders up to the cache directory that are empty then.
fn remove(cache: &Path, file: &Path) -> std::io::Result<()> {
    std::fs::remove_file(file)?;
    for folder in file.ancestors().skip(1).take_while(|folder| *folder != cache) {
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

/// Removes all files of the cache; their number.
///
/// # Errors
/// The first file that cannot be removed.
pub fn clear(cache: &Path) -> std::io::Result<usize> {
    let files = files(cache);
    files.iter().try_for_each(|file| remove(cache, &file.path))?;
    Ok(files.len())
}

/// Removes the files used longest ago until the rest is small enough.
pub fn evict(cache: &Path) {
    evict_to(cache, MAX_TOTAL_BYTES);
}

fn evict_to(cache: &Path, max_total_bytes: u64) {
    let mut files = files(cache);
    let mut total: u64 = files.iter().map(|file| file.size_bytes).sum();
    files.sort_by_key(|file| file.used);
    for file in files {
        if total <= max_total_bytes {
            return;
        }
        if remove(cache, &file.path).is_ok() {
            total -= file.size_bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::FILE_EXTENSION;
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_oldest_files_go_first() {
        let cache = std::env::temp_dir().join(format!("saki-cache-test-{}", std::process::id()));
        for (age_seconds, build) in [(30, "a"), (20, "b"), (10, "b")] {
            let path = cache.join(build).join(format!("{age_seconds}.{FILE_EXTENSION}"));
            replace(&path, &[0; 1000]).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age_seconds);
            let times = std::fs::FileTimes::new().set_accessed(time).set_modified(time);
            std::fs::File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
        }
        evict_to(&cache, 3000);
        assert_eq!(files(&cache).len(), 3);
        evict_to(&cache, 1500);
        let left: Vec<_> = files(&cache).into_iter().map(|file| file.path).collect();
        assert_eq!(left, [cache.join("b").join(format!("10.{FILE_EXTENSION}"))]);
        assert!(!cache.join("a").exists());
        assert_eq!(clear(&cache).unwrap(), 1);
        std::fs::remove_dir_all(&cache).unwrap();
    }
}

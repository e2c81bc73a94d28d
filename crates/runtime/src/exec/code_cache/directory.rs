//! Where caches are on disk (`<base>/saki/<build key>/<module>.saki-code`), listing and removing their contents, and keeping them below
//! a size.
//!
//! Invariant: everything below a cache is reached through open folders (`trusted`), so that clearing and eviction stay inside the cache
//! whatever links are there. A failure here (no permission, no room, no directory) costs the saved bodies and nothing else.

use super::trusted::{Distrust, Reason, TEMPORARY_EXTENSION, Trust, TrustedFolder};
use saki_os::folder::{Folder, Removed};
use saki_os::privilege;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// All files together stay below this; the least recently used are removed first. Compiling the C# compiler's sources leaves 10 MiB.
pub const MAX_TOTAL_BYTES: u64 = 256 << 20;
/// A temporary file of this age was left by a process that was killed: writing one takes milliseconds.
const ABANDONED: Duration = Duration::from_secs(3600);
/// Below the cache directory: a folder for each build, one for compiled sources with a folder for each.
const MAX_DEPTH: usize = 3;

/// A cache that exists or may be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheFolder {
    base: PathBuf,
    trust: Trust,
}

/// The name of the cache in its base folder.
const NAME: &str = "saki";

/// The cache in a folder of caches of the user's own (`$XDG_CACHE_HOME`, `~/.cache`).
pub fn own_in(base: PathBuf) -> CacheFolder {
    CacheFolder { base, trust: Trust::own() }
}

/// The cache that came with the installation: `lib/saki` beside the folder of the executable, if it exists. Never written.
pub fn installed() -> Option<CacheFolder> {
    let executable = std::env::current_exe().ok()?;
    let trust = Trust::in_owner_of(&std::fs::metadata(&executable).ok()?);
    let place = CacheFolder { base: executable.parent()?.parent()?.join("lib"), trust };
    place.path().is_dir().then_some(place)
}

impl CacheFolder {
    /// The path of the cache's folder.
    pub fn path(&self) -> PathBuf {
        self.base.join(NAME)
    }

    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// The cache's folder; None if it does not exist.
    ///
    /// # Errors
    /// The folder is not trusted.
    pub fn open(&self) -> Result<Option<TrustedFolder>, Distrust> {
        TrustedFolder::open(&self.base, OsStr::new(NAME), self.trust)
    }

    /// A folder in it, if both exist and are trusted.
    pub fn open_below(&self, name: &OsStr) -> Option<TrustedFolder> {
        self.open().ok()??.below(name).ok()?
    }

    /// A folder in it; missing folders are made.
    ///
    /// # Errors
    /// A folder is not trusted or cannot be made.
    pub fn make_below(&self, name: &OsStr) -> Result<TrustedFolder, Distrust> {
        TrustedFolder::make(&self.base, OsStr::new(NAME), self.trust)?.make_below(name)
    }

    /// All existing folders and files that are not used, and why.
    pub fn distrusted(&self) -> Vec<Distrust> {
        match self.open() {
            Ok(Some(folder)) => folder.distrusted(MAX_DEPTH as u32 - 1),
            Ok(None) => Vec::new(),
            Err(distrust) => vec![distrust],
        }
    }

    /// The reason why the cache cannot be written, if any.
    pub fn unwritable(&self) -> Option<Distrust> {
        let path = self.path();
        let there = path.ancestors().find(|path| path.exists())?;
        let owner = std::fs::metadata(there).map_err(Reason::Unusable).and_then(|s| self.trust.check_owner(&s));
        let reason = owner.and_then(|()| privilege::may_write(there).map_err(Reason::Unusable)).err()?;
        Some(Distrust { path: there.to_path_buf(), reason })
    }

    /// Removes the least recently used files until the rest is small enough, and temporary files of killed processes.
    pub fn evict(&self) {
        if let Ok(Some(cache)) = self.open() {
            evict_to(cache.folder(), MAX_TOTAL_BYTES);
        }
    }

    /// Removes all files of the cache; returns how many there were. It ignores the folder's mode, since clearing is the remedy for a
    /// folder that is not trusted.
    ///
    /// # Errors
    /// The folder belongs to another user or is not a folder; a file cannot be removed.
    pub fn clear(&self) -> Result<usize, Distrust> {
        let path = self.path();
        let distrust = |reason| Distrust { path: path.clone(), reason };
        let unusable = |e| distrust(Reason::Unusable(e));
        let Ok(base) = Folder::open(&self.base) else { return Ok(0) };
        let cache = match base.open_folder(OsStr::new(NAME)) {
            Ok(cache) => cache,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(unusable(error)),
        };
        self.trust.check_owner(&cache.status().map_err(unusable)?).map_err(distrust)?;
        remove_all(&cache, &files(&cache)).map_err(unusable)
    }
}

/// One file of a cache.
pub struct CacheFile {
    /// Names of folders below the cache, and the file's own.
    pub names: Vec<OsString>,
    pub size_bytes: u64,
    /// When it was last read or written, as far as the file system tells.
    pub used: SystemTime,
    is_regular: bool,
}

impl CacheFile {
    pub fn path_below(&self) -> PathBuf {
        self.names.iter().collect()
    }

    fn is_temporary(&self) -> bool {
        self.names.last().is_some_and(|name| Path::new(name).extension() == Some(OsStr::new(TEMPORARY_EXTENSION)))
    }
}

/// All files in folders below the cache, for every build.
pub fn files(cache: &Folder) -> Vec<CacheFile> {
    let mut found = Vec::new();
    collect(cache, &mut Vec::new(), &mut found);
    found
}

fn collect(folder: &Folder, names: &mut Vec<OsString>, found: &mut Vec<CacheFile>) {
    for name in folder.names().unwrap_or_default() {
        // The status of a symbolic link itself, not of its target.
        let Ok(status) = folder.status_of(&name) else { continue };
        names.push(name);
        let name = names.last().map_or(OsStr::new(""), OsString::as_os_str);
        if status.is_dir() && names.len() < MAX_DEPTH {
            if let Ok(below) = folder.open_folder(name) {
                collect(&below, names, found);
            }
        } else if !status.is_dir() && names.len() > 1 {
            let modified = status.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let used = status.accessed().unwrap_or(modified).max(modified);
            let file = CacheFile { names: names.clone(), size_bytes: status.len(), used, is_regular: status.is_file() };
            found.push(file);
        }
        names.pop();
    }
}

/// Removes a file, and the folders up to the cache directory that are empty then.
fn remove(cache: &Folder, file: &CacheFile) -> std::io::Result<()> {
    let [names @ .., name] = file.names.as_slice() else { return Ok(()) };
    let mut folders: Vec<Folder> = Vec::new();
    for name in names {
        let folder = folders.last().unwrap_or(cache).open_folder(name)?;
        folders.push(folder);
    }
    folders.last().unwrap_or(cache).remove(name, Removed::File)?;
    for (depth, name) in names.iter().enumerate().rev() {
        let around = depth.checked_sub(1).and_then(|above| folders.get(above)).unwrap_or(cache);
        if around.remove(name, Removed::Folder).is_err() {
            break;
        }
    }
    Ok(())
}

/// Removes the files; how many were there. Another process may remove the same ones meanwhile.
fn remove_all(cache: &Folder, files: &[CacheFile]) -> std::io::Result<usize> {
    let mut count = 0;
    for file in files {
        match remove(cache, file) {
            Ok(()) => count += 1,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

fn evict_to(cache: &Folder, max_total_bytes: u64) {
    let mut files = files(cache);
    let now = saki_os::clock::system_time();
    let is_abandoned =
        |file: &CacheFile| file.is_temporary() && now.duration_since(file.used).is_ok_and(|age| age > ABANDONED);
    files.retain(|file| !is_abandoned(file) || remove(cache, file).is_err());
    let mut total: u64 = files.iter().map(|file| file.size_bytes).sum();
    files.sort_by_key(|file| file.used);
    for file in files.iter().filter(|file| file.is_regular) {
        if total <= max_total_bytes {
            return;
        }
        if remove(cache, file).is_ok() {
            total -= file.size_bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::FILE_EXTENSION;
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A base folder for one test, removed with all that is in it.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("saki-cache-{name}-{}", std::process::id()));
            std::fs::create_dir(&path).unwrap();
            Scratch(path)
        }

        fn place(&self) -> CacheFolder {
            CacheFolder { base: self.0.clone(), trust: Trust::own() }
        }

        fn write(&self, place: &CacheFolder, build: &str, name: &str, age_seconds: u64) {
            place.make_below(OsStr::new(build)).unwrap().replace(OsStr::new(name), &[0; 1000]).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age_seconds);
            let times = std::fs::FileTimes::new().set_accessed(time).set_modified(time);
            let path = place.path().join(build).join(name);
            std::fs::File::options().write(true).open(path).unwrap().set_times(times).unwrap();
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_oldest_files_go_first() {
        let scratch = Scratch::new("oldest");
        let place = scratch.place();
        for (age_seconds, build) in [(30, "a"), (20, "b"), (10, "b")] {
            scratch.write(&place, build, &format!("{age_seconds}.{FILE_EXTENSION}"), age_seconds);
        }
        scratch.write(&place, "b", "x.0123.tmp", 2 * 3600);
        scratch.write(&place, "b", "y.0123.tmp", 5);
        let cache = place.open().unwrap().unwrap();
        evict_to(cache.folder(), 4000);
        assert_eq!(files(cache.folder()).len(), 4, "the file that a killed process left stays");
        evict_to(cache.folder(), 1500);
        assert_eq!(
            files(cache.folder()).iter().map(CacheFile::path_below).collect::<Vec<_>>(),
            [Path::new("b/y.0123.tmp")]
        );
        assert!(!scratch.0.join("saki/a").exists());
        assert_eq!(place.clear().unwrap(), 1);
        assert!(!scratch.0.join("saki/b").exists());
    }

    #[test]
    fn clearing_stays_inside() {
        let scratch = Scratch::new("inside");
        let place = scratch.place();
        let outside = scratch.0.join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("precious"), "text").unwrap();
        scratch.write(&place, "a", "1.saki-code", 1);
        symlink(&outside, place.path().join("a/linked-folder")).unwrap();
        symlink(outside.join("precious"), place.path().join("a/linked-file")).unwrap();
        symlink(&outside, place.path().join("linked-build")).unwrap();
        assert_eq!(place.clear().unwrap(), 3);
        assert!(outside.join("precious").exists());
        // The cache itself as a link to somewhere.
        std::fs::remove_file(place.path().join("linked-build")).unwrap();
        std::fs::remove_dir(place.path()).unwrap();
        symlink(&outside, place.path()).unwrap();
        assert!(place.clear().is_err() && place.open().is_err() && place.make_below(OsStr::new("a")).is_err());
        assert!(outside.join("precious").exists() && !outside.join("a").exists());
    }

    #[test]
    fn clearing_twice_at_a_time_is_no_error() {
        let scratch = Scratch::new("twice");
        let place = scratch.place();
        for name in ["1.saki-code", "2.saki-code"] {
            scratch.write(&place, "a", name, 1);
        }
        let cache = Folder::open(&place.path()).unwrap();
        // Both have looked before either removes: files are gone, then folders.
        let (first, second) = (files(&cache), files(&cache));
        assert_eq!(remove_all(&cache, &first[..1]).unwrap(), 1);
        assert_eq!(remove_all(&cache, &second).unwrap(), 1);
        assert_eq!(remove_all(&cache, &first).unwrap(), 0);
    }

    /// Files and folders of ours that other users may write to, or that have another type, count as absent, and are reported.
    #[test]
    fn what_others_may_write_to_is_not_used() {
        let scratch = Scratch::new("modes");
        let place = scratch.place();
        let name = OsStr::new("1.saki-code");
        scratch.write(&place, "a", "1.saki-code", 1);
        let file = || place.open_below(OsStr::new("a")).and_then(|folder| folder.file(name).ok()?);
        assert!(file().is_some() && place.distrusted().is_empty());
        for path in ["", "a", "a/1.saki-code"].map(|below| place.path().join(below)) {
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            for writers in [0o020, 0o002] {
                std::fs::set_permissions(&path, PermissionsExt::from_mode(mode | writers)).unwrap();
                assert!(file().is_none(), "{}", path.display());
                let reasons: Vec<String> = place.distrusted().iter().map(ToString::to_string).collect();
                assert!(
                    matches!(reasons.as_slice(), [reason] if reason.contains("lets other users write")),
                    "{reasons:?}"
                );
            }
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            assert!(file().is_some());
        }
        // A link to a good file does not pass; a file that is written then replaces the link, not its target.
        let path = place.path().join("a/1.saki-code");
        let elsewhere = scratch.0.join("elsewhere");
        std::fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        assert!(file().is_none() && place.distrusted()[0].to_string().contains("not a regular file"));
        place.make_below(OsStr::new("a")).unwrap().replace(name, b"new").unwrap();
        assert_eq!(std::fs::read(&elsewhere).unwrap().len(), 1000);
        assert!(file().is_some());
    }
}

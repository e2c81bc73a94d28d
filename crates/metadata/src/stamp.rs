//! Stamps of a file's state as the file system reports it, by which a changed file is recognised.
//!
//! Invariant: a stamp is taken of an open file, not of a name. Every write to the file changes `changed`, which, unlike
//! `modified`, no system call can set to a chosen time. Left out: file systems that keep no change time; see
//! `keeps_change_time`.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A time of the file system, in nanoseconds since 1970.
type Nanoseconds = i128;

/// The state of one file at one time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileStamp {
    pub device: u64,
    pub inode: u64,
    pub length_bytes: u64,
    /// When the contents were last changed, as `utimes` may have set it.
    pub modified: Nanoseconds,
    /// When contents, times, owner or mode were last changed.
    pub changed: Nanoseconds,
}

impl FileStamp {
    /// The stamp of a file with this status.
    #[must_use]
    pub fn of(status: &Metadata) -> FileStamp {
        let time = |seconds: i64, nanoseconds: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        FileStamp {
            device: status.dev(),
            inode: status.ino(),
            length_bytes: status.len(),
            modified: time(status.mtime(), status.mtime_nsec()),
            changed: time(status.ctime(), status.ctime_nsec()),
        }
    }

    /// The current state of the file of this name; None if there is no such file.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<FileStamp> {
        std::fs::metadata(path).ok().map(|status| FileStamp::of(&status))
    }

    /// Whether `later` is the same file after a change. A file that replaced it under the same name does not count as
    /// the same.
    #[must_use]
    pub fn was_changed_in_place(&self, later: &FileStamp) -> bool {
        (self.device, self.inode) == (later.device, later.inode) && self != later
    }

    /// Whether the file system is known to keep a change time, which is so if it differs from the time of modification.
    /// File systems without a change time (images of read-only file systems, file systems in user space) report the
    /// time of modification instead.
    #[must_use]
    pub fn keeps_change_time(&self) -> bool {
        self.changed != self.modified
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, FileTimes};
    use std::io::Write;
    use std::time::Duration;

    #[test]
    fn a_patch_that_restores_the_time_is_seen() {
        let path = std::env::temp_dir().join(format!("saki-stamp-{}", std::process::id()));
        std::fs::write(&path, "old").unwrap();
        let before = FileStamp::of_path(&path).unwrap();
        assert_eq!(FileStamp::of_path(&path).unwrap(), before);
        // File systems' clocks tick every 10 ms at least.
        std::thread::sleep(Duration::from_millis(50));
        let mut file = File::options().write(true).open(&path).unwrap();
        let modified = file.metadata().unwrap().modified().unwrap();
        file.write_all(b"new").unwrap();
        file.set_times(FileTimes::new().set_modified(modified)).unwrap();
        let patched = FileStamp::of_path(&path).unwrap();
        assert_eq!((patched.modified, patched.length_bytes), (before.modified, before.length_bytes));
        assert!(before.was_changed_in_place(&patched) && patched.keeps_change_time());
        // Another file under the same name, even an older one.
        let other = path.with_extension("other");
        std::fs::write(&other, "old").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(!patched.was_changed_in_place(&FileStamp::of_path(&path).unwrap()));
        std::fs::remove_file(&path).unwrap();
    }
}

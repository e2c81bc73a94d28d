//! Open folders: files and folders below one are reached by its handle and one name, and never through a symbolic link.
//!
//! Invariant: an open `Folder` stays the same folder, whatever somebody does to the path meanwhile. A name that has a
//! slash, or is "." or "..", is refused. No call waits: a FIFO is opened without its other end. Left out: whom to
//! trust, which callers decide; `status` gives them the owner and mode for that.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// See the module header.
#[derive(Debug)]
pub struct Folder(File);

/// The kind of entry that `remove` removes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Removed {
    /// Anything but a folder; of a symbolic link the link.
    File,
    /// A folder that is empty.
    Folder,
}

fn plain_name(name: &OsStr) -> io::Result<CString> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes == b"." || bytes == b".." || bytes.contains(&b'/') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a name in a folder"));
    }
    CString::new(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a zero byte in a name"))
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(crate::error::last_error()) }
}

impl Folder {
    /// Opens the folder at `path`, following symbolic links on the way and the last one.
    ///
    /// # Errors
    /// Those of opening; not a folder.
    pub fn open(path: &Path) -> io::Result<Folder> {
        use std::os::unix::fs::OpenOptionsExt;
        // The standard library adds O_CLOEXEC.
        File::options().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NONBLOCK).open(path).map(Folder)
    }

    fn open_at(&self, name: &OsStr, flags: libc::c_int) -> io::Result<File> {
        let name = plain_name(name)?;
        let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        const PRIVATE: libc::c_uint = 0o600;
        // SAFETY: the folder is open and the name ends with a zero byte; the mode is the argument that O_CREAT asks
        // for.
        let fd = unsafe { libc::openat(self.0.as_raw_fd(), name.as_ptr(), flags, PRIVATE) };
        if fd < 0 {
            return Err(crate::error::last_error());
        }
        // SAFETY: a descriptor just opened, which nobody else has.
        Ok(File::from(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Opens a folder below.
    ///
    /// # Errors
    /// Those of opening; ELOOP or ENOTDIR for what is not a folder.
    pub fn open_folder(&self, name: &OsStr) -> io::Result<Folder> {
        self.open_at(name, libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NONBLOCK).map(Folder)
    }

    /// Opens a file below for reading. It may be of any type but a symbolic link; nothing waits.
    ///
    /// # Errors
    /// Those of opening; ELOOP for a symbolic link.
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        self.open_at(name, libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY)
    }

    /// Makes a file below that only its owner may read and write.
    ///
    /// # Errors
    /// EEXIST if there is anything of that name, a dangling symbolic link included.
    pub fn create_file(&self, name: &OsStr) -> io::Result<File> {
        self.open_at(name, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL)
    }

    /// Makes a folder below that only its owner may use.
    ///
    /// # Errors
    /// EEXIST if there is anything of that name.
    pub fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        let name = plain_name(name)?;
        // SAFETY: the folder is open and the name ends with a zero byte.
        done(unsafe { libc::mkdirat(self.0.as_raw_fd(), name.as_ptr(), 0o700) })
    }

    /// Renames `from` to `to`, replacing an entry of that name. A folder replaces an empty folder only.
    ///
    /// # Errors
    /// Those of renaming.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let (from, to) = (plain_name(from)?, plain_name(to)?);
        let fd = self.0.as_raw_fd();
        // SAFETY: the folder is open and the names end with a zero byte.
        done(unsafe { libc::renameat(fd, from.as_ptr(), fd, to.as_ptr()) })
    }

    /// # Errors
    /// Those of removing; it is not what `what` says.
    pub fn remove(&self, name: &OsStr, what: Removed) -> io::Result<()> {
        let name = plain_name(name)?;
        let flags = if what == Removed::Folder { libc::AT_REMOVEDIR } else { 0 };
        // SAFETY: the folder is open and the name ends with a zero byte.
        done(unsafe { libc::unlinkat(self.0.as_raw_fd(), name.as_ptr(), flags) })
    }

    /// The folder's own owner, mode and times.
    ///
    /// # Errors
    /// That of `fstat`.
    pub fn status(&self) -> io::Result<Metadata> {
        self.0.metadata()
    }

    /// Owner, mode, type and times of the entry with this name; for a symbolic link those of the link. Opens nothing
    /// for reading.
    ///
    /// # Errors
    /// There is nothing of that name.
    pub fn status_of(&self, name: &OsStr) -> io::Result<Metadata> {
        self.open_at(name, libc::O_PATH)?.metadata()
    }

    /// The names below, in no order.
    ///
    /// # Errors
    /// Those of reading the folder.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        // A separate open file description, because reading moves its position.
        let own = self.open_itself()?;
        // SAFETY: an open folder; on success the stream owns the descriptor.
        let stream = unsafe { libc::fdopendir(own.as_raw_fd()) };
        if stream.is_null() {
            return Err(crate::error::last_error());
        }
        let _ = own.into_raw_fd();
        let mut names = Vec::new();
        loop {
            // SAFETY: the stream is open, and this thread alone has it.
            let entry = unsafe { libc::readdir(stream) };
            if entry.is_null() {
                break;
            }
            // SAFETY: `readdir` gives an entry that holds until the next call, with a name that ends with a zero byte.
            let name = unsafe { CStr::from_ptr((*entry).d_name.as_ptr()) }.to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        // SAFETY: the stream is open and not used after this.
        unsafe { libc::closedir(stream) };
        Ok(names)
    }

    fn open_itself(&self) -> io::Result<OwnedFd> {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
        // SAFETY: the folder is open and the name ends with a zero byte.
        let fd = unsafe { libc::openat(self.0.as_raw_fd(), c".".as_ptr(), flags) };
        if fd < 0 {
            return Err(crate::error::last_error());
        }
        // SAFETY: a descriptor just opened, which nobody else has.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, symlink};

    /// A new folder, removed with all that is in it.
    struct Scratch(std::path::PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("saki-folder-{name}-{}", std::process::id()));
            std::fs::create_dir(&path).unwrap();
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn links_are_not_followed() {
        let scratch = Scratch::new("links");
        std::fs::write(scratch.0.join("target"), "text").unwrap();
        symlink("target", scratch.0.join("link")).unwrap();
        symlink("nowhere", scratch.0.join("dangling")).unwrap();
        symlink("/tmp", scratch.0.join("away")).unwrap();
        let folder = Folder::open(&scratch.0).unwrap();
        assert_eq!(folder.open_file(OsStr::new("link")).unwrap_err().raw_os_error(), Some(libc::ELOOP));
        assert!(folder.open_folder(OsStr::new("away")).is_err());
        assert_eq!(folder.create_file(OsStr::new("dangling")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(!scratch.0.join("nowhere").exists());
        assert!(folder.status_of(OsStr::new("link")).unwrap().is_symlink());
        folder.remove(OsStr::new("link"), Removed::File).unwrap();
        assert!(scratch.0.join("target").exists());
    }

    #[test]
    fn a_fifo_opens_at_once() {
        let scratch = Scratch::new("fifo");
        let path = CString::new(scratch.0.join("fifo").as_os_str().as_bytes()).unwrap();
        // SAFETY: a path that ends with a zero byte.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        let folder = Folder::open(&scratch.0).unwrap();
        assert!(!folder.open_file(OsStr::new("fifo")).unwrap().metadata().unwrap().is_file());
    }

    #[test]
    fn names_are_names() {
        let scratch = Scratch::new("names");
        let folder = Folder::open(&scratch.0).unwrap();
        for name in ["", ".", "..", "a/b", "/etc", "a\0b"] {
            assert_eq!(folder.open_file(OsStr::new(name)).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name:?}");
        }
    }

    #[test]
    fn what_is_made_is_private_and_found() {
        let scratch = Scratch::new("made");
        let folder = Folder::open(&scratch.0).unwrap();
        folder.create_folder(OsStr::new("below")).unwrap();
        folder.create_file(OsStr::new("one")).unwrap();
        folder.rename(OsStr::new("one"), OsStr::new("two")).unwrap();
        assert_eq!(folder.status_of(OsStr::new("below")).unwrap().mode() & 0o777, 0o700);
        assert_eq!(folder.status_of(OsStr::new("two")).unwrap().mode() & 0o777, 0o600);
        for _ in 0..2 {
            let mut names = folder.names().unwrap();
            names.sort();
            assert_eq!(names, ["below", "two"]);
        }
        assert!(folder.remove(OsStr::new("below"), Removed::File).is_err());
        folder.remove(OsStr::new("below"), Removed::Folder).unwrap();
        assert_eq!(folder.names().unwrap(), ["two"]);
    }
}

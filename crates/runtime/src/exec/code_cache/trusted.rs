//! Folders that hold machine code for this process, and the users whom it trusts to have written it.
//!
//! | what | must be |
//! |---|---|
//! | the folder around a cache (`~/.cache`, `lib`) | owned by a trusted user; other users may write to it, but can at most hide the cache |
//! | the cache and each folder in it | a folder, no symbolic link; owned by a trusted user; writable by no other user |
//! | each file | a regular file, no symbolic link; owned by a trusted user; writable by no other user |
//!
//! Trusted are root and, for the user's own cache, the user as whom files are opened; for the cache that came with the installation
//! the executable's owner, who could as well have put other code into the executable.
//!
//! Invariant: the checks are made on the open file or folder, and entries of a folder are opened through that open folder. So
//! no file can be exchanged between check and use. A file or folder that does not pass counts as absent; `saki doctor` says why.
//! Left out: protection against trusted users; checksums find damage, not malice.

use saki_os::folder::{Folder, Removed};
use saki_os::limits::{Resource, limit_bytes};
use saki_os::privilege;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The mode bits of files that the group or other users may write.
const FOREIGN_WRITERS: u32 = 0o022;
/// The sticky bit of a folder: only the owner of an entry may remove or rename it.
const STICKY: u32 = 0o1000;

/// The users whose files are trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trust {
    /// The trusted user besides root.
    user: u32,
}

/// Why a file or folder is not used.
#[derive(Debug)]
pub enum Reason {
    Owner {
        owner: u32,
        trusted: u32,
    },
    /// The mode's permission bits.
    WritableByOthers(u32),
    NoFile,
    NoFolder,
    Unusable(io::Error),
}

/// A file or folder that is not used.
#[derive(Debug)]
pub struct Distrust {
    pub path: PathBuf,
    pub reason: Reason,
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.reason {
            Reason::Owner { owner, trusted: 0 } => write!(f, "owned by user {owner}, not by root"),
            Reason::Owner { owner, trusted } => write!(f, "owned by user {owner}, not by {trusted} or root"),
            Reason::WritableByOthers(mode) => write!(f, "mode {mode:04o} lets other users write"),
            Reason::NoFile => f.write_str("not a regular file"),
            Reason::NoFolder => f.write_str("not a folder"),
            Reason::Unusable(error) => error.fmt(f),
        }
    }
}

impl Trust {
    /// The user as whom this process opens files, and root.
    pub fn own() -> Trust {
        Trust { user: privilege::effective_user() }
    }

    /// The owner of the executable, who could have changed it, and root.
    pub fn in_owner_of(executable: &Metadata) -> Trust {
        Trust { user: executable.uid() }
    }

    pub(super) fn check_owner(self, status: &Metadata) -> Result<(), Reason> {
        let owner = status.uid();
        if owner == 0 || owner == self.user { Ok(()) } else { Err(Reason::Owner { owner, trusted: self.user }) }
    }

    fn check(self, status: &Metadata) -> Result<(), Reason> {
        self.check_owner(status)?;
        let mode = status.mode() & 0o7777;
        if mode & FOREIGN_WRITERS == 0 { Ok(()) } else { Err(Reason::WritableByOthers(mode)) }
    }
}

/// A missing file or folder is not a reason for distrust.
fn unless_absent<T>(outcome: io::Result<T>) -> Result<Option<T>, Reason> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(match error.raw_os_error() {
            Some(libc::ELOOP | libc::ENOTDIR) => Reason::NoFolder,
            _ => Reason::Unusable(error),
        }),
    }
}

/// An open folder that passed.
#[derive(Debug)]
pub struct TrustedFolder {
    folder: Folder,
    /// The path, for messages.
    path: PathBuf,
    trust: Trust,
}

impl TrustedFolder {
    /// The folder `name` in `base`; None if one of the two does not exist.
    ///
    /// # Errors
    /// The file or folder that does not pass, and why.
    pub fn open(base: &Path, name: &OsStr, trust: Trust) -> Result<Option<TrustedFolder>, Distrust> {
        let distrust = |reason| Distrust { path: base.to_path_buf(), reason };
        let Some(folder) = unless_absent(Folder::open(base)).map_err(distrust)? else { return Ok(None) };
        let status = folder.status().map_err(|e| distrust(Reason::Unusable(e)))?;
        trust.check_owner(&status).map_err(distrust)?;
        TrustedFolder { folder, path: base.to_path_buf(), trust }.below(name)
    }

    /// The folder `name` in `base`. Missing folders are made, accessible to the user only.
    ///
    /// # Errors
    /// The file or folder that does not pass or cannot be made, and why.
    pub fn make(base: &Path, name: &OsStr, trust: Trust) -> Result<TrustedFolder, Distrust> {
        let distrust = |path: &Path, reason| Distrust { path: path.to_path_buf(), reason };
        // Nothing is made in the folders of other users: root would make them useless to their owners.
        if let Some((path, status)) = base.ancestors().find_map(|path| Some((path, std::fs::metadata(path).ok()?))) {
            trust.check_owner(&status).map_err(|reason| distrust(path, reason))?;
        }
        let unusable = |e| distrust(base, Reason::Unusable(e));
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(base).map_err(unusable)?;
        let folder = Folder::open(base).map_err(unusable)?;
        trust.check_owner(&folder.status().map_err(unusable)?).map_err(|reason| distrust(base, reason))?;
        TrustedFolder { folder, path: base.to_path_buf(), trust }.make_below(name)
    }

    /// The folder of this name; None if there is none.
    ///
    /// # Errors
    /// The file or folder does not pass.
    pub fn below(&self, name: &OsStr) -> Result<Option<TrustedFolder>, Distrust> {
        let path = self.path.join(name);
        let found = unless_absent(self.folder.open_folder(name)).and_then(|found| {
            let Some(folder) = found else { return Ok(None) };
            self.trust.check(&folder.status().map_err(Reason::Unusable)?)?;
            Ok(Some(folder))
        });
        match found {
            Ok(folder) => Ok(folder.map(|folder| TrustedFolder { folder, path, trust: self.trust })),
            Err(reason) => Err(Distrust { path, reason }),
        }
    }

    /// The folder of this name, made if there is none.
    ///
    /// # Errors
    /// The folder does not pass or cannot be made.
    pub fn make_below(&self, name: &OsStr) -> Result<TrustedFolder, Distrust> {
        let path = || self.path.join(name);
        match self.folder.create_folder(name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Distrust { path: path(), reason: Reason::Unusable(error) });
            }
            _ => {}
        }
        // The folder is gone again: another process clears the cache.
        let gone = || Distrust { path: path(), reason: Reason::Unusable(io::ErrorKind::NotFound.into()) };
        self.below(name)?.ok_or_else(gone)
    }

    /// The file of this name, open for reading; None if there is none.
    ///
    /// # Errors
    /// The file or folder does not pass.
    pub fn file(&self, name: &OsStr) -> Result<Option<File>, Distrust> {
        let found = match self.folder.open_file(name) {
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => Err(Reason::NoFile),
            opened => unless_absent(opened),
        };
        let passed = found.and_then(|found| {
            let Some(file) = found else { return Ok(None) };
            let status = file.metadata().map_err(Reason::Unusable)?;
            if !status.is_file() {
                return Err(Reason::NoFile);
            }
            self.trust.check(&status)?;
            Ok(Some(file))
        });
        passed.map_err(|reason| Distrust { path: self.path.join(name), reason })
    }

    /// Writes a file under an unpredictable name and renames it into place: whole, or not at all.
    ///
    /// # Errors
    /// Those of writing; the file is as it was then.
    pub fn replace(&self, name: &OsStr, contents: &[u8]) -> io::Result<()> {
        self.replace_by(name, contents.len(), |mut file| file.write_all(contents))
    }

    /// Makes a file of what `write` writes, at most `max_bytes`, and puts it in the place of one with this name.
    ///
    /// # Errors
    /// Those of writing, and of `write`; the file is as it was then.
    pub fn replace_by(
        &self,
        name: &OsStr,
        max_bytes: usize,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        // A longer write would raise SIGXFSZ, which ends the process.
        if max_bytes > limit_bytes(Resource::FileSize) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut temporary = name.to_owned();
        temporary.push(format!(".{:016x}.{TEMPORARY_EXTENSION}", saki_os::random::word()?));
        let written = self
            .folder
            .create_file(&temporary)
            .and_then(|file| write(&file))
            .and_then(|()| self.folder.rename(&temporary, name));
        if written.is_err() {
            let _ = self.folder.remove(&temporary, Removed::File);
        }
        written
    }

    /// The folder, for operations that need no trust: listing and removing files.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The files and folders that do not pass, in the folder and up to `depth` levels below.
    pub fn distrusted(&self, depth: u32) -> Vec<Distrust> {
        let mut found = Vec::new();
        for name in self.folder.names().unwrap_or_default() {
            // Skips temporary files of running processes, and files that are gone by now.
            let Ok(status) = self.folder.status_of(&name) else { continue };
            if status.is_dir() {
                match self.below(&name) {
                    Ok(Some(folder)) if depth > 0 => found.extend(folder.distrusted(depth - 1)),
                    Ok(_) => {}
                    Err(distrust) => found.push(distrust),
                }
            } else if let Err(distrust) = self.file(&name) {
                found.push(distrust);
            }
        }
        found
    }
}

/// The extension of incomplete files.
pub(super) const TEMPORARY_EXTENSION: &str = "tmp";

/// Checks that no other user can make the path lead elsewhere, for a file that is opened by path later. Returns the path without symbolic
/// links.
///
/// # Errors
/// The folder on the path that another user may write to.
pub fn firm_path(path: &Path, trust: Trust) -> Result<PathBuf, Distrust> {
    let distrust = |path: &Path, reason| Distrust { path: path.to_path_buf(), reason };
    let real = std::fs::canonicalize(path).map_err(|e| distrust(path, Reason::Unusable(e)))?;
    for folder in real.ancestors() {
        let status = std::fs::symlink_metadata(folder).map_err(|e| distrust(folder, Reason::Unusable(e)))?;
        if !status.is_dir() {
            return Err(distrust(folder, Reason::NoFolder));
        }
        match trust.check(&status) {
            Err(Reason::WritableByOthers(mode)) if mode & STICKY != 0 && folder != real => {}
            outcome => outcome.map_err(|reason| distrust(folder, reason))?,
        }
    }
    Ok(real)
}

/// A new folder for the user alone among the system's temporary ones, under an unpredictable name.
///
/// # Errors
/// That of making it.
pub fn temporary_folder(purpose: &str) -> io::Result<PathBuf> {
    let name = OsString::from(format!("saki-{purpose}-{:016x}", saki_os::random::word()?));
    let path = std::env::temp_dir().join(name);
    std::fs::DirBuilder::new().mode(0o700).create(&path)?;
    Ok(path)
}

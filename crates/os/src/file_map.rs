//! A whole file in memory, read-only.
//!
//! Invariant: a mapping is private and never written. A file that is replaced by `rename` keeps its old
//! contents here. Left out: protection against another process that shortens the file in place: a read through the
//! slice ends the process with the file's name (`unwind::fault`).

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A file's contents while they are mapped.
pub struct FileMap(&'static [u8]);

impl FileMap {
    /// # Errors
    /// That of mapping; not a regular file.
    pub fn new(file: &File) -> io::Result<FileMap> {
        map_for_ever(file).map(FileMap)
    }

    /// The file's contents. Reading behind the end of a file that has become shorter is SIGBUS.
    pub fn bytes(&self) -> &[u8] {
        self.0
    }
}

impl Drop for FileMap {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            // SAFETY: a mapping of this length that `new` made; slices lent by `bytes` have ended with the borrow of
            // `self`.
            unsafe { libc::munmap(self.0.as_ptr().cast_mut().cast(), self.0.len()) };
        }
    }
}

/// Maps the file for the life of the process. An empty file gives an empty slice.
///
/// # Errors
/// That of mapping; not a regular file.
pub fn map_for_ever(file: &File) -> io::Result<&'static [u8]> {
    let status = file.metadata()?;
    if !status.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let len_bytes = status.len() as usize;
    if len_bytes == 0 {
        return Ok(&[]);
    }
    // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
    let base =
        unsafe { libc::mmap(std::ptr::null_mut(), len_bytes, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0) };
    if base == libc::MAP_FAILED {
        return Err(crate::error::last_error());
    }
    // SAFETY: readable for `len_bytes`, never unmapped, and nobody writes to a private read-only mapping.
    Ok(unsafe { std::slice::from_raw_parts(base.cast::<u8>(), len_bytes) })
}

/// Maps the file's first page executable, for the life of the process. No code runs there: the mapping appears in the
/// record that `perf` keeps of a process, by which `perf` finds the file.
///
/// # Errors
/// That of the mapping, such as from a file system without execution.
pub fn map_executable_page(file: &File) -> io::Result<()> {
    let protection = libc::PROT_READ | libc::PROT_EXEC;
    let len_bytes = crate::page_size_bytes();
    // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
    let base =
        unsafe { libc::mmap(std::ptr::null_mut(), len_bytes, protection, libc::MAP_PRIVATE, file.as_raw_fd(), 0) };
    if base == libc::MAP_FAILED { Err(crate::error::last_error()) } else { Ok(()) }
}

/// What a file system says about changes of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeTimes {
    /// Each change of a file moves its change time.
    Kept,
    /// The file lies in memory alone: there writing through a mapping moves no time of the file.
    NotOfMappings,
    /// Another file system, or one that may lie over any (overlayfs).
    Unknown,
}

/// ZFS is not in the kernel's headers.
const ZFS_MAGIC: i64 = 0x2fc1_2fc1;

/// What the file system of this file says about changes (statfs(2)).
#[must_use]
pub fn change_times(path: &Path) -> ChangeTimes {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return ChangeTimes::Unknown };
    // SAFETY: a structure of numbers, of which zeros are values.
    let mut status: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: a path that ends with a zero byte, and a structure to fill.
    let result = unsafe { libc::statfs(path.as_ptr(), &mut status) };
    match status.f_type {
        _ if result != 0 => ChangeTimes::Unknown,
        libc::TMPFS_MAGIC => ChangeTimes::NotOfMappings,
        libc::EXT4_SUPER_MAGIC
        | libc::XFS_SUPER_MAGIC
        | libc::BTRFS_SUPER_MAGIC
        | libc::F2FS_SUPER_MAGIC
        | ZFS_MAGIC => ChangeTimes::Kept,
        _ => ChangeTimes::Unknown,
    }
}

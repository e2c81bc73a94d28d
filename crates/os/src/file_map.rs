//! A whole file in memory, read-only.
//!
//! Invariant: the mapping is private, never written and never unmapped. A file that is replaced by `rename` keeps its old
//! contents here. Left out: protection against another process that shortens the file in place (SIGBUS, as for every
//! mapped executable).

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Maps the file at `path` for the life of the process. An empty file gives an empty slice.
///
/// # Errors
/// Those of opening and mapping; not a regular file.
pub fn map_for_ever(path: &Path) -> io::Result<&'static [u8]> {
    let file = File::open(path)?;
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
        return Err(io::Error::last_os_error());
    }
    // SAFETY: readable for `len_bytes`, never unmapped, and nobody writes to a private read-only mapping.
    Ok(unsafe { std::slice::from_raw_parts(base.cast::<u8>(), len_bytes) })
}

/// Maps the file's first page executable, for the life of the process. Nothing runs there: the mapping shows up in the record
/// that `perf` keeps of a process, and by it the file is found.
///
/// # Errors
/// That of the mapping, such as from a file system without execution.
pub fn map_executable_page(file: &File) -> io::Result<()> {
    let protection = libc::PROT_READ | libc::PROT_EXEC;
    let len_bytes = crate::page_size_bytes();
    // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
    let base =
        unsafe { libc::mmap(std::ptr::null_mut(), len_bytes, protection, libc::MAP_PRIVATE, file.as_raw_fd(), 0) };
    if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}

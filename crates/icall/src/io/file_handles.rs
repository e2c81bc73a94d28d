//! The table of file handles: managed code names files by their file descriptor; the table holds their access rights
//! and kind.
//!
//! Invariant: a descriptor is in the table from before managed code gets it until before it is closed, so a descriptor
//! that the system reuses is never taken for the old file. Operations on descriptors that are not in the table fail
//! with INVALID_HANDLE. Left out: sockets and descriptors that P/Invoke made.

use super::errors::{IoResult, Win32Error};
use super::file_sharing::{self, Use};
use super::streams::Stream;
use saki_base::locks::{RwLock, rank};
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, LazyLock};

/// `MonoFileType`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum FileType {
    Disk = 1,
    Char = 2,
    Pipe = 3,
}

/// `FileAccess` bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access(pub i32);

impl Access {
    /// Only reading.
    pub const READ: Access = Access(1);
    /// Only writing.
    pub const WRITE: Access = Access(2);
    /// Both.
    pub const READ_WRITE: Access = Access(3);

    /// # Errors
    /// ACCESS_DENIED unless one of the bits of `wanted` is there.
    pub fn require(self, wanted: Access) -> IoResult<()> {
        if self.0 & wanted.0 != 0 { Ok(()) } else { Err(Win32Error::ACCESS_DENIED) }
    }
}

/// An open file.
#[derive(Debug)]
pub struct FileHandle {
    pub fd: i32,
    pub file_type: FileType,
    pub access: Access,
    /// Counted in the share table.
    pub counted: Option<Use>,
    /// Removed when the handle is closed.
    pub delete_on_close: Option<CString>,
}

impl FileHandle {
    /// A handle of one end of a pipe.
    pub fn pipe(fd: i32, access: Access) -> FileHandle {
        FileHandle { fd, file_type: FileType::Pipe, access, counted: None, delete_on_close: None }
    }

    pub(crate) fn stream(&self) -> Stream {
        Stream { fd: self.fd, file_type: self.file_type }
    }

    /// # Errors
    /// INVALID_HANDLE when it is not a file on disk.
    pub fn require_disk(&self) -> IoResult<()> {
        if self.file_type == FileType::Disk { Ok(()) } else { Err(Win32Error::INVALID_HANDLE) }
    }
}

static HANDLES: LazyLock<RwLock<rank::FileHandles, HashMap<i32, Arc<FileHandle>>>> = LazyLock::new(RwLock::default);

/// Puts an open file into the table.
pub fn insert(handle: FileHandle) {
    HANDLES.write().insert(handle.fd, Arc::new(handle));
}

/// # Errors
/// INVALID_HANDLE.
pub fn lookup(handle: usize) -> IoResult<Arc<FileHandle>> {
    let fd = i32::try_from(handle).map_err(|_| Win32Error::INVALID_HANDLE)?;
    HANDLES.read().get(&fd).cloned().ok_or(Win32Error::INVALID_HANDLE)
}

/// Takes the file out of the table and closes it.
///
/// # Errors
/// INVALID_HANDLE.
pub fn close(handle: usize) -> IoResult<()> {
    let fd = i32::try_from(handle).map_err(|_| Win32Error::INVALID_HANDLE)?;
    let file = HANDLES.write().remove(&fd).ok_or(Win32Error::INVALID_HANDLE)?;
    if let Some(path) = &file.delete_on_close {
        // SAFETY: a NUL-terminated path. If the file is gone already, the close has not failed.
        saki_thread::blocking(|| unsafe { libc::unlink(path.as_ptr()) });
    }
    if file.file_type == FileType::Char && fd <= libc::STDERR_FILENO {
        // The console stays open, since the program may ask for it again.
        return Ok(());
    }
    // SAFETY: the descriptor was ours; it left the table above.
    saki_thread::blocking(|| unsafe { libc::close(fd) });
    // A thread that is allowed to open the file again finds the lock among processes free.
    if let Some(counted) = file.counted {
        file_sharing::close(counted);
    }
    Ok(())
}

/// The console handle for one of the first three descriptors, made on first use. INVALID_HANDLE_VALUE (-1) when the
/// process was started without it.
pub fn console(fd: i32) -> isize {
    if HANDLES.read().contains_key(&fd) {
        return fd as isize;
    }
    // SAFETY: asks for the flags of a descriptor.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    if flags == -1 {
        return -1;
    }
    let access = match flags & libc::O_ACCMODE {
        _ if fd == libc::STDIN_FILENO => Access::READ,
        libc::O_RDONLY => Access::READ,
        libc::O_WRONLY => Access::WRITE,
        _ => Access::READ_WRITE,
    };
    HANDLES.write().entry(fd).or_insert_with(|| {
        Arc::new(FileHandle { fd, file_type: FileType::Char, access, counted: None, delete_on_close: None })
    });
    fd as isize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_handle_is_unknown() {
        let mut fds = [0; 2];
        // SAFETY: room for two descriptors.
        assert_eq!(unsafe { libc::pipe(fds.as_mut_ptr()) }, 0);
        insert(FileHandle::pipe(fds[0], Access::READ));
        let handle = fds[0] as usize;
        assert_eq!(lookup(handle).map(|f| f.file_type), Ok(FileType::Pipe));
        assert_eq!(lookup(handle).and_then(|f| f.access.require(Access::WRITE)), Err(Win32Error::ACCESS_DENIED));
        assert_eq!(close(handle), Ok(()));
        assert_eq!(close(handle), Err(Win32Error::INVALID_HANDLE));
        assert_eq!(lookup(usize::MAX).err(), Some(Win32Error::INVALID_HANDLE));
    }
}

//! Win32 error codes, the values of `MonoIOError`, and their relation to errno.

use saki_os::error::Errno;
use saki_runtime::Place;

/// A Win32 error code as managed code sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Win32Error(pub i32);

impl Win32Error {
    /// No error.
    pub const SUCCESS: Win32Error = Win32Error(0);
    /// There is no such file.
    pub const FILE_NOT_FOUND: Win32Error = Win32Error(2);
    /// There is no such folder on the way.
    pub const PATH_NOT_FOUND: Win32Error = Win32Error(3);
    /// The process or the system has no descriptor left.
    pub const TOO_MANY_OPEN_FILES: Win32Error = Win32Error(4);
    /// The access is not allowed.
    pub const ACCESS_DENIED: Win32Error = Win32Error(5);
    /// The handle names nothing.
    pub const INVALID_HANDLE: Win32Error = Win32Error(6);
    /// The program cannot be executed.
    pub const BAD_FORMAT: Win32Error = Win32Error(11);
    /// The position cannot be reached.
    pub const SEEK: Win32Error = Win32Error(25);
    /// The device could not be written.
    pub const WRITE_FAULT: Win32Error = Win32Error(29);
    /// Another handle does not share the file.
    pub const SHARING_VIOLATION: Win32Error = Win32Error(32);
    /// Another process has locked the range.
    pub const LOCK_VIOLATION: Win32Error = Win32Error(33);
    /// The disk is full.
    pub const HANDLE_DISK_FULL: Win32Error = Win32Error(39);
    /// The file or file system cannot do it.
    pub const NOT_SUPPORTED: Win32Error = Win32Error(50);
    /// The device is not there.
    pub const DEV_NOT_EXIST: Win32Error = Win32Error(55);
    /// The file is there already.
    pub const FILE_EXISTS: Win32Error = Win32Error(80);
    /// The file or folder cannot be made.
    pub const CANNOT_MAKE: Win32Error = Win32Error(82);
    /// An argument makes no sense.
    pub const INVALID_PARAMETER: Win32Error = Win32Error(87);
    /// The path is not one.
    pub const INVALID_NAME: Win32Error = Win32Error(123);
    /// The folder has files.
    pub const DIR_NOT_EMPTY: Win32Error = Win32Error(145);
    /// The file or folder is there already.
    pub const ALREADY_EXISTS: Win32Error = Win32Error(183);
    /// The path is too long.
    pub const FILENAME_EXCED_RANGE: Win32Error = Win32Error(206);
    /// The operation goes on.
    pub const IO_PENDING: Win32Error = Win32Error(997);
    /// Symbolic links lead in a circle.
    pub const CANT_RESOLVE_FILENAME: Win32Error = Win32Error(1921);
    /// The file cannot be encrypted.
    pub const ENCRYPTION_FAILED: Win32Error = Win32Error(6000);

    /// The code that class libraries expect for an errno value.
    pub fn from_errno(Errno(errno): Errno) -> Win32Error {
        match errno {
            libc::EACCES | libc::EPERM | libc::EROFS => Win32Error::ACCESS_DENIED,
            libc::EAGAIN => Win32Error::SHARING_VIOLATION,
            libc::EBUSY => Win32Error::LOCK_VIOLATION,
            libc::EEXIST => Win32Error::FILE_EXISTS,
            libc::EINVAL | libc::ESPIPE => Win32Error::SEEK,
            libc::EISDIR => Win32Error::CANNOT_MAKE,
            libc::ENFILE | libc::EMFILE => Win32Error::TOO_MANY_OPEN_FILES,
            libc::ENOENT | libc::ENOTDIR => Win32Error::FILE_NOT_FOUND,
            libc::ENOSPC => Win32Error::HANDLE_DISK_FULL,
            libc::ENOTEMPTY => Win32Error::DIR_NOT_EMPTY,
            libc::ENOEXEC => Win32Error::BAD_FORMAT,
            libc::ENAMETOOLONG => Win32Error::FILENAME_EXCED_RANGE,
            libc::EINPROGRESS | libc::EINTR => Win32Error::IO_PENDING,
            libc::EBADF | libc::EIO => Win32Error::INVALID_HANDLE,
            libc::EPIPE => Win32Error::WRITE_FAULT,
            libc::ELOOP => Win32Error::CANT_RESOLVE_FILENAME,
            libc::ENODEV | libc::ENXIO | libc::ENOTCONN | libc::EHOSTDOWN => Win32Error::DEV_NOT_EXIST,
            _ => Win32Error::NOT_SUPPORTED,
        }
    }

    /// The code for the last failed system call of this thread.
    pub fn last() -> Win32Error {
        Win32Error::from_errno(Errno::last())
    }
}

/// The last failed system call's errno.
pub fn errno() -> i32 {
    saki_os::error::errno()
}

/// Result of a file operation.
pub type IoResult<T> = Result<T, Win32Error>;

/// Stores the outcome through a `MonoIOError&` and returns the value, or `failed`.
pub(crate) fn report<T>(result: IoResult<T>, error: Place<i32>, failed: T) -> T {
    let (value, code) = match result {
        Ok(value) => (value, Win32Error::SUCCESS),
        Err(code) => (failed, code),
    };
    error.set(code.0);
    value
}

/// Stores the outcome through a `MonoIOError&`; returns whether the operation succeeded.
pub(crate) fn report_success(result: IoResult<()>, error: Place<i32>) -> bool {
    report(result.map(|()| true), error, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errno_values_map_as_the_class_library_expects() {
        for (errno, code) in [
            (libc::ENOENT, Win32Error::FILE_NOT_FOUND),
            (libc::EROFS, Win32Error::ACCESS_DENIED),
            (libc::EAGAIN, Win32Error::SHARING_VIOLATION),
            (libc::ESPIPE, Win32Error::SEEK),
            (libc::EPIPE, Win32Error::WRITE_FAULT),
            (9999, Win32Error::NOT_SUPPORTED),
        ] {
            assert_eq!(Win32Error::from_errno(Errno(errno)), code, "errno {errno}");
        }
    }
}

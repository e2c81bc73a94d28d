//! Reading and writing files, pipes and terminals.
//!
//! Where waits park, pipes and terminals are tried with RWF_NOWAIT, which leaves the mode of the descriptor as it is: child processes and native code may have
//! the same open file. Invariant: files on disk, and whatever does not know RWF_NOWAIT, block in a safe region.

use super::errors::{IoResult, Win32Error};
use super::file_handles::{FileHandle, FileType};
use crate::system_call::{Parked, Wait, parking_call, system_call};
use saki_reactor::{Interest, Lifetime};
use saki_runtime::Thread;

/// The present position, for preadv2(2).
const HERE: libc::off_t = -1;

fn parked(t: Thread, file: &FileHandle, interest: Interest, attempt: impl FnMut() -> isize) -> Option<IoResult<usize>> {
    if file.file_type == FileType::Disk || !saki_reactor::waits_park() {
        return None;
    }
    let wait = Wait { fd: file.fd, interest, lifetime: Lifetime::Unknown };
    match parking_call(t, &wait, || None, || false, attempt) {
        Parked::Done(count) => Some(Ok(count)),
        // The file does not know the flag, or has no position.
        Parked::Failed(libc::EOPNOTSUPP | libc::ENOSYS | libc::ESPIPE | libc::EINVAL) => None,
        Parked::Failed(errno) => Some(Err(Win32Error::from_errno(errno))),
        Parked::TimedOut | Parked::MustBlock => None,
    }
}

/// Reads at the present position into `length` bytes that stay in place. 0: the end.
///
/// # Errors
/// The system's.
pub(crate) fn read(t: Thread, file: &FileHandle, address: *mut u8, length: usize) -> IoResult<usize> {
    let vector = libc::iovec { iov_base: address.cast(), iov_len: length };
    // SAFETY: one vector of `length` bytes, by this function's contract.
    let attempt = || unsafe { libc::preadv2(file.fd, &raw const vector, 1, HERE, libc::RWF_NOWAIT) };
    parked(t, file, Interest::Read, attempt).unwrap_or_else(|| {
        // SAFETY: as above.
        system_call(t, || unsafe { libc::read(file.fd, address.cast(), length) }).map_err(Win32Error::from_errno)
    })
}

/// Writes at the present position.
///
/// # Errors
/// The system's.
pub(crate) fn write(t: Thread, file: &FileHandle, address: *const u8, length: usize) -> IoResult<usize> {
    let vector = libc::iovec { iov_base: address.cast_mut().cast(), iov_len: length };
    // SAFETY: one vector of `length` bytes, by this function's contract.
    let attempt = || unsafe { libc::pwritev2(file.fd, &raw const vector, 1, HERE, libc::RWF_NOWAIT) };
    parked(t, file, Interest::Write, attempt).unwrap_or_else(|| {
        // SAFETY: as above.
        system_call(t, || unsafe { libc::write(file.fd, address.cast(), length) }).map_err(Win32Error::from_errno)
    })
}

//! Reading and writing files, pipes and terminals.
//!
//! Where waits park, pipes are tried with RWF_NOWAIT, which leaves the mode of the descriptor as it is: child processes
//! and native code may have the same open file. Terminals do not support the flag; they are read when poll(2) says that
//! there is input. Invariant: files on disk, writes to terminals, and pipes of kernels without RWF_NOWAIT block in a
//! safe region.

use super::file_handles::FileType;
use crate::system_call::system_call;
use saki_os::error::Errno;
use saki_reactor::{Interest, Lifetime};
use saki_runtime::CurrentThread;
use saki_runtime::exec::waits::{self, Attempt, Ready, Unfinished, Wait};
use saki_runtime::vm::profile_events::IoWait;

/// Stands for the file's present position in preadv2(2).
const HERE: libc::off_t = -1;

/// An open file and its kind.
#[derive(Clone, Copy)]
pub(crate) struct Stream {
    pub(crate) fd: i32,
    pub(crate) file_type: FileType,
}

/// Tries a call that never blocks, and parks in between. None: the call must block.
fn parked(
    t: CurrentThread,
    stream: Stream,
    interest: Interest,
    mut attempt: impl FnMut() -> Attempt<usize>,
) -> Option<Result<usize, Errno>> {
    if stream.file_type == FileType::Disk || !saki_reactor::waits_park() {
        return None;
    }
    match waits::wait_for(t, wait_for(t, stream.fd, interest), |_| attempt()) {
        Ok(count) => Some(Ok(count)),
        // The file does not support the flag, or has no position, or there is no such call here: older kernels lack it,
        // and filters of containers forbid it with EPERM.
        Err(Unfinished::Failed(Errno(libc::EOPNOTSUPP | libc::ENOSYS | libc::EPERM | libc::ESPIPE | libc::EINVAL))) => {
            None
        }
        Err(Unfinished::CannotPark) => None,
        Err(end) => Some(Err(end.errno())),
    }
}

fn wait_for(t: CurrentThread, fd: i32, interest: Interest) -> Wait<'static, Ready> {
    Wait::new(Ready::new(t, fd, interest, Lifetime::Unknown))
}

/// Where waits park, parks until there is input or the descriptor cannot be waited for; the read that follows finds out
/// which. For files that do not support RWF_NOWAIT.
pub(crate) fn park_until_readable(t: CurrentThread, fd: i32) {
    if saki_reactor::waits_park() {
        let _ = waits::wait_for(t, wait_for(t, fd, Interest::Read), |_| poll_input(fd));
    }
}

/// Whether there is input. If another reader of the same descriptor takes the input before the caller reads, the caller
/// blocks in its read.
fn poll_input(fd: i32) -> Attempt<usize> {
    let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one descriptor; does not wait.
    match Attempt::of(unsafe { libc::poll(&mut entry, 1, 0) }) {
        Attempt::Done(0) => Attempt::WouldBlock,
        end => end,
    }
}

/// Reads at the present position. 0: the end.
///
/// # Errors
/// The system's; EINTR for an abort, whose exception is pending.
///
/// # Safety
/// `length` bytes from `address` on are writable and stay in place.
pub(crate) unsafe fn read(t: CurrentThread, stream: Stream, address: *mut u8, length: usize) -> Result<usize, Errno> {
    let _wait = IoWait::begin(
        t,
        match stream.file_type {
            FileType::Disk => "[file read]",
            FileType::Char => "[terminal read]",
            FileType::Pipe => "[pipe read]",
        },
    );
    let vector = libc::iovec { iov_base: address.cast(), iov_len: length };
    let parked = if stream.file_type == FileType::Char {
        park_until_readable(t, stream.fd);
        None
    } else {
        // SAFETY: one vector, of `length` bytes that are writable and stay in place.
        let attempt = || Attempt::of(unsafe { libc::preadv2(stream.fd, &raw const vector, 1, HERE, libc::RWF_NOWAIT) });
        parked(t, stream, Interest::Read, attempt)
    };
    parked.unwrap_or_else(|| {
        // SAFETY: `length` bytes from `address` on are writable and stay in place.
        system_call(t, || Attempt::of(unsafe { libc::read(stream.fd, address.cast(), length) }))
    })
}

/// Writes at the present position: as many bytes as the system takes in one call.
///
/// # Errors
/// The system's; EINTR for an abort, whose exception is pending.
///
/// # Safety
/// `length` bytes from `address` on are readable and stay in place.
pub(crate) unsafe fn write(
    t: CurrentThread,
    stream: Stream,
    address: *const u8,
    length: usize,
) -> Result<usize, Errno> {
    let _wait = IoWait::begin(
        t,
        match stream.file_type {
            FileType::Disk => "[file write]",
            FileType::Char => "[terminal write]",
            FileType::Pipe => "[pipe write]",
        },
    );
    let vector = libc::iovec { iov_base: address.cast_mut().cast(), iov_len: length };
    // SAFETY: one vector, of `length` bytes that are readable and stay in place.
    let attempt = || Attempt::of(unsafe { libc::pwritev2(stream.fd, &raw const vector, 1, HERE, libc::RWF_NOWAIT) });
    parked(t, stream, Interest::Write, attempt).unwrap_or_else(|| {
        // SAFETY: `length` bytes from `address` on are readable and stay in place.
        system_call(t, || Attempt::of(unsafe { libc::write(stream.fd, address.cast(), length) }))
    })
}

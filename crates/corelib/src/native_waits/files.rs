//! Reading and writing what is no file on disk: pipes, terminals, and sockets and others that managed code takes for
//! files.
//!
//! Pipes are tried with RWF_NOWAIT, which leaves the mode of the descriptor as it is: child processes may have the same
//! open file. Others do not support the flag; they are read when poll(2) says that there is something. Left out: writes
//! to terminals, which block; files on disk.

use super::descriptors::{self, Kind};
use super::original;
use super::waiting::{End, Watched, poll_one, timeout_of, wait_for_file};
use saki_os::error::{Errno, set_errno};
use saki_reactor::Interest;
use saki_runtime::exec::waits::Attempt;
use std::time::Duration;

/// Stands for the file's present position in preadv2(2).
const HERE: libc::off_t = -1;

/// The result of a system call. `block` makes the library's call, if the descriptor cannot be waited for.
fn result(end: End<usize>, block: impl FnOnce() -> i32) -> i32 {
    let errno = match end {
        End::Done(count) => return count as i32,
        // The file does not support the flag, or has no position, or there is no such call here: older kernels lack it,
        // and filters of containers forbid it with EPERM.
        End::Failed(Errno(libc::EOPNOTSUPP | libc::ENOSYS | libc::EPERM | libc::ESPIPE | libc::EINVAL))
        | End::MustBlock => return block(),
        End::Failed(Errno(errno)) => errno,
        End::TimedOut => libc::EAGAIN,
        End::Aborted => libc::EINTR,
    };
    // After the last wait, which may have moved the thread to another OS thread.
    set_errno(errno);
    -1
}

/// An attempt that poll(2) allows.
fn if_ready(fd: i32, interest: Interest, call: impl FnOnce() -> Attempt<usize>) -> Attempt<usize> {
    match poll_one(fd, interest, Some(Duration::ZERO)) {
        Attempt::Done(0) => Attempt::WouldBlock,
        Attempt::Done(_) => call(),
        end => end,
    }
}

/// # Safety
/// Compiled code calls it as the library's function; `buffer` is pinned.
pub(super) unsafe extern "C" fn read(fd: isize, buffer: *mut u8, len: i32) -> i32 {
    // SAFETY: compiled code's arguments for the library's function.
    let block = || unsafe { original::read(fd, buffer, len) };
    // SAFETY: compiled code's buffer of `len` bytes.
    unsafe { read_parking(fd, buffer, len) }.map_or_else(block, |end| result(end, block))
}

/// # Safety
/// Compiled code calls it as the library's function; `buffer` is pinned.
pub(super) unsafe extern "C" fn read_stdin(buffer: *mut u8, len: i32) -> i32 {
    // SAFETY: compiled code's arguments for the library's function.
    let block = || unsafe { original::read_stdin(buffer, len) };
    // SAFETY: compiled code's buffer of `len` bytes.
    unsafe { read_parking(libc::STDIN_FILENO as isize, buffer, len) }.map_or_else(block, |end| result(end, block))
}

/// None: the library's call is to be made.
///
/// # Safety
/// `buffer` has `len` bytes, if `len` is not negative.
unsafe fn read_parking(fd: isize, buffer: *mut u8, len: i32) -> Option<End<usize>> {
    let count = usize::try_from(len).ok()?;
    let fd = descriptors::waited(fd)?;
    let interest = Interest::Read;
    match descriptors::kind_of(fd) {
        Kind::Disk | Kind::Unknown => None,
        kind if kind.is_socket() => {
            let watched = Watched { fd, interest, what: "[socket receive]", is_short: |_: &usize| false };
            Some(watched.wait(&|| timeout_of(fd, interest), || {
                // SAFETY: a buffer of `count` bytes.
                Attempt::of(unsafe { libc::recv(fd, buffer.cast(), count, libc::MSG_DONTWAIT) })
            }))
        }
        Kind::Pipe => {
            let vector = libc::iovec { iov_base: buffer.cast(), iov_len: count };
            Some(wait_for_file(fd, interest, "[pipe read]", || {
                // SAFETY: one vector, of a buffer of `count` bytes.
                Attempt::of(unsafe { libc::preadv2(fd, &raw const vector, 1, HERE, libc::RWF_NOWAIT) })
            }))
        }
        _ => Some(wait_for_file(fd, interest, "[terminal read]", || {
            // If another reader takes the input in between, this one blocks.
            // SAFETY: a buffer of `count` bytes.
            if_ready(fd, interest, || Attempt::of(unsafe { libc::read(fd, buffer.cast(), count) }))
        })),
    }
}

/// Writes every byte, as a call that blocks does, unless the system refuses the rest.
///
/// # Safety
/// Compiled code calls it as the library's function; `buffer` is pinned.
pub(super) unsafe extern "C" fn write(fd: isize, buffer: *const u8, len: i32) -> i32 {
    // SAFETY: compiled code's arguments for the library's function.
    let block = || unsafe { original::write(fd, buffer, len) };
    // SAFETY: compiled code's buffer of `len` bytes.
    unsafe { write_parking(fd, buffer, len) }.map_or_else(block, |end| result(end, block))
}

/// None: the library's call is to be made.
///
/// # Safety
/// `buffer` has `len` bytes, if `len` is not negative.
unsafe fn write_parking(fd: isize, buffer: *const u8, len: i32) -> Option<End<usize>> {
    let count = usize::try_from(len).ok()?;
    let fd = descriptors::waited(fd)?;
    let interest = Interest::Write;
    let kind = descriptors::kind_of(fd);
    let mut written = 0;
    let attempt = || {
        loop {
            // SAFETY: `written <= count`, so the address is in the buffer or at its end.
            let base = unsafe { buffer.add(written) }.cast_mut().cast();
            let rest = count - written;
            let end = if kind == Kind::Pipe {
                let vector = libc::iovec { iov_base: base, iov_len: rest };
                // SAFETY: one vector, of the `rest` bytes of the buffer that are left.
                Attempt::of(unsafe { libc::pwritev2(fd, &raw const vector, 1, HERE, libc::RWF_NOWAIT) })
            } else {
                // SAFETY: the `rest` bytes of the buffer that are left.
                Attempt::of(unsafe { libc::send(fd, base, rest, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) })
            };
            match end {
                Attempt::Done(more) if more > 0 && more < rest => written += more,
                Attempt::Done(more) => return Attempt::Done(written + more),
                Attempt::Failed(_) if written > 0 => return Attempt::Done(written),
                end => return end,
            }
        }
    };
    match kind {
        Kind::Pipe => Some(wait_for_file(fd, interest, "[pipe write]", attempt)),
        kind if kind.is_socket() => {
            let watched = Watched { fd, interest, what: "[socket send]", is_short: |_: &usize| false };
            Some(watched.wait(&|| timeout_of(fd, interest), attempt))
        }
        _ => None,
    }
}

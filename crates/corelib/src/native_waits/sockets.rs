//! Receiving from sockets and sending to them.

use super::descriptors::{self, Kind};
use super::structures::MessageHeader;
use super::waiting::{Watched, attempt_of, timeout_of};
use super::{errors, original};
use saki_reactor::Interest;
use saki_runtime::exec::waits::Attempt;

/// The library's flag for a call that does not block, which the class library gives for Ping alone.
const DONT_WAIT: i32 = 0x1000;

/// Makes a call on a socket, which gets flags to add. `is_short`: it has moved less than it was asked to.
fn transfer(
    socket: isize,
    interest: Interest,
    what: &'static str,
    flags: i32,
    is_short: impl Fn(i32) -> bool,
    mut call: impl FnMut(i32) -> i32,
) -> i32 {
    let Some(fd) = descriptors::waited(socket).filter(|_| flags & DONT_WAIT == 0) else { return call(0) };
    let watched = Watched {
        fd,
        interest,
        what,
        // Flags ask for something else than the stream's next bytes.
        is_short: |&code: &i32| code == errors::SUCCESS && flags == 0 && is_short(fd),
    };
    let end = watched.wait(&|| timeout_of(fd, interest), || match call(DONT_WAIT) {
        // The end is there, and the call that would block returns it.
        errors::AGAIN if interest == Interest::Read && has_silent_end(fd) => Attempt::Done(call(0)),
        code => attempt_of(code),
    });
    end.code(errors::AGAIN).unwrap_or_else(|| call(0))
}

/// Whether this side has shut down a socket of datagrams, as SafeSocketHandle does in order to end a call on it: the
/// system then gives the end only to calls that block.
fn has_silent_end(fd: i32) -> bool {
    if descriptors::kind_of(fd) == Kind::Tcp {
        return false;
    }
    let mut entry = libc::pollfd { fd, events: libc::POLLRDHUP, revents: 0 };
    // SAFETY: one descriptor; does not wait.
    unsafe { libc::poll(&mut entry, 1, 0) == 1 && entry.revents & (libc::POLLRDHUP | libc::POLLHUP) != 0 }
}

/// Whether so many bytes are fewer than were asked of a stream that had no more.
fn is_short_on(fd: i32, count: i32, asked: i32) -> bool {
    0 < count && count < asked && descriptors::kind_of(fd) == Kind::Tcp
}

/// # Safety
/// Compiled code calls it as the library's function; `buffer` is pinned.
pub(super) unsafe extern "C" fn receive(
    socket: isize,
    buffer: *mut u8,
    len: i32,
    flags: i32,
    received: *mut i32,
) -> i32 {
    // SAFETY: after a success the library's function has stored the count there.
    let is_short = |fd| is_short_on(fd, unsafe { *received }, len);
    transfer(socket, Interest::Read, "[socket receive]", flags, is_short, |more| {
        // SAFETY: compiled code's arguments for the library's function.
        unsafe { original::receive(socket, buffer, len, flags | more, received) }
    })
}

/// # Safety
/// Compiled code calls it as the library's function; `buffer` is pinned.
pub(super) unsafe extern "C" fn send(socket: isize, buffer: *mut u8, len: i32, flags: i32, sent: *mut i32) -> i32 {
    // SAFETY: after a success the library's function has stored the count there.
    let is_short = |fd| is_short_on(fd, unsafe { *sent }, len);
    transfer(socket, Interest::Write, "[socket send]", flags, is_short, |more| {
        // SAFETY: compiled code's arguments for the library's function.
        unsafe { original::send(socket, buffer, len, flags | more, sent) }
    })
}

/// # Safety
/// Compiled code calls it as the library's function; all that `header` leads to is pinned.
pub(super) unsafe extern "C" fn receive_message(
    socket: isize,
    header: *mut MessageHeader,
    flags: i32,
    received: *mut i64,
) -> i32 {
    if header.is_null() {
        // SAFETY: compiled code's arguments for the library's function.
        return unsafe { original::receive_message(socket, header, flags, received) };
    }
    // SAFETY: not null: compiled code's header.
    let asked = unsafe { *header };
    transfer(
        socket,
        Interest::Read,
        "[socket receive]",
        flags,
        |_| false,
        |more| {
            // An attempt overwrites the sizes.
            // SAFETY: compiled code's header.
            unsafe { *header = asked };
            // SAFETY: compiled code's arguments for the library's function.
            unsafe { original::receive_message(socket, header, flags | more, received) }
        },
    )
}

/// # Safety
/// Compiled code calls it as the library's function; all that `header` leads to is pinned.
pub(super) unsafe extern "C" fn send_message(
    socket: isize,
    header: *mut MessageHeader,
    flags: i32,
    sent: *mut i64,
) -> i32 {
    transfer(
        socket,
        Interest::Write,
        "[socket send]",
        flags,
        |_| false,
        |more| {
            // SAFETY: compiled code's arguments for the library's function.
            unsafe { original::send_message(socket, header, flags | more, sent) }
        },
    )
}

/// The library's function has no flags, so the socket does not block meanwhile. The class library repeats the call for
/// the rest of a file.
///
/// # Safety
/// Compiled code calls it as the library's function.
pub(super) unsafe extern "C" fn send_file(socket: isize, file: isize, offset: i64, count: i64, sent: *mut i64) -> i32 {
    // SAFETY: compiled code's arguments for the library's function.
    let call = || unsafe { original::send_file(socket, file, offset, count, sent) };
    let Some(fd) = descriptors::waited(socket).filter(|&fd| descriptors::keep_non_blocking(fd)) else { return call() };
    let interest = Interest::Write;
    let watched = Watched { fd, interest, what: "[socket send]", is_short: |_: &i32| false };
    let end = watched.wait(&|| timeout_of(fd, interest), || attempt_of(call()));
    descriptors::keep_no_longer(fd);
    end.code(errors::AGAIN).unwrap_or_else(call)
}

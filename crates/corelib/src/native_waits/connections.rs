//! Accepting and making connections. Neither call has a flag to try it, so the socket does not block for the system:
//! one that listens from the first accept on, another one while it is being connected.

use super::waiting::{Watched, after_attempt, attempt_of, poll_one, timeout_of};
use super::{descriptors, errors, original};
use saki_icall::io::native_streams::outside_native_code;
use saki_reactor::Interest;
use saki_runtime::exec::waits::{Attempt, Limit, Pauses};
use std::time::Duration;

/// # Safety
/// Compiled code calls it as the library's function.
pub(super) unsafe extern "C" fn accept(
    socket: isize,
    address: *mut u8,
    address_len: *mut i32,
    accepted: *mut isize,
) -> i32 {
    // SAFETY: compiled code's arguments for the library's function, which a failed call leaves as they are.
    let call = || unsafe { original::accept(socket, address, address_len, accepted) };
    let code = match descriptors::waited(socket).filter(|&fd| descriptors::keep_non_blocking(fd)) {
        Some(fd) => accept_parking(fd, call),
        None => call(),
    };
    if code == errors::SUCCESS && saki_reactor::waits_park() {
        // SAFETY: the library's function has stored the descriptor there.
        descriptors::accepted(unsafe { *accepted } as i32, socket as i32);
    }
    code
}

fn accept_parking(fd: i32, mut call: impl FnMut() -> i32) -> i32 {
    let interest = Interest::Read;
    let timeout = || timeout_of(fd, interest);
    let watched = Watched { fd, interest, what: "[socket accept]", is_short: |_: &i32| false };
    if let Some(code) = watched.wait(&timeout, || attempt_of(call())).code(errors::AGAIN) {
        return code;
    }
    loop {
        let is_over = matches!(poll_one(fd, interest, timeout()), Attempt::Done(0));
        let code = call();
        if code != errors::AGAIN || is_over {
            return code;
        }
    }
}

/// # Safety
/// Compiled code calls it as the library's function.
pub(super) unsafe extern "C" fn connect(socket: isize, address: *mut u8, address_len: i32) -> i32 {
    // SAFETY: compiled code's arguments for the library's function.
    let call = || unsafe { original::connect(socket, address, address_len) };
    let fd = descriptors::waited(socket).filter(|_| !address.is_null() && address_len >= 2);
    let Some(fd) = fd.filter(|&fd| descriptors::keep_non_blocking(fd)) else { return call() };
    // SAFETY: not null, and long enough for the family, with which every address begins.
    let family = unsafe { address.cast::<libc::sa_family_t>().read_unaligned() };
    let end = match call() {
        errors::IN_PROGRESS => Some(finish_connecting(fd)),
        errors::AGAIN if i32::from(family) == libc::AF_UNIX => wait_for_queue(fd, call),
        code => Some(code),
    };
    descriptors::keep_no_longer(fd);
    end.unwrap_or_else(call)
}

/// Waits until a listener on this machine has room in its queue, of which the system does not tell. None: the call must
/// block.
fn wait_for_queue(fd: i32, mut call: impl FnMut() -> i32) -> Option<i32> {
    let timeout = || timeout_of(fd, Interest::Write);
    let end = outside_native_code(|t| {
        after_attempt(t, Pauses::new(t), Limit::After(&timeout), "[socket connect]", || attempt_of(call()))
    });
    end.code(errors::AGAIN)
}

/// Waits until the connection that the system makes is there, or has failed.
fn finish_connecting(fd: i32) -> i32 {
    let interest = Interest::Write;
    let timeout = || timeout_of(fd, interest);
    let watched = Watched { fd, interest, what: "[socket connect]", is_short: |_: &i32| false };
    let is_ready = |timeout| match poll_one(fd, interest, timeout) {
        Attempt::Done(0) => Attempt::WouldBlock,
        Attempt::Done(_) => Attempt::Done(outcome(fd)),
        Attempt::Failed(errno) => Attempt::Failed(errno),
        Attempt::WouldBlock | Attempt::Interrupted => Attempt::Interrupted,
    };
    let end = watched.wait(&timeout, || is_ready(Some(Duration::ZERO)));
    // The system's own error for a timeout.
    end.code(errors::IN_PROGRESS).unwrap_or_else(|| {
        loop {
            match is_ready(timeout()) {
                Attempt::Done(code) => return code,
                Attempt::WouldBlock => return errors::IN_PROGRESS,
                Attempt::Failed(errno) => return original::of_errno(errno.0),
                Attempt::Interrupted => {}
            }
        }
    })
}

/// How an attempt to connect that went on in the system has ended.
fn outcome(fd: i32) -> i32 {
    match descriptors::socket_option(fd, libc::SO_ERROR) {
        Some(0) if is_connected(fd) => errors::SUCCESS,
        // Another thread has disconnected the socket, to close it; the system's call ends so.
        Some(0) => original::of_errno(libc::ECONNABORTED),
        Some(errno) => original::of_errno(errno),
        None => original::of_errno(libc::EBADF),
    }
}

fn is_connected(fd: i32) -> bool {
    let mut entry = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one descriptor; does not wait.
    let count = unsafe { libc::poll(&mut entry, 1, 0) };
    // A connection that has ended already was one.
    let mut address = [0_u8; 128];
    let mut len = address.len() as libc::socklen_t;
    // SAFETY: room for so many bytes of address.
    let has_peer = unsafe { libc::getpeername(fd, address.as_mut_ptr().cast(), &mut len) } == 0;
    has_peer || (count == 1 && entry.revents & libc::POLLHUP == 0)
}

//! System.Net.Sockets.Socket: accepting and making connections.
//!
//! As in `socket_transfers`, every call waits in a safe region, or parks, and can be cancelled.

use super::local_connect;
use super::socket_addresses::{self, Address};
use super::socket_errors::{SocketError, SocketResult, check, report};
use super::socket_table::{self, Socket, lookup};
use super::socket_waits::{self, call_cancellable};
use saki_os::error::Errno;
use saki_reactor::Interest;
use saki_runtime::exec::waits::{Attempt, Limit, Unfinished, Waited};
use saki_runtime::vm::profile_events::IoWait;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, Place};
use std::sync::atomic::Ordering;
use std::time::Duration;

fn accept_on(t: CurrentThread, socket: &Socket) -> Waited<usize> {
    let attempt = || {
        let (address, length) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the peer's address is not wanted.
        Attempt::of(unsafe { libc::accept4(socket.fd, address, length, libc::SOCK_CLOEXEC) })
    };
    // Acquire: the descriptor does not block.
    if !socket.is_kept_non_blocking.load(Ordering::Acquire) {
        return socket_waits::call_within_timeout(t, socket, Interest::Read, |_| attempt());
    }
    loop {
        match socket_waits::park(t, socket, Interest::Read, attempt) {
            Err(Unfinished::CannotPark) => socket_waits::wait_blocking(t, socket.fd, Interest::Read)?,
            end => return end,
        }
    }
}

fn accept(t: CurrentThread, socket: usize, error: Place<i32>, _blocking: bool) -> usize {
    let result = lookup(socket).and_then(|socket| {
        let was_blocking = socket.is_blocking.load(Ordering::Acquire);
        let fd = {
            let _wait = IoWait::begin(t, "[socket accept]");
            accept_on(t, &socket).map_err(|end| match socket.error_of_wait(was_blocking, &end) {
                SocketError::CONNECTION_ABORTED => SocketError::INTERRUPTED,
                error => error,
            })?
        };
        Ok(socket_table::insert(fd as i32, socket.domain, socket.kind, socket.protocol))
    });
    report(result, error, 0)
}

/// The end of an attempt to connect.
type Connected = Result<(), Unfinished>;

/// Begins to connect without blocking, and waits for the end. None: no attempt was begun.
fn connect_parking(t: CurrentThread, socket: &Socket, address: &Address) -> SocketResult<Option<Connected>> {
    let is_parking = saki_reactor::waits_park() && socket.is_blocking.load(Ordering::Acquire);
    if is_parking && socket.domain == libc::AF_UNIX {
        return local_connect::connect(t, socket, address).map(|end| Some(end.map(|_| ())));
    }
    let is_internet = matches!(socket.domain, libc::AF_INET | libc::AF_INET6);
    if !is_parking || !is_internet {
        return Ok(None);
    }
    socket_table::set_non_blocking(socket.fd, true)?;
    let mut is_started = false;
    let end = socket_waits::park(t, socket, Interest::Write, || {
        if !is_started {
            // SAFETY: an address and its length.
            match Attempt::of(unsafe { libc::connect(socket.fd, address.pointer(), address.length) }) {
                Attempt::Failed(Errno(libc::EINPROGRESS)) => is_started = true,
                end => return end,
            }
        }
        match socket_waits::poll_for(socket.fd, Interest::Write, Some(Duration::ZERO)) {
            Attempt::Done(0) => Attempt::WouldBlock,
            end => end,
        }
    });
    if socket.is_blocking.load(Ordering::Acquire) {
        socket_table::set_non_blocking(socket.fd, false)?;
    }
    let end = match end {
        // The attempt has begun: wait for its end in the system call.
        Err(Unfinished::CannotPark) => socket_waits::wait_blocking(t, socket.fd, Interest::Write),
        end => end.map(|_| ()),
    };
    match end {
        Ok(()) if is_started => result_of(socket).map(Some),
        // The system's own error for a timeout.
        Err(Unfinished::TimedOut) => Ok(Some(Err(Unfinished::Failed(Errno(libc::EINPROGRESS))))),
        end => Ok(Some(end)),
    }
}

/// How an attempt to connect that goes on in the system has ended.
fn result_of(socket: &Socket) -> SocketResult<Connected> {
    let mut errno = 0;
    let mut size = size_of::<i32>() as libc::socklen_t;
    // SAFETY: room for an int.
    check(unsafe {
        let value = (&raw mut errno).cast();
        libc::getsockopt(socket.fd, libc::SOL_SOCKET, libc::SO_ERROR, value, &mut size)
    })?;
    Ok(if errno == 0 { Ok(()) } else { Err(Unfinished::Failed(Errno(errno))) })
}

fn connect_blocking(t: CurrentThread, socket: &Socket, address: &Address) -> SocketResult<Connected> {
    let mut is_started = false;
    let timeout = || socket_table::timeout_of(socket, Interest::Write);
    let end = call_cancellable(t, Limit::After(&timeout), |turn| {
        if !is_started {
            // SAFETY: an address and its length.
            let end = Attempt::of(unsafe { libc::connect(socket.fd, address.pointer(), address.length) });
            // After a signal the system goes on connecting; wait for the end, unless cancelled.
            is_started = matches!(end, Attempt::Interrupted);
            return end;
        }
        match socket_waits::poll_for(socket.fd, Interest::Write, turn.rest()) {
            // The system's own error for a timeout.
            Attempt::Done(0) => Attempt::Failed(Errno(libc::EINPROGRESS)),
            end => end,
        }
    });
    match end {
        Ok(_) if is_started => result_of(socket),
        end => Ok(end.map(|_| ())),
    }
}

fn connect_socket(t: CurrentThread, socket: &Socket, address: &Address) -> SocketResult<()> {
    let _wait = IoWait::begin(t, "[socket connect]");
    let end = match connect_parking(t, socket, address)? {
        Some(end) => end,
        None => connect_blocking(t, socket, address)?,
    };
    match end.map_err(|end| end.errno()) {
        Ok(()) => Ok(()),
        Err(Errno(libc::EINPROGRESS | libc::EAGAIN)) => Err(SocketError::WOULD_BLOCK),
        Err(errno) => {
            let code = SocketError::from_errno(errno);
            // Relaxed: a reader has learned of the failure from this thread.
            socket.saved_error.store(code.0, Ordering::Relaxed);
            Err(code)
        }
    }
}

fn connect(t: CurrentThread, socket: usize, address: Option<Obj>, error: Place<i32>, _blocking: bool) -> Managed<()> {
    let result =
        socket_addresses::from_managed(t, address)?.and_then(|address| connect_socket(t, &*lookup(socket)?, &address));
    report(result, error, ());
    Ok(())
}

/// The internal calls of `System.Net.Sockets.Socket`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Accept_internal", &accept),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Accept_icall", &accept),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Connect_internal", &connect),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Connect_icall", &connect),
];

//! System.Net.Sockets.Socket: accepting and making connections.
//!
//! As in `socket_transfers`, every call waits in a safe region, or parks, and can be cancelled.

use super::local_connect;
use super::socket_addresses::{self, Address};
use super::socket_errors::{SocketError, SocketResult, check, report};
use super::socket_table::{self, Socket, lookup};
use super::socket_waits::{self, call_cancellable};
use crate::system_call::Parked;
use saki_reactor::Interest;
use saki_runtime::profile_events::IoWait;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, Place};
use std::sync::atomic::Ordering;
use std::time::Instant;

fn accept_on(t: CurrentThread, socket: &Socket) -> Result<usize, i32> {
    let attempt = || {
        let (address, length) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the peer's address is not wanted.
        unsafe { libc::accept4(socket.fd, address, length, libc::SOCK_CLOEXEC) as isize }
    };
    // Acquire: the descriptor does not block.
    if !socket.is_kept_non_blocking.load(Ordering::Acquire) {
        return socket_waits::call_within_timeout(t, socket, Interest::Read, |_| attempt());
    }
    loop {
        match socket_waits::park(t, socket, Interest::Read, attempt) {
            Parked::Done(fd) => return Ok(fd),
            Parked::Failed(errno) => return Err(errno),
            Parked::TimedOut => return Err(libc::EAGAIN),
            Parked::MustBlock => socket_waits::wait_blocking(t, socket.fd, libc::POLLIN)?,
        }
    }
}

fn accept(t: CurrentThread, socket: usize, error: Place<i32>, _blocking: bool) -> usize {
    let result = lookup(socket).and_then(|socket| {
        let was_blocking = socket.is_blocking.load(Ordering::Acquire);
        let fd = {
            let _wait = IoWait::begin(t, "[socket accept]");
            accept_on(t, &socket).map_err(|errno| match socket.error_of_wait(was_blocking, errno) {
                SocketError::CONNECTION_ABORTED => SocketError::INTERRUPTED,
                error => error,
            })?
        };
        Ok(socket_table::insert(fd as i32, socket.domain, socket.kind, socket.protocol))
    });
    report(result, error, 0)
}

/// Begins to connect without blocking, and waits for the end. Returns the errno value; None: no attempt was begun.
fn connect_parking(t: CurrentThread, socket: &Socket, address: &Address) -> SocketResult<Option<i32>> {
    let is_parking = saki_reactor::waits_park() && socket.is_blocking.load(Ordering::Acquire);
    if is_parking && socket.domain == libc::AF_UNIX {
        let timeout = socket_table::timeout_of(socket, Interest::Write);
        return local_connect::connect(t, socket, address, timeout).map(Some);
    }
    let is_internet = matches!(socket.domain, libc::AF_INET | libc::AF_INET6);
    if !is_parking || !is_internet {
        return Ok(None);
    }
    socket_table::set_non_blocking(socket.fd, true)?;
    let mut is_started = false;
    let outcome = socket_waits::park(t, socket, Interest::Write, || {
        if !is_started {
            // SAFETY: an address and its length.
            let result = unsafe { libc::connect(socket.fd, address.pointer(), address.length) };
            if result == 0 || crate::io::errors::errno() != libc::EINPROGRESS {
                return result as isize;
            }
            is_started = true;
        }
        let mut poll = libc::pollfd { fd: socket.fd, events: libc::POLLOUT, revents: 0 };
        // SAFETY: one descriptor.
        let ready = unsafe { libc::poll(&mut poll, 1, 0) };
        if ready == 0 {
            saki_os::error::set_errno(libc::EAGAIN);
            return -1;
        }
        ready as isize
    });
    if socket.is_blocking.load(Ordering::Acquire) {
        socket_table::set_non_blocking(socket.fd, false)?;
    }
    match outcome {
        Parked::Done(_) if !is_started => Ok(Some(0)),
        Parked::Done(_) => connect_error(socket).map(Some),
        // A cancelled wait ends like one that a signal ends.
        Parked::Failed(libc::EAGAIN) => Ok(Some(libc::EINTR)),
        Parked::Failed(errno) => Ok(Some(errno)),
        Parked::TimedOut => Ok(Some(libc::EINPROGRESS)),
        // The attempt has begun: wait for its end in the system call.
        Parked::MustBlock => match socket_waits::wait_blocking(t, socket.fd, libc::POLLOUT) {
            Ok(()) => connect_error(socket).map(Some),
            Err(errno) => Ok(Some(errno)),
        },
    }
}

/// The errno value with which connecting ended.
fn connect_error(socket: &Socket) -> SocketResult<i32> {
    let mut errno = 0;
    let mut size = size_of::<i32>() as libc::socklen_t;
    // SAFETY: room for an int.
    check(unsafe {
        let value = (&raw mut errno).cast();
        libc::getsockopt(socket.fd, libc::SOL_SOCKET, libc::SO_ERROR, value, &mut size)
    })?;
    Ok(errno)
}

fn connect_blocking(t: CurrentThread, socket: &Socket, address: &Address) -> SocketResult<i32> {
    let mut is_started = false;
    let timeout = socket_table::timeout_of(socket, Interest::Write);
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let connected = call_cancellable(t, || {
        if !is_started {
            // SAFETY: an address and its length.
            let result = unsafe { libc::connect(socket.fd, address.pointer(), address.length) };
            if result == 0 || crate::io::errors::errno() != libc::EINTR {
                return result as isize;
            }
            // The system goes on connecting; wait for the end, unless cancelled.
            is_started = true;
            return -1;
        }
        match socket_waits::poll_until(socket.fd, Interest::Write, deadline) {
            0 => {
                // The system's own error for a timeout.
                saki_os::error::set_errno(libc::EINPROGRESS);
                -1
            }
            result => result as isize,
        }
    });
    match connected {
        Err(errno) => Ok(errno),
        Ok(_) if !is_started => Ok(0),
        Ok(_) => connect_error(socket),
    }
}

fn connect_socket(t: CurrentThread, socket: &Socket, address: &Address) -> SocketResult<()> {
    let _wait = IoWait::begin(t, "[socket connect]");
    let failed = match connect_parking(t, socket, address)? {
        Some(errno) => errno,
        None => connect_blocking(t, socket, address)?,
    };
    match failed {
        0 => Ok(()),
        libc::EINPROGRESS | libc::EAGAIN => Err(SocketError::WOULD_BLOCK),
        errno => {
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

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Accept_internal", &accept),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Accept_icall", &accept),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Connect_internal", &connect),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Connect_icall", &connect),
];

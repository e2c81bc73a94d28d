//! System.Net.Sockets.Socket: making, binding, closing, end points, modes.

use super::socket_addresses::{self, Address};
use super::socket_errors::{SocketError, SocketResult, check, report};
use super::socket_table::{self, lookup};
use super::socket_waits;
use crate::arguments::non_null;
use crate::io::errors::Win32Error;
use crate::threading::io_selector;
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::object::exceptions;
use saki_runtime::vm::threads;
use saki_runtime::{Array, CurrentThread, ExceptionType, InternalCall, Managed, ManagedField, Obj, Place};
use saki_types::LibraryType;
use std::sync::atomic::Ordering;

fn system_type(kind: i32) -> SocketResult<i32> {
    match kind {
        1 => Ok(libc::SOCK_STREAM),
        2 => Ok(libc::SOCK_DGRAM),
        3 => Ok(libc::SOCK_RAW),
        4 => Ok(libc::SOCK_RDM),
        5 => Ok(libc::SOCK_SEQPACKET),
        _ => Err(SocketError::SOCKET_TYPE_NOT_SUPPORTED),
    }
}

/// `ProtocolType`s that are the system's numbers.
fn system_protocol(protocol: i32) -> SocketResult<i32> {
    match protocol {
        0..=3 | 6 | 12 | 17 | 22 | 41 => Ok(protocol),
        _ => Err(SocketError::PROTOCOL_NOT_SUPPORTED),
    }
}

fn open(family: i32, kind: i32, protocol: i32) -> SocketResult<usize> {
    const IP_IN_IP: i32 = 4;
    let domain = socket_addresses::system_family(family).ok_or(SocketError::ADDRESS_FAMILY_NOT_SUPPORTED)?;
    let protocol = system_protocol(protocol)?;
    let kind = system_type(kind)?;
    // SAFETY: makes a descriptor.
    let make = |protocol| check(unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) });
    let fd = match make(protocol) {
        Err(_) if domain == libc::AF_INET && kind == libc::SOCK_RAW && protocol == 0 => make(IP_IN_IP)?,
        made => made?,
    };
    if let Err(error) = socket_table::set_int_option(fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1) {
        // SAFETY: our own descriptor.
        unsafe { libc::close(fd) };
        return Err(error);
    }
    Ok(socket_table::insert(fd, domain, kind, protocol))
}

fn socket(_t: CurrentThread, family: i32, kind: i32, protocol: i32, error: Place<i32>) -> usize {
    report(open(family, kind, protocol), error, 0)
}

/// A new socket; the object argument of the older call is not used.
fn socket_of_instance(
    t: CurrentThread,
    _this: Option<Obj>,
    family: i32,
    kind: i32,
    protocol: i32,
    error: Place<i32>,
) -> usize {
    socket(t, family, kind, protocol, error)
}

fn bind(t: CurrentThread, socket: usize, address: Option<Obj>, error: Place<i32>) -> Managed<()> {
    let result = match socket_addresses::from_managed(t, address)? {
        Ok(address) => lookup(socket).and_then(|socket| {
            // SAFETY: an address and its length.
            check(unsafe { libc::bind(socket.fd, address.pointer(), address.length) })
        }),
        Err(code) => Err(code),
    };
    report(result.map(|_| ()), error, ());
    Ok(())
}

fn listen(_t: CurrentThread, socket: usize, backlog: i32, error: Place<i32>) {
    let result = lookup(socket).and_then(|socket| {
        // SAFETY: a system call on an open socket.
        check(unsafe { libc::listen(socket.fd, backlog) })?;
        if saki_reactor::waits_park() {
            socket_table::set_non_blocking(socket.fd, true)?;
            socket.is_kept_non_blocking.store(true, Ordering::Release);
        }
        Ok(())
    });
    report(result.map(|_| ()), error, ());
}

fn close(t: CurrentThread, socket: usize, error: Place<i32>) -> Managed<()> {
    let result = socket_table::remove(socket);
    report(result.as_ref().map(|_| ()).map_err(|code| *code), error, ());
    let Ok(socket) = result else { return Ok(()) };
    // Release: a receiver that finds the end of the data because of the shutdown sees this store.
    socket.is_readable.store(false, Ordering::Release);
    let jobs_queued = io_selector::remove_descriptor(t, socket.fd);
    saki_reactor::forget(socket.fd);
    t.managed().blocking(|| {
        // SAFETY: the descriptor was ours and left the table. Errors do not matter.
        unsafe {
            libc::shutdown(socket.fd, libc::SHUT_RD);
            libc::close(socket.fd);
        }
    });
    jobs_queued
}

fn shutdown(_t: CurrentThread, socket: usize, how: i32, error: Place<i32>) {
    let result = lookup(socket).and_then(|socket| {
        if how != libc::SHUT_WR {
            // Release: as in `close`.
            socket.is_readable.store(false, Ordering::Release);
        }
        // SAFETY: a system call on an open socket.
        check(unsafe { libc::shutdown(socket.fd, how) })
    });
    report(result.map(|_| ()), error, ());
}

/// Puts a new socket of the same kind in the place of this one.
fn disconnect(_t: CurrentThread, socket: usize, _reuse: bool, error: Place<i32>) {
    let result = lookup(socket).and_then(|socket| {
        // SAFETY: makes a descriptor, and gives the socket's number to it.
        unsafe {
            let fresh = check(libc::socket(socket.domain, socket.kind | libc::SOCK_CLOEXEC, socket.protocol))?;
            saki_reactor::forget(socket.fd);
            let replaced = check(libc::dup3(fresh, socket.fd, libc::O_CLOEXEC));
            // A thread that the first call woke may have asked for reports about the old socket meanwhile.
            saki_reactor::forget(socket.fd);
            libc::close(fresh);
            replaced
        }
    });
    report(result.map(|_| ()), error, ());
}

fn available(_t: CurrentThread, socket: usize, error: Place<i32>) -> i32 {
    let result = lookup(socket).and_then(|socket| {
        let mut count = 0;
        // SAFETY: FIONREAD stores an int.
        check(unsafe { libc::ioctl(socket.fd, libc::FIONREAD, &raw mut count) })?;
        Ok(count)
    });
    report(result, error, 0)
}

fn blocking(_t: CurrentThread, socket: usize, block: bool, error: Place<i32>) {
    let result = lookup(socket).and_then(|socket| {
        // Release: a thread that is cancelled afterwards sees this store.
        socket.is_blocking.store(block, Ordering::Release);
        let is_kept = socket.is_kept_non_blocking.load(Ordering::Acquire);
        socket_table::set_non_blocking(socket.fd, !block || is_kept)
    });
    report(result.map(|_| ()), error, ());
}

type GetName = unsafe extern "C" fn(i32, *mut libc::sockaddr, *mut libc::socklen_t) -> i32;

fn end_point<'t>(
    t: CurrentThread<'t>,
    get: GetName,
    socket: usize,
    family: i32,
    error: Place<i32>,
) -> Managed<Option<Obj<'t>>> {
    let found = lookup(socket).and_then(|socket| {
        if !matches!(socket_addresses::system_family(family), Some(libc::AF_INET | libc::AF_INET6 | libc::AF_UNIX)) {
            return Err(SocketError::ADDRESS_FAMILY_NOT_SUPPORTED);
        }
        let mut address = Address::empty();
        let mut length = address.length;
        // SAFETY: room for `length` bytes.
        check(unsafe { get(socket.fd, address.pointer_mut(), &mut length) })?;
        address.length = length;
        Ok(address)
    });
    let result = match found {
        Ok(address) => socket_addresses::to_managed(t, &address)?,
        Err(code) => Err(code),
    };
    Ok(report(result.map(Some), error, None))
}

fn local_end_point<'t>(
    t: CurrentThread<'t>,
    socket: usize,
    family: i32,
    error: Place<i32>,
) -> Managed<Option<Obj<'t>>> {
    end_point(t, libc::getsockname, socket, family, error)
}

fn remote_end_point<'t>(
    t: CurrentThread<'t>,
    socket: usize,
    family: i32,
    error: Place<i32>,
) -> Managed<Option<Obj<'t>>> {
    end_point(t, libc::getpeername, socket, family, error)
}

fn set_keep_alive(fd: i32, input: &[u8]) -> SocketResult<()> {
    let word = |index: usize| match input.get(index * 4..).and_then(|rest| rest.first_chunk()) {
        Some(bytes) => Ok(u32::from_ne_bytes(*bytes)),
        None => Err(SocketError::INVALID_ARGUMENT),
    };
    /// Milliseconds to the nearest whole second, at least one.
    fn seconds(milliseconds: u32) -> i32 {
        ((u64::from(milliseconds) + 500) / 1000).max(1) as i32
    }
    let (is_on, time_ms, interval_ms) = (word(0)?, word(1)?, word(2)?);
    socket_table::set_int_option(fd, libc::SOL_SOCKET, libc::SO_KEEPALIVE, is_on as i32)?;
    if is_on == 0 {
        return Ok(());
    }
    socket_table::set_int_option(fd, libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, seconds(time_ms))?;
    socket_table::set_int_option(fd, libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, seconds(interval_ms))
}

/// Returns the number of bytes stored into `output`; -1 and an error otherwise.
fn io_control(
    _t: CurrentThread,
    socket: usize,
    code: i32,
    input: Option<Array>,
    output: Option<Array>,
    error: Place<i32>,
) -> i32 {
    const KEEP_ALIVE_VALUES: u32 = 0x9800_0004;
    const EXTENSION_FUNCTION: u32 = 0xc800_0006;
    /// More bytes than any request on sockets reads or writes.
    const REQUEST_BYTES: usize = 256;
    if code as u32 == 0x8004_667e || code as libc::c_ulong == libc::FIONBIO {
        // FIONBIO: the class library has its own way.
        error.set(0);
        return -1;
    }
    let result = lookup(socket).and_then(|socket| {
        let mut buffer = input.map_or_else(Vec::new, Array::numbers::<u8>);
        let input_length = buffer.len();
        match code as u32 {
            KEEP_ALIVE_VALUES => return set_keep_alive(socket.fd, &buffer).map(|()| 0),
            EXTENSION_FUNCTION => return Err(SocketError::INVALID_ARGUMENT),
            _ => buffer.resize(input_length.max(REQUEST_BYTES), 0),
        }
        // SAFETY: a buffer as large as any request on sockets needs.
        check(unsafe { libc::ioctl(socket.fd, code as u32 as libc::c_ulong, buffer.as_mut_ptr()) })?;
        let Some(output) = output else { return Ok(0) };
        let count = input_length.min(output.length());
        output.set_numbers(0, &buffer[..count]);
        Ok(count as i32)
    });
    report(result, error, -1)
}

/// `Socket.DuplicateAndClose`, within this process: another descriptor of the same socket.
fn duplicate(_t: CurrentThread, socket: usize, process: i32, copy: Place<usize>, error: Place<i32>) -> bool {
    let result = match lookup(socket) {
        _ if process as u32 != std::process::id() => Err(Win32Error::NOT_SUPPORTED),
        Err(_) => Err(Win32Error::INVALID_HANDLE),
        // SAFETY: makes a descriptor.
        Ok(socket) => match unsafe { libc::fcntl(socket.fd, libc::F_DUPFD_CLOEXEC, 0) } {
            -1 => Err(Win32Error::last()),
            fd => Ok(socket_table::insert(fd, socket.domain, socket.kind, socket.protocol)),
        },
    };
    error.set(result.err().unwrap_or(Win32Error::SUCCESS).0);
    copy.set(result.unwrap_or(0));
    result.is_ok()
}

fn cancel_blocking_operation(t: CurrentThread, thread: Option<Obj>) -> Managed<()> {
    let thread = non_null(t, thread, "thread")?;
    if let Some(managed) = threads::thread_of(threads::internal_of(t, thread)?) {
        socket_waits::cancel(managed);
    }
    Ok(())
}

/// SO_REUSEPORT is set where SO_REUSEADDR is, for streams and datagrams.
fn supports_port_reuse(_t: CurrentThread, protocol: i32) -> bool {
    protocol == libc::IPPROTO_TCP || protocol == libc::IPPROTO_UDP
}

/// The code of the last socket operation of this thread that failed.
fn last_error(t: CurrentThread) -> i32 {
    // SAFETY: the current thread's own struct; only this thread touches the field.
    unsafe { (*t.abi()).last_error }
}

static HANDLE_OBJECT: ManagedField = ManagedField::new(LibraryType::Socket, "m_Handle");
static HANDLE: ManagedField = ManagedField::new(LibraryType::SafeHandle, "handle");
static IS_CONNECTED: ManagedField = ManagedField::new(LibraryType::Socket, "is_connected");

/// `Socket.Connected`. The class library takes a connection for lost when a transfer has timed out; in .NET it is not.
fn connected(t: CurrentThread, this: Option<Obj>) -> Managed<bool> {
    let this = this.ok_or_else(|| exceptions::throw_default(t, ExceptionType::NullReference))?;
    let has_timed_out = || {
        let handle = HANDLE_OBJECT.obj(this)?;
        let socket = socket_table::lookup(HANDLE.get::<isize>(handle) as usize).ok()?;
        Some(socket.has_timed_out.load(Ordering::Relaxed))
    };
    Ok(IS_CONNECTED.get::<u8>(this) != 0 || has_timed_out().unwrap_or(false))
}

/// Methods of the class library that do otherwise than .NET's.
pub(crate) const CORRECTIONS: &[LoopRow] =
    &[LoopRow::new("System.Net.Sockets.Socket::get_Connected() System.Boolean", &connected).correcting()];

/// The internal calls of `System.Net.Sockets.Socket`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Available_internal", &available),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Available_icall", &available),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Bind_internal", &bind),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Bind_icall", &bind),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Blocking_internal", &blocking),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Blocking_icall", &blocking),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Close_internal", &close),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Close_icall", &close),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Disconnect_internal", &disconnect),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Disconnect_icall", &disconnect),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Duplicate_internal", &duplicate),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Duplicate_icall", &duplicate),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::IOControl_internal", &io_control),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::IOControl_icall", &io_control),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Listen_internal", &listen),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Listen_icall", &listen),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::LocalEndPoint_internal", &local_end_point),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::LocalEndPoint_icall", &local_end_point),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::RemoteEndPoint_internal", &remote_end_point),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::RemoteEndPoint_icall", &remote_end_point),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Shutdown_internal", &shutdown),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Shutdown_icall", &shutdown),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::Socket_internal", &socket_of_instance),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Socket_icall", &socket),
    InternalCall::new("System.Net.Sockets.Socket::SupportsPortReuse", &supports_port_reuse),
    InternalCall::new("System.Net.Sockets.Socket::cancel_blocking_socket_operation", &cancel_blocking_operation),
    InternalCall::new("@6.8 System.Net.Sockets.SocketException::WSAGetLastError_internal", &last_error),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.SocketException::WSAGetLastError_icall", &last_error),
];

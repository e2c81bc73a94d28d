//! System.Net.Sockets.Socket: sending and receiving.
//!
//! Every call waits in a safe region, or parks (`saki_reactor`), and can be cancelled. The last argument of the
//! internal calls, whether the socket blocks, is not used: the descriptor's flags tell the system.

use super::socket_addresses::{self, Address};
use super::socket_errors::{SocketError, SocketResult, check, report};
use super::socket_table::{Socket, lookup};
use super::socket_waits::{Amount, Plain, transfer};
use crate::io::path::system_path_of;
use crate::system_call::system_call;
use saki_reactor::{Direction, Interest};
use saki_runtime::exec::waits::{Attempt, Unfinished};
use saki_runtime::vm::profile_events::IoWait;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, Place, RefPlace, Str};
use std::hint::black_box;
use std::sync::atomic::Ordering;

/// `Socket.WSABUF`.
#[repr(C)]
struct Buffer {
    length: i32,
    data: *mut u8,
}

/// The system's flags for `SocketFlags`, without signals for broken pipes.
fn system_flags(flags: i32) -> SocketResult<i32> {
    const OUT_OF_BAND: i32 = 1;
    const PEEK: i32 = 2;
    const DONT_ROUTE: i32 = 4;
    const MAX_IO_VECTOR_LENGTH: i32 = 0x10;
    const PARTIAL: i32 = 0x8000;
    if flags & !(OUT_OF_BAND | PEEK | DONT_ROUTE | MAX_IO_VECTOR_LENGTH | PARTIAL) != 0 {
        return Err(SocketError::OPERATION_NOT_SUPPORTED);
    }
    let mut system = libc::MSG_NOSIGNAL;
    for (managed, bit) in [
        (OUT_OF_BAND, libc::MSG_OOB),
        (PEEK, libc::MSG_PEEK),
        (DONT_ROUTE, libc::MSG_DONTROUTE),
        (PARTIAL, libc::MSG_MORE),
    ] {
        if flags & managed != 0 {
            system |= bit;
        }
    }
    Ok(system)
}

/// Receives with the system's `flags`. The end of the data counts as an interruption when this side has shut down
/// receiving. `receive` gets the flags to use.
fn receive_with(
    t: CurrentThread,
    socket: usize,
    wanted_bytes: usize,
    flags: i32,
    data: Option<*mut u8>,
    mut receive: impl FnMut(&Socket, i32) -> Attempt<usize>,
) -> SocketResult<i32> {
    let socket = lookup(socket)?;
    let flags = flags & !libc::MSG_NOSIGNAL;
    let asked = if flags == 0 { Amount::Bytes(wanted_bytes) } else { Amount::Other };
    let plain =
        data.filter(|_| flags == 0).map(|data| Plain { direction: Direction::Receive, data, len: wanted_bytes });
    let was_blocking = socket.is_blocking.load(Ordering::Acquire);
    let _wait = IoWait::begin(t, "[socket receive]");
    let count = transfer(t, &socket, Interest::Read, asked, plain, |more| receive(&socket, flags | more))
        .map_err(|end| socket.error_of_transfer(was_blocking, &end))?;
    // Acquire: pairs with the Release before the shutdown.
    if count == 0 && wanted_bytes > 0 && !socket.is_readable.load(Ordering::Acquire) {
        return Err(match socket.error_of_wait(was_blocking, &Unfinished::WouldBlock) {
            SocketError::CONNECTION_ABORTED => SocketError::CONNECTION_ABORTED,
            _ => SocketError::INTERRUPTED,
        });
    }
    Ok(count as i32)
}

/// Sends. `send` gets flags to add.
fn send_with(
    t: CurrentThread,
    socket: usize,
    wanted_bytes: usize,
    data: Option<*const u8>,
    mut send: impl FnMut(&Socket, i32) -> Attempt<usize>,
) -> SocketResult<i32> {
    let socket = lookup(socket)?;
    let plain = data.map(|data| Plain { direction: Direction::Send, data: data.cast_mut(), len: wanted_bytes });
    let was_blocking = socket.is_blocking.load(Ordering::Acquire);
    let _wait = IoWait::begin(t, "[socket send]");
    transfer(t, &socket, Interest::Write, Amount::Bytes(wanted_bytes), plain, |flags| send(&socket, flags))
        .map(|count| count as i32)
        .map_err(|end| socket.error_of_transfer(was_blocking, &end))
}

fn byte_count(count: i32) -> SocketResult<usize> {
    usize::try_from(count).map_err(|_| SocketError::FAULT)
}

fn receive(
    t: CurrentThread,
    socket: usize,
    data: *mut u8,
    count: i32,
    flags: i32,
    error: Place<i32>,
    _blocking: bool,
) -> i32 {
    let result = system_flags(flags).and_then(|flags| {
        let count = byte_count(count)?;
        receive_with(t, socket, count, flags, Some(data), |socket, flags| {
            // SAFETY: managed code pins `count` bytes.
            Attempt::of(unsafe { libc::recv(socket.fd, data.cast(), count, flags) })
        })
    });
    report(result, error, 0)
}

fn send(
    t: CurrentThread,
    socket: usize,
    data: *const u8,
    count: i32,
    flags: i32,
    error: Place<i32>,
    _blocking: bool,
) -> i32 {
    let result = system_flags(flags).and_then(|flags| {
        let count = byte_count(count)?;
        // The system completes only transfers without flags.
        let plain = (flags == libc::MSG_NOSIGNAL).then_some(data);
        send_with(t, socket, count, plain, |socket, more| {
            // SAFETY: managed code pins `count` bytes.
            Attempt::of(unsafe { libc::send(socket.fd, data.cast(), count, flags | more) })
        })
    });
    report(result, error, 0)
}

/// The system's form of an array of pinned buffers.
fn vectors(buffers: *const Buffer, count: i32) -> SocketResult<Vec<libc::iovec>> {
    // SAFETY: managed code passes `count` buffers.
    let buffers = unsafe { std::slice::from_raw_parts(buffers, byte_count(count)?) };
    Ok(buffers
        .iter()
        .map(|buffer| libc::iovec { iov_base: buffer.data.cast(), iov_len: buffer.length.max(0) as usize })
        .collect())
}

fn message(vectors: &mut [libc::iovec]) -> libc::msghdr {
    // SAFETY: all-zero is a valid message header.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = vectors.as_mut_ptr();
    header.msg_iovlen = vectors.len();
    header
}

fn receive_buffers(
    t: CurrentThread,
    socket: usize,
    buffers: *const Buffer,
    count: i32,
    flags: i32,
    error: Place<i32>,
    _blocking: bool,
) -> i32 {
    let result = system_flags(flags).and_then(|flags| {
        let mut vectors = vectors(buffers, count)?;
        let wanted_bytes = vectors.iter().map(|vector| vector.iov_len).sum();
        receive_with(t, socket, wanted_bytes, flags, None, |socket, flags| {
            let mut header = message(&mut vectors);
            // SAFETY: the buffers are pinned by managed code.
            Attempt::of(unsafe { libc::recvmsg(socket.fd, &mut header, flags) })
        })
    });
    report(result, error, 0)
}

/// Sends all of the buffers, or, on a socket that does not block, as much as it takes.
fn send_vectors(t: CurrentThread, socket: usize, mut vectors: Vec<libc::iovec>, flags: i32) -> SocketResult<i32> {
    let mut rest = &mut vectors[..];
    let mut total = 0;
    loop {
        let wanted_bytes = rest.iter().map(|vector| vector.iov_len).sum();
        let sent = send_with(t, socket, wanted_bytes, None, |socket, more| {
            let header = message(rest);
            // SAFETY: the buffers are pinned by managed code.
            Attempt::of(unsafe { libc::sendmsg(socket.fd, &header, flags | more) })
        });
        let mut count = match sent {
            Err(_) if total > 0 => return Ok(total),
            sent => sent?,
        };
        total += count;
        while let Some(first) = rest.first_mut() {
            let taken = (count as usize).min(first.iov_len);
            first.iov_base = first.iov_base.wrapping_byte_add(taken);
            first.iov_len -= taken;
            count -= taken as i32;
            if first.iov_len > 0 {
                break;
            }
            rest = &mut rest[1..];
        }
        let waits = lookup(socket)?.is_blocking.load(Ordering::Acquire);
        if rest.is_empty() || !waits {
            return Ok(total);
        }
    }
}

fn send_buffers(
    t: CurrentThread,
    socket: usize,
    buffers: *const Buffer,
    count: i32,
    flags: i32,
    error: Place<i32>,
    _blocking: bool,
) -> i32 {
    let result = system_flags(flags).and_then(|flags| send_vectors(t, socket, vectors(buffers, count)?, flags));
    report(result, error, 0)
}

/// `*address` becomes the sender's address, or null when the system does not tell it.
fn receive_from(
    t: CurrentThread,
    socket: usize,
    data: *mut u8,
    count: i32,
    flags: i32,
    address: RefPlace,
    error: Place<i32>,
    _blocking: bool,
) -> Managed<i32> {
    if let Err(code) = socket_addresses::from_managed(t, address.get())? {
        return Ok(report(Err(code), error, 0));
    }
    let mut sender = Address::empty();
    let received = system_flags(flags).and_then(|flags| {
        let count = byte_count(count)?;
        receive_with(t, socket, count, flags, None, |socket, flags| {
            sender = Address::empty();
            let mut length = sender.length;
            // SAFETY: managed code pins `count` bytes; room for `length` bytes of address.
            let end = Attempt::of(unsafe {
                libc::recvfrom(socket.fd, data.cast(), count, flags, sender.pointer_mut(), &mut length)
            });
            sender.length = length;
            end
        })
    });
    let count = match received {
        Ok(count) => count,
        Err(code) => return Ok(report(Err(code), error, 0)),
    };
    let object = if sender.length == 0 { Ok(None) } else { socket_addresses::to_managed(t, &sender)?.map(Some) };
    if let Ok(object) = object {
        address.set(t, object);
    }
    Ok(report(object.map(|_| count), error, count))
}

fn send_to(
    t: CurrentThread,
    socket: usize,
    data: *const u8,
    count: i32,
    flags: i32,
    address: Option<Obj>,
    error: Place<i32>,
    _blocking: bool,
) -> Managed<i32> {
    let result = socket_addresses::from_managed(t, address)?.and_then(|address| {
        let (flags, count) = (system_flags(flags)?, byte_count(count)?);
        send_with(t, socket, count, None, |socket, more| {
            // SAFETY: managed code pins `count` bytes; an address and its length.
            Attempt::of(unsafe {
                libc::sendto(socket.fd, data.cast(), count, flags | more, address.pointer(), address.length)
            })
        })
    });
    Ok(report(result, error, 0))
}

fn send_all(t: CurrentThread, socket: usize, mut data: *const u8, mut count: usize) -> SocketResult<()> {
    while count > 0 {
        let sent = send_with(t, socket, count, None, |socket, more| {
            // SAFETY: the `count` bytes that are left of an array or a chunk, which stays where it is during the call.
            Attempt::of(unsafe { libc::send(socket.fd, data.cast(), count, libc::MSG_NOSIGNAL | more) })
        })? as usize;
        data = data.wrapping_add(sent);
        count -= sent;
    }
    Ok(())
}

fn send_array(t: CurrentThread, socket: usize, array: Option<Array>) -> SocketResult<()> {
    let Some(array) = array else { return Ok(()) };
    let outcome = send_all(t, socket, array.element_address(0), array.length());
    // The array stayed in place because this frame holds it.
    black_box(array);
    outcome
}

fn send_file_between(
    t: CurrentThread,
    socket: usize,
    path: &std::ffi::CStr,
    before: Option<Array>,
    after: Option<Array>,
) -> SocketResult<()> {
    const CHUNK_BYTES: usize = 1 << 16;
    // SAFETY: a NUL-terminated path.
    let file = t.managed().blocking(|| check(unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) }));
    // The class library expects the Win32 code here.
    let file = file.map_err(|_| SocketError(crate::io::errors::Win32Error::last().0))?;
    let send = || {
        send_array(t, socket, before)?;
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            // SAFETY: room for a chunk.
            let read = || Attempt::of(unsafe { libc::read(file, chunk.as_mut_ptr().cast(), CHUNK_BYTES) });
            match system_call(t, read).map_err(SocketError::from_errno)? {
                0 => break,
                count => send_all(t, socket, chunk.as_ptr(), count)?,
            }
        }
        send_array(t, socket, after)
    };
    let result = send();
    // SAFETY: opened above.
    unsafe { libc::close(file) };
    result
}

fn send_file(
    t: CurrentThread,
    socket: usize,
    path: Option<Str>,
    before: Option<Array>,
    after: Option<Array>,
    flags: i32,
    error: Place<i32>,
    _blocking: bool,
) -> bool {
    const DISCONNECT: i32 = 1;
    let Some(path) = path else {
        error.set(0);
        return false;
    };
    let path = system_path_of(path.units());
    let result = path.map_err(|code| SocketError(code.0)).and_then(|path| {
        send_file_between(t, socket, &path, before, after)?;
        if flags & DISCONNECT != 0 {
            // SAFETY: a system call on an open socket.
            check(unsafe { libc::shutdown(lookup(socket)?.fd, libc::SHUT_RDWR) })?;
        }
        Ok(true)
    });
    report(result, error, false)
}

/// The internal calls of `System.Net.Sockets.Socket`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@6.8 System.Net.Sockets.Socket::ReceiveFrom_internal", &receive_from),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::ReceiveFrom_icall", &receive_from),
    InternalCall::new(
        "@6.8 System.Net.Sockets.Socket::Receive_internal(System.IntPtr,System.Byte*,System.Int32,System.Net.Sockets.SocketFlags,System.Int32&,System.Boolean)",
        &receive,
    ),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Receive_icall", &receive),
    InternalCall::new(
        "@6.8 System.Net.Sockets.Socket::Receive_internal(System.IntPtr,System.Net.Sockets.Socket+WSABUF*,System.Int32,System.Net.Sockets.SocketFlags,System.Int32&,System.Boolean)",
        &receive_buffers,
    ),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Receive_array_icall", &receive_buffers),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::SendFile_internal", &send_file),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::SendFile_icall", &send_file),
    InternalCall::new("@6.8 System.Net.Sockets.Socket::SendTo_internal", &send_to),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::SendTo_icall", &send_to),
    InternalCall::new(
        "@6.8 System.Net.Sockets.Socket::Send_internal(System.IntPtr,System.Byte*,System.Int32,System.Net.Sockets.SocketFlags,System.Int32&,System.Boolean)",
        &send,
    ),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Send_icall", &send),
    InternalCall::new(
        "@6.8 System.Net.Sockets.Socket::Send_internal(System.IntPtr,System.Net.Sockets.Socket+WSABUF*,System.Int32,System.Net.Sockets.SocketFlags,System.Int32&,System.Boolean)",
        &send_buffers,
    ),
    InternalCall::new("@6.12,6.14 System.Net.Sockets.Socket::Send_array_icall", &send_buffers),
];

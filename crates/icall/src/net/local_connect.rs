//! Connecting to sockets of the file system (unix(7)).
//!
//! A connection is made at once, or waits because the listener's queue is full. The system does not report that the
//! queue has room again, so a parked thread tries again after pauses.

use super::socket_addresses::Address;
use super::socket_errors::SocketResult;
use super::socket_table::{self, Socket};
use super::socket_waits::Operation;
use saki_reactor::Interest;
use saki_runtime::CurrentThread;
use saki_runtime::exec::waits::{self, Attempt, Limit, Pauses, Wait, Waited};
use std::sync::atomic::Ordering;

/// Connects, parked while the queue is full.
///
/// # Errors
/// The system's error when the descriptor is not open.
pub(super) fn connect(t: CurrentThread, socket: &Socket, address: &Address) -> SocketResult<Waited<usize>> {
    socket_table::set_non_blocking(socket.fd, true)?;
    let end = connect_non_blocking(t, socket, address);
    // Acquire: pairs with the Release of the thread that makes the socket non-blocking to end this call.
    if socket.is_blocking.load(Ordering::Acquire) {
        socket_table::set_non_blocking(socket.fd, false)?;
    }
    Ok(end)
}

fn connect_non_blocking(t: CurrentThread, socket: &Socket, address: &Address) -> Waited<usize> {
    let operation = Operation::begin(t);
    // Acquire: as in `connect`.
    let is_over = || !socket.is_blocking.load(Ordering::Acquire) || operation.is_cancelled();
    let timeout = || socket_table::timeout_of(socket, Interest::Write);
    waits::wait_for(t, Wait::new(Pauses::new(t)).within(Limit::After(&timeout)).unless(&is_over), |_| {
        // SAFETY: an address and its length.
        Attempt::of(unsafe { libc::connect(socket.fd, address.pointer(), address.length) })
    })
}

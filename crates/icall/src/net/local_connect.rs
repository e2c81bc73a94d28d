//! Connecting to sockets of the file system (unix(7)).
//!
//! A connection is made at once, or waits because the listener's queue is full. The system does not report that the queue has room again, so a parked thread tries
//! again after pauses.

use super::socket_addresses::Address;
use super::socket_errors::SocketResult;
use super::socket_table::{self, Socket};
use super::socket_waits::Operation;
use crate::io::errors::errno;
use crate::system_call::park_until;
use saki_runtime::CurrentThread;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The pause between two tries: at first, and at most.
const SHORTEST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// Connects, parked while the queue is full. Returns the errno value, 0 for success.
///
/// # Errors
/// The system's error when the descriptor is not open.
pub(super) fn connect(
    t: CurrentThread,
    socket: &Socket,
    address: &Address,
    timeout: Option<Duration>,
) -> SocketResult<i32> {
    socket_table::set_non_blocking(socket.fd, true)?;
    let errno = connect_non_blocking(t, socket, address, timeout);
    // Acquire: pairs with the Release of the thread that makes the socket non-blocking to end this call.
    if socket.is_blocking.load(Ordering::Acquire) {
        socket_table::set_non_blocking(socket.fd, false)?;
    }
    Ok(errno)
}

fn connect_non_blocking(t: CurrentThread, socket: &Socket, address: &Address, timeout: Option<Duration>) -> i32 {
    let operation = Operation::begin(t);
    let is_over = || !socket.is_blocking.load(Ordering::Acquire) || operation.is_cancelled();
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let mut pause = SHORTEST_PAUSE;
    loop {
        // SAFETY: an address and its length.
        if unsafe { libc::connect(socket.fd, address.pointer(), address.length) } == 0 {
            return 0;
        }
        match errno() {
            libc::EINTR => continue,
            libc::EAGAIN if is_over() => return libc::EINTR,
            libc::EAGAIN if deadline.is_some_and(|deadline| deadline <= Instant::now()) => return libc::EAGAIN,
            libc::EAGAIN => {}
            errno => return errno,
        }
        if park_until(t, Some(pause), is_over).is_err() {
            return libc::EINTR;
        }
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

//! The table of sockets: managed code names a socket by its file descriptor.
//!
//! Invariant: a descriptor is in the table from before managed code gets it until before it is closed; descriptors of
//! anything else fail with NOT_SOCKET. Left out: waiting for sockets (`socket_waits`).

use super::socket_errors::{SocketError, SocketResult, check};
use saki_base::locks::{RwLock, rank};
use saki_reactor::Interest;
use saki_runtime::exec::waits::Unfinished;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// An open socket.
pub(crate) struct Socket {
    pub(crate) fd: i32,
    pub(crate) domain: i32,
    pub(crate) kind: i32,
    pub(crate) protocol: i32,
    /// False once this side has shut down receiving; from then on an end of data counts as an interruption.
    pub(crate) is_readable: AtomicBool,
    /// Whether the program wants calls to wait. It changes before the descriptor does, by Release: a waiting call that
    /// the change ends sees it by Acquire.
    pub(crate) is_blocking: AtomicBool,
    /// Whether the descriptor stays non-blocking even if the program wants calls to wait: accept(2) on a listening
    /// socket has no flag to try it without blocking. Set after the descriptor has changed, by Release: who sees it by
    /// Acquire has a descriptor that does not block.
    pub(crate) is_kept_non_blocking: AtomicBool,
    /// How long receiving and sending wait, in microseconds; 0: for ever.
    timeouts_us: [AtomicU64; 2],
    /// Whether the last transfer of a connection timed out: the connection is still there, although the class library
    /// takes it for lost. Relaxed: a flag by itself.
    pub(crate) has_timed_out: AtomicBool,
    /// The Winsock code of a failed connect, for SO_ERROR, which the system gives only once.
    pub(crate) saved_error: AtomicI32,
}

/// The value of a timeout that the system has not been asked for yet.
const UNKNOWN_TIMEOUT: u64 = u64::MAX;

static SOCKETS: LazyLock<RwLock<rank::Sockets, HashMap<i32, Arc<Socket>>>> = LazyLock::new(RwLock::default);

/// Puts an open socket into the table.
pub(crate) fn insert(fd: i32, domain: i32, kind: i32, protocol: i32) -> usize {
    let socket = Socket {
        fd,
        domain,
        kind,
        protocol,
        is_readable: AtomicBool::new(true),
        is_blocking: AtomicBool::new(true),
        is_kept_non_blocking: AtomicBool::new(false),
        timeouts_us: [const { AtomicU64::new(UNKNOWN_TIMEOUT) }; 2],
        has_timed_out: AtomicBool::new(false),
        saved_error: AtomicI32::new(0),
    };
    // Native code may have closed an earlier socket with this number, which the reactor still watches.
    saki_reactor::forget(fd);
    SOCKETS.write().insert(fd, Arc::new(socket));
    fd as usize
}

/// # Errors
/// NOT_SOCKET.
pub(crate) fn lookup(handle: usize) -> SocketResult<Arc<Socket>> {
    let fd = i32::try_from(handle).map_err(|_| SocketError::NOT_SOCKET)?;
    SOCKETS.read().get(&fd).cloned().ok_or(SocketError::NOT_SOCKET)
}

/// Takes the socket out of the table; the caller closes it.
///
/// # Errors
/// NOT_SOCKET.
pub(crate) fn remove(handle: usize) -> SocketResult<Arc<Socket>> {
    let fd = i32::try_from(handle).map_err(|_| SocketError::NOT_SOCKET)?;
    SOCKETS.write().remove(&fd).ok_or(SocketError::NOT_SOCKET)
}

impl Socket {
    /// The code of a call that failed, by `was_blocking`, whether it was to wait when it began. A call that gives up
    /// has timed out, unless another thread closes the socket, which ends the call of a connection as an aborted one,
    /// and others as interrupted ones. (A call that an abort interrupts ends with the abort's exception, whatever the
    /// code.)
    pub(crate) fn error_of_wait(&self, was_blocking: bool, end: &Unfinished) -> SocketError {
        // Acquire: pairs with the Release of the thread that makes the socket non-blocking to end this call.
        let is_closed = || was_blocking && !self.is_blocking.load(Ordering::Acquire);
        match end {
            Unfinished::Failed(errno) => SocketError::from_errno(*errno),
            Unfinished::Aborted(_) => self.error_of_closing(),
            Unfinished::Cancelled if was_blocking => self.error_of_closing(),
            Unfinished::Cancelled => SocketError::WOULD_BLOCK,
            Unfinished::WouldBlock | Unfinished::TimedOut if is_closed() => self.error_of_closing(),
            Unfinished::WouldBlock | Unfinished::TimedOut if was_blocking => SocketError::TIMED_OUT,
            Unfinished::WouldBlock | Unfinished::TimedOut | Unfinished::CannotPark => SocketError::WOULD_BLOCK,
        }
    }

    /// The code of a call whose socket another thread closes.
    fn error_of_closing(&self) -> SocketError {
        match self.kind {
            libc::SOCK_STREAM => SocketError::CONNECTION_ABORTED,
            _ => SocketError::INTERRUPTED,
        }
    }

    /// The code of a failed transfer (`error_of_wait`); notes whether it was a connection's that timed out.
    pub(crate) fn error_of_transfer(&self, was_blocking: bool, end: &Unfinished) -> SocketError {
        let error = self.error_of_wait(was_blocking, end);
        // Relaxed: a reader has learned of the failure from this thread.
        self.has_timed_out.store(error == SocketError::TIMED_OUT && self.kind == libc::SOCK_STREAM, Ordering::Relaxed);
        error
    }
}

/// The timeout of calls. The system is asked for it once, and again when the program has changed it.
pub(crate) fn timeout_of(socket: &Socket, interest: Interest) -> Option<Duration> {
    // Relaxed: the number publishes no other memory.
    let place = &socket.timeouts_us[interest as usize];
    match place.load(Ordering::Relaxed) {
        UNKNOWN_TIMEOUT => {
            let timeout = ask_timeout(socket, interest);
            place.store(timeout.map_or(0, |timeout| timeout.as_micros() as u64), Ordering::Relaxed);
            timeout
        }
        0 => None,
        us => Some(Duration::from_micros(us)),
    }
}

/// To be called when the program has changed a timeout of the socket.
pub(crate) fn note_timeout_changed(socket: &Socket) {
    // Relaxed: as in `timeout_of`.
    socket.timeouts_us.iter().for_each(|place| place.store(UNKNOWN_TIMEOUT, Ordering::Relaxed));
}

fn ask_timeout(socket: &Socket, interest: Interest) -> Option<Duration> {
    let name = if interest == Interest::Read { libc::SO_RCVTIMEO } else { libc::SO_SNDTIMEO };
    let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let mut size = size_of::<libc::timeval>() as libc::socklen_t;
    // SAFETY: room for `size` bytes.
    let result = unsafe { libc::getsockopt(socket.fd, libc::SOL_SOCKET, name, (&raw mut time).cast(), &mut size) };
    let timeout = Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64);
    (result == 0 && !timeout.is_zero()).then_some(timeout)
}

/// Sets or clears O_NONBLOCK.
pub(crate) fn set_non_blocking(fd: i32, is_non_blocking: bool) -> SocketResult<()> {
    // SAFETY: reads and changes the flags of a descriptor.
    unsafe {
        let flags = check(libc::fcntl(fd, libc::F_GETFL))?;
        let wanted = if is_non_blocking { flags | libc::O_NONBLOCK } else { flags & !libc::O_NONBLOCK };
        check(libc::fcntl(fd, libc::F_SETFL, wanted)).map(|_| ())
    }
}

/// Sets an `int` option.
pub(crate) fn set_int_option(fd: i32, level: i32, name: i32, value: i32) -> SocketResult<()> {
    let size = size_of::<i32>() as libc::socklen_t;
    // SAFETY: an option value of `size` bytes.
    check(unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), size) }).map(|_| ())
}

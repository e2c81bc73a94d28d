//! The table of sockets: managed code names a socket by its file descriptor.
//!
//! Invariants: a descriptor is in the table from before managed code gets it until before it is closed; descriptors of
//! anything else fail with NOT_SOCKET. To end the blocking call of another thread, SafeSocketHandle makes the socket
//! non-blocking and then cancels: a signal interrupts the system call, and the next try fails with EAGAIN; waits for
//! readiness fail with EINTR instead. Where waits park (`saki_reactor`) no signal is needed: the thread is woken, and looks at `is_blocking` and
//! whether it is cancelled. A signal that comes before the system call is lost; SafeSocketHandle repeats it until the thread has left.

use super::socket_errors::{SocketError, SocketResult, check};
use crate::io::errors::errno;
use crate::system_call::{Parked, system_call, system_call_unless};
use parking_lot::RwLock;
use saki_reactor::{Direction, Interest, Look, TransferEnd, WaitEnd};
use saki_runtime::{CurrentThread, interruption, suspension, thread_aborts};
use saki_thread::{ManagedThread, REQUEST_ABORT};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// An open socket.
pub(crate) struct Socket {
    pub(crate) fd: i32,
    pub(crate) domain: i32,
    pub(crate) kind: i32,
    pub(crate) protocol: i32,
    /// False once this side has shut down receiving; from then on an end of data counts as an interruption.
    pub(crate) is_readable: AtomicBool,
    /// Whether the program wants calls to wait.
    pub(crate) is_blocking: AtomicBool,
    /// Whether the descriptor stays non-blocking even if the program wants calls to wait: accept(2) on a listening socket has no flag to try it without blocking.
    pub(crate) is_kept_non_blocking: AtomicBool,
    /// How long receiving and sending wait, in microseconds; 0: for ever.
    timeouts_us: [AtomicU64; 2],
    /// Whether the last transfer of a connection timed out: the connection is still there, although the class library takes it for lost.
    pub(crate) has_timed_out: AtomicBool,
    /// The Winsock code of a failed connect, for SO_ERROR, which the system gives only once.
    pub(crate) saved_error: AtomicI32,
}

/// The value of a timeout that the system has not been asked for yet.
const UNKNOWN_TIMEOUT: u64 = u64::MAX;

static SOCKETS: LazyLock<RwLock<HashMap<i32, Arc<Socket>>>> = LazyLock::new(RwLock::default);

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

/// A blocking call of the current thread, which other threads may cancel. It ends when this is dropped.
pub(crate) struct Operation<'t>(CurrentThread<'t>);

impl<'t> Operation<'t> {
    pub(crate) fn begin(t: CurrentThread<'t>) -> Operation<'t> {
        t.managed().cancel_word.begin();
        Operation(t)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.managed().cancel_word.is_cancelled()
    }
}

impl Drop for Operation<'_> {
    fn drop(&mut self) {
        self.0.managed().cancel_word.end();
    }
}

impl Socket {
    /// The code of a call that failed, by `was_blocking`, whether it was to wait when it began. A call that gives up has timed out, unless another thread closes the socket, which
    /// ends the call of a connection as an aborted one, and others as interrupted ones. (A call that an abort interrupts ends with the abort's exception, whatever the code.)
    pub(crate) fn error_of_wait(&self, was_blocking: bool, errno: i32) -> SocketError {
        // Acquire: pairs with the Release of the thread that makes the socket non-blocking to end this call.
        let is_closed = errno == libc::EINTR || was_blocking && !self.is_blocking.load(Ordering::Acquire);
        match errno {
            libc::EAGAIN | libc::EINTR if is_closed && self.kind == libc::SOCK_STREAM => {
                SocketError::CONNECTION_ABORTED
            }
            libc::EAGAIN | libc::EINTR if is_closed => SocketError::INTERRUPTED,
            libc::EAGAIN if was_blocking => SocketError::TIMED_OUT,
            errno => SocketError::from_errno(errno),
        }
    }

    /// As `error_of_wait`, for sending and receiving.
    pub(crate) fn error_of_transfer(&self, was_blocking: bool, errno: i32) -> SocketError {
        let error = self.error_of_wait(was_blocking, errno);
        // Relaxed: a reader has learned of the failure from this thread.
        self.has_timed_out.store(error == SocketError::TIMED_OUT && self.kind == libc::SOCK_STREAM, Ordering::Relaxed);
        error
    }
}

/// Interrupts the blocking socket call of a thread, if it is in one, because its socket is to be closed.
pub(crate) fn cancel(thread: &ManagedThread) {
    thread.cancel_word.cancel(|| {
        let native_id = thread.native_id();
        if native_id != 0 {
            interruption::signal_thread(native_id);
        }
        thread.unpark();
    });
}

/// `system_call` as an operation that can be cancelled.
///
/// # Errors
/// The errno value.
pub(crate) fn call(t: CurrentThread, body: impl FnMut() -> isize) -> Result<usize, i32> {
    let _operation = Operation::begin(t);
    system_call(t, body)
}

/// As `call`, for waits, which cancelling ends with EINTR.
///
/// # Errors
/// The errno value.
pub(crate) fn call_cancellable(t: CurrentThread, body: impl FnMut() -> isize) -> Result<usize, i32> {
    let operation = Operation::begin(t);
    system_call_unless(t, || operation.is_cancelled(), body)
}

/// The amount that a transfer asks for.
#[derive(Clone, Copy)]
pub(crate) enum Amount {
    /// Bytes of the socket's data: on a stream, a transfer of fewer bytes means that there are no more for now.
    Bytes(usize),
    /// Something else, whose size says nothing.
    Other,
}

impl Amount {
    fn is_short(self, socket: &Socket, count: usize) -> bool {
        let is_stream = socket.kind == libc::SOCK_STREAM && matches!(socket.domain, libc::AF_INET | libc::AF_INET6);
        matches!(self, Amount::Bytes(wanted) if is_stream && count != 0 && count < wanted)
    }
}

/// A plain transfer, which the system can complete by itself.
#[derive(Clone, Copy)]
pub(crate) struct Plain {
    pub(crate) direction: Direction,
    /// Pinned by managed code.
    pub(crate) data: *mut u8,
    pub(crate) len: usize,
}

/// As `park`, with transfers that the system completes. A send is tried first, since it hardly ever has to wait.
fn complete(
    t: CurrentThread,
    socket: &Socket,
    interest: Interest,
    plain: Plain,
    mut attempt: impl FnMut() -> isize,
) -> Parked {
    // Acquire: as in `park_unless`.
    let waits = || socket.is_blocking.load(Ordering::Acquire);
    let operation = Operation::begin(t);
    let is_over = || !waits() || operation.is_cancelled();
    let mut must_try = plain.direction == Direction::Send || plain.len == 0;
    let mut deadline = None;
    loop {
        if thread_aborts::throw_if_aborted(t).is_err() {
            return Parked::Failed(libc::EINTR);
        }
        if std::mem::take(&mut must_try) || is_over() {
            let result = attempt();
            if let Ok(count) = usize::try_from(result) {
                return Parked::Done(count);
            }
            match errno() {
                libc::EAGAIN if !is_over() => {}
                libc::EINTR => {
                    must_try = true;
                    continue;
                }
                errno => return Parked::Failed(errno),
            }
        }
        if t.managed().pending_requests() & REQUEST_ABORT != 0 {
            // As in `park_unless`.
            return Parked::MustBlock;
        }
        let deadline = *deadline.get_or_insert_with(|| {
            timeout_of(socket, interest).and_then(|timeout| Instant::now().checked_add(timeout))
        });
        let rest = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let Plain { direction, data, len } = plain;
        let flags = if direction == Direction::Send { libc::MSG_NOSIGNAL } else { 0 };
        // SAFETY: `Plain` holds the address and number of bytes that managed code pins.
        let end = unsafe { saki_reactor::transfer(t.managed(), socket.fd, direction, data, len, flags, rest, is_over) };
        suspension::stop_if_asked(t);
        match end {
            TransferEnd::Done(count) => return Parked::Done(count),
            TransferEnd::Failed(errno) => return Parked::Failed(errno),
            TransferEnd::TimedOut => return Parked::TimedOut,
            TransferEnd::GivenUp => {}
            TransferEnd::CannotWait => return Parked::MustBlock,
        }
    }
}

/// A call that waits for the socket. Where waits park, it is tried with `MSG_DONTWAIT`, unless it is known that it would fail; where it blocks itself, it gets no
/// more flags.
///
/// # Errors
/// The errno value; EAGAIN after a timeout, or when the socket does not wait.
pub(crate) fn transfer(
    t: CurrentThread,
    socket: &Socket,
    interest: Interest,
    asked: Amount,
    plain: Option<Plain>,
    mut attempt: impl FnMut(i32) -> isize,
) -> Result<usize, i32> {
    if saki_reactor::waits_park() {
        // Acquire: as in `park_unless`.
        let is_plain = || socket.kind == libc::SOCK_STREAM && socket.is_blocking.load(Ordering::Acquire);
        let plain = plain.filter(|_| saki_reactor::completes_transfers() && is_plain());
        let try_once = || attempt(libc::MSG_DONTWAIT);
        let end = match plain {
            Some(plain) => complete(t, socket, interest, plain, try_once),
            None => park_unless(t, socket, interest, asked, false, try_once),
        };
        match end {
            Parked::Done(count) => return Ok(count),
            Parked::Failed(errno) => return Err(errno),
            Parked::TimedOut => return Err(libc::EAGAIN),
            Parked::MustBlock => {}
        }
    }
    call_within_timeout(t, socket, interest, attempt)
}

/// A call that blocks and has the socket's timeout. The system begins the timeout anew with each call, so that a call that signals interrupt again and again would
/// never end: after the first signal only the rest of the timeout is waited. `attempt` gets flags to add.
///
/// # Errors
/// The errno value; EAGAIN after the timeout.
pub(crate) fn call_within_timeout(
    t: CurrentThread,
    socket: &Socket,
    interest: Interest,
    mut attempt: impl FnMut(i32) -> isize,
) -> Result<usize, i32> {
    let Some(deadline) = timeout_of(socket, interest).and_then(|timeout| Instant::now().checked_add(timeout)) else {
        return call(t, || attempt(0));
    };
    let mut is_first = true;
    call(t, || {
        // Acquire: as in `park_unless`.
        if std::mem::take(&mut is_first) || !socket.is_blocking.load(Ordering::Acquire) {
            return attempt(0);
        }
        match poll_until(socket.fd, interest, Some(deadline)) {
            0 => {
                saki_os::error::set_errno(libc::EAGAIN);
                -1
            }
            1.. => {
                let result = attempt(libc::MSG_DONTWAIT);
                if result < 0 && errno() == libc::EAGAIN {
                    // Another thread took the data: go on waiting.
                    saki_os::error::set_errno(libc::EINTR);
                }
                result
            }
            failed => failed as isize,
        }
    })
}

/// poll(2) for one descriptor, until a deadline if there is one.
pub(crate) fn poll_until(fd: i32, interest: Interest, deadline: Option<Instant>) -> i32 {
    let events = if interest == Interest::Read { libc::POLLIN } else { libc::POLLOUT };
    let mut entry = libc::pollfd { fd, events, revents: 0 };
    let rest_ms = deadline.map_or(-1, |deadline| {
        // Rounded up, so as not to end early.
        let rest = deadline.saturating_duration_since(Instant::now());
        i32::try_from(rest.as_micros().div_ceil(1000)).unwrap_or(i32::MAX)
    });
    // SAFETY: one descriptor.
    unsafe { libc::poll(&mut entry, 1, rest_ms) }
}

/// Tries a call that fails with EAGAIN instead of blocking, and parks in between, if the socket waits.
pub(crate) fn park(t: CurrentThread, socket: &Socket, interest: Interest, attempt: impl FnMut() -> isize) -> Parked {
    park_unless(t, socket, interest, Amount::Other, true, attempt)
}

/// As `park`; without `is_tried_first` the thread parks at once if it is known that the call would fail.
fn park_unless(
    t: CurrentThread,
    socket: &Socket,
    interest: Interest,
    asked: Amount,
    is_tried_first: bool,
    mut attempt: impl FnMut() -> isize,
) -> Parked {
    // Acquire: pairs with the Release of the thread that makes the socket non-blocking to end this call.
    let waits = || socket.is_blocking.load(Ordering::Acquire);
    // None: the call would block.
    let mut try_once = |look: &Look| loop {
        let result = attempt();
        if let Ok(count) = usize::try_from(result) {
            if asked.is_short(socket, count) {
                look.note_short();
            }
            return Some(Parked::Done(count));
        }
        match errno() {
            libc::EAGAIN => {
                look.note_would_block();
                return None;
            }
            libc::EINTR => {}
            errno => return Some(Parked::Failed(errno)),
        }
    };
    // Most calls need not wait, so they are tried before `Operation::begin` lets other threads cancel them.
    let mut look = Look::at(socket.fd, interest);
    let mut has_tried = is_tried_first || look.may_work() || !waits();
    if has_tried {
        match try_once(&look) {
            Some(end) => return end,
            None if waits() => {}
            None => return Parked::Failed(libc::EAGAIN),
        }
    }
    let operation = Operation::begin(t);
    let is_over = || !waits() || operation.is_cancelled();
    let mut deadline = None;
    loop {
        if thread_aborts::throw_if_aborted(t).is_err() {
            return Parked::Failed(libc::EINTR);
        }
        let must_try = look.may_work() || is_over();
        if !std::mem::take(&mut has_tried) && must_try {
            match try_once(&look) {
                Some(end) => return end,
                None if is_over() => return Parked::Failed(libc::EAGAIN),
                None => {}
            }
        }
        if t.managed().pending_requests() & REQUEST_ABORT != 0 {
            // An abort has to wait for the end of a finally block; until then it would end each wait at once.
            return Parked::MustBlock;
        }
        let deadline = *deadline.get_or_insert_with(|| {
            timeout_of(socket, interest).and_then(|timeout| Instant::now().checked_add(timeout))
        });
        let rest = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let end = look.wait(t.managed(), rest, is_over);
        suspension::stop_if_asked(t);
        match end {
            WaitEnd::TryAgain => {}
            WaitEnd::TimedOut => return Parked::TimedOut,
            WaitEnd::CannotWait => return Parked::MustBlock,
        }
        look = Look::at(socket.fd, interest);
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

/// Waits for a socket in a system call, for when the reactor cannot wait, for example because no descriptor is left.
///
/// # Errors
/// The errno value; EINTR when cancelled.
pub(crate) fn wait_blocking(t: CurrentThread, fd: i32, events: i16) -> Result<(), i32> {
    let mut entry = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: one descriptor.
    call_cancellable(t, || unsafe { libc::poll(&mut entry, 1, -1) as isize }).map(|_| ())
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

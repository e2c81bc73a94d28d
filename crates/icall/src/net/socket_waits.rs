//! Waiting for sockets: calls that block or park, and how another thread ends them.
//!
//! To end the blocking call of another thread, SafeSocketHandle makes the socket non-blocking and then cancels: a signal interrupts the system call, and the next try
//! fails with EAGAIN; waits for readiness fail with EINTR instead. Where waits park (`saki_reactor`) no signal is needed: the thread is woken, and looks at
//! `is_blocking` and whether it is cancelled. A signal that comes before the system call is lost; SafeSocketHandle repeats it until the thread has left.

use super::socket_table::{Socket, timeout_of};
use crate::io::errors::errno;
use crate::system_call::{Parked, system_call, system_call_unless};
use saki_reactor::{Direction, Interest, Look, TransferEnd, WaitEnd};
use saki_runtime::{CurrentThread, interruption, suspension, thread_aborts};
use saki_thread::{ManagedThread, REQUEST_ABORT};
use std::sync::atomic::Ordering;
use std::time::Instant;

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

/// Waits for a socket in a system call, for when the reactor cannot wait, for example because no descriptor is left.
///
/// # Errors
/// The errno value; EINTR when cancelled.
pub(crate) fn wait_blocking(t: CurrentThread, fd: i32, events: i16) -> Result<(), i32> {
    let mut entry = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: one descriptor.
    call_cancellable(t, || unsafe { libc::poll(&mut entry, 1, -1) as isize }).map(|_| ())
}

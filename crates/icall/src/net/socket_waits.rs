//! Waiting for sockets: calls that block or park, and how another thread ends them.
//!
//! To end the blocking call of another thread, SafeSocketHandle makes the socket non-blocking and then cancels: a
//! signal interrupts the system call, and the next try would block. Waits for readiness end because they are cancelled.
//! Where waits park (`saki_reactor`) no signal is needed: the thread is woken, and looks at `is_blocking` and whether
//! it is cancelled. A signal that comes before the system call is lost; SafeSocketHandle repeats it until the thread
//! has left.
//!
//! Left out: the cycle of a wait (`saki_runtime::exec::waits`), and the codes that managed code gets
//! (`Socket::error_of_wait`).

use super::socket_table::{Socket, timeout_of};
use saki_os::error::Errno;
use saki_reactor::{Direction, Interest, Look, TransferEnd};
use saki_runtime::CurrentThread;
use saki_runtime::exec::waits::{
    self, Attempt, Blocking, Limit, Parked, Source, Stay, Turn, Unfinished, Wait, Waited, end_of,
};
use saki_runtime::vm::interruption;
use saki_thread::ManagedThread;
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A blocking call of the current thread, which other threads may cancel. It ends when this is dropped.
pub(crate) struct Operation<'t> {
    t: CurrentThread<'t>,
    has_begun: Cell<bool>,
}

impl<'t> Operation<'t> {
    pub(crate) fn begin(t: CurrentThread<'t>) -> Operation<'t> {
        let operation = Operation::at_first_look(t);
        operation.begin_now();
        operation
    }

    /// Begins when it is asked for the first time whether it is cancelled. Most calls need not wait, and then nobody
    /// need be able to cancel them.
    fn at_first_look(t: CurrentThread<'t>) -> Operation<'t> {
        Operation { t, has_begun: Cell::new(false) }
    }

    fn begin_now(&self) {
        if !self.has_begun.replace(true) {
            self.t.managed().cancel_word.begin();
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.begin_now();
        self.t.managed().cancel_word.is_cancelled()
    }
}

impl Drop for Operation<'_> {
    fn drop(&mut self) {
        if self.has_begun.get() {
            self.t.managed().cancel_word.end();
        }
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

/// Makes a system call that blocks, as an operation that is interrupted and made again when it is cancelled: on a
/// socket that does not block any more it then fails.
pub(crate) fn call(
    t: CurrentThread,
    limit: Limit<'_>,
    attempt: impl FnMut(&Turn<'_>) -> Attempt<usize>,
) -> Waited<usize> {
    let _operation = Operation::begin(t);
    waits::wait_for(t, Wait::new(Blocking::new(t)).within(limit), attempt)
}

/// Waits for a system call that cancelling ends.
pub(crate) fn call_cancellable(
    t: CurrentThread,
    limit: Limit<'_>,
    attempt: impl FnMut(&Turn<'_>) -> Attempt<usize>,
) -> Waited<usize> {
    let operation = Operation::begin(t);
    let is_over = || operation.is_cancelled();
    waits::wait_for(t, Wait::new(Blocking::new(t)).within(limit).unless(&is_over), attempt)
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

/// A transfer that the system completes while the thread is parked.
struct Completed<'s> {
    thread: &'static ManagedThread,
    socket: &'s Socket,
    plain: Plain,
    /// A send is tried first, since it hardly ever has to wait.
    is_tried_first: bool,
}

impl Source<usize> for Completed<'_> {
    fn may_work(&mut self) -> bool {
        std::mem::take(&mut self.is_tried_first)
    }

    fn park(&mut self, stay: Stay<'_>) -> Parked<usize> {
        if !stay.heeds_aborts {
            return Parked::CannotPark;
        }
        let Plain { direction, data, len } = self.plain;
        let flags = if direction == Direction::Send { libc::MSG_NOSIGNAL } else { 0 };
        let Stay { rest, is_over, .. } = stay;
        // SAFETY: `Plain` holds the address and number of bytes that managed code pins.
        let end =
            unsafe { saki_reactor::transfer(self.thread, self.socket.fd, direction, data, len, flags, rest, is_over) };
        match end {
            TransferEnd::Done(count) => Parked::Done(count),
            TransferEnd::Failed(errno) => Parked::Failed(Errno(errno)),
            TransferEnd::TimedOut => Parked::TimedOut,
            TransferEnd::GivenUp => Parked::TryAgain,
            TransferEnd::CannotWait => Parked::CannotPark,
        }
    }
}

/// A socket's readiness, of which the reactor has a record: calls that would fail are not made.
struct Looked<'s> {
    thread: &'static ManagedThread,
    socket: &'s Socket,
    interest: Interest,
    asked: Amount,
    /// Made before each attempt.
    look: Look,
    /// Whether the first attempt is made in any case.
    is_tried_first: bool,
}

impl<'s> Looked<'s> {
    fn new(t: CurrentThread, socket: &'s Socket, interest: Interest, asked: Amount, is_tried_first: bool) -> Self {
        let look = Look::at(socket.fd, interest);
        Looked { thread: t.managed(), socket, interest, asked, look, is_tried_first }
    }
}

impl Source<usize> for Looked<'_> {
    fn may_work(&mut self) -> bool {
        std::mem::take(&mut self.is_tried_first) || self.look.may_work()
    }

    fn make(&mut self, attempt: impl FnOnce() -> Attempt<usize>) -> Attempt<usize> {
        let end = attempt();
        match end {
            Attempt::Done(count) if self.asked.is_short(self.socket, count) => self.look.note_short(),
            Attempt::WouldBlock => self.look.note_would_block(),
            Attempt::Done(_) | Attempt::Interrupted | Attempt::Failed(_) => {}
        }
        end
    }

    fn park(&mut self, stay: Stay<'_>) -> Parked<usize> {
        if !stay.heeds_aborts {
            // The reactor's waits end when an abort is requested; a blocking call goes on.
            return Parked::CannotPark;
        }
        let end = self.look.wait(self.thread, stay.rest, stay.is_over);
        self.look = Look::at(self.socket.fd, self.interest);
        end_of(end)
    }
}

/// Waits for what `source` says, as long as the socket waits, with its timeout.
fn park_for(
    t: CurrentThread,
    socket: &Socket,
    interest: Interest,
    source: impl Source<usize>,
    mut attempt: impl FnMut() -> Attempt<usize>,
) -> Waited<usize> {
    let operation = Operation::at_first_look(t);
    // Acquire: pairs with the Release of the thread that makes the socket non-blocking to end this call.
    let is_over = || !socket.is_blocking.load(Ordering::Acquire) || operation.is_cancelled();
    let timeout = || timeout_of(socket, interest);
    waits::wait_for(t, Wait::new(source).within(Limit::After(&timeout)).unless(&is_over), |_| attempt())
}

/// Tries a call that never blocks, and parks in between, if the socket waits.
pub(crate) fn park(
    t: CurrentThread,
    socket: &Socket,
    interest: Interest,
    attempt: impl FnMut() -> Attempt<usize>,
) -> Waited<usize> {
    park_for(t, socket, interest, Looked::new(t, socket, interest, Amount::Other, true), attempt)
}

/// A call that waits for the socket. Where waits park, it is tried with `MSG_DONTWAIT`, unless it is known that it
/// would fail; where it blocks itself, it gets no more flags.
pub(crate) fn transfer(
    t: CurrentThread,
    socket: &Socket,
    interest: Interest,
    asked: Amount,
    plain: Option<Plain>,
    mut attempt: impl FnMut(i32) -> Attempt<usize>,
) -> Waited<usize> {
    if saki_reactor::waits_park() {
        // Acquire: as in `park_for`.
        let is_plain = || socket.kind == libc::SOCK_STREAM && socket.is_blocking.load(Ordering::Acquire);
        let plain = plain.filter(|_| saki_reactor::completes_transfers() && is_plain());
        let try_once = || attempt(libc::MSG_DONTWAIT);
        let waited = match plain {
            Some(plain) => {
                let is_tried_first = plain.direction == Direction::Send || plain.len == 0;
                park_for(
                    t,
                    socket,
                    interest,
                    Completed { thread: t.managed(), socket, plain, is_tried_first },
                    try_once,
                )
            }
            None => park_for(t, socket, interest, Looked::new(t, socket, interest, asked, false), try_once),
        };
        if !matches!(waited, Err(Unfinished::CannotPark)) {
            return waited;
        }
    }
    call_within_timeout(t, socket, interest, attempt)
}

/// A call that blocks and has the socket's timeout. The system begins the timeout anew with each call, so that a call
/// that signals interrupt again and again would never end: after the first signal only the rest of the timeout is
/// waited. `attempt` gets flags to add.
pub(crate) fn call_within_timeout(
    t: CurrentThread,
    socket: &Socket,
    interest: Interest,
    mut attempt: impl FnMut(i32) -> Attempt<usize>,
) -> Waited<usize> {
    let timeout = || timeout_of(socket, interest);
    let mut is_first = true;
    call(t, Limit::After(&timeout), |turn| {
        let rest = turn.rest();
        // Acquire: as in `park_for`.
        if std::mem::take(&mut is_first) || rest.is_none() || !socket.is_blocking.load(Ordering::Acquire) {
            return attempt(0);
        }
        match poll_for(socket.fd, interest, rest) {
            Attempt::Done(0) => Attempt::WouldBlock,
            Attempt::Done(_) => match attempt(libc::MSG_DONTWAIT) {
                // Another thread took the data: go on waiting.
                Attempt::WouldBlock => Attempt::Interrupted,
                end => end,
            },
            end => end,
        }
    })
}

/// poll(2) for one descriptor, for a time if there is one.
pub(crate) fn poll_for(fd: i32, interest: Interest, rest: Option<Duration>) -> Attempt<usize> {
    let events = if interest == Interest::Read { libc::POLLIN } else { libc::POLLOUT };
    let mut entry = libc::pollfd { fd, events, revents: 0 };
    // Rounded up, so as not to end early.
    let rest_ms = rest.map_or(-1, |rest| i32::try_from(rest.as_micros().div_ceil(1000)).unwrap_or(i32::MAX));
    // SAFETY: one descriptor.
    Attempt::of(unsafe { libc::poll(&mut entry, 1, rest_ms) })
}

/// Waits for a socket in a system call, for when the reactor cannot wait, for example because no descriptor is left.
///
/// # Errors
/// Also when cancelled.
pub(crate) fn wait_blocking(t: CurrentThread, fd: i32, interest: Interest) -> Waited<()> {
    call_cancellable(t, Limit::Never, |_| poll_for(fd, interest, None)).map(|_| ())
}

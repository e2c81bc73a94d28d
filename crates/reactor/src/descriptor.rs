//! Waits for descriptors: the records by number, and the poller.
//!
//! A record (`record`) belongs to a descriptor number: it is never freed, but serves the next descriptor of that number. Late reports for a closed
//! descriptor wake waiters for nothing. Invariant: a record's lock is held for a few instructions and one system call, never while waking or waiting.

use crate::backend::{Backend, Event, open};
use crate::model::{PolledBy, model, polled_by};
use crate::observer;
use crate::record::{Interest, Lifetime, Readiness, Record, Seen, Watch, Woken};
use saki_sync::monitor::BlockEnd;
use saki_thread::{ManagedThread, REQUEST_ABORT, WaitState};
use std::io;
use std::sync::OnceLock;
use std::time::Duration;

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitEnd {
    /// The operation may work now.
    TryAgain,
    TimedOut,
    /// The descriptor cannot be waited for, as files cannot: the operation is to block.
    CannotWait,
}

#[derive(Clone, Copy)]
pub(crate) enum Waiter {
    Thread(&'static ManagedThread),
    /// See `observer`.
    Observer,
}

impl PartialEq for Waiter {
    fn eq(&self, other: &Waiter) -> bool {
        match (self, other) {
            (Waiter::Thread(thread), Waiter::Thread(other)) => std::ptr::eq(*thread, *other),
            (Waiter::Observer, Waiter::Observer) => true,
            _ => false,
        }
    }
}

pub(crate) type Place = &'static Record<Waiter>;

/// Records come in blocks, which are made when the first of their numbers is used.
const BLOCK: usize = 256;
/// Blocks for as many descriptors as the kernel allows a process by default (`fs.nr_open`); descriptors beyond cannot be waited for.
const BLOCKS: usize = (1 << 20) / BLOCK;

static RECORDS: [OnceLock<Box<[Record<Waiter>]>>; BLOCKS] = [const { OnceLock::new() }; BLOCKS];
static BACKEND: OnceLock<Result<Box<dyn Backend>, i32>> = OnceLock::new();

/// The record of a number.
pub(crate) fn record(fd: i32) -> Option<Place> {
    let number = usize::try_from(fd).ok()?;
    let block = RECORDS.get(number / BLOCK)?;
    let records = block.get_or_init(|| (0..BLOCK).map(|_| Record::new()).collect());
    Some(&records[number % BLOCK])
}

/// The backend, which starts at the first wait, together with the thread or scheduler that polls.
///
/// # Errors
/// The system's, which has no descriptor or no thread left.
pub(crate) fn backend() -> io::Result<&'static dyn Backend> {
    let mut is_new = false;
    let started = BACKEND.get_or_init(|| {
        let number = |error: io::Error| error.raw_os_error().unwrap_or(libc::EAGAIN);
        let backend = open(model()).map_err(number)?;
        is_new = true;
        if matches!(polled_by(), PolledBy::OwnThread) {
            saki_os::thread::start_service("saki-reactor", poll_for_ever).map_err(number)?;
        }
        Ok(backend)
    });
    if is_new && let PolledBy::Others { begun } = polled_by() {
        begun();
    }
    match started {
        Ok(backend) => Ok(&**backend),
        Err(errno) => Err(io::Error::from_raw_os_error(*errno)),
    }
}

fn poll_for_ever() {
    loop {
        match BACKEND.get() {
            Some(Ok(_)) => poll(None, &mut ManagedThread::unpark),
            Some(Err(_)) => return,
            // The starter stores it right after this thread began.
            None => std::thread::yield_now(),
        }
    }
}

/// Asks the system which descriptors are ready, and waits until there are some, the timeout has passed, or [`interrupt`] is called; each thread that has to go
/// on is passed to `wake`, which unparks it. May return for nothing. One caller at a time, namely the poller that `start` has named.
pub fn poll(timeout: Option<Duration>, wake: &mut dyn FnMut(&'static ManagedThread)) {
    let Some(Ok(backend)) = BACKEND.get() else { return };
    let mut tell = |event: Event| match event {
        Event::Ready(fd, ready) => {
            if let Some(place) = record(fd) {
                wake_all(fd, place.report(ready, &Descriptor { backend: &**backend, fd }), wake);
            }
        }
        Event::Moved(thread) => wake(thread),
    };
    if let Err(error) = backend.wait(timeout, &mut tell) {
        saki_base::bug!("the system does not say which descriptors are ready: {error}");
    }
}

/// Wakes the threads that waited for the descriptor to be readable, and those that waited for it to be writable.
fn wake_all(fd: i32, woken: [Woken<Waiter>; 2], wake: &mut dyn FnMut(&'static ManagedThread)) {
    for (woken, interest) in woken.into_iter().zip([Interest::Read, Interest::Write]) {
        woken.for_each(&mut |waiter| match waiter {
            Waiter::Thread(thread) => wake(thread),
            Waiter::Observer => observer::tell(fd, interest).into_iter().for_each(&mut *wake),
        });
    }
}

/// Ends the present [`poll`], or the next one.
pub fn interrupt() {
    if let Some(Ok(backend)) = BACKEND.get() {
        backend.interrupt();
    }
}

pub(crate) struct Descriptor<'a> {
    pub(crate) backend: &'a dyn Backend,
    pub(crate) fd: i32,
}

impl Watch for Descriptor<'_> {
    type Error = io::Error;

    fn once(&self, wanted: Readiness) -> io::Result<()> {
        self.backend.watch_once(self.fd, wanted)
    }

    fn always(&self, is_watched: bool) -> io::Result<bool> {
        self.backend.watch_always(self.fd, is_watched)
    }
}

/// A descriptor's state before a thread tries an operation; for descriptors whose lifetime is known. To be made before the try.
#[derive(Clone, Copy)]
pub struct Look {
    fd: i32,
    interest: Interest,
    place: Option<Place>,
    seen: Seen,
}

impl Look {
    pub fn at(fd: i32, interest: Interest) -> Look {
        let place = record(fd);
        let seen = place.map_or(Seen { reports: 0, may_work: true }, |place| place.look(interest));
        Look { fd, interest, place, seen }
    }

    /// False: the operation would block; `wait` returns when it may work.
    pub fn may_work(&self) -> bool {
        self.seen.may_work
    }

    /// The try has failed, as it would have blocked.
    pub fn note_would_block(&self) {
        if let Some(place) = self.place {
            place.note_nothing_left(self.interest, self.seen, false);
        }
    }

    /// The try has transferred less than it was asked to, on a connection whose data is a stream: the next one would block.
    pub fn note_short(&self) {
        if let Some(place) = self.place {
            place.note_nothing_left(self.interest, self.seen, true);
        }
    }

    /// As [`wait`], after a look without a try, or with one that would have blocked.
    pub fn wait(
        &self,
        thread: &'static ManagedThread,
        timeout: Option<Duration>,
        is_over: impl Fn() -> bool,
    ) -> WaitEnd {
        let Some(place) = self.place else { return WaitEnd::CannotWait };
        match begin(thread, self.fd, place, self.interest, Lifetime::Known, Some(self.seen)) {
            Ok(Some(reports)) => {
                let end = park(thread, timeout, || place.is_reported(self.interest, reports) || is_over());
                place.leave(Waiter::Thread(thread), self.interest, reports);
                end
            }
            Ok(None) => WaitEnd::TryAgain,
            Err(_) => WaitEnd::CannotWait,
        }
    }
}

/// Registers the calling thread, `thread`, as a waiter: see `Record::join`.
///
/// # Errors
/// EPERM: the descriptor is always ready. EBADF and others: it cannot be watched.
fn begin(
    thread: &'static ManagedThread,
    fd: i32,
    place: Place,
    interest: Interest,
    lifetime: Lifetime,
    seen: Option<Seen>,
) -> io::Result<Option<u32>> {
    place.join(Waiter::Thread(thread), interest, lifetime, seen, &Descriptor { backend: backend()?, fd })
}

fn park(thread: &'static ManagedThread, timeout: Option<Duration>, is_done: impl Fn() -> bool) -> WaitEnd {
    let is_done = || is_done() || thread.pending_requests() & REQUEST_ABORT != 0;
    match thread.wait_until(WaitState::Native, timeout, false, is_done) {
        BlockEnd::TimedOut => WaitEnd::TimedOut,
        BlockEnd::Woken | BlockEnd::Interrupted => WaitEnd::TryAgain,
    }
}

/// Waits until the descriptor may be ready, the timeout has passed, `is_over` returns true after the thread was woken (`ManagedThread::unpark`), or an abort of the
/// thread is requested. Called by the thread itself, which is RUNNING. `lifetime` is the same at every wait for a descriptor.
pub fn wait(
    thread: &'static ManagedThread,
    fd: i32,
    interest: Interest,
    lifetime: Lifetime,
    timeout: Option<Duration>,
    is_over: impl Fn() -> bool,
) -> WaitEnd {
    wait_any(thread, &[(fd, interest)], lifetime, timeout, is_over)
}

/// As `wait`, until one of several descriptors may be ready.
pub fn wait_any(
    thread: &'static ManagedThread,
    wanted: &[(i32, Interest)],
    lifetime: Lifetime,
    timeout: Option<Duration>,
    is_over: impl Fn() -> bool,
) -> WaitEnd {
    let mut begun: Vec<(Place, Interest, u32)> = Vec::with_capacity(wanted.len());
    let mut early = None;
    for &(fd, interest) in wanted {
        let Some(place) = record(fd) else {
            early = Some(WaitEnd::CannotWait);
            break;
        };
        match begin(thread, fd, place, interest, lifetime, None) {
            Ok(Some(reports)) => begun.push((place, interest, reports)),
            Ok(None) => early = Some(WaitEnd::TryAgain),
            Err(_) => early = Some(WaitEnd::CannotWait),
        }
        if early.is_some() {
            break;
        }
    }
    let is_reported = || begun.iter().any(|(place, interest, reports)| place.is_reported(*interest, *reports));
    let end = early.unwrap_or_else(|| park(thread, timeout, || is_reported() || is_over()));
    for (place, interest, reports) in begun {
        place.leave(Waiter::Thread(thread), interest, reports);
    }
    end
}

/// The descriptor is about to be closed: threads that wait for it try again, and find it closed.
pub fn forget(fd: i32) {
    let (Some(Ok(backend)), Some(place)) = (BACKEND.get(), record(fd)) else { return };
    wake_all(fd, place.forget(|| backend.unwatch(fd)), &mut ManagedThread::unpark);
}

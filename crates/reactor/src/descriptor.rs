//! The records of descriptors: who waits for what, and what was reported.
//!
//! | field, under the record's lock | changed by |
//! |---|---|
//! | `waiting` | a waiter before it asks for reports, and when it goes on; whoever wakes it takes it off |
//! | `reports` | the poller and `forget`: + 1 each time that waiters are to try again |
//! | `is_ready` | the poller, when nobody waits and the watch is lasting: the next waiter takes it and tries again at once |
//! | `is_watched_always` | the first waiter of a lasting descriptor; `forget`, before the descriptor is closed |
//!
//! A record belongs to a number: it is never freed, but serves the next descriptor of that number. Reports that come late, for one that is
//! closed, wake waiters for nothing. Invariant: the lock is held for a few instructions and one system call, never while waking or waiting.

use crate::backend::{Backend, Readiness, open};
use crate::model::{PolledBy, model, polled_by};
use parking_lot::{Mutex, RwLock};
use saki_sync::monitor::BlockEnd;
use saki_thread::{ManagedThread, REQUEST_ABORT, WaitState};
use std::io;
use std::sync::OnceLock;
use std::time::Duration;

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interest {
    Read,
    Write,
}

/// Whether a descriptor is closed by those only who call [`forget`] before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lifetime {
    /// It is: the system is asked once for all reports.
    Known,
    /// Perhaps not: the system is asked at each wait.
    Unknown,
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitEnd {
    /// The operation may work now.
    TryAgain,
    TimedOut,
    /// The descriptor cannot be waited for, as files cannot: the operation is to block.
    CannotWait,
}

#[derive(Default)]
struct Direction {
    waiting: Vec<&'static ManagedThread>,
    reports: u64,
    is_ready: bool,
}

impl Direction {
    /// Those to be woken, who try again.
    fn report(&mut self) -> Vec<&'static ManagedThread> {
        self.reports += 1;
        std::mem::take(&mut self.waiting)
    }
}

#[derive(Default)]
struct Record {
    read: Direction,
    write: Direction,
    is_watched_always: bool,
}

impl Record {
    fn of(&mut self, interest: Interest) -> &mut Direction {
        match interest {
            Interest::Read => &mut self.read,
            Interest::Write => &mut self.write,
        }
    }

    fn wanted(&self) -> Readiness {
        Readiness { read: !self.read.waiting.is_empty(), write: !self.write.waiting.is_empty() }
    }
}

static RECORDS: RwLock<Vec<&'static Mutex<Record>>> = RwLock::new(Vec::new());
static BACKEND: OnceLock<Result<Box<dyn Backend>, i32>> = OnceLock::new();

/// The record of a number; made if there is none.
fn record(fd: i32) -> Option<&'static Mutex<Record>> {
    let index = usize::try_from(fd).ok()?;
    if let Some(&record) = RECORDS.read().get(index) {
        return Some(record);
    }
    let mut records = RECORDS.write();
    while records.len() <= index {
        records.push(saki_base::leak(Mutex::default()));
    }
    Some(records[index])
}

/// The backend, which starts at the first wait, and with it whoever polls.
///
/// # Errors
/// The system's, which has no descriptor or no thread left.
fn backend() -> io::Result<&'static dyn Backend> {
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

/// Asks the system which descriptors are ready, and waits until there are some, until the timeout has passed, or somebody calls [`interrupt`]; each thread that
/// is to go on goes to `wake`, which unparks it. May return for nothing. One caller at a time; for whom `start` has named.
pub fn poll(timeout: Option<Duration>, wake: &mut dyn FnMut(&'static ManagedThread)) {
    let Some(Ok(backend)) = BACKEND.get() else { return };
    if let Err(error) = backend.wait(timeout, &mut |fd, ready| report(fd, ready, wake)) {
        saki_base::bug!("the system does not say which descriptors are ready: {error}");
    }
}

/// Ends the present [`poll`], or the next one.
pub fn interrupt() {
    if let Some(Ok(backend)) = BACKEND.get() {
        backend.interrupt();
    }
}

/// A descriptor is ready.
fn report(fd: i32, ready: Readiness, wake: &mut dyn FnMut(&'static ManagedThread)) {
    let Some(place) = record(fd) else { return };
    let mut woken = Vec::new();
    {
        let mut record = place.lock();
        let is_watched_always = record.is_watched_always;
        for (is_ready, interest) in [(ready.read, Interest::Read), (ready.write, Interest::Write)] {
            let direction = record.of(interest);
            if is_ready && direction.waiting.is_empty() {
                direction.is_ready |= is_watched_always;
            } else if is_ready {
                woken.append(&mut direction.report());
            }
        }
        // What was asked once was answered for both directions.
        let left = record.wanted();
        if !is_watched_always
            && !left.is_none()
            && let Ok(backend) = backend()
            && backend.watch_once(fd, left).is_err()
        {
            // Closed meanwhile: whoever waits finds out.
            woken.append(&mut record.read.report());
            woken.append(&mut record.write.report());
        }
    }
    woken.into_iter().for_each(wake);
}

/// Says that the calling thread, `thread`, waits. The number of reports seen; None: it need not wait.
///
/// # Errors
/// EPERM: the descriptor is always ready. EBADF and others: it cannot be watched.
fn begin(thread: &'static ManagedThread, fd: i32, interest: Interest, lifetime: Lifetime) -> io::Result<Option<u64>> {
    let backend = backend()?;
    let place = record(fd).ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))?;
    let mut record = place.lock();
    if std::mem::take(&mut record.of(interest).is_ready) {
        return Ok(None);
    }
    let direction = record.of(interest);
    direction.waiting.push(thread);
    let seen = direction.reports;
    let watched = match (record.is_watched_always, lifetime) {
        (true, _) => Ok(()),
        (false, Lifetime::Known) => match backend.watch_always(fd) {
            Ok(true) => {
                record.is_watched_always = true;
                Ok(())
            }
            Ok(false) => backend.watch_once(fd, record.wanted()),
            Err(error) => Err(error),
        },
        (false, Lifetime::Unknown) => backend.watch_once(fd, record.wanted()),
    };
    if let Err(error) = watched {
        leave(record.of(interest), thread);
        return Err(error);
    }
    Ok(Some(seen))
}

fn leave(direction: &mut Direction, thread: &ManagedThread) {
    if let Some(place) = direction.waiting.iter().rposition(|other| std::ptr::eq(*other, thread)) {
        direction.waiting.swap_remove(place);
    }
}

/// Waits until the descriptor may be ready, the timeout has passed, `is_over` says so after the thread was woken (`ManagedThread::unpark`), or the thread is asked to
/// abort. Called by the thread itself, which is RUNNING. `lifetime` is the same at every wait for a descriptor.
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
    let mut begun: Vec<(&'static Mutex<Record>, Interest, u64)> = Vec::with_capacity(wanted.len());
    let mut early = None;
    for &(fd, interest) in wanted {
        match (begin(thread, fd, interest, lifetime), record(fd)) {
            (Ok(Some(seen)), Some(place)) => begun.push((place, interest, seen)),
            (Ok(_), _) => early = Some(WaitEnd::TryAgain),
            (Err(_), _) => early = Some(WaitEnd::CannotWait),
        }
        if early.is_some() {
            break;
        }
    }
    let is_reported = || begun.iter().any(|(place, interest, seen)| place.lock().of(*interest).reports != *seen);
    let end = early.unwrap_or_else(|| {
        let is_done = || is_reported() || is_over() || thread.pending_requests() & REQUEST_ABORT != 0;
        match thread.wait_until(WaitState::Native, timeout, false, is_done) {
            BlockEnd::TimedOut => WaitEnd::TimedOut,
            BlockEnd::Woken | BlockEnd::Interrupted => WaitEnd::TryAgain,
        }
    });
    for (place, interest, seen) in begun {
        let mut record = place.lock();
        let direction = record.of(interest);
        if direction.reports == seen {
            leave(direction, thread);
        }
    }
    end
}

/// The descriptor is about to be closed: whoever waits for it tries again, and finds it closed.
pub fn forget(fd: i32) {
    let Some(Ok(backend)) = BACKEND.get() else { return };
    let Some(place) = record(fd) else { return };
    let mut record = place.lock();
    let was_watched = record.is_watched_always || !record.wanted().is_none();
    let mut woken = record.read.report();
    woken.append(&mut record.write.report());
    (record.read.is_ready, record.write.is_ready, record.is_watched_always) = (false, false, false);
    if was_watched {
        backend.unwatch(fd);
    }
    drop(record);
    woken.into_iter().for_each(ManagedThread::unpark);
}

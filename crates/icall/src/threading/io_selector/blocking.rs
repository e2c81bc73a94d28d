//! The selector with an epoll and a thread of its own, which blocks.
//!
//! Invariant: a descriptor is armed (EPOLLONESHOT) exactly for the directions it has jobs for. Lock: `JOBS`.

use super::{JOBS, Jobs, NAME, queue_or_end, start_once};
use saki_reactor::Interest;
use saki_runtime::CurrentThread;
use saki_sync::handle_table::Handle;
use saki_thread::{ManagedThread, ThreadKind};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

const MAX_EVENTS: usize = 128;

/// The epoll descriptor; -1 until the first job. Set under the lock of `JOBS`.
static EPOLL: AtomicI32 = AtomicI32::new(-1);

/// The events to wait for; 0 = none.
fn events_of(jobs: &Jobs) -> u32 {
    let mut events = 0;
    if !jobs.reads.is_empty() {
        events |= libc::EPOLLIN;
    }
    if !jobs.writes.is_empty() {
        events |= libc::EPOLLOUT;
    }
    events as u32
}

fn control(operation: i32, fd: i32, events: u32) -> Result<(), i32> {
    let mut event = libc::epoll_event { events: events | libc::EPOLLONESHOT as u32, u64: fd as u64 };
    // Acquire: pairs with the Release in `open`.
    let epoll = EPOLL.load(Ordering::Acquire);
    // SAFETY: an open epoll descriptor and an event to copy from.
    match unsafe { libc::epoll_ctl(epoll, operation, fd, &mut event) } {
        0 => Ok(()),
        _ => Err(crate::io::errors::errno()),
    }
}

/// Opens the epoll descriptor. Called under the lock of `JOBS`.
fn open() -> Result<(), i32> {
    // Relaxed: changed under the lock.
    if EPOLL.load(Ordering::Relaxed) != -1 {
        return Ok(());
    }
    // SAFETY: makes a descriptor.
    let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    if epoll == -1 {
        return Err(crate::io::errors::errno());
    }
    // Release: the descriptor is open.
    EPOLL.store(epoll, Ordering::Release);
    Ok(())
}

/// See `start_once`.
static IS_STARTED: AtomicBool = AtomicBool::new(false);

/// In a forked child. The events of the parent's descriptor are the parent's.
pub(super) fn begin_child() {
    // Release, as in `open`, though the child has no other thread yet.
    EPOLL.store(-1, Ordering::Release);
    IS_STARTED.store(false, Ordering::Relaxed);
}

/// Starts the thread once.
fn start() -> Result<(), i32> {
    start_once(&IS_STARTED, || saki_thread::spawn(ThreadKind::Internal, Some(NAME), 0, select).map(drop))
}

/// See `super::wait_for`.
pub(super) fn add(fd: i32, interest: Interest, job: Handle) -> Result<bool, i32> {
    {
        // Before the thread starts, which waits on the descriptor.
        let _jobs = JOBS.lock();
        open()?;
    }
    start()?;
    let mut all = JOBS.lock();
    let jobs = all.entry(fd).or_default();
    jobs.of(interest).push_back(job);
    let events = events_of(jobs);
    let mut armed = control(libc::EPOLL_CTL_MOD, fd, events);
    if armed == Err(libc::ENOENT) {
        armed = control(libc::EPOLL_CTL_ADD, fd, events);
    }
    if armed.is_err() {
        jobs.of(interest).pop_back();
        if jobs.is_empty() {
            all.remove(&fd);
        }
    }
    Ok(armed.is_ok())
}

/// Removes a descriptor that has no jobs any more, and may be closed already.
pub(super) fn forget(fd: i32) {
    let _ = control(libc::EPOLL_CTL_DEL, fd, 0);
}

/// Takes the jobs that an event makes ready and arms the descriptor for the rest.
fn take_ready(fd: i32, events: u32, out: &mut Vec<Handle>) {
    let has_failed = events & (libc::EPOLLERR | libc::EPOLLHUP) as u32 != 0;
    let mut all = JOBS.lock();
    let Some(jobs) = all.get_mut(&fd) else { return };
    if has_failed || events & libc::EPOLLIN as u32 != 0 {
        out.extend(jobs.reads.pop_front());
    }
    if has_failed || events & libc::EPOLLOUT as u32 != 0 {
        out.extend(jobs.writes.pop_front());
    }
    if !jobs.is_empty() && control(libc::EPOLL_CTL_MOD, fd, events_of(jobs)).is_err() {
        // The descriptor was closed meanwhile: the jobs will fail with that error.
        out.extend(jobs.reads.drain(..));
        out.extend(jobs.writes.drain(..));
    }
    if jobs.is_empty() {
        all.remove(&fd);
    }
}

/// Waits for events, for ever.
fn select(thread: &'static ManagedThread) {
    // SAFETY: the thread just attached.
    let t = unsafe { CurrentThread::from_abi(thread.abi()) };
    // Acquire: as in `control`.
    let epoll = EPOLL.load(Ordering::Acquire);
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; MAX_EVENTS];
    loop {
        // SAFETY: room for `MAX_EVENTS` events.
        let count = thread.blocking(|| unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), MAX_EVENTS as i32, -1) });
        let mut ready = Vec::new();
        for event in events.iter().take(usize::try_from(count).unwrap_or(0)) {
            take_ready(event.u64 as i32, event.events, &mut ready);
        }
        queue_or_end(t, ready);
    }
}

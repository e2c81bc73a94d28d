//! The selector on the reactor: see `saki_reactor::observe`.
//!
//! The poller notes descriptors that are ready and wakes the dispatcher, a managed thread, which takes their jobs. With
//! green threads the dispatcher is one of them, so that a carrier that finds a descriptor ready goes on with its jobs.
//! Invariant: while a direction has jobs, either the reactor is asked about it or a note of it is on its way to the
//! dispatcher. A note may concern an earlier descriptor of the same number: the dispatcher asks again before it takes a
//! job. Locks: `JOBS` before a record's; `NOTES` alone.

use super::{JOBS, Jobs, NAME, queue_or_end, start_once};
use saki_base::locks::rank;
use saki_reactor::Interest;
use saki_runtime::CurrentThread;
use saki_sync::handle_table::Handle;
use saki_sync::word_locks::Mutex;
use saki_thread::{ManagedThread, ThreadKind, WaitState, child_locks};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Reports of the poller that the dispatcher has not handled yet.
static NOTES: Mutex<rank::SelectorNotes, Vec<(i32, Interest)>> = Mutex::new(Vec::new());
/// Null before it runs. Release, read with Acquire.
static DISPATCHER: AtomicPtr<ManagedThread> = AtomicPtr::new(std::ptr::null_mut());

/// See `saki_reactor::Observer`.
fn note(fd: i32, interest: Interest) -> Option<&'static ManagedThread> {
    NOTES.lock().push((fd, interest));
    // A dispatcher that has not started yet handles the notes after it has set `DISPATCHER`.
    // SAFETY: null, or a structure that is never freed.
    unsafe { DISPATCHER.load(Ordering::Acquire).as_ref() }
}

/// Asks the reactor about the descriptor. False if it will not report: the descriptor is ready already, or cannot be
/// waited for.
fn is_asked(fd: i32, interest: Interest) -> bool {
    saki_reactor::observe(fd, interest).unwrap_or(false)
}

/// See `super::wait_for`.
pub(super) fn add(fd: i32, interest: Interest, job: Handle) -> Result<bool, i32> {
    start()?;
    let mut all = JOBS.lock();
    let jobs: &mut Jobs = all.entry(fd).or_default();
    let is_first = jobs.of(interest).is_empty();
    if !is_first || is_asked(fd, interest) {
        jobs.of(interest).push_back(job);
        return Ok(true);
    }
    if jobs.is_empty() {
        all.remove(&fd);
    }
    Ok(false)
}

/// See `start_once`.
static IS_STARTED: AtomicBool = AtomicBool::new(false);

/// Before a fork.
pub(super) fn hold_for_fork() {
    child_locks::hold(&NOTES);
}

/// In the parent.
pub(super) fn release_after_fork() {
    child_locks::release(&NOTES);
}

/// In a forked child.
pub(super) fn begin_child() {
    child_locks::revive(&NOTES);
    NOTES.lock().clear();
    DISPATCHER.store(std::ptr::null_mut(), Ordering::Release);
    // Relaxed: the child has one thread.
    IS_STARTED.store(false, Ordering::Relaxed);
}

/// Starts the dispatcher once.
fn start() -> Result<(), i32> {
    start_once(&IS_STARTED, || {
        saki_reactor::set_observer(note);
        saki_sched::spawn(ThreadKind::Background, Some(NAME), 0, dispatch).map(drop)
    })
}

/// The descriptors that the system is asked about in one call, with `JOBS` locked. A call for so many takes a few
/// microseconds; a server's poller notes some 30 at a time.
const NOTES_AT_ONCE: usize = 64;

/// Takes the jobs for the directions in which these descriptors are ready. The system is asked with the jobs locked, so
/// that its answer is about the descriptor which the jobs are for: who closes one takes its jobs before.
fn take_ready(notes: &[(i32, Interest)], ready: &mut Vec<Handle>) {
    let mut all = JOBS.lock();
    // Without an answer each descriptor is asked about by itself.
    let mut answers = saki_reactor::are_ready(notes).ok();
    for (index, note) in notes.iter().enumerate() {
        let is_ready = answers.as_mut().and_then(Iterator::next).unwrap_or(false);
        let (fd, interest) = *note;
        let Some(jobs) = all.get_mut(&fd) else { continue };
        // One answer is good for one job: a second note of the direction asks again.
        if is_ready && !notes[..index].contains(note) {
            ready.extend(jobs.of(interest).pop_front());
        }
        while !jobs.of(interest).is_empty() && !is_asked(fd, interest) {
            ready.extend(jobs.of(interest).pop_front());
        }
        if jobs.is_empty() {
            all.remove(&fd);
        }
    }
}

/// Gives jobs to the pool, for ever.
fn dispatch(thread: &'static ManagedThread) {
    // SAFETY: the thread just attached.
    let t = unsafe { CurrentThread::from_abi(thread.abi()) };
    DISPATCHER.store(std::ptr::from_ref(thread).cast_mut(), Ordering::Release);
    loop {
        let notes = std::mem::take(&mut *NOTES.lock());
        let mut ready = Vec::new();
        for some in notes.chunks(NOTES_AT_ONCE) {
            take_ready(some, &mut ready);
        }
        queue_or_end(t, ready);
        thread.wait_until(WaitState::Native, None, false, || !NOTES.lock().is_empty());
    }
}

//! System.IOSelector (System.dll): runs jobs on the thread pool when their descriptor becomes ready.
//!
//! Where waits park, the reactor reports ready descriptors (`parked`), and a managed thread, which parks like others,
//! gives their jobs to the pool. Where waits block there is no reactor, and a thread of the selector waits for all
//! descriptors (`blocking`).
//!
//! Invariants: jobs are one-shot and, per descriptor and direction, first in first out; the selector waits for exactly
//! those directions of a descriptor for which there are jobs; an error or hang-up makes both ready. A GC handle keeps a
//! job alive until it is queued. The lock is never held at a safepoint.

mod blocking;
mod parked;

use saki_base::locks::rank;
use saki_reactor::Interest;
use saki_runtime::ExceptionType;
use saki_runtime::exec::invoke;
use saki_runtime::object::exceptions;
use saki_runtime::object::handles;
use saki_runtime::vm::domains;
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, ManagedMethod, Obj, Slot};
use saki_sync::handle_table::{Handle, HandleKind};
use saki_sync::word_locks::Mutex;
use saki_thread::child_locks;
use saki_types::LibraryType;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

static OPERATION: ManagedField = ManagedField::new(LibraryType::IOSelectorJob, "operation");
static QUEUE: ManagedMethod = ManagedMethod::new(LibraryType::ThreadPool, "UnsafeQueueCustomWorkItem", 2);

/// `IOOperation`.
const READ: i32 = 1;
const WRITE: i32 = 2;

/// The name of the selector's threads.
const NAME: &str = "Thread Pool I/O Selector";

/// Starts a thread of the selector, unless a caller has set `is_started`, which the caller that starts it sets. Relaxed:
/// a caller that finds it set needs no other memory of that caller.
///
/// # Errors
/// The error number of the system, when it has no room for another thread.
fn start_once(is_started: &AtomicBool, start: impl FnOnce() -> io::Result<()>) -> Result<(), i32> {
    if is_started.load(Ordering::Relaxed) || is_started.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    start().map_err(|error| {
        is_started.store(false, Ordering::Relaxed);
        error.raw_os_error().unwrap_or(libc::EAGAIN)
    })
}

/// The jobs of one descriptor.
#[derive(Default)]
struct Jobs {
    reads: VecDeque<Handle>,
    writes: VecDeque<Handle>,
}

impl Jobs {
    fn of(&mut self, interest: Interest) -> &mut VecDeque<Handle> {
        match interest {
            Interest::Read => &mut self.reads,
            Interest::Write => &mut self.writes,
        }
    }

    fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }
}

/// The jobs by descriptor; no entry is empty.
static JOBS: LazyLock<Mutex<rank::SelectorJobs, HashMap<i32, Jobs>>> = LazyLock::new(Mutex::default);

/// Takes all jobs of a descriptor, reads first.
fn take_all(fd: i32) -> Vec<Handle> {
    JOBS.lock().remove(&fd).map_or_else(Vec::new, |jobs| jobs.reads.into_iter().chain(jobs.writes).collect())
}

/// Adds a job. False when the descriptor need not or cannot be waited for (a regular file is always ready).
///
/// # Errors
/// The errno value when the system refuses a thread or descriptor that is needed for waiting.
fn wait_for(fd: i32, interest: Interest, job: Handle) -> Result<bool, i32> {
    if saki_reactor::waits_park() { parked::add(fd, interest, job) } else { blocking::add(fd, interest, job) }
}

/// Gives a job to the thread pool.
fn queue(t: CurrentThread, job: Obj) -> Managed<()> {
    invoke::invoke(t, QUEUE.method(t)?, &[Slot::from_ref(job), Slot::from_bool(false)]).map(|_| ())
}

fn queue_handle(t: CurrentThread, handle: Handle) -> Managed<()> {
    // Stale if the job's domain was unloaded, which freed the handle.
    let Ok(job) = Obj::of_handle(t, handle) else { return Ok(()) };
    // The handle was not stale just now, so freeing it does not fail.
    let _ = handles::free(t, handle);
    let Some(job) = job else { return Ok(()) };
    domains::run_in(t, domains::of_universe(job.ty().universe()), || queue(t, job))
}

fn queue_all(t: CurrentThread, ready: Vec<Handle>) -> Managed<()> {
    ready.into_iter().try_for_each(|handle| queue_handle(t, handle))
}

/// Queues these handles on a thread of the selector: an exception, which nothing would catch, ends the process.
fn queue_or_end(t: CurrentThread, ready: Vec<Handle>) {
    if queue_all(t, ready).is_err() {
        saki_runtime::vm::threads::end_by_exception(t);
    }
}

/// Before a fork: the poller notes nothing.
pub fn hold_for_fork() {
    parked::hold_for_fork();
}

/// In the parent.
pub fn release_after_fork() {
    parked::release_after_fork();
}

/// In a forked child, which has no selector: it starts one at its first asynchronous operation. Those of its parent end
/// there only.
pub fn begin_child() {
    child_locks::revive(&JOBS);
    JOBS.lock().clear();
    parked::begin_child();
    blocking::begin_child();
}

/// Runs all jobs of a descriptor, which is about to be closed: they find it closed.
///
/// # Errors
/// OutOfMemoryException.
pub fn remove_descriptor(t: CurrentThread, fd: i32) -> Managed<()> {
    let jobs = take_all(fd);
    if !jobs.is_empty() && !saki_reactor::waits_park() {
        blocking::forget(fd);
    }
    queue_all(t, jobs)
}

fn system_error(t: CurrentThread, errno: i32) -> exceptions::Thrown {
    let message = format!("The system's event queue cannot be made (errno {errno}).");
    exceptions::throw(t, ExceptionType::InvalidOperation, &message)
}

fn add(t: CurrentThread, fd: usize, job: Option<Obj>) -> Managed<()> {
    let job = crate::arguments::non_null(t, job, "job")?;
    let interest = match OPERATION.get::<i32>(job) {
        READ => Interest::Read,
        WRITE => Interest::Write,
        _ => return Err(crate::arguments::argument_error(t, "The operation is neither reading nor writing.")),
    };
    let handle = handles::allocate(t, HandleKind::Normal, job).ok_or_else(|| exceptions::out_of_memory(t))?;
    match wait_for(fd as i32, interest, handle) {
        Ok(true) => Ok(()),
        Ok(false) => queue_handle(t, handle),
        Err(errno) => {
            // A handle of ours is not stale.
            let _ = handles::free(t, handle);
            Err(system_error(t, errno))
        }
    }
}

fn remove(t: CurrentThread, fd: usize) -> Managed<()> {
    remove_descriptor(t, fd as i32)
}

/// The internal calls of `System.IOSelector`.
pub const TABLE: &[InternalCall] =
    &[InternalCall::new("System.IOSelector::Add", &add), InternalCall::new("System.IOSelector::Remove", &remove)];

//! System.IOSelector (System.dll): runs jobs on the thread pool when their descriptor becomes ready.
//!
//! Invariants: jobs are one-shot and, per descriptor and direction, first in first out; a descriptor is armed (EPOLLONESHOT)
//! exactly for the directions it has jobs for; an error or hang-up readies both. A job lives in a GC handle until it is
//! queued. The lock is never held at a safepoint. Left out: waiting without a thread of its own.

use parking_lot::Mutex;
use saki_abi::ObjRef;
use saki_runtime::exceptions::{self, ToManaged};
use saki_runtime::{InternalCall, Managed, ManagedField, Slot, Thread, domains, handles, invoke, object};
use saki_sync::handle_table::{Handle, HandleKind};
use saki_thread::{ManagedThread, ThreadKind};
use saki_types::universe;
use std::collections::{HashMap, VecDeque};
use std::sync::LazyLock;

static OPERATION: ManagedField = ManagedField::of("System", "System", "IOSelectorJob", "operation");

/// `IOOperation`.
const READ: i32 = 1;
const WRITE: i32 = 2;

const MAX_EVENTS: usize = 128;

/// The jobs of one descriptor.
#[derive(Default)]
struct Jobs {
    reads: VecDeque<Handle>,
    writes: VecDeque<Handle>,
}

impl Jobs {
    /// What to ask epoll for; 0 = nothing.
    fn events(&self) -> u32 {
        let mut events = 0;
        if !self.reads.is_empty() {
            events |= libc::EPOLLIN;
        }
        if !self.writes.is_empty() {
            events |= libc::EPOLLOUT;
        }
        events as u32
    }
}

struct Selector {
    /// -1 until the first job.
    epoll: i32,
    jobs: HashMap<i32, Jobs>,
}

static SELECTOR: LazyLock<Mutex<Selector>> = LazyLock::new(|| Mutex::new(Selector { epoll: -1, jobs: HashMap::new() }));

fn control(epoll: i32, operation: i32, fd: i32, events: u32) -> Result<(), i32> {
    let mut event = libc::epoll_event { events: events | libc::EPOLLONESHOT as u32, u64: fd as u64 };
    // SAFETY: an open epoll descriptor and an event to copy from.
    match unsafe { libc::epoll_ctl(epoll, operation, fd, &mut event) } {
        0 => Ok(()),
        _ => Err(crate::io::errors::errno()),
    }
}

impl Selector {
    /// Whether this is the first use; then the caller starts the thread.
    fn open(&mut self) -> Result<bool, i32> {
        if self.epoll != -1 {
            return Ok(false);
        }
        // SAFETY: makes a descriptor.
        self.epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if self.epoll == -1 { Err(crate::io::errors::errno()) } else { Ok(true) }
    }

    /// Adds a job; false when the descriptor cannot be waited for (a regular file is always ready).
    fn add(&mut self, fd: i32, operation: i32, job: Handle) -> bool {
        let is_new = !self.jobs.contains_key(&fd);
        let jobs = self.jobs.entry(fd).or_default();
        match operation {
            READ => jobs.reads.push_back(job),
            _ => jobs.writes.push_back(job),
        }
        let events = jobs.events();
        let mut armed = control(self.epoll, libc::EPOLL_CTL_MOD, fd, events);
        if armed == Err(libc::ENOENT) {
            armed = control(self.epoll, libc::EPOLL_CTL_ADD, fd, events);
        }
        if armed.is_ok() {
            return true;
        }
        if is_new {
            self.jobs.remove(&fd);
        } else if let Some(jobs) = self.jobs.get_mut(&fd) {
            match operation {
                READ => jobs.reads.pop_back(),
                _ => jobs.writes.pop_back(),
            };
        }
        false
    }

    /// Takes the jobs that an event makes ready and arms the descriptor for the rest.
    fn ready(&mut self, fd: i32, events: u32, out: &mut Vec<Handle>) {
        let failed = events & (libc::EPOLLERR | libc::EPOLLHUP) as u32 != 0;
        let Some(jobs) = self.jobs.get_mut(&fd) else { return };
        if failed || events & libc::EPOLLIN as u32 != 0 {
            out.extend(jobs.reads.pop_front());
        }
        if failed || events & libc::EPOLLOUT as u32 != 0 {
            out.extend(jobs.writes.pop_front());
        }
        match jobs.events() {
            0 => {
                self.jobs.remove(&fd);
            }
            events => {
                if control(self.epoll, libc::EPOLL_CTL_MOD, fd, events).is_err() {
                    // Closed meanwhile: the jobs find out.
                    out.extend(self.take(fd));
                }
            }
        }
    }

    /// Takes all jobs of a descriptor, reads first.
    fn take(&mut self, fd: i32) -> Vec<Handle> {
        let Some(jobs) = self.jobs.remove(&fd) else { return Vec::new() };
        // It may be closed already, which removed it.
        let _ = control(self.epoll, libc::EPOLL_CTL_DEL, fd, 0);
        jobs.reads.into_iter().chain(jobs.writes).collect()
    }
}

/// Gives a job to the thread pool.
fn queue(t: Thread, job: ObjRef) -> Managed<()> {
    let pool = universe().corlib_type("System.Threading", "ThreadPool").to_managed(t)?;
    match pool.find_method("UnsafeQueueCustomWorkItem", 2).to_managed(t)? {
        Some(method) => invoke::invoke(t, method, &[Slot::from_ref(job), Slot::from_bool(false)]).map(|_| ()),
        None => Err(exceptions::throw_not_implemented(t, "ThreadPool.UnsafeQueueCustomWorkItem")),
    }
}

fn queue_handle(t: Thread, handle: Handle) -> Managed<()> {
    let job = handles::target(handle).unwrap_or(ObjRef::NULL);
    // A handle of ours is not stale.
    let _ = handles::free(t, handle);
    if job.is_null() {
        // Its domain was unloaded.
        return Ok(());
    }
    domains::run_in(t, domains::of_universe(object::type_of(job).universe()), || queue(t, job))
}

fn queue_all(t: Thread, ready: Vec<Handle>) -> Managed<()> {
    ready.into_iter().try_for_each(|handle| queue_handle(t, handle))
}

/// Waits for events, for ever.
fn select(thread: &'static ManagedThread) {
    // SAFETY: the thread just attached.
    let t = unsafe { Thread::from_abi(thread.abi()) };
    let epoll = SELECTOR.lock().epoll;
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; MAX_EVENTS];
    loop {
        // SAFETY: room for `MAX_EVENTS` events.
        let count = thread.blocking(|| unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), MAX_EVENTS as i32, -1) });
        let mut ready = Vec::new();
        {
            let mut selector = SELECTOR.lock();
            for event in events.iter().take(usize::try_from(count).unwrap_or(0)) {
                selector.ready(event.u64 as i32, event.events, &mut ready);
            }
        }
        if queue_all(t, ready).is_err() {
            saki_runtime::threads::end_by_exception(t);
        }
    }
}

/// Runs all jobs of a descriptor, which is about to be closed: they find it closed.
///
/// # Errors
/// OutOfMemoryException.
pub fn remove_descriptor(t: Thread, fd: i32) -> Managed<()> {
    let jobs = {
        let mut selector = SELECTOR.lock();
        if selector.epoll == -1 { Vec::new() } else { selector.take(fd) }
    };
    queue_all(t, jobs)
}

fn system_error(t: Thread, errno: i32) -> exceptions::Thrown {
    let message = format!("The system's event queue cannot be made (errno {errno}).");
    exceptions::throw(t, "System", "InvalidOperationException", &message)
}

unsafe extern "C" fn add(t: Thread, fd: usize, job: ObjRef) {
    t.run(|| {
        crate::arguments::non_null(t, job, "job")?;
        let operation = OPERATION.get::<i32>(job);
        if !matches!(operation, READ | WRITE) {
            return Err(crate::arguments::argument_error(t, "The operation is neither reading nor writing."));
        }
        let handle = handles::allocate(t, HandleKind::Normal, job).ok_or_else(|| exceptions::out_of_memory(t))?;
        let (opened, is_armed) = {
            let mut selector = SELECTOR.lock();
            let opened = selector.open();
            let is_armed = opened.is_ok() && selector.add(fd as i32, operation, handle);
            (opened, is_armed)
        };
        let is_first = opened.map_err(|errno| system_error(t, errno))?;
        if is_first {
            saki_thread::spawn(ThreadKind::Internal, Some("Thread Pool I/O Selector"), 0, select)
                .map_err(|error| system_error(t, error.raw_os_error().unwrap_or(0)))?;
        }
        if is_armed { Ok(()) } else { queue_handle(t, handle) }
    });
}

unsafe extern "C" fn remove(t: Thread, fd: usize) {
    t.run(|| remove_descriptor(t, fd as i32));
}

pub const TABLE: &[InternalCall] =
    &[("System.IOSelector::Add", add as *const ()), ("System.IOSelector::Remove", remove as *const ())];

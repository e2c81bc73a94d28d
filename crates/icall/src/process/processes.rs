//! The table of process handles, and the thread that notices when processes end.
//!
//! Invariants: a process handle is a waitable object that is signalled once the process has ended and its exit code is
//! stored. A child is waited for exactly once, by the watcher (or by a thread of its own where the system has no
//! process descriptors), also after its handle was closed. The watcher names a process by a number that is never used
//! again, because a closed descriptor's number may belong to another process before an event about the old one is
//! handled; the kernel reports such events as long as a forked process that runs no program yet has a copy of the
//! descriptor. Locks are not held across system calls that block.

use saki_base::locks::rank;
use saki_os::services::{self, Service};
use saki_runtime::exec::waitables::{self, Kind};
use saki_sync::word_locks::Mutex;
use saki_thread::child_locks;
use std::collections::HashMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// `STILL_ACTIVE`.
pub(super) const STILL_ACTIVE: i32 = 259;

/// Between 1601-01-01 and 1970-01-01, in 100 ns.
const EPOCH_DIFFERENCE: i64 = 116_444_736_000_000_000;

/// 100 ns since 1601-01-01, a Win32 FILETIME.
pub(super) fn file_time_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    EPOCH_DIFFERENCE + (since.as_nanos() / 100) as i64
}

/// How a process ended.
#[derive(Clone, Copy)]
pub(super) struct ProcessExit {
    pub(super) exit_code: i32,
    pub(super) time: i64,
}

/// A process for which managed code has a handle.
pub(super) struct KnownProcess {
    pub(super) pid: i32,
    pub(super) is_child: bool,
    /// The name that managed code shows.
    pub(super) name: String,
    pub(super) start_time: i64,
    end: Mutex<rank::ProcessResult, Option<ProcessExit>>,
    handle: usize,
    /// The number by which the watcher names the process.
    watch_id: u64,
}

impl KnownProcess {
    pub(super) fn end(&self) -> Option<ProcessExit> {
        *self.end.lock()
    }

    fn set_ended(&self, exit_code: i32) {
        *self.end.lock() = Some(ProcessExit { exit_code, time: file_time_now() });
        // The handle may be closed.
        let _ = waitables::signal(self.handle, 0);
    }
}

/// The processes by their handles.
static PROCESSES: LazyLock<Mutex<rank::Processes, HashMap<usize, Arc<KnownProcess>>>> = LazyLock::new(Mutex::default);
/// The processes that the watcher waits for, by `watch_id`. The thread that removes an entry closes its descriptor.
static WATCHED: LazyLock<Mutex<rank::WatchedProcesses, HashMap<u64, Watched>>> = LazyLock::new(Mutex::default);

struct Watched {
    process: Arc<KnownProcess>,
    /// A process descriptor.
    descriptor: OwnedFd,
}

impl Drop for Watched {
    fn drop(&mut self) {
        let (epoll, descriptor) = (watcher().unwrap_or(-1), self.descriptor.as_raw_fd());
        // Closing alone would not do: copies of the descriptor in forked processes would stay registered.
        // SAFETY: an open descriptor; taking it out reads no event.
        unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_DEL, descriptor, std::ptr::null_mut()) };
    }
}

pub(super) fn lookup(handle: usize) -> Option<Arc<KnownProcess>> {
    PROCESSES.lock().get(&handle).cloned()
}

/// Gives a handle back.
pub(super) fn close(handle: usize) -> bool {
    let known = waitables::close(handle);
    if !waitables::is_open(handle) {
        let removed = PROCESSES.lock().remove(&handle);
        removed.iter().for_each(|process| forget(process));
    }
    known
}

/// Called when the last handle of a process is closed. A child is still waited for.
fn forget(process: &KnownProcess) {
    if !process.is_child {
        let watched = WATCHED.lock().remove(&process.watch_id);
        // The descriptor is closed without holding the lock.
        drop(watched);
    }
}

/// The code that managed code shows for a wait status.
fn exit_code(status: i32) -> i32 {
    if libc::WIFSIGNALED(status) { 128 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) }
}

/// Waits for a child, which has ended already unless this is the fallback without process descriptors.
fn reap(process: &KnownProcess) {
    let mut status = 0;
    loop {
        // SAFETY: a child of ours, waited for only here.
        match unsafe { libc::waitpid(process.pid, &mut status, 0) } {
            -1 if crate::io::errors::errno() == libc::EINTR => {}
            _ if services::machine().is_ending() => return,
            -1 => return process.set_ended(0),
            _ => return process.set_ended(exit_code(status)),
        }
    }
}

/// The descriptor that the watcher waits on; the first use starts the watcher.
fn watcher() -> Option<i32> {
    *WATCHER.lock().get_or_insert_with(|| {
        // SAFETY: makes a descriptor.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        let started = epoll != -1 && services::machine().start(Service::ProcessWatcher, move || watch(epoll)).is_ok();
        started.then_some(epoll)
    })
}

/// The descriptor that the watcher waits on, once there is a watcher or the system has refused one.
static WATCHER: Mutex<rank::ProcessWatcher, Option<Option<i32>>> = Mutex::new(None);
/// The handle of this process, once it was asked for.
static CURRENT: Mutex<rank::CurrentProcess, Option<usize>> = Mutex::new(None);

/// Before a fork: the watcher changes nothing.
pub fn hold_for_fork() {
    child_locks::hold(&WATCHED);
    child_locks::hold(&PROCESSES);
}

/// In the parent.
pub fn release_after_fork() {
    child_locks::release(&PROCESSES);
    child_locks::release(&WATCHED);
}

/// In a forked child: the processes that its parent started are not its own, and end unnoticed.
pub fn begin_child() {
    child_locks::revive(&WATCHED);
    child_locks::revive(&PROCESSES);
    child_locks::revive(&WATCHER);
    child_locks::revive(&CURRENT);
    // Not dropped: that would take the processes out of the parent's watch.
    std::mem::forget(std::mem::take(&mut *WATCHED.lock()));
    *WATCHER.lock() = None;
    *CURRENT.lock() = None;
}

fn watch(epoll: i32) {
    const MAX_EVENTS: usize = 32;
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; MAX_EVENTS];
    loop {
        // SAFETY: room for `MAX_EVENTS` events.
        let count = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), MAX_EVENTS as i32, -1) };
        if services::machine().is_ending() {
            return;
        }
        for event in events.iter().take(usize::try_from(count).unwrap_or(0)) {
            let id = event.u64;
            let Some(watched) = WATCHED.lock().remove(&id) else { continue };
            if watched.process.is_child { reap(&watched.process) } else { watched.process.set_ended(0) }
        }
    }
}

/// A descriptor of a process, close-on-exec.
fn open_descriptor(pid: i32) -> Option<OwnedFd> {
    // SAFETY: makes a descriptor.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) as i32 };
    // SAFETY: just made, so no other code owns it.
    (descriptor != -1).then(|| unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Gives the process to the watcher; false when that is not possible.
fn start_watching(process: &Arc<KnownProcess>) -> bool {
    let Some(epoll) = watcher() else { return false };
    let Some(descriptor) = open_descriptor(process.pid) else { return false };
    let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: process.watch_id };
    // Held until the entry is in the table, so that the watcher finds it even for an event that comes at once.
    let mut watched = WATCHED.lock();
    // SAFETY: open descriptors and an event to copy from.
    if unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, descriptor.as_raw_fd(), &mut event) } != 0 {
        return false;
    }
    watched.insert(process.watch_id, Watched { process: Arc::clone(process), descriptor });
    true
}

/// A new handle for a process.
fn add(pid: i32, is_child: bool, name: String, start_time: i64) -> usize {
    static NEXT_WATCH_ID: AtomicU64 = AtomicU64::new(0);
    let handle = waitables::create_unnamed(Kind::Ending { has_ended: false });
    // Relaxed: only uniqueness matters.
    let watch_id = NEXT_WATCH_ID.fetch_add(1, Ordering::Relaxed);
    let end = Mutex::new(None);
    let process = Arc::new(KnownProcess { pid, is_child, name, start_time, end, handle, watch_id });
    let closed: Vec<_> = {
        let mut processes = PROCESSES.lock();
        processes.insert(handle, Arc::clone(&process));
        processes.extract_if(|handle, _| !waitables::is_open(*handle)).collect()
    };
    closed.iter().for_each(|(_, process)| forget(process));
    let is_other = pid != std::process::id() as i32;
    if !(is_other && start_watching(&process)) && is_child {
        // If the thread cannot be started, the end of the process goes unnoticed; nothing else can be done.
        let _ = services::machine().start(Service::ProcessWatcher, move || reap(&process));
    }
    handle
}

/// A handle for a child that was just started.
pub(super) fn add_child(pid: i32, name: String) -> usize {
    add(pid, true, name, file_time_now())
}

/// The handle of this process.
pub(super) fn current() -> usize {
    *CURRENT.lock().get_or_insert_with(|| {
        let path = saki_runtime::vm::command_line().first().map_or("", |path| path.as_str());
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        add(std::process::id() as i32, false, name, file_time_now())
    })
}

/// A handle for a process by its id: another reference to the existing handle, or a new handle. None when no process
/// has the id.
pub(super) fn open(pid: i32) -> Option<usize> {
    if pid == std::process::id() as i32 {
        let handle = current();
        return waitables::add_reference(handle).then_some(handle);
    }
    let known = PROCESSES.lock().values().find(|process| process.pid == pid && process.end().is_none()).cloned();
    if let Some(process) = known
        && waitables::add_reference(process.handle)
    {
        return Some(process.handle);
    }
    if pid <= 0 || !std::path::Path::new(&format!("/proc/{pid}")).exists() {
        return None;
    }
    Some(add(pid, false, super::information::name_of(pid).unwrap_or_default(), 0))
}

//! Attaching, detaching, and the list of attached threads.
//!
//! Invariant: the list changes only under `STOP_LOCK`; a thread is in it from attach to detach. Structures are
//! reference-counted and reused; a managed id is reused only after `MIN_FREE_IDS` other ids were freed, so that a stale
//! id (in a log, in a lock word of a dying thread) is not soon another thread's. Left out: starting OS threads
//! (`spawn`).

use crate::carrier::{self, Carrier, for_each_carrier};
use crate::child_locks;
use crate::current::{current, set_current};
use crate::exit;
use crate::managed_thread::{ATTACHED, CREATED, DETACHED, ManagedThread, ThreadKind, WaitState, WaitTarget};
use crate::protocol::{RUNNING, SAFE};
use crate::stop::STOP_LOCK;
use saki_base::locks::rank;
use saki_os::clock::Moment;
use saki_os::signal::AlternateStackMemory;
use saki_sync::monitor::BlockEnd;
use saki_sync::thin_lock::MAX_OWNER;
use saki_sync::word_locks::{Mutex, RwLock};
use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

const MIN_FREE_IDS: usize = 512;

static THREADS: RwLock<rank::Threads, Vec<&'static ManagedThread>> = RwLock::new(Vec::new());
static HOOKS: RwLock<rank::ThreadHooks, Vec<&'static ThreadHooks>> = RwLock::new(Vec::new());
static CARRIER_HOOKS: RwLock<rank::CarrierHooks, Vec<&'static CarrierHooks>> = RwLock::new(Vec::new());
static POOL: Mutex<rank::ThreadStructures, Pool> =
    Mutex::new(Pool { next_id: 1, free_ids: VecDeque::new(), structures: Vec::new(), green_structures: Vec::new() });

struct Pool {
    next_id: u32,
    free_ids: VecDeque<u32>,
    structures: Vec<&'static ManagedThread>,
    /// Free structures that have a scheduler's part.
    green_structures: Vec<&'static ManagedThread>,
}

impl Pool {
    fn take_id(&mut self) -> u32 {
        if self.free_ids.len() > MIN_FREE_IDS || self.next_id > MAX_OWNER {
            return self.free_ids.pop_front().unwrap_or_else(|| saki_base::bug!("more than {MAX_OWNER} threads"));
        }
        self.next_id += 1;
        self.next_id - 1
    }
}

/// Callbacks of other layers when threads attach and detach. Unless the field says otherwise, hooks run on the thread
/// itself, with the stop lock held, and may not allocate managed objects, poll, block on a collection, or take a lock
/// that someone holds while stopping the world.
pub struct ThreadHooks {
    /// Before the thread is in the list; it counts as being in a safe region.
    pub attached: fn(&'static ManagedThread),
    /// While the thread is still in the list; it runs no managed code any more.
    pub detaching: fn(&'static ManagedThread),
    /// For each thread that native code ends, or that ends in native code, before it is detached: without the stop
    /// lock, in a safe region.
    pub ended_in_native_code: fn(&'static ManagedThread),
}

/// Callbacks of other layers when carriers attach and detach. Hooks run on the carrier's OS thread, with the stop lock
/// held, under the same rules as `ThreadHooks`.
pub struct CarrierHooks {
    /// Before the carrier is in the list.
    pub attached: fn(&'static Carrier),
    /// While the carrier is still in the list; it runs no managed code any more.
    pub detaching: fn(&'static Carrier),
}

fn take_stop_lock() {
    match current() {
        Some(thread) => thread.blocking_in_place(|| STOP_LOCK.lock()),
        None => STOP_LOCK.lock(),
    }
}

/// Adds hooks for carriers; as `add_hooks`.
pub fn add_carrier_hooks(hooks: &'static CarrierHooks) {
    take_stop_lock();
    CARRIER_HOOKS.write().push(hooks);
    for_each_carrier(|carrier| (hooks.attached)(carrier));
    STOP_LOCK.unlock();
}

/// Adds hooks for threads that attach from now on; threads already attached get `attached` at once, called by the
/// caller. The caller makes sure that no thread runs managed code yet. `detaching` runs in reverse order.
pub fn add_hooks(hooks: &'static ThreadHooks) {
    take_stop_lock();
    HOOKS.write().push(hooks);
    for_each_thread(|thread| (hooks.attached)(thread));
    STOP_LOCK.unlock();
}

/// A counted reference: the structure is not reused while one exists.
#[derive(PartialEq, Eq)]
pub struct ThreadRef(&'static ManagedThread);

impl PartialEq for ManagedThread {
    fn eq(&self, other: &ManagedThread) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for ManagedThread {}

impl std::fmt::Debug for ManagedThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Relaxed, both words: for a message, and perhaps old.
        let state = self.state.load(Ordering::Relaxed);
        write!(f, "thread {} (native {}, {:?}", self.managed_id(), self.native_id(), self.kind())?;
        write!(f, ", state {state}, poll {:#x}", self.poll_word().load(Ordering::Relaxed))?;
        write!(f, ", name {:?})", self.name())
    }
}

impl std::fmt::Debug for ThreadRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl ThreadRef {
    /// A structure for a thread that has not begun.
    pub(crate) fn create(kind: ThreadKind, name: Option<&str>) -> ThreadRef {
        let (thread, id) = {
            let mut pool = POOL.lock();
            let id = pool.take_id();
            (pool.structures.pop(), id)
        };
        ThreadRef::begin(thread, id, kind, name)
    }

    /// A structure for a green thread that has not begun. If it served one before, its parts for the scheduler are used
    /// again with it.
    pub(crate) fn create_green(kind: ThreadKind, name: Option<&str>) -> ThreadRef {
        let (thread, id) = {
            let mut pool = POOL.lock();
            let id = pool.take_id();
            (pool.green_structures.pop(), id)
        };
        ThreadRef::begin(thread, id, kind, name)
    }

    fn begin(thread: Option<&'static ManagedThread>, id: u32, kind: ThreadKind, name: Option<&str>) -> ThreadRef {
        let thread = match thread {
            Some(thread) => {
                thread.reset(id);
                thread
            }
            None => ManagedThread::leak(id),
        };
        // Relaxed: others get a reference to the thread after this.
        thread.kind.store(kind as u32, Ordering::Relaxed);
        thread.set_name(name);
        exit::count_started(kind);
        ThreadRef(thread)
    }

    /// Adds a reference to a thread that has at least one (an attached thread has).
    pub fn to(thread: &'static ManagedThread) -> ThreadRef {
        // Relaxed: the caller's reference keeps the count above 0.
        thread.references.fetch_add(1, Ordering::Relaxed);
        ThreadRef(thread)
    }

    /// Asks the processor for the structure. One that its thread left long ago lies in no cache, and a thread that
    /// begins with it would wait for one line after the other.
    pub fn prefetch(&self) {
        let address = std::ptr::from_ref(self.0).addr();
        saki_os::memory::prefetch_range(address, size_of::<ManagedThread>());
    }

    /// The thread's structure, which is never freed, only reused.
    pub fn as_static(&self) -> &'static ManagedThread {
        self.0
    }

    /// Waits until the thread has ended; `false` when the timeout passed first or the wait was interrupted.
    pub fn join(&self, timeout: Option<Duration>) -> bool {
        self.join_with_end(timeout, false) == BlockEnd::Woken
    }

    /// `Thread.Join`: `Woken` = ended. Interrupted only if `interruptible`.
    pub fn join_with_end(&self, timeout: Option<Duration>, interruptible: bool) -> BlockEnd {
        let Some(me) = current() else {
            return self.join_unattached(timeout);
        };
        // A forked child does not look at the list of a thread that was telling its end: the list may be locked for
        // ever.
        if self.0.is_detached() {
            return BlockEnd::Woken;
        }
        self.0.joiners.lock().push(me);
        let before = me.set_wait_target(WaitTarget::new(std::ptr::from_ref(self.0).addr(), timeout));
        let end = me.wait_until(WaitState::Join, timeout, interruptible, || self.0.is_detached());
        me.set_wait_target(before);
        let mut joiners = self.0.joiners.lock();
        if let Some(place) = joiners.iter().position(|j| std::ptr::eq(*j, me)) {
            joiners.swap_remove(place);
        }
        end
    }

    fn join_unattached(&self, timeout: Option<Duration>) -> BlockEnd {
        let start = Moment::now();
        // SeqCst, here and at the look at the lifecycle: see `tell_end`.
        UNATTACHED_JOINERS.fetch_add(1, Ordering::SeqCst);
        let end = loop {
            let lifecycle = self.0.lifecycle.load(Ordering::SeqCst);
            if lifecycle == DETACHED || self.0.is_detached() {
                break BlockEnd::Woken;
            }
            let rest = timeout.map(|t| t.saturating_sub(start.elapsed()));
            if rest.is_some_and(|rest| rest.is_zero()) {
                break BlockEnd::TimedOut;
            }
            saki_os::futex::wait(&self.0.lifecycle, lifecycle, rest);
        };
        // SeqCst, as the addition, although nothing depends on it here: a count that is still too high costs a wake.
        UNATTACHED_JOINERS.fetch_sub(1, Ordering::SeqCst);
        end
    }
}

impl Clone for ThreadRef {
    fn clone(&self) -> ThreadRef {
        ThreadRef::to(self.0)
    }
}

impl Drop for ThreadRef {
    fn drop(&mut self) {
        // AcqRel: the thread that reuses the structure sees every earlier use.
        if self.0.references.fetch_sub(1, Ordering::AcqRel) == 1 {
            if self.0.lifecycle.load(Ordering::Acquire) == CREATED && self.0.is_of_this_process() {
                exit::count_thread_ended(self.0);
            }
            let mut pool = POOL.lock();
            pool.free_ids.push_back(self.0.managed_id());
            if self.0.is_green() { &mut pool.green_structures } else { &mut pool.structures }.push(self.0);
        }
    }
}

impl Deref for ThreadRef {
    type Target = ManagedThread;
    fn deref(&self) -> &ManagedThread {
        self.0
    }
}

/// OS threads without a managed one that wait for some thread's end, in the kernel.
static UNATTACHED_JOINERS: AtomicU32 = AtomicU32::new(0);

/// Detaches a thread that ends without having done so.
struct DetachAtExit;

impl Drop for DetachAtExit {
    fn drop(&mut self) {
        // The main thread's destructors run when the process exits, perhaps with the world stopped. So do those of a
        // thread that ends the process; threads that wait for it must not go on. Relaxed: this thread set the flag, or
        // another thread that ends the process.
        if IS_PROCESS_ENDING.load(Ordering::Relaxed) {
            return;
        }
        // The scheduler detaches its own.
        if let Some(thread) = current().filter(|t| t.kind() != ThreadKind::Main && !t.is_green()) {
            tell_native_end(thread);
            detach_current();
        }
    }
}

static IS_PROCESS_ENDING: AtomicBool = AtomicBool::new(false);

/// Native code ends the thread, or the thread ends in native code.
pub(crate) fn tell_native_end(thread: &'static ManagedThread) {
    // Copied, since the functions may wait.
    let all = HOOKS.read().clone();
    for hooks in all {
        (hooks.ended_in_native_code)(thread);
    }
}

/// Ends the process with this exit code. The calling thread stays attached.
pub fn end_process(exit_code: i32) -> ! {
    // Relaxed: each thread that ends the process sets it before its own destructors read it.
    IS_PROCESS_ENDING.store(true, Ordering::Relaxed);
    std::process::exit(exit_code)
}

/// Ends the process by SIGABRT, as .NET does after an unhandled exception; the actions of the end of a process run.
pub fn abort_process() -> ! {
    // Relaxed: as above.
    IS_PROCESS_ENDING.store(true, Ordering::Relaxed);
    saki_os::exit_list::abort()
}

thread_local! {
    static DETACH_AT_EXIT: DetachAtExit = const { DetachAtExit };
}

/// Whether the calling OS thread may still become a managed one. Not once its thread-local storage is gone: in what the
/// end of the thread runs after that, or the end of the process on its first thread.
pub fn may_attach() -> bool {
    DETACH_AT_EXIT.try_with(|_| {}).is_ok()
}

/// Makes the calling OS thread a managed thread in state RUNNING; waits while the world is stopped. Returns the present
/// one if it is attached already. A thread that ends attached is detached.
pub fn attach_current(kind: ThreadKind) -> &'static ManagedThread {
    match try_attach_current(kind) {
        Ok(thread) => thread,
        Err(error) => saki_base::bug!("no alternate signal stack: {error}"),
    }
}

/// Makes the calling OS thread, which a host has started, a managed thread; see `attach_current`. What only managed
/// code needs is made when the thread first runs some (`ManagedThread::get_ready`).
pub fn attach_foreign(kind: ThreadKind) -> &'static ManagedThread {
    match current().map_or_else(|| attach_unready(kind), Ok) {
        Ok(thread) => thread,
        Err(error) => saki_base::bug!("no alternate signal stack: {error}"),
    }
}

/// Makes the calling OS thread a managed thread; see `attach_current`.
///
/// # Errors
/// The system's, when it has no memory for the thread's alternate signal stack.
pub fn try_attach_current(kind: ThreadKind) -> std::io::Result<&'static ManagedThread> {
    if let Some(thread) = current() {
        return Ok(thread);
    }
    let thread = attach_unready(kind)?;
    thread.get_ready();
    Ok(thread)
}

fn attach_unready(kind: ThreadKind) -> std::io::Result<&'static ManagedThread> {
    // A thread that the machine starts does not wait for a restart, which may have started it and may wait for it.
    saki_os::fork::restart_if_child();
    let name = std::thread::current().name().map(str::to_owned);
    let memory = AlternateStackMemory::map()?;
    let thread = ThreadRef::create(kind, name.as_deref());
    // Relaxed: others get a reference to the thread after this.
    thread.is_foreign.store(true, Ordering::Relaxed);
    Ok(attach_as(&thread, memory))
}

/// Attaches the calling OS thread as the given, not yet started thread, which is not ready for managed code yet.
pub(crate) fn attach_as(thread: &ThreadRef, alternate_stack: AlternateStackMemory) -> &'static ManagedThread {
    saki_os::membarrier::initialise();
    // The list's own reference, dropped by `detach_current`.
    let thread: &'static ManagedThread = std::mem::ManuallyDrop::new(thread.clone()).0;
    let bounds = match saki_os::thread::stack_bounds() {
        Ok(bounds) => bounds,
        Err(error) => saki_base::bug!("the bounds of the stack are unknown: {error}"),
    };
    thread.set_stack(&bounds);
    let carrier = Carrier::of_this_os_thread(alternate_stack);
    thread.stack_reserve.note_bounds(&bounds);
    // Relaxed: the thread's own.
    thread.is_ready.store(false, Ordering::Relaxed);
    STOP_LOCK.lock();
    attach_carrier(carrier);
    carrier.set_current(Some(thread));
    carrier.unstow(thread);
    set_current(Some(thread));
    for hooks in HOOKS.read().iter() {
        (hooks.attached)(thread);
    }
    // Release: who sees RUNNING sees the thread set up. Stoppers are kept out by the stop lock.
    thread.state.store(RUNNING, Ordering::Release);
    list(thread);
    STOP_LOCK.unlock();
    DETACH_AT_EXIT.with(|_| {});
    thread
}

/// The stop lock is held; the carrier's OS thread calls.
fn attach_carrier(carrier: &'static Carrier) {
    for hooks in CARRIER_HOOKS.read().iter() {
        (hooks.attached)(carrier);
    }
    carrier.enlist();
}

/// The stop lock is held; the carrier's OS thread calls, and runs nothing.
fn detach_carrier(carrier: &'static Carrier) {
    for hooks in CARRIER_HOOKS.read().iter().rev() {
        (hooks.detaching)(carrier);
    }
    carrier.delist();
}

/// See `scheduling`.
pub(crate) fn attach_scheduler_carrier(alternate_stack: AlternateStackMemory) -> &'static Carrier {
    let carrier = Carrier::of_this_os_thread(alternate_stack);
    carrier.install_signal_stack();
    STOP_LOCK.lock();
    attach_carrier(carrier);
    STOP_LOCK.unlock();
    carrier
}

/// See `scheduling`.
pub(crate) fn detach_scheduler_carrier(carrier: &'static Carrier) {
    STOP_LOCK.lock();
    detach_carrier(carrier);
    STOP_LOCK.unlock();
    carrier.release();
}

/// A green thread, RUNNING on a carrier, begins. As it runs, no stop is under way.
pub(crate) fn attach_green(thread: &'static ManagedThread) {
    for hooks in HOOKS.read().iter() {
        (hooks.attached)(thread);
    }
    list(thread);
}

/// A green thread, RUNNING on a carrier, runs no managed code any more.
pub(crate) fn detach_green(thread: &'static ManagedThread) {
    for hooks in HOOKS.read().iter().rev() {
        (hooks.detaching)(thread);
    }
    unlist(thread);
    thread.free_static_blocks();
}

/// A green thread that ended inside native code, and has no carrier any more, runs no managed code any more.
pub(crate) fn detach_ended_green(thread: &'static ManagedThread) {
    STOP_LOCK.lock();
    thread.forget_carrier();
    detach_green(thread);
    thread.stack_reserve.take_down();
    // Relaxed: the stack of a thread that is in no list is not scanned.
    thread.published_sp.store(0, Ordering::Relaxed);
    STOP_LOCK.unlock();
}

/// Before a fork, with the world stopped: threads that are not stopped, carriers without one among them, hold none of
/// these locks.
pub(crate) fn hold_locks() {
    child_locks::hold(&POOL);
    carrier::hold_records();
}

/// In the parent.
pub(crate) fn release_locks() {
    carrier::release_records();
    child_locks::release(&POOL);
}

/// In a forked child, with the stop lock held: the threads but `me` end, and their carriers.
pub(crate) fn keep_only(me: Option<&'static ManagedThread>) {
    child_locks::revive(&POOL);
    child_locks::revive_list(&THREADS);
    child_locks::revive_list(&HOOKS);
    child_locks::revive_list(&CARRIER_HOOKS);
    // Relaxed, all of these: the child has one thread.
    UNATTACHED_JOINERS.store(0, Ordering::Relaxed);
    // Another thread of the parent may have been ending that process.
    IS_PROCESS_ENDING.store(false, Ordering::Relaxed);
    let all = std::mem::take(&mut *THREADS.write());
    let (kept, gone): (Vec<_>, Vec<_>) = all.into_iter().partition(|thread| me.is_some_and(|me| me == *thread));
    if let Some(me) = me {
        // Relaxed: the child has one thread.
        me.registry_index.store(0, Ordering::Relaxed);
        me.join_this_process();
        me.forget_joiners();
    }
    *THREADS.write() = kept;
    for thread in &gone {
        thread.forget_joiners();
        thread.node.parker.forget_owner();
        for hooks in HOOKS.read().iter().rev() {
            (hooks.detaching)(thread);
        }
        thread.free_static_blocks();
        if !thread.is_green() {
            // The C library gives the stack to a thread that the child starts.
            thread.stack_reserve.take_down();
        }
    }
    carrier::keep_only(me.and_then(ManagedThread::carrier), |carrier| {
        for hooks in CARRIER_HOOKS.read().iter().rev() {
            (hooks.detaching)(carrier);
        }
    });
    for thread in gone {
        // Relaxed: the child has one thread. Release below, as at other ends.
        thread.state.store(SAFE, Ordering::Relaxed);
        thread.published_sp.store(0, Ordering::Relaxed);
        // The structure is not used again: locks may know the thread as their owner, or queues as waiting.
        thread.lifecycle.store(DETACHED, Ordering::Release);
    }
    exit::count_as_child(me.is_some_and(|me| me.kind() == ThreadKind::Foreground));
}

/// Puts a thread into the list.
fn list(thread: &'static ManagedThread) {
    // Release: pairs with the Acquire of threads that wait for the beginning: the thread is set up.
    thread.lifecycle.store(ATTACHED, Ordering::Release);
    let mut threads = THREADS.write();
    thread.registry_index.store(threads.len(), Ordering::Relaxed);
    threads.push(thread);
}

/// Takes a thread out of the list.
fn unlist(thread: &'static ManagedThread) {
    let mut threads = THREADS.write();
    // Relaxed: changes under the list's lock.
    let index = thread.registry_index.load(Ordering::Relaxed);
    threads.swap_remove(index);
    if let Some(moved) = threads.get(index) {
        moved.registry_index.store(index, Ordering::Relaxed);
    }
}

/// Ends the calling OS thread's managed thread; does nothing when there is none. The thread holds no reference to a
/// managed object any more.
pub fn detach_current() {
    let Some(thread) = current() else { return };
    if !thread.is_in_safe_region() {
        // No frame of this thread holds references any more, so nothing of the stack is to be scanned.
        thread.publish_and_enter(0);
    }
    STOP_LOCK.lock();
    for hooks in HOOKS.read().iter().rev() {
        (hooks.detaching)(thread);
    }
    unlist(thread);
    thread.free_static_blocks();
    thread.stack_reserve.take_down();
    set_current(None);
    let carrier = thread.carrier();
    if let Some(carrier) = carrier {
        carrier.stow(thread);
        carrier.set_current(None);
        detach_carrier(carrier);
    }
    // Release: who sees SAFE sees what the thread wrote. Stoppers are kept out by the stop lock.
    thread.state.store(SAFE, Ordering::Release);
    STOP_LOCK.unlock();
    if let Some(carrier) = carrier {
        carrier.release();
    }
    tell_end(thread);
}

/// The thread has ended and is in no list: threads that wait for it go on, and its own reference is dropped.
pub(crate) fn tell_end(thread: &'static ManagedThread) {
    // Release: a thread that sees the end sees all writes of this one. SeqCst: a joiner sees the end, or its count is
    // seen here.
    thread.lifecycle.store(DETACHED, Ordering::SeqCst);
    if UNATTACHED_JOINERS.load(Ordering::SeqCst) != 0 {
        saki_os::futex::wake_all(&thread.lifecycle);
    }
    for joiner in thread.joiners.lock().iter() {
        joiner.unpark();
    }
    exit::count_thread_ended(thread);
    drop(ThreadRef(thread));
}

/// Calls `visit` for every attached thread. `visit` does not block, poll, attach or detach.
pub fn for_each_thread(mut visit: impl FnMut(&'static ManagedThread)) {
    THREADS.read_recursive().iter().for_each(|thread| visit(thread));
}

/// Attached threads.
pub fn thread_count() -> usize {
    THREADS.read_recursive().len()
}

/// The attached thread with a managed id.
pub fn find_thread(managed_id: u32) -> Option<ThreadRef> {
    let threads = THREADS.read_recursive();
    threads.iter().find(|t| t.managed_id() == managed_id).map(|t| ThreadRef::to(t))
}

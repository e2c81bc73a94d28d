//! The functions of System.Threading.Monitor: `saki_sync`'s object locks with the process's monitor table.
//!
//! A thread that waits for a lock or a pulse is woken by Interrupt and Abort; aborts that have to wait (finally blocks) let
//! it wait on. Monitors that no thread uses go back to thin locks at collections. Invariant: there is no safepoint between reading a
//! sync word and being counted by its monitor (see `sync::object_lock`).

use crate::events::{LockWait, LogEvents, is_logged};
use crate::exception_types::ExceptionType;
use crate::exceptions::{self, Thrown};
use crate::host_events::{self, HostEvent, tell_if_wanted};
use crate::references::Obj;
use crate::runtime_events::{self, EventKeyword, EventOrigin, EventPayload, RuntimeEventType};
use crate::thread::{CurrentThread, Managed};
use crate::upcalls::upcalls;
use crate::waits;
use crate::{thread_aborts, thread_data};
use saki_abi::{ObjRef, Object};
use saki_gc::WeakFate;
use saki_profile::mlpd::event::monitor;
use saki_sampler::events::{self, EventKind};
use saki_sync::monitor::{BlockEnd, Blocker, EnterEnd, Monitor, MonitorNode, WaitOutcome};
use saki_sync::monitor_table::MonitorTable;
use saki_sync::object_lock::ObjectLock;
use saki_sync::thin_lock::{MAX_HASH, ThinLockWord};
use saki_thread::{ManagedThread, WaitState, WaitTarget};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

static MONITORS: MonitorTable = MonitorTable::new();

/// Reserves address space for monitors, before there are threads. False if there is none.
pub(crate) fn has_room() -> bool {
    MONITORS.has_room()
}

/// Gives a thread that has just attached the table's address, because its compiled code takes free monitors itself.
pub(crate) fn bind_thread(thread: &ManagedThread) {
    // SAFETY: only the thread itself accesses the field, and it is the current one.
    unsafe { (*thread.abi()).monitor_entries = MONITORS.entries_address() };
}

/// In a forked child, which does not have the threads that wait for locks.
pub(crate) fn forget_waiters() {
    MONITORS.forget_waiters();
}

fn lock_of(object: Obj<'_>) -> ObjectLock<'_> {
    ObjectLock { word: ThinLockWord::of(object.sync()), object: object.address(), table: &MONITORS }
}

fn non_null<'t>(t: CurrentThread, object: Option<Obj<'t>>) -> Managed<Obj<'t>> {
    object.ok_or_else(|| match saki_types::universe().profile().lock_parameter {
        Some(parameter) => exceptions::throw_argument_null(t, parameter),
        None => exceptions::throw_default(t, ExceptionType::ArgumentNull),
    })
}

/// How often a thread had to wait for a lock. No decision depends on it: Relaxed.
static CONTENTION_COUNT: AtomicU64 = AtomicU64::new(0);

/// How often a thread had to wait for a lock (`Monitor.LockContentionCount`).
pub fn contention_count() -> u64 {
    CONTENTION_COUNT.load(Ordering::Relaxed)
}

const CONTENTION_START: RuntimeEventType = RuntimeEventType::new(81, EventKeyword::CONTENTION);
const CONTENTION_STOP: RuntimeEventType = RuntimeEventType::new(91, EventKeyword::CONTENTION);
/// `ContentionFlags`: not a lock of the runtime's own.
const MANAGED_LOCK: u8 = 0;

/// The current thread in the role of `sync`'s `Blocker`: only requests that may be served now end its waits.
struct Waiter<'t> {
    t: CurrentThread<'t>,
    object: Obj<'t>,
    /// The state of the lock when the thread first had to wait, if locks are profiled.
    wait: Cell<Option<LockWait>>,
    /// Whether the log was told that this thread has to wait.
    is_contended: Cell<bool>,
    /// Whether the wait is counted.
    is_counted: Cell<bool>,
    /// When EventListener was told that the wait began; 0 if it was not.
    told_ns: Cell<u64>,
}

impl<'t> Waiter<'t> {
    fn new(t: CurrentThread<'t>, object: Obj<'t>) -> Waiter<'t> {
        let (wait, is_contended, is_counted) = (Cell::new(None), Cell::new(false), Cell::new(false));
        Waiter { t, object, wait, is_contended, is_counted, told_ns: Cell::new(0) }
    }

    /// The managed id of the lock's owner, 0 = not known, and how many threads wait for the lock.
    fn holder(&self) -> (u32, u32) {
        let lock = lock_of(self.object);
        let owner = Some(lock.owner()).filter(|owner| *owner != self.t.id());
        (owner.unwrap_or(0), lock.waiters() as u32)
    }

    /// The record of the wait that begins, if locks are profiled.
    #[inline]
    fn begin_wait(&self) -> Option<LockWait> {
        events::is_on(EventKind::LockWait).then(|| {
            let (owner, waiters) = self.holder();
            LockWait { began_ns: saki_os::clock::monotonic_ns(), owner, waiters }
        })
    }

    /// Tells EventListener that the thread has to wait. The system's id of the owner's thread is not known.
    #[cold]
    fn tell_start(&self) {
        const UNKNOWN_OWNER: u64 = 0;
        let origin = EventOrigin::here(thread_data::of(self.t).activity_id().get());
        self.told_ns.set(origin.time_ns);
        let address = (self.object.address() as u64).to_le_bytes();
        let payload = EventPayload::default().with([MANAGED_LOCK]).with_instance().with(address).with(address);
        runtime_events::post(CONTENTION_START, origin, payload.with(UNKNOWN_OWNER.to_le_bytes()));
    }

    /// Tells EventListener that the wait is over, if it knows that it began.
    #[inline]
    fn tell_stop(&self) {
        if self.told_ns.get() != 0 {
            let origin = EventOrigin::here(thread_data::of(self.t).activity_id().get());
            let duration_ns = (origin.time_ns - self.told_ns.get()) as f64;
            let payload = EventPayload::default().with([MANAGED_LOCK]).with_instance().with(duration_ns.to_le_bytes());
            runtime_events::post(CONTENTION_STOP, origin, payload);
        }
    }

    /// Notes that another thread has the lock.
    fn note_contention(&self) {
        let is_awaited = is_logged(LogEvents::MONITOR) || host_events::are_any_wanted();
        if is_awaited && !self.is_contended.replace(true) {
            if is_logged(LogEvents::MONITOR) {
                upcalls().lock_contended(self.t, self.object, monitor::CONTENTION);
            }
            tell_if_wanted(HostEvent::LockContended(self.object));
        }
    }
}

impl Blocker for Waiter<'_> {
    #[inline]
    fn managed_id(&self) -> u32 {
        self.t.id()
    }

    fn node(&self) -> &'static MonitorNode {
        self.t.managed().monitor_node()
    }

    fn block(&self, timeout: Option<Duration>, interruptible: bool) -> BlockEnd {
        let thread = self.t.managed();
        self.note_contention();
        if !self.is_counted.replace(true) {
            CONTENTION_COUNT.fetch_add(1, Ordering::Relaxed);
            if CONTENTION_START.is_wanted() {
                self.tell_start();
            }
        }
        if self.wait.get().is_none() {
            self.wait.set(self.begin_wait());
        }
        if interruptible && thread_aborts::ends_waits(self.t) {
            return BlockEnd::Interrupted;
        }
        // A request that has to wait would end every wait at once.
        let listens = interruptible && thread.pending_requests() == 0;
        // This frame has the object's address, so the object does not move meanwhile.
        let target_before = thread.set_wait_target(WaitTarget::new(self.object.address(), timeout));
        let before = thread.set_wait_state(WaitState::Monitor);
        let end = thread.block(timeout, listens);
        thread.set_wait_state(before);
        thread.set_wait_target(target_before);
        match end {
            // The caller checks its condition and goes on waiting.
            BlockEnd::Interrupted if !thread_aborts::ends_waits(self.t) => BlockEnd::Woken,
            end => end,
        }
    }
}

/// Takes the lock; waits at most `milliseconds` (negative = for ever). Whether the lock was taken.
///
/// # Errors
/// ArgumentNullException; ThreadInterruptedException, ThreadAbortException.
pub fn try_enter<'t>(t: CurrentThread<'t>, object: Option<Obj<'t>>, milliseconds: i32) -> Managed<bool> {
    let object = non_null(t, object)?;
    let waiter = Waiter::new(t, object);
    let end = lock_of(object).enter(&waiter, waits::timeout(milliseconds));
    if let Some(wait) = waiter.wait.get() {
        upcalls().lock_wait_ended(t, object, wait);
    }
    waiter.tell_stop();
    if end == EnterEnd::TimedOut {
        waiter.note_contention();
    }
    if waiter.is_contended.get() {
        let is_entered = end == EnterEnd::Entered;
        if is_logged(LogEvents::MONITOR) {
            upcalls().lock_contended(t, object, if is_entered { monitor::ACQUIRED } else { monitor::FAILED });
        }
        tell_if_wanted(if is_entered { HostEvent::LockAcquired(object) } else { HostEvent::LockFailed(object) });
    }
    match end {
        EnterEnd::Entered => Ok(true),
        EnterEnd::TimedOut => Ok(false),
        EnterEnd::Interrupted => Err(thread_aborts::throw_requested(t)),
    }
}

fn not_owner(t: CurrentThread) -> Thrown {
    exceptions::throw(
        t,
        ExceptionType::SynchronizationLock,
        "Object synchronization method was called from an unsynchronized block of code.",
    )
}

/// # Errors
/// ArgumentNullException, SynchronizationLockException.
pub fn exit(t: CurrentThread, object: Option<Obj>) -> Managed<()> {
    lock_of(non_null(t, object)?).exit(t.id()).map_err(|_| not_owner(t))
}

/// Releases the lock, waits for a pulse, takes the lock again. False if the time was over first.
///
/// # Errors
/// ArgumentNullException, SynchronizationLockException, ThreadInterruptedException, ThreadAbortException.
pub fn wait<'t>(t: CurrentThread<'t>, object: Option<Obj<'t>>, milliseconds: i32) -> Managed<bool> {
    let object = non_null(t, object)?;
    let lock = lock_of(object);
    if lock.owner() == t.id() && thread_aborts::ends_waits(t) {
        return Err(thread_aborts::throw_requested(t));
    }
    let waiter = Waiter::new(t, object);
    // Waiting for a pulse is no contention.
    waiter.is_counted.set(true);
    match lock.wait(&waiter, waits::timeout(milliseconds)) {
        Ok(WaitOutcome::TimedOut) => Ok(false),
        Ok(WaitOutcome::Interrupted) => Err(thread_aborts::throw_requested(t)),
        Ok(WaitOutcome::Pulsed) => Ok(true),
        Err(_) => Err(not_owner(t)),
    }
}

/// # Errors
/// ArgumentNullException, SynchronizationLockException.
pub fn pulse(t: CurrentThread, object: Option<Obj>, all: bool) -> Managed<()> {
    let lock = lock_of(non_null(t, object)?);
    let outcome = if all { lock.pulse_all(t.id()) } else { lock.pulse(t.id()) };
    outcome.map_err(|_| not_owner(t))
}

/// Managed id of the owner, 0 = not held.
pub fn owner(object: Obj) -> u32 {
    lock_of(object).owner()
}

pub fn enter_helper<'t>(t: CurrentThread<'t>, object: Option<Obj<'t>>) -> Managed<()> {
    match object {
        Some(object) if lock_of(object).try_enter(t.id()) => Ok(()),
        _ => try_enter(t, object, -1).map(|_| ()),
    }
}

pub fn try_enter_helper<'t>(t: CurrentThread<'t>, object: Option<Obj<'t>>, milliseconds: i32) -> Managed<i32> {
    match object {
        Some(object) if lock_of(object).try_enter(t.id()) => Ok(1),
        _ => try_enter(t, object, milliseconds).map(i32::from),
    }
}

pub fn wake_helper(_: CurrentThread, monitor: &'static Monitor) {
    monitor.wake_after_exit();
}

/// `RuntimeHelpers.GetHashCode`: stable for the object's life, kept in the sync word or its monitor.
pub fn hash_code(object: Obj) -> i32 {
    let word = lock_of(object).word;
    if let Some(hash) = word.hash() {
        return hash as i32;
    }
    word.install_hash(next_hash()) as i32
}

/// The count of numbers that a thread takes at once, so that threads do not contend for one word.
const HASHES_AT_ONCE: u32 = 4096;

/// A Weyl sequence: well spread, cheap, different for objects hashed one after the other. Positive, as Mono's are.
#[inline(never)]
fn next_hash() -> u32 {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    thread_local! {
        /// Index of the next number.
        static NEXT: Cell<u32> = const { Cell::new(0) };
    }
    let mut index = NEXT.get();
    if index.is_multiple_of(HASHES_AT_ONCE) {
        // Relaxed: any distinct numbers will do.
        index = TAKEN.fetch_add(HASHES_AT_ONCE, Ordering::Relaxed);
    }
    NEXT.set(index.wrapping_add(1));
    let mixed = index.wrapping_mul(0x9e37_79b9).wrapping_add(0x1234_5677).wrapping_mul(0x85eb_ca6b);
    ((mixed ^ (mixed >> 15)) & MAX_HASH).max(1)
}

/// Called by the collector with the world stopped: forgets monitors of dead objects, updates those of moved objects,
/// turns idle monitors into thin locks again.
pub fn update_weak(fate_of: &mut dyn FnMut(ObjRef) -> WeakFate) {
    let mut unused = Vec::new();
    MONITORS.for_each(|index, entry| {
        // Relaxed: the world is stopped.
        let address = entry.object.load(Ordering::Relaxed);
        match fate_of(ObjRef(address as *mut Object)) {
            WeakFate::Alive(object) => {
                entry.object.store(object.address(), Ordering::Relaxed);
                // SAFETY: the collector says that the object lives, and where.
                let lock = lock_of(unsafe { Obj::known(object) });
                let is_unused = entry.monitor.is_retired() || (entry.monitor.is_idle() && lock.word.deflate(index));
                if is_unused {
                    unused.push(index);
                }
            }
            WeakFate::Dead => unused.push(index),
        }
    });
    for index in unused {
        MONITORS.free(index);
    }
    MONITORS.forget_retired();
}

/// Monitors in use: objects whose lock is or was contended since the last collection.
pub fn inflated_count() -> usize {
    MONITORS.in_use()
}

//! System.Threading.Thread objects and the managed threads behind them: making, starting, ending.
//!
//! An `InternalThread` object's `handle` is a counted reference to its `ManagedThread` (null before it starts), released by the object's
//! finalizer. An object is registered for finalization only when it holds something to release. Collections release it in place of the
//! finalizer (`release_dead`); the finalizer itself runs only if a program calls it:
//!
//! | `handle` | meaning | who leaves it |
//! |---|---|---|
//! | 0 | nothing to release, not registered | `link` → address, `register` → REGISTERED: CAS AcqRel; the thread whose CAS succeeds registers the object |
//! | REGISTERED | has a name, no thread | `link` → address, CAS AcqRel |
//! | address | of a boxed reference | the finalizer, or the collection that finds the object dead → 0, swap AcqRel |
//!
//! An InternalThread's `state` holds the lasting bits of `ThreadState`; WaitSleepJoin is derived
//! from the thread's current wait. Invariant: a thread that has ended is Stopped before `Join`
//! sees its end. Left out: aborts and interrupts of threads (`pending`), and the internal calls
//! (`icall::threading`).

use crate::domains::{self, Domain};
use crate::exceptions::{self, Thrown, ToManaged};
use crate::fields::ManagedField;
use crate::handles;
use crate::interruption;
use crate::invoke::{self, Slot};
use crate::object::{self, type_of};
use crate::profile_events;
use crate::suspension;
use crate::thread::{CurrentThread, Managed};
pub use crate::thread_state as state;
use crate::upper_layers::upper_layers;
use parking_lot::Mutex;
use saki_abi::ObjRef;
use saki_sync::handle_table::{Handle, HandleKind};
use saki_thread::{ManagedThread, NO_STATE, REQUEST_ABORT, REQUEST_INTERRUPT, ThreadKind, ThreadRef, WaitState, root};
use saki_types::universe;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering};

pub static INTERNAL_THREAD: ManagedField = ManagedField::corlib("System.Threading", "Thread", "internal_thread");
pub static START_ARGUMENT: ManagedField = ManagedField::corlib("System.Threading", "Thread", "m_ThreadStartArg");
static HANDLE: ManagedField = ManagedField::corlib("System.Threading", "InternalThread", "handle");
static STATE: ManagedField = ManagedField::corlib("System.Threading", "InternalThread", "state");
pub static THREAD_ID: ManagedField = ManagedField::corlib("System.Threading", "InternalThread", "thread_id");
pub static MANAGED_ID: ManagedField = ManagedField::corlib("System.Threading", "InternalThread", "managed_id");
pub static APARTMENT_STATE: ManagedField =
    ManagedField::corlib("System.Threading", "InternalThread", "apartment_state");
pub static PRIORITY: ManagedField = ManagedField::corlib("System.Threading", "InternalThread", "priority");
pub static STACK_SIZE: ManagedField = ManagedField::corlib("System.Threading", "InternalThread", "stack_size");
pub static IS_POOL_THREAD: ManagedField =
    ManagedField::corlib("System.Threading", "InternalThread", "threadpool_thread");
/// `Thread.Interrupt` came before the thread was started.
pub static INTERRUPT_WANTED: ManagedField =
    ManagedField::corlib("System.Threading", "InternalThread", "thread_interrupt_requested");

/// `ApartmentState`.
const APARTMENT_STA: u8 = 0;
const APARTMENT_MTA: u8 = 1;
const APARTMENT_UNKNOWN: u8 = 2;
/// `ThreadPriority.Normal`.
const NORMAL_PRIORITY: i32 = 2;

/// `ManagedThreadId`s: 1 is the main thread's; 2 is the finalizer's, whose object is made only when a finalizer asks.
const MAIN_MANAGED_ID: i32 = 1;
static NEXT_MANAGED_ID: AtomicI32 = AtomicI32::new(3);

/// The state bits that last: the thread's, which all its InternalThread objects share, or those of an object without a
/// thread. The object stays in place while the caller's frame holds it.
pub(crate) fn state_bits(internal: ObjRef) -> &'static AtomicU32 {
    match managed_of(internal) {
        Some(thread) => &thread.state_bits,
        None => own_state_bits(internal),
    }
}

fn own_state_bits(internal: ObjRef) -> &'static AtomicU32 {
    // SAFETY: an `int` field of the object, aligned; only atomics touch it.
    unsafe { &*STATE.address::<AtomicU32>(internal) }
}

/// `Thread.ThreadState`.
pub fn state_of(internal: ObjRef) -> u32 {
    // Relaxed: a snapshot for the program.
    let bits = state_bits(internal).load(Ordering::Relaxed) & !state::ABORTED_BY_UNLOAD;
    let waits = bits & (state::UNSTARTED | state::STOPPED) == 0
        && managed_of(internal).is_some_and(|thread| {
            !thread.is_detached() && !matches!(thread.wait_state(), WaitState::Running | WaitState::Native)
        });
    if waits { bits | state::WAIT_SLEEP_JOIN } else { bits }
}

/// Sets state bits; Background also changes whether the process waits for the thread.
pub fn set_state(internal: ObjRef, bits: u32) {
    // Relaxed: the bits guard no other data.
    state_bits(internal).fetch_or(bits, Ordering::Relaxed);
    if bits & state::BACKGROUND != 0
        && let Some(thread) = managed_of(internal)
    {
        thread.set_background(true);
    }
}

/// Clears state bits; see `set_state`.
pub fn clear_state(internal: ObjRef, bits: u32) {
    // Relaxed: as in `set_state`.
    state_bits(internal).fetch_and(!bits, Ordering::Relaxed);
    if bits & state::BACKGROUND != 0
        && let Some(thread) = managed_of(internal)
    {
        thread.set_background(false);
    }
}

/// See the module header.
const REGISTERED: usize = 1;

fn handle_word(internal: ObjRef) -> &'static AtomicUsize {
    // SAFETY: an IntPtr field of the object, aligned; only atomics touch it.
    unsafe { &*HANDLE.address::<AtomicUsize>(internal) }
}

/// The managed thread behind an InternalThread; None before it starts. The reference lives as long as the object.
pub fn managed_of(internal: ObjRef) -> Option<&'static ManagedThread> {
    // Acquire: pairs with `link`; the box is filled.
    let address = handle_word(internal).load(Ordering::Acquire);
    // SAFETY: a box from `link`, freed only by the object's finalizer.
    (address > REGISTERED).then(|| unsafe { (*(address as *const ThreadRef)).as_static() })
}

/// As `managed_of`, counted.
pub fn thread_ref_of(internal: ObjRef) -> Option<ThreadRef> {
    managed_of(internal).map(ThreadRef::to)
}

/// Makes `internal` refer to the thread, unless it does.
fn link(internal: ObjRef, thread: &'static ManagedThread) {
    let word = handle_word(internal);
    // Acquire: as in `managed_of`. The starter and the new thread both come here.
    let mut before = word.load(Ordering::Acquire);
    if before > REGISTERED {
        return;
    }
    // The first object of the thread brings its state along. Relaxed: published by the exchange below.
    let bits = own_state_bits(internal).load(Ordering::Relaxed);
    let _ = thread.state_bits.compare_exchange(NO_STATE, bits, Ordering::AcqRel, Ordering::Relaxed);
    let reference = Box::into_raw(Box::new(ThreadRef::to(thread)));
    // AcqRel: publishes the box.
    while let Err(now) = word.compare_exchange(before, reference as usize, Ordering::AcqRel, Ordering::Acquire) {
        before = now;
        if before > REGISTERED {
            // SAFETY: made above and not published.
            return drop(unsafe { Box::from_raw(reference) });
        }
    }
    if before == 0 {
        saki_gc::register_finalizer(CurrentThread::current().managed(), internal);
    }
}

/// Registers an InternalThread for finalization, so that its name is freed.
pub(crate) fn register(internal: ObjRef) {
    // AcqRel: the thread whose CAS succeeds registers the object.
    if handle_word(internal).compare_exchange(0, REGISTERED, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        saki_gc::register_finalizer(CurrentThread::current().managed(), internal);
    }
}

/// Gives the thread reference back; for the finalizer of the InternalThread.
pub fn unlink(internal: ObjRef) {
    drop(take_reference(internal));
}

fn take_reference(internal: ObjRef) -> Option<Box<ThreadRef>> {
    // AcqRel: the thread that gets the address owns the box.
    let address = handle_word(internal).swap(0, Ordering::AcqRel);
    // SAFETY: a box from `link`; the swap made it ours.
    let reference = (address > REGISTERED).then(|| unsafe { Box::from_raw(address as *mut ThreadRef) })?;
    // The finalizer of another object may still ask for the state. Relaxed: as in `set_state`.
    own_state_bits(internal).store(reference.state_bits.load(Ordering::Relaxed), Ordering::Relaxed);
    Some(reference)
}

/// References that collections took from dead objects. Never locked across a safepoint.
static RELEASED: Mutex<Vec<ThreadRef>> = Mutex::new(Vec::new());
/// Whether there may be some. Relaxed: a hint.
static HAS_RELEASED: AtomicBool = AtomicBool::new(false);

/// For a collection, which found the object dead: the next threads that start give the reference back. World stopped.
pub(crate) fn release_dead(internal: ObjRef) {
    if let Some(reference) = take_reference(internal) {
        RELEASED.lock().push(*reference);
        HAS_RELEASED.store(true, Ordering::Relaxed);
    }
    crate::thread_names::free(internal);
}

/// Gives some released references back: more than a start adds, so that they become fewer, but only a few, so that no start takes long.
fn drop_released() {
    if HAS_RELEASED.load(Ordering::Relaxed) {
        let mut released = RELEASED.lock();
        let some = [released.pop(), released.pop()];
        HAS_RELEASED.store(!released.is_empty(), Ordering::Relaxed);
        drop(released);
        drop(some);
    }
}

/// The InternalThread object of a Thread object, made if it has none yet.
///
/// # Errors
/// OutOfMemoryException.
pub fn internal_of(t: CurrentThread, thread: ObjRef) -> Managed<ObjRef> {
    let internal = INTERNAL_THREAD.get_ref(thread);
    if !internal.is_null() {
        return Ok(internal);
    }
    construct_internal(t, thread)
}

fn new_internal(t: CurrentThread, managed_id: i32, bits: u32) -> Managed<ObjRef> {
    let internal = object::new_instance_without_finalizer(t, universe().internal_thread())?;
    MANAGED_ID.set(internal, managed_id);
    APARTMENT_STATE.set(internal, APARTMENT_UNKNOWN);
    PRIORITY.set(internal, NORMAL_PRIORITY);
    STATE.set(internal, bits);
    Ok(internal)
}

fn next_managed_id() -> i32 {
    // Relaxed: any number not used before.
    NEXT_MANAGED_ID.fetch_add(1, Ordering::Relaxed)
}

/// Gives a Thread object its InternalThread, in state Unstarted.
///
/// # Errors
/// OutOfMemoryException.
pub fn construct_internal(t: CurrentThread, thread: ObjRef) -> Managed<ObjRef> {
    let internal = new_internal(t, next_managed_id(), state::UNSTARTED)?;
    INTERNAL_THREAD.set_ref(t, thread, internal);
    Ok(internal)
}

/// Makes the Thread object of the current thread, which managed code did not start.
///
/// # Errors
/// OutOfMemoryException.
pub fn create_main(t: CurrentThread) -> Managed<()> {
    let thread_ty = universe().corlib_type("System.Threading", "Thread").to_managed(t)?;
    let thread = object::new_instance(t, thread_ty)?;
    let is_main = t.managed().kind() == ThreadKind::Main;
    // One number in all domains.
    let foreign = crate::thread_data::of(t).foreign_thread_object();
    let foreign = if foreign.is_null() { foreign } else { INTERNAL_THREAD.get_ref(foreign) };
    let managed_id = match () {
        () if is_main => MAIN_MANAGED_ID,
        () if !foreign.is_null() => MANAGED_ID.get(foreign),
        () => next_managed_id(),
    };
    let bits = if t.managed().is_background() { state::BACKGROUND } else { 0 };
    let internal = new_internal(t, managed_id, bits)?;
    if !foreign.is_null() {
        APARTMENT_STATE.set(internal, APARTMENT_STATE.get::<u8>(foreign));
        PRIORITY.set(internal, PRIORITY.get::<i32>(foreign));
        IS_POOL_THREAD.set(internal, IS_POOL_THREAD.get::<u8>(foreign));
    } else if !is_main {
        APARTMENT_STATE.set(internal, APARTMENT_MTA);
    }
    THREAD_ID.set(internal, i64::from(t.managed().native_id()));
    link(internal, t.managed());
    INTERNAL_THREAD.set_ref(t, thread, internal);
    t.managed().roots[root::THREAD_OBJECT].set(thread);
    Ok(())
}

/// The current thread's Thread object, made if the thread came from outside.
///
/// # Errors
/// OutOfMemoryException.
pub fn current_object(t: CurrentThread) -> Managed<ObjRef> {
    let known = t.managed().roots[root::THREAD_OBJECT].get();
    if !known.is_null() {
        return Ok(known);
    }
    create_main(t)?;
    Ok(t.managed().roots[root::THREAD_OBJECT].get())
}

/// The Thread object of a thread that runs in the current domain; null for other threads, those without an object, and those that have
/// ended. The caller must store the object where collections find it before it reaches a safepoint.
pub fn object_here(thread: &ManagedThread) -> ObjRef {
    let object = thread.roots[root::THREAD_OBJECT].get();
    // In this order: until the thread is detached collections keep the slot up to date, and there is none between the two reads.
    let is_known = !object.is_null() && !thread.is_detached();
    if is_known && std::ptr::eq(object::type_of(object).universe(), universe()) { object } else { ObjRef::NULL }
}

/// The current thread's InternalThread object.
///
/// # Errors
/// OutOfMemoryException.
pub fn current_internal(t: CurrentThread) -> Managed<ObjRef> {
    let thread = current_object(t)?;
    internal_of(t, thread)
}

/// GC handles that carry objects to a new thread, which frees them; or its starter, if there will be none.
#[derive(Clone, Copy)]
struct ThreadStartHandles {
    domain: &'static Domain,
    /// The Thread object, the delegate, its argument.
    handles: [Handle; 3],
}

impl ThreadStartHandles {
    /// # Errors
    /// OutOfMemoryException when there are no handles left; then none stays allocated.
    fn allocate(t: CurrentThread, objects: [ObjRef; 3]) -> Managed<ThreadStartHandles> {
        let handles = objects.map(|object| handles::allocate(t, HandleKind::Normal, object));
        match handles {
            [Some(thread), Some(delegate), Some(argument)] => {
                Ok(ThreadStartHandles { domain: domains::current(), handles: [thread, delegate, argument] })
            }
            some => {
                some.into_iter().flatten().for_each(|handle| free(t, handle));
                Err(exceptions::out_of_memory(t))
            }
        }
    }

    fn free(self, t: CurrentThread) {
        self.handles.into_iter().for_each(|handle| free(t, handle));
    }

    /// The objects; the handles are free after this.
    fn take(self, t: CurrentThread) -> [ObjRef; 3] {
        self.handles.map(|handle| {
            let object = handles::target(handle).unwrap_or(ObjRef::NULL);
            free(t, handle);
            object
        })
    }
}

fn free(t: CurrentThread, handle: Handle) {
    // Stale if its domain has been unloaded since.
    let _ = handles::free(t, handle);
}

fn thread_state_error(t: CurrentThread, message: &str) -> Thrown {
    exceptions::throw(t, "System.Threading", "ThreadStateException", message)
}

/// Starts the thread of a Thread object, which calls `delegate` with the object's start argument.
///
/// # Errors
/// ThreadStateException when it was started before; OutOfMemoryException when the system has no room for a thread.
pub fn start(t: CurrentThread, thread: ObjRef, delegate: ObjRef) -> Managed<()> {
    let internal = internal_of(t, thread)?;
    let bits = own_state_bits(internal);
    // AcqRel: one starter wins; it sees what was set before.
    let claimed = bits.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| match bits {
        _ if bits & state::UNSTARTED == 0 || bits & state::ABORTED != 0 => None,
        _ => Some(bits & !state::UNSTARTED),
    });
    match claimed {
        Err(now) if now & state::UNSTARTED == 0 => {
            return Err(thread_state_error(t, "Thread has already been started."));
        }
        // Aborted before it started: it never runs.
        Err(_) => return Ok(()),
        Ok(_) => {}
    }
    // The starter sets it: a thread that sees this one alive sees its apartment.
    let apartment = APARTMENT_STATE.get::<u8>(internal);
    if apartment == APARTMENT_UNKNOWN {
        APARTMENT_STATE.set(internal, APARTMENT_MTA);
    }
    let not_started = || {
        APARTMENT_STATE.set(internal, apartment);
        // Release: a later starter, after this failed start, sees the values set before.
        bits.fetch_or(state::UNSTARTED, Ordering::Release);
    };
    let start = match ThreadStartHandles::allocate(t, [thread, delegate, START_ARGUMENT.get_ref(thread)]) {
        Ok(start) => start,
        Err(thrown) => {
            not_started();
            return Err(thrown);
        }
    };
    // Relaxed: `set_state` after this changes the kind itself, through the link.
    let is_background = bits.load(Ordering::Relaxed) & state::BACKGROUND != 0;
    let kind = if is_background { ThreadKind::Background } else { ThreadKind::Foreground };
    let stack_bytes = usize::try_from(STACK_SIZE.get::<i32>(internal)).unwrap_or(0);
    drop_released();
    let spawned = saki_sched::spawn(kind, None, stack_bytes, move |managed| {
        // SAFETY: the thread just attached.
        run(unsafe { CurrentThread::from_abi(managed.abi()) }, start);
    });
    match spawned {
        Ok(spawned) => {
            link(internal, spawned.as_static());
            profile_events::thread_started(t, spawned.managed_id());
            // The program may have changed its mind between the load above and the link.
            let wanted = state_bits(internal).load(Ordering::Relaxed) & state::BACKGROUND != 0;
            if wanted != is_background {
                spawned.set_background(wanted);
            }
            Ok(())
        }
        Err(_) => {
            start.free(t);
            not_started();
            Err(exceptions::throw(t, "System", "OutOfMemoryException", "The system cannot make another thread."))
        }
    }
}

/// Settles the apartment of the main thread as its entry point asks.
pub fn set_main_apartment(t: CurrentThread, is_single_threaded: bool) {
    let internal = INTERNAL_THREAD.get_ref(t.managed().roots[root::THREAD_OBJECT].get());
    APARTMENT_STATE.set(internal, if is_single_threaded { APARTMENT_STA } else { APARTMENT_MTA });
}

/// Makes `thread` the current thread's object.
pub fn adopt(t: CurrentThread, thread: ObjRef, internal: ObjRef) {
    t.managed().roots[root::THREAD_OBJECT].set(thread);
    link(internal, t.managed());
    THREAD_ID.set(internal, i64::from(t.managed().native_id()));
    if APARTMENT_STATE.get::<u8>(internal) == APARTMENT_UNKNOWN {
        APARTMENT_STATE.set(internal, APARTMENT_MTA);
    }
    if INTERRUPT_WANTED.get::<u8>(internal) != 0 {
        INTERRUPT_WANTED.set(internal, 0u8);
        t.managed().request(REQUEST_INTERRUPT);
    }
}

/// The body of a started thread.
fn run(t: CurrentThread, start: ThreadStartHandles) {
    if start.domain.add_thread(t).is_err() {
        // The domain has been unloaded, with its handles: none of its objects may be touched.
        t.take_pending();
        return;
    }
    domains::switch(t, start.domain);
    let [thread, delegate, argument] = start.take(t);
    let internal = INTERNAL_THREAD.get_ref(thread);
    adopt(t, thread, internal);
    crate::thread_names::adopt(t.managed(), internal);
    suspension::stop_at_exit(t);
    if call_start(t, delegate, argument).is_err() {
        end_by_exception(t);
    }
    finish(t);
    start.domain.forget_thread(t.id());
}

fn call_start(t: CurrentThread, delegate: ObjRef, argument: ObjRef) -> Managed<()> {
    if delegate.is_null() {
        return Err(exceptions::throw_default(t, "NullReferenceException"));
    }
    let invoke = saki_il::synth::delegate::invoke_method(type_of(delegate)).to_managed(t)?;
    let words = [Slot::from_ref(delegate), Slot::from_ref(argument)];
    let count = 1 + invoke.sig().to_managed(t)?.params.len().min(1);
    invoke::invoke(t, invoke, &words[..count])?;
    Ok(())
}

/// Handles an exception that reaches the end of a thread's stack: an abort ends the thread, any other exception the process.
pub fn end_by_exception(t: CurrentThread) {
    end_by_exception_with(t, crate::unhandled::UNHANDLED_EXIT_CODE);
}

/// As `end_by_exception`, with the process's exit code.
pub fn end_by_exception_with(t: CurrentThread, exit_code: i32) {
    // Also if a catch clause has replaced the abort: List.Sort throws that the comparer failed.
    if end_abort_by_unload(t, domains::current()) {
        return;
    }
    let exception = t.pending();
    if type_of(exception).is_corlib("System", "AppDomainUnloadedException") {
        // The thread's domain is gone, so there is nothing to report.
        t.take_pending();
        return;
    }
    if type_of(exception).is_corlib("System.Threading", "ThreadAbortException") {
        t.take_pending();
        crate::pending::forget_abort(t);
        return;
    }
    if crate::exit::is_over_for(t) {
        // The program has ended with another exit code, and objects that the thread used may be finalized.
        t.take_pending();
        crate::pending::forget_abort(t);
        return;
    }
    crate::unhandled::report_and_exit_with(t, exit_code);
}

fn tell_upper_layers_of_end(t: CurrentThread) {
    upper_layers().thread_ends.iter().for_each(|ends| ends(t));
}

/// A thread has ended without coming back here: native code ended it, or had attached it. It is in a safe region.
pub fn ended_in_native_code(thread: &'static ManagedThread) {
    // SAFETY: the thread runs no more, and the caller acts for it. No managed object is touched.
    let t = unsafe { CurrentThread::from_abi(thread.abi()) };
    tell_upper_layers_of_end(t);
    domains::forget_thread(t.id());
    if let Some(bits) = current_bits(t) {
        set_stopped(bits);
    }
}

/// Release: a thread that sees Stopped sees all writes of this one.
fn set_stopped(bits: &AtomicU32) {
    let _ = bits
        .fetch_update(Ordering::Release, Ordering::Relaxed, |bits| Some((bits | state::STOPPED) & !state::BACKGROUND));
}

/// Marks the current thread as ended. It runs no managed code after this.
pub fn finish(t: CurrentThread) {
    tell_upper_layers_of_end(t);
    profile_events::thread_ends(t);
    let thread = t.managed().roots[root::THREAD_OBJECT].get();
    if thread.is_null() {
        return;
    }
    let internal = INTERNAL_THREAD.get_ref(thread);
    set_stopped(state_bits(internal));
}

/// `Thread.BeginThreadAffinity`: the thread stays on its OS thread.
pub fn begin_affinity(t: CurrentThread) {
    let depth = crate::thread_data::of(t).affinity_depth();
    if depth.get() == 0 {
        t.managed().pin();
    }
    depth.set(depth.get() + 1);
}

/// `Thread.EndThreadAffinity`. One that belongs to no `begin_affinity` does nothing.
pub fn end_affinity(t: CurrentThread) {
    let depth = crate::thread_data::of(t).affinity_depth();
    if depth.get() == 1 {
        t.managed().unpin();
    }
    depth.set(depth.get().saturating_sub(1));
}

/// Ends all that the program has left open: the thread belongs to the thread pool.
pub fn forget_affinity(t: CurrentThread) {
    if crate::thread_data::of(t).affinity_depth().replace(0) != 0 {
        t.managed().unpin();
    }
}

/// `Thread.Interrupt`.
pub fn interrupt(internal: ObjRef) {
    match managed_of(internal) {
        Some(thread) => thread.request(REQUEST_INTERRUPT),
        None => INTERRUPT_WANTED.set(internal, 1u8),
    }
}

/// `Thread.Join`: whether the thread has ended. Negative = for ever.
///
/// # Errors
/// ThreadStateException when it was not started; ThreadInterruptedException, ThreadAbortException.
pub fn join(t: CurrentThread, internal: ObjRef, milliseconds: i32) -> Managed<bool> {
    if state_bits(internal).load(Ordering::Acquire) & state::UNSTARTED != 0 {
        return Err(thread_state_error(t, "Thread has not been started."));
    }
    let thread = loop {
        match thread_ref_of(internal) {
            Some(thread) => break thread,
            // It has ended, and its object was released: the caller is a finalizer.
            None if own_state_bits(internal).load(Ordering::Acquire) & state::STOPPED != 0 => return Ok(true),
            // The starter is between claiming and linking for a few microseconds.
            None => t.managed().yield_now(),
        }
    };
    let timeout = crate::pending::timeout(milliseconds);
    match crate::pending::wait(t, timeout, |rest, interruptible| thread.join_with_end(rest, interruptible)) {
        crate::pending::WaitEnd::Woken => Ok(true),
        crate::pending::WaitEnd::TimedOut => Ok(false),
        crate::pending::WaitEnd::Interrupted => Err(crate::pending::throw_requested(t)),
    }
}

/// Whether the caller is the one to abort a thread, which then has the bits `requested`. One that was not started never runs.
fn claim_abort(bits: &AtomicU32, requested: u32) -> bool {
    // AcqRel: one aborter wins; it sees what was set before.
    let claimed = bits.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| match bits {
        _ if bits & (state::ABORT_REQUESTED | state::STOPPED) != 0 => None,
        _ if bits & state::UNSTARTED != 0 => Some(bits | state::ABORTED),
        _ => Some(bits | requested),
    });
    matches!(claimed, Ok(before) if before & state::UNSTARTED == 0)
}

/// `Thread.Abort`. `state_object` may be null.
///
/// # Errors
/// ThreadAbortException when the thread aborts itself.
pub fn abort(t: CurrentThread, internal: ObjRef, state_object: ObjRef) -> Managed<()> {
    let is_self = managed_of(internal).is_some_and(|thread| std::ptr::eq(thread, t.managed()));
    let first = claim_abort(state_bits(internal), state::ABORT_REQUESTED);
    if is_self {
        if first {
            t.managed().roots[root::ABORT_STATE].set(state_object);
        }
        return Err(crate::pending::throw_abort(t));
    }
    if first {
        // The starter links the thread a few microseconds after it claimed it.
        let thread = loop {
            match thread_ref_of(internal) {
                Some(thread) => break thread,
                None => t.managed().yield_now(),
            }
        };
        thread.set_root_from_outside(root::ABORT_STATE, state_object);
        thread.request(REQUEST_ABORT);
        suspension::end_for_abort(&thread);
        interruption::end_system_call(thread);
    }
    Ok(())
}

/// Requests an abort of another thread because a domain that it is in is unloaded; false when one is under way already, or the
/// thread has no Thread object yet. Does not end system calls, and reaches no safepoint.
pub(crate) fn request_abort_by_unload(thread: &ManagedThread) -> bool {
    let first = claim_abort(&thread.state_bits, state::ABORT_REQUESTED | state::ABORTED_BY_UNLOAD);
    if first {
        thread.roots[root::ABORT_STATE].set(ObjRef::NULL);
        thread.request(REQUEST_ABORT);
    }
    first
}

/// Requests an abort of a thread at exit; false when one is under way already, or the thread has no Thread object yet.
pub(crate) fn request_abort_at_exit(thread: &ManagedThread) -> bool {
    let first = claim_abort(&thread.state_bits, state::ABORT_REQUESTED);
    if first {
        thread.roots[root::ABORT_STATE].set(ObjRef::NULL);
        thread.request(REQUEST_ABORT);
    }
    first
}

/// The state bits of the current thread; None while it has no Thread object.
fn current_bits(t: CurrentThread) -> Option<&'static AtomicU32> {
    let bits = &t.managed().state_bits;
    // Relaxed: only this thread's start moves it from there.
    (bits.load(Ordering::Relaxed) != NO_STATE).then_some(bits)
}

/// The abort of the current thread, just forgotten, is over: a new one may be requested.
pub fn end_abort(t: CurrentThread) {
    if let Some(bits) = current_bits(t) {
        // Release: pairs with `claim_abort`; the next abort comes after this one.
        bits.fetch_and(!(state::ABORT_REQUESTED | state::ABORTED_BY_UNLOAD), Ordering::Release);
    }
}

fn is_aborted_by_unload(t: CurrentThread) -> bool {
    // Relaxed: this thread clears the bit; one that is set just now is seen when the thread has left the domain (`Domain`).
    current_bits(t).is_some_and(|bits| bits.load(Ordering::Relaxed) & state::ABORTED_BY_UNLOAD != 0)
}

/// Ends the abort in flight, with its pending exception, if the unloading of `domain`, which the current thread leaves, asked for it.
pub fn end_abort_by_unload(t: CurrentThread, domain: &Domain) -> bool {
    if !is_aborted_by_unload(t) || !domain.is_unloading() || crate::pending::abort_exception(t).is_null() {
        return false;
    }
    crate::pending::forget_abort(t);
    end_abort(t);
    t.take_pending();
    true
}

/// The current thread has left a domain that is unloaded: an abort that was requested for it comes too late and is withdrawn;
/// one in flight continues as an ordinary abort, which can be reset.
pub(crate) fn withdraw_abort_by_unload(t: CurrentThread) {
    if !is_aborted_by_unload(t) {
        return;
    }
    if crate::pending::abort_exception(t).is_null() {
        t.managed().take_requests(REQUEST_ABORT);
        end_abort(t);
    } else if let Some(bits) = current_bits(t) {
        // Release: as in `end_abort`.
        bits.fetch_and(!state::ABORTED_BY_UNLOAD, Ordering::Release);
    }
}

/// `Thread.ResetAbort` of the current thread; does nothing to the abort of a thread in a domain that is unloaded.
///
/// # Errors
/// ThreadStateException when no abort was requested.
pub fn reset_abort(t: CurrentThread) -> Managed<()> {
    let internal = current_internal(t)?;
    // AcqRel: as in `claim_abort`.
    let ended = state_bits(internal).fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| {
        let is_ours = bits & (state::ABORT_REQUESTED | state::ABORTED_BY_UNLOAD) == state::ABORT_REQUESTED;
        is_ours.then_some(bits & !state::ABORT_REQUESTED)
    });
    match ended {
        Ok(_) => {
            crate::pending::forget_abort(t);
            Ok(())
        }
        Err(bits) if bits & state::ABORT_REQUESTED != 0 => Ok(()),
        Err(_) => Err(thread_state_error(t, "Unable to reset abort because no abort was requested")),
    }
}

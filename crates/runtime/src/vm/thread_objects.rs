//! System.Threading.Thread objects and the managed threads behind them.
//!
//! An `InternalThread` object's `handle` is a counted reference to its `ManagedThread` (null before it starts),
//! released by the object's finalizer. An object is registered for finalization only when it holds something to
//! release. Collections release it in place of the finalizer (`release_dead`); the finalizer itself runs only if a
//! program calls it:
//!
//! | `handle` | meaning | who leaves it |
//! |---|---|---|
//! | 0 | nothing to release, not registered | `link` → address, `register` → REGISTERED: CAS AcqRel; the thread whose CAS succeeds registers the object |
//! | REGISTERED | has a name, no thread | `link` → address, CAS AcqRel |
//! | address | of a boxed reference | the finalizer, or the collection that finds the object dead → 0, swap AcqRel |
//!
//! An InternalThread's `state` holds the lasting bits of `ThreadState`; WaitSleepJoin is derived
//! from the thread's current wait. Left out: starting and ending threads (`threads`).

use crate::exceptions::ToManaged;
use crate::fields::ManagedField;
use crate::object;
pub use crate::object::thread_state as state;
use crate::references::{Obj, Word};
use crate::thread::{CurrentThread, Managed};
use saki_base::locks::{Mutex, rank};
use saki_sched::ThreadMode;
use saki_thread::{ManagedThread, NO_STATE, REQUEST_INTERRUPT, ThreadKind, ThreadRef, WaitState, root};
use saki_types::{LibraryType, universe};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering, fence};

pub static INTERNAL_THREAD: ManagedField = ManagedField::new(LibraryType::Thread, "internal_thread");
pub static START_ARGUMENT: ManagedField = ManagedField::new(LibraryType::Thread, "m_ThreadStartArg");
static HANDLE: ManagedField = ManagedField::new(LibraryType::InternalThread, "handle");
static STATE: ManagedField = ManagedField::new(LibraryType::InternalThread, "state");
static THREAD_ID: ManagedField = ManagedField::new(LibraryType::InternalThread, "thread_id");
pub static MANAGED_ID: ManagedField = ManagedField::new(LibraryType::InternalThread, "managed_id");
pub static APARTMENT_STATE: ManagedField = ManagedField::new(LibraryType::InternalThread, "apartment_state");
pub static PRIORITY: ManagedField = ManagedField::new(LibraryType::InternalThread, "priority");
pub static STACK_SIZE: ManagedField = ManagedField::new(LibraryType::InternalThread, "stack_size");
pub static IS_POOL_THREAD: ManagedField = ManagedField::new(LibraryType::InternalThread, "threadpool_thread");
/// `Thread.Interrupt` came before the thread was started.
pub static INTERRUPT_WANTED: ManagedField =
    ManagedField::new(LibraryType::InternalThread, "thread_interrupt_requested");

/// `ApartmentState`.
const APARTMENT_STA: u8 = 0;
pub(crate) const APARTMENT_MTA: u8 = 1;
pub(crate) const APARTMENT_UNKNOWN: u8 = 2;
/// `ThreadPriority.Normal`.
const NORMAL_PRIORITY: i32 = 2;

/// `ManagedThreadId`s: 1 is the main thread's; 2 is the finalizer's, whose object is made only when a finalizer asks.
const MAIN_MANAGED_ID: i32 = 1;
static NEXT_MANAGED_ID: AtomicI32 = AtomicI32::new(3);

/// The lasting state bits: those of the thread, which all its InternalThread objects share, or those of an object
/// without a thread. The object stays in place while the caller's frame holds it.
pub(crate) fn state_bits(internal: Obj<'_>) -> &AtomicU32 {
    match thread_of(internal) {
        Some(thread) => &thread.state_bits,
        None => own_state_bits(internal),
    }
}

pub(crate) fn own_state_bits(internal: Obj<'_>) -> &AtomicU32 {
    // SAFETY: an `int` field of the object, aligned; only atomics touch it.
    unsafe { &*STATE.address::<AtomicU32>(internal) }
}

/// `Thread.ThreadState`.
pub fn state_of(internal: Obj) -> u32 {
    // Relaxed: a snapshot for the program.
    let bits = state_bits(internal).load(Ordering::Relaxed) & !state::ABORTED_BY_UNLOAD;
    let waits = bits & (state::UNSTARTED | state::STOPPED) == 0
        && thread_of(internal).is_some_and(|thread| {
            !thread.is_detached() && !matches!(thread.wait_state(), WaitState::Running | WaitState::Native)
        });
    if waits { bits | state::WAIT_SLEEP_JOIN } else { bits }
}

/// Sets state bits; Background also changes whether the process waits for the thread.
pub fn set_state(internal: Obj, bits: u32) {
    // Relaxed: see `change_state`.
    change_state(internal, |word| word.fetch_or(bits, Ordering::Relaxed), bits);
}

/// Clears state bits; see `set_state`.
pub fn clear_state(internal: Obj, bits: u32) {
    // Relaxed: see `change_state`.
    change_state(internal, |word| word.fetch_and(!bits, Ordering::Relaxed), bits);
}

/// Changes the object's own bits and then those of its thread, which may be linked meanwhile: after a fence on each
/// side either this finds the thread, or `link` finds the change. Relaxed changes: the bits guard no other data.
fn change_state(internal: Obj, change: impl Fn(&AtomicU32) -> u32, bits: u32) {
    change(own_state_bits(internal));
    // SeqCst: pairs with the fence in `link`.
    fence(Ordering::SeqCst);
    if let Some(thread) = thread_of(internal) {
        change(&thread.state_bits);
        if bits & state::BACKGROUND != 0 {
            settle_background(thread, &thread.state_bits);
        }
    }
}

/// Makes the thread's bit Background and its kind what the bit of `source` says, until that bit stays the same. Callers
/// may change it at the same time: each settles the kind after its change, so the last one leaves all in agreement.
fn settle_background(thread: &ManagedThread, source: &AtomicU32) {
    loop {
        // Relaxed: the fence below orders the loads and the changes between them.
        let wanted = source.load(Ordering::Relaxed) & state::BACKGROUND;
        let settled = thread.state_bits.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |bits| {
            (bits & state::STOPPED == 0).then_some(bits & !state::BACKGROUND | wanted)
        });
        if settled.is_err() {
            // It has ended: neither matters any more, and it is not counted.
            return;
        }
        thread.set_background(wanted != 0);
        // SeqCst: one of two callers sees the other's change of the source after its own of the thread.
        fence(Ordering::SeqCst);
        if source.load(Ordering::Relaxed) & state::BACKGROUND == wanted {
            return;
        }
    }
}

/// See the module header.
const REGISTERED: usize = 1;

fn handle_word(internal: Obj<'_>) -> &AtomicUsize {
    // SAFETY: an IntPtr field of the object, aligned; only atomics touch it.
    unsafe { &*HANDLE.address::<AtomicUsize>(internal) }
}

/// The managed thread behind an InternalThread; None before it starts. The reference lives as long as the object.
pub fn thread_of(internal: Obj) -> Option<&'static ManagedThread> {
    // Acquire: pairs with `link`; the box is filled.
    let address = handle_word(internal).load(Ordering::Acquire);
    // SAFETY: a box from `link`, freed only by the object's finalizer.
    (address > REGISTERED).then(|| unsafe { (*(address as *const ThreadRef)).as_static() })
}

/// The managed thread behind an InternalThread, with a counted reference; None before the thread starts.
pub fn counted_thread_of(internal: Obj) -> Option<ThreadRef> {
    thread_of(internal).map(ThreadRef::to)
}

/// The managed thread behind the InternalThread of a thread that was claimed for its start (`threads`), with a counted
/// reference: the starter links the thread a few microseconds later.
pub(crate) fn started_thread_of(t: CurrentThread, internal: Obj) -> ThreadRef {
    loop {
        match counted_thread_of(internal) {
            Some(thread) => return thread,
            None => t.managed().yield_now(),
        }
    }
}

/// Makes `internal` refer to the thread, unless it does already.
pub(crate) fn link(internal: Obj, thread: &'static ManagedThread) {
    let word = handle_word(internal);
    // Acquire: as in `thread_of`. The starter and the new thread both come here.
    let before = word.load(Ordering::Acquire);
    if before > REGISTERED {
        return;
    }
    // The thread takes over the state of its first object. Relaxed: published by the exchange below.
    let bits = own_state_bits(internal).load(Ordering::Relaxed);
    let is_first = thread.state_bits.compare_exchange(NO_STATE, bits, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    publish(internal, thread, before);
    if is_first {
        // SeqCst: pairs with the fence in `change_state`: another thread may have changed the bits since they were
        // copied.
        fence(Ordering::SeqCst);
        settle_background(thread, own_state_bits(internal));
    }
}

/// Stores a reference to the thread in the object, unless another thread does so first.
fn publish(internal: Obj, thread: &'static ManagedThread, mut before: usize) {
    let word = handle_word(internal);
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
        CurrentThread::with(|t| saki_gc::register_finalizer(t.managed(), internal.word()));
    }
}

/// Registers an InternalThread for finalization, so that its name is freed.
pub(crate) fn register(internal: Obj) {
    // AcqRel: the thread whose CAS succeeds registers the object.
    if handle_word(internal).compare_exchange(0, REGISTERED, Ordering::AcqRel, Ordering::Acquire).is_ok() {
        CurrentThread::with(|t| saki_gc::register_finalizer(t.managed(), internal.word()));
    }
}

/// Gives the thread reference back; for the finalizer of the InternalThread.
pub fn unlink(internal: Obj) {
    drop(take_reference(internal));
}

fn take_reference(internal: Obj) -> Option<Box<ThreadRef>> {
    // AcqRel: the thread that gets the address owns the box.
    let address = handle_word(internal).swap(0, Ordering::AcqRel);
    // SAFETY: a box from `link`; the swap made it ours.
    let reference = (address > REGISTERED).then(|| unsafe { Box::from_raw(address as *mut ThreadRef) })?;
    // The finalizer of another object may still ask for the state. Relaxed: as in `set_state`.
    let own_bits = own_state_bits(internal);
    if own_bits.load(Ordering::Relaxed) & state::STOPPED == 0 {
        own_bits.store(reference.state_bits.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    Some(reference)
}

/// References that collections took from dead objects. Never locked across a safepoint.
static RELEASED: Mutex<rank::ReleasedThreads, Vec<ThreadRef>> = Mutex::new(Vec::new());
/// Whether `RELEASED` may have references. Relaxed: a hint.
static HAS_RELEASED: AtomicBool = AtomicBool::new(false);

/// Takes the reference of an object that a collection found dead; the next threads that begin release it. The world is
/// stopped.
pub(crate) fn release_dead(internal: Obj) {
    if let Some(reference) = take_reference(internal) {
        RELEASED.lock().push(*reference);
        HAS_RELEASED.store(true, Ordering::Relaxed);
    }
}

/// Releases some of these references: more than a thread that begins adds, so that they become fewer, but only a few,
/// so that no start takes long. The thread that begins takes the structure that was released last, and the next one
/// those that are fetched here.
pub(crate) fn drop_released() {
    if HAS_RELEASED.load(Ordering::Relaxed) {
        let mut released = RELEASED.lock();
        let some = [released.pop(), released.pop()];
        released.iter().rev().take(some.len()).for_each(ThreadRef::prefetch);
        HAS_RELEASED.store(!released.is_empty(), Ordering::Relaxed);
        drop(released);
        drop(some);
    }
}

/// The InternalThread object of a Thread object, made if it has none yet.
///
/// # Errors
/// OutOfMemoryException.
pub fn internal_of<'t>(t: CurrentThread<'t>, thread: Obj<'t>) -> Managed<Obj<'t>> {
    internal_in(thread).map_or_else(|| construct_internal(t, thread), Ok)
}

/// The InternalThread object that a Thread object has; the object itself where Threads are their own InternalThreads.
pub fn internal_in(thread: Obj) -> Option<Obj> {
    if INTERNAL_THREAD.is_there() { INTERNAL_THREAD.obj(thread) } else { Some(thread) }
}

/// Makes the InternalThread of a Thread object.
fn new_internal<'t>(t: CurrentThread<'t>, thread: Obj<'t>, managed_id: i32, bits: u32) -> Managed<Obj<'t>> {
    let internal = if INTERNAL_THREAD.is_there() {
        let class = universe().library_type(LibraryType::InternalThread).to_managed(t)?;
        object::new_instance_without_finalizer(t, class)?
    } else {
        thread
    };
    MANAGED_ID.set(internal, managed_id);
    APARTMENT_STATE.set(internal, APARTMENT_UNKNOWN);
    PRIORITY.set(internal, NORMAL_PRIORITY);
    STATE.set(internal, bits);
    if INTERNAL_THREAD.is_there() {
        INTERNAL_THREAD.set_ref(t, thread, internal);
    }
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
pub fn construct_internal<'t>(t: CurrentThread<'t>, thread: Obj<'t>) -> Managed<Obj<'t>> {
    new_internal(t, thread, next_managed_id(), state::UNSTARTED)
}

/// Makes the Thread object of the current thread, which managed code did not start.
///
/// # Errors
/// OutOfMemoryException.
pub fn create_main(t: CurrentThread) -> Managed<()> {
    let thread_ty = universe().library_type(LibraryType::Thread).to_managed(t)?;
    let thread = Obj::new(t, thread_ty)?;
    let is_main = t.managed().kind() == ThreadKind::Main;
    // The thread has one number in all domains.
    let foreign = crate::thread_data::of(t).foreign_thread_object(t).and_then(internal_in);
    let managed_id = match foreign {
        _ if is_main => MAIN_MANAGED_ID,
        Some(foreign) => MANAGED_ID.get(foreign),
        None => next_managed_id(),
    };
    let bits = if t.managed().is_background() { state::BACKGROUND } else { 0 };
    drop_released();
    let internal = new_internal(t, thread, managed_id, bits)?;
    if let Some(foreign) = foreign {
        APARTMENT_STATE.set(internal, APARTMENT_STATE.get::<u8>(foreign));
        PRIORITY.set(internal, PRIORITY.get::<i32>(foreign));
        IS_POOL_THREAD.set(internal, IS_POOL_THREAD.get::<u8>(foreign));
    } else if !is_main {
        APARTMENT_STATE.set(internal, APARTMENT_MTA);
    }
    set_thread_id(t, internal);
    link(internal, t.managed());
    t.set_root(root::THREAD_OBJECT, thread);
    Ok(())
}

/// Sets the number by which the class library tells threads apart (`ReaderWriterLock`, `AppDomain.GetCurrentThreadId`):
/// the kernel's where each thread has an OS thread of its own. Green threads share their carriers and change them, so
/// every thread has its managed number then, even one with an OS thread of its own: the kernel's numbers could be equal
/// to managed ones.
fn set_thread_id(t: CurrentThread, internal: Obj) {
    let id = match saki_sched::mode() {
        ThreadMode::Native => i64::from(t.managed().native_id()),
        ThreadMode::Green | ThreadMode::Mn { .. } => i64::from(MANAGED_ID.get::<i32>(internal)),
    };
    THREAD_ID.set(internal, id);
}

/// The current thread's Thread object; made now if managed code did not start the thread.
///
/// # Errors
/// OutOfMemoryException.
pub fn current_object<'t>(t: CurrentThread<'t>) -> Managed<Obj<'t>> {
    if let Some(known) = t.root(root::THREAD_OBJECT) {
        return Ok(known);
    }
    create_main(t)?;
    Ok(t.root(root::THREAD_OBJECT).unwrap_or_else(|| saki_base::bug!("a thread without the object just made")))
}

/// The Thread object of a thread that runs in the current domain; None for other threads, those without an object, and
/// those that have ended.
pub fn object_here<'t>(_t: CurrentThread<'t>, thread: &ManagedThread) -> Option<Obj<'t>> {
    let object = thread.roots[root::THREAD_OBJECT].get();
    // In this order: until the thread is detached, collections keep the slot up to date, and no collection runs between
    // the two reads.
    if object.is_null() || thread.is_detached() {
        return None;
    }
    // SAFETY: the slot was a root when it was read, and no collection has run since.
    let object = unsafe { Obj::from_word(object) };
    object.filter(|object| std::ptr::eq(object.ty().universe(), universe()))
}

/// The current thread's InternalThread object.
///
/// # Errors
/// OutOfMemoryException.
pub fn current_internal<'t>(t: CurrentThread<'t>) -> Managed<Obj<'t>> {
    internal_of(t, current_object(t)?)
}

/// Sets the apartment state of the main thread as its entry point asks.
pub fn set_main_apartment(t: CurrentThread, is_single_threaded: bool) {
    let Some(internal) = t.root(root::THREAD_OBJECT).and_then(internal_in) else {
        saki_base::bug!("the main thread has no object");
    };
    APARTMENT_STATE.set(internal, if is_single_threaded { APARTMENT_STA } else { APARTMENT_MTA });
}

/// Makes `thread` the current thread's object.
pub(crate) fn adopt(t: CurrentThread, thread: Obj, internal: Obj) {
    t.set_root(root::THREAD_OBJECT, thread);
    link(internal, t.managed());
    set_thread_id(t, internal);
    if APARTMENT_STATE.get::<u8>(internal) == APARTMENT_UNKNOWN {
        APARTMENT_STATE.set(internal, APARTMENT_MTA);
    }
    if INTERRUPT_WANTED.get::<u8>(internal) != 0 {
        INTERRUPT_WANTED.set(internal, 0u8);
        t.managed().request(REQUEST_INTERRUPT);
    }
}

/// Sets Stopped for the current thread, whose object this is, which keeps a copy: a collection that finds the object
/// dead does not look at the thread's structure, which lies in no cache any more.
pub(crate) fn stop(internal: Obj) {
    let bits = state_bits(internal);
    set_stopped(bits);
    // Relaxed: another thread that changes a bit at the same time may find it lost in the copy, which counts only when
    // the object is dead.
    own_state_bits(internal).store(bits.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Sets Stopped. Release: a thread that sees Stopped sees all writes of this one.
pub(crate) fn set_stopped(bits: &AtomicU32) {
    let _ = bits
        .fetch_update(Ordering::Release, Ordering::Relaxed, |bits| Some((bits | state::STOPPED) & !state::BACKGROUND));
}

/// The state bits of the current thread; None while it has no Thread object.
pub(crate) fn current_bits(t: CurrentThread) -> Option<&'static AtomicU32> {
    let bits = &t.managed().state_bits;
    // Relaxed: only the start of this thread changes the state from `NO_STATE`.
    (bits.load(Ordering::Relaxed) != NO_STATE).then_some(bits)
}

//! Carriers: the OS threads that execute managed threads.
//!
//! A carrier is an OS thread with the data that it needs to run managed code: the collector's mutator and its
//! allocation buffer, the alternate signal stack, the kernel's thread id. A managed thread is the thread that a program
//! sees: its stack, roots, statics, monitors, requests and domain. A native thread has a carrier of its own for life;
//! green threads take turns on those of the scheduler (`saki_sched`).
//!
//! | field | written by | read by |
//! |---|---|---|
//! | `stop` | stopper, atomically | the carrier, before it lets a thread run |
//! | `current` | the carrier's OS thread | stopper, after its heavy fence; collector and inspectors while stopped |
//! | `idle_buffer`, `is_stowed` | the carrier's OS thread, while its thread is RUNNING; collector while stopped | the same |
//! | `ran` | the carrier's OS thread, while its thread is RUNNING; collector while stopped | the same |
//! | `handle_cache` | the carrier's OS thread; it stays with the record | the same |
//! | `heap` | whoever attaches the carrier, once | its OS thread; collector while stopped |
//! | `native_id` | the OS thread, at attach and at its end; Relaxed: a number that publishes nothing | anyone |
//!
//! Invariant: a managed thread is `current` of at most one carrier, and RUNNING only while it is. The allocation
//! buffer's cursor and limit are in the current thread's `ThreadAbi`, where compiled code finds them, or in
//! `idle_buffer` (`is_stowed`) when that thread may leave the carrier or there is no thread; they are moved while the
//! thread is RUNNING, so that no collection is under way. The list of carriers changes under the stop lock only.
//! Records of carriers are never freed, only reused.

use crate::child_locks::{hold, release, revive, revive_list};
use crate::managed_thread::ManagedThread;
use saki_base::locks::rank;
use saki_os::signal::{AlternateStack, AlternateStackMemory};
use saki_sync::SlotCache;
use saki_sync::word_locks::{Mutex, RwLock};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

/// A part of the heap that one carrier allocates from: next free byte and end, as `ThreadAbi` and MMTk lay them out.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct AllocBuffer {
    /// The address of the next object.
    pub cursor: usize,
    /// The end of the buffer; 0 without one.
    pub limit: usize,
}

const _: () = assert!(
    std::mem::offset_of!(saki_abi::ThreadAbi, alloc_limit)
        == std::mem::offset_of!(saki_abi::ThreadAbi, alloc_cursor) + 8
);

/// See the module header.
#[repr(align(128))]
pub struct Carrier {
    pub(crate) stop: AtomicU32,
    current: AtomicPtr<ManagedThread>,
    idle_buffer: UnsafeCell<AllocBuffer>,
    is_stowed: AtomicBool,
    /// Threads that ran on this carrier since the last collection and have left it; each is on one such list at most
    /// (`is_in_ran_list`).
    ran: UnsafeCell<Vec<&'static ManagedThread>>,
    handle_cache: SlotCache,
    heap: AtomicPtr<()>,
    native_id: AtomicU32,
    signal_stack: UnsafeCell<SignalStack>,
}

/// The alternate signal stack of a carrier's OS thread.
enum SignalStack {
    None,
    /// The thread has not run managed code yet.
    Memory(AlternateStackMemory),
    Installed(#[expect(dead_code, reason = "dropping it removes the stack")] AlternateStack),
}

// SAFETY: the fields without atomics are touched by the carrier's OS thread, or with the world stopped; see the table
// above.
unsafe impl Sync for Carrier {}
// SAFETY: a carrier is made before it has an OS thread; none of its fields refers to the thread that made it.
unsafe impl Send for Carrier {}

static CARRIERS: RwLock<rank::Carriers, Vec<&'static Carrier>> = RwLock::new(Vec::new());
static FREE: Mutex<rank::FreeCarriers, Vec<&'static Carrier>> = Mutex::new(Vec::new());
/// The threads that were on the lists of ended carriers.
static ORPHANED_RAN: Mutex<rank::OrphanedThreads, Vec<&'static ManagedThread>> = Mutex::new(Vec::new());

impl Carrier {
    fn leak() -> &'static Carrier {
        saki_base::leak(Carrier {
            stop: AtomicU32::new(0),
            current: AtomicPtr::new(std::ptr::null_mut()),
            idle_buffer: UnsafeCell::default(),
            is_stowed: AtomicBool::new(true),
            ran: UnsafeCell::default(),
            handle_cache: SlotCache::new(),
            heap: AtomicPtr::new(std::ptr::null_mut()),
            native_id: AtomicU32::new(0),
            signal_stack: UnsafeCell::new(SignalStack::None),
        })
    }

    /// A carrier of the calling OS thread, not yet in the list.
    pub(crate) fn of_this_os_thread(alternate_stack: AlternateStackMemory) -> &'static Carrier {
        let free = FREE.lock().pop();
        let carrier = free.unwrap_or_else(Carrier::leak);
        carrier.native_id.store(saki_os::thread::native_id(), Ordering::Relaxed);
        // SAFETY: the calling OS thread is the carrier's, and nobody else has it.
        unsafe { *carrier.signal_stack.get() = SignalStack::Memory(alternate_stack) };
        carrier
    }

    /// Gives the calling OS thread, which is the carrier's, its alternate signal stack, if it has none yet.
    pub(crate) fn install_signal_stack(&self) {
        // SAFETY: the calling OS thread is the carrier's.
        let place = unsafe { &mut *self.signal_stack.get() };
        *place = match std::mem::replace(place, SignalStack::None) {
            SignalStack::Memory(memory) => match memory.install() {
                Ok(stack) => SignalStack::Installed(stack),
                Err(error) => saki_base::bug!("no alternate signal stack: {error}"),
            },
            other => other,
        };
    }

    /// Puts the carrier into the list. The stop lock is held.
    pub(crate) fn enlist(&'static self) {
        CARRIERS.write().push(self);
    }

    /// Takes the carrier out of the list. The stop lock is held.
    pub(crate) fn delist(&self) {
        // SAFETY: the calling OS thread is the carrier's, runs nothing, and holds the stop lock: no collection is under
        // way.
        ORPHANED_RAN.lock().append(unsafe { &mut *self.ran.get() });
        let mut carriers = CARRIERS.write();
        if let Some(place) = carriers.iter().position(|c| std::ptr::eq(*c, self)) {
            carriers.swap_remove(place);
        }
    }

    /// The calling OS thread, which is the carrier's, ends or needs no carrier any more: the signal stack is removed,
    /// and the record may be reused.
    pub(crate) fn release(&'static self) {
        // SAFETY: the calling OS thread is the carrier's.
        drop(unsafe { self.signal_stack.get().replace(SignalStack::None) });
        self.native_id.store(0, Ordering::Relaxed);
        FREE.lock().push(self);
    }

    /// A forked child does not have the carrier's OS thread, whose signal stack stays mapped.
    fn forget_os_thread(&self) {
        // SAFETY: there is no other thread.
        std::mem::forget(unsafe { self.signal_stack.get().replace(SignalStack::None) });
        self.native_id.store(0, Ordering::Relaxed);
    }

    /// The managed thread that the carrier runs, or that called native code on it.
    pub fn current(&self) -> Option<&'static ManagedThread> {
        // Acquire: pairs with `set_current`; the thread's state is visible.
        // SAFETY: null, or a structure that is never freed.
        unsafe { self.current.load(Ordering::Acquire).as_ref() }
    }

    /// Sets the thread that the carrier runs, or none. For the carrier's OS thread; the buffer is stowed.
    #[inline(always)]
    pub(crate) fn set_current(&'static self, thread: Option<&'static ManagedThread>) {
        if let Some(thread) = thread {
            thread.set_carrier(self);
        }
        let next = thread.map_or(std::ptr::null(), std::ptr::from_ref).cast_mut();
        // Release: a reader that sees the thread sees its state.
        self.current.store(next, Ordering::Release);
    }

    /// Notes that the next collection must scan `thread`, even if no carrier runs it then. Called while this carrier's
    /// thread, which may be another one, is RUNNING.
    #[inline(always)]
    pub(crate) fn note_ran(&self, thread: &'static ManagedThread) {
        // Relaxed: the thread that swaps first puts the thread on a list; the collector, which clears the flag, is
        // ordered by the stop protocol.
        if !thread.is_in_ran_list.load(Ordering::Relaxed) && !thread.is_in_ran_list.swap(true, Ordering::Relaxed) {
            // SAFETY: a thread of this carrier is RUNNING, so no collection looks at the list.
            unsafe { (*self.ran.get()).push(thread) };
        }
    }

    /// Returns the former value. Relaxed: it changes on the carrier's OS thread only, while its thread is RUNNING.
    #[inline(always)]
    fn set_stowed(&self, is_stowed: bool) -> bool {
        let before = self.is_stowed.load(Ordering::Relaxed);
        self.is_stowed.store(is_stowed, Ordering::Relaxed);
        before
    }

    /// Puts the buffer by before `thread`, which is RUNNING on this carrier, gives the carrier away. Does nothing the
    /// second time.
    #[inline(always)]
    pub(crate) fn stow(&self, thread: &ManagedThread) {
        // Relaxed: changes on running threads only.
        if !self.set_stowed(true) {
            // SAFETY: the thread runs on this carrier, so no collection looks at the two.
            unsafe { *self.idle_buffer.get() = buffer_of(thread).replace(AllocBuffer::default()) };
        }
    }

    /// Gives `thread`, which has begun to run on this carrier, its buffer.
    #[inline(always)]
    pub(crate) fn unstow(&self, thread: &ManagedThread) {
        if self.set_stowed(false) {
            // SAFETY: the thread runs on this carrier, so no collection looks at the two buffers.
            unsafe { *buffer_of(thread) = *self.idle_buffer.get() };
        }
    }

    /// The place of the carrier's allocation buffer. For the carrier's OS thread, or with the world stopped.
    #[inline(always)]
    pub fn buffer(&self) -> *mut AllocBuffer {
        // Relaxed: the world is stopped, or the thread's own.
        match self.current() {
            Some(thread) if !self.is_stowed.load(Ordering::Relaxed) => buffer_of(thread),
            _ => self.idle_buffer.get(),
        }
    }

    /// The slots of the handle table that are reserved for threads on this carrier. For the carrier's OS thread.
    #[inline(always)]
    pub fn handle_cache(&self) -> &SlotCache {
        &self.handle_cache
    }

    /// The collector's data of the carrier.
    #[inline(always)]
    pub fn heap(&self) -> *mut () {
        // Relaxed: set before the carrier runs anything.
        self.heap.load(Ordering::Relaxed)
    }

    /// Keeps the collector's own data of the carrier.
    pub fn set_heap(&self, heap: *mut ()) {
        // Relaxed: changes under the stop lock, which orders it before each collection that looks at it.
        self.heap.store(heap, Ordering::Relaxed);
    }

    /// The kernel's thread id.
    pub fn native_id(&self) -> u32 {
        self.native_id.load(Ordering::Relaxed)
    }
}

#[inline(always)]
fn buffer_of(thread: &ManagedThread) -> *mut AllocBuffer {
    // SAFETY: the structure is never freed; only an address is computed.
    unsafe { (&raw mut (*thread.abi()).alloc_cursor).cast() }
}

/// Calls `visit` with each thread that may have run since the last call of this function: those that carriers run now,
/// and those that have left their carriers. The stacks and roots of all other threads are as they were at that call.
/// The world is stopped.
pub fn for_each_thread_that_ran(mut visit: impl FnMut(&'static ManagedThread)) {
    let carriers = CARRIERS.read_recursive();
    let mut leave = |thread: &'static ManagedThread| {
        // Relaxed: the world is stopped.
        thread.is_in_ran_list.store(false, Ordering::Relaxed);
        visit(thread);
    };
    ORPHANED_RAN.lock().drain(..).for_each(&mut leave);
    for carrier in carriers.iter() {
        // SAFETY: the world is stopped: the carrier's thread does not run.
        unsafe { (*carrier.ran.get()).drain(..) }.for_each(&mut leave);
    }
    // A thread that has just been taken up may have been visited above; twice does no harm.
    carriers.iter().filter_map(|carrier| carrier.current()).for_each(visit);
}

/// Before a fork: OS threads that end give no record back.
pub(crate) fn hold_records() {
    hold(&FREE);
}

/// In the parent.
pub(crate) fn release_records() {
    release(&FREE);
}

/// A forked child has the carrier `mine` at most: the others leave the list, after `leave` was called with each.
pub(crate) fn keep_only(mine: Option<&'static Carrier>, mut leave: impl FnMut(&'static Carrier)) {
    revive_list(&CARRIERS);
    revive(&FREE);
    revive(&ORPHANED_RAN);
    if let Some(mine) = mine {
        mine.native_id.store(saki_os::thread::native_id(), Ordering::Relaxed);
    }
    let gone: Vec<&'static Carrier> = {
        let all = CARRIERS.read();
        all.iter().copied().filter(|carrier| mine.is_none_or(|mine| !std::ptr::eq(*carrier, mine))).collect()
    };
    for carrier in gone {
        leave(carrier);
        carrier.delist();
        carrier.forget_os_thread();
        carrier.set_current(None);
    }
}

/// Calls `visit` for every carrier. `visit` does not block, attach or detach.
pub fn for_each_carrier(mut visit: impl FnMut(&'static Carrier)) {
    CARRIERS.read_recursive().iter().for_each(|carrier| visit(carrier));
}

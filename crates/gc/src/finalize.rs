//! Objects with finalizers.
//!
//! An object is registered when it is created and when it is re-registered. When a collection finds it unreachable it
//! moves to a ready queue and is kept alive with all it refers to (resurrection) until the finalizer thread takes it.
//! Objects whose type derives from CriticalFinalizerObject go to a second queue that is drained after the first, so that
//! a FileStream's finalizer still finds its SafeHandle open. Weak references, whose finalizer only frees a GC handle, and the objects
//! behind threads are not resurrected: the collection itself has their handles released (`HeapClient::release`).
//!
//! | list | who adds | a collection |
//! |---|---|---|
//! | the thread's buffer | its thread, without a lock | empties it |
//! | `young` | threads that end | empties it |
//! | `old` | collections | looks at it if it is a full one |
//!
//! `SuppressFinalize` sets a bit beside the heap (one per 8 bytes, in memory that costs nothing before its first use) and
//! leaves the lists alone; the bit voids the object's entry when the object dies. Invariant: the bit of an address is
//! clear when an object is registered there, whatever earlier objects at that address left behind. Re-registering may
//! leave two entries, which the next collection merges into one. Rejected: tables keyed by address under a lock, which
//! cost ten threads that make weak references 100–400 ns for each. Left out: running finalizers, which is the runtime's
//! finalizer thread.

use crate::client::client;
use crate::mmtk;
use crate::object::vtable_of;
use crate::tracer::Tracer;
use parking_lot::Mutex;
use rustc_hash::FxHashSet;
use saki_abi::{ObjRef, VTableFlags};
use saki_thread::ManagedThread;
use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

#[derive(Default)]
struct Finalizers {
    young: Vec<ObjRef>,
    /// Survived a collection.
    old: Vec<ObjRef>,
    ready: VecDeque<ObjRef>,
    ready_critical: VecDeque<ObjRef>,
}

// SAFETY: the references are plain addresses here; the heap they point into is shared by all threads.
unsafe impl Send for Finalizers {}

/// Never held across a safepoint.
static FINALIZERS: Mutex<Finalizers> = Mutex::new(Finalizers {
    young: Vec::new(),
    old: Vec::new(),
    ready: VecDeque::new(),
    ready_critical: VecDeque::new(),
});
/// Some object may be in the lists twice. Relaxed: collections read it with the world stopped.
static MAY_HAVE_DUPLICATES: AtomicBool = AtomicBool::new(false);

/// Suppression bits: bit `(a >> 3) & 7` of byte `base + ((a - HEAP_START) >> 6)`.
static SUPPRESSION_TABLE: OnceLock<usize> = OnceLock::new();
/// Address of the table; 0 = no bit was ever set. Relaxed: the table is zero from the start, so nothing else is published.
static SUPPRESSED_BASE: AtomicUsize = AtomicUsize::new(0);

/// `table`: zeroes, a bit for each 8 bytes of the heap's address range. Called once, before there are objects.
pub(crate) fn set_suppression_table(table: usize) {
    let _ = SUPPRESSION_TABLE.set(table);
}

/// The byte and the bit of an object.
fn suppressed_bit(base: usize, object: ObjRef) -> (&'static AtomicU8, u8) {
    let offset = object.address() - mmtk::HEAP_START;
    // SAFETY: objects lie in the heap range, all of which the table covers; it is never unmapped.
    (unsafe { &*((base + (offset >> 6)) as *const AtomicU8) }, 1 << ((offset >> 3) & 7))
}

/// Clears the bit; whether it was set.
#[inline]
fn take_suppressed(object: ObjRef) -> bool {
    let base = SUPPRESSED_BASE.load(Ordering::Relaxed);
    if base == 0 {
        return false;
    }
    let (byte, bit) = suppressed_bit(base, object);
    // Relaxed: the bit orders nothing. The load first: it is nearly always clear.
    byte.load(Ordering::Relaxed) & bit != 0 && byte.fetch_and(!bit, Ordering::Relaxed) & bit != 0
}

fn set_suppressed(object: ObjRef) {
    let base = *SUPPRESSION_TABLE.get().expect("set when the heap was made");
    if SUPPRESSED_BASE.load(Ordering::Relaxed) == 0 {
        SUPPRESSED_BASE.store(base, Ordering::Relaxed);
    }
    let (byte, bit) = suppressed_bit(base, object);
    byte.fetch_or(bit, Ordering::Relaxed);
}

/// The finalizer of the new object runs once after it becomes unreachable. `thread` is the current thread.
#[inline]
pub fn register_finalizer(thread: &ManagedThread, object: ObjRef) {
    take_suppressed(object);
    mmtk::push_finalizable(thread, object);
}

/// `GC.ReRegisterForFinalize`; registering twice is the same as once.
pub fn register_finalizer_again(thread: &ManagedThread, object: ObjRef) {
    MAY_HAVE_DUPLICATES.store(true, Ordering::Relaxed);
    register_finalizer(thread, object);
}

/// `GC.SuppressFinalize`; no effect on objects that are already in a ready queue.
pub fn suppress_finalizer(object: ObjRef) {
    set_suppressed(object);
}

/// The thread ends: its objects stay registered.
pub(crate) fn adopt(objects: Vec<ObjRef>) {
    if !objects.is_empty() {
        FINALIZERS.lock().young.extend(objects);
    }
}

/// The next object whose finalizer is to run: normal ones first, then critical ones.
pub fn next_finalizable() -> Option<ObjRef> {
    let mut finalizers = FINALIZERS.lock();
    finalizers.ready.pop_front().or_else(|| finalizers.ready_critical.pop_front())
}

/// Number of objects whose finalizers wait to be run.
pub fn finalizable_count() -> usize {
    let finalizers = FINALIZERS.lock();
    finalizers.ready.len() + finalizers.ready_critical.len()
}

/// Makes every registered object that `filter` accepts ready, reachable or not: at exit and when a domain unloads. Objects that
/// collections release themselves stay registered. Stops the world, to include objects that are only in their threads' buffers, but
/// collects nothing. `filter` must not reach a safepoint. Returns how many.
pub fn make_all_finalizable(filter: &mut dyn FnMut(ObjRef) -> bool) -> usize {
    saki_thread::with_world_stopped(saki_thread::StopReason::Unloading, |_| {
        let mut guard = FINALIZERS.lock();
        let finalizers = &mut *guard;
        let young = &mut finalizers.young;
        mmtk::for_each_finalizable_buffer(&mut |buffer| young.append(buffer));
        if MAY_HAVE_DUPLICATES.swap(false, Ordering::Relaxed) {
            finalizers.remove_duplicates();
        }
        let mut taken = Vec::new();
        for list in [&mut finalizers.old, &mut finalizers.young] {
            list.retain(|&object| {
                // SAFETY: registered objects are alive until they leave the lists.
                let is_released = unsafe { vtable_of(object) }.flags.has(VTableFlags::IS_RELEASED_BY_COLLECTOR);
                let accepted = !is_released && filter(object);
                if accepted && !take_suppressed(object) {
                    taken.push(object);
                }
                !accepted
            });
        }
        for &object in &taken {
            finalizers.push_ready(object);
        }
        taken.len()
    })
}

impl Finalizers {
    fn push_ready(&mut self, object: ObjRef) {
        // SAFETY: registered objects are alive until they leave the lists, and ready ones are roots.
        let flags = unsafe { vtable_of(object) }.flags;
        if flags.has(VTableFlags::CRITICAL_FINALIZER) {
            self.ready_critical.push_back(object);
        } else {
            self.ready.push_back(object);
        }
    }

    /// Moves the entries of the threads' buffers to `young` and leaves one entry for each object.
    #[cold]
    fn remove_duplicates(&mut self) {
        let young = &mut self.young;
        mmtk::for_each_finalizable_buffer(&mut |buffer| young.append(buffer));
        let mut seen: FxHashSet<usize> = self.old.iter().map(|object| object.address()).collect();
        young.retain(|object| seen.insert(object.address()));
    }
}

/// The fate of a registered object: `Some` = it stays, at this address.
#[inline]
fn sift(object: ObjRef, tracer: &dyn Tracer, dead: &mut Vec<ObjRef>) -> Option<ObjRef> {
    if let Some(now) = tracer.reached(object) {
        if now != object {
            if take_suppressed(object) {
                set_suppressed(now);
            } else {
                take_suppressed(now);
            }
        }
        return Some(now);
    }
    if take_suppressed(object) {
        return None;
    }
    // SAFETY: dead in this collection, so not yet swept.
    let flags = unsafe { vtable_of(object) }.flags;
    if !flags.has(VTableFlags::IS_RELEASED_BY_COLLECTOR) || !client().release(object) {
        dead.push(object);
    }
    None
}

/// Moves the objects that the collection did not reach to the ready queues and retains them. True if there were any.
pub(crate) fn process(tracer: &mut dyn Tracer) -> bool {
    let mut guard = FINALIZERS.lock();
    let finalizers = &mut *guard;
    if MAY_HAVE_DUPLICATES.swap(false, Ordering::Relaxed) {
        finalizers.remove_duplicates();
    }
    let mut dead = Vec::new();
    if tracer.is_full() {
        finalizers.old.retain_mut(|object| match sift(*object, tracer, &mut dead) {
            Some(now) => {
                *object = now;
                true
            }
            None => false,
        });
    }
    let Finalizers { young, old, .. } = finalizers;
    let mut empty = |buffer: &mut Vec<ObjRef>| {
        old.extend(buffer.drain(..).filter_map(|object| sift(object, tracer, &mut dead)));
    };
    empty(young);
    mmtk::for_each_finalizable_buffer(&mut empty);
    for &object in &dead {
        let object = tracer.retain(object);
        finalizers.push_ready(object);
    }
    !dead.is_empty()
}

/// The ready queues are roots: calls `visit` with the address of each reference in them. The world is stopped.
pub(crate) fn for_each_root(visit: &mut dyn FnMut(*mut ObjRef)) {
    let mut finalizers = FINALIZERS.lock();
    let Finalizers { ready, ready_critical, .. } = &mut *finalizers;
    for slot in ready.iter_mut().chain(ready_critical.iter_mut()) {
        visit(slot);
    }
}

/// Tells the finalizer thread if there is work for it. The world runs again.
pub(crate) fn wake_if_ready() {
    if finalizable_count() != 0 {
        client().wake_finalizer();
    }
}

//! Objects with finalizers.
//!
//! An object is registered when it is created and when it is re-registered. When a collection finds it unreachable it
//! moves to a ready queue and is kept alive with all it refers to (resurrection) until the finalizer thread takes it.
//! Objects whose type derives from CriticalFinalizerObject go to a second queue that is drained after the first, so
//! that a FileStream's finalizer still finds its SafeHandle open. Weak references, whose finalizer only frees a GC
//! handle, and the objects behind threads are not resurrected: the collection itself has their handles released
//! (`HeapClient::release`).
//!
//! | list | who adds | a collection |
//! |---|---|---|
//! | the thread's buffer | its thread, without a lock | empties it |
//! | `young` | threads that end | empties it |
//! | `old` | collections | looks at it if it is a full one |
//!
//! Re-registering may leave two entries. On Mono's class libraries the next collection merges them into one; on .NET's
//! each of them counts, so that the finalizer runs twice. Rejected: tables keyed by address
//! under a lock, which cost ten threads that make weak references 100–400 ns for each. Left out: registering
//! (`registration`), `GC.SuppressFinalize` (`suppression`), and running finalizers, which is the runtime's finalizer
//! thread.

use crate::client::client;
use crate::object::vtable_of;
use crate::suppression::{set_suppressed, take_suppressed};
use crate::tracer::Tracer;
use rustc_hash::FxHashSet;
use saki_abi::{ObjRef, VTableFlags};
use saki_base::locks::{Mutex, rank};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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
static FINALIZERS: Mutex<rank::Finalizers, Finalizers> = Mutex::new(Finalizers {
    young: Vec::new(),
    old: Vec::new(),
    ready: VecDeque::new(),
    ready_critical: VecDeque::new(),
});
/// Some object may be in the lists twice. Relaxed: collections read it with the world stopped.
static MAY_HAVE_DUPLICATES: AtomicBool = AtomicBool::new(false);
/// Some object may be in the lists twice, and each entry counts. Never cleared. Relaxed: collections read it with the
/// world stopped.
static COUNTS_DUPLICATES: AtomicBool = AtomicBool::new(false);
/// How many objects have been taken from the queues. Relaxed: it only says whether another collection may find memory.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// An object is about to be registered once more.
pub(crate) fn expect_duplicates() {
    MAY_HAVE_DUPLICATES.store(true, Ordering::Relaxed);
}

/// An object is about to be registered once more, which counts.
pub(crate) fn allow_duplicates() {
    COUNTS_DUPLICATES.store(true, Ordering::Relaxed);
}

/// Takes over the objects in the buffer of a thread that ends, or is stopped: they stay registered.
pub(crate) fn adopt(buffer: &mut Vec<ObjRef>) {
    if !buffer.is_empty() {
        FINALIZERS.lock().young.append(buffer);
    }
}

/// The next object whose finalizer is to run: normal ones first, then critical ones.
pub fn next_finalizable() -> Option<ObjRef> {
    let mut finalizers = FINALIZERS.lock();
    let next = finalizers.ready.pop_front().or_else(|| finalizers.ready_critical.pop_front());
    if next.is_some() {
        TAKEN.fetch_add(1, Ordering::Relaxed);
    }
    next
}

/// How many objects `next_finalizable` has given.
pub(crate) fn taken_count() -> u64 {
    TAKEN.load(Ordering::Relaxed)
}

/// Number of objects whose finalizers wait to be run.
pub fn finalizable_count() -> usize {
    let finalizers = FINALIZERS.lock();
    finalizers.ready.len() + finalizers.ready_critical.len()
}

/// Makes every registered object that `filter` accepts ready, reachable or not, except those that collections release
/// themselves. Returns how many. The world is stopped, and all buffers have been adopted.
pub(crate) fn make_all_ready(filter: &mut dyn FnMut(ObjRef) -> bool) -> usize {
    let mut guard = FINALIZERS.lock();
    let finalizers = &mut *guard;
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

    /// Leaves one entry for each object. All buffers have been adopted.
    #[cold]
    fn remove_duplicates(&mut self) {
        let mut seen: FxHashSet<usize> = self.old.iter().map(|object| object.address()).collect();
        self.young.retain(|object| seen.insert(object.address()));
    }
}

/// What a pass over the lists finds.
struct Pass {
    dead: Vec<ObjRef>,
    /// If objects may have several entries: the new addresses of objects that have moved with their bit, since the bit
    /// goes along with the first entry.
    moved_with_bit: Option<FxHashSet<usize>>,
}

impl Pass {
    fn new() -> Pass {
        let may_repeat = COUNTS_DUPLICATES.load(Ordering::Relaxed);
        Pass { dead: Vec::new(), moved_with_bit: may_repeat.then(FxHashSet::default) }
    }

    /// Moves the bit of a registered object along with it; what an earlier object left at the new address is cleared.
    fn move_bit(&mut self, from: ObjRef, to: ObjRef) {
        if take_suppressed(from) {
            set_suppressed(to);
            self.moved_with_bit.as_mut().map(|moved| moved.insert(to.address()));
        } else if !self.moved_with_bit.as_ref().is_some_and(|moved| moved.contains(&to.address())) {
            take_suppressed(to);
        }
    }
}

/// The fate of a registered object: `Some` = it stays, at this address.
#[inline]
fn sift(object: ObjRef, tracer: &dyn Tracer, pass: &mut Pass) -> Option<ObjRef> {
    if let Some(now) = tracer.reached(object) {
        if now != object {
            pass.move_bit(object, now);
        }
        return Some(now);
    }
    if take_suppressed(object) {
        return None;
    }
    // SAFETY: dead in this collection, so not yet swept.
    let flags = unsafe { vtable_of(object) }.flags;
    if !flags.has(VTableFlags::IS_RELEASED_BY_COLLECTOR) || !client().release(object) {
        pass.dead.push(object);
    }
    None
}

/// Moves the objects that the collection did not reach to the ready queues and retains them. True if there were any.
pub(crate) fn process(tracer: &mut dyn Tracer) -> bool {
    let mut guard = FINALIZERS.lock();
    let finalizers = &mut *guard;
    if MAY_HAVE_DUPLICATES.swap(false, Ordering::Relaxed) {
        tracer.for_each_new_finalizable(&mut |buffer| finalizers.young.append(buffer));
        finalizers.remove_duplicates();
    }
    let mut pass = Pass::new();
    if tracer.is_full() {
        finalizers.old.retain_mut(|object| match sift(*object, tracer, &mut pass) {
            Some(now) => {
                *object = now;
                true
            }
            None => false,
        });
    }
    let Finalizers { young, old, .. } = finalizers;
    let mut empty = |buffer: &mut Vec<ObjRef>| {
        old.extend(buffer.drain(..).filter_map(|object| sift(object, tracer, &mut pass)));
    };
    empty(young);
    tracer.for_each_new_finalizable(&mut empty);
    for &object in &pass.dead {
        let object = tracer.retain(object);
        finalizers.push_ready(object);
    }
    !pass.dead.is_empty()
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

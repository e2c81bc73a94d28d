//! Objects with finalizers.
//!
//! An object is registered when it is created and when it is re-registered. When a collection finds it unreachable it
//! moves to a ready queue and is kept alive with all it refers to (resurrection) until the finalizer thread takes it.
//! Objects whose type derives from CriticalFinalizerObject go to a second queue that is drained after the first, so that
//! a FileStream's finalizer still finds its SafeHandle open.
//!
//! Invariant: a registered object is in exactly one table, keyed by its address; objects that move are re-keyed by the
//! collection that moves them. The lock is never held across a safepoint. Rejected: lists with a set of suppressed
//! addresses; a second `SuppressFinalize` leaves an entry that later voids the registration of whatever gets the address.
//! Left out: running finalizers, which is the runtime's finalizer thread.

use crate::object::vtable_of;
use crate::tracer::Tracer;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use saki_abi::{ObjRef, VTableFlags};
use std::collections::VecDeque;
use std::sync::{LazyLock, OnceLock};

/// Address → registration number, which makes finalizers of one collection run in the order of registration.
type Registrations = FxHashMap<usize, u64>;

#[derive(Default)]
struct Finalizers {
    /// Registered since the last collection.
    young: Registrations,
    /// Survived a collection: only a full one looks at them.
    old: Registrations,
    next_number: u64,
    ready: VecDeque<ObjRef>,
    ready_critical: VecDeque<ObjRef>,
}

// SAFETY: the references are plain addresses here; the heap they point into is shared by all threads.
unsafe impl Send for Finalizers {}

static FINALIZERS: LazyLock<Mutex<Finalizers>> = LazyLock::new(Mutex::default);
static WAKE_FINALIZER: OnceLock<fn()> = OnceLock::new();

/// `wake` is called after a collection that made objects ready, on a collector thread: it may signal the finalizer
/// thread and nothing else. Set once; later calls are ignored.
pub fn set_finalizer_wakeup(wake: fn()) {
    let _ = WAKE_FINALIZER.set(wake);
}

/// Its finalizer runs once after `object` becomes unreachable. Also `GC.ReRegisterForFinalize`; registering twice is the
/// same as once.
pub fn register_finalizer(object: ObjRef) {
    let mut finalizers = FINALIZERS.lock();
    let number = finalizers.next_number;
    finalizers.next_number += 1;
    if !finalizers.old.contains_key(&object.address()) {
        finalizers.young.entry(object.address()).or_insert(number);
    }
}

/// `GC.SuppressFinalize`; no effect on objects that are not registered or already in a ready queue.
pub fn suppress_finalizer(object: ObjRef) {
    let mut finalizers = FINALIZERS.lock();
    if finalizers.young.remove(&object.address()).is_none() {
        finalizers.old.remove(&object.address());
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

/// Makes every registered object that `filter` accepts ready, reachable or not: at exit and when a domain unloads.
/// `filter` must not reach a safepoint. Returns how many.
pub fn make_all_finalizable(filter: &mut dyn FnMut(ObjRef) -> bool) -> usize {
    let mut guard = FINALIZERS.lock();
    let finalizers = &mut *guard;
    let mut taken = Vec::new();
    for table in [&mut finalizers.old, &mut finalizers.young] {
        table.retain(|&address, &mut number| {
            let accepted = filter(ObjRef(address as *mut _));
            if accepted {
                taken.push((number, ObjRef(address as *mut _)));
            }
            !accepted
        });
    }
    taken.sort_unstable_by_key(|&(number, _)| number);
    for &(_, object) in &taken {
        finalizers.push_ready(object);
    }
    taken.len()
}

impl Finalizers {
    fn push_ready(&mut self, object: ObjRef) {
        // SAFETY: registered objects are alive until they leave the tables, and ready ones are roots.
        let flags = unsafe { vtable_of(object) }.flags;
        if flags.has(VTableFlags::CRITICAL_FINALIZER) {
            self.ready_critical.push_back(object);
        } else {
            self.ready.push_back(object);
        }
    }

    /// Splits `table` into the reached (kept, under their new addresses) and the dead.
    fn sift(&mut self, table: Registrations, tracer: &dyn Tracer, dead: &mut Vec<(u64, ObjRef)>) {
        for (address, number) in table {
            let object = ObjRef(address as *mut _);
            match tracer.reached(object) {
                Some(object) => {
                    self.old.insert(object.address(), number);
                }
                None => dead.push((number, object)),
            }
        }
    }
}

/// Moves what the collection did not reach to the ready queues and retains it. True if there was any.
pub(crate) fn process(tracer: &mut dyn Tracer) -> bool {
    let mut guard = FINALIZERS.lock();
    let finalizers = &mut *guard;
    let mut dead = Vec::new();
    if tracer.is_full() {
        let old = std::mem::take(&mut finalizers.old);
        finalizers.sift(old, tracer, &mut dead);
    }
    let young = std::mem::take(&mut finalizers.young);
    finalizers.sift(young, tracer, &mut dead);
    dead.sort_unstable_by_key(|&(number, _)| number);
    for &(_, object) in &dead {
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
    if finalizable_count() != 0
        && let Some(wake) = WAKE_FINALIZER.get()
    {
        wake();
    }
}

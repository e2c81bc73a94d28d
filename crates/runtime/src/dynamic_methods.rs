//! The end of dynamic methods: when nothing has one any more, its code, entry and metadata are used again.
//!
//! A dynamic method lives while one of these holds; managed code keeps its DynamicMethod object through its delegates, through
//! the methods that call it (`DynamicMethod.refs`) and through exceptions whose trace names it:
//! - its DynamicMethod object is alive, finalizers included (a long weak link, in the method's notes);
//! - the RuntimeMethodInfo that was made of it is alive (another such link);
//! - a word of some stack or saved register points into its code, to its entry stub or to its `Method`;
//! - a method that lives by one of the last two names it;
//! - something that is not followed has it: a function pointer (`keep`).
//!
//! | list | meaning | leaves it when |
//! |---|---|---|
//! | young | registered since the last collection | the next collection: to old, or to detached if both objects died |
//! | old | the object has survived a collection | a full collection finds both objects dead: to detached |
//! | detached | the object and the RuntimeMethodInfo are gone | a collection does not see it: to dead |
//! | dead | unreachable: its entry cannot be called again | `reclaim`: code out of the map, stamp taken, to retired |
//! | retired | walks in signal handlers may still see the code | the stamp has passed: freed |
//!
//! The first four change with the world stopped, or by mutators without a safepoint under `LISTS`; so a collection never finds
//! the lists locked (or a list of young ones in use) or a method half freed. Who makes methods pays for freeing them, the finalizer thread does the rest.

use crate::entries;
use crate::fields::ManagedField;
use crate::object;
use crate::thread::Thread;
use parking_lot::Mutex;
use saki_abi::ObjRef;
use saki_code::{ClauseKind, CodeInfo, MethodEntry};
use saki_gc::{WeakFate, WeakKind, WeakTable};
use saki_sync::{SlotPool, Stamp};
use saki_types::dynamic::{DynamicCode, DynamicRef};
use saki_types::dynamic_records::{self, Finder, notes};
use saki_types::{Method, universe};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

#[derive(Default)]
struct Lists {
    old: Vec<&'static Method>,
    detached: Vec<&'static Method>,
    dead: Vec<&'static Method>,
    /// Those of the others that have a RuntimeMethodInfo, by whether that has survived a collection.
    with_young_info: Vec<&'static Method>,
    with_old_info: Vec<&'static Method>,
}

static LISTS: Mutex<Lists> = Mutex::new(Lists {
    old: Vec::new(),
    detached: Vec::new(),
    dead: Vec::new(),
    with_young_info: Vec::new(),
    with_old_info: Vec::new(),
});

/// Those registered since the last collection: a list a thread.
static YOUNG: SlotPool<Vec<&'static Method>> = SlotPool::new();

/// Length of `Lists::dead`. A hint: read without the lock.
static DEAD_COUNT: AtomicUsize = AtomicUsize::new(0);

/// What was retired together.
struct Batch {
    stamp: Stamp,
    methods: Vec<&'static Method>,
    bodies: Vec<&'static CodeInfo>,
}

static RETIRED: Mutex<VecDeque<Batch>> = Mutex::new(VecDeque::new());

/// Methods retired at once.
const BATCH: usize = 32;

/// Counts since the start.
struct Counts {
    /// Registered before the last collection.
    met: AtomicU64,
    freed: AtomicU64,
    kept: AtomicU64,
}

static COUNTS: Counts = Counts { met: AtomicU64::new(0), freed: AtomicU64::new(0), kept: AtomicU64::new(0) };

/// Counts since the start, for `saki --stats`.
#[derive(Clone, Copy, Debug)]
pub struct DynamicMethodStatistics {
    pub made: u64,
    pub freed: u64,
    pub kept: u64,
}

/// Exact when nobody makes dynamic methods.
pub fn statistics() -> DynamicMethodStatistics {
    // Relaxed, also where they grow: counters.
    let mut made = COUNTS.met.load(Ordering::Relaxed);
    YOUNG.for_each_idle(|young| made += young.len() as u64);
    let [freed, kept] = [&COUNTS.freed, &COUNTS.kept].map(|count| count.load(Ordering::Relaxed));
    DynamicMethodStatistics { made, freed, kept }
}

/// Ties a method to the DynamicMethod object (not null) that it lives as long as. Frees some that are dead.
pub fn register(method: &'static Method, object: ObjRef) {
    // Relaxed: collections read it with the world stopped; for others the lock orders it.
    notes(method).object.store(object.address(), Ordering::Relaxed);
    YOUNG.with(|young| young.push(method));
    // Relaxed: a hint.
    if DEAD_COUNT.load(Ordering::Relaxed) > 0 {
        reclaim_batch();
    }
}

/// The DynamicMethod object of a dynamic method; null when it is gone.
pub fn object_of(method: &'static Method) -> ObjRef {
    // Relaxed: changed with the world stopped only. The object may be unreachable otherwise; from here on the stack has it.
    ObjRef(notes(method).object.load(Ordering::Relaxed) as *mut saki_abi::Object)
}

/// The RuntimeMethodInfo of a dynamic method; null when there is none.
pub fn info_of(method: &'static Method) -> ObjRef {
    // Relaxed: as in `object_of`.
    ObjRef(notes(method).info.load(Ordering::Relaxed) as *mut saki_abi::Object)
}

/// Ties a method to a RuntimeMethodInfo that was made of it, as long as that lives. Gives the first one.
pub fn set_info(method: &'static Method, info: ObjRef) -> ObjRef {
    let mut lists = LISTS.lock();
    let known = info_of(method);
    if !known.is_null() {
        return known;
    }
    // Relaxed: as in `register`.
    notes(method).info.store(info.address(), Ordering::Relaxed);
    lists.with_young_info.push(method);
    info
}

/// Makes a dynamic method live for ever, with the methods that it names: something has it that collections do not follow.
pub fn keep(method: &'static Method) {
    let mut pending = vec![method];
    while let Some(method) = pending.pop() {
        if !method.is_dynamic() || notes(method).is_kept.swap(true, Ordering::Relaxed) {
            continue;
        }
        COUNTS.kept.fetch_add(1, Ordering::Relaxed);
        pending.extend(named_methods(method));
    }
}

fn named_methods(method: &'static Method) -> impl Iterator<Item = &'static Method> {
    method.dynamic_refs().iter().filter_map(|named| match named {
        DynamicRef::Method(callee) if callee.is_dynamic() => Some(*callee),
        _ => None,
    })
}

/// Lets an exception keep the DynamicMethod that its trace names, in the field that the class library has for this: a list of
/// pairs (object, rest).
pub fn hold_by_exception(t: Thread, exception: ObjRef, method: &'static Method) {
    static HELD: ManagedField = ManagedField::corlib("System", "Exception", "_dynamicMethods");
    let object = object_of(method);
    let rest = HELD.get_ref(exception);
    if object.is_null() {
        return keep(method);
    }
    if !rest.is_null() && object::get_element_ref(rest, 0) == object {
        return;
    }
    match object::new_array(t, universe().object(), 2) {
        Ok(pair) => {
            object::set_element_ref(t, pair, 0, object);
            object::set_element_ref(t, pair, 1, HELD.get_ref(exception));
            HELD.set_ref(t, exception, pair);
        }
        Err(_) => {
            t.take_pending();
            keep(method);
        }
    }
}

struct DynamicMethods;

impl WeakTable for DynamicMethods {
    fn update_weak(&self, kind: WeakKind, is_full: bool, fate_of: &mut dyn FnMut(ObjRef) -> WeakFate) {
        if kind == WeakKind::Long {
            update(is_full, fate_of);
        }
    }
}

/// Registers the links with the collector. Called once.
pub(crate) fn register_with_collector() {
    saki_gc::register_weak_table(&DynamicMethods);
}

/// Follows the objects and finds the dead. The world is stopped.
fn update(is_full: bool, fate_of: &mut dyn FnMut(ObjRef) -> WeakFate) {
    let mut lists = LISTS.lock();
    let Lists { old, detached, dead, with_young_info, with_old_info } = &mut *lists;
    let mut follow = |link: &AtomicUsize| {
        // Relaxed: the world is stopped.
        let object = link.load(Ordering::Relaxed);
        if object == 0 {
            return false;
        }
        match fate_of(ObjRef(object as *mut saki_abi::Object)) {
            WeakFate::Alive(now) => {
                link.store(now.address(), Ordering::Relaxed);
                true
            }
            WeakFate::Dead => {
                link.store(0, Ordering::Relaxed);
                false
            }
        }
    };
    if is_full {
        with_old_info.retain(|method| follow(&notes(method).info));
    }
    with_old_info.extend(with_young_info.drain(..).filter(|method| follow(&notes(method).info)));
    // Both are followed, not only the first one that is alive.
    let mut is_alive = |method: &'static Method| follow(&notes(method).object) | !info_of(method).is_null();
    if is_full {
        detached.extend(old.extract_if(.., |method| !is_alive(method)));
    }
    YOUNG.for_each_idle(|young| {
        COUNTS.met.fetch_add(young.len() as u64, Ordering::Relaxed);
        for method in young.drain(..) {
            if is_alive(method) { old.push(method) } else { detached.push(method) }
        }
    });
    // Relaxed, here and below: the world is stopped.
    detached.retain(|method| !notes(method).is_kept.load(Ordering::Relaxed));
    if detached.is_empty() {
        return;
    }
    let seen = methods_seen(with_old_info);
    dead.extend(detached.extract_if(.., |method| !notes(method).is_seen.load(Ordering::Relaxed)));
    for method in seen {
        notes(method).is_seen.store(false, Ordering::Relaxed);
    }
    DEAD_COUNT.store(dead.len(), Ordering::Relaxed);
    if !dead.is_empty() {
        crate::finalizer::wake();
    }
}

/// The dynamic methods that words of stopped threads point into, those with a RuntimeMethodInfo, and those that these name; each
/// is marked.
fn methods_seen(with_info: &[&'static Method]) -> Vec<&'static Method> {
    let finder = Finder::lock();
    let mut seen = Vec::new();
    with_info.iter().for_each(|method| note(method, &mut seen));
    saki_thread::for_each_thread(|thread| {
        thread.for_each_conservative_range(|range| note_words(range, &finder, &mut seen));
    });
    let mut next = 0;
    while let Some(&method) = seen.get(next) {
        named_methods(method).for_each(|callee| note(callee, &mut seen));
        next += 1;
    }
    seen
}

fn note(method: &'static Method, seen: &mut Vec<&'static Method>) {
    // Relaxed: one collector thread.
    if method.is_dynamic() && !notes(method).is_seen.swap(true, Ordering::Relaxed) {
        seen.push(method);
    }
}

fn note_words(range: Range<usize>, finder: &Finder, seen: &mut Vec<&'static Method>) {
    for address in range.step_by(size_of::<usize>()) {
        // SAFETY: a word of a stopped thread's stack or saved registers, aligned.
        let word = unsafe { (address as *const usize).read_volatile() };
        let found = if saki_code::contains(word) { method_of_code(word) } else { finder.find(word) };
        if let Some(method) = found {
            note(method, seen);
        }
    }
}

/// The method whose code or entry stub a word points into; a return address may be the first one behind the code.
pub(crate) fn method_of_code(word: usize) -> Option<&'static Method> {
    const STUB_ALIGNMENT: usize = 16;
    let method = match saki_code::lookup(word).or_else(|| saki_code::lookup(word - 1)) {
        Some(info) => info.method,
        None => MethodEntry::of_stub(word & !(STUB_ALIGNMENT - 1))?.argument(),
    };
    // SAFETY: code in the map and entries in use have their method's address, or null; methods outlive both.
    unsafe { method.cast::<Method>().as_ref() }
}

/// Retires a batch of the dead and frees what nobody can see any more. True if there is more to do now.
fn reclaim_batch() -> bool {
    let Some(mut retired) = RETIRED.try_lock() else { return false };
    let methods: Vec<_> = {
        let mut lists = LISTS.lock();
        let first = lists.dead.len().saturating_sub(BATCH);
        lists.dead.drain(first..).collect()
    };
    let more = DEAD_COUNT.fetch_sub(methods.len(), Ordering::Relaxed) > methods.len();
    let walks = saki_code::walks();
    if !methods.is_empty() {
        let bodies: Vec<_> = methods.iter().flat_map(|method| bodies_of(method)).collect();
        for body in &bodies {
            // SAFETY: the method is dead: no object gives its entry away and no stack word points into its code.
            unsafe { saki_code::retire(body) };
        }
        retired.push_back(Batch { stamp: walks.stamp(), methods, bodies });
    }
    // Twice: without walkers everything passes at once.
    let _ = walks.try_advance() && walks.try_advance();
    while retired.front().is_some_and(|batch| walks.has_passed(batch.stamp)) {
        if let Some(batch) = retired.pop_front() {
            free(batch);
        }
    }
    more
}

/// Frees all that is dead. For the finalizer thread.
pub(crate) fn reclaim_all() {
    while DEAD_COUNT.load(Ordering::Relaxed) > 0 && reclaim_batch() {}
}

/// The code of a method, and of its filters.
fn bodies_of(method: &'static Method) -> Vec<&'static CodeInfo> {
    // Acquire: the tables were written before the code was published.
    let code = method.runtime.code.load(Ordering::Acquire);
    let Some(body) = (code != 0).then(|| saki_code::lookup(code)).flatten() else { return Vec::new() };
    let filters = body.clauses.iter().filter_map(|clause| match clause.kind {
        ClauseKind::Filter(address) => saki_code::lookup(address),
        _ => None,
    });
    std::iter::once(body).chain(filters).collect()
}

fn free(batch: Batch) {
    // SAFETY: retired, the stamp has passed, and who ran them is long gone.
    unsafe { saki_code::free_all(&batch.bodies) };
    for method in &batch.methods {
        for (index, named) in method.dynamic_refs().iter().enumerate() {
            if let DynamicRef::Text = named {
                crate::strings::forget_literal(method.image(), DynamicCode::token(index).0);
            }
        }
        crate::compile::forget_deferred_errors(method);
    }
    let entries: Vec<_> = batch.methods.iter().filter_map(|method| entries::existing_entry(method)).collect();
    // SAFETY: the methods are dead; static methods have no unboxing stub.
    unsafe { MethodEntry::free_all(&entries) };
    // SAFETY: as above; code and entries are gone, the runtime's tables have forgotten the methods.
    unsafe { dynamic_records::free(&batch.methods) };
    COUNTS.freed.fetch_add(batch.methods.len() as u64, Ordering::Relaxed);
}

/// Frees the second body of a dynamic method that two threads compiled at once; its address was not given out.
pub(crate) fn discard(body: &'static CodeInfo) {
    // SAFETY: nobody can have called it.
    unsafe { saki_code::retire(body) };
    let batch = Batch { stamp: saki_code::walks().stamp(), methods: Vec::new(), bodies: vec![body] };
    RETIRED.lock().push_back(batch);
}

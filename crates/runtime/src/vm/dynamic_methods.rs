//! The end of dynamic methods: when there are no more references to one, the memory of its code, entry and metadata is
//! reused.
//!
//! A dynamic method lives while one of these conditions holds; managed code keeps its DynamicMethod object through its
//! delegates, through the methods that call it (`DynamicMethod.refs`) and through exceptions whose trace names it. In
//! .NET's class libraries the resolver, which gives a method's code, takes that object's part: each holds the other.
//! - its DynamicMethod object is alive, finalizers included (a long weak link, in the method's notes);
//! - the RuntimeMethodInfo that was made of it is alive (another such link);
//! - a word of some stack or saved register points into its code, to its entry stub or to its `Method`; then the
//!   objects above are roots, for traces that name the method later;
//! - a method that lives for one of the two reasons above names it;
//! - something that the collector does not trace refers to it: a function pointer (`keep`).
//!
//! | list | meaning | leaves it when |
//! |---|---|---|
//! | young | registered since the last collection | the next collection: to old, or to detached if the object died |
//! | old | the object has survived a collection | a full collection finds the object dead: to detached |
//! | detached | the DynamicMethod object is gone | a collection sees neither RuntimeMethodInfo nor stack word: to dead |
//! | dead | unreachable: its entry cannot be called again | `reclaim`: code out of the map, stamp taken; to retired, or freed at once |
//! | retired | walks in signal handlers may still see the code | the stamp has passed: freed |
//!
//! Each processor has its share of the first four lists (`SHARES`): a thread that makes methods on a processor first
//! frees as many dead ones of that share as it is about to make. So their memory is in the processor's own caches when
//! it is freed and reused (with common lists two threads take 4 % longer). The finalizer thread frees the dead methods
//! of shares that no thread uses.
//!
//! A share changes with the world stopped, or by the thread that took it from the pool and reaches no safepoint before
//! it gives it back; the other lists change under `LISTS`, also without a safepoint. So a collection never finds a
//! share in use, the lists locked or a method half freed.
//!
//! A collection does not read the records of methods that die in it: there are thousands, none in the processor's
//! caches. The data that it needs are in the lists, in the collector's tables and in the small sets of methods that are
//! seen or kept.

use crate::entries;
use crate::host_events::{HostEvent, tell_if_wanted};
use crate::object::{exception_trace, versions};
use crate::profile_log::{self, LogEvents};
use crate::references::{Obj, Word};
use crate::thread::CurrentThread;
use rustc_hash::{FxBuildHasher, FxHashSet};
use saki_abi::ObjRef;
use saki_base::locks::{Mutex, rank};
use saki_code::{CodeInfo, MethodEntry, PlacedClause};
use saki_gc::{Root, RootProvider, WeakFate, WeakKind, WeakTable};
use saki_sync::{SlotPool, Stamp};
use saki_types::dynamic::{DynamicCode, DynamicRef};
use saki_types::dynamic_records::{self, Finder, notes};
use saki_types::{Method, collectible};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

struct Lists {
    /// Methods for which the pool had no slot.
    without_slot: Share,
    /// Methods that are held by something the collector does not trace, such as a raw function pointer, by address;
    /// kept for ever. They are in no share, or leave it at the next collection.
    kept: MethodSet,
    /// The other methods that have a RuntimeMethodInfo, divided by whether that object has survived a collection.
    with_young_info: Vec<&'static Method>,
    with_old_info: Vec<&'static Method>,
    ordinary_code: OrdinaryCode,
    /// The methods that words of stacks point into, as the present collection has found them at its start.
    on_stacks: Seen,
    /// Their objects.
    held: Vec<ObjRef>,
}

// SAFETY: the objects are looked at by collections only, with the world stopped.
unsafe impl Send for Lists {}

/// Some addresses in code that lives for ever: return addresses that the stacks hold at every collection. 0 = none.
struct OrdinaryCode([usize; ORDINARY_CODE]);

const ORDINARY_CODE: usize = 1024;

impl OrdinaryCode {
    /// The method whose code or entry stub a word points into, if it is a dynamic or collectible one, which may be
    /// freed.
    fn mortal_method(&mut self, word: usize) -> Option<&'static Method> {
        let place = &mut self.0[(word ^ word >> 10) % ORDINARY_CODE];
        if *place == word {
            return None;
        }
        let method = method_of_code(word)?;
        if method.is_dynamic() || collectible::owner_of(method).is_some() {
            return Some(method);
        }
        // A return address behind the last instruction is not remembered: other code may begin there later.
        if saki_code::lookup(word).is_some() {
            *place = word;
        }
        None
    }
}

/// Methods by address.
type MethodSet = FxHashSet<usize>;

fn address_of(method: &'static Method) -> usize {
    std::ptr::from_ref(method).addr()
}

static LISTS: Mutex<rank::DynamicMethods, Lists> = Mutex::new(Lists {
    without_slot: Share::new(),
    kept: MethodSet::with_hasher(FxBuildHasher),
    with_young_info: Vec::new(),
    with_old_info: Vec::new(),
    ordinary_code: OrdinaryCode([0; ORDINARY_CODE]),
    on_stacks: Seen { known: MethodSet::with_hasher(FxBuildHasher), in_order: Vec::new() },
    held: Vec::new(),
});

/// Whether the present collection judges the methods whose objects have survived one. Relaxed: the collector's packets
/// order it.
static IS_FULL: AtomicBool = AtomicBool::new(false);

/// The methods that were made on one processor, except those that are freed or retired.
#[derive(Default)]
struct Share {
    young: Vec<Young>,
    old: Vec<&'static Method>,
    detached: Vec<&'static Method>,
    dead: Vec<&'static Method>,
    /// Methods made since the last batch was freed.
    made: usize,
    /// More methods die than are freed, so batches are freed twice as often.
    falls_behind: bool,
    /// A method was made since the finalizer thread looked.
    in_use: bool,
}

impl Share {
    const fn new() -> Share {
        Share {
            young: Vec::new(),
            old: Vec::new(),
            detached: Vec::new(),
            dead: Vec::new(),
            made: 0,
            falls_behind: false,
            in_use: false,
        }
    }

    /// Takes another share's methods.
    fn join(&mut self, other: Share) {
        self.young.extend(other.young);
        self.old.extend(other.old);
        self.detached.extend(other.detached);
        self.dead.extend(other.dead);
    }

    /// Adds a method. Returns dead methods that the caller should free in exchange.
    fn add(&mut self, young: Young) -> Vec<&'static Method> {
        self.young.push(young);
        self.in_use = true;
        self.made += if self.falls_behind { 2 } else { 1 };
        if self.made < BATCH || self.dead.is_empty() {
            return Vec::new();
        }
        self.made = 0;
        let first = self.dead.len().saturating_sub(BATCH);
        self.dead.drain(first..).collect()
    }

    /// Whether the collection may find an object of a method dead, or has found it so before.
    fn may_lose(&self, is_full: bool) -> bool {
        !self.young.is_empty() || !self.detached.is_empty() || is_full && !self.old.is_empty()
    }

    /// The objects that the collection may find dead of those methods that are among these.
    fn objects_of(&self, methods: &MethodSet, is_full: bool) -> impl Iterator<Item = ObjRef> {
        let young = self.young.iter().map(|young| (young.method, Some(young.object)));
        let old = self.old.iter().filter(move |_| is_full).map(|&method| (method, None));
        let wanted = young.chain(old).filter(|(method, _)| methods.contains(&address_of(method)));
        wanted.map(|(method, object)| object.unwrap_or_else(|| object_word(method)))
    }

    /// Follows the objects: of the young, and of the old in a full collection. The world is stopped.
    fn detach(&mut self, is_full: bool, kept: &MethodSet, fate_of: &mut dyn FnMut(ObjRef) -> WeakFate) {
        let Share { young, old, detached, .. } = self;
        if is_full {
            detached.extend(old.extract_if(.., |method| !follow(&notes(method).object, object_word(method), fate_of)));
        }
        // Relaxed, here and below: the world is stopped.
        COUNTS.met.fetch_add(young.len() as u64, Ordering::Relaxed);
        for at in 0..young.len() {
            if let Some(ahead) = young.get(at + FETCHED_AHEAD) {
                saki_gc::prefetch_fate(ahead.object);
            }
            let Young { method, object } = young[at];
            if follow(&notes(method).object, object, fate_of) { old.push(method) } else { detached.push(method) }
        }
        young.clear();
        if !kept.is_empty() {
            for method in detached.extract_if(.., |method| kept.contains(&address_of(method))) {
                // Relaxed: the world is stopped.
                notes(method).object.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Detached methods without any reference become dead. Returns the number of dead methods. The world is stopped.
    fn bury(&mut self, seen: &MethodSet) -> usize {
        let left = self.dead.len();
        self.dead.extend(self.detached.extract_if(.., |method| !seen.contains(&address_of(method))));
        self.falls_behind = left > self.dead.len() - left;
        for method in &self.detached {
            // Relaxed: the world is stopped.
            notes(method).object.store(0, Ordering::Relaxed);
        }
        self.dead.len()
    }
}

/// A method and its DynamicMethod object, which no collection has moved yet.
struct Young {
    method: &'static Method,
    object: ObjRef,
}

// SAFETY: the object is looked at by collections only, with the world stopped.
unsafe impl Send for Young {}

static SHARES: SlotPool<Share> = SlotPool::new();

/// The number of methods in all dead lists. A hint. Relaxed: who acts on it takes the locks.
static DEAD_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Methods that were retired together.
struct Batch {
    stamp: Stamp,
    methods: Vec<&'static Method>,
    bodies: Vec<&'static CodeInfo>,
}

/// Batches that wait for walks to end, oldest first. The lock is held for moments, without a safepoint.
static RETIRED: Mutex<rank::RetiredMethods, VecDeque<Batch>> = Mutex::new(VecDeque::new());
/// Length of `RETIRED`. A hint. Relaxed: who acts on it takes the lock.
static RETIRED_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Methods freed at once.
const BATCH: usize = 16;

/// The number of methods ahead for which a collection prefetches the data that decides whether an object lives.
const FETCHED_AHEAD: usize = 16;

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

/// The counts so far; exact while no thread makes dynamic methods.
pub fn statistics() -> DynamicMethodStatistics {
    // Relaxed, also where they grow: counters.
    let mut made = COUNTS.met.load(Ordering::Relaxed);
    made += LISTS.lock().without_slot.young.len() as u64;
    SHARES.for_each_idle(|share| made += share.young.len() as u64);
    let [freed, kept] = [&COUNTS.freed, &COUNTS.kept].map(|count| count.load(Ordering::Relaxed));
    DynamicMethodStatistics { made, freed, kept }
}

/// Ties a method to the object that it lives as long as, the DynamicMethod or, in .NET's class libraries, its resolver.
/// Frees some that are dead.
pub fn register(method: &'static Method, object: Obj) {
    let object = object.word();
    // Relaxed: collections read it with the world stopped; for others the lock orders it.
    notes(method).object.store(object.address(), Ordering::Relaxed);
    let mut share = SHARES.take().unwrap_or_default();
    let batch = share.add(Young { method, object });
    if let Err(share) = SHARES.give_or_keep(share) {
        LISTS.lock().without_slot.join(*share);
    }
    if !batch.is_empty() {
        reclaim(batch);
    }
}

/// The object that a dynamic method lives as long as; None when it is gone.
pub fn object_of<'t>(_t: CurrentThread<'t>, method: &'static Method) -> Option<Obj<'t>> {
    // SAFETY: `detach` and `bury` keep the word null or the address of a live object, with the world stopped; no
    // collection comes between the load and the return, and then a stack word holds the object.
    unsafe { Obj::from_word(object_word(method)) }
}

fn object_word(method: &'static Method) -> ObjRef {
    // Relaxed: the word changes with the world stopped only. The object may be otherwise unreachable; from here on a
    // stack word keeps it.
    ObjRef(notes(method).object.load(Ordering::Relaxed) as *mut saki_abi::Object)
}

/// The RuntimeMethodInfo of a dynamic method; None when there is none.
pub fn info_of<'t>(_t: CurrentThread<'t>, method: &'static Method) -> Option<Obj<'t>> {
    // SAFETY: collections clear the word before they free the object, with the world stopped; the caller's frames hold
    // it from here on.
    unsafe { Obj::from_word(info_word(method)) }
}

fn info_word(method: &'static Method) -> ObjRef {
    // Relaxed: as in `object_word`.
    ObjRef(notes(method).info.load(Ordering::Relaxed) as *mut saki_abi::Object)
}

/// Links a method weakly to a RuntimeMethodInfo that was made of it. Returns the first such object.
pub fn set_info<'t>(t: CurrentThread<'t>, method: &'static Method, info: Obj<'t>) -> Obj<'t> {
    let mut lists = LISTS.lock();
    if let Some(known) = info_of(t, method) {
        return known;
    }
    // Relaxed: as in `register`.
    notes(method).info.store(info.address(), Ordering::Relaxed);
    lists.with_young_info.push(method);
    info
}

/// Makes a dynamic method live for ever, with the methods that it names, because the collector does not trace a
/// reference to it.
pub fn keep(method: &'static Method) {
    let mut lists = LISTS.lock();
    let mut pending = vec![method];
    while let Some(method) = pending.pop() {
        if !method.is_dynamic() || !lists.kept.insert(address_of(method)) {
            continue;
        }
        // Relaxed: a counter.
        COUNTS.kept.fetch_add(1, Ordering::Relaxed);
        // The owner of its type, mostly its domain, is kept with it.
        if let Some(owner) = collectible::owner_of(method.owner) {
            owner.keep_for_ever();
        }
        pending.extend(named_methods(method));
    }
}

fn named_methods(method: &'static Method) -> impl Iterator<Item = &'static Method> {
    method.dynamic_refs().iter().filter_map(|named| match named {
        DynamicRef::Method(callee) if callee.is_dynamic() => Some(*callee),
        _ => None,
    })
}

/// Lets an exception keep the DynamicMethod that its trace names.
pub fn hold_by_exception(t: CurrentThread, exception: Obj, method: &'static Method) {
    let Some(object) = object_of(t, method) else { return keep(method) };
    if exception_trace::hold(t, exception, object).is_err() {
        t.take_pending();
        keep(method);
    }
}

/// The links, for the collector.
pub(crate) struct DynamicMethods;

impl RootProvider for DynamicMethods {
    fn begin(&self, is_full: bool) {
        IS_FULL.store(is_full, Ordering::Relaxed);
    }

    fn for_each_slot(&self, visit: &mut dyn FnMut(*mut ObjRef)) {
        let mut lists = LISTS.lock();
        let Lists { without_slot, with_young_info, with_old_info, ordinary_code, on_stacks, held, .. } = &mut *lists;
        *on_stacks = Seen::default();
        held.clear();
        let is_full = IS_FULL.load(Ordering::Relaxed);
        let mut are_judged = without_slot.may_lose(is_full);
        SHARES.for_each_idle(|share| are_judged |= share.may_lose(is_full));
        if !are_judged {
            return;
        }
        *on_stacks = methods_on_stacks(ordinary_code);
        if on_stacks.in_order.is_empty() {
            return;
        }
        // Only methods of these lists have objects: the links of those that died are stale until their records are
        // freed, and old words of stacks may lead there.
        let mut hold = |share: &mut Share| held.extend(share.objects_of(&on_stacks.known, is_full));
        hold(without_slot);
        SHARES.for_each_idle(hold);
        let with_info = with_young_info.iter().chain(with_old_info.iter().filter(|_| is_full));
        held.extend(with_info.filter(|method| on_stacks.known.contains(&address_of(method))).map(|m| info_word(m)));
        // The links themselves are followed later.
        held.iter_mut().for_each(|object| visit(object));
    }

    /// None: the words of stacks, which are roots of their own, say who runs the methods.
    fn for_each_root(&self, _visit: &mut dyn FnMut(Root)) {}
}

impl WeakTable for DynamicMethods {
    fn update_weak(&self, kind: WeakKind, is_full: bool, fate_of: &mut dyn FnMut(ObjRef) -> WeakFate) {
        if kind == WeakKind::Long {
            update(is_full, fate_of);
        }
    }
}

/// Updates a weak link to an object. True: the object lives, and the link has its new address. The world is stopped.
fn follow(link: &AtomicUsize, object: ObjRef, fate_of: &mut dyn FnMut(ObjRef) -> WeakFate) -> bool {
    match fate_of(object) {
        WeakFate::Alive(now) => {
            // Relaxed: the world is stopped. Most objects do not move; their links are not written, to leave the cache
            // lines alone.
            if now != object {
                link.store(now.address(), Ordering::Relaxed);
            }
            true
        }
        WeakFate::Dead => false,
    }
}

/// Follows the objects and finds the dead methods. The world is stopped.
fn update(is_full: bool, fate_of: &mut dyn FnMut(ObjRef) -> WeakFate) {
    let mut lists = LISTS.lock();
    let Lists { without_slot, kept, with_young_info, with_old_info, on_stacks, .. } = &mut *lists;
    let mut has_info = |method: &&'static Method| {
        let lives = follow(&notes(method).info, info_word(method), fate_of);
        if !lives {
            // Relaxed, here and below: the world is stopped.
            notes(method).info.store(0, Ordering::Relaxed);
        }
        lives
    };
    if is_full {
        with_old_info.retain(&mut has_info);
    }
    with_old_info.extend(with_young_info.drain(..).filter(has_info));
    let mut any_detached = false;
    let mut detach = |share: &mut Share| {
        share.detach(is_full, kept, fate_of);
        any_detached |= !share.detached.is_empty();
    };
    detach(without_slot);
    SHARES.for_each_idle(detach);
    if !any_detached {
        return;
    }
    let seen = with_named(std::mem::take(on_stacks), with_old_info);
    let mut dead = without_slot.bury(&seen);
    SHARES.for_each_idle(|share| dead += share.bury(&seen));
    DEAD_COUNT.store(dead, Ordering::Relaxed);
    if dead > 0 {
        crate::finalizer_signal::wake();
    }
}

/// Methods found by one look at the roots.
#[derive(Default)]
struct Seen {
    known: MethodSet,
    in_order: Vec<&'static Method>,
}

impl Seen {
    fn note(&mut self, method: &'static Method) {
        if method.is_dynamic() && self.known.insert(address_of(method)) {
            self.in_order.push(method);
        }
    }
}

/// The dynamic methods that words of stopped threads point into.
fn methods_on_stacks(ordinary_code: &mut OrdinaryCode) -> Seen {
    let finder = Finder::lock();
    let mut seen = Seen::default();
    saki_thread::for_each_thread(|thread| {
        thread.for_each_conservative_range(|range| note_words(range, &finder, ordinary_code, &mut seen));
    });
    seen
}

/// These methods, those with a RuntimeMethodInfo, and those that these name.
fn with_named(mut seen: Seen, with_info: &[&'static Method]) -> MethodSet {
    with_info.iter().for_each(|method| seen.note(method));
    let mut next = 0;
    while let Some(&method) = seen.in_order.get(next) {
        named_methods(method).for_each(|callee| seen.note(callee));
        next += 1;
    }
    seen.known
}

/// Notes the methods that words point into. There are tens of thousands of words, of which few point near code: two
/// comparisons each.
fn note_words(range: Range<usize>, finder: &Finder, ordinary_code: &mut OrdinaryCode, seen: &mut Seen) {
    let code = saki_code::mapped_range();
    let records = finder.bounds();
    for address in range.step_by(size_of::<usize>()) {
        // SAFETY: a word of a stopped thread's stack or saved registers, aligned.
        let word = unsafe { (address as *const usize).read_volatile() };
        let found = if code.contains(&word) {
            ordinary_code.mortal_method(word)
        } else if records.contains(&word) {
            finder.find(word)
        } else {
            continue;
        };
        if let Some(method) = found {
            seen.note(method);
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

/// Retires methods from a list of dead ones; frees them and earlier ones whose stamp has passed.
fn reclaim(methods: Vec<&'static Method>) {
    // Relaxed: a hint.
    DEAD_COUNT.fetch_sub(methods.len(), Ordering::Relaxed);
    let bodies: Vec<_> = methods.iter().flat_map(|method| bodies_of(method)).collect();
    for body in &bodies {
        // SAFETY: the method is dead: no object leads to its entry and no stack word points into its code.
        unsafe { saki_code::retire(body) };
    }
    let walks = saki_code::walks();
    let batch = Batch { stamp: walks.stamp(), methods, bodies };
    // Twice, because without walkers two advances make every stamp pass at once.
    let _ = walks.try_advance() && walks.try_advance();
    if walks.has_passed(batch.stamp) {
        free(batch);
    } else {
        add_to_retired(batch);
    }
    free_retired();
}

fn add_to_retired(batch: Batch) {
    let mut retired = RETIRED.lock();
    retired.push_back(batch);
    RETIRED_COUNT.store(retired.len(), Ordering::Relaxed);
}

/// Frees retired methods whose stamp has passed.
fn free_retired() {
    // Relaxed: a hint.
    while RETIRED_COUNT.load(Ordering::Relaxed) > 0 {
        let mut retired = RETIRED.lock();
        let has_passed = retired.front().is_some_and(|batch| saki_code::walks().has_passed(batch.stamp));
        let Some(batch) = has_passed.then(|| retired.pop_front()).flatten() else { return };
        RETIRED_COUNT.store(retired.len(), Ordering::Relaxed);
        drop(retired);
        free(batch);
    }
}

/// Whether methods wait to be freed. A hint.
pub(crate) fn are_dead() -> bool {
    DEAD_COUNT.load(Ordering::Relaxed) > 0 || RETIRED_COUNT.load(Ordering::Relaxed) > 0
}

/// Frees dead methods: all of them, or those of processors on which no method was made since the last call. For the
/// finalizer thread.
pub(crate) fn reclaim_dead(all: bool) {
    let mut dead = std::mem::take(&mut LISTS.lock().without_slot.dead);
    SHARES.for_each_idle(|share| {
        if !std::mem::take(&mut share.in_use) || all {
            dead.append(&mut share.dead);
        }
    });
    for batch in dead.chunks(BATCH) {
        reclaim(batch.to_vec());
    }
    let walks = saki_code::walks();
    let _ = walks.try_advance() && walks.try_advance();
    free_retired();
}

/// The code of a method, and of its filters.
fn bodies_of(method: &'static Method) -> Vec<&'static CodeInfo> {
    let Some(version) = versions::current(method) else { return Vec::new() };
    let body = version.body;
    let filters = body.clauses().iter().filter_map(|clause| match *clause {
        PlacedClause::Filter(address) => saki_code::lookup(address),
        _ => None,
    });
    std::iter::once(body).chain(filters).collect()
}

fn free(batch: Batch) {
    saki_sampler::allocations::forget();
    batch.bodies.iter().for_each(|body| crate::compile::forget_deferred_errors(body));
    // SAFETY: the bodies are retired, their stamp has passed, and no thread has run them since they were dead.
    unsafe { saki_code::free_all(&batch.bodies) };
    for method in &batch.methods {
        for (index, named) in method.dynamic_refs().iter().enumerate() {
            if let DynamicRef::Text = named {
                crate::strings::forget_literal(method.image(), DynamicCode::token(index).0);
            }
        }
        // SAFETY: the method is dead.
        unsafe { versions::free(method) };
        tell_if_wanted(HostEvent::MethodFreed(method));
        if profile_log::is_on(LogEvents::ALWAYS) {
            profile_log::events::method_freed(method);
        }
    }
    let entries: Vec<_> = batch.methods.iter().filter_map(|method| entries::existing_entry(method)).collect();
    // SAFETY: the methods are dead; static methods have no unboxing stub.
    unsafe { MethodEntry::free_all(&entries) };
    // SAFETY: the methods are dead, their code and entries are gone, and the tables of the runtime have forgotten them.
    unsafe { dynamic_records::free(&batch.methods) };
    // Relaxed: a counter.
    COUNTS.freed.fetch_add(batch.methods.len() as u64, Ordering::Relaxed);
}

/// Frees the second body of a dynamic method that two threads compiled at once; its address was not given out.
pub(crate) fn discard(body: &'static CodeInfo) {
    // SAFETY: the body was not published, so no thread runs it.
    unsafe { saki_code::retire(body) };
    add_to_retired(Batch { stamp: saki_code::walks().stamp(), methods: Vec::new(), bodies: vec![body] });
}

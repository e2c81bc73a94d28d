//! The end of collectible assemblies (AssemblyBuilderAccess.RunAndCollect) and of unloaded domains: when there are no
//! more references to one, its types, code, statics and objects are freed.
//!
//! An assembly's records and those of instantiations over its types have one owner (`types::collectible`); the other
//! records of a domain have another owner, which collections ignore until the domain is unloaded. An owner lives while
//! - a word of some live object points among its records or into its code: instances by their vtables, reflection
//!   objects and builders by their handles, delegates by their methods, exceptions by their traces;
//! - a word of some stack or saved register points there, or into a dynamic method that names one of its types or
//!   members;
//! - a thread is in the domain;
//! - the records of another live owner refer to it, or a type that is not collectible does (then it is kept for ever);
//! - something that the collector does not trace refers to it (`Owner::keep_for_ever`): context statics of an
//!   assembly, a dynamic method that is kept for ever itself.
//!
//! Its own root cells, statics and thread-statics do not count: they are traced only when one of the above has been
//! found (`gc::ConditionalRoots`), so an assembly whose statics refer to its own objects ends like any other. Nor do
//! the C functions of its methods and delegates, which native code has: such a function outlives the method, and finds
//! in the pause in which the owner dies that there is no method any more (`Owner::add_weak_word`). Only full
//! collections decide whether an owner is dead.
//!
//! | list | meaning | leaves it when |
//! |---|---|---|
//! | the list of `types::collectible` | live | a full collection finds none of the above: to dead |
//! | dead | unreachable, in no list that is searched by name | `reclaim_dead`: code out of the map, stamp taken, to retired |
//! | retired | walks in signal handlers may still see the code | the stamp has passed: code, entries and records are freed |
//!
//! Unloading empties the root cells, statics and thread-statics of the domain, so few references to its records remain:
//! mostly stale words of stacks. Full collections are asked for when unloaded domains hold `ASKING_BYTES` more than at
//! the last time.

use crate::domains::of_universe;
use crate::dynamic_methods::method_of_code;
use crate::object::versions;
use crate::profile_log;
use crate::thread::CurrentThread;
use crate::upper_layers::upper_layers;
use crate::{
    cast_cache, class_init, code_cache, compile, entries, finalizer_signal, proxies, source_lines, statics, strings,
};
use rustc_hash::{FxHashMap, FxHashSet};
use saki_abi::{ObjRef, RefMap};
use saki_base::locks::{Mutex, rank};
use saki_code::{CodeInfo, MethodEntry};
use saki_gc::{ConditionalRoots, Root, RootKind, RootProvider};
use saki_os::clock::Moment;
use saki_sync::Stamp;
use saki_thread::{BlockScan, StopReason};
use saki_types::collectible::{self, Owner, for_each_owner};
use saki_types::dynamic::DynamicRef;
use saki_types::dynamic_records::Finder;
use saki_types::universe::{bury_unseen, entered_by, may_judge};
use saki_types::{Method, Universe};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Assemblies and domains that have ended since the start, for `saki --stats`. Relaxed: counters.
pub static ENDED: AtomicU64 = AtomicU64::new(0);
pub static DOMAINS_ENDED: AtomicU64 = AtomicU64::new(0);

static DEAD: Mutex<rank::DeadOwners, Vec<&'static Owner>> = Mutex::new(Vec::new());
/// Length of `DEAD`. A hint. Relaxed: who acts on it takes the lock.
static DEAD_COUNT: AtomicUsize = AtomicUsize::new(0);

struct Batch {
    stamp: Stamp,
    owners: Vec<&'static Owner>,
    bodies: Vec<&'static CodeInfo>,
    entries: Vec<MethodEntry>,
}

static RETIRED: Mutex<rank::RetiredOwners, VecDeque<Batch>> = Mutex::new(VecDeque::new());

struct Judgement {
    /// Owners that were found alive and whose roots have not been traced yet.
    new: Vec<&'static Owner>,
    has_seen_stacks: bool,
    /// The thread-static blocks that collections judge with their owners.
    blocks: ThreadBlocks,
}

impl Judgement {
    const NONE: Judgement = Judgement { new: Vec::new(), has_seen_stacks: false, blocks: ThreadBlocks::NONE };
}

/// Thread-static blocks of owners that may die (`BlockScan::Conditional`), when all threads are stopped.
struct ThreadBlocks {
    /// Addresses of their references, by owner.
    slots: FxHashMap<usize, Vec<usize>>,
    /// (first address, end, owner), ascending. The blocks lie outside of the records, so a word that points to one,
    /// such as a `ref` to a thread-static field, does not tell its owner otherwise.
    ranges: Vec<(usize, usize, usize)>,
}

impl ThreadBlocks {
    const NONE: ThreadBlocks =
        ThreadBlocks { slots: FxHashMap::with_hasher(rustc_hash::FxBuildHasher), ranges: Vec::new() };

    /// The world is stopped.
    fn find() -> ThreadBlocks {
        let mut found = ThreadBlocks::NONE;
        saki_thread::for_each_thread(|thread| {
            thread.for_each_static_block(|block| {
                let BlockScan::Conditional { map, owner } = block.scan else { return };
                let start = block.data.addr();
                found.ranges.push((start, start + block.size_bytes, owner));
                // SAFETY: the map lies among the owner's records, which are freed after the block.
                let offsets = unsafe { RefMap::offsets(map) };
                let slots = offsets.iter().map(|&offset| start + offset as usize);
                found.slots.entry(owner).or_default().extend(slots);
            });
        });
        found.ranges.sort_unstable();
        found
    }

    /// The owner of the block to or into which a word points.
    fn owner_of_word(&self, word: usize) -> Option<&'static Owner> {
        let &(_, end, owner) = self.ranges[..self.ranges.partition_point(|(start, ..)| *start <= word)].last()?;
        // SAFETY: the block is in a thread's list, so its owner has not ended.
        (word < end).then(|| unsafe { &*(owner as *const Owner) })
    }
}

pub(crate) struct Assemblies {
    judgement: Mutex<rank::OwnerJudgement, Judgement>,
    /// Whether the collection that runs decides which owners are dead, so that their roots are conditional.
    is_judging: AtomicBool,
}

/// The domains' and assemblies' records, for the collector.
pub(crate) static ASSEMBLIES: Assemblies =
    Assemblies { judgement: Mutex::new(Judgement::NONE), is_judging: AtomicBool::new(false) };

impl RootProvider for Assemblies {
    fn for_each_slot(&self, visit: &mut dyn FnMut(*mut ObjRef)) {
        // Relaxed, here and below: the collection's phases order it.
        let is_judging = self.is_judging.load(Ordering::Relaxed);
        for_each_owner(&mut |owner| {
            if !is_judging || owner.is_kept() {
                owner.for_each_slot(&mut |slot| visit(slot as *mut ObjRef));
            }
        });
    }

    /// Statics are among the owners' slots. A slot that is found twice, with and without its type, is reported once,
    /// with the type.
    fn for_each_root(&self, visit: &mut dyn FnMut(Root)) {
        let mut named = FxHashSet::default();
        statics::for_each_owned_root(&mut |ty, offset_bytes, slot| {
            let kind = RootKind::Static { ty: std::ptr::from_ref(ty).addr(), offset_bytes };
            named.insert(slot as usize);
            // SAFETY: a slot of an owner that lives; the world is stopped.
            visit(Root { kind, object: unsafe { *slot }, address: slot as usize, thread: None });
        });
        for_each_owner(&mut |owner| {
            owner.for_each_slot(&mut |slot| {
                if !named.contains(&slot) {
                    // SAFETY: a slot of an owner that lives; the world is stopped, so nobody writes it.
                    let object = unsafe { *(slot as *const ObjRef) };
                    visit(Root { kind: RootKind::Cell, object, address: slot, thread: None });
                }
            });
        });
    }
}

impl ConditionalRoots for Assemblies {
    fn begin(&self, is_full: bool) -> Option<[Range<usize>; 2]> {
        let mut new = Vec::new();
        let mut count = 0;
        for_each_owner(&mut |owner| {
            owner.unsee();
            if !owner.is_kept() {
                count += 1;
            } else if owner.see() {
                new.push(owner);
            }
        });
        *self.judgement.lock() = Judgement { new, ..Judgement::NONE };
        let code = saki_code::region_range().ok().filter(|_| is_full && count > 0 && may_judge());
        // Relaxed: the world is stopped; for other collector threads the collection's phases order it.
        self.is_judging.store(code.is_some(), Ordering::Relaxed);
        let (start, len_bytes) = collectible::address_range();
        Some([start..start + len_bytes, code?])
    }

    fn saw(&self, word: usize) {
        if let Some(owner) = owner_of_word(word) {
            self.see(owner);
        }
    }

    fn for_each_new_slot(&self, visit: &mut dyn FnMut(*mut ObjRef)) {
        if !std::mem::replace(&mut self.judgement.lock().has_seen_stacks, true) {
            let blocks = ThreadBlocks::find();
            self.see_stacks(&blocks);
            self.judgement.lock().blocks = blocks;
        }
        loop {
            let Some(owner) = self.judgement.lock().new.pop() else { return };
            owner.for_each_named(&mut |named| self.see(named));
            if !owner.is_kept() {
                owner.for_each_slot(&mut |slot| visit(slot as *mut ObjRef));
                let of_threads = self.judgement.lock().blocks.slots.remove(&std::ptr::from_ref(owner).addr());
                of_threads.into_iter().flatten().for_each(|slot| visit(slot as *mut ObjRef));
            }
        }
    }

    fn holds_back(&self, owner: usize) -> bool {
        // SAFETY: the word of a block in a thread's list (`thread_statics`), so the owner has not ended.
        let owner = unsafe { &*(owner as *const Owner) };
        // Relaxed: the collection's phases order it.
        owner.is_dead() || self.is_judging.load(Ordering::Relaxed) && !owner.is_kept()
    }

    fn finish(&self) {
        // Relaxed: as in `begin`.
        self.is_judging.store(false, Ordering::Relaxed);
        let mut dead = DEAD.lock();
        dead.extend(bury_unseen());
        DEAD_COUNT.store(dead.len(), Ordering::Relaxed);
        if !dead.is_empty() {
            // SAFETY: the world is stopped for the collection.
            unsafe { cast_cache::forget_dead() };
            crate::finalizer_signal::wake();
        }
    }
}

impl Assemblies {
    /// Notes that a reference leads to an owner. The owner may be dead and its records not freed yet; their slots lead
    /// to objects that are gone, so it is ignored.
    fn see(&self, owner: &'static Owner) {
        if !owner.is_dead() && owner.see() {
            self.judgement.lock().new.push(owner);
        }
    }

    fn see_stacks(&self, blocks: &ThreadBlocks) {
        let finder = Finder::lock();
        saki_thread::for_each_thread(|thread| {
            // SAFETY: the thread is stopped.
            if let Some(owner) = unsafe { entered_by(thread.abi()) }.and_then(Universe::owner) {
                self.see(owner);
            }
            thread.for_each_conservative_range(|range| {
                for address in range.step_by(size_of::<usize>()) {
                    // SAFETY: a word of a stopped thread's stack or saved registers, aligned.
                    let word = unsafe { (address as *const usize).read_volatile() };
                    self.saw(word);
                    if let Some(owner) = blocks.owner_of_word(word) {
                        self.see(owner);
                    }
                    self.see_named_by_dynamic_method(word, &finder);
                }
            });
        });
    }

    /// A dynamic method that runs may have lost the object that keeps the types and members named by its code alive.
    fn see_named_by_dynamic_method(&self, word: usize, finder: &Finder) {
        let method = if saki_code::contains(word) { method_of_code(word) } else { finder.find(word) };
        let Some(method) = method.filter(|method| method.is_dynamic()) else { return };
        if let Some(owner) = collectible::owner_of(method.owner) {
            self.see(owner);
        }
        for named in method.dynamic_refs() {
            let owner = match named {
                DynamicRef::Type(ty) => collectible::owner_of(*ty),
                DynamicRef::Method(method) => collectible::owner_of(*method),
                DynamicRef::Field(field) => collectible::owner_of(*field),
                _ => None,
            };
            if let Some(owner) = owner {
                self.see(owner);
            }
        }
    }
}

fn owner_of_word(word: usize) -> Option<&'static Owner> {
    collectible::of(word).or_else(|| collectible::owner_of(saki_code::contains(word).then(|| method_of_code(word))??))
}

/// Whether assemblies wait to be freed. A hint. Dynamic methods that died with them are to be freed first: they name
/// their types.
pub(crate) fn are_dead() -> bool {
    // Relaxed: a hint.
    DEAD_COUNT.load(Ordering::Relaxed) > 0
}

/// Retires dead owners and frees retired ones whose stamp has passed. Called by the finalizer thread.
pub(crate) fn reclaim_dead() {
    if !are_dead() && RETIRED.lock().is_empty() {
        return;
    }
    let owners = std::mem::take(&mut *DEAD.lock());
    DEAD_COUNT.store(0, Ordering::Relaxed);
    let walks = saki_code::walks();
    let batch = (!owners.is_empty()).then(|| retire(owners));
    let mut retired = RETIRED.lock();
    retired.extend(batch);
    // Twice, because without walkers two advances make every stamp pass at once.
    let _ = walks.try_advance() && walks.try_advance();
    let passed = retired.iter().take_while(|batch| walks.has_passed(batch.stamp)).count();
    let free_now: Vec<Batch> = retired.drain(..passed).collect();
    // Freeing stops the world, for which no lock of this rank may be held.
    drop(retired);
    free_now.into_iter().for_each(free);
}

/// Takes the code of dead owners out of the code map.
fn retire(owners: Vec<&'static Owner>) -> Batch {
    let (mut bodies, mut freed_entries) = (Vec::new(), Vec::new());
    for owner in &owners {
        let (code, methods) = owner.take_code();
        for info in code {
            // SAFETY: `add_body` was given the address of a placed body, which only this frees.
            let info = unsafe { &*(info as *const CodeInfo) };
            // SAFETY: the owner is dead: no reference leads to its code.
            unsafe { saki_code::retire(info) };
            compile::forget_deferred_errors(info);
            bodies.push(info);
        }
        for method in methods {
            // SAFETY: `add_entry` was given the address of one of the owner's methods.
            freed_entries.extend(entries::existing_entry(unsafe { &*(method as *const Method) }));
        }
    }
    Batch { stamp: saki_code::walks().stamp(), owners, bodies, entries: freed_entries }
}

fn free(batch: Batch) {
    saki_sampler::allocations::forget();
    let has_domain = batch.owners.iter().any(|owner| owner.is_domain());
    for entry in &batch.entries {
        // SAFETY: entries are made with their method's address, and the owner of the methods ends below.
        let method = unsafe { &*entry.argument().cast::<Method>() };
        // SAFETY: the method is dead, and walks that could ask for its version are over.
        unsafe { versions::free(method) };
    }
    // SAFETY: the entries' methods are dead, and so are all callers that are listed with them.
    unsafe { MethodEntry::free_all(&batch.entries) };
    if has_domain {
        // SAFETY: the bodies are retired, their stamp has passed, and no thread has run them since they were dead.
        unsafe { saki_code::free_all_of_domain(&batch.bodies) };
    } else {
        // SAFETY: the bodies are retired, their stamp has passed, and no thread has run them since they were dead.
        unsafe { saki_code::free_all(&batch.bodies) };
    }
    forget_dead(has_domain);
    let mut last = None;
    for owner in &batch.owners {
        if last.replace(std::ptr::from_ref(owner.universe())) != Some(std::ptr::from_ref(owner.universe())) {
            owner.universe().forget_dead();
        }
    }
    // Assemblies before the domains that they belong to.
    let (domains, assemblies): (Vec<_>, Vec<_>) = batch.owners.into_iter().partition(|owner| owner.is_domain());
    for owner in assemblies {
        // SAFETY: dead, its code is freed, the walks are over, and the tables have forgotten it.
        unsafe { owner.end() };
        // Relaxed: a counter, here and below.
        ENDED.fetch_add(1, Ordering::Relaxed);
    }
    for owner in domains {
        let universe = owner.universe();
        of_universe(universe).forget_objects();
        // SAFETY: the domain is dead, its assemblies have ended above, its code is freed, and the tables have forgotten
        // it.
        unsafe { universe.end() };
        // Relaxed: a counter.
        DOMAINS_ENDED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Drops dead records from the tables in which they are looked up. `has_domain`: a domain is among the dead, so tables
/// that rarely have records of assemblies are cleaned too.
fn forget_dead(has_domain: bool) {
    strings::forget_dead_literals();
    class_init::forget_dead();
    code_cache::forget_dead();
    proxies::forget_dead();
    statics::forget_dead_sections();
    source_lines::forget_dead();
    saki_il::synth::marshal::forget_dead();
    profile_log::forget_dead();
    upper_layers().forget_dead.iter().for_each(|forget| forget());
    if statics::has_dead_thread_blocks() {
        saki_thread::with_world_stopped(StopReason::Unloading, |_| statics::forget_dead_thread_blocks());
    }
    if has_domain {
        saki_thread::with_world_stopped(StopReason::Unloading, |_| {
            // SAFETY: the world is stopped, so no thread looks into the cache.
            unsafe { saki_code::imt_cache_forget(collectible::is_dead) };
        });
    }
}

/// Memory that unloaded domains hold when a full collection is asked for: some three small domains, so that a
/// collection, which takes some ten milliseconds with a small heap, comes with every third unloading at most.
const ASKING_BYTES: usize = 12 << 20;

/// The longest time for which unloading waits until the records that the collection found dead are freed. Freeing takes
/// some milliseconds, unless a finalizer is slow.
const FREEING_LIMIT: Duration = Duration::from_secs(1);

/// Memory of the records of domains unloaded since the last time a full collection was asked for.
static RELEASED_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Releases the records of an unloaded domain, whose root cells are empty: from now on they live only as long as there
/// are references to them.
pub(crate) fn release_domain(t: CurrentThread, universe: &'static Universe) {
    let Some(owner) = universe.owner() else { return };
    // A domain has as much memory again outside of its records, for code and tables.
    let released_bytes = 2 * owner.size_bytes();
    owner.release();
    // Relaxed: a sum.
    if RELEASED_BYTES.fetch_add(released_bytes, Ordering::Relaxed) + released_bytes >= ASKING_BYTES {
        RELEASED_BYTES.store(0, Ordering::Relaxed);
        saki_gc::collect(t.managed(), true);
        // Otherwise a program that makes domains in a loop would outrun the thread that frees them.
        finalizer_signal::wait_for_pending_until(t, Some(Moment::now() + FREEING_LIMIT));
    }
}

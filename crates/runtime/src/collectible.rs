//! The end of collectible assemblies (AssemblyBuilderAccess.RunAndCollect): when nothing has one any more, its types, code, statics
//! and objects go.
//!
//! An assembly's records and those of instantiations over its types have one owner (`types::collectible`). An owner lives while
//! - a word of some object that lives points among its records or into its code: instances by their vtables, reflection objects and
//!   builders by their handles, delegates by their methods, exceptions by their traces;
//! - a word of some stack or saved register does, or into a dynamic method that names something of it;
//! - the records of another owner that lives lead there, or a type that is not collectible does (then it is kept for ever);
//! - something that is not followed has it: thread statics, context statics, transparent proxies (`Owner::keep_for_ever`).
//!
//! Its own root cells and statics do not count: they are traced when one of these has been found (`gc::ConditionalRoots`), so an
//! assembly whose statics refer to its own objects ends like any other. Only full collections judge.
//!
//! | list | meaning | leaves it when |
//! |---|---|---|
//! | `types::collectible`'s | live | a full collection finds none of the above: to dead |
//! | dead | unreachable, in no list that is searched by name | `reclaim_dead`: code out of the map, stamp taken, to retired |
//! | retired | walks in signal handlers may still see the code | the stamp has passed: code, entries and records are freed |

use crate::dynamic_methods::method_of_code;
use crate::{compile, entries, strings};
use parking_lot::Mutex;
use saki_abi::ObjRef;
use saki_code::{CodeInfo, MethodEntry};
use saki_gc::{ConditionalRoots, RootProvider};
use saki_sync::Stamp;
use saki_types::Method;
use saki_types::collectible::{self, Owner, for_each_owner};
use saki_types::dynamic::DynamicRef;
use saki_types::dynamic_records::Finder;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Owners that have ended since the start, for `saki --stats`.
pub static ENDED: AtomicU64 = AtomicU64::new(0);

static DEAD: Mutex<Vec<&'static Owner>> = Mutex::new(Vec::new());
/// Length of `DEAD`. A hint.
static DEAD_COUNT: AtomicUsize = AtomicUsize::new(0);

struct Batch {
    stamp: Stamp,
    owners: Vec<&'static Owner>,
    bodies: Vec<&'static CodeInfo>,
    entries: Vec<MethodEntry>,
}

static RETIRED: Mutex<VecDeque<Batch>> = Mutex::new(VecDeque::new());

/// What drops dead records from the tables of crates above this one.
static FORGET: Mutex<Vec<fn()>> = Mutex::new(Vec::new());

/// `forget` drops from tables what `types::collectible::is_dead` says.
pub fn on_end(forget: fn()) {
    FORGET.lock().push(forget);
}

#[derive(Default)]
struct Judgement {
    /// Owners that turned up and whose roots have not been traced.
    new: Vec<&'static Owner>,
    has_seen_stacks: bool,
}

struct Assemblies {
    judgement: Mutex<Judgement>,
    /// The collection that runs judges: roots are conditional.
    is_judging: AtomicBool,
}

static ASSEMBLIES: Assemblies = Assemblies {
    judgement: Mutex::new(Judgement { new: Vec::new(), has_seen_stacks: false }),
    is_judging: AtomicBool::new(false),
};

/// Called once.
pub(crate) fn register_with_collector() {
    saki_gc::register_conditional_roots(&ASSEMBLIES);
    saki_gc::register_root_provider(&ASSEMBLIES);
}

impl RootProvider for Assemblies {
    fn for_each_slot(&self, visit: &mut dyn FnMut(*mut ObjRef)) {
        // Relaxed, here and below: the collection's phases order it.
        if !self.is_judging.load(Ordering::Relaxed) {
            for_each_owner(&mut |owner| owner.for_each_slot(&mut |slot| visit(slot as *mut ObjRef)));
        }
    }
}

impl ConditionalRoots for Assemblies {
    fn begin(&self, is_full: bool) -> Option<[Range<usize>; 2]> {
        let mut judgement = self.judgement.lock();
        judgement.has_seen_stacks = false;
        judgement.new.clear();
        let mut count = 0;
        for_each_owner(&mut |owner| {
            count += 1;
            owner.unsee();
            if owner.is_kept() && owner.see() {
                judgement.new.push(owner);
            }
        });
        let code = saki_code::region_range().ok().filter(|_| is_full && count > 0 && collectible::may_judge());
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
            self.see_stacks();
        }
        loop {
            let Some(owner) = self.judgement.lock().new.pop() else { return };
            owner.for_each_named(&mut |named| self.see(named));
            owner.for_each_slot(&mut |slot| visit(slot as *mut ObjRef));
        }
    }

    fn finish(&self) {
        self.is_judging.store(false, Ordering::Relaxed);
        let mut dead = DEAD.lock();
        dead.extend(collectible::bury_unseen());
        DEAD_COUNT.store(dead.len(), Ordering::Relaxed);
        if !dead.is_empty() {
            crate::finalizer::wake();
        }
    }
}

impl Assemblies {
    /// A word may also point into records of a dead owner that are not freed yet, whose slots lead to objects that are gone.
    fn see(&self, owner: &'static Owner) {
        if !owner.is_dead() && owner.see() {
            self.judgement.lock().new.push(owner);
        }
    }

    fn see_stacks(&self) {
        saki_thread::for_each_thread(|thread| {
            thread.for_each_conservative_range(|range| {
                for address in range.step_by(size_of::<usize>()) {
                    // SAFETY: a word of a stopped thread's stack or saved registers, aligned.
                    let word = unsafe { (address as *const usize).read_volatile() };
                    self.saw(word);
                    self.see_named_by_dynamic_method(word);
                }
            });
        });
    }

    /// A dynamic method that runs may have lost the object that keeps what its code names.
    fn see_named_by_dynamic_method(&self, word: usize) {
        let method = if saki_code::contains(word) { method_of_code(word) } else { Finder::lock().find(word) };
        for named in method.filter(|method| method.is_dynamic()).map_or(&[][..], |method| method.dynamic_refs()) {
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

/// Whether assemblies wait to be freed. A hint. Dynamic methods that died with them are to be freed first: they name their types.
pub(crate) fn are_dead() -> bool {
    // Relaxed: a hint.
    DEAD_COUNT.load(Ordering::Relaxed) > 0
}

/// Retires the dead and frees what nobody can see any more. For the finalizer thread.
pub(crate) fn reclaim_dead() {
    if !are_dead() && RETIRED.lock().is_empty() {
        return;
    }
    let owners = std::mem::take(&mut *DEAD.lock());
    DEAD_COUNT.store(0, Ordering::Relaxed);
    let walks = saki_code::walks();
    let mut retired = RETIRED.lock();
    if !owners.is_empty() {
        let (mut bodies, mut freed_entries) = (Vec::new(), Vec::new());
        for owner in &owners {
            let (code, methods) = owner.take_code();
            for info in code {
                // SAFETY: `add_body` was given the address of a placed body, which only this frees.
                let info = unsafe { &*(info as *const CodeInfo) };
                // SAFETY: the owner is dead: nothing leads to its code.
                unsafe { saki_code::retire(info) };
                bodies.push(info);
            }
            for method in methods {
                // SAFETY: `add_entry` was given the address of one of the owner's methods.
                let method = unsafe { &*(method as *const Method) };
                compile::forget_deferred_errors(method);
                // An unboxing stub goes on jumping through its entry's record.
                if method.runtime.unbox_entry.load(Ordering::Relaxed) == 0 {
                    freed_entries.extend(entries::existing_entry(method));
                }
            }
        }
        retired.push_back(Batch { stamp: walks.stamp(), owners, bodies, entries: freed_entries });
    }
    // Twice: without walkers everything passes at once.
    let _ = walks.try_advance() && walks.try_advance();
    while retired.front().is_some_and(|batch| walks.has_passed(batch.stamp)) {
        if let Some(batch) = retired.pop_front() {
            free(batch);
        }
    }
}

fn free(batch: Batch) {
    // SAFETY: retired, the stamp has passed, and who ran them is long gone.
    unsafe { saki_code::free_all(&batch.bodies) };
    // SAFETY: their methods are dead and have no unboxing stubs.
    unsafe { MethodEntry::free_all(&batch.entries) };
    strings::forget_dead_literals();
    FORGET.lock().iter().for_each(|forget| forget());
    let mut last = None;
    for owner in &batch.owners {
        if last.replace(std::ptr::from_ref(owner.universe)) != Some(std::ptr::from_ref(owner.universe)) {
            owner.universe.forget_dead();
        }
    }
    for owner in batch.owners {
        // SAFETY: dead, its code is freed, the walks are over, and the tables have forgotten it.
        unsafe { owner.end() };
        // Relaxed: a counter.
        ENDED.fetch_add(1, Ordering::Relaxed);
    }
}

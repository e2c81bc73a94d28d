//! Results of slow casts, by (exact type, target type): a fixed, lossy, lock-free table; and the caches in vtables, as
//! far as they name types that end.
//!
//! | entry word | meaning | who writes |
//! |---|---|---|
//! | 0 | empty | initial |
//! | pointer to an immutable `Entry` | a result | any thread, Release; readers Acquire. `forget_dead`, with the world stopped, empties it |
//!
//! When two threads fill an empty slot at once, the second store wins and the first entry leaks.
//!
//! A type that ended equals no later one, since addresses of records are not used again (`types::collectible`), so a
//! stale word answers no question. But it takes a place: filled slots of the table are never replaced, and words of a
//! vtable (`abi::vtable::Casts`) hardly ever. So the pause in which an owner dies empties both.

use rustc_hash::{FxBuildHasher, FxHashSet};
use saki_abi::vtable::VTable;
use saki_base::locks::{Mutex, rank};
use saki_types::{LoadResult, Ty, Type, collectible};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Addresses of vtables that remember a type which may end before them. Changed without a safepoint, so collections
/// never find it locked.
static OUTLIVING: Mutex<rank::OutlivingVTables, FxHashSet<usize>> = Mutex::new(FxHashSet::with_hasher(FxBuildHasher));

struct Entry {
    from: Ty,
    to: Ty,
    result: bool,
}

const ENTRIES: usize = 4096;
static TABLE: [AtomicPtr<Entry>; ENTRIES] = [const { AtomicPtr::new(std::ptr::null_mut()) }; ENTRIES];

fn slot(from: Ty, to: Ty) -> &'static AtomicPtr<Entry> {
    let mixed = (from as *const Type as usize).wrapping_mul(31) ^ (to as *const Type as usize);
    &TABLE[(mixed ^ (mixed >> 13)) / 16 % ENTRIES]
}

/// `from.is_assignable_to(to)`, remembered.
///
/// # Errors
/// `TypeLoad`.
pub fn is_assignable(from: Ty, to: Ty) -> LoadResult<bool> {
    let slot = slot(from, to);
    // Acquire: pairs with the Release below.
    let entry = slot.load(Ordering::Acquire);
    if !entry.is_null() {
        // SAFETY: entries are immutable, and freed with the world stopped only.
        let entry = unsafe { &*entry };
        if entry.from == from && entry.to == to {
            return Ok(entry.result);
        }
    }
    let result = from.is_assignable_to(to)?;
    // Relaxed: only whether the slot is empty counts; the entry is not read.
    if slot.load(Ordering::Relaxed).is_null() {
        // Release: publishes the entry's fields. Only empty slots are filled, so the leak is bounded.
        slot.store(Box::leak(Box::new(Entry { from, to, result })), Ordering::Release);
    }
    Ok(result)
}

/// Notes in the vtable whether its objects may be used as `ty`. `may_replace`: see `Casts::remember`.
pub(crate) fn remember(vtable: &'static VTable, ty: Ty, is_instance: bool, may_replace: bool) {
    if !vtable.casts.remember(ptr::from_ref(ty).cast(), is_instance, may_replace) {
        return;
    }
    let Some(owner) = collectible::owner_of(ty) else { return };
    if !collectible::owner_of(vtable).is_some_and(|of_vtable| ptr::eq(of_vtable, owner)) {
        OUTLIVING.lock().insert(ptr::from_ref(vtable).addr());
    }
}

/// Forgets results about types of dead assemblies and domains, whose records have not been freed.
///
/// # Safety
/// The world is stopped: no thread reads an entry.
pub(crate) unsafe fn forget_dead() {
    let is_dead = |ty: Ty| collectible::is_dead(ptr::from_ref(ty).addr());
    for slot in &TABLE {
        // Relaxed, here and below: the world is stopped.
        let entry = slot.load(Ordering::Relaxed);
        // SAFETY: null or an entry that lives.
        if unsafe { entry.as_ref() }.is_some_and(|entry| is_dead(entry.from) || is_dead(entry.to)) {
            slot.store(ptr::null_mut(), Ordering::Relaxed);
            // SAFETY: leaked by `is_assignable`; by the contract no thread reads it.
            drop(unsafe { Box::from_raw(entry) });
        }
    }
    OUTLIVING.lock().retain(|&vtable| {
        if collectible::is_dead(vtable) {
            return false;
        }
        // SAFETY: a vtable from `remember`. The pause in which its owner dies takes it out of the set, and its memory
        // is given back later.
        let vtable = unsafe { &*(vtable as *const VTable) };
        vtable.casts.forget(|ty| collectible::is_dead(ty.addr()));
        vtable.casts.any(|ty| collectible::of(ty.addr()).is_some())
    });
}

#[cfg(test)]
mod tests;

//! Results of slow casts, by (exact type, target type): a fixed, lossy, lock-free table.
//!
//! | entry word | meaning | who writes |
//! |---|---|---|
//! | 0 | empty | initial |
//! | pointer to an immutable `Entry` | a result | any thread, Release; readers Acquire. `forget_dead`, with the world stopped, empties it |
//!
//! When two threads fill an empty slot at once, the second store wins and the first entry leaks.

use saki_types::{LoadResult, Ty, Type, collectible};
use std::sync::atomic::{AtomicPtr, Ordering};

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

/// Forgets results about types of dead assemblies and domains.
///
/// # Safety
/// The world is stopped: no thread reads an entry.
pub(crate) unsafe fn forget_dead() {
    let is_dead = |ty: Ty| collectible::is_dead(std::ptr::from_ref(ty).addr());
    for slot in &TABLE {
        // Relaxed, here and below: the world is stopped.
        let entry = slot.load(Ordering::Relaxed);
        // SAFETY: null or an entry that lives.
        if unsafe { entry.as_ref() }.is_some_and(|entry| is_dead(entry.from) || is_dead(entry.to)) {
            slot.store(std::ptr::null_mut(), Ordering::Relaxed);
            // SAFETY: leaked by `is_assignable`; by the contract no thread reads it.
            drop(unsafe { Box::from_raw(entry) });
        }
    }
}

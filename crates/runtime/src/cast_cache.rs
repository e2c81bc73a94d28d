//! Results of slow casts, by (exact type, target type): a fixed, lossy, lock-free table.
//!
//! | entry word | meaning | who writes |
//! |---|---|---|
//! | 0 | empty | initial |
//! | pointer to an immutable `Entry` | a result | any thread, Release; readers Acquire |
//!
//! Entries that are replaced leak (24 bytes each, bounded by the number of distinct failing or interface casts).

use saki_types::{LoadResult, Ty, Type};
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
        // SAFETY: entries are leaked and immutable.
        let entry = unsafe { &*entry };
        if entry.from == from && entry.to == to {
            return Ok(entry.result);
        }
    }
    let result = from.is_assignable_to(to)?;
    if slot.load(Ordering::Relaxed).is_null() {
        // Release: publishes the entry's fields. Only empty slots are filled, so the leak is bounded.
        slot.store(Box::leak(Box::new(Entry { from, to, result })), Ordering::Release);
    }
    Ok(result)
}

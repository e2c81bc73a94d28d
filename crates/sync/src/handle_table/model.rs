//! Models of the handle table; its buckets start with two slots, a stripe and a cache have one.
//!
//! | model | fails when weakened so (`tests/models/weakened.txt`) |
//! |---|---|
//! | growth | `grow` installs a bucket by a store instead of a CAS; its CAS Relaxed; `try_reserve` as load and store |
//! | an object is published with its handle | the store in `claim` Relaxed |
//! | a new target is published | the CAS in `set_target` Relaxed on success; the load in `live` Relaxed |
//! | two frees | `release` as load and store |
//! | a stale handle | the generation not raised in `release` |
//! | expired slots | `free_where` without the CAS |
//! | a free during a collection | `replace` as load and store |
//!
//! No model can fail when the Acquire in `try_reserve` or the Release that frees a slot is weakened: the next user of a
//! slot reads only the slot's word, which is a single location. These orderings stay for the caches, whose owners may
//! change.

use super::*;
use crate::facade::{Arc, thread};
use crate::model::{Section, Turns, explore};
use loom::sync::atomic::AtomicU32 as LoomU32;

const OBJECT: usize = 0x100;
const OTHER: usize = 0x200;
const DOMAIN: usize = 0x88;

#[test]
fn model_growth_loses_no_store_and_no_slot_is_shared() {
    // Both threads find no bucket, and the third handle needs a second one.
    explore(None, || {
        let table = Arc::new(HandleTable::new());
        let other = table.clone();
        let thread = thread::spawn(move || {
            let cache = SlotCache::new();
            let a = other.allocate(HandleKind::Weak, OBJECT, 0, &cache).unwrap();
            assert_eq!(other.target(a), Ok(OBJECT));
            a
        });
        let cache = SlotCache::new();
        let b = table.allocate(HandleKind::Weak, OTHER, 0, &cache).unwrap();
        let c = table.allocate(HandleKind::Weak, OTHER + 8, 0, &cache).unwrap();
        let a = thread.join().unwrap();
        assert!(a != b && b != c && a != c);
        assert_eq!([a, b, c].map(|h| table.target(h)), [Ok(OBJECT), Ok(OTHER), Ok(OTHER + 8)]);
    });
}

/// The handle goes from thread to thread by a relaxed store, so that only the table orders the object's contents.
#[test]
fn model_an_object_is_published_with_its_handle() {
    explore(None, || {
        let shared = Arc::new((HandleTable::new(), LoomU32::new(0), Section::default()));
        // The bucket is there: installing it would publish the object, too.
        let cache = SlotCache::new();
        shared.0.allocate(HandleKind::Normal, OTHER, 0, &cache).unwrap();
        let other = shared.clone();
        let thread = thread::spawn(move || {
            let (table, bits, object) = &*other;
            object.touch();
            let handle = table.allocate(HandleKind::Normal, OBJECT, 0, &SlotCache::new()).unwrap();
            bits.store(handle.bits(), Ordering::Relaxed);
        });
        let (table, bits, object) = &*shared;
        // A reader that sees the number before the slot finds the handle stale; it never finds another object.
        if let Some(handle) = Handle::from_bits(bits.load(Ordering::Relaxed))
            && let Ok(found) = table.target(handle)
        {
            assert_eq!((found, object.get()), (OBJECT, 1));
        }
        thread.join().unwrap();
    });
}

#[test]
fn model_a_new_target_is_published() {
    explore(None, || {
        let shared = Arc::new((HandleTable::new(), Turns::default(), Section::default()));
        let handle = shared.0.allocate(HandleKind::Normal, OBJECT, 0, &SlotCache::new()).unwrap();
        let other = shared.clone();
        let thread = thread::spawn(move || {
            let (table, turns, object) = &*other;
            object.touch();
            table.set_target(handle, OTHER, 0).unwrap();
            turns.pass();
        });
        let (table, turns, object) = &*shared;
        turns.pass();
        if table.target(handle) == Ok(OTHER) {
            assert_eq!(object.get(), 1);
        }
        thread.join().unwrap();
    });
}

#[test]
fn model_one_of_two_frees_wins() {
    explore(None, || {
        let table = Arc::new(HandleTable::new());
        let handle = table.allocate(HandleKind::Normal, OBJECT, 0, &SlotCache::new()).unwrap();
        let other = table.clone();
        let thread = thread::spawn(move || other.free(handle, &SlotCache::new()).is_ok());
        let mine = table.free(handle, &SlotCache::new()).is_ok();
        assert!(mine ^ thread.join().unwrap());
    });
}

#[test]
fn model_a_stale_handle_never_leads_to_another_object() {
    explore(None, || {
        let table = Arc::new(HandleTable::new());
        let handle = table.allocate(HandleKind::Normal, OBJECT, 0, &SlotCache::new()).unwrap();
        let other = table.clone();
        let thread = thread::spawn(move || {
            // The cache keeps the slot, so the next handle has the same one.
            let cache = SlotCache::new();
            other.free(handle, &cache).ok()?;
            other.allocate(HandleKind::Normal, OTHER, 0, &cache)
        });
        assert!(matches!(table.target(handle), Ok(OBJECT) | Err(StaleHandle)));
        let set = table.set_target(handle, OBJECT + 8, 0);
        let freed = table.free(handle, &SlotCache::new());
        let again = thread.join().unwrap();
        assert_eq!(freed.is_ok(), again.is_none(), "freed once");
        assert!(freed.is_err() || set.is_ok());
        assert_eq!(again.map(|again| table.target(again)), again.map(|_| Ok(OTHER)), "the new handle is untouched");
        assert_eq!(table.target(handle), Err(StaleHandle));
    });
}

/// The collector has expired a slot (world stopped, so before the threads start); then its owner frees the handle or
/// gives it a new object while the domain is unloaded.
#[test]
fn model_an_expired_slot_is_freed_once() {
    explore(None, || {
        let table = Arc::new(HandleTable::new());
        let handle = table.allocate(HandleKind::Weak, OBJECT, DOMAIN, &SlotCache::new()).unwrap();
        table.for_each_slot(HandleKind::Weak, |slot| slot.expire(DOMAIN));
        let other = table.clone();
        let unloader =
            thread::spawn(move || other.free_where(HandleKind::Weak, |slot| slot.expired_domain() == DOMAIN));
        let revived = table.set_target(handle, OTHER, DOMAIN).is_ok();
        let found = table.target(handle);
        let freed = table.free(handle, &SlotCache::new()).is_ok();
        let unloaded = unloader.join().unwrap();
        assert_eq!(usize::from(freed) + unloaded, 1, "freed by exactly one of the two");
        assert!(if freed { revived && found == Ok(OTHER) } else { found == Err(StaleHandle) || unloaded == 1 });
        assert_eq!(table.target(handle), Err(StaleHandle));
    });
}

/// A thread in native code frees a handle while the collector, which does not wait for it, moves the object.
#[test]
fn model_a_handle_that_is_freed_during_a_collection_stays_free() {
    explore(None, || {
        let table = Arc::new(HandleTable::new());
        let cache = SlotCache::new();
        let handle = table.allocate(HandleKind::Normal, OBJECT, 0, &cache).unwrap();
        let kept = table.allocate(HandleKind::Normal, OBJECT, 0, &cache).unwrap();
        let other = table.clone();
        let native = thread::spawn(move || other.free_shared(handle));
        table.for_each_slot(HandleKind::Normal, |slot| slot.set_object(OTHER));
        assert_eq!(native.join().unwrap(), Ok(()));
        assert_eq!(table.target(handle), Err(StaleHandle));
        let mut left = 0;
        table.for_each_slot(HandleKind::Normal, |_| left += 1);
        assert_eq!((left, table.target(kept)), (1, Ok(OTHER)));
    });
}

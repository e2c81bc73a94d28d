//! Handle states, growth, stale handles, and many threads at once.

use super::*;
use std::collections::HashSet;
use std::sync::Arc;

#[test]
fn states_of_one_handle() {
    let (table, cache) = (HandleTable::new(), SlotCache::new());
    let handle = table.allocate(HandleKind::Weak, 0x1000, 0x88, &cache).unwrap();
    assert_eq!(Handle::from_bits(handle.bits()), Some(handle));
    assert_eq!((handle.kind(), table.target(handle)), (HandleKind::Weak, Ok(0x1000)));
    table.for_each_slot(HandleKind::Weak, |slot| slot.expire(0x88));
    assert_eq!(table.target(handle), Ok(0));
    table.for_each_slot(HandleKind::Weak, |slot| assert_eq!(slot.expired_domain(), 0x88));
    table.set_target(handle, 0x2000, 0x88).unwrap();
    table.for_each_slot(HandleKind::Weak, |slot| slot.set_object(slot.object() + 8));
    assert_eq!(table.target(handle), Ok(0x2008));
    assert_eq!(table.free(handle, &cache), Ok(()));
    assert_eq!(table.free(handle, &cache), Err(StaleHandle), "double free");
    let again = table.allocate(HandleKind::Weak, 0x3000, 0, &cache).unwrap();
    assert_ne!(again, handle, "the reused slot has another generation");
    assert_eq!(table.target(handle), Err(StaleHandle));
    assert_eq!(table.free_where(HandleKind::Weak, |slot| slot.object() == 0x3000), 1);
    assert_eq!(table.target(again), Err(StaleHandle));
    assert_eq!(Handle::from_bits(0), None);
}

#[test]
fn growth_keeps_every_handle_and_stays_within_four_times() {
    let (table, cache) = (HandleTable::new(), SlotCache::new());
    let handles: Vec<_> =
        (1..=50_000usize).map(|i| table.allocate(HandleKind::Normal, i * 8, 0, &cache).unwrap()).collect();
    assert_eq!(handles.iter().collect::<HashSet<_>>().len(), handles.len());
    assert!(handles.iter().enumerate().all(|(i, h)| table.target(*h) == Ok((i + 1) * 8)));
    assert!(table.capacity(HandleKind::Normal) <= 4 * 50_000);
    let before = table.capacity(HandleKind::Normal);
    for _ in 0..100_000 {
        let handle = table.allocate(HandleKind::Normal, 8, 0, &cache).unwrap();
        table.free(handle, &cache).unwrap();
    }
    assert_eq!(table.capacity(HandleKind::Normal), before);
}

#[test]
fn torture_many_threads() {
    let table = Arc::new(HandleTable::new());
    std::thread::scope(|scope| {
        for thread in 1..=6usize {
            let table = table.clone();
            scope.spawn(move || {
                let cache = SlotCache::new();
                let mut held = Vec::new();
                for i in 0..30_000usize {
                    let value = (thread << 32) + i * 8;
                    let kind = HandleKind::ALL[i % 4];
                    held.push((table.allocate(kind, value, 0, &cache).unwrap(), value));
                    if i % 3 == 0 {
                        let (handle, value) = held.swap_remove(i * 7 % held.len());
                        assert_eq!(table.target(handle), Ok(value));
                        table.set_target(handle, value + 8, 0).unwrap();
                        assert_eq!(table.target(handle), Ok(value + 8));
                        table.free(handle, &cache).unwrap();
                        assert!(table.free(handle, &cache).is_err());
                    }
                }
                for (handle, value) in held {
                    assert_eq!(table.target(handle), Ok(value));
                    table.free(handle, &cache).unwrap();
                }
            });
        }
    });
    for kind in HandleKind::ALL {
        table.for_each_slot(kind, |_| panic!("a slot leaked"));
    }
}

#[test]
fn a_small_room_has_fewer_buckets() {
    assert_eq!(buckets_in(KIND_STRIDE), BUCKET_COUNT);
    assert_eq!(buckets_in(1 << 15), 6);
    assert_eq!([buckets_in(512), buckets_in(511)], [1, 0]);
    assert!(buckets_in(MIN_ROOM_BYTES / size_of::<AtomicUsize>() / KIND_COUNT) > 0);
}

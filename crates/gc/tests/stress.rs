//! Stress mode: a full, moving collection at every third allocation. A moving graph that is only reachable from one
//! root slot stays intact, and objects do move.

mod common;

use common::{LEFT, NEXT, Types, array, deep, get, node, set, value};
use saki_abi::ObjRef;
use saki_gc::{HeapOptions, Stress};
use saki_thread::ManagedThread;
use std::sync::atomic::{AtomicUsize, Ordering};

static ROOT: AtomicUsize = AtomicUsize::new(0);

fn root() -> ObjRef {
    ObjRef(ROOT.load(Ordering::Relaxed) as *mut _)
}

#[inline(never)]
fn add(thread: &ManagedThread, types: &Types, index: u64) {
    let object = node(thread, types, root(), ObjRef::NULL, index);
    set(thread, object, LEFT, array(thread, types.bytes, index as u32 % 100));
    ROOT.store(object.address(), Ordering::Relaxed);
}

fn addresses() -> Vec<usize> {
    let mut list = Vec::new();
    let mut object = root();
    while !object.is_null() {
        list.push(!object.address());
        object = get(object, NEXT);
    }
    list
}

#[test]
fn everything_moves_and_survives() {
    let stress = Some(Stress { every_nth_allocation: 3, every_nth_safepoint: 2 });
    let (thread, types) = common::start(
        HeapOptions { stress, nursery_bytes: Some(1 << 20), ..HeapOptions::default() },
        &saki_gc::NoClient,
    );
    // SAFETY: a static slot that holds null or an object.
    unsafe { saki_gc::register_root_slots(ROOT.as_ptr() as *mut ObjRef, 1) };
    let mut moved = 0;
    for index in 0..1000 {
        let before = if index % 10 == 0 { deep(addresses) } else { Vec::new() };
        deep(|| add(thread, &types, index));
        if index % 10 == 0 {
            let after = deep(addresses);
            moved += before.iter().zip(&after[1..]).filter(|(old, new)| old != new).count();
        }
        saki_gc::stress_safepoint(thread);
    }
    deep(|| {
        let mut object = root();
        for index in (0..1000).rev() {
            assert_eq!(value(object), index);
            // SAFETY: a live array.
            let length = unsafe { (*(get(object, LEFT).0 as *const saki_abi::ArrayHeader)).length };
            assert_eq!(length, index as u32 % 100);
            object = get(object, NEXT);
        }
        assert!(object.is_null());
    });
    assert!(saki_gc::collection_count(1) > 1000, "{}", saki_gc::collection_count(1));
    assert!(moved > 1000, "{moved} moves");
    common::verify_heap(&types);
}

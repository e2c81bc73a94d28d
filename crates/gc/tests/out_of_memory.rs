//! An allocation that does not fit returns `None`, after which execution goes on; and it does so
//! within seconds.

mod common;

use common::{deep, node, scrub, set};
use saki_abi::ObjRef;
use saki_gc::HeapOptions;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

static ROOT: AtomicUsize = AtomicUsize::new(0);

fn root() -> ObjRef {
    ObjRef(ROOT.load(Ordering::Relaxed) as *mut _)
}

#[test]
fn allocation_fails_and_execution_goes_on() {
    const LIMIT: usize = 64 << 20;
    let options = HeapOptions { max_heap_bytes: Some(LIMIT), nursery_bytes: Some(4 << 20), ..HeapOptions::default() };
    let (thread, types) = common::start(options, &saki_gc::NoClient);
    // SAFETY: a static slot that holds null or an object.
    unsafe { saki_gc::register_root_slots(ROOT.as_ptr() as *mut ObjRef, 1) };
    for round in 0..3 {
        let start = Instant::now();
        // A list of small objects until memory is full.
        let count = deep(|| {
            let mut count = 0u64;
            // SAFETY: a valid vtable.
            while let Some(object) = unsafe { saki_gc::alloc_object(thread, types.node) } {
                set(thread, object, common::NEXT, root());
                ROOT.store(object.address(), Ordering::Relaxed);
                count += 1;
            }
            count
        });
        assert!(count * 40 > LIMIT as u64 / 2, "round {round}: only {count} objects");
        assert!(start.elapsed().as_secs() < 20, "round {round}: {:?}", start.elapsed());
        ROOT.store(0, Ordering::Relaxed);
        scrub();
        saki_gc::collect(thread, true);
        for index in 0..1000 {
            node(thread, &types, ObjRef::NULL, ObjRef::NULL, index);
        }
        // Large objects: one that can never fit, then some until memory is full.
        // SAFETY: a valid array vtable.
        unsafe {
            assert_eq!(saki_gc::alloc_array(thread, types.bytes, u32::MAX), None);
            assert_eq!(saki_gc::alloc_array(thread, types.structs, u32::MAX), None);
        }
        let blocks = deep(|| {
            let table = common::array(thread, types.refs, 1000);
            ROOT.store(table.address(), Ordering::Relaxed);
            (0..1000)
                .map_while(|index| {
                    // SAFETY: a valid array vtable.
                    let block = unsafe { saki_gc::alloc_array(thread, types.bytes, 1 << 20) }?;
                    set(thread, root(), 32 + index * 8, block);
                    Some(())
                })
                .count()
        });
        assert!((40..64).contains(&blocks), "{blocks} MiB of {LIMIT}");
        ROOT.store(0, Ordering::Relaxed);
        scrub();
        saki_gc::collect(thread, true);
    }
    common::verify_heap(&types);
}

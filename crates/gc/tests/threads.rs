//! Several threads allocate, share and drop objects while collections run: one shared table, old and large, into which
//! all of them store lists of their own; each checks its lists again and again.

mod common;

use common::{NEXT, get, node, set, value};
use saki_abi::ObjRef;
use saki_gc::HeapOptions;
use saki_thread::{ManagedThread, ThreadKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const THREADS: usize = 4;
const ROUNDS: usize = 60;
const LIST_LENGTH: u64 = 20_000;
/// Slots of the shared table per thread.
const SLOTS: usize = 8;

static TABLE: AtomicUsize = AtomicUsize::new(0);

fn slot(thread: usize, index: usize) -> usize {
    32 + (thread * SLOTS + index) * 8
}

fn table() -> ObjRef {
    ObjRef(TABLE.load(Ordering::Relaxed) as *mut _)
}

fn check_list(mut list: ObjRef, thread: usize) {
    let mut expected = LIST_LENGTH;
    while !list.is_null() {
        expected -= 1;
        assert_eq!(value(list), expected << 8 | thread as u64);
        list = get(list, NEXT);
    }
    assert_eq!(expected, 0);
}

fn work(thread: &ManagedThread, types: &common::Types, number: usize) {
    for round in 0..ROUNDS {
        let mut list = ObjRef::NULL;
        for index in 0..LIST_LENGTH {
            list = node(thread, types, list, ObjRef::NULL, index << 8 | number as u64);
            if index % 64 == 0 {
                thread.poll();
            }
        }
        set(thread, table(), slot(number, round % SLOTS), list);
        for index in 0..SLOTS {
            let list = get(table(), slot(number, index));
            if !list.is_null() {
                check_list(list, number);
            }
        }
        if round % 16 == number {
            saki_gc::collect(thread, round % 2 == 0);
        }
        if round % 10 == 0 {
            common::array(thread, types.bytes, 3 << 20);
        }
    }
}

#[test]
fn threads_share_the_heap() {
    let (main, types) = common::start(
        HeapOptions { nursery_bytes: Some(2 << 20), gc_threads: 2, ..HeapOptions::default() },
        &saki_gc::NoClient,
    );
    let types = Arc::new(types);
    TABLE.store(common::array(main, types.refs, (THREADS * SLOTS) as u32).address(), Ordering::Relaxed);
    // SAFETY: a static slot that holds an object.
    unsafe { saki_gc::register_root_slots(TABLE.as_ptr() as *mut ObjRef, 1) };
    let done = Arc::new(AtomicBool::new(false));
    // One thread that attaches and detaches all the time, one that blocks with a reference on its stack.
    let churn_done = done.clone();
    let churn_types = types.clone();
    let churn = std::thread::spawn(move || {
        let mut count = 0;
        while !churn_done.load(Ordering::Relaxed) {
            let thread = saki_thread::attach_current(ThreadKind::Background);
            for index in 0..100 {
                node(thread, &churn_types, ObjRef::NULL, ObjRef::NULL, index);
            }
            saki_thread::detach_current();
            count += 1;
        }
        count
    });
    let sleeper_done = done.clone();
    let sleeper_types = types.clone();
    let sleeper = saki_thread::spawn(ThreadKind::Background, None, 0, move |thread| {
        let kept = node(thread, &sleeper_types, ObjRef::NULL, ObjRef::NULL, 4711);
        while !sleeper_done.load(Ordering::Relaxed) {
            thread.blocking(|| std::thread::sleep(std::time::Duration::from_millis(1)));
            assert_eq!(value(std::hint::black_box(kept)), 4711);
        }
    })
    .expect("a thread");
    let workers: Vec<_> = (0..THREADS)
        .map(|number| {
            let types = types.clone();
            saki_thread::spawn(ThreadKind::Foreground, None, 0, move |thread| work(thread, &types, number))
                .expect("a thread")
        })
        .collect();
    for worker in workers {
        assert!(worker.join(None));
    }
    for thread in 0..THREADS {
        for index in 0..SLOTS {
            check_list(get(table(), slot(thread, index)), thread);
        }
    }
    done.store(true, Ordering::Relaxed);
    assert!(sleeper.join(None));
    assert!(main.blocking(|| churn.join()).expect("no panic") > 0);
    saki_gc::collect(main, true);
    common::verify_heap(&types);
    assert!(saki_gc::collection_count(0) > 20 && saki_gc::collection_count(1) > 3);
}

//! Functions of the heap one by one: graphs, conservative roots, weak references, finalization, large objects,
//! barriers.
//! One test: there is one heap per process and the stages share it.

mod common;

use common::{LEFT, NEXT, Types, array, deep, get, hide, node, scrub, set, start, value};
use saki_abi::object::ARRAY_DATA_OFFSET;
use saki_abi::{ArrayHeader, ObjRef};
use saki_gc::{HeapClient, HeapOptions, RootProvider, WeakFate, WeakKind, WeakTable, barrier};
use saki_thread::ManagedThread;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const NULL: ObjRef = ObjRef::NULL;

struct Stage<'a> {
    thread: &'a ManagedThread,
    types: &'a Types,
}

#[test]
fn heap_functions() {
    let options = HeapOptions { nursery_bytes: Some(4 << 20), ..HeapOptions::default() };
    let (thread, types) = start(options, &Client);
    let stage = Stage { thread, types: &types };
    stage.sizes_and_look_ups();
    stage.live_graph_survives_a_million_allocations();
    stage.explicit_collections_count();
    stage.unreachable_objects_go();
    stage.interior_pointers_pin();
    stage.large_objects();
    stage.root_slots_and_ranges();
    stage.old_to_young_stores();
    stage.byref_stores();
    stage.array_copies();
    stage.weak_handles();
    stage.finalizers_resurrect();
    stage.critical_finalizers_last();
    stage.suppression();
    stage.ephemeron_chain();
    stage.multi_dimensional_arrays_move_with_their_bounds();
    stage.memory_returns_to_the_system();
    stage.all_finalizable_at_exit();
    common::verify_heap(&types);
    saki_thread::detach_current();
}

/// The machine above the heap.
struct Client;

impl HeapClient for Client {
    fn roots(&self) -> &[&'static dyn RootProvider] {
        static ROOTS: [&dyn RootProvider; 1] = [&TABLE];
        &ROOTS
    }

    fn weak_tables(&self) -> &[&'static dyn WeakTable] {
        static TABLES: [&dyn WeakTable; 1] = [&WEAK];
        &TABLES
    }

    fn wake_finalizer(&self) {
        WAKE_UPS.fetch_add(1, Ordering::Relaxed);
    }
}

/// Roots of the tests.
struct RootTable;
static TABLE: RootTable = RootTable;
static ROOTS: [AtomicUsize; 16] = [const { AtomicUsize::new(0) }; 16];

impl RootProvider for RootTable {
    fn for_each_slot(&self, visit: &mut dyn FnMut(*mut ObjRef)) {
        for root in &ROOTS {
            visit(root.as_ptr() as *mut ObjRef);
        }
    }
}

fn set_root(index: usize, object: ObjRef) {
    ROOTS[index].store(object.address(), Ordering::Relaxed);
}

fn root(index: usize) -> ObjRef {
    ObjRef(ROOTS[index].load(Ordering::Relaxed) as *mut _)
}

struct Weak;
static WEAK: Weak = Weak;
static HANDLES: Mutex<Vec<(WeakKind, usize)>> = Mutex::new(Vec::new());
static LARGE: AtomicUsize = AtomicUsize::new(0);
static WAKE_UPS: AtomicUsize = AtomicUsize::new(0);

impl WeakTable for Weak {
    fn update_weak(&self, kind: WeakKind, _is_full: bool, fate_of: &mut dyn FnMut(ObjRef) -> WeakFate) {
        for (handle_kind, target) in HANDLES.lock().unwrap().iter_mut() {
            if *handle_kind == kind && *target != 0 {
                *target = match fate_of(ObjRef(*target as *mut _)) {
                    WeakFate::Alive(object) => object.address(),
                    WeakFate::Dead => 0,
                };
            }
        }
    }
}

fn weak(kind: WeakKind, object: ObjRef) -> usize {
    let mut handles = HANDLES.lock().unwrap();
    handles.push((kind, object.address()));
    handles.len() - 1
}

fn target(handle: usize) -> ObjRef {
    ObjRef(HANDLES.lock().unwrap()[handle].1 as *mut _)
}

impl Stage<'_> {
    fn node(&self, next: ObjRef, left: ObjRef, value: u64) -> ObjRef {
        node(self.thread, self.types, next, left, value)
    }

    fn collect(&self, full: bool) {
        scrub();
        saki_gc::collect(self.thread, full);
    }

    fn sizes_and_look_ups(&self) {
        let small = self.node(NULL, NULL, 7);
        // SAFETY: valid vtables, live objects.
        unsafe {
            assert_eq!(saki_gc::object_size_bytes(small), 40);
            let text = saki_gc::alloc_string(self.thread, self.types.string, 5).expect("memory");
            assert_eq!(saki_gc::object_size_bytes(text), 32);
            let bytes = array(self.thread, self.types.bytes, 100);
            assert_eq!(saki_gc::object_size_bytes(bytes), 136);
            for offset in 0..136 {
                assert_eq!(saki_gc::find_object(bytes.address() + offset), Some(bytes));
            }
            assert_eq!(saki_gc::find_object(small.address() + 39), Some(small));
            assert_ne!(saki_gc::find_object(small.address() + 40), Some(small));
        }
        assert!(saki_gc::is_heap_address(small.address()));
        assert!(!saki_gc::is_heap_address(&raw const small as usize));
        assert_eq!(saki_gc::find_object(&raw const small as usize), None);
        let before = saki_gc::bytes_allocated_by_thread(self.thread);
        for _ in 0..1000 {
            self.node(NULL, NULL, 0);
        }
        assert_eq!(saki_gc::bytes_allocated_by_thread(self.thread) - before, 40_000);
    }

    /// 1M allocations, of which a binary tree of 2^14 nodes and a list stay.
    fn live_graph_survives_a_million_allocations(&self) {
        fn tree(stage: &Stage<'_>, depth: u32, next_value: &mut u64) -> ObjRef {
            if depth == 0 {
                return NULL;
            }
            let left = tree(stage, depth - 1, next_value);
            let right = tree(stage, depth - 1, next_value);
            *next_value += 1;
            for _ in 0..40 {
                stage.node(NULL, NULL, 1);
            }
            stage.node(left, right, *next_value)
        }
        fn sum(node: ObjRef) -> u64 {
            if node.is_null() { 0 } else { value(node) + sum(get(node, NEXT)) + sum(get(node, LEFT)) }
        }
        let mut count = 0;
        let root = tree(self, 14, &mut count);
        assert_eq!(sum(root), count * (count + 1) / 2);
        let mut list = NULL;
        for index in 0..300_000u64 {
            list = self.node(list, NULL, index);
        }
        let before = saki_gc::statistics().objects_marked_in_place;
        self.collect(false);
        self.collect(true);
        let marked = saki_gc::statistics().objects_marked_in_place - before;
        assert!(marked > 300_000, "MMTk's side tables are where `in_place` expects them: {marked}");
        assert_eq!(sum(root), count * (count + 1) / 2);
        let (mut length, mut total) = (0u64, 0u64);
        while !list.is_null() {
            length += 1;
            total += value(list);
            list = get(list, NEXT);
        }
        assert_eq!((length, total), (300_000, 300_000 * 299_999 / 2));
        assert!(saki_gc::collections() > 3, "the nursery filled");
    }

    fn explicit_collections_count(&self) {
        let (all, full) = (saki_gc::collection_count(0), saki_gc::collection_count(1));
        self.collect(false);
        assert_eq!(saki_gc::collection_count(0), all + 1);
        self.collect(true);
        assert_eq!((saki_gc::collection_count(0), saki_gc::collection_count(1)), (all + 2, full + 1));
        let statistics = saki_gc::statistics();
        assert_eq!(statistics.pause_histogram.iter().sum::<u64>(), all + 2);
        assert!(statistics.pause_max.as_secs() < 5);
    }

    fn unreachable_objects_go(&self) {
        for full in [false, true] {
            let hidden = deep(|| hide(self.node(NULL, NULL, 1)));
            self.collect(full);
            assert!(!hidden.exists(), "full: {full}");
        }
        // Only a full collection frees an old object.
        deep(|| set_root(0, self.node(NULL, NULL, 2)));
        self.collect(true);
        let hidden = deep(|| hide(root(0)));
        set_root(0, NULL);
        self.collect(false);
        assert!(hidden.exists());
        self.collect(true);
        assert!(!hidden.exists());
    }

    fn interior_pointers_pin(&self) {
        for (length, offset) in [(100u32, 131usize), (8000, 4321), (1 << 20, 777_777), (64 << 20, 60_000_000)] {
            let interior = deep(|| {
                let bytes = array(self.thread, self.types.bytes, length);
                bytes.address() + offset
            });
            let kept = std::hint::black_box(interior);
            self.collect(false);
            self.collect(true);
            assert!(saki_gc::find_object(kept).is_some(), "length {length}");
            let end = saki_gc::find_object(kept).map(hide).expect("checked");
            assert!(end.exists());
        }
        // One past the end does not count.
        let past = deep(|| {
            let bytes = array(self.thread, self.types.bytes, 1 << 20);
            (hide(bytes), bytes.address() + 32 + (1 << 20))
        });
        std::hint::black_box(past.1);
        self.collect(true);
        assert!(!past.0.exists());
    }

    fn large_objects(&self) {
        let used = saki_gc::heap_bytes_used();
        deep(|| {
            let table = array(self.thread, self.types.refs, 100_000);
            set_root(1, table);
            for index in 0..100_000 {
                let node = self.node(NULL, NULL, index as u64);
                set(self.thread, root(1), 32 + index * 8, node);
            }
        });
        self.collect(false);
        self.collect(true);
        let table = root(1);
        let sum: u64 = (0..100_000).map(|index| value(get(table, 32 + index * 8))).sum();
        assert_eq!(sum, 100_000 * 99_999 / 2);
        // Many short-lived large objects trigger collections by themselves.
        // SAFETY: live objects.
        unsafe {
            assert_eq!((saki_gc::generation_of(table), saki_gc::generation_of(get(table, 32))), (1, 1));
            assert_eq!(saki_gc::generation_of(self.node(NULL, NULL, 0)), 0);
            assert_eq!(saki_gc::generation_of(array(self.thread, self.types.bytes, 1 << 20)), 0);
        }
        let collections = saki_gc::collections();
        for _ in 0..200 {
            array(self.thread, self.types.bytes, 1 << 20);
        }
        assert!(saki_gc::collections() >= collections + 10);
        set_root(1, NULL);
        self.collect(true);
        self.collect(true);
        assert!(saki_gc::heap_bytes_used() < used + (8 << 20), "{} → {}", used, saki_gc::heap_bytes_used());
    }

    fn root_slots_and_ranges(&self) {
        let slots: &'static mut [ObjRef; 4] = Box::leak(Box::new([NULL; 4]));
        let words: &'static mut [usize; 4] = Box::leak(Box::new([0; 4]));
        // SAFETY: leaked, hence valid for ever.
        unsafe {
            saki_gc::register_root_slots(slots.as_mut_ptr(), 4);
            saki_gc::register_root_range(words.as_ptr(), 4);
        }
        deep(|| {
            slots[2] = self.node(NULL, NULL, 22);
            words[3] = self.node(NULL, NULL, 33).address() + 17;
        });
        self.collect(true);
        assert_eq!(value(slots[2]), 22);
        let pinned = saki_gc::find_object(words[3]).expect("kept");
        assert_eq!((pinned.address() + 17, value(pinned)), (words[3], 33));
        let hidden = deep(|| [hide(slots[2]), hide(pinned)]);
        assert!(saki_gc::unregister_roots(slots.as_ptr().cast()));
        assert!(saki_gc::unregister_roots(words.as_ptr()));
        assert!(!saki_gc::unregister_roots(words.as_ptr()));
        std::hint::black_box(hidden);
        self.thread.roots[3].set(deep(|| self.node(NULL, NULL, 44)));
        self.collect(true);
        assert_eq!(value(self.thread.roots[3].get()), 44);
        self.thread.roots[3].set(NULL);
    }

    /// Makes an old node in root 2.
    fn old_node(&self) {
        deep(|| set_root(2, self.node(NULL, NULL, 0)));
        self.collect(true);
    }

    fn old_to_young_stores(&self) {
        self.old_node();
        for round in 0..3 {
            deep(|| set(self.thread, root(2), NEXT, self.node(NULL, NULL, 100 + round)));
            self.collect(false);
            assert_eq!(value(get(root(2), NEXT)), 100 + round);
            deep(|| set(self.thread, get(root(2), NEXT), LEFT, self.node(NULL, NULL, 200 + round)));
            self.collect(false);
            assert_eq!(value(get(get(root(2), NEXT), LEFT)), 200 + round);
        }
        set_root(2, NULL);
    }

    fn byref_stores(&self) {
        self.old_node();
        deep(|| {
            let slot = root(2).field_ptr::<ObjRef>(LEFT);
            // SAFETY: a valid slot.
            unsafe { barrier::store_ref_unknown(self.thread, slot, self.node(NULL, NULL, 5)) };
            let mut local = NULL;
            // SAFETY: as above.
            unsafe { barrier::store_ref_unknown(self.thread, &mut local, self.node(NULL, NULL, 6)) };
        });
        self.collect(false);
        assert_eq!(value(get(root(2), LEFT)), 5);
        // The slot of a dead young object keeps nothing, that of a living one is found.
        let (kept_by_dead, kept_by_living) = deep(|| {
            set_root(2, self.node(NULL, NULL, 1));
            let [dead, living] = [self.node(NULL, NULL, 2), root(2)].map(|holder| {
                // At once the holder lies in the thread's buffer; later it does not, and the collection has to look.
                let store = || {
                    let target = self.node(NULL, NULL, 7);
                    // SAFETY: a valid slot.
                    unsafe { barrier::store_ref_unknown(self.thread, holder.field_ptr(LEFT), target) };
                    weak(WeakKind::Short, target)
                };
                let first = store();
                (0..10_000).for_each(|value| _ = self.node(NULL, NULL, value));
                (first, store())
            });
            (dead, living)
        });
        self.collect(false);
        assert!(target(kept_by_dead.0).is_null() && target(kept_by_dead.1).is_null());
        assert_eq!(target(kept_by_living.1), get(root(2), LEFT));
        // Nothing but the slot of a dead young object, in the thread's buffer.
        let alone = deep(|| {
            let (holder, target) = (self.node(NULL, NULL, 8), self.node(NULL, NULL, 9));
            // SAFETY: a valid slot.
            unsafe { barrier::store_ref_unknown(self.thread, holder.field_ptr(LEFT), target) };
            weak(WeakKind::Short, target)
        });
        self.collect(false);
        assert!(target(alone).is_null());
        self.old_node();
        // A thread that is gone leaves its slots behind.
        let (holder, types) = (root(2).address(), self.types as *const Types as usize);
        let thread = saki_thread::spawn(saki_thread::ThreadKind::Background, None, 0, move |thread| {
            let slot = ObjRef(holder as *mut _).field_ptr::<ObjRef>(NEXT);
            // SAFETY: the types outlive the thread; a valid slot.
            unsafe { barrier::store_ref_unknown(thread, slot, node(thread, &*(types as *const Types), NULL, NULL, 9)) };
        });
        assert!(thread.expect("a thread").join(None));
        self.collect(false);
        assert_eq!(value(get(root(2), NEXT)), 9);
        // Many stores to the same slots do not pile up.
        for index in 0..500_000u64 {
            let slot = root(2).field_ptr::<ObjRef>(if index % 2 == 0 { LEFT } else { NEXT });
            // SAFETY: as above.
            unsafe { barrier::store_ref_unknown(self.thread, slot, self.node(NULL, NULL, index)) };
        }
        self.collect(false);
        assert_eq!(value(get(root(2), NEXT)), 499_999);
        set_root(2, NULL);
    }

    fn array_copies(&self) {
        for length in [100u32, 1 << 17] {
            deep(|| set_root(3, array(self.thread, self.types.refs, length)));
            self.collect(true);
            deep(|| {
                let source = array(self.thread, self.types.refs, 50);
                for index in 0..50 {
                    let node = self.node(NULL, NULL, index as u64);
                    set(self.thread, source, 32 + index * 8, node);
                }
                let data = ARRAY_DATA_OFFSET as usize;
                let destination = root(3).field_ptr(data + 10 * 8);
                // SAFETY: 50 elements fit both arrays.
                unsafe { barrier::array_copy(self.thread, root(3), destination, source.field_ptr(data), 50) };
            });
            self.collect(false);
            let sum: u64 = (10..60).map(|index| value(get(root(3), 32 + index * 8))).sum();
            assert_eq!(sum, 50 * 49 / 2);
            // Single stores to a large old array.
            deep(|| {
                let slot = root(3).field_ptr::<ObjRef>(32 + 99 * 8);
                // SAFETY: within the array.
                unsafe { *slot = self.node(NULL, NULL, 77) };
                // SAFETY: an element of the array, which is a root; the thread is the current one.
                unsafe { barrier::array_element_write_slow(self.thread, root(3), slot) };
            });
            self.collect(false);
            assert_eq!(value(get(root(3), 32 + 99 * 8)), 77);
        }
        // Value types with a reference in the middle.
        deep(|| set_root(3, array(self.thread, self.types.structs, 10)));
        self.collect(true);
        deep(|| {
            let local = (1u64, self.node(NULL, NULL, 88), 3u64);
            let words = [local.0, local.1.address() as u64, local.2];
            let at = |index: usize| root(3).field_ptr::<u8>(32 + index * 24);
            // SAFETY: elements 2 and 3 are inside the array.
            unsafe {
                barrier::struct_copy(self.thread, root(3), at(2), words.as_ptr().cast(), 24, &[8]);
                barrier::struct_copy_unknown(self.thread, at(3), words.as_ptr().cast(), 24, &[8]);
            }
        });
        self.collect(false);
        assert_eq!(value(get(root(3), 32 + 2 * 24 + 8)), 88);
        assert_eq!(value(get(root(3), 32 + 3 * 24 + 8)), 88);
        set_root(3, NULL);
    }

    fn weak_handles(&self) {
        for full in [false, true] {
            let handles = deep(|| {
                let (dead, live) = (self.node(NULL, NULL, 1), self.node(NULL, NULL, 2));
                set_root(4, live);
                let large = array(self.thread, self.types.bytes, 100_000);
                LARGE.store(weak(WeakKind::Short, large), Ordering::Relaxed);
                [WeakKind::Short, WeakKind::Long].map(|kind| (weak(kind, dead), weak(kind, live)))
            });
            self.collect(full);
            assert!(target(LARGE.load(Ordering::Relaxed)).is_null());
            for (dead, live) in handles {
                assert!(target(dead).is_null());
                assert_eq!(value(target(live)), 2);
                assert_eq!(target(live), root(4));
            }
        }
        set_root(4, NULL);
    }

    fn finalizable(&self, vtable: *const saki_abi::VTable, next: ObjRef, number: u64) -> ObjRef {
        // SAFETY: a valid vtable with a node's layout.
        unsafe {
            let object = saki_gc::alloc_object(self.thread, vtable).expect("memory");
            *object.field_ptr(NEXT) = next;
            *object.field_ptr(common::VALUE) = number;
            saki_gc::register_finalizer(self.thread, object);
            object
        }
    }

    fn finalizers_resurrect(&self) {
        for full in [false, true] {
            let wake_ups = WAKE_UPS.load(Ordering::Relaxed);
            let (short, long, child_short, child_long) = deep(|| {
                let child = self.node(NULL, NULL, 9);
                let object = self.finalizable(self.types.finalizable, child, 8);
                let (short, long) = (weak(WeakKind::Short, object), weak(WeakKind::Long, object));
                (short, long, weak(WeakKind::Short, child), weak(WeakKind::Long, child))
            });
            self.collect(full);
            assert!(target(short).is_null() && target(child_short).is_null());
            assert_eq!(saki_gc::finalizable_count(), 1);
            while WAKE_UPS.load(Ordering::Relaxed) == wake_ups {
                std::thread::yield_now();
            }
            // The queue is a root.
            self.collect(full);
            deep(|| {
                let object = saki_gc::next_finalizable().expect("one is ready");
                assert_eq!((value(object), value(get(object, NEXT))), (8, 9));
                assert_eq!(object, target(long));
                assert_eq!(get(object, NEXT), target(child_long));
                // The finalizer resurrects it and registers it again.
                set_root(5, object);
                saki_gc::register_finalizer(self.thread, object);
            });
            self.collect(true);
            assert_eq!((saki_gc::finalizable_count(), value(root(5))), (0, 8));
            set_root(5, NULL);
            self.collect(true);
            assert_eq!(saki_gc::finalizable_count(), 1);
            deep(|| assert_eq!(value(saki_gc::next_finalizable().expect("again")), 8));
            self.collect(true);
            assert!(target(long).is_null() && target(child_long).is_null());
        }
        assert_eq!(saki_gc::next_finalizable(), None);
    }

    fn critical_finalizers_last(&self) {
        deep(|| {
            for number in 0..10 {
                let vtable = if number % 2 == 0 { self.types.critical } else { self.types.finalizable };
                self.finalizable(vtable, NULL, number);
            }
        });
        self.collect(false);
        let order: Vec<u64> = std::iter::from_fn(|| saki_gc::next_finalizable().map(value)).collect();
        assert_eq!(order, [1, 3, 5, 7, 9, 0, 2, 4, 6, 8]);
    }

    fn suppression(&self) {
        deep(|| {
            let first = self.finalizable(self.types.finalizable, NULL, 1);
            let second = self.finalizable(self.types.finalizable, NULL, 2);
            saki_gc::suppress_finalizer(first);
            saki_gc::suppress_finalizer(second);
            saki_gc::register_finalizer_again(self.thread, second);
            saki_gc::register_finalizer_again(self.thread, second);
        });
        self.collect(true);
        let ready: Vec<u64> = std::iter::from_fn(|| saki_gc::next_finalizable().map(value)).collect();
        assert_eq!(ready, [2]);
    }

    /// key 0 is a root; value i refers to key i+1; ten pairs in one array, in the unfavourable order.
    fn ephemeron_chain(&self) {
        const LINKS: usize = 10;
        deep(|| {
            let tombstone = self.node(NULL, NULL, 0xdead);
            set_root(6, tombstone);
            saki_gc::set_ephemeron_tombstone(tombstone);
        });
        for full in [false, true] {
            let handles: Vec<usize> = deep(|| {
                let table = array(self.thread, self.types.ephemerons, LINKS as u32 + 1);
                set_root(7, table);
                let keys: [ObjRef; LINKS + 1] = std::array::from_fn(|index| self.node(NULL, NULL, index as u64));
                for link in 0..LINKS {
                    let pair = 32 + (LINKS - 1 - link) * 16;
                    set(self.thread, table, pair, keys[link]);
                    set(self.thread, table, pair + 8, self.node(keys[link + 1], NULL, link as u64));
                }
                // A pair whose key is dead; the value refers to the key.
                let dead = self.node(NULL, NULL, 666);
                set(self.thread, table, 32 + LINKS * 16, dead);
                set(self.thread, table, 32 + LINKS * 16 + 8, self.node(dead, NULL, 667));
                set_root(8, keys[0]);
                keys.iter().chain([&dead]).map(|&key| weak(WeakKind::Short, key)).collect()
            });
            self.collect(full);
            deep(|| {
                for link in 0..LINKS {
                    assert_eq!(value(target(handles[link])), link as u64);
                    let pair = 32 + (LINKS - 1 - link) * 16;
                    assert_eq!(get(root(7), pair), target(handles[link]));
                    assert_eq!(get(get(root(7), pair + 8), NEXT), target(handles[link + 1]));
                }
                assert!(target(handles[LINKS + 1]).is_null());
                assert_eq!(value(get(root(7), 32 + LINKS * 16)), 0xdead);
                assert!(get(root(7), 32 + LINKS * 16 + 8).is_null());
            });
            // Without the first key everything falls.
            set_root(8, NULL);
            self.collect(true);
            for handle in &handles {
                assert!(target(*handle).is_null());
            }
            assert_eq!(value(get(root(7), 32)), 0xdead);
        }
        set_root(7, NULL);
    }

    fn multi_dimensional_arrays_move_with_their_bounds(&self) {
        let check = |matrix: ObjRef| {
            // SAFETY: a live array.
            let header = unsafe { &*(matrix.0 as *const ArrayHeader) };
            assert_eq!(header.bounds as usize, matrix.address() + 32 + 6 * 8);
            // SAFETY: two bounds were written below.
            let bounds = unsafe { std::slice::from_raw_parts(header.bounds, 2) };
            assert_eq!((bounds[0].length, bounds[1].length, bounds[1].lower_bound), (2, 3, -1));
        };
        deep(|| {
            let matrix = array(self.thread, self.types.matrix, 6);
            // SAFETY: room for two bounds.
            unsafe {
                let bounds = (*(matrix.0 as *const ArrayHeader)).bounds;
                *bounds = saki_abi::object::ArrayBound { length: 2, lower_bound: 0 };
                *bounds.add(1) = saki_abi::object::ArrayBound { length: 3, lower_bound: -1 };
                assert_eq!(saki_gc::object_size_bytes(matrix), 32 + 48 + 16);
            }
            set_root(9, matrix);
        });
        check(root(9));
        for _ in 0..3 {
            self.collect(true);
            deep(|| check(root(9)));
        }
        set_root(9, NULL);
    }

    fn memory_returns_to_the_system(&self) {
        fn resident_mib() -> usize {
            let text = std::fs::read_to_string("/proc/self/statm").expect("statm");
            text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("pages") / 256
        }
        self.collect(true);
        let before = resident_mib();
        deep(|| {
            for index in 0..5_000_000 {
                set_root(10, self.node(root(10), NULL, index));
            }
            let bytes = array(self.thread, self.types.bytes, 100 << 20);
            // SAFETY: the array's elements, of which each page takes memory when it is written to.
            unsafe { std::slice::from_raw_parts_mut((bytes.address() + 32) as *mut u8, 100 << 20) }.fill(1);
            set_root(11, bytes);
        });
        let full = resident_mib();
        assert!(full > before + 200, "{before} → {full} MiB");
        set_root(10, NULL);
        set_root(11, NULL);
        self.collect(true);
        self.collect(true);
        let after = resident_mib();
        assert!(after < before + 80, "{before} → {full} → {after} MiB");
        // Memory that was given back can be reused.
        let again = array(self.thread, self.types.bytes, 90 << 20);
        // SAFETY: inside the array.
        unsafe { assert_eq!(*again.field_ptr::<u64>(32 + (80 << 20)), 0) };
        for index in 0..1_000_000 {
            set_root(10, self.node(root(10), NULL, index));
        }
        self.collect(true);
        let (mut count, mut node) = (0, root(10));
        while !node.is_null() {
            count += 1;
            node = get(node, NEXT);
        }
        assert_eq!(count, 1_000_000);
        set_root(10, NULL);
    }

    fn all_finalizable_at_exit(&self) {
        deep(|| {
            for number in 0..4 {
                set_root(12, self.finalizable(self.types.finalizable, root(12), number));
            }
        });
        self.collect(false);
        assert_eq!(saki_gc::make_all_finalizable(&mut |object| value(object) != 2), 3);
        assert_eq!(saki_gc::make_all_finalizable(&mut |_| true), 1);
        let order: Vec<u64> = std::iter::from_fn(|| saki_gc::next_finalizable().map(value)).collect();
        assert_eq!(order, [0, 1, 3, 2]);
        set_root(12, NULL);
    }
}

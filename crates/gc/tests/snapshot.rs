//! Heap snapshots have exactly the live objects, with their references and roots, whichever thread asks and whatever
//! other threads do meanwhile. One test: there is one heap per process and the stages share it.

mod common;

use common::{LEFT, NEXT, Types, array, attach, deep, node, scrub, start};
use saki_abi::ObjRef;
use saki_abi::object::ARRAY_DATA_OFFSET;
use saki_gc::{HeapClient, HeapOptions, Root, RootKind, RootProvider, StoppedHeap};
use saki_thread::ManagedThread;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const NULL: ObjRef = ObjRef::NULL;
const NODES: usize = 20_000;

struct Client;

impl HeapClient for Client {
    fn roots(&self) -> &[&'static dyn RootProvider] {
        static ROOTS: [&dyn RootProvider; 1] = [&TABLE];
        &ROOTS
    }
}

struct Table;
static TABLE: Table = Table;
static ROOTS: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];

impl RootProvider for Table {
    fn for_each_slot(&self, visit: &mut dyn FnMut(*mut ObjRef)) {
        for root in &ROOTS {
            visit(root.as_ptr() as *mut ObjRef);
        }
    }

    fn for_each_root(&self, visit: &mut dyn FnMut(Root)) {
        for (index, slot) in ROOTS.iter().enumerate() {
            let object = ObjRef(slot.load(Ordering::Relaxed) as *mut _);
            let kind = RootKind::Static { ty: index, offset_bytes: 8 };
            visit(Root { kind, object, address: slot.as_ptr() as usize, thread: None });
        }
    }
}

fn set_root(index: usize, object: ObjRef) {
    ROOTS[index].store(object.address(), Ordering::Relaxed);
}

/// Vtable, size, (offset, target) of references.
type Seen = (usize, usize, Vec<(usize, usize)>);

/// The contents of a snapshot.
#[derive(Default)]
struct Found {
    /// By address.
    objects: HashMap<usize, Seen>,
    ephemerons: Vec<(usize, usize)>,
    roots: Vec<(RootKind, usize, usize)>,
}

impl Found {
    fn see(&mut self, heap: &StoppedHeap) {
        heap.for_each_object(|object| {
            let mut references = Vec::new();
            object.for_each_reference(|offset, target| {
                if !target.is_null() {
                    references.push((offset, target.address()));
                }
            });
            object.for_each_ephemeron(|key, value| self.ephemerons.push((key.address(), value.address())));
            let vtable = std::ptr::from_ref(object.vtable()).addr();
            let before = self.objects.insert(object.address(), (vtable, object.size_bytes(), references));
            assert!(before.is_none(), "an object comes once");
            assert_eq!(object.generation(), 1);
        });
        heap.for_each_root(&mut |root| self.roots.push((root.kind, root.object.address(), root.address)));
    }

    fn count(&self, vtable: *const saki_abi::VTable) -> usize {
        self.objects.values().filter(|object| object.0 == vtable.addr()).count()
    }

    fn static_target(&self, index: usize) -> usize {
        let is_it = |kind: &RootKind| *kind == RootKind::Static { ty: index, offset_bytes: 8 };
        let found: Vec<_> = self.roots.iter().filter(|root| is_it(&root.0)).collect();
        assert!(found.len() == 1 && found[0].2 == ROOTS[index].as_ptr() as usize, "{found:?}");
        found[0].1
    }

    fn targets(&self, object: usize) -> Vec<(usize, usize)> {
        self.objects[&object].2.clone()
    }

    /// Every object that is referred to is in the snapshot.
    fn check_closed(&self) {
        let known: HashSet<usize> = self.objects.keys().copied().collect();
        for (address, (_, _, references)) in &self.objects {
            for (offset, target) in references {
                assert!(known.contains(target), "{address:#x} + {offset} refers to {target:#x}, which is not there");
            }
        }
        for (kind, object, _) in &self.roots {
            assert!(known.contains(object), "{kind:?} refers to {object:#x}, which is not there");
        }
    }
}

fn snapshot() -> Found {
    let mut found = Found::default();
    assert!(saki_gc::take_snapshot(&mut |heap| found.see(heap)));
    found.check_closed();
    found
}

#[test]
fn snapshots() {
    let (thread, types) = start(HeapOptions { nursery_bytes: Some(4 << 20), ..HeapOptions::default() }, &Client);
    deep(|| {
        let mut first = NULL;
        for index in 0..NODES {
            // Every other node has company that dies at once.
            first = node(thread, &types, first, NULL, index as u64);
            let _ = node(thread, &types, NULL, NULL, 0);
        }
        set_root(0, first);
    });
    scrub();
    let found = snapshot();
    check_list(&found, &types, NODES, 0);
    arrays_and_ephemerons(thread, &types);
    a_stack_is_a_root(thread, &types);
    // A thread that the heap does not know.
    let from_outside = saki_thread::blocking(|| {
        let types = &types;
        std::thread::scope(|scope| scope.spawn(snapshot).join().map(|found| check_list(&found, types, NODES, 0)))
    });
    from_outside.expect("no failure");
    while_others_allocate(&types);
    set_root(0, NULL);
    scrub();
    let left = snapshot().count(types.node);
    assert!(left < NODES / 100, "{left} nodes outlive their root");
    saki_thread::detach_current();
}

/// `slack`: nodes that a stale word of some stack may keep.
fn check_list(found: &Found, types: &Types, expect: usize, slack: usize) {
    let (mut at, mut length) = (found.static_target(0), 1);
    while let Some(&(offset, next)) = found.targets(at).first() {
        assert_eq!((offset, found.objects[&at].1), (NEXT, 40));
        at = next;
        length += 1;
    }
    assert_eq!(length, expect);
    let count = found.count(types.node);
    assert!((expect..=expect + expect / 100 + slack).contains(&count), "{count} nodes");
}

fn arrays_and_ephemerons(thread: &ManagedThread, types: &Types) {
    deep(|| {
        let key = node(thread, types, NULL, NULL, 1);
        let (value, dead_key) = (node(thread, types, NULL, NULL, 2), node(thread, types, NULL, NULL, 3));
        let dead_value = node(thread, types, NULL, NULL, 4);
        let pairs = array(thread, types.ephemerons, 3);
        let structs = array(thread, types.structs, 2);
        // SAFETY: elements of new arrays: pairs of two references, and structs of three words with a reference in the
        // middle.
        unsafe {
            let place = |array: ObjRef, word: usize| array.field_ptr::<ObjRef>(ARRAY_DATA_OFFSET as usize + 8 * word);
            *place(pairs, 0) = key;
            *place(pairs, 1) = value;
            *place(pairs, 2) = dead_key;
            *place(pairs, 3) = dead_value;
            *place(structs, 1) = key;
            *place(structs, 4) = pairs;
        }
        set_root(1, structs);
    });
    scrub();
    let found = snapshot();
    let structs = found.static_target(1);
    let [(first_offset, key), (second_offset, pairs)] = found.targets(structs)[..] else { panic!("two references") };
    assert_eq!((first_offset, second_offset), (40, 64));
    assert_eq!(found.objects[&pairs].0, types.ephemerons.addr());
    assert_eq!(found.targets(pairs), [], "keys are weak, and values are the keys'");
    // Stale words of the stack may have kept the others' keys.
    assert!(found.ephemerons.iter().any(|&(k, value)| k == key && found.objects.contains_key(&value)));
    set_root(1, NULL);
}

fn a_stack_is_a_root(thread: &ManagedThread, types: &Types) {
    let left = node(thread, types, NULL, NULL, 5);
    let held = node(thread, types, NULL, left, 6);
    let found = snapshot();
    let is_of_stack = |kind: RootKind| kind == RootKind::Stack;
    assert!(found.roots.iter().any(|&(kind, object, _)| is_of_stack(kind) && object == held.address()));
    assert_eq!(found.targets(held.address()), [(LEFT, left.address())]);
    std::hint::black_box(held);
}

/// Four threads allocate, while two others ask for snapshots at the same time.
fn while_others_allocate(types: &Types) {
    let is_over = AtomicBool::new(false);
    let check = |found: Found| check_list(&found, types, NODES, NODES);
    saki_thread::blocking(|| {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let thread = attach();
                    while !is_over.load(Ordering::Relaxed) {
                        let mut first = NULL;
                        for value in 0..1000 {
                            first = node(thread, types, first, NULL, value);
                            thread.poll();
                        }
                    }
                    saki_thread::detach_current();
                });
            }
            let outside = scope.spawn(|| (0..5).for_each(|_| check(snapshot())));
            let inside = scope.spawn(|| {
                attach();
                (0..5).for_each(|_| check(snapshot()));
                saki_thread::detach_current();
            });
            // Requests also fall into collections that others have begun.
            let often = scope.spawn(|| (0..300).for_each(|_| assert!(saki_gc::take_snapshot(&mut |_| ()))));
            let ends = [outside.join(), inside.join(), often.join()];
            is_over.store(true, Ordering::Relaxed);
            ends.into_iter().for_each(|end| end.expect("no failure"));
        });
    });
}

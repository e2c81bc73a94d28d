//! Fake types and threads for the heap's tests: one process per file, because there is one heap per process.

#![allow(dead_code, reason = "each test file uses a part of it")]

use saki_abi::{ObjRef, RefMap, VTable, VTableFlags};
use saki_gc::{HeapClient, HeapOptions, barrier};
use saki_thread::ManagedThread;

/// A fake type, leaked.
pub fn vtable(flags: u32, instance: u32, refs: &[u32], element: u32, element_refs: &[u32], rank: u32) -> *const VTable {
    let layout = std::alloc::Layout::new::<VTable>();
    // SAFETY: the layout is not empty.
    let memory = unsafe { std::alloc::alloc_zeroed(layout) }.cast::<VTable>();
    // SAFETY: zeroed memory is a valid VTable (null pointers, zero numbers).
    let vtable = unsafe { &mut *memory };
    vtable.flags = VTableFlags(flags);
    vtable.instance_size_bytes = instance;
    vtable.ref_map = RefMap::leak(refs);
    vtable.element_size_bytes = element;
    vtable.element_ref_map = RefMap::leak(element_refs);
    vtable.rank = rank;
    memory
}

/// The types that the tests use.
pub struct Types {
    /// `{ next: ref @16, left: ref @24, value: u64 @32 }`
    pub node: *const VTable,
    pub finalizable: *const VTable,
    pub critical: *const VTable,
    pub bytes: *const VTable,
    pub refs: *const VTable,
    /// Elements `{ u64, ref, u64 }`.
    pub structs: *const VTable,
    /// Two-dimensional array of references.
    pub matrix: *const VTable,
    pub string: *const VTable,
    pub ephemerons: *const VTable,
}

// SAFETY: vtables are immutable and leaked.
unsafe impl Sync for Types {}
// SAFETY: as above.
unsafe impl Send for Types {}

pub const NEXT: usize = 16;
pub const LEFT: usize = 24;
pub const VALUE: usize = 32;
const NODE_BYTES: u32 = 40;

pub fn types() -> Types {
    let array = VTableFlags::ARRAY;
    Types {
        node: vtable(0, NODE_BYTES, &[16, 24], 0, &[], 0),
        finalizable: vtable(VTableFlags::FINALIZER, NODE_BYTES, &[16, 24], 0, &[], 0),
        critical: vtable(VTableFlags::FINALIZER | VTableFlags::CRITICAL_FINALIZER, NODE_BYTES, &[16, 24], 0, &[], 0),
        bytes: vtable(array, 32, &[], 1, &[], 1),
        refs: vtable(array, 32, &[], 8, &[0], 1),
        structs: vtable(array, 32, &[], 24, &[8], 1),
        matrix: vtable(array | VTableFlags::MULTI_DIM, 32, &[], 8, &[0], 2),
        string: vtable(VTableFlags::STRING, 20, &[], 2, &[], 0),
        ephemerons: vtable(array | VTableFlags::EPHEMERONS, 32, &[], 16, &[0, 8], 1),
    }
}

/// Starts heap and thread.
pub fn start(options: HeapOptions, client: &'static dyn HeapClient) -> (&'static ManagedThread, Types) {
    saki_gc::init(options, client).expect("heap");
    (attach(), types())
}

pub fn attach() -> &'static ManagedThread {
    saki_thread::attach_current(saki_thread::ThreadKind::Main)
}

pub fn node(thread: &ManagedThread, types: &Types, next: ObjRef, left: ObjRef, value: u64) -> ObjRef {
    // SAFETY: a valid vtable; fields as `Types` says; a new object needs no barrier.
    unsafe {
        let node = saki_gc::alloc_object(thread, types.node).expect("memory");
        *node.field_ptr(NEXT) = next;
        *node.field_ptr(LEFT) = left;
        *node.field_ptr(VALUE) = value;
        node
    }
}

pub fn array(thread: &ManagedThread, vtable: *const VTable, length: u32) -> ObjRef {
    // SAFETY: a valid array vtable.
    unsafe { saki_gc::alloc_array(thread, vtable, length) }.expect("memory")
}

pub fn get(object: ObjRef, offset: usize) -> ObjRef {
    // SAFETY: tests pass live objects and offsets of references.
    unsafe { *object.field_ptr(offset) }
}

pub fn value(object: ObjRef) -> u64 {
    // SAFETY: tests pass live nodes.
    unsafe { *object.field_ptr(VALUE) }
}

pub fn set(thread: &ManagedThread, object: ObjRef, offset: usize, value: ObjRef) {
    // SAFETY: tests pass live objects and offsets of references.
    unsafe { barrier::store_ref(thread, object, offset, value) }
}

/// Runs `body` deep in the stack and overwrites that part of the stack afterwards, so that no stale word keeps what it
/// allocated alive.
#[inline(never)]
pub fn deep<R>(body: impl FnOnce() -> R) -> R {
    #[inline(never)]
    fn below<R>(depth: usize, body: impl FnOnce() -> R) -> R {
        let pad = std::hint::black_box([0u64; 64]);
        if depth == 0 {
            return body();
        }
        fn call<R>(depth: usize, body: Box<dyn FnOnce() -> R + '_>) -> R {
            below(depth, body)
        }
        let result = call(depth - 1, Box::new(body));
        std::hint::black_box(pad);
        result
    }
    let result = below(8, body);
    scrub();
    result
}

#[inline(never)]
pub fn scrub() {
    let mut words = [0u64; 4096];
    for word in &mut words {
        // SAFETY: a local array. Volatile: the stores must happen.
        unsafe { std::ptr::write_volatile(word, 0x5a5a) };
    }
    std::hint::black_box(&words);
}

/// Hides a reference from the conservative scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hidden(usize);

#[inline(never)]
pub fn hide(object: ObjRef) -> Hidden {
    Hidden(!object.address())
}

impl Hidden {
    /// Whether the heap still has an object at that address. Only meaningful for objects that cannot move.
    #[inline(never)]
    pub fn exists(self) -> bool {
        saki_gc::find_object(!self.0).is_some_and(|object| object.address() == !self.0)
    }
}

/// Checks every object of the heap: vtable known, size sane, references to objects.
pub fn verify_heap(types: &Types) -> usize {
    let known = [
        types.node,
        types.finalizable,
        types.critical,
        types.bytes,
        types.refs,
        types.structs,
        types.matrix,
        types.string,
        types.ephemerons,
    ];
    let mut count = 0;
    saki_gc::for_each_object(&mut |object| {
        count += 1;
        // SAFETY: enumerated objects have headers.
        let vtable = unsafe { (*object.0).vtable };
        assert!(known.contains(&vtable), "{object:?} has vtable {vtable:p}");
    });
    count
}

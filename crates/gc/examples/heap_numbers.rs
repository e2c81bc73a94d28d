//! Measures the heap without compiled code: allocation through the Rust fast path, a long list, binary trees, write
//! barriers. Run with `cargo run --release -p saki-gc --example heap_numbers [nursery MiB]`.

use saki_abi::{ObjRef, RefMap, VTable, VTableFlags};
use saki_gc::{HeapOptions, barrier};
use saki_thread::{ManagedThread, ThreadKind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

static ROOT: AtomicUsize = AtomicUsize::new(0);

fn vtable(instance_size_bytes: u32, refs: &[u32]) -> *const VTable {
    // SAFETY: the layout is not empty.
    let memory = unsafe { std::alloc::alloc_zeroed(std::alloc::Layout::new::<VTable>()) }.cast::<VTable>();
    // SAFETY: zeroed memory is a valid VTable.
    let vtable = unsafe { &mut *memory };
    vtable.flags = VTableFlags(0);
    vtable.instance_size_bytes = instance_size_bytes;
    vtable.ref_map = RefMap::leak(refs);
    memory
}

fn alloc(thread: &ManagedThread, vtable: *const VTable) -> ObjRef {
    // SAFETY: a valid vtable.
    unsafe { saki_gc::alloc_object(thread, vtable) }.expect("memory")
}

/// CPU seconds of the process, which other work on the machine does not distort.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn seconds(label: &str, body: impl FnOnce()) {
    let (start, cpu, collections) = (Instant::now(), cpu_seconds(), saki_gc::collections());
    body();
    let (wall, cpu, collections) =
        (start.elapsed().as_secs_f64(), cpu_seconds() - cpu, saki_gc::collections() - collections);
    println!("{label:<42} {wall:7.3} s  {cpu:7.3} s CPU {collections:5} collections");
}

fn tree(thread: &ManagedThread, vtable: *const VTable, depth: u32) -> ObjRef {
    if depth == 0 {
        return alloc(thread, vtable);
    }
    let left = tree(thread, vtable, depth - 1);
    let right = tree(thread, vtable, depth - 1);
    let node = alloc(thread, vtable);
    // SAFETY: a new object with references at 16 and 24.
    unsafe {
        *node.field_ptr(16) = left;
        *node.field_ptr(24) = right;
    }
    node
}

fn count(node: ObjRef) -> u64 {
    if node.is_null() {
        return 0;
    }
    // SAFETY: a live node with references at 16 and 24.
    unsafe { 1 + count(*node.field_ptr(16)) + count(*node.field_ptr(24)) }
}

fn main() {
    let nursery_mib = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(32);
    let start = Instant::now();
    saki_gc::init(HeapOptions { nursery_bytes: Some(nursery_mib << 20), ..HeapOptions::default() }, &saki_gc::NoClient)
        .expect("heap");
    println!("init {:?}", start.elapsed());
    let thread = saki_thread::attach_current(ThreadKind::Main);
    // SAFETY: a static slot that holds null or an object.
    unsafe { saki_gc::register_root_slots(ROOT.as_ptr() as *mut ObjRef, 1) };
    for bytes in [16, 24, 32] {
        let vtable = vtable(bytes, &[]);
        for _ in 0..2 {
            seconds(&format!("100M allocations of {bytes} bytes"), || {
                for _ in 0..100_000_000 {
                    std::hint::black_box(alloc(thread, vtable));
                }
            });
        }
    }
    let node = vtable(32, &[16, 24]);
    seconds("binary trees, depth 18", || {
        let long_lived = tree(thread, node, 18);
        let mut total = 0;
        for depth in (4..=18).step_by(2) {
            for _ in 0..1u32 << (18 - depth + 4) {
                total += count(tree(thread, node, depth));
            }
        }
        assert_eq!(count(std::hint::black_box(long_lived)), (1 << 19) - 1);
        std::hint::black_box(total);
    });
    seconds("list of 16.7M nodes (32 bytes), build", || {
        for _ in 0..1 << 24 {
            let object = alloc(thread, node);
            // SAFETY: a new object with a reference at 16.
            unsafe { *object.field_ptr(16) = ObjRef(ROOT.load(Ordering::Relaxed) as *mut _) };
            ROOT.store(object.address(), Ordering::Relaxed);
        }
    });
    println!("used {} MiB", saki_gc::heap_bytes_used() >> 20);
    for _ in 0..3 {
        seconds("full collection with the list", || saki_gc::collect(thread, true));
    }
    seconds("nursery collection with the list", || saki_gc::collect(thread, false));
    ROOT.store(0, Ordering::Relaxed);
    seconds("full collection that frees it", || saki_gc::collect(thread, true));
    seconds("full collection of nothing", || saki_gc::collect(thread, true));
    for _ in 0..3 {
        seconds("1000 nursery collections of nothing", || (0..1000).for_each(|_| saki_gc::collect(thread, false)));
    }
    let old = alloc(thread, node);
    saki_gc::collect(thread, true);
    let young = alloc(thread, node);
    seconds("100M stores with barrier", || {
        for _ in 0..100_000_000 {
            // SAFETY: live objects.
            unsafe { barrier::store_ref(thread, std::hint::black_box(old), 16, young) };
        }
    });
    seconds("100M byref stores with barrier", || {
        for _ in 0..100_000_000 {
            // SAFETY: a live object.
            unsafe { barrier::store_ref_unknown(thread, std::hint::black_box(old).field_ptr(16), young) };
        }
    });
    let statistics = saki_gc::statistics();
    println!(
        "{} nursery and {} full collections, pauses: median {:?}, p95 {:?}, max {:?}, total {:?}",
        statistics.nursery_collections,
        statistics.full_collections,
        statistics.pause_quantile(0.5),
        statistics.pause_quantile(0.95),
        statistics.pause_max,
        statistics.pause_total,
    );
}

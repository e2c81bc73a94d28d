//! `mono/metadata/mono-gc.h`: collections and what the heap holds.

use crate::call::{call, some};
use saki_abi::ObjRef;
use saki_runtime::vm::finalizer;
use std::ffi::c_int;

/// Generation 0 is the nursery, generation 1 the whole heap.
const MAX_GENERATION: c_int = 1;

/// Collects: a generation above 0, all unreachable objects.
#[unsafe(no_mangle)]
pub extern "C" fn mono_gc_collect(generation: c_int) {
    call("mono_gc_collect", |t| saki_gc::collect(t.managed(), generation != 0));
}

/// The number of the oldest generation.
#[unsafe(no_mangle)]
pub extern "C" fn mono_gc_max_generation() -> c_int {
    MAX_GENERATION
}

/// The generation of an object.
///
/// # Safety
/// `object` is an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_gc_get_generation(object: ObjRef) -> c_int {
    const FUNCTION: &str = "mono_gc_get_generation";
    call(FUNCTION, |_| {
        // SAFETY: the host's object.
        unsafe { some(FUNCTION, object) };
        // SAFETY: a live object, which the host holds.
        unsafe { saki_gc::generation_of(object) as c_int }
    })
}

/// The number of collections so far of the generation.
#[unsafe(no_mangle)]
pub extern "C" fn mono_gc_collection_count(generation: c_int) -> c_int {
    saki_gc::collection_count(u32::try_from(generation).unwrap_or(0)) as c_int
}

/// Bytes of the heap that objects take.
#[unsafe(no_mangle)]
pub extern "C" fn mono_gc_get_used_size() -> i64 {
    call("mono_gc_get_used_size", |_| saki_gc::heap_bytes_used() as i64)
}

/// Bytes of the heap: those that objects take, since the rest is the system's.
#[unsafe(no_mangle)]
pub extern "C" fn mono_gc_get_heap_size() -> i64 {
    mono_gc_get_used_size()
}

/// Whether objects wait for their finalizers.
#[unsafe(no_mangle)]
pub extern "C" fn mono_gc_pending_finalizers() -> u8 {
    call("mono_gc_pending_finalizers", |_| u8::from(saki_gc::finalizable_count() > 0))
}

/// The finalizer's thread is notified by each collection: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_gc_finalize_notify() {}

/// Waits until the finalizers of dead objects have run; how many waited.
#[unsafe(no_mangle)]
pub extern "C" fn mono_gc_invoke_finalizers() -> c_int {
    call("mono_gc_invoke_finalizers", |t| {
        let count = saki_gc::finalizable_count();
        finalizer::wait_for_pending(t);
        count as c_int
    })
}

//! `mono/metadata/mono-gc.h`: collections and what the heap holds.

use crate::call::{call, held, some};
use saki_abi::ObjRef;
use saki_gc::HeapObject;
use saki_runtime::vm::finalizer;
use saki_types::Ty;
use std::ffi::{c_int, c_void};

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

/// Wakes the finalizer's thread, which also looks after reference queues. Objects that are ready wake it by themselves.
#[unsafe(no_mangle)]
pub extern "C" fn mono_gc_finalize_notify() {
    finalizer::wake();
}

/// Waits until the finalizers of dead objects have run; how many waited.
#[unsafe(no_mangle)]
pub extern "C" fn mono_gc_invoke_finalizers() -> c_int {
    call("mono_gc_invoke_finalizers", |t| {
        let count = saki_gc::finalizable_count();
        finalizer::wait_for_pending(t);
        count as c_int
    })
}

/// `MonoGCReferences`: an object, its class and its size in bytes; the number of references, where they lead and where
/// they lie in the object.
type ShowObject = unsafe extern "C" fn(ObjRef, Ty, usize, usize, *const ObjRef, *const usize, *mut c_void) -> c_int;

/// The most references that are shown at once; further ones of an object come with size 0.
const REFERENCES_AT_ONCE: usize = 128;

/// What the host has given to [`mono_gc_walk_heap`].
struct Walk(ShowObject, *mut c_void);

impl Walk {
    fn show(&self, object: HeapObject) {
        let address = ObjRef(std::ptr::with_exposed_provenance_mut(object.address()));
        // SAFETY: an object of a stopped heap.
        let Some(ty) = unsafe { held(address) }.map(|object| object.ty()) else { return };
        // The size of what was not shown yet.
        let mut size_bytes = object.size_bytes();
        let mut show = |targets: &[ObjRef], offsets: &[usize]| {
            let (first, data) = (std::mem::take(&mut size_bytes), self.1);
            // SAFETY: the host's function and its data; so many references.
            unsafe { self.0(address, ty, first, targets.len(), targets.as_ptr(), offsets.as_ptr(), data) };
        };
        let (mut targets, mut offsets) = (Vec::new(), Vec::new());
        let mut is_shown = false;
        object.for_each_reference(|offset, target| {
            if target.is_null() {
                return;
            }
            if targets.len() == REFERENCES_AT_ONCE {
                show(&targets, &offsets);
                is_shown = true;
                targets.clear();
                offsets.clear();
            }
            targets.push(target);
            offsets.push(offset);
        });
        if !targets.is_empty() || !is_shown {
            show(&targets, &offsets);
        }
    }
}

/// Shows each object of the heap to the host's function while the world is stopped: 0. Dead ones are shown, too, until
/// a collection has freed them. The function must not call the library but to ask a class for its name.
///
/// # Safety
/// The function may be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_gc_walk_heap(_flags: c_int, function: ShowObject, data: *mut c_void) -> c_int {
    let walk = Walk(function, data);
    call("mono_gc_walk_heap", |_| saki_gc::walk_heap(|object| walk.show(object)));
    0
}

/// No bridge can be registered, so none works: does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn mono_gc_wait_for_bridge_processing() {}

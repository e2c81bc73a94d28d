//! Conditional roots, which count only if something else refers to their owner: statics and cells of collectible
//! assemblies.
//!
//! An object refers to such an owner by any word that points among the owner's records: the vtable word of instances,
//! handles inside reflection objects, code addresses inside delegates. So full collections show the provider every word
//! of every reached object that points into one of the watched ranges. When tracing has come to an end, the provider
//! gives the slots of owners that were found, and this is repeated until no further owner is found. Nursery collections
//! do not decide about owners: all slots are roots then (`RootProvider`), and no object's words are shown. The same
//! holds when there are no owners.
//!
//! Left out: which owner has which records; the runtime knows that.

use crate::client::client;
use crate::object::{object_size_bytes, vtable_of};
use crate::tracer::Tracer;
use saki_abi::object::ARRAY_DATA_OFFSET;
use saki_abi::{ObjRef, VTableFlags};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Whether the collection that runs judges. Relaxed: changes with the world stopped, as `WATCHED`.
static IS_WATCHING: AtomicBool = AtomicBool::new(false);
/// (start, length) of the watched ranges.
static WATCHED: [(AtomicUsize, AtomicUsize); 2] = [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; 2];

/// A collection begins; the world is stopped.
pub(crate) fn begin(is_full: bool) {
    let Some(ranges) = client().conditional_roots().and_then(|provider| provider.begin(is_full)) else { return };
    // Relaxed, here and below: the collection's phases order it.
    for ((start, len_bytes), range) in WATCHED.iter().zip(ranges) {
        start.store(range.start, Ordering::Relaxed);
        len_bytes.store(range.len(), Ordering::Relaxed);
    }
    IS_WATCHING.store(true, Ordering::Relaxed);
}

/// Shows a reached object, at its new address; may happen twice.
///
/// # Safety
/// `object` is live.
#[inline(always)]
pub(crate) unsafe fn watch(object: ObjRef) {
    if IS_WATCHING.load(Ordering::Relaxed) {
        // SAFETY: `object` is live, which both functions demand.
        unsafe { show_words(object) };
    }
}

/// # Safety
/// `object` is live.
#[cold]
unsafe fn show_words(object: ObjRef) {
    let Some(provider) = client().conditional_roots() else { return };
    let [first, second] = &WATCHED;
    // Relaxed: `begin` wrote them before tracing began.
    let range = |range: &(AtomicUsize, AtomicUsize)| (range.0.load(Ordering::Relaxed), range.1.load(Ordering::Relaxed));
    let ((start, len), (other_start, other_len)) = (range(first), range(second));
    let show = |word: usize| {
        if word.wrapping_sub(start) < len || word.wrapping_sub(other_start) < other_len {
            provider.saw(word);
        }
    };
    // SAFETY: `object` was reached and is shown at its new address, so its first word is that of its vtable.
    let vtable = unsafe { vtable_of(object) };
    show(std::ptr::from_ref(vtable).addr());
    let is_array = vtable.flags.has(VTableFlags::ARRAY);
    let holds_no_words = vtable.flags.has(VTableFlags::STRING)
        || is_array && (vtable.element_size_bytes % 8 != 0 || holds_references_only(vtable.element_size_bytes, vtable));
    if holds_no_words {
        return;
    }
    let from = if is_array { ARRAY_DATA_OFFSET as usize } else { size_of::<usize>() };
    // SAFETY: `object` is live, so its vtable and, for arrays, its length are there to be read.
    let to = unsafe { object_size_bytes(object) };
    for offset in (from..to).step_by(size_of::<usize>()) {
        // SAFETY: inside the object, whose size is a multiple of 8.
        show(unsafe { object.field_ptr::<usize>(offset).read() });
    }
}

/// An array of references: no element is a word of another kind.
fn holds_references_only(element_size_bytes: u32, vtable: &saki_abi::VTable) -> bool {
    element_size_bytes == 8 && !vtable.element_ref_map.is_null()
}

/// Traces the roots of owners that turned up. True if something was retained.
pub(crate) fn resolve(tracer: &mut dyn Tracer) -> bool {
    if !IS_WATCHING.load(Ordering::Relaxed) {
        return false;
    }
    let Some(provider) = client().conditional_roots() else { return false };
    let mut retained = false;
    provider.for_each_new_slot(&mut |slot| {
        // SAFETY: the provider's slots hold an object or null and are its own; the world is stopped.
        let slot = unsafe { &mut *slot };
        if slot.is_null() {
            return;
        }
        match tracer.reached(*slot) {
            Some(now) => *slot = now,
            None => {
                *slot = tracer.retain(*slot);
                retained = true;
            }
        }
    });
    retained
}

/// All that lives has been traced.
pub(crate) fn finish() {
    if IS_WATCHING.swap(false, Ordering::Relaxed)
        && let Some(provider) = client().conditional_roots()
    {
        provider.finish();
    }
}

//! Stores of references into the heap.
//!
//! The collector remembers objects: the first store into an old object since the last collection puts the object on its
//! thread's list, and the next nursery collection scans it again. A bit per object says whether that is still to be
//! done ("unlogged"). Compiled code, after the store of a reference into `obj`, base = `ThreadAbi::log_bit_base`:
//!
//! ```text
//!     mov  [obj + offset], value
//!     mov  rcx, obj; shr rcx, 6; movzx ecx, byte [base + rcx]     ; the byte of obj's bit
//!     mov  eax, obj; shr eax, 3                                   ; bt takes the index modulo its width, so and eax, 7
//!     bt   ecx, eax; jc slow                                      ; object_reference_write_slow(thread, obj)
//! ```
//!
//! Test exactly that bit: the bits around it belong to neighbours, and testing the whole byte costs 2.5 ns on average
//! instead of 0.5. Not needed: stores of null, into objects that were allocated since the last safepoint, and into
//! statics, thread statics and stacks, which are all roots.
//!
//! **Stores through byrefs** whose object is not known ([`store_ref_unknown`]): the address of the slot goes to a
//! buffer of the thread, and the next nursery collection treats what is in the slots as roots. This was chosen over a
//! search for the object's start, which costs 5–100 ns for each store. A remembered slot costs range checks (slots in
//! objects just made need nothing), a look at the value's mark bit unless the value was just made (old values need
//! nothing), and a push. Duplicates are removed when the buffer grows. The collection searches for the objects of the
//! remaining slots and drops slots in young objects, because dead young objects would otherwise keep alive what their
//! slots refer to (when lambdas were compiled, `Array.Resize (ref field)` in short-lived objects made 12,188 of 12,680
//! survivors of a nursery collection).
//!
//! **Large arrays of references** ([`array_element_write_slow`], [`array_copy`]): logging a 10M-element array would
//! make each nursery collection scan 80 MB, so up to a share of the elements the slots are remembered one by one
//! instead.
//!
//! Left out: the memory order of compiled code's stores; the functions here store with release, as the CLI memory model
//! asks.

use crate::mmtk;
use saki_abi::{ArrayHeader, ObjRef};
use saki_os::memory::copy_whole_words;
use saki_thread::ManagedThread;
use std::sync::atomic::{AtomicPtr, Ordering, fence};

/// Arrays with at least this many elements have slots remembered singly: scanning them takes about 50 µs.
const LARGE_ARRAY_ELEMENTS: u32 = 1 << 16;
/// More remembered slots than this and the array is logged after all: a slot costs about 10 ns at the collection.
const MAX_SLOTS_FOR_ARRAYS: usize = 1 << 15;

/// To be called after a store into `object` whose log bit is set; harmless otherwise.
///
/// # Safety
/// `thread` is the current thread, and `object` is an object that lives.
pub unsafe fn object_reference_write_slow(thread: &ManagedThread, object: ObjRef) {
    mmtk::log_object(thread, object);
}

/// Like [`object_reference_write_slow`] for a store to `slot`, an element of the array of references `array`.
///
/// # Safety
/// `thread` is the current thread, `array` is an array of references that lives, and `slot` lies in it.
pub unsafe fn array_element_write_slow(thread: &ManagedThread, array: ObjRef, slot: *mut ObjRef) {
    // SAFETY: `array` is a live array, which this function demands: its header has the length.
    let length = unsafe { (*(array.0 as *const ArrayHeader)).length };
    // SAFETY: `thread` is current and bound.
    let buffered = unsafe { &(*mmtk::heap_of(thread)).slots }.len();
    if length >= LARGE_ARRAY_ELEMENTS && buffered < MAX_SLOTS_FOR_ARRAYS {
        remember_slot(thread, slot);
    } else {
        mmtk::log_object(thread, array);
    }
}

/// The barrier after a store into `object`, which compiled code has inline.
///
/// # Safety
/// `object` is a live heap object, `thread` the current thread.
#[inline]
pub unsafe fn after_store(thread: &ManagedThread, object: ObjRef) {
    // SAFETY: `object` is live, so that its log bit is mapped.
    if unsafe { mmtk::is_unlogged(object) } {
        mmtk::log_object(thread, object);
    }
}

/// To be called before references are copied: who finds an object by a copy also finds its header and what was written
/// to it before (`store_release` is for one reference).
fn publish_referents() {
    // Release: pairs with the reader's address dependency. Copies move whole references.
    fence(Ordering::Release);
}

/// `*slot = value` with release order.
///
/// # Safety
/// `slot` is valid and aligned.
#[inline]
unsafe fn store_release(slot: *mut ObjRef, value: ObjRef) {
    // SAFETY: the slot is valid and aligned, which this function demands; ObjRef is a transparent pointer, so the slot
    // is that of an `AtomicPtr` as well. Release: a thread that reads the reference sees the object's fields as of the
    // store or later.
    unsafe { AtomicPtr::from_ptr(slot.cast::<*mut saki_abi::Object>()) }.store(value.0, Ordering::Release);
}

/// Stores `value` into the field of `object` at `offset_bytes`, with barrier.
///
/// # Safety
/// `object` is a live heap object with a reference at that offset; `thread` is the current thread.
#[inline]
pub unsafe fn store_ref(thread: &ManagedThread, object: ObjRef, offset_bytes: usize, value: ObjRef) {
    // SAFETY: `object` has a reference at the offset, which this function demands; references are aligned.
    unsafe { store_release(object.field_ptr(offset_bytes), value) };
    // SAFETY: `object` is still live and where it was: a store is no safepoint.
    unsafe { after_store(thread, object) };
}

/// Stores `value` to `slot`, wherever that is: in an object, on a stack, in a static. See the module header.
///
/// # Safety
/// `slot` is valid; `thread` is the current thread.
#[inline]
pub unsafe fn store_ref_unknown(thread: &ManagedThread, slot: *mut ObjRef, value: ObjRef) {
    // SAFETY: the slot is a valid one of a reference, which this function demands, and so aligned.
    unsafe { store_release(slot, value) };
    remember_slot(thread, slot);
}

/// After a store of a reference to `slot`, wherever that is, when the object is not known.
#[inline]
pub fn after_store_unknown(thread: &ManagedThread, slot: *mut ObjRef) {
    remember_slot(thread, slot);
}

/// After a copy of a value with references at these offsets to `place`, wherever that is, when the object is not
/// known.
#[inline]
pub fn after_copy_unknown(thread: &ManagedThread, place: *mut u8, offsets: &[u32]) {
    // A value lies in one object, or outside the heap: most are copied to a stack.
    if !mmtk::in_heap_range(place as usize) || mmtk::is_in_new_object(thread, place as usize) {
        return;
    }
    for &offset in offsets {
        remember_slot(thread, place.wrapping_add(offset as usize) as *mut ObjRef);
    }
}

#[inline]
fn remember_slot(thread: &ManagedThread, slot: *mut ObjRef) {
    if !mmtk::in_heap_range(slot as usize) || mmtk::is_in_new_object(thread, slot as usize) {
        return;
    }
    // SAFETY: a slot in the heap holds an object or null.
    let value = unsafe { *slot };
    if value.is_null() {
        return;
    }
    // New objects' mark bits were last touched by a collection, so that reading them misses the caches.
    // SAFETY: a non-null reference points to a live object. A large one never shows the bit, which is safe.
    if !mmtk::is_in_buffer(thread, value) && unsafe { mmtk::has_mark_bit(value) } {
        return;
    }
    // SAFETY: `thread` is current and bound.
    unsafe { &mut (*mmtk::heap_of(thread)).slots }.push(slot as usize);
}

/// Copies bytes that may contain references at places that the caller does not know; the ranges may overlap.
///
/// # Safety
/// Both ranges are valid for the size; if the destination lies in an object, it lies whole in one, which lives;
/// `thread` is current.
pub unsafe fn bulk_copy(thread: &ManagedThread, destination: *mut u8, source: *const u8, size_bytes: usize) {
    publish_referents();
    // SAFETY: both ranges are valid for the size, which this function demands.
    unsafe { copy_whole_words(source, destination, size_bytes) };
    if size_bytes >= size_of::<ObjRef>()
        && mmtk::in_heap_range(destination as usize)
        && let Some(object) = crate::heap::find_object(destination as usize)
    {
        // SAFETY: the object that holds the destination, which lives; copying is no safepoint.
        unsafe { after_store(thread, object) };
    }
}

/// Copies `count` references from `source` to `destination`, which lie in `destination_array` (an object, usually an
/// array); the ranges may overlap. Element type checks are the caller's.
///
/// # Safety
/// Both ranges are valid; `destination_array` is a live object that holds `destination`; `thread` is current.
pub unsafe fn array_copy(
    thread: &ManagedThread,
    destination_array: ObjRef,
    destination: *mut ObjRef,
    source: *const ObjRef,
    count: usize,
) {
    publish_referents();
    // SAFETY: both ranges are valid, which this function demands.
    unsafe { copy_whole_words(source.cast(), destination.cast(), count * size_of::<ObjRef>()) };
    // SAFETY: `destination_array` is still live and where it was: copying is no safepoint.
    if count == 0 || !unsafe { mmtk::is_unlogged(destination_array) } {
        return;
    }
    // SAFETY: `thread` is current and bound.
    let buffered = unsafe { &(*mmtk::heap_of(thread)).slots }.len();
    // SAFETY: the header of a live object; other objects than arrays only make the number meaningless, not invalid.
    let is_large = unsafe { crate::object::object_size_bytes(destination_array) } >= LARGE_ARRAY_ELEMENTS as usize * 8;
    if is_large && buffered + count < MAX_SLOTS_FOR_ARRAYS {
        for index in 0..count {
            remember_slot(thread, destination.wrapping_add(index));
        }
    } else {
        mmtk::log_object(thread, destination_array);
    }
}

/// Copies a value type of `size_bytes` with references at `ref_offsets` (bytes) into `object`, with barrier.
///
/// # Safety
/// Both places are valid for the size; `object` is a live object that holds `destination`; `thread` is current.
pub unsafe fn struct_copy(
    thread: &ManagedThread,
    object: ObjRef,
    destination: *mut u8,
    source: *const u8,
    size_bytes: usize,
    ref_offsets: &[u32],
) {
    publish_referents();
    // SAFETY: both places are valid for the size, which this function demands.
    unsafe { copy_whole_words(source, destination, size_bytes) };
    if !ref_offsets.is_empty() {
        // SAFETY: `object` is still live and where it was: copying is no safepoint.
        unsafe { after_store(thread, object) };
    }
}

/// Like [`struct_copy`] when the object that holds `destination` is not known (or it is not in an object).
///
/// # Safety
/// Both places are valid for the size; `thread` is current.
pub unsafe fn struct_copy_unknown(
    thread: &ManagedThread,
    destination: *mut u8,
    source: *const u8,
    size_bytes: usize,
    references: &[u32],
) {
    publish_referents();
    // SAFETY: both places are valid for the size, which this function demands.
    unsafe { copy_whole_words(source, destination, size_bytes) };
    for &offset_bytes in references {
        remember_slot(thread, destination.wrapping_add(offset_bytes as usize) as *mut ObjRef);
    }
}

//! Heap snapshots: live objects, their references and the roots, read while nothing moves.
//!
//! A snapshot is taken at the end of a full collection, before the program goes on: then the heap holds exactly the
//! objects that the collection reached, and no visited set is needed. The consumer gets a [`StoppedHeap`] on a
//! collector thread, may walk it as often as it likes, and keeps its own copy of what it needs. Objects that only a
//! finalizer will see are included, with the queue of finalizers as their root.
//!
//! Invariant: nothing is allocated on the heap meanwhile, and no lock is asked for that a stopped thread may hold. Left
//! out: the names of types, fields and roots, which take such locks: the numbers recorded here are resolved to names
//! when the program runs again.

use crate::client::{Root, RootKind, RootProvider, StoppedHeap, client};
use crate::object::{for_each_reference, object_size_bytes, vtable_of};
use crate::roots;
use crate::{ephemeron, finalize, mmtk, snapshot_request, stack_roots, world};
use saki_abi::{ObjRef, VTable};
use saki_base::locks::{Mutex, rank};
use saki_thread::ManagedThread;
use std::ops::Range;

/// An object of a stopped heap.
#[derive(Clone, Copy)]
pub struct HeapObject(ObjRef);

impl HeapObject {
    /// The object at an address that [`Self::address`] gave in the same snapshot.
    ///
    /// # Safety
    /// As said, and the world has been stopped since.
    pub unsafe fn at(address: usize) -> HeapObject {
        HeapObject(ObjRef(address as *mut _))
    }

    /// Where the object is.
    pub fn address(self) -> usize {
        self.0.address()
    }

    /// The vtable of the object's type.
    pub fn vtable<'a>(self) -> &'a VTable {
        // SAFETY: objects come from the enumeration of a stopped heap: live, or dead and not freed.
        unsafe { vtable_of(self.0) }
    }

    /// The object's size, with its header and padding.
    pub fn size_bytes(self) -> usize {
        // SAFETY: a `HeapObject` is made of an object of a heap that is stopped (`at`), whose header is intact.
        unsafe { object_size_bytes(self.0) }
    }

    /// 0 = young, 1 = has survived a collection, as all objects have after a full collection except those that it made
    /// itself.
    pub fn generation(self) -> u32 {
        // SAFETY: a `HeapObject` is made of an object of a heap that is stopped (`at`), whose header is intact.
        unsafe { crate::heap::generation_of(self.0) }
    }

    /// Calls `visit` with the offset in bytes and the target, or null, of each reference that keeps its target alive:
    /// fields in the order of the vtable's map, then elements. Left out: weak fields, and arrays of ephemerons.
    #[inline]
    pub fn for_each_reference(self, mut visit: impl FnMut(usize, ObjRef)) {
        let vtable = self.vtable();
        if ephemeron::is_ephemeron_vtable(vtable) {
            return;
        }
        let start = self.address();
        // SAFETY: not freed, and nobody changes anything.
        unsafe { for_each_reference(self.0, vtable, |slot| visit(slot as usize - start, *slot)) };
    }

    /// Whether this is an ephemeron array, in which `ConditionalWeakTable` keeps its pairs.
    pub fn holds_ephemerons(self) -> bool {
        ephemeron::is_ephemeron_vtable(self.vtable())
    }

    /// Calls `visit` with key and value of each pair of an array of ephemerons: the value lives as long as the key and
    /// the array both do.
    pub fn for_each_ephemeron(self, mut visit: impl FnMut(ObjRef, ObjRef)) {
        if self.holds_ephemerons() {
            ephemeron::for_each_pair(self.0, &mut visit);
        }
    }
}

impl StoppedHeap {
    /// Calls `visit` with each object that lives. Most come in the order of their addresses.
    pub fn for_each_object(&self, mut visit: impl FnMut(HeapObject)) {
        mmtk::for_each_object(&mut |object| visit(HeapObject(object)));
    }

    /// Calls `visit` with each root. An object may have many, also equal ones.
    pub fn for_each_root(&self, visit: &mut dyn FnMut(&Root)) {
        client().roots().iter().for_each(|provider| for_each_root_of(*provider, visit));
        let ranges = roots::registered_ranges();
        for range in ranges {
            for_each_word(range.addresses(), |address, word| {
                // Precise ranges hold objects or null.
                let object = if range.conservative { mmtk::find_object(word) } else { found(word) };
                if let Some(object) = object {
                    visit(&Root { kind: RootKind::Registered, object, address, thread: None });
                }
            });
        }
        finalize::for_each_root(&mut |slot| show(slot, RootKind::Finalizer, None, visit));
        if let Some(slot) = ephemeron::tombstone_root() {
            show(slot, RootKind::Cell, None, visit);
        }
        saki_thread::for_each_thread(|thread| for_each_root_of_thread(thread, visit));
    }
}

fn for_each_root_of(provider: &'static dyn RootProvider, visit: &mut dyn FnMut(&Root)) {
    provider.for_each_root(&mut |root| {
        if !root.object.is_null() {
            visit(&root);
        }
    });
}

fn found(word: usize) -> Option<ObjRef> {
    (word != 0).then_some(ObjRef(word as *mut _))
}

/// The world is stopped, and the slot is valid.
fn show(slot: *mut ObjRef, kind: RootKind, thread: Option<&'static ManagedThread>, visit: &mut dyn FnMut(&Root)) {
    // SAFETY: registered slots are valid.
    let object = unsafe { *slot };
    if !object.is_null() {
        visit(&Root { kind, object, address: slot as usize, thread });
    }
}

/// Calls `visit` with address and value of each aligned word.
fn for_each_word(range: Range<usize>, mut visit: impl FnMut(usize, usize)) {
    let mut address = range.start.next_multiple_of(8);
    while address + 8 <= range.end {
        // SAFETY: stacks of stopped threads and registered ranges are readable. Volatile: it may be any memory.
        visit(address, unsafe { (address as *const usize).read_volatile() });
        address += 8;
    }
}

/// The words of a thread that `mmtk::scanning` treats as roots.
fn for_each_root_of_thread(thread: &'static ManagedThread, visit: &mut dyn FnMut(&Root)) {
    roots::visit_slots_of_thread(thread, &mut |slot, kind| show(slot, kind, Some(thread), visit));
    let mut show_words = |range| {
        for_each_word(range, |address, word| {
            if let Some(object) = mmtk::find_object(word) {
                visit(&Root { kind: RootKind::Stack, object, address, thread: Some(thread) });
            }
        });
    };
    roots::visit_conservative_blocks(thread, &mut show_words);
    let mut dead = Vec::new();
    stack_roots::find_dead_words(thread, &mut dead);
    world::for_each_conservative_range(thread, |range| {
        stack_roots::for_each_living_range(range, &dead, &mut show_words);
    });
}

/// Calls `visit` with each object that the heap has, also those that are dead and that no collection has freed, while
/// the world is stopped. For a managed thread, or one that is not attached; `visit` must not allocate on the heap.
pub fn walk_heap(mut visit: impl FnMut(HeapObject)) {
    world::between_collections(|| mmtk::for_each_object(&mut |object| visit(HeapObject(object))));
}

/// One snapshot at a time. Waited for with the thread counted as stopped.
static TURN: Mutex<rank::HeapSnapshot, ()> = Mutex::new(());

/// Runs a full collection and calls `inspect` on a collector thread before the program goes on. For any thread, also
/// one that is not attached; a managed one waits as at a safepoint. False: there was no full collection, and no call.
pub fn take_snapshot(inspect: &mut (dyn FnMut(&StoppedHeap) + Send)) -> bool {
    let mut is_taken = false;
    world::while_stopped(|| {
        let _turn = TURN.lock();
        is_taken = snapshot_request::request(inspect, mmtk::collect_from_outside);
    });
    is_taken
}

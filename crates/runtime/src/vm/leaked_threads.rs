//! Leaked threads: threads whose waits no other thread can end, since only such threads reach what they wait for.
//!
//! At the end of a full collection all references are known. The search marks what is reachable from roots that do not
//! belong to a waiting thread. A waiting thread joins the threads that go on, and its own roots are marked too, when
//! something that can end its wait is found:
//!
//! | it waits for | the wait can end if |
//! |---|---|
//! | a pulse of an object | the object is marked |
//! | events, semaphores | one has a name, or a SafeHandle with its handle is marked |
//! | a lock, a mutex, the end of a thread, a class constructor | the thread that owns or runs it goes on |
//! | a time, a descriptor, a process, native code | always |
//!
//! Threads that are left when nothing more is found are leaked. Invariant: a thread that another one can wake by the
//! table above is never among them. A word of a stack that only looks like a reference, and the value of a
//! ConditionalWeakTable whose key is dead, hide leaked threads. Left out: `Thread.Interrupt` and `Abort`, which a list
//! of all threads could always call; numbers of handles outside SafeHandles.

use crate::references::Obj;
use crate::vtables::type_of_vtable;
use crate::{ManagedField, class_init, monitors, waitables};
use rustc_hash::{FxHashMap, FxHashSet};
use saki_abi::{ObjRef, Object, VTable};
use saki_gc::{HeapObject, Root, StoppedHeap};
use saki_thread::{ManagedThread, ThreadRef, WaitState};
use saki_types::{LibraryType, Ty};

static HANDLE: ManagedField = ManagedField::new(LibraryType::SafeHandle, "handle");

/// What must be found so that a wait can end.
#[derive(Default, PartialEq, Eq, Debug)]
struct Need {
    /// The address of the object that is to be pulsed.
    object: Option<usize>,
    handles: Vec<usize>,
    /// Managed ids of threads one of which must go on.
    threads: Vec<u32>,
}

/// Runs a full collection and returns the leaked threads. For any thread.
///
/// # Errors
/// A text: the heap could not be collected.
pub fn find() -> Result<Vec<ThreadRef>, String> {
    // Looked up now: that is not allowed while the world is stopped.
    let handle_offset_bytes = HANDLE.offset_bytes();
    let mut leaked = Vec::new();
    if !saki_gc::take_snapshot(&mut |heap| leaked = Search::new(handle_offset_bytes).run(heap)) {
        return Err("the heap could not be collected".into());
    }
    Ok(leaked)
}

/// What the wait of a stopped thread needs; None: the thread goes on for sure.
fn need_of(thread: &'static ManagedThread, ids: &FxHashSet<u32>) -> Option<Need> {
    let target = thread.wait_target();
    if target.is_timed() || thread.pending_requests() != 0 {
        return None;
    }
    let of_thread = |id: u32| Some(Need { threads: vec![id], ..Need::default() });
    match thread.wait_state() {
        WaitState::Monitor if thread.monitor_node().is_waiting_for_pulse() => {
            Some(Need { object: Some(target.address()), ..Need::default() })
        }
        WaitState::Monitor => {
            // SAFETY: the thread is stopped in a wait for the object's lock, and its stack holds the object.
            let object = unsafe { Obj::from_word(ObjRef(target.address() as *mut Object)) }?;
            match monitors::owner(object) {
                // The lock is free.
                0 => None,
                // A thread that has ended never leaves it.
                owner => of_thread(owner),
            }
        }
        WaitState::Join => {
            // SAFETY: null, or the structure of the thread that is joined, which is never freed.
            let id = unsafe { (target.address() as *const ManagedThread).as_ref() }?.managed_id();
            // A thread that has ended has woken those that join it.
            ids.contains(&id).then_some(id).and_then(of_thread)
        }
        WaitState::Handle => {
            // SAFETY: the world is stopped, and this thread in a wait for handles.
            let wakers = unsafe { waitables::wakers(target.address()) };
            let need = Need { object: None, handles: wakers.handles, threads: wakers.owners };
            (!wakers.is_certain).then_some(need)
        }
        WaitState::Running | WaitState::Native => {
            let (_, runner) = class_init::awaited_by(thread.managed_id())?;
            ids.contains(&runner).then_some(runner).and_then(of_thread)
        }
        WaitState::Sleep => None,
    }
}

/// Bits for the granules of a part of the heap.
struct Part([u64; Part::BYTES / Part::GRANULE_BYTES / 64]);

impl Part {
    const BYTES: usize = 1 << 21;
    const GRANULE_BYTES: usize = 8;
}

/// The objects that were marked.
#[derive(Default)]
struct Marks(FxHashMap<usize, Box<Part>>);

impl Marks {
    /// Whether the object was not marked before.
    fn mark(&mut self, address: usize) -> bool {
        let part = self.0.entry(address / Part::BYTES).or_insert_with(|| Box::new(Part([0; _])));
        let granule = address % Part::BYTES / Part::GRANULE_BYTES;
        let (word, bit) = (&mut part.0[granule / 64], 1 << (granule % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// A thread whose wait needs something.
struct Waiting {
    thread: &'static ManagedThread,
    goes_on: bool,
    roots: Vec<usize>,
}

/// The search, with the world stopped.
struct Search {
    handle_offset_bytes: usize,
    waiting: Vec<Waiting>,
    /// Indices of `waiting`, by managed id.
    places: FxHashMap<u32, usize>,
    /// Indices of `waiting`, by what ends the wait: objects and handles by address and number, threads by managed id.
    by_object: FxHashMap<usize, Vec<usize>>,
    by_handle: FxHashMap<usize, Vec<usize>>,
    by_thread: FxHashMap<u32, Vec<usize>>,
    marks: Marks,
    /// Objects that are marked, and whose references were not followed yet.
    to_visit: Vec<usize>,
    /// Threads that go on, and whose roots were not marked yet.
    to_go_on: Vec<usize>,
    /// Whether objects of a vtable, by its address, are SafeHandles.
    safe_handles: FxHashMap<usize, bool>,
}

impl Search {
    fn new(handle_offset_bytes: usize) -> Search {
        Search {
            handle_offset_bytes,
            waiting: Vec::new(),
            places: FxHashMap::default(),
            by_object: FxHashMap::default(),
            by_handle: FxHashMap::default(),
            by_thread: FxHashMap::default(),
            marks: Marks::default(),
            to_visit: Vec::new(),
            to_go_on: Vec::new(),
            safe_handles: FxHashMap::default(),
        }
    }

    fn run(mut self, heap: &StoppedHeap) -> Vec<ThreadRef> {
        self.note_waits();
        if self.waiting.is_empty() {
            return Vec::new();
        }
        heap.for_each_root(&mut |root| self.note_root(root));
        loop {
            if let Some(address) = self.to_visit.pop() {
                self.visit(address);
            } else if let Some(place) = self.to_go_on.pop() {
                self.go_on(place);
            } else {
                break;
            }
        }
        let leaked = self.waiting.iter().filter(|waiting| !waiting.goes_on);
        leaked.map(|waiting| ThreadRef::to(waiting.thread)).collect()
    }

    fn note_waits(&mut self) {
        let (mut threads, mut ids) = (Vec::new(), FxHashSet::default());
        saki_thread::for_each_thread(|thread| {
            threads.push(thread);
            ids.insert(thread.managed_id());
        });
        let mut awaited_threads = Vec::new();
        for thread in threads {
            let Some(need) = need_of(thread, &ids) else { continue };
            let place = self.waiting.len();
            self.waiting.push(Waiting { thread, goes_on: false, roots: Vec::new() });
            self.places.insert(thread.managed_id(), place);
            if let Some(object) = need.object {
                self.by_object.entry(object).or_default().push(place);
            }
            for handle in need.handles {
                self.by_handle.entry(handle).or_default().push(place);
            }
            awaited_threads.extend(need.threads.into_iter().map(|id| (id, place)));
        }
        for (id, place) in awaited_threads {
            match self.places.contains_key(&id) {
                true => self.by_thread.entry(id).or_default().push(place),
                false if ids.contains(&id) => self.wake(place),
                false => {}
            }
        }
    }

    fn note_root(&mut self, root: &Root) {
        let address = root.object.address();
        match root.thread.and_then(|thread| self.places.get(&thread.managed_id())) {
            Some(&place) => self.waiting[place].roots.push(address),
            None => self.reach(address),
        }
    }

    fn wake(&mut self, place: usize) {
        if !std::mem::replace(&mut self.waiting[place].goes_on, true) {
            self.to_go_on.push(place);
        }
    }

    fn go_on(&mut self, place: usize) {
        for address in std::mem::take(&mut self.waiting[place].roots) {
            self.reach(address);
        }
        for place in self.by_thread.remove(&self.waiting[place].thread.managed_id()).unwrap_or_default() {
            self.wake(place);
        }
    }

    fn reach(&mut self, address: usize) {
        if self.marks.mark(address) {
            self.to_visit.push(address);
        }
    }

    /// Follows the references of an object that lives: a root's, or one that such an object refers to.
    fn visit(&mut self, address: usize) {
        for place in self.by_object.remove(&address).unwrap_or_default() {
            self.wake(place);
        }
        // SAFETY: the object was reached from a root of a heap that is stopped after a full collection, so it lives.
        let object = unsafe { HeapObject::at(address) };
        if !self.by_handle.is_empty() && self.is_safe_handle(object.vtable()) {
            // SAFETY: an instance of SafeHandle has the field there, and nobody changes it.
            let handle = unsafe { ((address + self.handle_offset_bytes) as *const usize).read() };
            for place in self.by_handle.remove(&handle).unwrap_or_default() {
                self.wake(place);
            }
        }
        object.for_each_reference(|_, target| {
            if !target.is_null() {
                self.reach(target.address());
            }
        });
        object.for_each_ephemeron(|_, value| self.reach(value.address()));
    }

    fn is_safe_handle(&mut self, vtable: &VTable) -> bool {
        let derives = || {
            let mut class = Some(type_of_vtable(vtable));
            while let Some(ty) = class {
                if ty.is(LibraryType::SafeHandle) {
                    return true;
                }
                class = parent_of(ty);
            }
            false
        };
        *self.safe_handles.entry(std::ptr::from_ref(vtable).addr()).or_insert_with(derives)
    }
}

/// The parent of a class that has objects, so that it was found before.
fn parent_of(ty: Ty) -> Option<Ty> {
    ty.parent().ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_marked_once_however_close_they_lie() {
        let mut marks = Marks::default();
        let addresses = [0x10_0000_0000, 0x10_0000_0008, 0x10_001f_fff8, 0x10_0020_0000, 0x7fff_ffff_fff8];
        for address in addresses {
            assert!(marks.mark(address), "{address:x}");
        }
        for address in addresses {
            assert!(!marks.mark(address), "{address:x}");
        }
    }
}

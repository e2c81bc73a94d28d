//! GC handles: the process's handle table, as roots and weak table of the collector.

use crate::events;
use crate::references::{Obj, Word};
use crate::thread::{CurrentThread, Managed};
use crate::upcalls::upcalls;
use parking_lot::Mutex;
use saki_abi::ObjRef;
use saki_gc::{Root, RootKind, RootProvider, WeakFate, WeakKind, WeakTable};
use saki_sync::handle_table::{Handle, HandleKind, HandleTable, StaleHandle};
use saki_thread::{Carrier, CarrierHooks, ManagedThread};
use saki_types::Universe;

static TABLE: HandleTable = HandleTable::new();

/// The domain as handles know it, also when their targets are dead. 8-byte aligned, below 2^60.
fn domain_word() -> usize {
    std::ptr::from_ref(saki_types::universe()).addr()
}

/// Frees the handles whose targets belong to a domain, or did before they died.
pub fn free_domain(universe: &'static Universe) {
    let word = std::ptr::from_ref(universe).addr();
    for kind in HandleKind::ALL {
        TABLE.free_where(kind, |slot| match slot.object() {
            0 => slot.expired_domain() == word,
            object => *crate::object::type_of(ObjRef(object as *mut saki_abi::Object)).universe() == *universe,
        });
    }
}

/// A new handle of `kind` for `target` (may be null). None when all 2^25 of the kind are in use.
pub fn allocate(t: CurrentThread, kind: HandleKind, target: ObjRef) -> Option<Handle> {
    let handle = TABLE.allocate(kind, target.address(), domain_word(), t.managed().handle_cache()?)?;
    if events::are_handles_watched() {
        upcalls().handle_created(t, handle, target);
    }
    Some(handle)
}

/// # Errors
/// `StaleHandle` for a handle that was freed.
pub fn target(handle: Handle) -> Result<ObjRef, StaleHandle> {
    TABLE.target(handle).map(|address| ObjRef(address as *mut saki_abi::Object))
}

/// # Errors
/// As `target`.
pub fn set_target(handle: Handle, object: ObjRef) -> Result<(), StaleHandle> {
    TABLE.set_target(handle, object.address(), domain_word())
}

/// # Errors
/// As `target`: also a double free.
pub fn free(t: CurrentThread, handle: Handle) -> Result<(), StaleHandle> {
    let is_watched = events::are_handles_watched();
    if is_watched {
        upcalls().handle_to_be_freed(t, handle);
    }
    match t.managed().handle_cache() {
        Some(cache) => TABLE.free(handle, cache)?,
        None => TABLE.free_shared(handle)?,
    }
    if is_watched {
        upcalls().handle_freed(t, handle);
    }
    Ok(())
}

/// A GC handle that keeps its object alive, or tells that it is dead, until it is dropped.
#[derive(Debug)]
pub struct RootedHandle(Handle);

impl RootedHandle {
    /// # Errors
    /// OutOfMemoryException when all handles are in use.
    pub fn new(t: CurrentThread, kind: HandleKind, target: impl Word) -> Managed<RootedHandle> {
        allocate(t, kind, target.word()).map(RootedHandle).ok_or_else(|| crate::exceptions::out_of_memory(t))
    }

    /// The target; None when it is null, or was weak and has died.
    pub fn target<'t>(&self, _t: CurrentThread<'t>) -> Option<Obj<'t>> {
        match target(self.0) {
            // SAFETY: the targets of live handles are objects.
            Ok(word) => unsafe { Obj::from_word(word) },
            Err(StaleHandle) => saki_base::bug!("a rooted handle was freed by somebody else"),
        }
    }

    pub fn set_target(&self, target: impl Word) {
        if set_target(self.0, target.word()).is_err() {
            saki_base::bug!("a rooted handle was freed by somebody else");
        }
    }
}

impl Drop for RootedHandle {
    fn drop(&mut self) {
        let is_freed = match saki_thread::current() {
            Some(_) => free(CurrentThread::current(), self.0),
            None => TABLE.free_shared(self.0),
        };
        if is_freed.is_err() {
            saki_base::bug!("a rooted handle was freed by somebody else");
        }
    }
}

pub(crate) struct Roots;

/// Targets of normal handles, as root slots of the collection that runs: the table's slots are tagged words, which the
/// collector cannot update. They follow their targets in `update_weak`. Not changed before the next collection begins.
static NORMAL_TARGETS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

impl RootProvider for Roots {
    fn for_each_slot(&self, visit: &mut dyn FnMut(*mut ObjRef)) {
        crate::cells::for_each(visit);
        crate::statics::for_each_root(visit);
        let mut targets = NORMAL_TARGETS.lock();
        targets.clear();
        TABLE.for_each_slot(HandleKind::Normal, |slot| match slot.object() {
            0 => {}
            object => targets.push(object),
        });
        for target in targets.iter_mut() {
            // ObjRef is a transparent pointer: the word can be read and written as either.
            visit(std::ptr::from_mut(target).cast());
        }
    }

    fn for_each_pinned(&self, visit: &mut dyn FnMut(ObjRef)) {
        TABLE.for_each_slot(HandleKind::Pinned, |slot| {
            let object = slot.object();
            if object != 0 {
                visit(ObjRef(object as *mut saki_abi::Object));
            }
        });
    }

    fn for_each_root(&self, visit: &mut dyn FnMut(Root)) {
        let root = |kind, object, address| Root { kind, object, address, thread: None };
        // SAFETY: cells are never freed; the world is stopped.
        crate::cells::for_each(&mut |cell| visit(root(RootKind::Cell, unsafe { *cell }, cell as usize)));
        crate::statics::for_each_named_root(&mut |ty, offset_bytes, slot| {
            let ty = std::ptr::from_ref(ty).addr();
            // SAFETY: a slot of a static area, which lives as long as its type.
            visit(root(RootKind::Static { ty, offset_bytes }, unsafe { *slot }, slot as usize));
        });
        for (kind, as_root) in [(HandleKind::Normal, RootKind::Handle), (HandleKind::Pinned, RootKind::PinnedHandle)] {
            TABLE.for_each_slot(kind, |slot| visit(root(as_root, ObjRef(slot.object() as *mut saki_abi::Object), 0)));
        }
    }
}

/// The domain of an object that this collection found dead. World stopped.
fn domain_of_dead(object: usize) -> usize {
    if crate::domain::count() == 1 {
        return std::ptr::from_ref(saki_types::universe::root()).addr();
    }
    // SAFETY: its memory is not used again before weak tables are done.
    let vtable = unsafe { saki_gc::object::vtable_of(ObjRef(object as *mut saki_abi::Object)) };
    std::ptr::from_ref(crate::vtables::type_of_vtable(vtable).universe()).addr()
}

pub(crate) struct Weak;

impl WeakTable for Weak {
    fn update_weak(&self, kind: WeakKind, _is_full: bool, fate_of: &mut dyn FnMut(ObjRef) -> WeakFate) {
        let kinds: &[HandleKind] = match kind {
            WeakKind::Short => &[HandleKind::Weak],
            // Targets of normal handles are alive; they may have moved.
            WeakKind::Long => &[HandleKind::WeakTrack, HandleKind::Normal],
        };
        for &kind in kinds {
            TABLE.for_each_slot(kind, |slot| {
                let before = slot.object();
                if before == 0 {
                    return;
                }
                match fate_of(ObjRef(before as *mut saki_abi::Object)) {
                    WeakFate::Alive(object) if object.address() != before => slot.set_object(object.address()),
                    WeakFate::Alive(_) => {}
                    WeakFate::Dead => slot.expire(domain_of_dead(before)),
                }
            });
        }
    }
}

/// Frees the handle of a dead object, in place of its finalizer. The world is stopped.
pub(crate) fn free_stopped(handle: Handle) {
    // Freed by managed code already, at worst.
    let _ = TABLE.free_shared(handle);
}

/// Whether there is address space for handles. Before there are threads.
pub fn has_room() -> bool {
    TABLE.has_room()
}

/// The current thread has attached: its compiled code reads handles itself.
pub fn bind_thread(thread: &ManagedThread) {
    // SAFETY: only the thread itself accesses the field, and it is the current one.
    unsafe { (*thread.abi()).handle_slots = TABLE.slots_address() };
}

fn carrier_detaching(carrier: &'static Carrier) {
    TABLE.release_cache(carrier.handle_cache());
}

/// The slots that a carrier has reserved are given back when it ends.
static CARRIER_HOOKS: CarrierHooks = CarrierHooks { attached: |_| (), detaching: carrier_detaching };

/// Makes ending carriers give back the slots that they have reserved. Called once, before the program has carriers.
pub fn hook_carriers() {
    saki_thread::add_carrier_hooks(&CARRIER_HOOKS);
}

//! GC handles: the process's handle table, as roots and weak table of the collector.

use crate::domain::{self, Domain};
use crate::events;
use crate::host_events::{HostEvent, tell_if_wanted};
use crate::references::{Obj, Word};
use crate::thread::{CurrentThread, Managed};
use crate::upcalls::upcalls;
use saki_abi::ObjRef;
use saki_base::locks::{Mutex, rank};
use saki_gc::{Root, RootKind, RootProvider, WeakFate, WeakKind, WeakTable};
use saki_sync::handle_table::{Handle, HandleKind, HandleTable, StaleHandle};
use saki_thread::{Carrier, CarrierHooks, ManagedThread};
use saki_types::Universe;

static TABLE: HandleTable = HandleTable::new();

/// The current domain as a word that handles store, so that it is known after their targets have died. 8-byte aligned,
/// below 2^60.
fn domain_word() -> usize {
    std::ptr::from_ref(saki_types::universe()).addr()
}

/// Frees the handles whose targets belong to a domain, or belonged to it before they died.
pub fn free_domain(universe: &'static Universe) {
    let word = std::ptr::from_ref(universe).addr();
    for kind in HandleKind::ALL {
        TABLE.free_where(kind, |slot| match slot.object() {
            0 => slot.expired_domain() == word,
            // SAFETY: the target of a live handle.
            object => *unsafe { Obj::known(ObjRef(object as *mut saki_abi::Object)) }.ty().universe() == *universe,
        });
    }
}

/// A new handle of `kind` for `target` (may be null). None when all 2^25 of the kind are in use.
pub fn allocate(t: CurrentThread, kind: HandleKind, target: impl Word) -> Option<Handle> {
    let target = target.word();
    let handle = TABLE.allocate(kind, target.address(), domain_word(), t.managed().handle_cache()?)?;
    if events::are_handles_watched() {
        upcalls().handle_created(t, handle, target);
    }
    tell_if_wanted(HostEvent::HandleCreated(handle, target));
    Some(handle)
}

/// The target of a GC handle that others may free; None if it is null, or was weak and has died.
///
/// # Errors
/// `StaleHandle` for a handle that was freed.
pub fn target<'t>(_t: CurrentThread<'t>, handle: Handle) -> Result<Option<Obj<'t>>, StaleHandle> {
    // SAFETY: a handle's target is null or an object that lives; from here on the caller's frames hold it.
    TABLE.target(handle).map(|address| unsafe { Obj::from_word(ObjRef(address as *mut saki_abi::Object)) })
}

/// # Errors
/// `StaleHandle` for a handle that was freed.
pub fn set_target(handle: Handle, object: impl Word) -> Result<(), StaleHandle> {
    TABLE.set_target(handle, object.word().address(), domain_word())
}

/// Replaces the target if it is `expected`; returns the one before.
///
/// # Errors
/// `StaleHandle` for a handle that was freed.
pub fn exchange_target<'t>(
    _t: CurrentThread<'t>,
    handle: Handle,
    expected: impl Word,
    object: impl Word,
) -> Result<Option<Obj<'t>>, StaleHandle> {
    let before = TABLE.exchange_target(handle, expected.word().address(), object.word().address(), domain_word())?;
    // SAFETY: as in `target`.
    Ok(unsafe { Obj::from_word(ObjRef(before as *mut saki_abi::Object)) })
}

/// # Errors
/// `StaleHandle` for a handle that was freed, so also for a double free.
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
    tell_if_wanted(HostEvent::HandleFreed(handle));
    Ok(())
}

/// Frees a handle on a thread in native code, or one that the machine does not know. Any thread may use its slot again.
///
/// # Errors
/// `StaleHandle` for a handle that was freed.
pub fn free_from_outside(handle: Handle) -> Result<(), StaleHandle> {
    TABLE.free_shared(handle)
}

/// A GC handle that is freed when this value is dropped; by its kind it keeps its object alive or refers to it weakly.
/// Unloading the object's domain frees the handle earlier (`free_domain`); after that it has no target.
pub struct RootedHandle {
    handle: Handle,
    /// The domain of its targets.
    domain: &'static Domain,
}

impl RootedHandle {
    /// # Errors
    /// OutOfMemoryException when all handles are in use.
    pub fn new<'t>(t: CurrentThread<'t>, kind: HandleKind, target: Option<Obj<'t>>) -> Managed<RootedHandle> {
        RootedHandle::try_new(t, kind, target).ok_or_else(|| crate::exceptions::out_of_memory(t))
    }

    /// A new handle of this kind; None when all handles are in use.
    pub fn try_new<'t>(t: CurrentThread<'t>, kind: HandleKind, target: Option<Obj<'t>>) -> Option<RootedHandle> {
        let handle = allocate(t, kind, target)?;
        let of_target = target.map(|target| domain::of_universe(target.ty().universe()));
        Some(RootedHandle { handle, domain: of_target.unwrap_or_else(domain::current) })
    }

    /// The target; None when it is null, was weak and has died, or belonged to a domain that is unloaded.
    pub fn target<'t>(&self, t: CurrentThread<'t>) -> Option<Obj<'t>> {
        if self.domain.is_unloaded() {
            return None;
        }
        match Obj::of_handle(t, self.handle) {
            Ok(target) => target,
            Err(StaleHandle) => self.freed(),
        }
    }

    /// Sets the target to another object of the same domain, or to null.
    pub fn set_target(&self, target: Option<Obj>) {
        debug_assert!(target.is_none_or(|target| *target.ty().universe() == *self.domain.universe));
        if !self.domain.is_unloaded() && set_target(self.handle, target).is_err() {
            self.freed()
        }
    }

    /// Whether the domain of the targets is unloaded.
    pub fn is_unloaded(&self) -> bool {
        self.domain.is_unloaded()
    }

    /// The result for a handle that is not in the table any more; only the unloading of the domain may have freed it.
    fn freed<T: Default>(&self) -> T {
        if !self.domain.is_unloaded() {
            saki_base::bug!("a rooted handle was freed by somebody else");
        }
        T::default()
    }
}

impl Drop for RootedHandle {
    fn drop(&mut self) {
        if self.domain.is_unloaded() {
            // `free_domain` frees the handle or has freed it, so its number may be another handle's.
            return;
        }
        let is_freed =
            CurrentThread::with_attached(|t| free(t, self.handle)).unwrap_or_else(|| TABLE.free_shared(self.handle));
        if is_freed.is_err() {
            self.freed()
        }
    }
}

pub(crate) struct Roots;

/// Targets of normal handles, as root slots of the collection that runs: the table's slots are tagged words, which the
/// collector cannot update. `update_weak` updates the table's slots. This list is not changed before the next
/// collection begins.
static NORMAL_TARGETS: Mutex<rank::NormalHandles, Vec<usize>> = Mutex::new(Vec::new());

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
    // An error means that managed code has freed the handle already.
    let _ = TABLE.free_shared(handle);
}

/// Reserves address space for handles, before there are threads. False if there is none.
pub(crate) fn has_room() -> bool {
    TABLE.has_room()
}

/// Gives a thread that has just attached the table's address, because its compiled code reads handles itself.
pub(crate) fn bind_thread(thread: &ManagedThread) {
    // SAFETY: only the thread itself accesses the field, and it is the current one.
    unsafe { (*thread.abi()).handle_slots = TABLE.slots_address() };
}

fn carrier_detaching(carrier: &'static Carrier) {
    TABLE.release_cache(carrier.handle_cache());
}

/// The slots that a carrier has reserved are given back when it ends.
static CARRIER_HOOKS: CarrierHooks = CarrierHooks { attached: |_| (), detaching: carrier_detaching };

/// Makes ending carriers give back the slots that they have reserved. Called once, before the program has carriers.
pub(crate) fn hook_carriers() {
    saki_thread::add_carrier_hooks(&CARRIER_HOOKS);
}

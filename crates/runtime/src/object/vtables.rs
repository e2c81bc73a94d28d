//! Building vtables: `abi::VTable` memory from a type's `VTableLayout`.

use crate::host_events::{self, HostEventKind};
use crate::object::{method_tables, overrides};
pub use crate::references::type_of_vtable;
use crate::upcalls::upcalls;
use crate::vtable_code;
use saki_abi::stubs::StubId;
use saki_abi::vtable::{IMT_SLOTS, RefMap, VTable, VTableFlags};
use saki_metadata::ElementType;
use saki_os::message_log::{self, Level, LogSubject};
use saki_sampler::events::{self, EventKind};
use saki_types::collectible::{self, Owner};
use saki_types::{LibraryType, LoadError, LoadErrorKind, LoadResult, Ty, Type, universe};
use std::alloc::Layout;
use std::sync::atomic::Ordering;

/// The vtable of a closed type, built on first use.
///
/// # Errors
/// `TypeLoad` for open types and types whose layout fails.
pub fn vtable_of(ty: Ty) -> LoadResult<&'static VTable> {
    // Acquire: pairs with the Release below; the vtable was filled before.
    let known = ty.runtime.vtable.load(Ordering::Acquire);
    // SAFETY: null or the vtable, which lies among the records of the type and lives as long as they do.
    if let Some(known) = unsafe { known.cast::<VTable>().as_ref() } {
        return Ok(known);
    }
    if ty.is_open || ty.is_pointer() || ty.is_byref() {
        return Err(LoadError::type_load(format!("no instance of '{}' can exist", ty.full_name()), ty.full_name()));
    }
    if !ty.image().assembly().is_runnable {
        let message = format!("'{}' belongs to an assembly that can only be saved", ty.full_name());
        return Err(LoadError::new(LoadErrorKind::NotSupported, message, ty.full_name()));
    }
    let lock = saki_types::lazy::loader_lock();
    // Acquire: as above; the lock alone would do, since the store is made under it.
    let known = ty.runtime.vtable.load(Ordering::Acquire);
    // SAFETY: null, or the address of the type's vtable, which lives as long as the type.
    if let Some(known) = unsafe { known.cast::<VTable>().as_ref() } {
        return Ok(known);
    }
    tell_after_loading(ty, HostEventKind::VTableLoading);
    let vtable = match build(ty).and_then(|vtable| overrides::note_overrides(ty).map(|()| vtable)) {
        Ok(vtable) => vtable,
        Err(error) => {
            tell_after_loading(ty, HostEventKind::VTableFailed);
            return Err(error);
        }
    };
    // Release: publishes the filled vtable.
    ty.runtime.vtable.store(std::ptr::from_ref(vtable).cast_mut().cast(), Ordering::Release);
    vtable_code::list(ty)?;
    tell_after_loading(ty, HostEventKind::VTableLoaded);
    drop(lock);
    if events::is_on(EventKind::TypeLoad) {
        upcalls().type_loaded(ty, vtable);
    }
    if message_log::is_shown(Level::Debug, LogSubject::Types) {
        let (name, image) = (ty.full_name(), ty.image().assembly());
        message_log::message(
            Level::Debug,
            LogSubject::Types,
            format_args!("Class {name} of {} is in use.", image.name),
        );
    }
    Ok(vtable)
}

/// Tells the host what has happened to the type's vtable, once the thread does not hold the loader lock any more.
fn tell_after_loading(ty: Ty, kind: HostEventKind) {
    if host_events::is_wanted(kind) {
        saki_types::lazy::after_loading(Box::new(move || {
            upcalls().tell_host_of_type(kind, ty);
        }));
    }
}

fn flags_of(ty: Ty) -> LoadResult<u32> {
    let mut flags = 0;
    if ty.is_array() {
        flags |= VTableFlags::ARRAY;
        if !ty.is_sz_array() {
            flags |= VTableFlags::MULTI_DIM;
        }
        if ty.element().is_some_and(|element| element.is(LibraryType::Ephemeron)) {
            flags |= VTableFlags::EPHEMERONS;
        }
    }
    if ty.element_type == ElementType::String {
        flags |= VTableFlags::STRING;
    }
    if ty.is_value_type() {
        flags |= VTableFlags::VALUE_TYPE;
    }
    if ty.is_delegate() {
        flags |= VTableFlags::DELEGATE;
    }
    if ty.finalizer()?.is_some() {
        flags |= VTableFlags::FINALIZER;
        if crate::weak_references::note_class(ty)? || ty.universe().internal_thread() == Some(ty) {
            flags |= VTableFlags::IS_RELEASED_BY_COLLECTOR;
        }
        if let Some(critical) = universe().critical_finalizer_object()
            && ty.is_subclass_of(critical)?
        {
            flags |= VTableFlags::CRITICAL_FINALIZER;
        }
    }
    Ok(flags)
}

/// The ancestors of a type, from Object to itself, in the form in which vtables refer to them.
pub(crate) fn class_display(ty: Ty) -> LoadResult<&'static [*const ()]> {
    let display: Vec<*const ()> = ty.supertypes()?.iter().map(|t| *t as *const Type as *const ()).collect();
    Ok(collectible::keep_slice_with(collectible::owner_of(ty), display))
}

/// A reference map, allocated among the records of the type's owner.
pub(crate) fn ref_map(ty: Ty, offsets: &[u32]) -> *const RefMap {
    match collectible::owner_of(ty) {
        Some(owner) if !offsets.is_empty() => {
            let words = std::iter::once(offsets.len() as u32).chain(offsets.iter().copied()).collect();
            RefMap::from_words(collectible::keep_slice_with(Some(owner), words))
        }
        _ => RefMap::leak(offsets),
    }
}

/// A vtable, allocated among the records of an owner: so a collection that sees an object's vtable word knows that the
/// owner is in use.
pub(crate) fn make(owner: Option<&'static Owner>, header: VTable) -> &'static VTable {
    let layout = Layout::array::<u128>(VTable::memory_units(header.slot_count)).ok();
    match owner.and_then(|owner| owner.allocate(layout?)) {
        // SAFETY: fresh zeroed memory of that size, which lives as long as the type.
        Some(memory) => unsafe { VTable::write(memory as *mut u128, header) },
        None => VTable::leak(header),
    }
}

fn build(ty: Ty) -> LoadResult<&'static VTable> {
    ty.check_static_structs()?;
    let layout = ty.vtable_layout()?;
    let display = class_display(ty)?;
    let (instance_refs, element_refs, element_size_bytes) = match ty.element() {
        Some(element) if ty.is_array() => {
            let refs = if element.is_reference_type() { vec![0] } else { element.ref_offsets()?.to_vec() };
            (Vec::new(), refs, element.value_size_bytes()?)
        }
        _ if ty.element_type == ElementType::String => (Vec::new(), Vec::new(), 2),
        _ if ty.is_interface() => (Vec::new(), Vec::new(), 0),
        _ if ty.is_value_type() => {
            let refs = ty.ref_offsets()?.iter().map(|o| o + saki_abi::object::OBJECT_HEADER_BYTES).collect();
            (refs, Vec::new(), 0)
        }
        _ => (ty.ref_offsets()?.to_vec(), ty.instance_layout()?.weak_offsets.clone(), 0),
    };
    let instance_size_bytes = if ty.is_interface() { 16 } else { ty.instance_size_bytes()? };
    let header = VTable {
        ty: ty as *const Type as *const (),
        ref_map: ref_map(ty, &instance_refs),
        element_ref_map: ref_map(ty, &element_refs),
        instance_size_bytes,
        element_size_bytes,
        flags: VTableFlags(flags_of(ty)?),
        depth: display.len() as u32,
        display: display.as_ptr(),
        rank: ty.array_rank(),
        method_table: if method_tables::are_wanted() { method_tables::method_table(ty)? } else { std::ptr::null() },
        slot_count: layout.slots.len() as u32,
        element_type: ty
            .element()
            .filter(|_| ty.is_array())
            .map_or(std::ptr::null(), |e| e as *const Type as *const ()),
        ..VTable::empty()
    };
    let vtable = make(collectible::owner_of(ty), header);
    for (index, &method) in layout.slots.iter().enumerate() {
        // Relaxed: the vtable is not published yet.
        vtable.slot(index as u32).store(vtable_code::slot_code(ty, method)?, Ordering::Relaxed);
    }
    fill_imt(ty, vtable)?;
    Ok(vtable)
}

/// Fills the interface slots: a slot that only one method shares leads straight to its code, all others to the
/// resolver.
fn fill_imt(ty: Ty, vtable: &'static VTable) -> LoadResult<()> {
    let resolver =
        saki_code::veneer(saki_code::stub_address(StubId::ImtResolve)).map_err(crate::entries::code_error)?;
    for index in 0..IMT_SLOTS {
        // Relaxed: the vtable is not published yet.
        vtable.imt_slot(index).store(resolver, Ordering::Relaxed);
    }
    // An object that decides itself which interfaces it has may be called for any.
    if ty.is_array() || ty.is_interface() || ty.dynamic_castable()?.is_some() {
        return Ok(());
    }
    let layout = ty.vtable_layout()?;
    let mut occupants: [Vec<usize>; IMT_SLOTS] = Default::default();
    for entry in &layout.interfaces {
        for (imt_slot, &slot) in entry.interface.imt_slots()?.zip(&entry.slots) {
            let (imt_slot, is_generic) = imt_slot?;
            let known = layout.slots.get(slot as usize).filter(|_| !is_generic);
            let target = match known {
                Some(target) => vtable_code::slot_code(ty, target)?,
                None => resolver,
            };
            occupants[imt_slot].push(target);
        }
    }
    for (index, targets) in occupants.iter().enumerate() {
        if let [only] = targets[..] {
            // Relaxed: as above.
            vtable.imt_slot(index).store(only, Ordering::Relaxed);
        }
    }
    Ok(())
}

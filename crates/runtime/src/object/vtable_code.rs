//! Slots of vtables hold the address of the method's entry stub until it is compiled, and of its code afterwards.
//!
//! | slot | who moves it |
//! |---|---|
//! | the method's entry stub, or its code if the method is compiled | `vtables::build`, before the vtable is published |
//! | its code | `update`, Release: a thread that jumps there sees the code |
//!
//! `update` finds the vtables by the lists of derived types. It runs after the method's code was published, under the
//! loader lock, under which vtables are also built: so a vtable is either on a list by then, or is built later with the
//! code's address.
//!
//! Left out: value types, whose slots hold unboxing stubs; types of collectible assemblies, and proxies.

use crate::entries::{compiled_code, existing_entry, lives_with_domain, slot_target};
use saki_abi::vtable::{IMT_SLOTS, VTable};
use saki_code::MethodEntry;
use saki_types::{LoadResult, Method, Ty, Type, collectible};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The address in a slot of a new vtable: as `slot_target`, but the code itself if the method is compiled.
///
/// # Errors
/// As `slot_target`.
pub(crate) fn slot_code(ty: Ty, method: &'static Method) -> LoadResult<usize> {
    if !ty.is_value_type()
        && !collectible::ends_alone(ty)
        && let Some(code) = compiled_code(method)
    {
        return Ok(code);
    }
    slot_target(ty, method)
}

/// Puts a type that has just got its vtable into the lists of derived types. The caller holds the loader lock.
///
/// # Errors
/// `TypeLoad`.
pub(crate) fn list(mut ty: Ty) -> LoadResult<()> {
    if ty.is_value_type() || collectible::ends_alone(ty) {
        return Ok(());
    }
    while let Some(parent) = ty.parent()? {
        let (heirs, siblings) = (&ty.runtime.heirs, &parent.runtime.heirs.first);
        // Relaxed, here and below: the lock orders them.
        if heirs.is_listed.swap(true, Ordering::Relaxed) {
            break;
        }
        heirs.next.store(siblings.load(Ordering::Relaxed), Ordering::Relaxed);
        siblings.store(std::ptr::from_ref(ty).cast_mut().cast(), Ordering::Relaxed);
        ty = parent;
    }
    Ok(())
}

/// Makes virtual and interface calls of `method` jump to its code, which was just published.
pub(crate) fn update(method: &'static Method, code: usize) {
    let owner = method.owner;
    if !method.is_virtual() || owner.is_value_type() || owner.is_interface() || !method.generic_args.is_empty() {
        return;
    }
    let Some(stub) = existing_entry(method).filter(|_| lives_with_domain(method)).map(MethodEntry::stub_address) else {
        return;
    };
    let _lock = saki_types::lazy::loader_lock();
    // Relaxed, here and below: under the lock.
    let has_vtable = !owner.runtime.vtable.load(Ordering::Relaxed).is_null();
    if !has_vtable && type_in(&owner.runtime.heirs.first).is_none() {
        return;
    }
    if let Ok(Some(slot)) = method.vtable_slot() {
        update_heirs(owner, slot, stub, code);
    }
}

fn update_heirs(ty: Ty, slot: u32, stub: usize, code: usize) {
    let vtable = ty.runtime.vtable.load(Ordering::Relaxed) as *const VTable;
    // SAFETY: null or a vtable, which lives as long as the domain: collectible types are not listed.
    if let Some(vtable) = unsafe { vtable.as_ref() } {
        let word = vtable.slot(slot);
        let target = word.load(Ordering::Relaxed);
        if target == stub {
            word.store(code, Ordering::Release);
        } else if target != code {
            // The method is overridden here, and so in types derived from this one.
            return;
        }
        for index in 0..IMT_SLOTS {
            let word = vtable.imt_slot(index);
            if word.load(Ordering::Relaxed) == stub {
                word.store(code, Ordering::Release);
            }
        }
    }
    let mut child = type_in(&ty.runtime.heirs.first);
    while let Some(heir) = child {
        update_heirs(heir, slot, stub, code);
        child = type_in(&heir.runtime.heirs.next);
    }
}

fn type_in(link: &AtomicPtr<u8>) -> Option<Ty> {
    // SAFETY: null, or a `&'static Type` that `list` stored.
    unsafe { (link.load(Ordering::Relaxed) as *const Type).as_ref() }
}

//! Slots of vtables hold the address of the method's entry stub until it is compiled, and of the current version of its
//! code afterwards.
//!
//! | slot | who moves it |
//! |---|---|
//! | the method's entry stub, or its code if the method is compiled | `vtables::build`, before the vtable is published |
//! | the current version of its code | `lead`, Release: a thread that jumps there sees the code |
//!
//! `lead` finds the vtables by the lists of derived types. It runs after a version has become current, under the loader
//! lock, under which vtables are also built: so a vtable is either on a list by then, or is built later with the code's
//! address. It looks at what is current under the lock, too, so the last of several threads that lead finds the last
//! version.
//!
//! Left out: value types, whose slots hold unboxing stubs; types of collectible assemblies, and proxies.

use crate::entries::{compiled_code, existing_entry, lives_with_domain, slot_target};
use crate::object::versions;
use saki_abi::vtable::{IMT_SLOTS, VTable};
use saki_code::{CodeInfo, MethodEntry};
use saki_types::{LoadResult, Method, Ty, Type, collectible};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The address in a slot of a new vtable: as `slot_target`, but the code itself if the method is compiled.
///
/// # Errors
/// `NotSupported` when the code region has no room for an entry stub.
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

/// Makes virtual and interface calls of `method` jump to the current version of its code. `replaced`: the code of the
/// version before.
pub(crate) fn lead(method: &'static Method, replaced: Option<usize>) {
    let owner = method.owner;
    if !method.is_virtual() || owner.is_value_type() || owner.is_interface() || !method.generic_args().is_empty() {
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
    if let (Ok(Some(slot)), Some(version)) = (method.vtable_slot(), versions::current(method)) {
        let many_versions = versions::may_be_taken_back();
        lead_heirs(owner, slot, &Move { method, stub, code: version.code(), replaced, many_versions });
    }
}

/// Where the slots of a method are led.
struct Move {
    method: &'static Method,
    stub: usize,
    code: usize,
    /// The code of the version before.
    replaced: Option<usize>,
    /// Whether there may be still other versions.
    many_versions: bool,
}

impl Move {
    /// Whether a slot that holds `target` is the method's: it holds the stub or a version of the code.
    fn is_of_method(&self, target: usize) -> bool {
        let is_version = || {
            let is_body =
                |body: &CodeInfo| body.start == target && ptr::eq(body.method, ptr::from_ref(self.method).cast());
            saki_code::lookup(target).is_some_and(is_body)
        };
        target == self.stub
            || target == self.code
            || self.replaced == Some(target)
            || self.many_versions && is_version()
    }

    /// Leads a slot to the code if it is the method's.
    fn lead(&self, word: &AtomicUsize) -> bool {
        // Relaxed: slots change under the loader lock, which the caller holds.
        let target = word.load(Ordering::Relaxed);
        let is_of_method = self.is_of_method(target);
        if is_of_method && target != self.code {
            // Release: a thread that jumps there sees the code.
            word.store(self.code, Ordering::Release);
        }
        is_of_method
    }
}

fn lead_heirs(ty: Ty, slot: u32, to: &Move) {
    // Relaxed: vtables are published under the loader lock, which the caller holds.
    let vtable = ty.runtime.vtable.load(Ordering::Relaxed) as *const VTable;
    // SAFETY: null or a vtable, which lives as long as the domain: collectible types are not listed.
    if let Some(vtable) = unsafe { vtable.as_ref() } {
        if !to.lead(vtable.slot(slot)) {
            // The method is overridden here, and so in types derived from this one.
            return;
        }
        for index in 0..IMT_SLOTS {
            to.lead(vtable.imt_slot(index));
        }
    }
    let mut child = type_in(&ty.runtime.heirs.first);
    while let Some(heir) = child {
        lead_heirs(heir, slot, to);
        child = type_in(&heir.runtime.heirs.next);
    }
}

fn type_in(link: &AtomicPtr<u8>) -> Option<Ty> {
    // Relaxed: links change under the loader lock, which the caller holds.
    // SAFETY: null, or a `&'static Type` that `list` stored.
    unsafe { (link.load(Ordering::Relaxed) as *const Type).as_ref() }
}

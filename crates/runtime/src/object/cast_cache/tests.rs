//! What the caches keep of types that have ended.

use super::{is_assignable, remember, slot};
use crate::object::fixture::class_libraries;
use saki_abi::vtable::VTable;
use saki_types::binder::AssemblyName;
use saki_types::collectible::{self, for_each_owner};
use saki_types::dynamic::{create_assembly, create_module};
use saki_types::universe::{bury_unseen, may_judge};
use saki_types::{Ty, universe};
use std::ptr;
use std::sync::atomic::Ordering;

/// A type of a new collectible assembly.
fn mortal_type(name: &str) -> Ty {
    let name = AssemblyName { name: name.into(), ..AssemblyName::default() };
    let assembly = create_assembly(&name, true, true).expect("an assembly");
    create_module(assembly, "m").expect("a module").type_def(1).expect("the global type")
}

/// A vtable of objects of a type that lives as long as the process.
fn new_vtable() -> &'static VTable {
    VTable::leak(VTable { ty: ptr::from_ref(universe().string()).cast(), ..VTable::empty() })
}

#[test]
fn types_that_ended_take_no_place_in_caches_of_casts() {
    if class_libraries().is_none() {
        return;
    }
    let types: Vec<Ty> = (0..5).map(|number| mortal_type(&format!("casts{number}"))).collect();
    let address = |ty: Ty| ptr::from_ref(ty).cast::<()>();
    let (full, other) = (new_vtable(), new_vtable());
    for (number, &ty) in types.iter().enumerate() {
        remember(full, ty, number < 2, false);
        is_assignable(universe().string(), ty).expect("both types load");
    }
    remember(other, types[4], false, false);
    assert!(types.iter().all(|&ty| full.casts.find(address(ty)).is_some()));
    let is_cached = |ty: Ty| {
        let entry = slot(universe().string(), ty).load(Ordering::Relaxed);
        // SAFETY: null or an entry, which lives while this test, which alone forgets some, does not.
        unsafe { entry.as_ref() }.is_some_and(|entry| ptr::eq(entry.to, ty))
    };
    // Types may share a slot, which the first of them fills.
    assert!(is_cached(types[0]));
    let was_cached = is_cached(types[4]);

    // The last of them lives on.
    let lives = collectible::owner_of(types[4]).expect("an owner");
    for_each_owner(&mut |owner| {
        owner.unsee();
        let is_one_of = |&ty: &Ty| collectible::owner_of(ty).is_some_and(|of_type| ptr::eq(of_type, owner));
        if ptr::eq(owner, lives) || !types.iter().any(is_one_of) {
            owner.see();
        }
    });
    assert!(may_judge(), "nothing holds them");
    assert_eq!(bury_unseen().len(), 4);
    // SAFETY: no other test of this crate asks for casts.
    unsafe { super::forget_dead() };

    assert!(types[..4].iter().all(|&ty| full.casts.find(address(ty)).is_none() && !is_cached(ty)));
    assert!(full.casts.find(address(types[4])) == Some(false) && is_cached(types[4]) == was_cached);
    assert!(other.casts.find(address(types[4])) == Some(false));
    // There is room again for types of later assemblies.
    let later: Vec<Ty> = (0..4).map(|number| mortal_type(&format!("later{number}"))).collect();
    for (number, &ty) in later.iter().enumerate() {
        remember(full, ty, number < 2, false);
    }
    assert!(later.iter().all(|&ty| full.casts.find(address(ty)).is_some()));
}

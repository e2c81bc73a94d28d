//! Making and ending the tables of an application domain, and the domains whose records the collector may free.
//!
//! Each domain has a universe of its own, and none refers to types of another, so that a type, its statics and its code
//! belong to exactly one domain. `current` says whose a thread uses, `constructed` fills the tables.

use crate::collectible::{self, Owner};
use crate::current;
use crate::domain::{Assembly, Binder, Image};
use crate::error::{LoadError, LoadResult};
use crate::identity::qualified;
use crate::library::Library;
use crate::method::Method;
use crate::ty::Ty;
use crate::well_known::WellKnown;
use rustc_hash::FxHashMap;
use saki_base::locks::{RwLock, ShardedLock};
use saki_contract::LibraryProfile;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

pub use crate::current::{Entered, enter, entered_by, root, set_current, universe};
pub use crate::domain::Universe;

/// Creates the first tables and loads the core assembly of Mono's class libraries from `corlib_path`.
///
/// # Errors
/// `FileNotFound`, `BadImageFormat`; `TypeLoad` when the core assembly lacks a type the VM needs.
pub fn init(binder: Binder, corlib_path: &Path) -> LoadResult<&'static Universe> {
    init_with(binder, corlib_path, &LibraryProfile::MONO)
}

/// Creates the first tables and loads the core assembly from `corlib_path`. All domains have class libraries of this
/// profile.
///
/// # Errors
/// `FileNotFound`, `BadImageFormat`; `TypeLoad` when the core assembly lacks a type the VM needs.
pub fn init_with(
    binder: Binder,
    corlib_path: &Path,
    profile: &'static LibraryProfile,
) -> LoadResult<&'static Universe> {
    create_with(binder, corlib_path, profile)
}

/// Creates the tables of another domain.
///
/// # Errors
/// `FileNotFound`, `BadImageFormat`; `TypeLoad` when the core assembly lacks a type the VM needs.
pub fn create(binder: Binder, corlib_path: &Path) -> LoadResult<&'static Universe> {
    create_with(binder, corlib_path, root().profile())
}

fn create_with(binder: Binder, corlib_path: &Path, profile: &'static LibraryProfile) -> LoadResult<&'static Universe> {
    let universe: &'static Universe = Box::leak(Box::new(Universe {
        binder,
        owner: AtomicPtr::new(std::ptr::null_mut()),
        runtime: OnceLock::new(),
        corlib: OnceLock::new(),
        library: Library::new(profile),
        well_known: OnceLock::new(),
        constructed: ShardedLock::default(),
        method_instances: ShardedLock::default(),
        remoting_stubs: RwLock::default(),
        native_calls: RwLock::default(),
    }));
    if !current::publish(universe)
        && let Some(owner) = Owner::create_for_domain(universe)
    {
        // Release: pairs with the Acquire in `Universe::owner`; the owner is initialised.
        universe.owner.store(std::ptr::from_ref(owner).cast_mut(), Ordering::Release);
    }
    let _entered = enter(universe);
    let corlib: &'static Assembly = universe.binder.load_file(corlib_path)?;
    let _ = universe.corlib.set(corlib.image);
    let well_known = WellKnown::load(|role| universe.library_type(role), |role| universe.find_library_type(role))?;
    let _ = universe.well_known.set(well_known);
    Ok(universe)
}

/// A corlib type that must exist.
///
/// # Errors
/// `TypeLoad`.
fn required(corlib: &'static Image, namespace: &str, name: &str) -> LoadResult<Ty> {
    let rid = corlib.meta.find_type_def(namespace, name, None).ok_or_else(|| {
        let full = qualified(namespace, name);
        LoadError::type_load(format!("{} has no type {full}", corlib.meta.path().display()), full)
    })?;
    corlib.type_def(rid)
}

impl Universe {
    /// Removes the entries of dead owners from the tables.
    pub fn forget_dead(&self) {
        let is_dead = |ty: &Ty| collectible::is_dead(std::ptr::from_ref(*ty).addr());
        self.constructed.write().retain(|_, ty| !is_dead(ty));
        let is_dead = |method: &&'static Method| collectible::is_dead(std::ptr::from_ref(*method).addr());
        self.method_instances.write().retain(|_, method| !is_dead(method));
        self.remoting_stubs.write().retain(|_, method| !is_dead(method));
        self.native_calls.write().retain(|_, method| !is_dead(method));
    }

    /// Empties the tables of an unloaded domain and ends its records.
    ///
    /// # Safety
    /// The domain is unloaded, its code is freed and no stack walk can meet it; none of its records is used afterwards.
    pub unsafe fn end(&self) {
        let owner = self.owner();
        // Release: as where the owner is set. Null publishes nothing, and by the contract nobody uses the records any
        // more.
        self.owner.store(std::ptr::null_mut(), Ordering::Release);
        *self.constructed.write() = FxHashMap::default();
        *self.method_instances.write() = FxHashMap::default();
        *self.remoting_stubs.write() = FxHashMap::default();
        *self.native_calls.write() = FxHashMap::default();
        self.binder.end();
        if let Some(owner) = owner {
            // SAFETY: the domain is unloaded and nobody uses its records any more (`# Safety`); these are of it.
            unsafe { owner.end() };
        }
    }

    /// A type of the core assembly by its name, for tests; other code asks for a role (`library_type`).
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn corlib_type(&self, namespace: &str, name: &str) -> LoadResult<Ty> {
        required(self.corlib(), namespace, name)
    }
}

impl Owner {
    /// The domain that the records belong to.
    pub fn universe(&self) -> &'static Universe {
        self.domain.downcast_ref().expect("owners are made for universes")
    }
}

impl Universe {
    /// An owner for a collectible assembly of the domain; None without address space for it.
    pub(crate) fn create_owner(&'static self) -> Option<&'static Owner> {
        // All records refer to the class library's, which belong to the domain.
        Owner::create(self, self.owner())
    }

    /// An owner for the assemblies of a collectible load context; None without address space for it.
    pub fn create_context_owner(&'static self) -> Option<&'static Owner> {
        Owner::create_for_context(self, self.owner())
    }
}

/// Whether owners may become dead in the collection that begins: no `Hold` exists, and no list of their records is
/// locked. The world is stopped, so the answer stays true until the collection ends.
pub fn may_judge() -> bool {
    let mut last: Option<&'static Universe> = None;
    let mut are_free = true;
    collectible::for_each_owner(&mut |owner| {
        let universe = owner.universe();
        // Successive owners are mostly of one domain.
        are_free &= last.replace(universe) == Some(universe) || universe.binder().is_free();
    });
    are_free && !collectible::is_held()
}

/// Makes the owners that were not seen dead and returns them. Called with the world stopped, after `may_judge` returned
/// true.
pub fn bury_unseen() -> Vec<&'static Owner> {
    let dead = collectible::take_unseen();
    let mut last: Option<&'static Universe> = None;
    for universe in dead.iter().map(|owner| owner.universe()) {
        if last.replace(universe) != Some(universe) {
            universe.binder().forget_dead();
        }
    }
    dead
}

#[cfg(test)]
mod tests;

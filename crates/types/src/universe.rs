//! The tables of one application domain: constructed types and generic method instantiations, interned so that identity is
//! equality.
//!
//! Each domain has a universe of its own, and none refers to types of another, so that a type, its statics and its code
//! belong to exactly one domain. `universe()` returns the universe of the domain in which the calling managed thread runs, which its
//! `ThreadAbi` holds; code that switches a thread to another domain calls `enter`. Threads that are not managed are in the
//! first domain.

use crate::collectible::{self, Owner};
use crate::domain::{Assembly, Binder, ConstructedKey, Image};
use crate::error::{LoadError, LoadResult};
use crate::identity::qualified;
use crate::library::Library;
use crate::method::{Method, MethodSig};
use crate::ty::{Ty, Type, TypeKind};
use crate::well_known::WellKnown;
use rustc_hash::FxHashMap;
use saki_abi::ThreadAbi;
use saki_base::locks::{RwLock, ShardedLock};
use saki_contract::LibraryProfile;
use saki_metadata::ElementType;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

pub use crate::domain::Universe;

/// The universe of the domain in which the process starts.
static ROOT: OnceLock<&'static Universe> = OnceLock::new();

/// Whether there has ever been a second universe: in programs with one domain, look-ups need not determine the calling thread.
static HAS_SEVERAL: AtomicBool = AtomicBool::new(false);

/// The tables of the domain that the calling thread runs in; `init` must have been called.
pub fn universe() -> &'static Universe {
    // Relaxed: a thread that enters a second universe got it from the thread that made it, which set this flag before.
    if HAS_SEVERAL.load(Ordering::Relaxed) { entered().unwrap_or_else(root) } else { root() }
}

/// The universe that the calling thread has entered; None if it has entered none or is not a managed thread.
#[inline(never)]
fn entered() -> Option<&'static Universe> {
    let thread = saki_thread::current()?;
    // SAFETY: the calling thread's own structure.
    unsafe { entered_by(thread.abi()) }
}

/// The universe that a thread has entered; None if it has entered none.
///
/// # Safety
/// `thread` is the calling thread or a stopped one: only the thread itself writes the field.
pub unsafe fn entered_by(thread: *const ThreadAbi) -> Option<&'static Universe> {
    // SAFETY: as the caller promises.
    let entered = unsafe { (*thread).universe };
    // SAFETY: `replace_entered` put a `&'static Universe` or null there.
    unsafe { entered.cast::<Universe>().as_ref() }
}

/// Sets the universe that the calling thread has entered, and returns the previous one. A thread that is not managed stays in the root universe.
fn replace_entered(universe: Option<&'static Universe>) -> Option<&'static Universe> {
    let Some(thread) = saki_thread::current() else {
        if universe.is_some_and(|universe| universe != root()) {
            saki_base::bug!("a thread that is not managed enters another domain");
        }
        return None;
    };
    let before = entered();
    // SAFETY: the calling thread's own structure; only the thread itself touches the field.
    unsafe { (*thread.abi()).universe = universe.map_or(std::ptr::null(), std::ptr::from_ref).cast() };
    before
}

/// The tables of the domain in which the process started.
pub fn root() -> &'static Universe {
    ROOT.get().expect("types::universe::init was called at start-up")
}

/// Guard of `enter`; when dropped, the thread goes back to the previous universe.
#[must_use]
pub struct Entered {
    before: Option<&'static Universe>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        replace_entered(self.before);
    }
}

/// Makes `universe` the calling thread's until the guard is dropped.
pub fn enter(universe: &'static Universe) -> Entered {
    Entered { before: replace_entered(Some(universe)) }
}

/// Makes `universe` the calling thread's.
pub fn set_current(universe: &'static Universe) {
    replace_entered(Some(universe));
}

/// Creates the first tables and loads the core assembly of Mono's class libraries from `corlib_path`.
///
/// # Errors
/// As `init_with`.
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
/// As `init_with`.
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
    // The first universe is published at once: no other thread exists yet that could see it incomplete.
    if ROOT.set(universe).is_err() {
        // Relaxed: see `universe`.
        HAS_SEVERAL.store(true, Ordering::Relaxed);
        if let Some(owner) = Owner::create_for_domain(universe) {
            universe.owner.store(std::ptr::from_ref(owner).cast_mut(), Ordering::Release);
        }
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
    }

    /// Empties the tables of an unloaded domain and ends its records.
    ///
    /// # Safety
    /// As `Owner::end`.
    pub unsafe fn end(&self) {
        let owner = self.owner();
        self.owner.store(std::ptr::null_mut(), Ordering::Release);
        *self.constructed.write() = FxHashMap::default();
        *self.method_instances.write() = FxHashMap::default();
        *self.remoting_stubs.write() = FxHashMap::default();
        self.binder.end();
        if let Some(owner) = owner {
            // SAFETY: as the caller promises.
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

    /// `tables`: of the domain to which the components belong, which need not be the current one. `owner`: the owner of the components.
    fn intern(
        tables: &Universe,
        key: ConstructedKey,
        owner: Option<&'static Owner>,
        make: impl FnOnce() -> Type,
    ) -> Ty {
        if let Some(ty) = tables.constructed.read().get(&key) {
            return ty;
        }
        let mut table = tables.constructed.write();
        table.entry(key).or_insert_with(|| collectible::keep_with(owner, make()))
    }

    /// `element[]`.
    pub fn sz_array_of(&self, element: Ty) -> Ty {
        if let Some(known) = element.sz_array.get() {
            return known;
        }
        let owner = collectible::owner_of(element);
        let array = Self::intern(element.universe(), ConstructedKey::SzArray(element), owner, || {
            Type::new(TypeKind::SzArray(element), ElementType::SzArray, &[], element.is_open)
        });
        // The array type is freed with its element's owner.
        let _ = element.sz_array.set(array);
        array
    }

    /// `element[,…]`; rank 1 gives the type with bounds (`element[*]`).
    pub fn array_of(&self, element: Ty, rank: u32) -> Ty {
        Self::intern(element.universe(), ConstructedKey::Array(element, rank), collectible::owner_of(element), || {
            Type::new(TypeKind::Array { element, rank }, ElementType::Array, &[], element.is_open)
        })
    }

    pub fn pointer_to(&self, element: Ty) -> Ty {
        Self::intern(element.universe(), ConstructedKey::Ptr(element), collectible::owner_of(element), || {
            Type::new(TypeKind::Ptr(element), ElementType::Ptr, &[], element.is_open)
        })
    }

    pub fn byref_to(&self, element: Ty) -> Ty {
        Self::intern(element.universe(), ConstructedKey::ByRef(element), collectible::owner_of(element), || {
            Type::new(TypeKind::ByRef(element), ElementType::ByRef, &[], element.is_open)
        })
    }

    pub fn function_pointer(&self, sig: MethodSig) -> Ty {
        let is_open = sig.ret.is_open || sig.params.iter().any(|p| p.is_open);
        let kept = sig.clone();
        let home = kept.ret.universe();
        let owner = owner_of_types(kept.params.iter().chain([&kept.ret]));
        Self::intern(home, ConstructedKey::FnPtr(sig), owner, || {
            Type::new(TypeKind::FnPtr(collectible::keep_with(owner, kept)), ElementType::FnPtr, &[], is_open)
        })
    }

    /// `definition<args>`; the definition itself over its own parameters.
    ///
    /// # Errors
    /// `TypeLoad` when `definition` is not generic or the number of arguments is wrong.
    pub fn instantiate(&self, definition: Ty, args: &[Ty]) -> LoadResult<Ty> {
        if !definition.is_generic_definition() || definition.args.len() != args.len() {
            let name = definition.full_name();
            let message = format!("Type {name} takes {} generic arguments, not {}", definition.args.len(), args.len());
            return Err(LoadError::type_load(message, name));
        }
        if definition.args == args {
            return Ok(definition);
        }
        if args.iter().any(|a| type_depth(a) > MAX_GENERIC_DEPTH) {
            let name = definition.full_name();
            return Err(LoadError::type_load(format!("Generic instantiation of {name} is nested too deep"), name));
        }
        let owner = owner_of_types(args.iter().chain([&definition]));
        Ok(Self::intern(definition.universe(), ConstructedKey::Inst(definition, args.to_vec()), owner, || {
            let args = collectible::keep_slice_with(owner, args.to_vec());
            let is_open = args.iter().any(|a| a.is_open);
            Type::new(TypeKind::Inst { definition }, definition.element_type, args, is_open)
        }))
    }

    /// The instantiation of a generic method definition.
    ///
    /// # Errors
    /// `TypeLoad` when the number of arguments is wrong.
    pub fn instantiate_method(&self, definition: &'static Method, args: &[Ty]) -> LoadResult<&'static Method> {
        let definition = definition.definition.unwrap_or(definition);
        if definition.generic_args == args {
            return Ok(definition);
        }
        if definition.generic_args.len() != args.len() {
            let name = definition.full_name();
            let message =
                format!("Method {name} takes {} generic arguments, not {}", definition.generic_args.len(), args.len());
            return Err(LoadError::type_load(message, name));
        }
        if args.iter().any(|a| type_depth(a) > MAX_GENERIC_DEPTH) {
            let name = definition.full_name();
            return Err(LoadError::type_load(format!("Generic instantiation of {name} is nested too deep"), name));
        }
        let tables = definition.owner.universe();
        let key = (definition, args.to_vec());
        if let Some(found) = tables.method_instances.read().get(&key) {
            return Ok(found);
        }
        let mut table = tables.method_instances.write();
        Ok(table.entry(key).or_insert_with(|| crate::class::method_instance(definition, args)))
    }
}

fn owner_of_types<'a>(types: impl Iterator<Item = &'a Ty>) -> Option<&'static Owner> {
    collectible::owner_of_all(types.map(|ty| std::ptr::from_ref(*ty).addr()))
}

/// Deeper nesting of generic arguments is treated as endless expansion.
const MAX_GENERIC_DEPTH: u32 = 64;

fn type_depth(ty: Ty) -> u32 {
    match ty.element() {
        Some(element) => 1 + type_depth(element),
        None if ty.is_generic_definition() => 0,
        None => ty.args.iter().map(|a| 1 + type_depth(a)).max().unwrap_or(0),
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
}

/// Whether owners may become dead in the collection that begins: no `Hold` exists, and no list of their records is locked. The world is
/// stopped, so the answer stays true until the collection ends.
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

/// Makes the owners that were not seen dead and returns them. Called with the world stopped, after `may_judge` returned true.
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

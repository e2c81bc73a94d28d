//! The process-wide tables: constructed types and generic method instantiations, interned so that identity is equality.

use crate::assembly::{Assembly, Image};
use crate::binder::Binder;
use crate::error::{LoadError, LoadResult};
use crate::method::{Method, MethodSig};
use crate::ty::{Ty, Type, TypeKind};
use crate::well_known::WellKnown;
use rustc_hash::FxHashMap;
use saki_metadata::ElementType;
use std::path::Path;
use std::sync::{OnceLock, RwLock};

/// Key of a constructed type.
#[derive(PartialEq, Eq, Hash)]
enum ConstructedKey {
    Inst(Ty, Vec<Ty>),
    SzArray(Ty),
    Array(Ty, u32),
    Ptr(Ty),
    ByRef(Ty),
    FnPtr(MethodSig),
}

/// See the module header. One per process, set up by `init`.
pub struct Universe {
    binder: Binder,
    corlib: OnceLock<&'static Image>,
    well_known: OnceLock<WellKnown>,
    constructed: RwLock<FxHashMap<ConstructedKey, Ty>>,
    method_instances: RwLock<FxHashMap<(&'static Method, Vec<Ty>), &'static Method>>,
}

static UNIVERSE: OnceLock<Universe> = OnceLock::new();

/// The tables; `init` must have been called.
pub fn universe() -> &'static Universe {
    UNIVERSE.get().expect("types::universe::init was called at start-up")
}

/// Creates the tables and loads corlib from `corlib_path`.
///
/// # Errors
/// `FileNotFound`, `BadImageFormat`; `TypeLoad` when corlib lacks a type the VM needs.
pub fn init(binder: Binder, corlib_path: &Path) -> LoadResult<&'static Universe> {
    let universe = UNIVERSE.get_or_init(|| Universe {
        binder,
        corlib: OnceLock::new(),
        well_known: OnceLock::new(),
        constructed: RwLock::default(),
        method_instances: RwLock::default(),
    });
    let corlib: &'static Assembly = universe.binder.load_file(corlib_path)?;
    let _ = universe.corlib.set(corlib.image);
    let well_known = WellKnown::load(corlib.image)?;
    let _ = universe.well_known.set(well_known);
    Ok(universe)
}

impl std::ops::Deref for Universe {
    type Target = WellKnown;
    fn deref(&self) -> &WellKnown {
        self.well_known.get().expect("corlib was loaded by init")
    }
}

impl Universe {
    pub fn binder(&self) -> &Binder {
        &self.binder
    }

    pub fn corlib(&self) -> &'static Image {
        self.corlib.get().expect("corlib was loaded by init")
    }

    /// A corlib type that must exist.
    ///
    /// # Errors
    /// `TypeLoad`.
    pub fn corlib_type(&self, namespace: &str, name: &str) -> LoadResult<Ty> {
        crate::well_known::required(self.corlib(), namespace, name)
    }

    fn intern(&self, key: ConstructedKey, make: impl FnOnce() -> Type) -> Ty {
        if let Some(ty) = self.constructed.read().expect("not poisoned").get(&key) {
            return ty;
        }
        let mut table = self.constructed.write().expect("not poisoned");
        table.entry(key).or_insert_with(|| Box::leak(Box::new(make())))
    }

    /// `element[]`.
    pub fn sz_array_of(&self, element: Ty) -> Ty {
        self.intern(ConstructedKey::SzArray(element), || {
            Type::new(TypeKind::SzArray(element), ElementType::SzArray, &[], element.is_open)
        })
    }

    /// `element[,…]`; rank 1 gives the type with bounds (`element[*]`).
    pub fn array_of(&self, element: Ty, rank: u32) -> Ty {
        self.intern(ConstructedKey::Array(element, rank), || {
            Type::new(TypeKind::Array { element, rank }, ElementType::Array, &[], element.is_open)
        })
    }

    pub fn pointer_to(&self, element: Ty) -> Ty {
        self.intern(ConstructedKey::Ptr(element), || {
            Type::new(TypeKind::Ptr(element), ElementType::Ptr, &[], element.is_open)
        })
    }

    pub fn byref_to(&self, element: Ty) -> Ty {
        self.intern(ConstructedKey::ByRef(element), || {
            Type::new(TypeKind::ByRef(element), ElementType::ByRef, &[], element.is_open)
        })
    }

    pub fn function_pointer(&self, sig: MethodSig) -> Ty {
        let is_open = sig.ret.is_open || sig.params.iter().any(|p| p.is_open);
        let kept = sig.clone();
        self.intern(ConstructedKey::FnPtr(sig), || {
            Type::new(TypeKind::FnPtr(Box::leak(Box::new(kept))), ElementType::FnPtr, &[], is_open)
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
        Ok(self.intern(ConstructedKey::Inst(definition, args.to_vec()), || {
            let args: &'static [Ty] = Box::leak(args.to_vec().into_boxed_slice());
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
        let key = (definition, args.to_vec());
        if let Some(found) = self.method_instances.read().expect("not poisoned").get(&key) {
            return Ok(found);
        }
        let mut table = self.method_instances.write().expect("not poisoned");
        Ok(table.entry(key).or_insert_with(|| crate::class::method_instance(definition, args)))
    }
}

/// Nesting of generic arguments beyond this is taken for endless expansion.
const MAX_GENERIC_DEPTH: u32 = 64;

fn type_depth(ty: Ty) -> u32 {
    match ty.element() {
        Some(element) => 1 + type_depth(element),
        None if ty.is_generic_definition() => 0,
        None => ty.args.iter().map(|a| 1 + type_depth(a)).max().unwrap_or(0),
    }
}

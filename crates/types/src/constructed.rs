//! Constructed types and instantiations of generic methods, interned so that identity is equality.

use crate::collectible::{self, Owner};
use crate::domain::{ConstructedKey, Universe};
use crate::error::{LoadError, LoadResult};
use crate::load_texts;
use crate::method::{Method, MethodGenerics, MethodKind, MethodSig};
use crate::ty::{Ty, Type, TypeKind};
use saki_metadata::ElementType;

impl Universe {
    /// `tables`: of the domain to which the components belong, which need not be the current one. `owner`: the owner of
    /// the components.
    pub(crate) fn intern(
        tables: &Universe,
        key: ConstructedKey,
        owner: Option<&'static Owner>,
        make: impl FnOnce() -> Type,
    ) -> Ty {
        if let Some(ty) = tables.constructed.read().get(&key) {
            return ty;
        }
        let mut table = tables.constructed.write();
        let mut is_new = false;
        let is_class = !matches!(key, ConstructedKey::ByRef(_) | ConstructedKey::StandIn(_));
        let ty = *table.entry(key).or_insert_with(|| {
            is_new = true;
            collectible::keep_with(owner, make())
        });
        drop(table);
        if is_new && is_class {
            tables.binder().announce_type(ty);
        }
        ty
    }

    /// `element[]`.
    pub fn sz_array_of(&self, element: Ty) -> Ty {
        if let Some(known) = element.sz_array.get_if_ready() {
            return known;
        }
        let owner = collectible::owner_of(element);
        let array = Self::intern(element.universe(), ConstructedKey::SzArray(element), owner, || {
            Type::new(TypeKind::SzArray(element), ElementType::SzArray, &[], element.is_open)
        });
        // The array type is freed with its element's owner.
        let _ = element.sz_array.find(|| Ok(array));
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
        Self::intern(home, ConstructedKey::FnPtr(Box::new(sig)), owner, || {
            Type::new(TypeKind::FnPtr(collectible::keep_with(owner, kept)), ElementType::FnPtr, &[], is_open)
        })
    }

    /// `definition<args>`; the definition itself over its own parameters.
    ///
    /// # Errors
    /// `TypeLoad` when `definition` is not generic or the number of arguments is wrong.
    pub fn instantiate(&self, definition: Ty, args: &[Ty]) -> LoadResult<Ty> {
        if !definition.is_generic_definition() || definition.args.len() != args.len() {
            return Err(load_texts::wrong_number_of_arguments(definition, args.len()));
        }
        if definition.args == args {
            return Ok(definition);
        }
        if args.iter().any(|a| type_depth(a) > MAX_GENERIC_DEPTH) {
            let name = definition.full_name();
            return Err(LoadError::type_load(format!("Generic instantiation of {name} is nested too deep"), name));
        }
        let owner = owner_of_types(args.iter().chain([&definition]));
        Ok(Self::intern(definition.universe(), ConstructedKey::Inst(definition, args.into()), owner, || {
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
        let definition = definition.definition().unwrap_or(definition);
        if definition.generic_args() == args {
            return Ok(definition);
        }
        if definition.generic_args().len() != args.len() {
            let name = definition.full_name();
            let message = format!(
                "Method {name} takes {} generic arguments, not {}",
                definition.generic_args().len(),
                args.len()
            );
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
        Ok(table.entry(key).or_insert_with(|| method_instance(definition, args)))
    }
}

/// A fresh instantiation of a generic method, not interned.
fn method_instance(definition: &'static Method, args: &[Ty]) -> &'static Method {
    let MethodKind::Def { image, rid } = definition.kind else {
        unreachable!("array methods are not generic");
    };
    let parts = std::iter::once(std::ptr::from_ref(definition).addr());
    let owner = collectible::owner_of_all(parts.chain(args.iter().map(|arg| std::ptr::from_ref(*arg).addr())));
    let args = collectible::keep_slice_with(owner, args.to_vec());
    let generics = MethodGenerics { args, definition: Some(definition) };
    let method = Method {
        flags: definition.flags,
        impl_flags: definition.impl_flags,
        generics: Some(collectible::keep_with(owner, generics)),
        ..Method::new(definition.owner, MethodKind::Def { image, rid }, definition.name)
    };
    collectible::keep_with(owner, method)
}

fn owner_of_types<'a>(types: impl Iterator<Item = &'a Ty>) -> Option<&'static Owner> {
    collectible::owner_of_all(types.map(|ty| std::ptr::from_ref(*ty).addr()))
}

/// Deeper nesting of generic arguments is treated as endless expansion.
pub(crate) const MAX_GENERIC_DEPTH: u32 = 64;

fn type_depth(ty: Ty) -> u32 {
    match ty.element() {
        Some(element) => 1 + type_depth(element),
        None if ty.is_generic_definition() => 0,
        None => ty.args.iter().map(|a| 1 + type_depth(a)).max().unwrap_or(0),
    }
}

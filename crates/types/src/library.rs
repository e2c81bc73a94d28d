//! The class libraries of a domain: the profile that describes them, and cells for the types that have roles.
//!
//! `Type::is` compares the role that a type gets when its record is made, so that no code asks for a class-library type by a text. Invariant: types of the core assembly that
//! are not nested have their role from the start; nested types and types of other assemblies have none, and are only found (`library_members`).

use crate::ty::{Ty, Type, TypeKind};
use rustc_hash::FxHashMap;
use saki_contract::{LibraryProfile, LibraryType};
use std::sync::OnceLock;

/// See the module header.
pub(crate) struct Library {
    pub(crate) profile: &'static LibraryProfile,
    /// Roles by namespace and name, of the core assembly's types that are not nested.
    roles: FxHashMap<(&'static str, &'static str), LibraryType>,
    /// By role; None = the class libraries lack the type. Filled by `Universe::find_library_type`.
    pub(crate) found: Box<[OnceLock<Option<Ty>>]>,
}

impl Library {
    pub(crate) fn new(profile: &'static LibraryProfile) -> Library {
        let named = LibraryType::ALL.iter().filter_map(|&role| Some((role, profile.type_name(role)?)));
        let roles = named.filter(|(role, _)| has_mark(*role)).map(|(role, name)| ((name.namespace, name.name), role));
        Library {
            profile,
            roles: roles.collect(),
            found: std::iter::repeat_with(OnceLock::new).take(LibraryType::COUNT).collect(),
        }
    }
}

/// Whether types of this role know their role.
fn has_mark(role: LibraryType) -> bool {
    let name = role.name();
    name.assembly.is_none() && !name.name.contains('/')
}

/// The role of a type whose record is being made.
pub(crate) fn role_of(kind: &TypeKind) -> Option<LibraryType> {
    match kind {
        TypeKind::Def(def) if def.image.is_corlib && def.enclosing.is_none() => {
            def.image.universe.library.roles.get(&(def.namespace, def.name)).copied()
        }
        TypeKind::Inst { definition } => definition.role,
        _ => None,
    }
}

impl Type {
    /// Whether the type has this role in the class libraries of its domain; an instantiation has the role of its definition.
    pub fn is(&self, role: LibraryType) -> bool {
        debug_assert!(has_mark(role), "{role:?}: only types of the core assembly that are not nested know their role");
        self.role == Some(role)
    }

    /// The role of the type, if it has one: see `is`.
    pub fn library_role(&self) -> Option<LibraryType> {
        self.role
    }
}

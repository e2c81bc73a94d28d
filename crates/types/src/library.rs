//! The class libraries of a domain: the profile that describes them, and cells for the types that have roles.
//!
//! `Type::is` compares the role that a type gets when its record is made, so that no code asks for a class-library type
//! by a text. Invariant: types of the core assembly that are not nested have their role from the start; nested types
//! and types of other assemblies have none, and are only found (`library_members`).

use rustc_hash::FxHashMap;
use saki_contract::{LibraryAssembly, LibraryProfile, LibraryType, TypeName};
use std::sync::OnceLock;

/// See the module header. `T` is a type.
pub struct Library<T> {
    pub(crate) profile: &'static LibraryProfile,
    /// Roles by namespace and name, of the core assembly's types that are not nested.
    roles: FxHashMap<(&'static str, &'static str), LibraryType>,
    /// By role; None = the class libraries lack the type. Filled by `Universe::find_library_type`.
    pub(crate) found: Box<[OnceLock<Option<T>>]>,
}

impl<T> Library<T> {
    pub(crate) fn new(profile: &'static LibraryProfile) -> Library<T> {
        let named = LibraryType::ALL.iter().filter_map(|&role| Some((role, profile.type_name(role)?)));
        // Where two roles have one type, it knows the role that has the type's name in the table.
        let is_own = |role: LibraryType, name: TypeName| {
            role.name() == name || !LibraryType::ALL.iter().any(|other| other.name() == name)
        };
        let marked = named.filter(|(role, name)| has_mark(*role) && is_own(*role, *name));
        let roles = marked.map(|(role, name)| ((name.namespace, name.name), role));
        Library {
            profile,
            roles: roles.collect(),
            found: std::iter::repeat_with(OnceLock::new).take(LibraryType::COUNT).collect(),
        }
    }

    /// The role of a type of the core assembly that is not nested.
    pub(crate) fn role_of(&self, namespace: &str, name: &str) -> Option<LibraryType> {
        self.roles.get(&(namespace, name)).copied()
    }
}

/// Whether types of this role know their role.
pub(crate) fn has_mark(role: LibraryType) -> bool {
    let name = role.name();
    name.assembly == LibraryAssembly::Core && !name.name.contains('/')
}

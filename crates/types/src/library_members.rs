//! Finding what the tables of the class libraries name (`saki_contract::LibraryProfile`): types by their roles, roles
//! of methods.

use crate::domain::Universe;
use crate::error::{LoadError, LoadResult};
use crate::field::Field;
use crate::identity::{AssemblyName, qualified};
use crate::method::Method;
use crate::ty::{Ty, Type};
use saki_contract::{LibraryAssembly, LibraryMethod, LibraryProfile, LibraryType, TypeName, VectorLibrary};

impl Universe {
    /// The profile of the domain's class libraries.
    pub fn profile(&self) -> &'static LibraryProfile {
        self.library.profile
    }

    /// The type with a role; None if the class libraries lack it.
    ///
    /// # Errors
    /// Those of loading its assembly; `BadImageFormat`.
    pub fn find_library_type(&self, role: LibraryType) -> LoadResult<Option<Ty>> {
        let cell = &self.library.found[role as usize];
        if let Some(known) = cell.get() {
            return Ok(*known);
        }
        let found = match self.profile().type_name(role) {
            Some(name) => self.find_named(name)?,
            None => None,
        };
        Ok(*cell.get_or_init(|| found))
    }

    /// The type with a role.
    ///
    /// # Errors
    /// Those of loading its assembly; `BadImageFormat`; `TypeLoad` if the class libraries lack the type.
    pub fn library_type(&self, role: LibraryType) -> LoadResult<Ty> {
        self.find_library_type(role)?.ok_or_else(|| {
            let name = self.profile().type_name(role).unwrap_or(role.name());
            let full = qualified(name.namespace, name.name);
            LoadError::type_load(format!("{} has no type {full}", self.corlib().meta.path().display()), full)
        })
    }

    /// Bytes from the start of the object (classes) or value (value types) to an instance field of the table of fields
    /// (`saki_contract::FIELDS`); None if the class libraries lack the type or the field.
    ///
    /// # Errors
    /// Those of loading the type and of its layout.
    pub fn find_field_offset_bytes(&self, owner: LibraryType, name: &'static str) -> LoadResult<Option<u32>> {
        let Some(ty) = self.find_library_type(self.profile().field_owner(owner, name))? else { return Ok(None) };
        if let Some(offset_bytes) = crate::layout::own_word_offset_bytes(ty, name)? {
            return Ok(Some(offset_bytes));
        }
        match self.find_named_field(ty, owner, name)? {
            Some(field) => field.offset_bytes().map(Some),
            None => Ok(None),
        }
    }

    /// The field of the class libraries that has this name in the table.
    pub fn find_library_field(&self, owner: LibraryType, name: &'static str) -> LoadResult<Option<&'static Field>> {
        match self.find_library_type(self.profile().field_owner(owner, name))? {
            Some(ty) => self.find_named_field(ty, owner, name),
            None => Ok(None),
        }
    }

    fn find_named_field(&self, ty: Ty, owner: LibraryType, name: &'static str) -> LoadResult<Option<&'static Field>> {
        if let Some(field) = ty.find_field(self.profile().field_name(owner, name))? {
            return Ok(Some(field));
        }
        self.profile().later_field_name(owner, name).map_or(Ok(None), |later| ty.find_field(later))
    }

    fn find_named(&self, name: TypeName) -> LoadResult<Option<Ty>> {
        let image = match name.assembly {
            LibraryAssembly::Core => self.corlib(),
            LibraryAssembly::Named(assembly) => {
                let wanted = AssemblyName { name: assembly.to_string(), ..AssemblyName::default() };
                self.binder().resolve(&wanted, None)?.image
            }
        };
        let mut parts = name.name.split('/');
        let mut found = image.find_type(name.namespace, parts.next().unwrap_or_default())?;
        for nested in parts {
            let Some(outer) = found else { return Ok(None) };
            found = outer.find_nested("", nested)?;
        }
        Ok(found)
    }
}

impl Type {
    /// Whether the core assembly defines the type.
    pub fn is_of_core_assembly(&self) -> bool {
        self.def().is_some_and(|def| def.image.is_corlib)
    }

    /// The library whose rows of vector operations may mean this type (`LibraryProfile::vectors`).
    pub fn vector_library(&self) -> Option<VectorLibrary> {
        let library = self.def()?.image.universe.profile().vectors;
        self.is_of_class_libraries().then_some(library)
    }

    /// Whether rows of vector operations and library loops may mean this type: one of the core assembly or of its
    /// companions that is not nested.
    pub fn is_of_class_libraries(&self) -> bool {
        let Some(def) = self.def().filter(|def| def.enclosing.is_none()) else { return false };
        let profile = def.image.universe.profile();
        def.image.is_corlib || profile.has_companion(def.image.assembly().name, def.namespace, def.name)
    }
}

impl Method {
    /// The role of the method in the class libraries. Loads the signature only where overloads differ in the number of
    /// parameters.
    ///
    /// # Errors
    /// The errors of the method's signature.
    pub fn library_role(&'static self) -> LoadResult<Option<LibraryMethod>> {
        let Some(owner) = self.owner.library_role() else { return Ok(None) };
        let profile = self.owner.universe().profile();
        profile.method_role(owner, self.name, || Ok(self.sig()?.params.len()))
    }
}

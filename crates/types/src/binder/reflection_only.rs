//! Assemblies of the reflection-only context (`Assembly.ReflectionOnlyLoad`): inspected, never executed.
//!
//! They have images and types of their own, separate from those of the same file loaded for execution, and only
//! reflection-only requests find them. Their references are resolved among reflection-only assemblies; a missing one is
//! asked for by an event and never loaded implicitly. mscorlib is shared with execution: there is one `System.Object`.

use super::{AssemblyName, Binder, identity, not_found, successor};
use crate::domain::{Assembly, Image};
use crate::error::LoadResult;
use crate::identity::normal_culture;
use crate::requests;
use std::path::Path;

impl Binder {
    /// Assemblies loaded for reflection only, in load order.
    pub fn reflection_only(&self) -> Vec<&'static Assembly> {
        self.reflection_only.read().clone()
    }

    pub(super) fn find_reflection_only(&self, wanted: &AssemblyName) -> Option<&'static Assembly> {
        // As in `resolve`, the file's name may be used for the assembly's.
        if wanted.name.eq_ignore_ascii_case(crate::universe().corlib().assembly().name) || wanted.name == "mscorlib.dll"
        {
            return Some(crate::universe().corlib().assembly());
        }
        self.reflection_only.read().iter().copied().find(|a| {
            a.name.eq_ignore_ascii_case(&wanted.name)
                && a.culture.eq_ignore_ascii_case(normal_culture(&wanted.culture))
                && (wanted.version == [0; 4] || a.version == wanted.version)
                && (wanted.public_key_token.is_empty() || a.public_key_token == wanted.public_key_token)
        })
    }

    /// Resolves a reference of a reflection-only assembly.
    ///
    /// # Errors
    /// `FileNotFound` when the assembly has not been loaded and no event handler supplies it.
    pub(super) fn resolve_reflection_only(
        &self,
        wanted: &AssemblyName,
        requesting: &'static Image,
    ) -> LoadResult<&'static Assembly> {
        if let Some(found) = self.find_reflection_only(wanted) {
            return Ok(found);
        }
        requests::forbid_in_computations();
        self.events.resolve_assembly(wanted, Some(requesting)).ok_or_else(|| not_found(wanted))
    }

    /// Loads the assembly of this name (`Assembly.ReflectionOnlyLoad`).
    ///
    /// # Errors
    /// `FileNotFound`, `BadImageFormat`.
    pub fn load_reflection_only(&self, wanted: &AssemblyName) -> LoadResult<&'static Assembly> {
        if let Some(found) = self.find_reflection_only(wanted) {
            return Ok(found);
        }
        let wanted = &successor(wanted);
        if let Some(found) = self.events.find_before_search(wanted, true) {
            return Ok(found);
        }
        for candidate in self.candidates(wanted) {
            if candidate.is_file()
                && identity(crate::files::open(&candidate)?)?.is_some_and(|n| n.name.eq_ignore_ascii_case(&wanted.name))
            {
                return self.load_reflection_only_file(&candidate);
            }
        }
        Err(not_found(wanted))
    }

    /// Loads the assembly in this file, or returns the assembly of its identity that was loaded before
    /// (`Assembly.ReflectionOnlyLoadFrom`).
    ///
    /// # Errors
    /// `FileNotFound`, `FileLoad`, `BadImageFormat`.
    pub fn load_reflection_only_file(&self, path: &Path) -> LoadResult<&'static Assembly> {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        self.add_reflection_only(identity(crate::files::open(&path)?)?, || Assembly::open_reflection_only(&path))
    }

    /// Loads an assembly from memory, or returns the assembly of its identity that was loaded before.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn load_reflection_only_bytes(&self, bytes: Vec<u8>) -> LoadResult<&'static Assembly> {
        let assembly = Assembly::from_bytes_reflection_only("(in memory)".to_string(), bytes)?;
        self.add_reflection_only(identity(assembly.image.meta)?, || Ok(assembly))
    }

    fn add_reflection_only(
        &self,
        name: Option<AssemblyName>,
        open: impl FnOnce() -> LoadResult<&'static Assembly>,
    ) -> LoadResult<&'static Assembly> {
        let assembly = {
            let _lock = crate::lazy::loader_lock();
            if let Some(found) = name.and_then(|name| self.find_reflection_only(&name)) {
                return Ok(found);
            }
            let assembly = open()?;
            self.reflection_only.write().push(assembly);
            assembly
        };
        self.announce(assembly);
        Ok(assembly)
    }
}

//! The types of an image: those of its TypeDef rows, those that its TypeRef rows name, and those found by name.

use crate::domain::Image;
use crate::error::{LoadError, LoadErrorKind, LoadResult};
use crate::identity::qualified;
use crate::load_texts;
use crate::ty::{Ty, Type};
use saki_metadata::{Rid, TableId, Token};

impl Image {
    /// The type of this name, with '+' between the names of nested types: "Namespace.Outer+Inner".
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn find_type_by_path(&'static self, path: &str) -> LoadResult<Option<Ty>> {
        let mut parts = path.split('+');
        let outer = parts.next().unwrap_or_default();
        let (namespace, simple) = outer.rsplit_once('.').unwrap_or(("", outer));
        let mut found = self.find_type(namespace, simple)?;
        for part in parts {
            let Some(outer) = found else { break };
            found = outer.find_nested("", part)?;
        }
        Ok(found)
    }

    /// The type of TypeDef row `rid`.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn type_def(&'static self, rid: Rid) -> LoadResult<Ty> {
        let Some(cell) = (rid as usize).checked_sub(1).and_then(|i| self.type_defs.get(i)) else {
            return Err(self.bad_token(Token::new(TableId::TypeDef, rid)));
        };
        if let Some(ty) = cell.get_if_ready() {
            return Ok(ty);
        }
        if let Some(outer) = self.emitted_stub(rid) {
            let ty = outer.require()?;
            return cell.find(|| Ok(ty));
        }
        let _lock = crate::lazy::loader_lock();
        if let Some(ty) = cell.get_if_ready() {
            return Ok(ty);
        }
        let ty = crate::class::create_type_def(self, rid)?;
        self.universe.binder().announce_type(ty);
        cell.find(|| Ok(ty))
    }

    /// The type definition `namespace.name`, following type forwarders.
    ///
    /// # Errors
    /// The binder's errors for a forwarder; `Ok(None)` when there is none.
    pub fn find_type(&'static self, namespace: &str, name: &str) -> LoadResult<Option<Ty>> {
        if let Some(rid) = self.meta.find_type_def(namespace, name, None) {
            return self.type_def(rid).map(Some);
        }
        let Some(rid) = self.meta.find_exported_type(namespace, name, None) else {
            return self.find_in_modules(namespace, name);
        };
        let row = self.meta.exported_type(rid)?;
        match row.implementation.table() {
            TableId::AssemblyRef => self.assembly_ref(row.implementation.rid())?.image.find_type(namespace, name),
            TableId::File => self.file_module(row.implementation.rid())?.find_type_here(namespace, name),
            _ => Ok(None),
        }
    }

    /// A type of the assembly's other modules that the manifest does not export, since it is not public.
    fn find_in_modules(&'static self, namespace: &str, name: &str) -> LoadResult<Option<Ty>> {
        const CONTAINS_NO_METADATA: u32 = 1;
        for rid in 1..=self.meta.row_count(TableId::File) {
            if self.meta.file(rid)?.flags & CONTAINS_NO_METADATA == 0
                && let Some(found) = self.file_module(rid)?.find_type_here(namespace, name)?
            {
                return Ok(Some(found));
            }
        }
        // Types made at run time are not in the image's tables.
        if let Some(found) = self.assembly().emitted.read().types.get(&qualified(namespace, name)) {
            return Ok(Some(found));
        }
        let modules = self.assembly().module_images.read().clone();
        for module in modules {
            if let Some(found) = module.find_type_here(namespace, name)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn find_type_here(&'static self, namespace: &str, name: &str) -> LoadResult<Option<Ty>> {
        match self.meta.find_type_def(namespace, name, None) {
            Some(rid) => self.type_def(rid).map(Some),
            None => Ok(None),
        }
    }

    /// The type of TypeRef row `rid`.
    ///
    /// # Errors
    /// `TypeLoad` when the scope has no such type, and the binder's errors.
    pub fn type_ref(&'static self, rid: Rid) -> LoadResult<Ty> {
        let Some(cell) = (rid as usize).checked_sub(1).and_then(|i| self.type_refs.get(i)) else {
            return Err(self.bad_token(Token::new(TableId::TypeRef, rid)));
        };
        if let Some(reference) = self.emitted_reference(rid) {
            return reference.require();
        }
        cell.get(&|| format!("type reference {rid}"), || {
            let row = self.meta.type_ref(rid)?;
            let (namespace, name) = (self.meta.string(row.namespace)?, self.meta.string(row.name)?);
            let scope = row.resolution_scope;
            let found = match scope.table() {
                TableId::TypeRef => self.type_ref(scope.rid())?.find_nested(namespace, name)?,
                TableId::AssemblyRef => {
                    let named = self.assembly_ref(scope.rid())?.image;
                    let found = named.find_type(namespace, name)?;
                    if let Some(ty) = found {
                        self.note_forwarders(named, namespace, name, ty.image())?;
                    }
                    found
                }
                TableId::ModuleRef => {
                    let row = self.meta.module_ref(scope.rid())?;
                    self.load_module(self.meta.string(row.name)?)?.find_type_here(namespace, name)?
                }
                _ => self.assembly().image.find_type(namespace, name)?,
            };
            found.ok_or_else(|| self.type_not_found(rid, namespace, name))
        })
    }

    /// Notes the modules that forward the type from `named`, which a TypeRef names, to `target`.
    fn note_forwarders(
        &'static self,
        named: &'static Image,
        namespace: &str,
        name: &str,
        target: &'static Image,
    ) -> LoadResult<()> {
        let mut at = named;
        while at != target {
            let Some(rid) = at.meta.find_exported_type(namespace, name, None) else { break };
            let implementation = at.meta.exported_type(rid)?.implementation;
            if implementation.table() != TableId::AssemblyRef {
                break;
            }
            let mut passed = self.forwarders_passed.write();
            if !passed.contains(&(at, target)) {
                passed.push((at, target));
            }
            at = at.assembly_ref(implementation.rid())?.image;
        }
        Ok(())
    }

    /// The error for TypeRef row `rid`, whose scope has no such type.
    fn type_not_found(&'static self, rid: Rid, namespace: &str, name: &str) -> LoadError {
        let full_name = qualified(namespace, name);
        if !crate::universe().profile().has_mono_texts {
            let scope = self.scope_name(rid).unwrap_or_default();
            let message = format!("Could not load type '{full_name}' from assembly '{scope}'.");
            return LoadError::new(LoadErrorKind::TypeLoad, message, full_name);
        }
        let message = format!(
            "Could not resolve type with token {:08x} from typeref (expected class '{full_name}' in assembly '{}')",
            Token::new(TableId::TypeRef, rid).0,
            self.scope_name(rid).unwrap_or_default()
        );
        LoadError::new(LoadErrorKind::TypeLoad, message, full_name)
    }

    /// Name of the assembly in the resolution scope of TypeRef row `rid` or of its enclosing types.
    fn scope_name(&'static self, rid: Rid) -> LoadResult<String> {
        let scope = self.meta.type_ref(rid)?.resolution_scope;
        match scope.table() {
            TableId::TypeRef => self.scope_name(scope.rid()),
            // .NET names the assembly that was found, whose version may be a later one.
            TableId::AssemblyRef if !load_texts::are_mono() => Ok(self.assembly_ref(scope.rid())?.display_name()),
            TableId::AssemblyRef => Ok(self.assembly_ref_name(scope.rid())?.display()),
            _ => Ok(self.assembly().display_name()),
        }
    }

    /// Whether field `rid` is marked `[Weak]`: `System.WeakAttribute` of another assembly. Debian's class library lacks
    /// the class; Mono's class libraries for other systems and Mono's test library have it.
    ///
    /// # Errors
    /// `BadImage`.
    pub(crate) fn is_weak_field(&'static self, rid: Rid) -> LoadResult<bool> {
        let class = match self.weak_attribute.get() {
            Some(&known) => known,
            None => {
                let found = self.find_weak_attribute()?;
                *self.weak_attribute.get_or_init(|| found)
            }
        };
        if class == 0 {
            return Ok(false);
        }
        for row in self.meta.custom_attributes(Token::new(TableId::Field, rid)) {
            let constructor = row?.constructor;
            if constructor.table() == TableId::MemberRef
                && self.meta.member_ref(constructor.rid())?.class == Token::new(TableId::TypeRef, class)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn find_weak_attribute(&'static self) -> LoadResult<Rid> {
        for rid in 1..=self.meta.row_count(TableId::TypeRef) {
            let row = self.meta.type_ref(rid)?;
            if row.resolution_scope.table() == TableId::AssemblyRef
                && self.meta.string(row.name)? == "WeakAttribute"
                && self.meta.string(row.namespace)? == "System"
            {
                return Ok(rid);
            }
        }
        Ok(0)
    }
}

impl Type {
    /// The types nested directly in this definition, or in that of this instantiation.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn nested_types(&'static self) -> LoadResult<Vec<Ty>> {
        let Some(def) = self.def() else { return Ok(Vec::new()) };
        if let Some(emitted) = def.image.emitted_type() {
            return Ok(emitted.nested.read().clone());
        }
        def.image.meta.nested_classes(def.rid).map(|rid| def.image.type_def(rid)).collect()
    }

    /// The type of this name nested directly in this definition.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn find_nested(&'static self, namespace: &str, name: &str) -> LoadResult<Option<Ty>> {
        let Some(def) = self.def() else { return Ok(None) };
        if def.image.emitted_type().is_some() {
            let is_wanted = |ty: &Ty| ty.def().is_some_and(|def| def.name == name && def.namespace == namespace);
            return Ok(self.nested_types()?.into_iter().find(is_wanted));
        }
        match def.image.meta.find_type_def(namespace, name, Some(def.rid)) {
            Some(rid) => def.image.type_def(rid).map(Some),
            None => Ok(None),
        }
    }
}

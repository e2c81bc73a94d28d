//! Opening assemblies and their modules: the records of an assembly and of its images, with the caches from tokens to records.

use crate::attributes::attribute_class;
use crate::binder::not_found;
use crate::collectible::{self, Owner};
use crate::domain::DynamicCode;
use crate::domain::EmittedImage;
use crate::error::{LoadError, LoadErrorKind, LoadResult, open_error};
use crate::identity::{AssemblyName, LoadContext, token_of_key, token_of_reference};
use crate::lazy::Lazy;
use crate::requests::{self, Leave, Request};
use crate::ty::Ty;
use saki_base::locks::RwLock;
use saki_metadata::{Rid, TableId, Token};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

pub use crate::domain::{Assembly, Image};
pub use crate::identity::qualified;

/// The assembly other than `assembly` that has loaded this module's file, if there is one. A module may belong to one assembly only,
/// since a type belongs to one assembly and its static fields exist once.
fn owner_of_module(assembly: &'static Assembly, module: &Path) -> Option<&'static Assembly> {
    let has_it = |other: &&&'static Assembly| {
        other.path != assembly.path
            && !other.reflection_only
            && other.module_images.read().iter().any(|image| image.meta.path() == module)
    };
    if assembly.reflection_only {
        return None;
    }
    assembly.image.universe.binder().loaded().iter().find(has_it).copied()
}

/// Keeps metadata that lies in memory as long as `owner`, or, without one, as the current domain.
fn keep(owner: Option<&'static Owner>, meta: saki_metadata::Image) -> &'static saki_metadata::Image {
    collectible::keep_with(owner.or(crate::universe().owner()), meta)
}

fn cells<T: Default>(rows: u32) -> Box<[T]> {
    (0..rows).map(|_| T::default()).collect()
}

impl Image {
    /// Keeps the image as long as `owner`, or, without one, as the current domain.
    fn keep(
        meta: &'static saki_metadata::Image,
        is_corlib: bool,
        emitted: Option<EmittedImage>,
        owner: Option<&'static Owner>,
    ) -> &'static Image {
        let rows = |table| meta.row_count(table);
        let image = Image {
            is_corlib,
            universe: crate::universe(),
            assembly: OnceLock::new(),
            type_defs: cells(rows(TableId::TypeDef)),
            type_refs: cells(rows(TableId::TypeRef)),
            assembly_refs: cells(rows(TableId::AssemblyRef)),
            forwarders_passed: RwLock::default(),
            weak_attribute: OnceLock::new(),
            member_refs: cells(rows(TableId::MemberRef)),
            meta,
            dynamic: None,
            emitted,
        };
        collectible::keep_with(owner.or(image.universe.owner()), image)
    }

    /// The image of one dynamic method.
    pub(crate) fn of_dynamic_method(module: &'static Image, code: DynamicCode) -> Image {
        Image {
            meta: module.meta,
            is_corlib: module.is_corlib,
            universe: module.universe,
            assembly: OnceLock::new(),
            type_defs: cells(0),
            type_refs: cells(0),
            assembly_refs: cells(0),
            forwarders_passed: RwLock::default(),
            weak_attribute: OnceLock::new(),
            member_refs: cells(0),
            dynamic: Some(code),
            emitted: None,
        }
    }

    /// A further module of an assembly made at run time.
    pub(crate) fn in_dynamic_assembly(
        assembly: &'static Assembly,
        name: &str,
        bytes: Vec<u8>,
    ) -> LoadResult<&'static Image> {
        let meta = saki_metadata::Image::from_bytes(name.to_string(), bytes);
        let owner = collectible::owner_of(assembly);
        let meta = keep(owner, meta.map_err(|e| open_error(&e, Path::new(name)))?);
        let image = Image::keep(meta, false, None, owner);
        let _ = image.assembly.set(assembly);
        assembly.module_images.write().push(image);
        Ok(image)
    }

    /// The image of one type made at run time.
    pub(crate) fn of_emitted_type(
        module: &'static Image,
        bytes: Vec<u8>,
        emitted: EmittedImage,
    ) -> LoadResult<&'static Image> {
        let path = module.meta.path();
        let meta = saki_metadata::Image::from_bytes(path.display().to_string(), bytes);
        let owner = collectible::owner_of(module);
        let meta = keep(owner, meta.map_err(|e| open_error(&e, path))?);
        let image = Image::keep(meta, false, Some(emitted), owner);
        let _ = image.assembly.set(module.assembly());
        Ok(image)
    }

    /// The type `<Module>`, which has the global methods and fields, if it has methods. None for the class library and for dynamic methods.
    pub fn module_type(&'static self) -> Option<Ty> {
        // Most images have no global methods, so that their module type need not be made.
        if self.is_corlib
            || self.is_of_dynamic_method()
            || self.meta.type_def_methods(1).is_ok_and(|methods| methods.is_empty())
        {
            return None;
        }
        self.type_def(1).ok()
    }

    /// The type of TypeDef row `rid`.
    ///
    /// # Errors
    /// `BadImageFormat`.
    pub fn type_def(&'static self, rid: Rid) -> LoadResult<Ty> {
        let Some(cell) = (rid as usize).checked_sub(1).and_then(|i| self.type_defs.get(i)) else {
            return Err(self.bad_token(Token::new(TableId::TypeDef, rid)));
        };
        if let Some(ty) = cell.get() {
            return Ok(ty);
        }
        if let Some(outer) = self.emitted_stub(rid) {
            let ty = outer.require()?;
            return Ok(cell.get_or_init(|| ty));
        }
        let _lock = crate::lazy::loader_lock();
        if let Some(ty) = cell.get() {
            return Ok(ty);
        }
        let ty = crate::class::create_type_def(self, rid)?;
        Ok(cell.get_or_init(|| ty))
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
        if let Some(found) = self.assembly().emitted.read().get(&qualified(namespace, name)) {
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

    /// Loads all modules that the manifest names; otherwise each is loaded when one of its types is needed.
    ///
    /// # Errors
    /// `FileNotFound` about the first module that is not there; `BadImageFormat`.
    pub fn load_modules(&'static self) -> LoadResult<()> {
        const CONTAINS_NO_METADATA: u32 = 1;
        // An assembly loaded from memory has no folder to search.
        if self.assembly().path.as_os_str().is_empty() {
            return Ok(());
        }
        for rid in 1..=self.meta.row_count(TableId::File) {
            let row = self.meta.file(rid)?;
            if row.flags & CONTAINS_NO_METADATA == 0 {
                let name = self.meta.string(row.name)?;
                self.load_module(name).map_err(|error| LoadError { subject: name.to_string(), ..error })?;
            }
        }
        Ok(())
    }

    /// The module of File row `rid`, beside the manifest.
    fn file_module(&'static self, rid: Rid) -> LoadResult<&'static Image> {
        let row = self.meta.file(rid)?;
        self.load_module(self.meta.string(row.name)?)
    }

    /// # Errors
    /// `FileNotFound`; `BadImageFormat`, also when another assembly of the domain has loaded the module.
    fn load_module(&'static self, name: &str) -> LoadResult<&'static Image> {
        let assembly = self.assembly();
        let path = assembly.path.with_file_name(name);
        let _lock = crate::lazy::loader_lock();
        // The loader lock keeps others from adding the module meanwhile.
        let known = assembly.module_images.read().iter().find(|m| m.meta.path() == path).copied();
        if let Some(found) = known {
            return Ok(found);
        }
        if let Some(other) = owner_of_module(assembly, &path) {
            let (module, other) = (path.display(), other.path.display());
            let message = format!(
                "Attempted to load module {module} which has already been loaded by assembly {other}. This is not supported."
            );
            return Err(LoadError::new(LoadErrorKind::BadImageFormat, message, path.display().to_string()));
        }
        let image = Image::keep(crate::files::open(&path)?, false, None, collectible::owner_of(assembly));
        let _ = image.assembly.set(assembly);
        assembly.module_images.write().push(image);
        Ok(image)
    }

    /// Whether this is the manifest module of an assembly that was loaded from a file.
    pub fn is_manifest_of_file(&'static self) -> bool {
        self.dynamic.is_none()
            && self.emitted.is_none()
            && self.assembly.get().is_some_and(|a| std::ptr::eq(a.image, self) && !a.path.as_os_str().is_empty())
    }

    /// The AssemblyRef rows that were followed so far, and where they led.
    pub fn references_followed(&'static self) -> impl Iterator<Item = (Rid, &'static Image)> {
        self.assembly_refs.iter().zip(1..).filter_map(|(cell, rid)| Some((rid, cell.get_if_ready()?.image)))
    }

    /// The assembly of AssemblyRef row `rid`.
    ///
    /// # Errors
    /// `FileNotFound`, `BadImageFormat`.
    pub fn assembly_ref(&'static self, rid: Rid) -> LoadResult<&'static Assembly> {
        let Some(cell) = (rid as usize).checked_sub(1).and_then(|i| self.assembly_refs.get(i)) else {
            return Err(self.bad_token(Token::new(TableId::AssemblyRef, rid)));
        };
        if let Some(found) = cell.get_if_ready() {
            return Ok(found);
        }
        cell.get(&|| format!("assembly reference {rid}"), || {
            let name = self.assembly_ref_name(rid)?;
            let binder = self.universe.binder();
            if let Some(found) = binder.find_bound(&name, Some(self)) {
                return Ok(found);
            }
            match requests::ask(Request::Reference(self, rid))? {
                Leave::Ask => binder.resolve(&name, Some(self)),
                Leave::HasNoAnswer => Err(not_found(&name)),
            }
        })
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

    /// Whether field `rid` is marked `[Weak]`: `System.WeakAttribute` of another assembly. Debian's class library lacks the class;
    /// Mono's class libraries for other systems and Mono's test library have it.
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

    /// The modules whose type forwarders were followed so far, each with the module to which it led.
    pub fn forwarders_passed(&'static self) -> Vec<(&'static Image, &'static Image)> {
        self.forwarders_passed.read().clone()
    }

    /// The error for TypeRef row `rid`, whose scope has no such type.
    fn type_not_found(&'static self, rid: Rid, namespace: &str, name: &str) -> LoadError {
        let full_name = qualified(namespace, name);
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
            TableId::AssemblyRef => Ok(self.assembly_ref_name(scope.rid())?.display()),
            _ => Ok(self.assembly().display_name()),
        }
    }

    fn assembly_ref_name(&'static self, rid: Rid) -> LoadResult<AssemblyName> {
        let row = self.meta.assembly_ref(rid)?;
        Ok(AssemblyName {
            name: self.meta.string(row.name)?.to_string(),
            version: [row.major_version, row.minor_version, row.build_number, row.revision_number],
            culture: self.meta.string(row.culture)?.to_string(),
            public_key_token: token_of_reference(self.meta.blob(row.public_key_or_token)?, row.flags),
        })
    }
}

/// Whether the assembly is marked with ReferenceAssemblyAttribute: its methods have no or wrong bodies. The attribute class may be of any assembly; rows
/// that cannot be read do not count.
fn is_reference_assembly(meta: &'static saki_metadata::Image) -> bool {
    let mark = Some(("System.Runtime.CompilerServices", "ReferenceAssemblyAttribute"));
    let is_mark = |constructor| attribute_class(meta, constructor).is_ok_and(|class| class == mark);
    meta.custom_attributes(Token::new(TableId::Assembly, 1)).flatten().any(|row| is_mark(row.constructor))
}

/// How an assembly is published.
#[derive(Clone, Copy)]
enum Purpose<'a> {
    Corlib,
    Ordinary(LoadContext),
    ReflectionOnly,
    /// Made at run time: its identity, and whether its code may run.
    Dynamic(&'a AssemblyName, bool),
}

impl Assembly {
    /// Opens `path` as an assembly and publishes it; no duplicate check (the binder's task).
    ///
    /// # Errors
    /// `FileNotFound`, `FileLoad`, `BadImageFormat`, `ReferenceAssembly`.
    pub(crate) fn open(path: &Path, is_corlib: bool, context: LoadContext) -> LoadResult<&'static Assembly> {
        let purpose = if is_corlib { Purpose::Corlib } else { Purpose::Ordinary(context) };
        Assembly::publish(crate::files::open(path)?, path.to_path_buf(), purpose, None)
    }

    /// As `open`, for inspection only.
    pub(crate) fn open_reflection_only(path: &Path) -> LoadResult<&'static Assembly> {
        Assembly::publish(crate::files::open(path)?, path.to_path_buf(), Purpose::ReflectionOnly, None)
    }

    pub(crate) fn from_bytes(name: String, bytes: Vec<u8>) -> LoadResult<&'static Assembly> {
        Assembly::publish_bytes(name, bytes, Purpose::Ordinary(LoadContext::Individual))
    }

    /// As `from_bytes`, for inspection only.
    pub(crate) fn from_bytes_reflection_only(name: String, bytes: Vec<u8>) -> LoadResult<&'static Assembly> {
        Assembly::publish_bytes(name, bytes, Purpose::ReflectionOnly)
    }

    fn publish_bytes(name: String, bytes: Vec<u8>, purpose: Purpose<'_>) -> LoadResult<&'static Assembly> {
        let path = PathBuf::new();
        let meta = saki_metadata::Image::from_bytes(name, bytes).map_err(|e| open_error(&e, &path))?;
        Assembly::publish(keep(None, meta), path, purpose, None)
    }

    /// An assembly made at run time. Its image has no public key, but its identity may have one.
    pub(crate) fn from_dynamic(
        identity: &AssemblyName,
        bytes: Vec<u8>,
        is_runnable: bool,
        owner: Option<&'static Owner>,
    ) -> LoadResult<&'static Assembly> {
        let path = PathBuf::new();
        let meta = saki_metadata::Image::from_bytes(identity.name.clone(), bytes).map_err(|e| open_error(&e, &path))?;
        Assembly::publish(keep(owner, meta), path, Purpose::Dynamic(identity, is_runnable), owner)
    }

    fn publish(
        meta: &'static saki_metadata::Image,
        path: PathBuf,
        purpose: Purpose<'_>,
        owner: Option<&'static Owner>,
    ) -> LoadResult<&'static Assembly> {
        if matches!(purpose, Purpose::Ordinary(_)) && is_reference_assembly(meta) {
            let message = format!("{}: a reference assembly, which is not for running", path.display());
            return Err(LoadError::new(LoadErrorKind::ReferenceAssembly, message, path.display().to_string()));
        }
        let image = Image::keep(meta, matches!(purpose, Purpose::Corlib), None, owner);
        let Some(row) = image.meta.assembly() else {
            let message = format!("{}: a module without an assembly manifest", path.display());
            return Err(LoadError::new(LoadErrorKind::BadImageFormat, message, path.display().to_string()));
        };
        let assembly = Assembly {
            image,
            name: image.meta.string(row.name)?,
            version: [row.major_version, row.minor_version, row.build_number, row.revision_number],
            culture: image.meta.string(row.culture)?,
            public_key_token: match purpose {
                Purpose::Dynamic(identity, _) => identity.public_key_token.clone(),
                _ => token_of_key(image.meta.blob(row.public_key)?),
            },
            path,
            load_context: if let Purpose::Ordinary(context) = purpose { context } else { LoadContext::Default },
            is_dynamic: matches!(purpose, Purpose::Dynamic(..)),
            is_runnable: !matches!(purpose, Purpose::Dynamic(_, false)),
            wraps_thrown: AtomicBool::new(false),
            reflection_only: matches!(purpose, Purpose::ReflectionOnly),
            reflection_handle: Default::default(),
            module_reflection_handle: Default::default(),
            module_images: RwLock::default(),
            emitted: RwLock::default(),
            friends: Lazy::default(),
        };
        let assembly = collectible::keep_with(owner.or(image.universe.owner()), assembly);
        let _ = image.assembly.set(assembly);
        Ok(assembly)
    }

    /// Top-level types made at run time, in no particular order.
    pub fn emitted_types(&self) -> Vec<Ty> {
        self.emitted.read().values().copied().collect()
    }

    pub(crate) fn add_emitted(&self, namespace: &str, name: &str, ty: Ty) {
        self.emitted.write().insert(qualified(namespace, name), ty);
    }

    /// "Name, Version=…, Culture=…, PublicKeyToken=…".
    pub fn display_name(&self) -> String {
        let [a, b, c, d] = self.version;
        let culture = if self.culture.is_empty() { "neutral" } else { self.culture };
        let token = if self.public_key_token.is_empty() {
            "null".to_string()
        } else {
            self.public_key_token.iter().map(|b| format!("{b:02x}")).collect()
        };
        format!("{}, Version={a}.{b}.{c}.{d}, Culture={culture}, PublicKeyToken={token}", self.name)
    }
}

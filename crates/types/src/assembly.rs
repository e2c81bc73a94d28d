//! Opening assemblies and their modules: the records of an assembly and of its images, with the caches from tokens to
//! records.

use crate::attributes::attribute_class;
use crate::binder::not_found;
use crate::collectible::{self, Owner};
use crate::domain::DynamicCode;
use crate::domain::EmittedImage;
use crate::error::{LoadError, LoadErrorKind, LoadResult, open_error};
use crate::identity::{AssemblyName, LoadContext, Manifest, token_of_key, token_of_reference};
use crate::lazy::Lazy;
use crate::requests::{self, Leave, Request};
use crate::ty::Ty;
use saki_base::locks::RwLock;
use saki_metadata::{Image as MetadataImage, Rid, TableId, Token};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

pub use crate::domain::{Assembly, Image};
pub use crate::identity::qualified;

/// The assembly other than `assembly` that has loaded this module's file, if there is one. A module may belong to one
/// assembly only, since a type belongs to one assembly and its static fields exist once.
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
fn keep(owner: Option<&'static Owner>, meta: MetadataImage) -> &'static MetadataImage {
    collectible::keep_with(owner.or(crate::universe().owner()), meta)
}

fn cells<T: Default>(rows: u32) -> Box<[T]> {
    (0..rows).map(|_| T::default()).collect()
}

impl Image {
    /// Keeps the image as long as `owner`, or, without one, as the current domain.
    fn keep(
        meta: &'static MetadataImage,
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
            named_attributes: OnceLock::new(),
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
            named_attributes: OnceLock::new(),
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
        let meta = MetadataImage::from_bytes(name.to_string(), bytes);
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
        let meta = MetadataImage::from_bytes(path.display().to_string(), bytes);
        let owner = collectible::owner_of(module);
        let meta = keep(owner, meta.map_err(|e| open_error(&e, path))?);
        let image = Image::keep(meta, false, Some(emitted), owner);
        let _ = image.assembly.set(module.assembly());
        Ok(image)
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
    pub(crate) fn file_module(&'static self, rid: Rid) -> LoadResult<&'static Image> {
        let row = self.meta.file(rid)?;
        self.load_module(self.meta.string(row.name)?)
    }

    /// # Errors
    /// `FileNotFound`; `BadImageFormat`, also when another assembly of the domain has loaded the module.
    pub(crate) fn load_module(&'static self, name: &str) -> LoadResult<&'static Image> {
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

    /// The modules whose type forwarders were followed so far, each with the module to which it led.
    pub fn forwarders_passed(&'static self) -> Vec<(&'static Image, &'static Image)> {
        self.forwarders_passed.read().clone()
    }

    pub(crate) fn assembly_ref_name(&'static self, rid: Rid) -> LoadResult<AssemblyName> {
        let row = self.meta.assembly_ref(rid)?;
        Ok(AssemblyName {
            name: self.meta.string(row.name)?.to_string(),
            version: [row.major_version, row.minor_version, row.build_number, row.revision_number],
            culture: self.meta.string(row.culture)?.to_string(),
            public_key_token: token_of_reference(self.meta.blob(row.public_key_or_token)?, row.flags),
        })
    }
}

/// Whether the assembly is marked with ReferenceAssemblyAttribute: its methods have no or wrong bodies. The attribute
/// class may be of any assembly; rows that cannot be read do not count.
fn is_reference_assembly(meta: &'static MetadataImage) -> bool {
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
    /// Made at run time.
    Dynamic(&'a Manifest<'a>),
}

impl Assembly {
    /// Opens `path` as an assembly and publishes it; no duplicate check (the binder's task).
    ///
    /// # Errors
    /// `FileNotFound`, `FileLoad`, `BadImageFormat`, `ReferenceAssembly`.
    pub(crate) fn open(
        path: &Path,
        is_corlib: bool,
        context: LoadContext,
        owner: Option<&'static Owner>,
    ) -> LoadResult<&'static Assembly> {
        let purpose = if is_corlib { Purpose::Corlib } else { Purpose::Ordinary(context) };
        let meta = match owner {
            // What is opened for all is never closed.
            Some(_) => keep(owner, MetadataImage::open(path).map_err(|e| open_error(&e, path))?),
            None => crate::files::open(path)?,
        };
        Assembly::publish(meta, path.to_path_buf(), purpose, owner)
    }

    /// Opens `path` as an assembly for inspection only, and publishes it; no duplicate check.
    pub(crate) fn open_reflection_only(path: &Path) -> LoadResult<&'static Assembly> {
        Assembly::publish(crate::files::open(path)?, path.to_path_buf(), Purpose::ReflectionOnly, None)
    }

    pub(crate) fn from_bytes(name: String, bytes: Vec<u8>) -> LoadResult<&'static Assembly> {
        Assembly::publish_bytes(name, bytes, Purpose::Ordinary(LoadContext::Individual), None)
    }

    /// Reads an assembly from memory, for a context.
    pub(crate) fn from_bytes_in(
        name: String,
        bytes: Vec<u8>,
        context: LoadContext,
        owner: Option<&'static Owner>,
    ) -> LoadResult<&'static Assembly> {
        Assembly::publish_bytes(name, bytes, Purpose::Ordinary(context), owner)
    }

    /// Publishes the assembly in these bytes, for inspection only.
    pub(crate) fn from_bytes_reflection_only(name: String, bytes: Vec<u8>) -> LoadResult<&'static Assembly> {
        Assembly::publish_bytes(name, bytes, Purpose::ReflectionOnly, None)
    }

    fn publish_bytes(
        name: String,
        bytes: Vec<u8>,
        purpose: Purpose<'_>,
        owner: Option<&'static Owner>,
    ) -> LoadResult<&'static Assembly> {
        let path = PathBuf::new();
        let meta = MetadataImage::from_bytes(name, bytes).map_err(|e| open_error(&e, &path))?;
        Assembly::publish(keep(owner, meta), path, purpose, owner)
    }

    /// An assembly made at run time. Its identity may have a token of a public key that its image lacks.
    pub(crate) fn from_dynamic(
        manifest: &Manifest,
        bytes: Vec<u8>,
        owner: Option<&'static Owner>,
    ) -> LoadResult<&'static Assembly> {
        let path = PathBuf::new();
        let name = manifest.identity.name.clone();
        let meta = MetadataImage::from_bytes(name, bytes).map_err(|e| open_error(&e, &path))?;
        Assembly::publish(keep(owner, meta), path, Purpose::Dynamic(manifest), owner)
    }

    fn publish(
        meta: &'static MetadataImage,
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
                Purpose::Dynamic(manifest) => manifest.identity.public_key_token.clone(),
                _ => token_of_key(image.meta.blob(row.public_key)?),
            },
            path,
            load_context: match purpose {
                Purpose::Ordinary(context) => context,
                Purpose::Dynamic(manifest) => manifest.load_context,
                Purpose::Corlib | Purpose::ReflectionOnly => LoadContext::Default,
            },
            is_dynamic: matches!(purpose, Purpose::Dynamic(..)),
            is_runnable: !matches!(purpose, Purpose::Dynamic(manifest) if !manifest.is_runnable),
            wraps_thrown: AtomicBool::new(false),
            reflection_only: matches!(purpose, Purpose::ReflectionOnly),
            reflection_handle: Default::default(),
            module_reflection_handle: Default::default(),
            module_images: RwLock::default(),
            emitted: RwLock::default(),
            friends: Lazy::default(),
            unchecked: Lazy::default(),
        };
        let assembly = collectible::keep_with(owner.or(image.universe.owner()), assembly);
        let _ = image.assembly.set(assembly);
        Ok(assembly)
    }

    /// Top-level types made at run time, in no particular order.
    pub fn emitted_types(&self) -> Vec<Ty> {
        self.emitted.read().types.values().copied().collect()
    }

    pub(crate) fn add_emitted(&self, namespace: &str, name: &str, ty: Ty) {
        self.emitted.write().types.insert(qualified(namespace, name), ty);
    }
}

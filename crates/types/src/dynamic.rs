//! Methods and assemblies made at run time: `System.Reflection.Emit`.
//!
//! A dynamic method has an `Image` of its own whose tokens index its list of references instead of metadata tables, so
//! that its CIL is imported like any other. It shares the raw metadata of its module, an image in memory without
//! members. Types made at run time are in `emitted`.
//!
//! A dynamic method can be freed by itself: for it `&'static Method` means "until `DynamicMethods::free`", whose caller
//! must know that nothing refers to it any more (`runtime::dynamic_methods` decides when). Method, image and body lie
//! in a record of `dynamic_records`.

use crate::domain::{Assembly, Image};
use crate::error::LoadResult;
use crate::identity::AssemblyName;
pub use crate::identity::Manifest;
use crate::method::{Method, MethodKind, MethodSig, impl_flags, method_flags};
use crate::ty::Ty;
use saki_metadata::TableId;
use saki_metadata::writer::ImageWriter;
use std::sync::OnceLock;

pub use crate::domain::{DynamicBody, DynamicCode, DynamicRef};

/// How to make a dynamic method.
pub struct DynamicMethodSpec {
    pub name: String,
    pub module: &'static Image,
    /// The type that reflection shows as its declaring type, and from which access to fields is judged. A method
    /// without one may use all fields, as in Mono.
    pub owner: Option<Ty>,
    pub sig: MethodSig,
    pub skips_visibility: bool,
}

/// Makes a static dynamic method without code, which `define` supplies.
pub fn create_method(spec: DynamicMethodSpec) -> &'static Method {
    let scope = spec.owner.filter(|_| !spec.skips_visibility);
    let owner = spec.owner.unwrap_or(crate::universe().object());
    let code = DynamicCode { sig: spec.sig, assembly: spec.module.assembly(), scope, body: OnceLock::new() };
    let image = Image::of_dynamic_method(spec.module, code);
    crate::dynamic_records::store(image, spec.name.into_boxed_str(), |image, name| Method {
        flags: method_flags::PUBLIC | method_flags::STATIC,
        impl_flags: impl_flags::NO_INLINING,
        ..Method::new(owner, MethodKind::Dynamic(image), name)
    })
}

/// The image of a module without types, and of an assembly if there is a manifest.
fn module_image(name: &str, manifest: Option<&Manifest>) -> Vec<u8> {
    let mut image = ImageWriter::default();
    let module_name = image.heaps.string(name).0;
    let mvid = image.heaps.guid(manifest.map_or([0; 16], |manifest| manifest.module_version)).0;
    image.tables.add(TableId::Module, &[0, module_name, mvid, 0, 0]);
    let global = image.heaps.string("<Module>").0;
    image.tables.add(TableId::TypeDef, &[0, global, 0, 0, 1, 1]);
    if let Some(Manifest { identity, public_key, flags, hash_algorithm, .. }) = manifest {
        let (name, culture) = (image.heaps.string(&identity.name).0, image.heaps.string(&identity.culture).0);
        let key = image.heaps.blob(public_key).0;
        let [major, minor, build, revision] = identity.version.map(u32::from);
        let cells = [*hash_algorithm, major, minor, build, revision, *flags, key, name, culture];
        image.tables.add(TableId::Assembly, &cells);
    }
    image.finish_for_loader()
}

/// An assembly with one module and no types. `is_runnable`: its types may be instantiated and its code run.
/// `is_collectible`: it is freed when it is no longer reachable.
///
/// # Errors
/// `BadImageFormat`: the names are too long.
pub fn create_assembly(
    identity: &AssemblyName,
    is_runnable: bool,
    is_collectible: bool,
) -> LoadResult<&'static Assembly> {
    const SHA1: u32 = 0x8004;
    create_assembly_of(&Manifest {
        identity: identity.clone(),
        module_name: &identity.name,
        hash_algorithm: SHA1,
        is_runnable,
        is_collectible,
        ..Manifest::default()
    })
}

/// An assembly with one module and no types.
///
/// # Errors
/// `BadImageFormat`: the names are too long.
pub fn create_assembly_of(manifest: &Manifest) -> LoadResult<&'static Assembly> {
    let owner = if manifest.is_collectible { crate::universe().create_owner() } else { None };
    let bytes = module_image(manifest.module_name, Some(manifest));
    let assembly = Assembly::from_dynamic(manifest, bytes, owner)?;
    crate::universe().binder().add_dynamic(assembly);
    Ok(assembly)
}

/// A module of an assembly made by `create_assembly`.
///
/// # Errors
/// `BadImageFormat`: the name is too long.
pub fn create_module(assembly: &'static Assembly, name: &str) -> LoadResult<&'static Image> {
    Image::in_dynamic_assembly(assembly, name, module_image(name, None))
}

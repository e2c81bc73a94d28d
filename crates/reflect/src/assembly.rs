//! System.Reflection.Assembly and RuntimeAssembly: identity, types, modules, entry point.

use crate::assembly_name::referenced_names;
use crate::handles::{Handle, require_assembly};
use crate::native_memory::pointer_array;
use crate::objects::{method_object, module_object, resource_module_object};
use saki_metadata::{Rid, TableId};
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{Array, CurrentThread, ExceptionType, InternalCall, Managed, Obj, Place, Str};
use saki_types::ty::type_flags;
use saki_types::{Assembly, GenericContext, Image, LibraryType, LoadError, LoadResult, Ty, universe};

/// Types of an image, or the errors of those that did not load.
pub type Found = Vec<LoadResult<Ty>>;

/// Whether `TypeAttributes` say "public" or "nested public".
fn is_public(flags: u32) -> bool {
    const PUBLIC: u32 = 1;
    const NESTED_PUBLIC: u32 = 2;
    matches!(flags & type_flags::VISIBILITY_MASK, PUBLIC | NESTED_PUBLIC)
}

/// Whether the type and all types around it are public.
fn is_visible_type(ty: Ty) -> LoadResult<bool> {
    let mut at = Some(ty);
    while let Some(ty) = at {
        if !is_public(ty.flags()) {
            return Ok(false);
        }
        at = ty.enclosing_type()?;
    }
    Ok(true)
}

/// Whether the type of a TypeDef row and all types around it are public.
fn is_visible(image: &'static Image, rid: Rid) -> LoadResult<bool> {
    let mut at = Some(rid);
    while let Some(rid) = at {
        if !is_public(image.meta.type_def(rid)?.flags) {
            return Ok(false);
        }
        at = image.meta.enclosing_class(rid);
    }
    Ok(true)
}

/// Appends the type definitions of an image, without `<Module>`. A type whose base type or interfaces do not load is an
/// error.
///
/// # Errors
/// `BadImageFormat`.
pub fn image_types(image: &'static Image, exported_only: bool, out: &mut Found) -> LoadResult<()> {
    if std::ptr::eq(image, image.assembly().image) && image.assembly().is_dynamic {
        return finished_types(image.assembly(), exported_only, out);
    }
    for rid in 2..=image.meta.row_count(TableId::TypeDef) {
        if exported_only && !is_visible(image, rid)? {
            continue;
        }
        out.push(image.type_def(rid).and_then(|ty| {
            ty.parent()?;
            ty.interface_list()?;
            Ok(ty)
        }));
    }
    Ok(())
}

/// Appends the finished types of an assembly that is made at run time, in the order of their definition.
fn finished_types(assembly: &Assembly, exported_only: bool, out: &mut Found) -> LoadResult<()> {
    const GLOBAL_TYPE_ROW: Rid = 1;
    let row = |ty: &Ty| ty.image().emitted_type().map_or(0, |emitted| emitted.row);
    let mut types = assembly.emitted_types();
    let mut next = 0;
    while let Some(ty) = types.get(next) {
        types.extend(ty.nested_types()?);
        next += 1;
    }
    types.sort_by_key(row);
    for ty in types {
        if row(&ty) != GLOBAL_TYPE_ROW && (!exported_only || is_visible_type(ty)?) {
            out.push(Ok(ty));
        }
    }
    Ok(())
}

/// All images of an assembly with metadata, the manifest's first.
pub fn images(assembly: &'static Assembly) -> Vec<&'static Image> {
    let mut out = vec![assembly.image];
    out.extend(assembly.module_images.read().iter().copied());
    out
}

/// A RuntimeType[] of these types. `message`: the exception's, if it is not the class's own.
///
/// # Errors
/// ReflectionTypeLoadException when one could not be loaded.
pub fn types_or_throw<'t>(t: CurrentThread<'t>, found: &Found, message: Option<&str>) -> Managed<Array<'t>> {
    let array = Array::new(t, universe().runtime_type(), found.len())?;
    let mut failures: Option<Array> = None;
    let mut count = 0;
    for (index, ty) in found.iter().enumerate() {
        let exception = match ty {
            Ok(ty) => match Obj::of_type(t, ty) {
                Ok(item) => {
                    array.set(t, index, Some(item));
                    continue;
                }
                Err(_) => t.take_exception(),
            },
            Err(error) => Obj::load_exception(t, error)?,
        };
        let all = match failures {
            Some(all) => all,
            None => Array::new(t, universe().exception(), found.len())?,
        };
        all.set(t, count, Some(exception));
        failures = Some(all);
        count += 1;
    }
    let Some(failures) = failures else { return Ok(array) };
    let errors = Array::new(t, universe().exception(), count)?;
    for index in 0..count {
        errors.set(t, index, failures.get(index));
    }
    let class = ExceptionType::ReflectionTypeLoad.ty();
    let exception = Obj::new(t, class)?;
    let mut words = vec![Slot::from_ref(exception), Slot::from_ref(array), Slot::from_ref(errors)];
    if let Some(message) = message {
        words.push(Slot::from_ref(Str::new(t, message)?));
    }
    if let Some(ctor) = class.find_method(".ctor", words.len() - 1).to_managed(t)? {
        invoke::invoke(t, ctor, &words)?;
    }
    Err(t.throw(exception))
}

/// `GetTypes(bool exportedOnly)`
fn get_types<'t>(t: CurrentThread<'t>, this: Option<Obj>, exported_only: bool) -> Managed<Array<'t>> {
    let assembly = require_assembly(t, this)?;
    assembly.image.load_modules().to_managed(t)?;
    let mut found = Vec::new();
    for image in images(assembly) {
        image_types(image, exported_only, &mut found).to_managed(t)?;
    }
    types_or_throw(t, &found, None)
}

/// `RuntimeModule.InternalGetTypes(image)`
fn module_get_types<'t>(t: CurrentThread<'t>, image: Handle<Image>) -> Managed<Array<'t>> {
    let mut found = Vec::new();
    if let Some(image) = image.get() {
        image_types(image, false, &mut found).to_managed(t)?;
    }
    types_or_throw(t, &found, None)
}

fn get_full_name<'t>(t: CurrentThread<'t>, assembly: Option<Obj>) -> Managed<Str<'t>> {
    Str::new(t, &require_assembly(t, assembly)?.display_name())
}

fn get_location<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Str<'t>> {
    Str::new(t, &require_assembly(t, this)?.path.display().to_string())
}

/// Escapes a path for a URI, leaving unreserved characters and separators.
fn escape_path(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()/:@&=+$,".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// `get_code_base(Assembly, bool escaped)`
fn get_code_base<'t>(t: CurrentThread<'t>, assembly: Option<Obj>, escaped: bool) -> Managed<Str<'t>> {
    let path = require_assembly(t, assembly)?.path.display().to_string();
    // Assemblies from memory count as lying in the root folder.
    let path = if path.is_empty() { "/".to_string() } else { path };
    let path = if escaped { escape_path(&path) } else { path };
    Str::new(t, &format!("file://{path}"))
}

fn is_in_gac(t: CurrentThread, this: Option<Obj>) -> Managed<bool> {
    let gac = universe().binder().paths().framework_root.join("gac");
    Ok(require_assembly(t, this)?.path.starts_with(gac))
}

fn is_reflection_only(t: CurrentThread, this: Option<Obj>) -> Managed<bool> {
    Ok(require_assembly(t, this)?.reflection_only)
}

fn get_image_runtime_version<'t>(t: CurrentThread<'t>, assembly: Option<Obj>) -> Managed<Str<'t>> {
    Str::new(t, require_assembly(t, assembly)?.image.meta.metadata_version())
}

fn get_entry_point<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    let image = require_assembly(t, this)?.image;
    let token = image.meta.entry_point_token();
    if token.is_nil() {
        return Ok(None);
    }
    let method = image.resolve_method(token, &GenericContext::NONE).to_managed(t)?;
    method_object(t, method, method.owner).map(Some)
}

fn get_manifest_module<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Obj<'t>> {
    module_object(t, require_assembly(t, this)?.image)
}

/// The manifest module, those that it names or that were loaded into the assembly, and the files without metadata.
fn get_modules<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Array<'t>> {
    const CONTAINS_NO_METADATA: u32 = 1;
    let assembly = require_assembly(t, this)?;
    assembly.image.load_modules().to_managed(t)?;
    let images = images(assembly);
    let meta = &assembly.image.meta;
    let mut resources = Vec::new();
    for rid in 1..=meta.row_count(TableId::File) {
        if meta.file(rid).map_err(LoadError::from).to_managed(t)?.flags & CONTAINS_NO_METADATA != 0 {
            resources.push(rid);
        }
    }
    let array =
        Array::new(t, universe().library_type(LibraryType::Module).to_managed(t)?, images.len() + resources.len())?;
    for (index, image) in images.iter().enumerate() {
        let item = module_object(t, image)?;
        array.set(t, index, Some(item));
    }
    for (index, &rid) in resources.iter().enumerate() {
        let item = resource_module_object(t, assembly, rid)?;
        array.set(t, images.len() + index, Some(item));
    }
    Ok(array)
}

fn get_referenced_assemblies(t: CurrentThread, assembly: Option<Obj>) -> Managed<usize> {
    let names = referenced_names(require_assembly(t, assembly)?.image.meta).to_managed(t)?;
    Ok(pointer_array(&names) as usize)
}

/// There is no ahead-of-time compiled code.
fn get_aot_id(_t: CurrentThread, _id: Option<Array>) -> bool {
    false
}

/// There are no permission requests: the out parameters stay as they are.
fn load_permissions(
    _t: CurrentThread,
    _assembly: Option<Obj>,
    _minimum: Place<usize>,
    _minimum_length: Place<i32>,
    _optional: Place<usize>,
    _optional_length: Place<i32>,
    _refused: Place<usize>,
    _refused_length: Place<i32>,
) -> bool {
    false
}

/// The internal calls of `System.Reflection.Assembly`, `System.Reflection.RuntimeAssembly` and
/// `System.Reflection.RuntimeModule`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.Assembly::GetTypes", &get_types),
    InternalCall::new("System.Reflection.Assembly::InternalGetReferencedAssemblies", &get_referenced_assemblies),
    InternalCall::new("System.Reflection.RuntimeAssembly::get_fullname", &get_full_name),
    InternalCall::new("System.Reflection.RuntimeAssembly::get_location", &get_location),
    InternalCall::new("System.Reflection.RuntimeAssembly::get_code_base", &get_code_base),
    InternalCall::new("System.Reflection.RuntimeAssembly::get_global_assembly_cache", &is_in_gac),
    InternalCall::new("System.Reflection.RuntimeAssembly::get_ReflectionOnly", &is_reflection_only),
    InternalCall::new("System.Reflection.RuntimeAssembly::InternalImageRuntimeVersion", &get_image_runtime_version),
    InternalCall::new("System.Reflection.RuntimeAssembly::get_EntryPoint", &get_entry_point),
    InternalCall::new("System.Reflection.RuntimeAssembly::GetManifestModuleInternal", &get_manifest_module),
    InternalCall::new("System.Reflection.RuntimeAssembly::GetModulesInternal", &get_modules),
    InternalCall::new("System.Reflection.RuntimeAssembly::GetAotIdInternal", &get_aot_id),
    InternalCall::new("System.Reflection.RuntimeAssembly::LoadPermissions", &load_permissions),
    InternalCall::new("System.Reflection.RuntimeModule::InternalGetTypes", &module_get_types),
];

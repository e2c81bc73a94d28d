//! System.Reflection.Assembly, RuntimeAssembly and AssemblyName: identity, types, resources, loading by name.

use crate::arguments::{AssemblyArgument, ObjectPlace, StackMark, StringPlace};
use crate::class_fields::{WordResult, class_of_library, method_stub, return_method};
use crate::text::text_at;
use saki_metadata::{ManifestResourceRow, TableId, Token};
use saki_reflect::assembly::{Found, image_types, images, types_or_throw};
use saki_reflect::callers::executing_and_calling;
use saki_reflect::handles::assembly_of;
use saki_reflect::method_info::definition_of;
use saki_reflect::objects::{assembly_object, module_object};
use saki_reflect::type_lookup::same_ignoring_case;
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::object::exceptions;
use saki_runtime::{Array, CurrentThread, ExceptionType, InternalCall, Managed, Obj, Str, ToManaged};
use saki_types::{Assembly, ElementType, GenericContext, Image, LoadError, LoadResult, Ty, TypeKind, collectible};
use std::ffi::{CStr, c_char};

/// `NativeAssemblyNameParts`.
#[repr(C)]
pub(crate) struct NameParts {
    /// UTF-16 with a NUL, as the culture's name.
    pub(crate) name: *const u16,
    /// `u16::MAX` = not given.
    pub(crate) version: [u16; 4],
    pub(crate) culture: *const u16,
    pub(crate) key_or_token: *const u8,
    pub(crate) key_bytes: i32,
    /// `AssemblyNameFlags`.
    pub(crate) flags: i32,
}

const PUBLIC_KEY: i32 = 1;

/// The message of .NET's ReflectionTypeLoadException.
pub(crate) const NOT_ALL_TYPES: &str = "Unable to load one or more of the requested types.";

/// Whether methods can be replaced while the program runs ("hot reload").
fn is_update_supported(_t: CurrentThread) -> i32 {
    0
}

/// Of an instantiation the open method.
fn get_current_method(t: CurrentThread, result: WordResult, _mark: StackMark) -> Managed<()> {
    let method = match executing_and_calling(t).0 {
        Some(method) => Some(definition_of(t, method)?),
        None => None,
    };
    return_method(result, method);
    Ok(())
}

fn set_text(t: CurrentThread, place: StringPlace, text: &str) -> Managed<()> {
    place.set(t, Some(Str::new(t, text)?));
    Ok(())
}

fn get_full_name(t: CurrentThread, assembly: AssemblyArgument, result: StringPlace) -> Managed<()> {
    set_text(t, result, &assembly.assembly().display_name())
}

fn get_simple_name(t: CurrentThread, assembly: AssemblyArgument, result: StringPlace) -> Managed<()> {
    set_text(t, result, assembly.assembly().name)
}

fn get_culture(t: CurrentThread, assembly: AssemblyArgument, result: StringPlace) -> Managed<()> {
    set_text(t, result, assembly.assembly().culture)
}

fn get_location(t: CurrentThread, assembly: AssemblyArgument, result: StringPlace) -> Managed<()> {
    set_text(t, result, &assembly.assembly().path.display().to_string())
}

fn get_image_version(t: CurrentThread, assembly: AssemblyArgument, result: StringPlace) -> Managed<()> {
    let assembly = assembly.assembly();
    // An assembly that is made at run time has no file that says so.
    set_text(t, result, if assembly.is_dynamic { "" } else { assembly.image.meta.metadata_version() })
}

fn get_code_base(t: CurrentThread, assembly: AssemblyArgument, result: StringPlace) -> Managed<i32> {
    let path = assembly.assembly().path.display().to_string();
    if path.is_empty() {
        return Ok(0);
    }
    set_text(t, result, &format!("file://{path}"))?;
    Ok(1)
}

fn get_version(
    _t: CurrentThread,
    assembly: AssemblyArgument,
    major: *mut i32,
    minor: *mut i32,
    build: *mut i32,
    revision: *mut i32,
) {
    for (place, number) in [major, minor, build, revision].into_iter().zip(assembly.assembly().version) {
        // SAFETY: managed code passes the addresses of locals, which live as long as the call.
        unsafe { place.write(i32::from(number)) };
    }
}

fn get_hash_algorithm(_t: CurrentThread, assembly: AssemblyArgument) -> i32 {
    assembly.assembly().image.meta.assembly().map_or(0, |row| row.hash_alg_id as i32)
}

fn get_flags(_t: CurrentThread, assembly: AssemblyArgument) -> i32 {
    let meta = assembly.assembly().image.meta;
    meta.assembly().map_or(0, |row| {
        let has_key = meta.blob(row.public_key).is_ok_and(|key| !key.is_empty());
        row.flags as i32 | if has_key { PUBLIC_KEY } else { 0 }
    })
}

fn get_public_key(t: CurrentThread, assembly: AssemblyArgument, result: ObjectPlace) -> Managed<()> {
    let meta = assembly.assembly().image.meta;
    let key = meta.assembly().map_or(Ok(&[][..]), |row| meta.blob(row.public_key));
    result.set(t, Array::of_bytes(t, key.map_err(LoadError::from).to_managed(t)?)?);
    Ok(())
}

fn is_collectible(_t: CurrentThread, assembly: AssemblyArgument) -> i32 {
    i32::from(collectible::owner_of(assembly.assembly()).is_some())
}

fn is_dynamic(_t: CurrentThread, assembly: Option<Obj>) -> bool {
    assembly.and_then(assembly_of).is_some_and(|assembly| assembly.is_dynamic)
}

fn is_dynamic_record(_t: CurrentThread, assembly: isize) -> bool {
    // SAFETY: managed code passes `RuntimeAssembly.m_assembly`, the address of an assembly's record.
    unsafe { (assembly.cast_unsigned() as *const Assembly).as_ref() }.is_some_and(|assembly| assembly.is_dynamic)
}

fn manifest_module_place(t: CurrentThread, assembly: ObjectPlace, result: ObjectPlace) -> Managed<()> {
    if let Some(module) = get_manifest_module(t, assembly.get())? {
        result.set(t, module);
    }
    Ok(())
}

fn get_manifest_module<'t>(t: CurrentThread<'t>, assembly: Option<Obj>) -> Managed<Option<Obj<'t>>> {
    assembly.and_then(assembly_of).map(|assembly| module_object(t, assembly.image)).transpose()
}

fn get_token(_t: CurrentThread, _assembly: Option<Obj>) -> i32 {
    Token::new(TableId::Assembly, 1).0 as i32
}

fn get_entry_point(t: CurrentThread, assembly: AssemblyArgument, result: ObjectPlace) -> Managed<()> {
    let image = assembly.assembly().image;
    let token = image.meta.entry_point_token();
    if !token.is_nil() {
        let method = image.resolve_method(token, &GenericContext::NONE).to_managed(t)?;
        result.set(t, method_stub(t, method)?);
    }
    Ok(())
}

/// Whether a type may be forwarded, or is public with all types around it.
fn get_exported_types(t: CurrentThread, assembly: AssemblyArgument, result: ObjectPlace) -> Managed<()> {
    let assembly = assembly.assembly();
    let mut found = Found::new();
    for image in images(assembly) {
        image_types(image, true, &mut found).to_managed(t)?;
    }
    result.set(t, types_or_throw(t, &found, Some(NOT_ALL_TYPES))?);
    Ok(())
}

fn get_resource_names(t: CurrentThread, assembly: AssemblyArgument, result: ObjectPlace) -> Managed<()> {
    result.set(t, saki_reflect::resources::names_of(t, assembly.assembly())?);
    Ok(())
}

/// The embedded resource of this name: its address, and its length through the caller's variable; null if there is
/// none.
fn get_resource(
    t: CurrentThread,
    assembly: AssemblyArgument,
    name: *const u16,
    length: *mut u32,
) -> Managed<*const u8> {
    let name = text_at(name);
    let found = assembly.assembly().image.meta.embedded_resource_by_name(&name);
    let Some(bytes) = found.map_err(LoadError::from).to_managed(t)? else { return Ok(std::ptr::null()) };
    // SAFETY: managed code passes the addresses of locals, which live as long as the call.
    unsafe { length.write(bytes.len() as u32) };
    Ok(bytes.as_ptr())
}

/// `ResourceLocation`; -1 = there is none.
fn get_resource_info(
    t: CurrentThread,
    assembly: AssemblyArgument,
    name: *const u16,
    other: ObjectPlace,
    file: StringPlace,
) -> Managed<i32> {
    const EMBEDDED: i32 = 1;
    const IN_ANOTHER_ASSEMBLY: i32 = 2;
    const IN_MANIFEST_FILE: i32 = 4;
    let name = text_at(name);
    let image = assembly.assembly().image;
    let meta = image.meta;
    let find = || -> LoadResult<Option<ManifestResourceRow>> {
        let Some(rid) = meta.find_manifest_resource(&name)? else { return Ok(None) };
        Ok(Some(meta.manifest_resource(rid)?))
    };
    let Some(row) = find().to_managed(t)? else { return Ok(-1) };
    let implementation = row.implementation;
    if implementation.is_nil() {
        return Ok(EMBEDDED | IN_MANIFEST_FILE);
    }
    match implementation.table() {
        TableId::AssemblyRef => {
            let found = image.assembly_ref(implementation.rid()).to_managed(t)?;
            other.set(t, assembly_object(t, found)?);
            Ok(IN_ANOTHER_ASSEMBLY)
        }
        _ => {
            let row = meta.file(implementation.rid()).and_then(|row| meta.string(row.name));
            set_text(t, file, row.map_err(LoadError::from).to_managed(t)?)?;
            Ok(0)
        }
    }
}

/// A reference to an assembly, as in a row of AssemblyRef.
struct Reference {
    name: &'static str,
    culture: &'static str,
    version: [u16; 4],
    key_or_token: &'static [u8],
    flags: u32,
}

/// The references of a module. A module that is made at run time has no rows.
fn references(image: &'static Image) -> LoadResult<Vec<Reference>> {
    if let Some(named) = crate::emit::references_of(image) {
        let reference = |assembly: &'static Assembly| Reference {
            name: assembly.name,
            culture: assembly.culture,
            version: assembly.version,
            key_or_token: &assembly.public_key_token,
            flags: 0,
        };
        return Ok(named.into_iter().map(reference).collect());
    }
    let meta = image.meta;
    let reference = |rid| {
        let row = meta.assembly_ref(rid)?;
        Ok(Reference {
            name: meta.string(row.name)?,
            culture: meta.string(row.culture)?,
            version: [row.major_version, row.minor_version, row.build_number, row.revision_number],
            key_or_token: meta.blob(row.public_key_or_token)?,
            flags: row.flags,
        })
    };
    (1..=meta.row_count(TableId::AssemblyRef)).map(reference).collect()
}

/// AssemblyName[] of the AssemblyRef rows.
fn get_references(t: CurrentThread, assembly: AssemblyArgument, result: ObjectPlace) -> Managed<()> {
    let image = assembly.assembly().image;
    let class = class_of_library("System.Reflection", "AssemblyName");
    let is_native = |sig: &saki_types::MethodSig| matches!(sig.params[..], [parameter] if matches!(parameter.kind, TypeKind::Ptr(element) if element.element_type == ElementType::ValueType));
    let constructors = class.methods_named(".ctor").to_managed(t)?;
    let constructor = constructors.into_iter().find(|method| method.sig().is_ok_and(is_native));
    let Some(constructor) = constructor else {
        return Err(exceptions::throw_default(t, ExceptionType::MissingMethod));
    };
    let references = references(image).to_managed(t)?;
    let array = Array::new(t, class, references.len())?;
    for (index, Reference { name, culture, version, key_or_token: key, flags }) in references.into_iter().enumerate() {
        let text = |text: &str| text.encode_utf16().chain([0]).collect::<Vec<u16>>();
        let (name, culture) = (text(name), text(culture));
        let parts = NameParts {
            name: name.as_ptr(),
            version,
            culture: culture.as_ptr(),
            key_or_token: key.as_ptr(),
            key_bytes: key.len() as i32,
            flags: flags as i32,
        };
        let made = Obj::new(t, class)?;
        invoke::invoke(t, constructor, &[Slot::from_ref(made), Slot::from_ptr(&raw const parts)])?;
        array.set(t, index, Some(made));
    }
    result.set(t, array);
    Ok(())
}

/// The type that an ExportedType row forwards to; null for rows of other kinds.
fn get_forwarded(t: CurrentThread, assembly: AssemblyArgument, token: *const u32, result: ObjectPlace) -> Managed<()> {
    let image = assembly.assembly().image;
    // SAFETY: a struct of one number, which passes by its address.
    let token = Token(unsafe { token.read() });
    let names = || -> LoadResult<Option<Ty>> {
        let row = image.meta.exported_type(token.rid())?;
        if row.implementation.table() != TableId::AssemblyRef {
            return Ok(None);
        }
        image.find_type(image.meta.string(row.namespace)?, image.meta.string(row.name)?)
    };
    if let Some(ty) = names().to_managed(t)? {
        result.set(t, Obj::of_type(t, ty)?);
    }
    Ok(())
}

fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or(("", name))
}

fn find_nested(outer: Ty, name: &str, ignore_case: bool) -> LoadResult<Option<Ty>> {
    let (namespace, simple) = split(name);
    for (namespace, simple) in [("", name), (namespace, simple)] {
        if let Some(found) = outer.find_nested(namespace, simple)? {
            return Ok(Some(found));
        }
    }
    let is_wanted = |ty: &Ty| ignore_case && ty.def().is_some_and(|def| same_ignoring_case(def.name, name));
    Ok(outer.nested_types()?.into_iter().find(is_wanted))
}

fn find_ignoring_case(image: &'static Image, name: &str) -> LoadResult<Option<Ty>> {
    let meta = image.meta;
    if image.assembly().is_dynamic {
        let is_wanted = |ty: &Ty| {
            let own = ty.def().map(|def| saki_types::assembly::qualified(def.namespace, def.name));
            own.is_some_and(|own| same_ignoring_case(&own, name))
        };
        return Ok(image.assembly().emitted_types().into_iter().find(is_wanted));
    }
    for rid in 1..=meta.row_count(TableId::TypeDef) {
        let row = meta.type_def(rid)?;
        let own = saki_types::assembly::qualified(meta.string(row.namespace)?, meta.string(row.name)?);
        if meta.enclosing_class(rid).is_none() && same_ignoring_case(&own, name) {
            return image.type_def(rid).map(Some);
        }
    }
    for rid in 1..=meta.row_count(TableId::ExportedType) {
        let row = meta.exported_type(rid)?;
        let (namespace, own) = (meta.string(row.namespace)?, meta.string(row.name)?);
        if same_ignoring_case(&saki_types::assembly::qualified(namespace, own), name) {
            return image.find_type(namespace, own);
        }
    }
    Ok(None)
}

fn find_type(image: &'static Image, name: &str, nested: &[String], ignore_case: bool) -> LoadResult<Option<Ty>> {
    let (namespace, simple) = split(name);
    let mut found = image.find_type(namespace, simple)?;
    if found.is_none() && ignore_case {
        found = find_ignoring_case(image, name)?;
    }
    for name in nested {
        let Some(outer) = found else { break };
        found = find_nested(outer, name, ignore_case)?;
    }
    Ok(found)
}

/// Sets the type of this name, if the assembly has it.
fn set_type(
    t: CurrentThread,
    assembly: &'static Assembly,
    name: &str,
    nested: &[String],
    ignore_case: bool,
    result: ObjectPlace,
) -> Managed<()> {
    for image in images(assembly) {
        if let Some(ty) = find_type(image, name, nested, ignore_case).to_managed(t)? {
            result.set(t, Obj::of_type(t, ty)?);
            break;
        }
    }
    Ok(())
}

fn get_type(
    t: CurrentThread,
    assembly: AssemblyArgument,
    name: *const u8,
    nested: *const usize,
    nested_count: i32,
    result: ObjectPlace,
) -> Managed<()> {
    // SAFETY: managed code passes a text with a NUL.
    let text = |at: *const u8| unsafe { CStr::from_ptr(at.cast::<c_char>()) }.to_string_lossy().into_owned();
    // SAFETY: managed code passes so many addresses of texts.
    let nested = (0..usize::try_from(nested_count).unwrap_or(0))
        .map(|index| text(unsafe { nested.add(index).read() } as *const u8));
    set_type(t, assembly.assembly(), &text(name), &nested.collect::<Vec<_>>(), false, result)
}

fn get_type_ignoring_case(
    t: CurrentThread,
    assembly: AssemblyArgument,
    name: *const u16,
    nested: *const usize,
    nested_count: i32,
    result: ObjectPlace,
) -> Managed<()> {
    let text = |at: *const u16| text_at(at);
    // SAFETY: managed code passes so many addresses of texts.
    let nested = (0..usize::try_from(nested_count).unwrap_or(0))
        .map(|index| text(unsafe { nested.add(index).read() } as *const u16));
    set_type(t, assembly.assembly(), &text(name), &nested.collect::<Vec<_>>(), true, result)
}

fn get_module(t: CurrentThread, assembly: AssemblyArgument, name: *const u16, result: ObjectPlace) -> Managed<()> {
    if name.is_null() {
        return Ok(());
    }
    let name = text_at(name);
    for image in images(assembly.assembly()) {
        let own = image.meta.module().and_then(|row| image.meta.string(row.name));
        if own.map_err(LoadError::from).to_managed(t)?.eq_ignore_ascii_case(&name) {
            result.set(t, module_object(t, image)?);
            break;
        }
    }
    Ok(())
}

fn get_modules(
    t: CurrentThread,
    assembly: AssemblyArgument,
    _load: i32,
    _with_resources: i32,
    result: ObjectPlace,
) -> Managed<()> {
    let found = images(assembly.assembly());
    let array = Array::new(t, class_of_library("System.Reflection", "RuntimeModule"), found.len())?;
    for (index, image) in found.iter().enumerate() {
        array.set(t, index, Some(module_object(t, image)?));
    }
    result.set(t, array);
    Ok(())
}

fn raw_metadata(_t: CurrentThread, assembly: AssemblyArgument, blob: *mut usize, length: *mut i32) -> i32 {
    let meta = assembly.assembly().image.meta;
    let bytes = meta.bytes().get(meta.metadata_offset()..).unwrap_or_default();
    // SAFETY: managed code passes the addresses of locals, which live as long as the call.
    unsafe {
        blob.write(bytes.as_ptr().addr());
        length.write(bytes.len() as i32);
    }
    1
}

/// Whether two names of metadata are the same but for case.
fn equals_ignoring_case(_t: CurrentThread, left: *const (), right: *const (), length: i32) -> i32 {
    let count = usize::try_from(length).unwrap_or(0);
    // SAFETY: managed code passes two texts of this length.
    let text = |at: *const ()| String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(at.cast::<u8>(), count) });
    i32::from(same_ignoring_case(&text(left), &text(right)))
}

/// The internal calls of `System.Reflection.Assembly`, `RuntimeAssembly` and `AssemblyName`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::AssemblyNative_IsApplyUpdateSupported", &is_update_supported),
    InternalCall::new("@net QCall::MethodBase_GetCurrentMethod", &get_current_method),
    InternalCall::new("@net QCall::AssemblyNative_GetFullName", &get_full_name),
    InternalCall::new("@net QCall::AssemblyNative_GetSimpleName", &get_simple_name),
    InternalCall::new("@net QCall::AssemblyNative_GetLocale", &get_culture),
    InternalCall::new("@net QCall::AssemblyNative_GetLocation", &get_location),
    InternalCall::new("@net QCall::AssemblyNative_GetImageRuntimeVersion", &get_image_version),
    InternalCall::new("@net QCall::AssemblyNative_GetCodeBase", &get_code_base),
    InternalCall::new("@net QCall::AssemblyNative_GetVersion", &get_version),
    InternalCall::new("@net QCall::AssemblyNative_GetHashAlgorithm", &get_hash_algorithm),
    InternalCall::new("@net QCall::AssemblyNative_GetFlags", &get_flags),
    InternalCall::new("@net QCall::AssemblyNative_GetPublicKey", &get_public_key),
    InternalCall::new("@net QCall::AssemblyNative_GetIsCollectible", &is_collectible),
    InternalCall::new("@net9 System.Reflection.RuntimeAssembly::FCallIsDynamic", &is_dynamic),
    InternalCall::new("@net System.Reflection.RuntimeAssembly::GetManifestModule", &get_manifest_module),
    InternalCall::new("@net9 System.Reflection.RuntimeAssembly::GetToken", &get_token),
    InternalCall::new("@net10 System.Reflection.RuntimeAssembly::GetTokenInternal", &get_token),
    InternalCall::new("@net10 System.Reflection.RuntimeAssembly::GetIsDynamic", &is_dynamic_record),
    InternalCall::new("@net10 QCall::AssemblyHandle_GetManifestModuleSlow", &manifest_module_place),
    InternalCall::new("@net QCall::AssemblyNative_GetEntryPoint", &get_entry_point),
    InternalCall::new("@net QCall::AssemblyNative_GetExportedTypes", &get_exported_types),
    InternalCall::new("@net QCall::AssemblyNative_GetManifestResourceNames", &get_resource_names),
    InternalCall::new("@net QCall::AssemblyNative_GetResource", &get_resource),
    InternalCall::new("@net QCall::AssemblyNative_GetManifestResourceInfo", &get_resource_info),
    InternalCall::new("@net QCall::AssemblyNative_GetReferencedAssemblies", &get_references),
    InternalCall::new("@net QCall::AssemblyNative_GetForwardedType", &get_forwarded),
    InternalCall::new("@net QCall::AssemblyNative_GetTypeCore", &get_type),
    InternalCall::new("@net QCall::AssemblyNative_GetTypeCoreIgnoreCase", &get_type_ignoring_case),
    InternalCall::new("@net QCall::AssemblyNative_GetModule", &get_module),
    InternalCall::new("@net QCall::AssemblyNative_GetModules", &get_modules),
    InternalCall::new("@net QCall::AssemblyNative_InternalTryGetRawMetadata", &raw_metadata),
    InternalCall::new("@net QCall::MdUtf8String_EqualsCaseInsensitive", &equals_ignoring_case),
];

//! `ModuleBuilder.build_metadata` and `WriteToFile`: all types of a module as one file.
//!
//! Rows follow the builders' order: types by the row that their builder shows, constructors before methods.
//! Left out: modules that were added from files.

use super::blocks::{Element, structs};
use super::builders::{self as b, bytes, elements, emitted_type, is_method_builder, length, method_fields, text};
use super::emitted_module::{EmittedModule, require_module};
use super::encoder::{Encoder, ModuleRows, Scope, TypeRows};
use saki_metadata::writer::{ImageSpec, NativeResource};
use saki_metadata::{TableId, Token, sha1};
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj};
use saki_types::LibraryType;
use saki_types::emitted::EmittedType;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

static TYPES: ManagedField = ManagedField::new(LibraryType::ModuleBuilder, "types");
static TYPE_COUNT: ManagedField = ManagedField::new(LibraryType::ModuleBuilder, "num_types");
static GLOBAL_TYPE: ManagedField = ManagedField::new(LibraryType::ModuleBuilder, "global_type");
static GUID: ManagedField = ManagedField::new(LibraryType::ModuleBuilder, "guid");
static IS_MAIN: ManagedField = ManagedField::new(LibraryType::ModuleBuilder, "is_main");
static MODULE_RESOURCES: ManagedField = ManagedField::new(LibraryType::ModuleBuilder, "resources");
static SUBTYPES: ManagedField = ManagedField::new(LibraryType::TypeBuilder, "subtypes");

/// PEFileKinds.
mod file_kind {
    /// A library.
    pub const LIBRARY: i32 = 1;
    /// A program without a console.
    pub const WINDOWS: i32 = 3;
}

/// The types of a module in the order of the rows that their builders show, the global one first.
fn types_of(t: CurrentThread, module: Obj) -> Managed<Vec<&'static EmittedType>> {
    fn add(t: CurrentThread, builder: Obj, out: &mut Vec<&'static EmittedType>) -> Managed<()> {
        out.push(emitted_type(t, builder)?);
        elements(SUBTYPES.array(builder)).try_for_each(|nested| add(t, nested, out))
    }
    let mut out = Vec::new();
    if let Some(global) = GLOBAL_TYPE.obj(module) {
        add(t, global, &mut out)?;
    }
    let count = TYPE_COUNT.get::<i32>(module).max(0) as usize;
    for builder in elements(TYPES.array(module)).take(count) {
        add(t, builder, &mut out)?;
    }
    out.sort_by_key(|emitted| emitted.row);
    Ok(out)
}

/// Gives types and members their rows.
fn assign_rows(types: &[&'static EmittedType], encoder: &mut Encoder) {
    let mut rows = ModuleRows::default();
    let (mut method, mut field) = (1, 1);
    for (index, emitted) in types.iter().enumerate() {
        let builder = b::own_builder(encoder.t, emitted);
        let at = TypeRows { row: index as u32 + 1, first_method: method, first_field: field };
        rows.types.insert(*emitted as *const EmittedType as usize, at);
        for object in b::methods_of(builder) {
            if let Some(fields) = method_fields(object) {
                encoder.method_rows.insert(fields.row.get::<i32>(object) as u32, method);
                method += 1;
            }
        }
        field += b::fields_of(builder).count() as u32;
    }
    encoder.scope = Scope::Module(rows);
}

/// The resources inside the file: for each, its length and its bytes.
#[derive(Default)]
struct Resources {
    content: Vec<u8>,
}

impl Resources {
    /// Adds the rows and bytes of a MonoResource[], which may be null.
    fn add(&mut self, encoder: &mut Encoder, list: Option<Array>) -> Managed<()> {
        static DATA: ManagedField = ManagedField::new(LibraryType::MonoResource, "data");
        static NAME: ManagedField = ManagedField::new(LibraryType::MonoResource, "name");
        static FILE: ManagedField = ManagedField::new(LibraryType::MonoResource, "filename");
        static FLAGS: ManagedField = ManagedField::new(LibraryType::MonoResource, "attrs");
        const ALIGNMENT: usize = 8;
        const NO_METADATA: u32 = 1;
        for resource in structs(list) {
            let string = |field| resource.obj(field).and_then(Obj::as_str);
            let data = resource.obj(&DATA).and_then(Obj::as_array);
            let (name, file, flags) = (string(&NAME), string(&FILE), resource.get::<i32>(&FLAGS));
            let name = encoder.string(&text(name));
            let (offset, implementation) = if let (None, Some(file)) = (data, file) {
                let path = file.to_rust();
                let hash = std::fs::read(&path).map(|content| sha1(&content).to_vec()).unwrap_or_default();
                let hash = encoder.blob(&hash);
                let file_name = path.rsplit('/').next().unwrap_or_default().to_string();
                let file_name = encoder.string(&file_name);
                let row = encoder.image.tables.add(TableId::File, &[NO_METADATA, file_name, hash]);
                (0, Token::new(TableId::File, row))
            } else {
                let data = bytes(data);
                self.content.resize(self.content.len().next_multiple_of(ALIGNMENT), 0);
                let offset = self.content.len() as u32;
                self.content.extend((data.len() as u32).to_le_bytes());
                self.content.extend(data);
                (offset, Token::NIL)
            };
            let cells = [offset, flags as u32, name, implementation.0];
            encoder.image.tables.add(TableId::ManifestResource, &cells);
        }
        Ok(())
    }
}

/// The manifest: assembly, its other modules, forwarded types.
fn add_manifest(encoder: &mut Encoder, assembly: Obj, main: Obj) -> Managed<()> {
    static NAME: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "name");
    static VERSION: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "version");
    static CULTURE: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "culture");
    static KEY: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "public_key");
    static HASH: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "algid");
    static FLAGS: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "flags");
    static MODULES: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "modules");
    static FORWARDERS: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "type_forwarders");
    static MINIMUM: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "permissions_minimum");
    static OPTIONAL: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "permissions_optional");
    static REFUSED: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "permissions_refused");
    const SHA1: u32 = 0x8004;
    const FORWARDER: u32 = 0x0020_0000;
    let mut version = [0u32; 4];
    for (slot, part) in version.iter_mut().zip(text(VERSION.str(assembly)).split('.')) {
        *slot = part.parse().unwrap_or(0);
    }
    let [major, minor, build, revision] = version;
    let hash = match HASH.get::<u32>(assembly) {
        0 => SHA1,
        given => given,
    };
    let key = encoder.blob(&bytes(KEY.array(assembly)));
    let name = encoder.string(&text(NAME.str(assembly)));
    let culture = encoder.string(&text(CULTURE.str(assembly)));
    let cells = [hash, major, minor, build, revision, FLAGS.get::<u32>(assembly), key, name, culture];
    let token = Token::new(TableId::Assembly, encoder.image.tables.add(TableId::Assembly, &cells));
    encoder.add_attributes(token, b::ASSEMBLY_ATTRIBUTES.array(assembly))?;
    for list in [&MINIMUM, &OPTIONAL, &REFUSED] {
        encoder.add_permissions(token, list.array(assembly))?;
    }
    for module in elements(MODULES.array(assembly)).filter(|&module| module != main) {
        add_module(encoder, module)?;
    }
    for forwarded in elements(FORWARDERS.array(assembly)) {
        let Some(ty) = forwarded.as_type() else { continue };
        let Some(def) = ty.def() else { continue };
        let (name, namespace) = (encoder.string(def.name), encoder.string(def.namespace));
        let target = encoder.assembly_ref(def.image.assembly());
        encoder.image.tables.add(TableId::ExportedType, &[FORWARDER, 0, name, namespace, target.0]);
    }
    Ok(())
}

/// Another module of the assembly, saved before: its file and its public types.
fn add_module(encoder: &mut Encoder, module: Obj) -> Managed<()> {
    const PUBLIC: u32 = 1;
    const VISIBILITY: u32 = 7;
    let native = require_module(encoder.t, Some(module))?;
    let Some(hash) = native.saved().map(|content| sha1(&content)) else { return Ok(()) };
    let name = encoder.string(native.file_name());
    let hash = encoder.blob(&hash);
    let file = Token::new(TableId::File, encoder.image.tables.add(TableId::File, &[0, name, hash]));
    for (index, emitted) in types_of(encoder.t, module)?.into_iter().enumerate() {
        let flags = b::TYPE_FLAGS.get::<u32>(b::own_builder(encoder.t, emitted));
        if emitted.enclosing.is_none() && flags & VISIBILITY == PUBLIC {
            let row = Token::new(TableId::TypeDef, index as u32 + 1);
            let (name, namespace) = (encoder.string(&emitted.name), encoder.string(&emitted.namespace));
            encoder.image.tables.add(TableId::ExportedType, &[flags, row.0, name, namespace, file.0]);
        }
    }
    Ok(())
}

/// The MonoWin32Resource[] of an assembly.
fn native_resources(assembly: Obj) -> Vec<NativeResource> {
    static LIST: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "win32_resources");
    static KIND: ManagedField = ManagedField::new(LibraryType::MonoWin32Resource, "res_type");
    static ID: ManagedField = ManagedField::new(LibraryType::MonoWin32Resource, "res_id");
    static LANGUAGE: ManagedField = ManagedField::new(LibraryType::MonoWin32Resource, "lang_id");
    static DATA: ManagedField = ManagedField::new(LibraryType::MonoWin32Resource, "data");
    let resource = |resource: Element| {
        let [kind, id, language] = [&KIND, &ID, &LANGUAGE].map(|field| resource.get::<u32>(field));
        NativeResource { kind, id, language, data: bytes(resource.obj(&DATA).and_then(Obj::as_array)) }
    };
    structs(LIST.array(assembly)).map(resource).collect()
}

fn build(t: CurrentThread, object: Obj, module: &'static EmittedModule) -> Managed<Vec<u8>> {
    static ENTRY_POINT: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "entry_point");
    static KIND: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "pekind");
    static CODE_KIND: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "peKind");
    static KEY: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "public_key");
    static RESOURCES: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "resources");
    /// A public key blob is this much longer than the signatures made with it.
    const KEY_HEADER_BYTES: usize = 32;
    const MIN_SIGNATURE_BYTES: usize = 128;
    const CODE_KIND_MASK: i32 = 3;
    let assembly = b::part(&b::MODULE_ASSEMBLY, object);
    let types = types_of(t, object)?;
    let mut encoder = Encoder::new(t, module, Scope::Module(ModuleRows::default()));
    assign_rows(&types, &mut encoder);
    let name = encoder.string(&text(b::MODULE_NAME.str(object)));
    let guid = bytes(GUID.array(object)).try_into().unwrap_or([0; 16]);
    let mvid = encoder.image.heaps.guid(guid).0;
    let row = encoder.image.tables.add(TableId::Module, &[0, name, mvid, 0, 0]);
    for emitted in &types {
        encoder.add_type(b::own_builder(t, emitted), emitted)?;
    }
    encoder.add_attributes(Token::new(TableId::Module, row), b::MODULE_ATTRIBUTES.array(object))?;
    let is_main = IS_MAIN.get::<u8>(object) != 0;
    let mut resources = Resources::default();
    resources.add(&mut encoder, MODULE_RESOURCES.array(object))?;
    let mut spec = ImageSpec { cli_flags: 1, ..ImageSpec::default() };
    if is_main {
        resources.add(&mut encoder, RESOURCES.array(assembly))?;
        add_manifest(&mut encoder, assembly, object)?;
        let kind = KIND.get::<i32>(assembly);
        spec.is_library = kind == file_kind::LIBRARY;
        spec.subsystem = if kind == file_kind::WINDOWS { 2 } else { 3 };
        if let Some(entry_point) = ENTRY_POINT.obj(assembly) {
            spec.entry_point = encoder.method_token(Some(entry_point))?;
        }
        match CODE_KIND.get::<i32>(assembly) & CODE_KIND_MASK {
            0 => {}
            kind => spec.cli_flags = kind as u32,
        }
        if let key @ 1.. = length(KEY.array(assembly)) {
            spec.signature_bytes = key.saturating_sub(KEY_HEADER_BYTES).max(MIN_SIGNATURE_BYTES) as u32;
        }
    }
    spec.resources = resources.content;
    if is_main {
        spec.native_resources = native_resources(assembly);
    }
    // Debug symbols and `GetToken` name the rows of the file from now on.
    for emitted in &types {
        for method in b::methods_of(b::own_builder(t, emitted)) {
            if let Some(fields) = method_fields(method)
                && let Some(&row) = encoder.method_rows.get(&(fields.row.get::<i32>(method) as u32))
            {
                debug_assert!(row != 0 || is_method_builder(method), "rows begin at 1");
                fields.row.set(method, row as i32);
            }
        }
    }
    Ok(encoder.image.finish(&spec))
}

/// `ModuleBuilder.build_metadata(ModuleBuilder)`
fn build_metadata(t: CurrentThread, object: Option<Obj>) -> Managed<()> {
    let Some(object) = object else { return Err(exceptions::throw_argument_null(t, "module")) };
    let module = require_module(t, Some(object))?;
    let content = build(t, object, module)?;
    module.set_saved(content);
    Ok(())
}

/// `ModuleBuilder.WriteToFile(IntPtr)`
fn write_to_file(t: CurrentThread, object: Option<Obj>, handle: isize) -> Managed<()> {
    let content = require_module(t, object)?.saved().unwrap_or_default();
    // SAFETY: FileStream's descriptor, which it keeps open during the call; it is not closed here.
    let mut file = ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(handle as i32) });
    file.write_all(&content).map_err(|error| exceptions::throw(t, ExceptionType::IO, &error.to_string()))
}

/// The internal calls of `System.Reflection.Emit.ModuleBuilder`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.Emit.ModuleBuilder::build_metadata", &build_metadata),
    InternalCall::new("System.Reflection.Emit.ModuleBuilder::WriteToFile", &write_to_file),
];

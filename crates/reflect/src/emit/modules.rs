//! System.Reflection.Emit.AssemblyBuilder and ModuleBuilder: the native identity of assemblies made at run time.
//!
//! Such an assembly is an empty image in memory (`saki_types::dynamic`); its types have images of their own.

use super::builders::{self as b, text};
use super::emitted_module::EmittedModule;
use crate::cache::{self, ObjectKind};
use crate::handles::{ASSEMBLY_BUILDER_HANDLE, MODULE_BUILDER_HANDLE, address, assembly_of};
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, Obj};
use saki_types::LibraryType;
use saki_types::binder::AssemblyName;
use saki_types::dynamic::{create_assembly, create_module};

/// `AssemblyBuilder.basic_init(AssemblyBuilder)`
fn init_assembly<'t>(t: CurrentThread<'t>, builder: Option<Obj<'t>>) -> Managed<()> {
    static NAME: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "name");
    static VERSION: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "version");
    static CULTURE: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "culture");
    static ACCESS: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "access");
    /// AssemblyBuilderAccess.Run, which is part of RunAndSave and RunAndCollect.
    const RUN: u32 = 1;
    const RUN_AND_COLLECT: u32 = 8 | RUN;
    /// Memory outside the managed heap that an assembly and its first type usually take.
    const USUAL_BYTES: usize = 16 << 10;
    /// Hexadecimal digits in ASCII.
    static KEY_TOKEN: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "pktoken");
    let Some(builder) = builder else { return Err(exceptions::throw_null_reference(t)) };
    let mut identity =
        AssemblyName { name: text(NAME.str(builder)), culture: text(CULTURE.str(builder)), ..AssemblyName::default() };
    for (slot, part) in identity.version.iter_mut().zip(text(VERSION.str(builder)).split('.')) {
        *slot = part.parse().unwrap_or(0);
    }
    if let Some(token) = KEY_TOKEN.array(builder) {
        let digits = token.bytes().unwrap_or_default();
        let digit = |d: u8| (d as char).to_digit(16).unwrap_or(0) as u8;
        identity.public_key_token = digits.chunks_exact(2).map(|d| digit(d[0]) << 4 | digit(d[1])).collect();
    }
    let access = ACCESS.get::<u32>(builder);
    let is_collectible = access & RUN_AND_COLLECT == RUN_AND_COLLECT;
    if is_collectible {
        saki_gc::add_memory_pressure(USUAL_BYTES);
    }
    let assembly = create_assembly(&identity, access & RUN != 0, is_collectible).to_managed(t)?;
    ASSEMBLY_BUILDER_HANDLE.set(builder, address(assembly));
    cache::get_or_make(t, ObjectKind::Assembly, address(assembly), 0, || Ok(builder))?;
    Ok(())
}

/// `ModuleBuilder.basic_init(ModuleBuilder)`
fn init_module<'t>(t: CurrentThread<'t>, builder: Option<Obj<'t>>) -> Managed<()> {
    let Some(builder) = builder else { return Err(exceptions::throw_null_reference(t)) };
    let Some(assembly) = b::MODULE_ASSEMBLY.obj(builder).and_then(assembly_of) else {
        return Err(exceptions::throw_argument_null(t, "assembly"));
    };
    let image = create_module(assembly, &text(b::MODULE_NAME.str(builder))).to_managed(t)?;
    MODULE_BUILDER_HANDLE.set(builder, address(image));
    let file_name = text(b::MODULE_FILE.str(builder));
    b::MODULE_NATIVE.set(builder, EmittedModule::new(image, file_name) as *const EmittedModule as usize);
    cache::get_or_make(t, ObjectKind::Module, address(image), 0, || Ok(builder))?;
    Ok(())
}

/// `ModuleBuilder.set_wrappers_type(ModuleBuilder, Type)`: dynamic methods need no type here.
fn set_wrappers_type(_t: CurrentThread, _builder: Option<Obj>, _ty: Option<Obj>) {}

/// The internal calls of `System.Reflection.Emit.AssemblyBuilder` and `System.Reflection.Emit.ModuleBuilder`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.Emit.AssemblyBuilder::basic_init", &init_assembly),
    InternalCall::new("System.Reflection.Emit.ModuleBuilder::basic_init", &init_module),
    InternalCall::new("System.Reflection.Emit.ModuleBuilder::set_wrappers_type", &set_wrappers_type),
];

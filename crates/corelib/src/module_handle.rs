//! System.ModuleHandle and RuntimeModule: tokens of a module, and facts about it.

use crate::arguments::{ModuleArgument, ObjectPlace, StringPlace};
use crate::assembly::NOT_ALL_TYPES;
use crate::class_fields::{WordResult, return_method, types_at};
use saki_metadata::{TableId, Token};
use saki_reflect::assembly::{Found, image_types, types_or_throw};
use saki_reflect::module::image_of_module;
use saki_reflect::tokens::interned_arguments;
use saki_runtime::object::member_handles;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, Str, ToManaged};
use saki_types::{GenericContext, Image, LoadError};

/// What generic parameters mean at a token.
///
/// # Safety
/// So many type handles lie at each address.
unsafe fn context_of(types: *const usize, type_count: i32, methods: *const usize, method_count: i32) -> GenericContext {
    // SAFETY: the address is one that managed code passes to the call, of memory that stays for it.
    let (class_args, method_args) = unsafe { (types_at(types, type_count), types_at(methods, method_count)) };
    GenericContext { class_args: interned_arguments(class_args), method_args: interned_arguments(method_args) }
}

/// Defines a call that gives the object of what a token names in a generic context.
macro_rules! resolver {
    ($name:ident, $find:expr) => {
        fn $name(
            t: CurrentThread,
            module: ModuleArgument,
            token: i32,
            class_args: *const usize,
            class_arg_count: i32,
            method_args: *const usize,
            method_arg_count: i32,
            result: ObjectPlace,
        ) -> Managed<()> {
            // SAFETY: managed code passes so many type handles.
            let context = unsafe { context_of(class_args, class_arg_count, method_args, method_arg_count) };
            let (image, token) = crate::emit::locate(module.image(), Token(token as u32)).to_managed(t)?;
            result.set(t, $find(t, image, token, context)?);
            Ok(())
        }
    };
}

resolver!(resolve_type, type_of_token);
resolver!(resolve_field, field_of_token);

fn type_of_token<'t>(
    t: CurrentThread<'t>,
    image: &'static Image,
    token: Token,
    context: GenericContext,
) -> Managed<Obj<'t>> {
    let context = match token.table() {
        // A definition stands for itself.
        TableId::TypeDef | TableId::TypeRef => GenericContext::NONE,
        _ => context,
    };
    Obj::of_type(t, image.resolve_type(token, &context).to_managed(t)?)
}

fn field_of_token<'t>(
    t: CurrentThread<'t>,
    image: &'static Image,
    token: Token,
    context: GenericContext,
) -> Managed<Obj<'t>> {
    member_handles::of_field(t, image.resolve_field(token, &context).to_managed(t)?)
}

fn resolve_method(
    t: CurrentThread,
    result: WordResult,
    module: ModuleArgument,
    token: i32,
    types: *const usize,
    type_count: i32,
    methods: *const usize,
    method_count: i32,
) -> Managed<()> {
    // SAFETY: managed code passes so many type handles.
    let context = unsafe { context_of(types, type_count, methods, method_count) };
    let (image, token) = crate::emit::locate(module.image(), Token(token as u32)).to_managed(t)?;
    let found = image.resolve_method(token, &context).to_managed(t)?;
    return_method(result, Some(found));
    Ok(())
}

/// `PortableExecutableKinds`, and the machine.
fn get_pe_kind(_t: CurrentThread, module: ModuleArgument, kind: *mut i32, machine: *mut i32) {
    const IL_ONLY: i32 = 1;
    const PE32_PLUS: i32 = 4;
    let image = module.image();
    let meta = image.meta;
    let wide = if meta.is_pe32_plus() { PE32_PLUS } else { 0 };
    // A module that is made at run time has no file.
    let (found, processor) = match image.assembly().is_dynamic {
        true => (0, 0),
        false => ((meta.cli_flags() as i32 & 1) | IL_ONLY | wide, i32::from(meta.machine())),
    };
    // SAFETY: managed code passes the addresses of locals, which live as long as the call.
    unsafe {
        kind.write(found);
        machine.write(processor);
    }
}

/// Version 2.0 of the tables' stream.
fn get_stream_version(_t: CurrentThread, _module: Option<Obj>) -> i32 {
    0x2_0000
}

fn stream_version_of(_t: CurrentThread, _module: ModuleArgument) -> i32 {
    0x2_0000
}

fn token_of(_t: CurrentThread, _module: ModuleArgument) -> i32 {
    Token::new(TableId::Module, 1).0 as i32
}

fn get_token(_t: CurrentThread, module: Option<Obj>) -> i32 {
    let is_there = module.and_then(image_of_module).is_some();
    Token::new(TableId::Module, u32::from(is_there)).0 as i32
}

fn get_path(t: CurrentThread, module: ModuleArgument, result: StringPlace) -> Managed<()> {
    let image = module.image();
    let text = match image.assembly().path.as_os_str().is_empty() {
        true if image.assembly().is_dynamic => "<In Memory Module>".to_string(),
        true => String::new(),
        false => image.meta.path().display().to_string(),
    };
    result.set(t, Some(Str::new(t, &text)?));
    Ok(())
}

fn get_scope_name(t: CurrentThread, module: ModuleArgument, result: StringPlace) -> Managed<()> {
    let meta = module.image().meta;
    let name = meta.module().and_then(|row| meta.string(row.name)).map_err(LoadError::from).to_managed(t)?;
    result.set(t, Some(Str::new(t, name)?));
    Ok(())
}

fn get_types(t: CurrentThread, module: ModuleArgument, result: ObjectPlace) -> Managed<()> {
    let image = module.image();
    let found = match crate::emit::types_of(image) {
        Some(found) => found,
        None => {
            let mut found = Found::new();
            image_types(image, false, &mut found).to_managed(t)?;
            found
        }
    };
    result.set(t, types_or_throw(t, &found, Some(NOT_ALL_TYPES))?);
    Ok(())
}

/// The internal calls of `System.ModuleHandle` and `System.Reflection.RuntimeModule`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::ModuleHandle_ResolveType", &resolve_type),
    InternalCall::new("@net QCall::ModuleHandle_ResolveMethod", &resolve_method),
    InternalCall::new("@net QCall::ModuleHandle_ResolveField", &resolve_field),
    InternalCall::new("@net QCall::ModuleHandle_GetPEKind", &get_pe_kind),
    InternalCall::new("@net9 System.ModuleHandle::GetMDStreamVersion", &get_stream_version),
    InternalCall::new("@net9 System.ModuleHandle::GetToken", &get_token),
    InternalCall::new("@net10 QCall::ModuleHandle_GetMDStreamVersion", &stream_version_of),
    InternalCall::new("@net10 QCall::ModuleHandle_GetToken", &token_of),
    InternalCall::new("@net QCall::RuntimeModule_GetFullyQualifiedName", &get_path),
    InternalCall::new("@net QCall::RuntimeModule_GetScopeName", &get_scope_name),
    InternalCall::new("@net QCall::RuntimeModule_GetTypes", &get_types),
];

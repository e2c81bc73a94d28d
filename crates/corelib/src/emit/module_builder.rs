//! System.Reflection.Emit.RuntimeModuleBuilder: tokens for what the code of a module names.

use super::module::{DynamicModule, nested_type, top_type};
use super::tables::{MemberRefRecord, Tables, record_mut};
use crate::arguments::{MethodArgument, ModuleArgument, TypeArgument};
use crate::text::text_at;
use saki_metadata::{TableId, Token};
use saki_runtime::object::exceptions;
use saki_runtime::{CurrentThread, ExceptionType, InternalCall, Managed, ToManaged};
use saki_types::{LoadError, LoadResult};

/// The module that a builder stands for.
pub(super) fn module_of(module: ModuleArgument) -> &'static DynamicModule {
    DynamicModule::of(module.image())
        .unwrap_or_else(|| saki_base::bug!("a builder of a module that was not made at run time"))
}

/// Changes the records of a module.
pub(super) fn change<R>(
    t: CurrentThread,
    module: ModuleArgument,
    change: impl FnOnce(&mut Tables) -> LoadResult<R>,
) -> Managed<R> {
    let changed = change(&mut module_of(module).tables().tables);
    changed.to_managed(t)
}

/// The bytes of an array that managed code has pinned for the call.
pub(super) fn bytes_at<'a>(start: *const u8, length: i32) -> &'a [u8] {
    match usize::try_from(length) {
        // SAFETY: managed code passes the length of the array that it has pinned.
        Ok(length) if length > 0 && !start.is_null() => unsafe { std::slice::from_raw_parts(start, length) },
        _ => &[],
    }
}

/// A token, as a result of a call.
pub(super) fn number(token: Token) -> i32 {
    token.0 as i32
}

/// A token that managed code passes.
pub(super) fn token(number: i32) -> Token {
    Token(number as u32)
}

fn get_type_ref(
    t: CurrentThread,
    module: ModuleArgument,
    full_name: *const u16,
    other: ModuleArgument,
    enclosing: i32,
) -> Managed<i32> {
    let module = module_of(module);
    let name = text_at(full_name);
    let found = match token(enclosing) {
        Token::NIL => top_type(other.image(), &name),
        enclosing => module.named_type(enclosing).and_then(|outer| nested_type(outer, &name)),
    };
    let found = found.and_then(|found| {
        let assembly = other.image().assembly().display_name();
        let message = || format!("Could not load type '{name}' from assembly '{assembly}'.");
        found.ok_or_else(|| LoadError::type_load(message(), name.clone()))
    });
    let named = found.to_managed(t)?;
    Ok(number(module.tables().tables.type_ref(named)))
}

fn get_member_ref(
    t: CurrentThread,
    module: ModuleArgument,
    other: ModuleArgument,
    parent: i32,
    member: i32,
) -> Managed<i32> {
    module_of(module).member_ref(token(parent), other.image(), token(member)).to_managed(t).map(number)
}

fn get_member_ref_of_method(
    t: CurrentThread,
    module: ModuleArgument,
    parent: i32,
    method: MethodArgument,
) -> Managed<i32> {
    let method = method.method();
    let method = method.definition().unwrap_or(method);
    let Some(rid) = method.rid() else {
        return Err(exceptions::throw_default(t, ExceptionType::NotSupported));
    };
    let member = Token::new(TableId::MethodDef, rid);
    module_of(module).member_ref(token(parent), method.image(), member).to_managed(t).map(number)
}

fn get_member_ref_of_field(
    t: CurrentThread,
    module: ModuleArgument,
    parent: i32,
    class: TypeArgument,
    field: i32,
) -> Managed<i32> {
    let class = class.ty();
    let definition = class.generic_definition().unwrap_or(class);
    let image = definition.image();
    // The token is one of the module; other images than those of files have rows of their own.
    let image = image.emitted_type().map_or(image, |emitted| emitted.module);
    module_of(module).member_ref(token(parent), image, token(field)).to_managed(t).map(number)
}

fn get_member_ref_from_signature(
    _t: CurrentThread,
    module: ModuleArgument,
    parent: i32,
    name: *const u16,
    signature: *const u8,
    length: i32,
) -> i32 {
    let (name, signature) = (text_at(name), bytes_at(signature, length).to_vec());
    let member = MemberRefRecord { parent: token(parent), name, signature };
    number(module_of(module).tables().tables.member_ref(member))
}

fn get_type_spec(_t: CurrentThread, module: ModuleArgument, signature: *const u8, length: i32) -> i32 {
    number(module_of(module).tables().tables.type_spec(bytes_at(signature, length)))
}

/// `length` counts UTF-16 units.
fn get_string_constant(_t: CurrentThread, module: ModuleArgument, text: *const u16, length: i32) -> i32 {
    let length = usize::try_from(length).unwrap_or(0);
    // SAFETY: managed code passes the length of the string that it has pinned.
    let text = unsafe { std::slice::from_raw_parts(text, length) };
    number(module_of(module).tables().tables.literal(text))
}

/// No data: so many zeros.
fn set_field_content(
    t: CurrentThread,
    module: ModuleArgument,
    field: i32,
    data: *const u8,
    length: i32,
) -> Managed<()> {
    let mut content = bytes_at(data, length).to_vec();
    content.resize(usize::try_from(length).unwrap_or(0), 0);
    change(t, module, |tables| {
        record_mut(&mut tables.fields, token(field))?.data = Some(content);
        Ok(())
    })
}

/// The internal calls of `System.Reflection.Emit.RuntimeModuleBuilder`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::ModuleBuilder_GetTypeRef", &get_type_ref),
    InternalCall::new("@net QCall::ModuleBuilder_GetMemberRef", &get_member_ref),
    InternalCall::new("@net QCall::ModuleBuilder_GetMemberRefOfMethodInfo", &get_member_ref_of_method),
    InternalCall::new("@net QCall::ModuleBuilder_GetMemberRefOfFieldInfo", &get_member_ref_of_field),
    InternalCall::new("@net QCall::ModuleBuilder_GetMemberRefFromSignature", &get_member_ref_from_signature),
    InternalCall::new("@net QCall::ModuleBuilder_GetTokenFromTypeSpec", &get_type_spec),
    InternalCall::new("@net QCall::ModuleBuilder_GetArrayMethodToken", &get_member_ref_from_signature),
    InternalCall::new("@net QCall::ModuleBuilder_GetStringConstant", &get_string_constant),
    InternalCall::new("@net QCall::ModuleBuilder_SetFieldRVAContent", &set_field_content),
];

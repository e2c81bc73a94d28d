//! Tokens that ILGenerator writes before the image they belong to exists: what each of them names.
//!
//! A ModuleBuilder gives a token to everything that code names. When a type is finished or a module saved, the code is
//! copied and these tokens are replaced by the rows of the image it goes into.

use super::builders::{self as b, finished_builder_field, finished_builder_method, type_builder};
use super::emitted_module::{EmittedModule, Named, held, require_module};
use super::encoder::Encoder;
use crate::handles::{address, field_of, method_of};
use saki_metadata::{TableId, Token};
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, Str};
use saki_types::{Field, LibraryType, Method, Ty, universe};

impl Encoder<'_> {
    /// The token in this image of what `token` names in the module.
    ///
    /// # Errors
    /// BadImageFormatException when it names nothing.
    pub fn translate(&mut self, token: Token) -> Managed<Token> {
        if token.table() == TableId::UserString {
            if let Some(text) = self.module.literal(token) {
                return Ok(self.image.heaps.user_string(&text));
            }
        } else if let Some(named) = self.module.named(token) {
            return self.named_token(token, named);
        }
        let message = format!("Token {token} names nothing in this module.");
        Err(exceptions::throw(self.t, ExceptionType::BadImageFormat, &message))
    }

    fn named_token(&mut self, token: Token, named: Named) -> Managed<Token> {
        match named {
            Named::Type { ty, open } => self.ty_token(ty, open),
            Named::Method(method) => {
                let token = self.loaded_method_token(method)?;
                let generic = if method.is_generic_definition() { method.generic_args().len() } else { 0 };
                Ok(self.open_method(token, generic))
            }
            Named::Field(field) => self.loaded_field_token(field),
            Named::Vararg { method, extra } => {
                let extra = held(self.t, extra).as_array();
                let extra = extra.unwrap_or_else(|| saki_base::bug!("types of variable arguments are no array"));
                self.vararg_token(held(self.t, method), extra)
            }
            Named::Object(cell) => {
                let object = held(self.t, cell);
                let class = object.ty();
                if is_type(class) {
                    return self.type_token(Some(object), token.table() == TableId::TypeSpec);
                }
                if class.is(LibraryType::FieldBuilder)
                    || class.is(LibraryType::FieldOnTypeBuilderInst)
                    || field_of(object).is_some()
                {
                    return self.field_token(Some(object));
                }
                if class.is(LibraryType::SignatureHelper) {
                    let signature = self.call_signature(object)?;
                    return Ok(self.stand_alone(&signature));
                }
                let token = self.method_token(Some(object))?;
                let generic = generic_count(object);
                Ok(self.open_method(token, generic))
            }
        }
    }
}

/// The number of type parameters of a method object that is a generic definition; else 0.
fn generic_count(object: Obj) -> usize {
    if b::is_method_builder(object) {
        return b::length(b::METHOD_PARAMETERS.array(object));
    }
    method_of(object).filter(|method| method.is_generic_definition()).map_or(0, |method| method.generic_args().len())
}

/// Whether objects of this class are types: they derive from System.Type.
fn is_type(class: Ty) -> bool {
    let mut at = Some(class);
    while let Some(ty) = at {
        if ty == universe().type_() {
            return true;
        }
        at = ty.parent().ok().flatten();
    }
    false
}

/// `ModuleBuilder.getUSIndex(ModuleBuilder, string)`
fn get_string_token(t: CurrentThread, module: Option<Obj>, text: Option<Str>) -> Managed<i32> {
    let module = require_module(t, module)?;
    let Some(text) = text else {
        return Err(exceptions::throw_argument_null(t, "str"));
    };
    Ok(module.add_literal(text.units()).0 as i32)
}

/// `ModuleBuilder.getToken(ModuleBuilder, object, bool open)`
fn get_token(t: CurrentThread, module: Option<Obj>, object: Option<Obj>, open: i32) -> Managed<i32> {
    let module = require_module(t, module)?;
    let Some(object) = object else {
        return Err(exceptions::throw_argument_null(t, "obj"));
    };
    token_for(t, module, object, open & 1 != 0).map(|token| token.0 as i32)
}

fn token_for(t: CurrentThread, module: &'static EmittedModule, object: Obj, open: bool) -> Managed<Token> {
    let class = object.ty();
    if let Some(builder) = type_builder(object) {
        let open = open && b::TYPE_PARAMETERS.obj(builder).is_some();
        if !open && std::ptr::eq(super::builders::emitted_type(t, builder)?.module, module.image()) {
            let token = Token::new(TableId::TypeDef, b::TYPE_ROW.get::<i32>(builder) as u32);
            module.name(token, Named::Object(module.cell(builder)));
            return Ok(token);
        }
    } else if let Some(method) = method_of(object) {
        let table = if method.definition().is_some() { TableId::MethodSpec } else { TableId::MemberRef };
        return Ok(module.token_of(address(method), true, table, Named::Method(method)));
    } else if let Some(field) = field_of(object) {
        return Ok(module.token_of(address(field), true, TableId::MemberRef, Named::Field(field)));
    } else if is_type(class)
        && let Some(ty) = object.as_type()
    {
        return Ok(module.type_token(ty, open));
    }
    let table = if class.is(LibraryType::SignatureHelper) {
        TableId::StandAloneSig
    } else if !is_type(class) {
        TableId::MemberRef
    } else if open || type_builder(object).is_none() {
        TableId::TypeSpec
    } else {
        TableId::TypeRef
    };
    let token = module.fresh(table);
    module.name(token, Named::Object(module.cell(object)));
    Ok(token)
}

/// `ModuleBuilder.getMethodToken(ModuleBuilder, MethodBase, Type[])`: a vararg call site.
fn get_method_token(t: CurrentThread, module: Option<Obj>, method: Option<Obj>, extra: Option<Array>) -> Managed<i32> {
    let module = require_module(t, module)?;
    let Some(method) = method else {
        return Err(exceptions::throw_argument_null(t, "method"));
    };
    let Some(extra) = extra else {
        return token_for(t, module, method, true).map(|token| token.0 as i32);
    };
    let token = module.fresh(TableId::MemberRef);
    module.name(token, Named::Vararg { method: module.cell(method), extra: module.cell(*extra) });
    Ok(token.0 as i32)
}

/// `ModuleBuilder.RegisterToken(object, int)`
fn register_token(t: CurrentThread, module: Option<Obj>, object: Option<Obj>, token: i32) -> Managed<()> {
    let module = require_module(t, module)?;
    let Some(object) = object else {
        return Err(exceptions::throw_argument_null(t, "obj"));
    };
    module.name(Token(token as u32), Named::Object(module.cell(object)));
    Ok(())
}

/// `ModuleBuilder.GetRegisteredToken(int)`: the object, or null.
fn get_registered_token<'t>(t: CurrentThread<'t>, module: Option<Obj>, token: i32) -> Managed<Option<Obj<'t>>> {
    match require_module(t, module)?.named(Token(token as u32)) {
        Some(Named::Object(cell)) => Ok(cell.obj(t)),
        Some(Named::Type { ty, .. }) => Obj::of_type(t, ty).map(Some),
        Some(Named::Method(method)) => crate::objects::method_object(t, method, method.owner).map(Some),
        Some(Named::Field(field)) => crate::objects::field_object(t, field, field.owner).map(Some),
        Some(Named::Vararg { method, .. }) => Ok(method.obj(t)),
        None => Ok(None),
    }
}

/// The method that a token of a module under construction names, if it is finished.
pub fn finished_method(t: CurrentThread, named: Named) -> Option<&'static Method> {
    match named {
        Named::Method(method) => Some(method),
        Named::Object(cell) => {
            let object = held(t, cell);
            match b::method_fields(object) {
                Some(_) => finished_builder_method(object),
                None => method_of(object),
            }
        }
        _ => None,
    }
}

/// The field that a token of a module under construction names, if it is finished.
pub fn finished_field(t: CurrentThread, named: Named) -> Option<&'static Field> {
    match named {
        Named::Field(field) => Some(field),
        Named::Object(cell) => {
            let object = held(t, cell);
            finished_builder_field(object).or_else(|| field_of(object))
        }
        _ => None,
    }
}

/// The type that a token of a module under construction names, if it is finished.
pub fn finished_type(t: CurrentThread, named: Named) -> Option<Ty> {
    match named {
        Named::Type { ty, .. } => Some(ty),
        Named::Object(cell) => {
            let object = held(t, cell);
            is_type(object.ty()).then(|| type_builder(object).unwrap_or(object).as_type()).flatten()
        }
        _ => None,
    }
}

/// The internal calls of `System.Reflection.Emit.ModuleBuilder`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.Emit.ModuleBuilder::getUSIndex", &get_string_token),
    InternalCall::new("System.Reflection.Emit.ModuleBuilder::getToken", &get_token),
    InternalCall::new("System.Reflection.Emit.ModuleBuilder::getMethodToken", &get_method_token),
    InternalCall::new("System.Reflection.Emit.ModuleBuilder::RegisterToken", &register_token),
    InternalCall::new("System.Reflection.Emit.ModuleBuilder::GetRegisteredToken", &get_registered_token),
];

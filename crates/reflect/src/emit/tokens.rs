//! Tokens that ILGenerator writes before the image they belong to exists: what each of them names.
//!
//! A ModuleBuilder gives a token to everything that code names. When a type is finished or a module saved, the code is
//! copied and these tokens are replaced by the rows of the image it goes into.

use super::builders::{self as b, type_builder};
use super::encoder::Encoder;
use crate::handles::{self, address, field_of, method_of};
use crate::known;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use saki_metadata::{TableId, Token};
use saki_runtime::exceptions;
use saki_runtime::object::type_of;
use saki_runtime::type_objects::{type_object, type_of_object};
use saki_runtime::{CurrentThread, InternalCall, Managed, ObjRef, RootCell, strings};
use saki_types::collectible;
use saki_types::{Field, Image, Method, Ty, universe};
use std::sync::{Arc, OnceLock};

/// What a token of a module under construction names.
#[derive(Clone, Copy)]
pub enum Named {
    /// A builder, or another object that only lives in managed code.
    Object(RootCell),
    /// `open`: a generic definition over its own parameters.
    Type {
        ty: Ty,
        open: bool,
    },
    Method(&'static Method),
    Field(&'static Field),
    /// A method with the types of variable arguments.
    Vararg {
        method: RootCell,
        extra: RootCell,
    },
}

/// The native side of a ModuleBuilder; lives as long as its image.
pub struct EmittedModule {
    image: &'static Image,
    /// The name of the file that the module is saved to.
    file_name: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    named: FxHashMap<u32, Named>,
    /// Tokens of runtime types and members, by (address, open).
    known: FxHashMap<(usize, bool), Token>,
    strings: Vec<Vec<u16>>,
    /// Rows given out, by table.
    rows: FxHashMap<u8, u32>,
    /// The file as it was built last.
    saved: Option<Arc<Vec<u8>>>,
}

/// By address of the module's image.
static MODULES: Mutex<Option<FxHashMap<usize, &'static EmittedModule>>> = Mutex::new(None);

/// Drops the modules of dead assemblies.
pub(crate) fn forget_dead_modules() {
    if let Some(modules) = MODULES.lock().as_mut() {
        modules.retain(|image, _| !collectible::is_dead(*image));
    }
}

impl EmittedModule {
    pub fn new(image: &'static Image, file_name: String) -> &'static EmittedModule {
        let made = collectible::keep_beside(image, EmittedModule { image, file_name, state: Mutex::default() });
        MODULES.lock().get_or_insert_default().insert(address(image), made);
        made
    }

    /// For signatures that belong to no module.
    pub fn detached() -> &'static EmittedModule {
        static DETACHED: OnceLock<EmittedModule> = OnceLock::new();
        DETACHED.get_or_init(|| EmittedModule {
            image: universe().corlib(),
            file_name: String::new(),
            state: Mutex::default(),
        })
    }

    /// A root cell that lives as long as the module.
    fn cell(&self, object: ObjRef) -> RootCell {
        RootCell::beside(address(self.image), object)
    }

    pub fn image(&self) -> &'static Image {
        self.image
    }

    /// The module that `image` is the image of.
    pub fn of_image(image: &'static Image) -> Option<&'static EmittedModule> {
        MODULES.lock().as_ref()?.get(&address(image)).copied()
    }

    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    pub fn saved(&self) -> Option<Arc<Vec<u8>>> {
        self.state.lock().saved.clone()
    }

    pub fn set_saved(&self, content: Vec<u8>) {
        self.state.lock().saved = Some(Arc::new(content));
    }

    /// The file name that other modules of the assembly know a module by.
    pub fn file_name_of(image: &'static Image) -> Option<String> {
        match Self::of_image(image) {
            Some(module) => Some(module.file_name.clone()),
            None => image.meta.path().file_name().map(|name| name.to_string_lossy().into_owned()),
        }
    }

    pub fn named(&self, token: Token) -> Option<Named> {
        self.state.lock().named.get(&token.0).copied()
    }

    pub fn name(&self, token: Token, named: Named) {
        self.state.lock().named.insert(token.0, named);
    }

    /// The text of a token of a string literal.
    pub fn literal(&self, token: Token) -> Option<Vec<u16>> {
        let index = (token.rid() as usize).checked_sub(1)?;
        self.state.lock().strings.get(index).cloned()
    }

    fn add_literal(&self, text: &[u16]) -> Token {
        let mut state = self.state.lock();
        state.strings.push(text.to_vec());
        Token::new(TableId::UserString, state.strings.len() as u32)
    }

    /// A token that nothing has yet. Builders count their own rows of TypeDef, MethodDef, Property and Event.
    pub fn fresh(&self, table: TableId) -> Token {
        let mut state = self.state.lock();
        let row = state.rows.entry(table as u8).or_insert(0);
        *row += 1;
        Token::new(table, *row)
    }

    /// The token of something of the runtime, the same each time.
    fn token_of(&self, address: usize, open: bool, table: TableId, named: Named) -> Token {
        if let Some(&known) = self.state.lock().known.get(&(address, open)) {
            return known;
        }
        let token = self.fresh(table);
        let mut state = self.state.lock();
        let token = *state.known.entry((address, open)).or_insert(token);
        state.named.insert(token.0, named);
        token
    }

    /// The token of a type of the runtime.
    pub fn type_token(&self, ty: Ty, open: bool) -> Token {
        let is_definition = ty.def().is_some() && (ty.args.is_empty() || ty.is_generic_definition() && !open);
        let table = if is_definition { TableId::TypeRef } else { TableId::TypeSpec };
        self.token_of(address(ty), open, table, Named::Type { ty, open })
    }
}

/// The native side of a ModuleBuilder object.
pub fn module_of(builder: ObjRef) -> Option<&'static EmittedModule> {
    if builder.is_null() {
        return None;
    }
    let address = b::MODULE_NATIVE.get::<usize>(builder);
    // SAFETY: 0 or the address of a leaked `EmittedModule`, set by `basic_init`.
    (address != 0).then(|| unsafe { &*(address as *const EmittedModule) })
}

/// As `module_of`.
///
/// # Errors
/// ArgumentNullException.
pub fn require_module(t: CurrentThread, builder: ObjRef) -> Managed<&'static EmittedModule> {
    module_of(builder).ok_or_else(|| exceptions::throw_argument_null(t, "module"))
}

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
        Err(exceptions::throw(self.t, "System", "BadImageFormatException", &message))
    }

    fn named_token(&mut self, token: Token, named: Named) -> Managed<Token> {
        match named {
            Named::Type { ty, open } => self.ty_token(ty, open),
            Named::Method(method) => {
                let token = self.loaded_method_token(method)?;
                let generic = if method.is_generic_definition() { method.generic_args.len() } else { 0 };
                Ok(self.open_method(token, generic))
            }
            Named::Field(field) => self.loaded_field_token(field),
            Named::Vararg { method, extra } => self.vararg_token(method.get(), extra.get()),
            Named::Object(cell) => {
                let object = cell.get();
                let class = type_of(object);
                if is_type(class) {
                    return self.type_token(object, token.table() == TableId::TypeSpec);
                }
                if b::FIELD_BUILDER.is(class) || b::FIELD_ON_INSTANTIATION.is(class) || field_of(object).is_some() {
                    return self.field_token(object);
                }
                if known::SIGNATURE_HELPER.is(class) {
                    let signature = self.call_signature(object)?;
                    return Ok(self.stand_alone(&signature));
                }
                let token = self.method_token(object)?;
                let generic = generic_count(object);
                Ok(self.open_method(token, generic))
            }
        }
    }
}

/// The number of type parameters of a method object that is a generic definition; else 0.
fn generic_count(object: ObjRef) -> usize {
    if b::is_method_builder(object) {
        return b::length(b::METHOD_PARAMETERS.get_ref(object));
    }
    method_of(object).filter(|method| method.is_generic_definition()).map_or(0, |method| method.generic_args.len())
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
fn get_string_token(t: CurrentThread, module: ObjRef, text: ObjRef) -> i32 {
    t.run(|| {
        let module = require_module(t, module)?;
        if text.is_null() {
            return Err(exceptions::throw_argument_null(t, "str"));
        }
        Ok(module.add_literal(strings::units(text)).0 as i32)
    })
}

/// `ModuleBuilder.getToken(ModuleBuilder, object, bool open)`
fn get_token(t: CurrentThread, module: ObjRef, object: ObjRef, open: i32) -> i32 {
    t.run(|| {
        let module = require_module(t, module)?;
        if object.is_null() {
            return Err(exceptions::throw_argument_null(t, "obj"));
        }
        token_for(t, module, object, open & 1 != 0).map(|token| token.0 as i32)
    })
}

fn token_for(t: CurrentThread, module: &'static EmittedModule, object: ObjRef, open: bool) -> Managed<Token> {
    let class = type_of(object);
    if let Some(builder) = type_builder(object) {
        let open = open && !b::TYPE_PARAMETERS.get_ref(builder).is_null();
        if !open && std::ptr::eq(super::builders::emitted_type(t, builder)?.module, module.image()) {
            let token = Token::new(TableId::TypeDef, b::TYPE_ROW.get::<i32>(builder) as u32);
            module.name(token, Named::Object(module.cell(builder)));
            return Ok(token);
        }
    } else if let Some(method) = method_of(object) {
        let table = if method.definition.is_some() { TableId::MethodSpec } else { TableId::MemberRef };
        return Ok(module.token_of(address(method), true, table, Named::Method(method)));
    } else if let Some(field) = field_of(object) {
        return Ok(module.token_of(address(field), true, TableId::MemberRef, Named::Field(field)));
    } else if is_type(class)
        && let Some(ty) = type_of_object(object)
    {
        return Ok(module.type_token(ty, open));
    }
    let table = if known::SIGNATURE_HELPER.is(class) {
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
fn get_method_token(t: CurrentThread, module: ObjRef, method: ObjRef, extra: ObjRef) -> i32 {
    t.run(|| {
        let module = require_module(t, module)?;
        if method.is_null() {
            return Err(exceptions::throw_argument_null(t, "method"));
        }
        if extra.is_null() {
            return token_for(t, module, method, true).map(|token| token.0 as i32);
        }
        let token = module.fresh(TableId::MemberRef);
        module.name(token, Named::Vararg { method: module.cell(method), extra: module.cell(extra) });
        Ok(token.0 as i32)
    })
}

/// `ModuleBuilder.RegisterToken(object, int)`
fn register_token(t: CurrentThread, module: ObjRef, object: ObjRef, token: i32) {
    t.run(|| {
        let module = require_module(t, module)?;
        if object.is_null() {
            return Err(exceptions::throw_argument_null(t, "obj"));
        }
        module.name(Token(token as u32), Named::Object(module.cell(object)));
        Ok(())
    });
}

/// `ModuleBuilder.GetRegisteredToken(int)`: the object, or null.
fn get_registered_token(t: CurrentThread, module: ObjRef, token: i32) -> ObjRef {
    t.run(|| match require_module(t, module)?.named(Token(token as u32)) {
        Some(Named::Object(cell)) => Ok(cell.get()),
        Some(Named::Type { ty, .. }) => type_object(t, ty),
        Some(Named::Method(method)) => crate::objects::method_object(t, method, method.owner),
        Some(Named::Field(field)) => crate::objects::field_object(t, field, field.owner),
        Some(Named::Vararg { method, .. }) => Ok(method.get()),
        None => Ok(ObjRef::NULL),
    })
}

/// The method that a MethodBuilder or ConstructorBuilder became.
pub fn finished_builder_method(object: ObjRef) -> Option<&'static Method> {
    let fields = b::method_fields(object)?;
    // SAFETY: 0 or the address of a `Method`, set when the type was finished.
    unsafe { handles::method(fields.handle.get::<usize>(object)) }
}

/// The field that a FieldBuilder became.
pub fn finished_builder_field(object: ObjRef) -> Option<&'static Field> {
    if !b::FIELD_BUILDER.is(type_of(object)) {
        return None;
    }
    // SAFETY: 0 or the address of a `Field`, set when the type was finished.
    unsafe { handles::field(b::FIELD_NATIVE.get::<usize>(object)) }
}

/// The type that a TypeBuilder or EnumBuilder became.
pub fn finished_builder_type(object: ObjRef) -> Option<Ty> {
    type_of_object(type_builder(object)?)
}

/// The method that a token of a module under construction names, if it is finished.
pub fn finished_method(named: Named) -> Option<&'static Method> {
    match named {
        Named::Method(method) => Some(method),
        Named::Object(cell) => {
            let object = cell.get();
            match b::method_fields(object) {
                Some(_) => finished_builder_method(object),
                None => method_of(object),
            }
        }
        _ => None,
    }
}

/// The field that a token of a module under construction names, if it is finished.
pub fn finished_field(named: Named) -> Option<&'static Field> {
    match named {
        Named::Field(field) => Some(field),
        Named::Object(cell) => finished_builder_field(cell.get()).or_else(|| field_of(cell.get())),
        _ => None,
    }
}

/// The type that a token of a module under construction names, if it is finished.
pub fn finished_type(named: Named) -> Option<Ty> {
    match named {
        Named::Type { ty, .. } => Some(ty),
        Named::Object(cell) if is_type(type_of(cell.get())) => {
            let object = cell.get();
            type_of_object(type_builder(object).unwrap_or(object))
        }
        _ => None,
    }
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.Emit.ModuleBuilder::getUSIndex", &get_string_token),
    InternalCall::new("System.Reflection.Emit.ModuleBuilder::getToken", &get_token),
    InternalCall::new("System.Reflection.Emit.ModuleBuilder::getMethodToken", &get_method_token),
    InternalCall::new("System.Reflection.Emit.ModuleBuilder::RegisterToken", &register_token),
    InternalCall::new("System.Reflection.Emit.ModuleBuilder::GetRegisteredToken", &get_registered_token),
];

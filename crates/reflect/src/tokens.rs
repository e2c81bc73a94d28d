//! System.Reflection.RuntimeModule: resolving metadata tokens.

use crate::emit::emitted_module::{EmittedModule, Named};
use crate::emit::tokens::{finished_field, finished_method, finished_type};
use crate::handles::{Handle, address};
use crate::module::require_image;
use crate::objects::{field_object, method_object};
use rustc_hash::FxHashMap;
use saki_base::locks::{RwLock, rank};
use saki_metadata::{TableId, Token};
use saki_runtime::object::exceptions::ToManaged;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj, Place, Str};
use saki_types::{Field, GenericContext, Image, LoadError, Method, Ty, Type, collectible};

/// System.Reflection.ResolveTokenError.
mod resolve_error {
    /// The table has no such row.
    pub const OUT_OF_RANGE: i32 = 0;
    /// The token is of a table whose rows are something else.
    pub const BAD_TABLE: i32 = 1;
    /// What the token names is not there yet (in a module under construction), or cannot be loaded.
    pub const OTHER: i32 = 2;
}

/// Lists of generic arguments, by the addresses of the types in them.
type Contexts = FxHashMap<Vec<usize>, &'static [Ty]>;

/// Lists of generic arguments handed in by programs, kept as long as the types in them because types refer to them.
static CONTEXTS: RwLock<rank::TokenContexts, Option<Contexts>> = RwLock::new(None);

/// The list with these types that lasts as long as they.
pub fn interned_arguments(types: Vec<Ty>) -> &'static [Ty] {
    if types.is_empty() {
        return &[];
    }
    let key: Vec<usize> = types.iter().map(|&ty| address(ty)).collect();
    if let Some(known) = CONTEXTS.read().as_ref().and_then(|lists| lists.get(&key)) {
        return known;
    }
    let owner = collectible::owner_of_all(key.iter().copied());
    let mut lists = CONTEXTS.write();
    lists.get_or_insert_default().entry(key).or_insert_with(|| collectible::keep_slice_with(owner, types))
}

/// Drops the lists that name types of dead assemblies or domains.
pub(crate) fn forget_dead() {
    if let Some(lists) = CONTEXTS.write().as_mut() {
        lists.retain(|types, _| !types.iter().any(|ty| collectible::is_dead(*ty)));
    }
}

/// The types of an IntPtr[] of RuntimeTypeHandle values; null = none.
fn handle_list(array: Option<Array>) -> &'static [Ty] {
    let Some(array) = array else { return &[] };
    let types = (0..array.length()).filter_map(|index| array.value::<Handle<Type>>(index).get());
    interned_arguments(types.collect())
}

fn context_of(type_args: Option<Array>, method_args: Option<Array>) -> GenericContext {
    GenericContext { class_args: handle_list(type_args), method_args: handle_list(method_args) }
}

/// Checks that the token is a row of one of these tables; returns the error code otherwise.
fn check(image: &'static Image, token: Token, tables: &[TableId]) -> Result<(), i32> {
    if !tables.contains(&token.table()) {
        return Err(resolve_error::BAD_TABLE);
    }
    if EmittedModule::of_image(image).is_some() {
        return Err(resolve_error::OTHER);
    }
    if token.is_nil() || token.rid() > image.meta.row_count(token.table()) {
        return Err(resolve_error::OUT_OF_RANGE);
    }
    Ok(())
}

fn is_field_ref(image: &'static Image, token: Token) -> bool {
    token.table() == TableId::MemberRef
        && image
            .meta
            .member_ref(token.rid())
            .and_then(|row| image.meta.blob(row.signature))
            .is_ok_and(saki_metadata::is_field_sig)
}

fn names_field(t: CurrentThread, image: &'static Image, token: Token) -> bool {
    match under_construction(image, token) {
        Some(named) => finished_field(t, named).is_some(),
        None => token.table() == TableId::Field || is_field_ref(image, token),
    }
}

/// Outcome of a resolution: found, or the error code.
type Resolved<T> = Result<T, i32>;

/// Reports the code through the caller's variable; failures to load are exceptions.
fn report<T>(error: Place<i32>, result: Resolved<T>) -> Option<T> {
    error.set(result.as_ref().err().copied().unwrap_or(resolve_error::OTHER));
    result.ok()
}

/// What a token of a module under construction names.
fn under_construction(image: &'static Image, token: Token) -> Option<Named> {
    EmittedModule::of_image(image)?.named(token)
}

fn resolve_type(
    t: CurrentThread,
    image: &'static Image,
    token: Token,
    context: &GenericContext,
) -> Managed<Resolved<Ty>> {
    if let Some(named) = under_construction(image, token) {
        return Ok(finished_type(t, named).ok_or(resolve_error::OTHER));
    }
    match check(image, token, &[TableId::TypeDef, TableId::TypeRef, TableId::TypeSpec]) {
        Ok(()) => image.resolve_type(token, context).to_managed(t).map(Ok),
        Err(code) => Ok(Err(code)),
    }
}

fn resolve_method(
    t: CurrentThread,
    image: &'static Image,
    token: Token,
    context: &GenericContext,
) -> Managed<Resolved<&'static Method>> {
    if let Some(named) = under_construction(image, token) {
        return Ok(finished_method(t, named).ok_or(resolve_error::OTHER));
    }
    match check(image, token, &[TableId::MethodDef, TableId::MethodSpec, TableId::MemberRef]) {
        Ok(()) if is_field_ref(image, token) => Ok(Err(resolve_error::BAD_TABLE)),
        Ok(()) => image.resolve_method(token, context).to_managed(t).map(Ok),
        Err(code) => Ok(Err(code)),
    }
}

fn resolve_field(
    t: CurrentThread,
    image: &'static Image,
    token: Token,
    context: &GenericContext,
) -> Managed<Resolved<&'static Field>> {
    if let Some(named) = under_construction(image, token) {
        return Ok(finished_field(t, named).ok_or(resolve_error::OTHER));
    }
    match check(image, token, &[TableId::Field, TableId::MemberRef]) {
        Ok(()) if token.table() == TableId::MemberRef && !is_field_ref(image, token) => {
            Ok(Err(resolve_error::BAD_TABLE))
        }
        Ok(()) => image.resolve_field(token, context).to_managed(t).map(Ok),
        Err(code) => Ok(Err(code)),
    }
}

/// `Resolve…Token(image, token, IntPtr[] typeArgs, IntPtr[] methodArgs, out ResolveTokenError)`: the record's address.
macro_rules! token_resolvers {
    ($($name:ident by $resolve:ident;)*) => { $(
        fn $name(
            t: CurrentThread,
            image: Handle<Image>,
            token: i32,
            types: Option<Array>,
            methods: Option<Array>,
            error: Place<i32>,
        ) -> Managed<usize> {
            let image = require_image(t, image)?;
            let found = $resolve(t, image, Token(token as u32), &context_of(types, methods))?;
            Ok(report(error, found).map_or(0, address))
        }
    )* };
}

token_resolvers! {
    resolve_type_token by resolve_type;
    resolve_method_token by resolve_method;
    resolve_field_token by resolve_field;
}

/// `ResolveMemberToken`: the object of a member of any kind.
fn resolve_member_token<'t>(
    t: CurrentThread<'t>,
    image: Handle<Image>,
    token: i32,
    types: Option<Array>,
    methods: Option<Array>,
    error: Place<i32>,
) -> Managed<Option<Obj<'t>>> {
    let image = require_image(t, image)?;
    let token = Token(token as u32);
    let context = context_of(types, methods);
    match token.table() {
        TableId::TypeDef | TableId::TypeRef | TableId::TypeSpec => {
            report(error, resolve_type(t, image, token, &context)?).map(|ty| Obj::of_type(t, ty)).transpose()
        }
        TableId::Field | TableId::MemberRef if names_field(t, image, token) => {
            report(error, resolve_field(t, image, token, &context)?)
                .map(|field| field_object(t, field, field.owner))
                .transpose()
        }
        _ => report(error, resolve_method(t, image, token, &context)?)
            .map(|method| method_object(t, method, method.owner))
            .transpose(),
    }
}

/// `ResolveStringToken(image, token, out ResolveTokenError)`
fn resolve_string_token<'t>(
    t: CurrentThread<'t>,
    image: Handle<Image>,
    token: i32,
    error: Place<i32>,
) -> Managed<Option<Str<'t>>> {
    let image = require_image(t, image)?;
    let token = Token(token as u32);
    let emitted = EmittedModule::of_image(image).and_then(|module| module.literal(token));
    let found = match token.table() {
        TableId::UserString if emitted.is_some() => Ok(emitted.unwrap_or_default()),
        TableId::UserString => image.meta.user_string(token).map_err(|_| resolve_error::OUT_OF_RANGE),
        _ => Err(resolve_error::BAD_TABLE),
    };
    report(error, found).map(|units| Str::intern_units(t, &units)).transpose()
}

/// `ResolveSignature(image, token, out ResolveTokenError)`: the bytes of a stand-alone signature.
fn resolve_signature<'t>(
    t: CurrentThread<'t>,
    image: Handle<Image>,
    token: i32,
    error: Place<i32>,
) -> Managed<Option<Array<'t>>> {
    let image = require_image(t, image)?;
    let token = Token(token as u32);
    let found = check(image, token, &[TableId::StandAloneSig]).map_err(|_| resolve_error::OUT_OF_RANGE);
    if report(error, found).is_none() {
        return Ok(None);
    }
    let blob = image.meta.stand_alone_sig(token.rid()).and_then(|row| image.meta.blob(row.signature));
    Array::of_bytes(t, blob.map_err(LoadError::from).to_managed(t)?).map(Some)
}

/// The internal calls of `System.Reflection.RuntimeModule`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.RuntimeModule::ResolveTypeToken", &resolve_type_token),
    InternalCall::new("System.Reflection.RuntimeModule::ResolveMethodToken", &resolve_method_token),
    InternalCall::new("System.Reflection.RuntimeModule::ResolveFieldToken", &resolve_field_token),
    InternalCall::new("System.Reflection.RuntimeModule::ResolveMemberToken", &resolve_member_token),
    InternalCall::new("System.Reflection.RuntimeModule::ResolveStringToken", &resolve_string_token),
    InternalCall::new("System.Reflection.RuntimeModule::ResolveSignature", &resolve_signature),
];

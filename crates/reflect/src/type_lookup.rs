//! From parsed names to types: `Type.GetType`, `Assembly.GetType`, names in attribute blobs.

use crate::assembly_loading::try_resolve;
use crate::callers;
use crate::domain_events::raise_type_resolve;
use crate::handles;
use crate::objects::text;
use saki_metadata::TableId;
use saki_runtime::ExceptionType;
use saki_runtime::exec::invoke::{self, Slot};
use saki_runtime::object::exceptions::{self, Thrown, ToManaged};
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, Place, Str};
use saki_types::binder::AssemblyName;
use saki_types::type_name::{Modifier, TypeName, parse_type_name};
use saki_types::{Image, LoadErrorKind, LoadResult, Ty, universe};

/// Where and how to look.
#[derive(Clone, Copy)]
pub struct Scope {
    /// Where names without an assembly are looked for first.
    pub image: &'static Image,
    pub ignore_case: bool,
    /// Look in corlib, too, for names without an assembly.
    pub search_corlib: bool,
    /// Raise AppDomain.TypeResolve for what is not found.
    pub raise_type_resolve: bool,
    /// Named assemblies are looked for among those loaded for reflection only, or loaded so.
    pub reflection_only: bool,
}

/// The type that `name` means. None when the assembly or type does not exist.
///
/// # Errors
/// What loading gives besides not finding it; what event handlers throw.
pub fn find(t: CurrentThread, name: &TypeName, scope: &Scope) -> Managed<Option<Ty>> {
    let image = match &name.assembly {
        Some(assembly) => match find_image(t, assembly, scope)? {
            Some(image) => image,
            None => return Ok(None),
        },
        None => scope.image,
    };
    let mut definition = find_definition(image, name, scope.ignore_case).to_managed(t)?;
    if definition.is_none() && name.assembly.is_none() && scope.search_corlib && *image != *universe().corlib() {
        definition = find_definition(universe().corlib(), name, scope.ignore_case).to_managed(t)?;
    }
    if definition.is_none()
        && scope.raise_type_resolve
        && let Some(resolved) = raise_type_resolve(t, &name.definition_name())?
    {
        definition = find_definition(resolved.image, name, scope.ignore_case).to_managed(t)?;
    }
    let Some(definition) = definition else { return Ok(None) };
    construct(t, definition, name, scope)
}

fn find_image(t: CurrentThread, assembly: &str, scope: &Scope) -> Managed<Option<&'static Image>> {
    let Some(wanted) = AssemblyName::parse(assembly) else { return Ok(None) };
    if scope.reflection_only {
        return match universe().binder().load_reflection_only(&wanted) {
            Ok(found) => Ok(Some(found.image)),
            Err(error) if error.kind == LoadErrorKind::FileNotFound => Ok(None),
            Err(error) => Err(exceptions::throw_load_error(t, &error)),
        };
    }
    let requesting = scope.image;
    // Most names lead to the requesting assembly or to corlib.
    for known in [requesting, universe().corlib()] {
        let known = known.assembly();
        if known.name == wanted.name && (wanted.version == [0; 4] || wanted.version == known.version) {
            return Ok(Some(known.image));
        }
    }
    Ok(try_resolve(t, &wanted, Some(requesting))?.map(|found| found.image))
}

/// The definition, without arguments and modifiers.
fn find_definition(image: &'static Image, name: &TypeName, ignore_case: bool) -> LoadResult<Option<Ty>> {
    let outer = match image.find_type(&name.namespace, &name.name)? {
        Some(found) => Some(found),
        None if ignore_case => find_ignoring_case(image, name)?,
        None => None,
    };
    let Some(mut ty) = outer else { return Ok(None) };
    for nested in &name.nested {
        match find_nested(ty, nested, ignore_case)? {
            Some(found) => ty = found,
            None => return Ok(None),
        }
    }
    Ok(Some(ty))
}

fn find_nested(outer: Ty, name: &str, ignore_case: bool) -> LoadResult<Option<Ty>> {
    let (namespace, simple) = name.rsplit_once('.').unwrap_or(("", name));
    for (namespace, simple) in [("", name), (namespace, simple)] {
        if let Some(found) = outer.find_nested(namespace, simple)? {
            return Ok(Some(found));
        }
    }
    if ignore_case {
        let is_wanted = |ty: &Ty| ty.def().is_some_and(|def| same_ignoring_case(def.name, simple));
        return Ok(outer.nested_types()?.into_iter().find(is_wanted));
    }
    Ok(None)
}

/// Equality as `IgnoreCase` members and types are compared.
pub fn same_ignoring_case(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!(a.is_ascii() && b.is_ascii()) && a.to_lowercase() == b.to_lowercase())
}

fn find_ignoring_case(image: &'static Image, name: &TypeName) -> LoadResult<Option<Ty>> {
    let meta = &image.meta;
    for rid in 1..=meta.row_count(TableId::TypeDef) {
        let row = meta.type_def(rid)?;
        if same_ignoring_case(meta.string(row.name)?, &name.name)
            && same_ignoring_case(meta.string(row.namespace)?, &name.namespace)
            && meta.enclosing_class(rid).is_none()
        {
            return image.type_def(rid).map(Some);
        }
    }
    for rid in 1..=meta.row_count(TableId::ExportedType) {
        let row = meta.exported_type(rid)?;
        let (type_name, namespace) = (meta.string(row.name)?, meta.string(row.namespace)?);
        if same_ignoring_case(type_name, &name.name) && same_ignoring_case(namespace, &name.namespace) {
            return image.find_type(namespace, type_name);
        }
    }
    let is_wanted = |ty: &Ty| {
        ty.def().is_some_and(|def| {
            same_ignoring_case(def.name, &name.name) && same_ignoring_case(def.namespace, &name.namespace)
        })
    };
    Ok(image.assembly().emitted_types().into_iter().find(is_wanted))
}

fn construct(t: CurrentThread, definition: Ty, name: &TypeName, scope: &Scope) -> Managed<Option<Ty>> {
    let mut ty = definition;
    if !name.arguments.is_empty() {
        let mut arguments = Vec::new();
        for argument in &name.arguments {
            let nested = Scope { search_corlib: true, ..*scope };
            match find(t, argument, &nested)? {
                Some(found) => arguments.push(found),
                None => return Ok(None),
            }
        }
        if !definition.is_generic_definition() {
            return Ok(None);
        }
        if definition.args.len() != arguments.len() {
            let message = format!(
                "The generic type definition needs {} type arguments, but was instantiated with {} ",
                definition.args.len(),
                arguments.len()
            );
            return Err(exceptions::throw_argument(t, &message, "types"));
        }
        ty = universe().instantiate(definition, &arguments).to_managed(t)?;
    }
    for modifier in &name.modifiers {
        ty = match modifier {
            Modifier::ByRef => universe().byref_to(ty),
            Modifier::Pointer => universe().pointer_to(ty),
            Modifier::SzArray => universe().sz_array_of(ty),
            Modifier::Array(rank) => universe().array_of(ty, *rank),
        };
    }
    Ok(Some(ty))
}

/// The type that a serialized name in metadata of `image` means: attribute blobs, marshalling descriptors.
///
/// # Errors
/// TypeLoadException when there is none.
pub fn type_of_serialized_name(t: CurrentThread, text: &str, image: &'static Image) -> Managed<Ty> {
    let scope =
        Scope { image, ignore_case: false, search_corlib: true, raise_type_resolve: true, reflection_only: false };
    let found = match parse_type_name(text) {
        Some(name) => find(t, &name, &scope)?,
        None => None,
    };
    found.ok_or_else(|| throw_type_load(t, text, &image.assembly().display_name()))
}

/// TypeLoadException: "Could not load type '…' from assembly '…'."
pub fn throw_type_load(t: CurrentThread, type_name: &str, assembly_name: &str) -> Thrown {
    exceptions::throw_made(
        t,
        (|| {
            let class = ExceptionType::TypeLoad.ty();
            let string = universe().string();
            let Some(ctor) = class.find_method_sig(".ctor", &[string, string]).to_managed(t)? else {
                let message = format!("Could not load type '{type_name}' from assembly '{assembly_name}'.");
                return Obj::exception(t, ExceptionType::TypeLoad, Some(&message));
            };
            let exception = Obj::new(t, class)?;
            let type_name = Str::new(t, type_name)?;
            let assembly_name = Str::new(t, assembly_name)?;
            let words = [Slot::from_ref(exception), Slot::from_ref(type_name), Slot::from_ref(assembly_name)];
            invoke::invoke(t, ctor, &words)?;
            Ok(exception)
        })(),
    )
}

/// Turns the exception of a failed search into null unless the caller asked for exceptions.
fn unless_silent<'t>(
    t: CurrentThread<'t>,
    throw_on_error: bool,
    result: Managed<Option<Obj<'t>>>,
) -> Managed<Option<Obj<'t>>> {
    match result {
        Err(_) if !throw_on_error => {
            t.take_pending();
            Ok(None)
        }
        other => other,
    }
}

fn internal_from_name<'t>(
    t: CurrentThread<'t>,
    name: Option<Str>,
    _stack_mark: Place<i32>,
    _caller_assembly: Option<Obj>,
    throw_on_error: bool,
    ignore_case: bool,
    reflection_only: bool,
) -> Managed<Option<Obj<'t>>> {
    let Some(name) = name else {
        return Err(exceptions::throw_argument_null(t, "typeName"));
    };
    let text = name.to_rust();
    let result = from_name(t, &text, throw_on_error, ignore_case, reflection_only);
    unless_silent(t, throw_on_error, result)
}

/// The part of a name that the message quotes: up to the last point of the namespace, else up to the first modifier.
fn name_in_parse_error(text: &str) -> &str {
    let name = text.split(['[', '&', '*', ',', ']', '+']).next().unwrap_or(text);
    name.rsplit_once('.').map_or(name, |(namespace, _)| namespace)
}

fn from_name<'t>(
    t: CurrentThread<'t>,
    text: &str,
    throw_on_error: bool,
    ignore_case: bool,
    reflection_only: bool,
) -> Managed<Option<Obj<'t>>> {
    let Some(name) = parse_type_name(text) else {
        let message = format!("failed parse: {}", name_in_parse_error(text));
        return Err(exceptions::throw_argument(t, &message, "typeName"));
    };
    let image = callers::calling_image(t).unwrap_or_else(|| universe().corlib());
    let scope = Scope { image, ignore_case, search_corlib: true, raise_type_resolve: true, reflection_only };
    if let Some(ty) = find(t, &name, &scope)? {
        return Obj::of_type(t, ty).map(Some);
    }
    if !throw_on_error {
        return Ok(None);
    }
    let assembly = match &name.assembly {
        Some(text) => AssemblyName::parse(text).map_or_else(|| text.clone(), |parsed| parsed.display()),
        None => image.assembly().display_name(),
    };
    let type_name = saki_types::assembly::qualified(&name.namespace, &name.name);
    Err(throw_type_load(t, &type_name, &assembly))
}

/// `Assembly.InternalGetType(module, name, throwOnError, ignoreCase)`
fn assembly_get_type<'t>(
    t: CurrentThread<'t>,
    assembly: Option<Obj>,
    module: Option<Obj>,
    name: Option<Str>,
    throw_on_error: bool,
    ignore_case: bool,
) -> Managed<Option<Obj<'t>>> {
    let text = text(name);
    let assembly = handles::require_assembly(t, assembly)?;
    let image = match module {
        Some(module) => handles::image_of(module),
        None => Some(assembly.image),
    };
    let mut is_broken = false;
    let result = (|| {
        let Some(name) = parse_type_name(&text) else {
            return Err(exceptions::throw_argument(t, "failed to parse the type", "typeName"));
        };
        if name.assembly.is_some() {
            let message = "Type names passed to Assembly.GetType() must not specify an assembly.";
            return Err(exceptions::throw(t, ExceptionType::Argument, message));
        }
        let found = match image {
            Some(image) => {
                let scope = Scope {
                    image,
                    ignore_case,
                    search_corlib: false,
                    raise_type_resolve: false,
                    reflection_only: false,
                };
                find(t, &name, &scope)?
            }
            None => None,
        };
        match found {
            Some(ty) => {
                // A missing base class is an error even if the caller asked for null when there is no such type.
                is_broken = ty.parent().is_err();
                ty.parent().to_managed(t)?;
                Obj::of_type(t, ty).map(Some)
            }
            None => Err(throw_type_load(t, &text, &assembly.display_name())),
        }
    })();
    unless_silent(t, throw_on_error || is_broken, result)
}

/// The internal calls of `System.RuntimeTypeHandle` and `System.Reflection.Assembly`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.RuntimeTypeHandle::internal_from_name", &internal_from_name),
    InternalCall::new("System.Reflection.Assembly::InternalGetType", &assembly_get_type),
];

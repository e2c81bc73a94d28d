//! System.RuntimeType: types made of other types, and members of an instantiation by their definition.

use crate::emit::finished_builder_method;
use crate::generic_constraints::arguments_fit;
use crate::handles::{address, require_method};
use crate::objects::{method_object, types_of_array};
use crate::runtime_type::this_type;
use crate::thread_cache::ThreadCache;
use crate::type_lookup::throw_type_load;
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions::{self, Thrown, ToManaged};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, Obj};
use saki_types::{ElementType, LoadError, Method, Ty, universe};

/// The type to build on: for a by-reference type its element, as in Mono. No type can be built on TypedReference.
fn base_for_construction(t: CurrentThread, ty: Ty) -> Managed<Ty> {
    let inner = if ty.is_byref() { ty.element().unwrap_or(ty) } else { ty };
    match inner.element_type {
        ElementType::TypedByRef => Err(throw_type_load(t, &inner.full_name(), "")),
        _ => Ok(inner),
    }
}

/// The exception for an array of structs that live on the stack only.
pub fn throw_no_array_of(t: CurrentThread, element: Ty) -> Thrown {
    let name = format!("{}[]", element.full_name());
    let error = LoadError::type_load(format!("Could not create array type '{name}'"), name);
    exceptions::throw_load_error(t, &error)
}

/// Most dimensions of an array, as .NET and Mono.
const MAX_RANK: i32 = 32;

/// `make_array_type(rank)`; rank 0 = zero-based one-dimensional.
fn make_array_type<'t>(t: CurrentThread<'t>, this: Option<Obj>, rank: i32) -> Managed<Obj<'t>> {
    let ty = this_type(t, this)?;
    let element = base_for_construction(t, ty)?;
    if rank > MAX_RANK {
        let array = universe().array_of(element, rank as u32);
        let message = format!("{} has too many dimensions.", array.full_name());
        return Err(exceptions::throw(t, ExceptionType::TypeLoad, &message));
    }
    if element.is_byref_like().to_managed(t)? {
        return Err(throw_no_array_of(t, element));
    }
    let array = match rank {
        0 => universe().sz_array_of(element),
        _ => universe().array_of(element, rank as u32),
    };
    Obj::of_type(t, array)
}

fn make_byref_type<'t>(t: CurrentThread<'t>, this: Option<Obj>) -> Managed<Obj<'t>> {
    let ty = this_type(t, this)?;
    let element = base_for_construction(t, ty)?;
    Obj::of_type(t, universe().byref_to(element))
}

fn make_pointer_type<'t>(t: CurrentThread<'t>, ty: Option<Obj>) -> Managed<Obj<'t>> {
    let ty = this_type(t, ty)?;
    let element = base_for_construction(t, ty)?;
    Obj::of_type(t, universe().pointer_to(element))
}

/// A generic type and its arguments, followed by None.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Instantiation {
    definition: Ty,
    arguments: [Option<Ty>; 6],
}

thread_local! {
    /// The latest instantiations; their arguments fit the constraints.
    static RECENT: ThreadCache<Instantiation, Ty, 16> = const { ThreadCache::new() };
}

impl Instantiation {
    /// None for instantiations that are not remembered: with more than six arguments, or with one that is no runtime
    /// type.
    fn new(definition: Ty, types: Option<Array>) -> Option<Instantiation> {
        let count = types.map_or(0, Array::length);
        let mut arguments = [None; 6];
        for (index, argument) in arguments.get_mut(..count)?.iter_mut().enumerate() {
            *argument = Some(types?.get(index)?.as_type()?);
        }
        Some(Instantiation { definition, arguments })
    }

    fn hash(&self) -> usize {
        let arguments = self.arguments.iter().map_while(|&argument| argument);
        arguments.fold(address(self.definition), |hash, argument| hash.rotate_left(20) ^ address(argument))
    }

    #[inline(never)]
    fn find_recent(&self) -> Option<Ty> {
        RECENT.with(|recent| recent.get(self.hash(), self))
    }

    #[inline(never)]
    fn remember(self, ty: Ty) {
        RECENT.with(|recent| recent.put(self.hash(), self, ty));
    }
}

/// `MakeGenericType(Type definition, Type[] arguments)`
fn make_generic_type<'t>(t: CurrentThread<'t>, definition: Option<Obj>, arguments: Option<Array>) -> Managed<Obj<'t>> {
    let definition = this_type(t, definition)?;
    let wanted = Instantiation::new(definition, arguments);
    if let Some(known) = wanted.and_then(|wanted| wanted.find_recent()) {
        return Obj::of_type(t, known);
    }
    let Some(arguments) = types_of_array(arguments) else {
        let message = "Generic arguments that are not runtime types are not supported here.";
        return Err(exceptions::throw(t, ExceptionType::NotSupported, message));
    };
    if !definition.is_generic_definition() || definition.args.len() != arguments.len() {
        return Err(exceptions::throw(t, ExceptionType::Argument, "The number of generic arguments is wrong."));
    }
    if !arguments_fit(definition.args, &arguments, &arguments, &[]).to_managed(t)? {
        let message = "Invalid generic arguments";
        return Err(exceptions::throw_argument(t, message, "typeArguments"));
    }
    let made = universe().instantiate(definition, &arguments).to_managed(t)?;
    if let Some(wanted) = wanted {
        wanted.remember(made);
    }
    Obj::of_type(t, made)
}

/// The method of a method object, or of a builder whose type is finished.
fn finished_or_loaded(t: CurrentThread, object: Option<Obj>) -> Managed<&'static Method> {
    match object.and_then(finished_builder_method) {
        Some(method) => Ok(method),
        None => require_method(t, object),
    }
}

/// The method of this instantiation that has the definition of `generic`; also for constructors.
fn get_corresponding_method<'t>(
    t: CurrentThread<'t>,
    this: Option<Obj>,
    generic: Option<Obj>,
) -> Managed<Option<Obj<'t>>> {
    let ty = this_type(t, this)?;
    let method = finished_or_loaded(t, generic)?;
    let Some(rid) = method.rid() else { return Ok(None) };
    if ty.generic_definition() != method.owner.generic_definition() || ty.image() != method.image() {
        return Ok(None);
    }
    method_object(t, ty.method_by_rid(rid).to_managed(t)?, ty).map(Some)
}

/// The internal calls of `System.RuntimeType`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.RuntimeType::make_array_type", &make_array_type),
    InternalCall::new("System.RuntimeType::make_byref_type", &make_byref_type),
    InternalCall::new("System.RuntimeType::MakePointerType", &make_pointer_type),
    InternalCall::new("System.RuntimeType::MakeGenericType", &make_generic_type),
    InternalCall::new("System.RuntimeType::GetCorrespondingInflatedMethod", &get_corresponding_method),
    InternalCall::new("System.RuntimeType::GetCorrespondingInflatedConstructor", &get_corresponding_method),
];

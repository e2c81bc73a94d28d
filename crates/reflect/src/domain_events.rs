//! The AppDomain's events of loading: each is raised by the method of System.AppDomain that calls the program's
//! handlers.
//!
//! Left out: whether an event may be raised at the time (`loader_events`).

use crate::handles::assembly_of;
use crate::library_calls::call_for_object;
use crate::objects::assembly_object;
use saki_runtime::ExceptionType;
use saki_runtime::exec::invoke::Slot;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::{CurrentThread, Managed, ManagedField, Obj, Str, vm};
use saki_types::{Assembly, LibraryType};

static ASSEMBLY_RESOLVE: ManagedField = ManagedField::new(LibraryType::AppDomain, "AssemblyResolve");
static ASSEMBLY_LOAD: ManagedField = ManagedField::new(LibraryType::AppDomain, "AssemblyLoad");
static REFLECTION_ONLY_RESOLVE: ManagedField =
    ManagedField::new(LibraryType::AppDomain, "ReflectionOnlyAssemblyResolve");
static TYPE_RESOLVE: ManagedField = ManagedField::new(LibraryType::AppDomain, "TypeResolve");

/// Whether the program has handlers for an event of the AppDomain.
fn has_handlers(t: CurrentThread, event: &ManagedField) -> bool {
    vm::domain_object(t).is_some_and(|domain| event.obj(domain).is_some())
}

/// Calls an instance method of the AppDomain that raises an event; the arguments are three at most.
fn raise<'t>(t: CurrentThread<'t>, method: &str, arguments: &[Slot]) -> Managed<Option<Obj<'t>>> {
    let Some(domain) = vm::domain_object(t) else { return Ok(None) };
    let class = domain.ty();
    let Some(method) = class.find_method(method, arguments.len()).to_managed(t)? else {
        return Err(exceptions::throw_default(t, ExceptionType::MissingMethod));
    };
    let mut words = [Slot(0); 4];
    words[0] = Slot::from_ref(domain);
    words[1..=arguments.len()].copy_from_slice(arguments);
    call_for_object(t, method, &words[..=arguments.len()])
}

/// The assembly that a handler of AssemblyResolve (or ReflectionOnlyAssemblyResolve, where an assembly of that kind
/// asks) gives.
///
/// # Errors
/// What the handler throws.
pub(crate) fn raise_assembly_resolve(
    t: CurrentThread,
    name: &str,
    requesting: Option<&'static Assembly>,
) -> Managed<Option<&'static Assembly>> {
    let reflection_only = requesting.is_some_and(|assembly| assembly.reflection_only);
    let event = if reflection_only { &REFLECTION_ONLY_RESOLVE } else { &ASSEMBLY_RESOLVE };
    if !has_handlers(t, event) {
        return Ok(None);
    }
    let name = Str::new(t, name)?;
    let requesting = requesting.map(|assembly| assembly_object(t, assembly)).transpose()?;
    let words = [Slot::from_ref(name), Slot::from_ref(requesting), Slot::from_bool(reflection_only)];
    let found = raise(t, "DoAssemblyResolve", &words)?;
    Ok(found.filter(|&found| reflection_only || !is_for_reflection_only(found)).and_then(assembly_of))
}

/// Whether an Assembly object is for reflection only, so that the assembly's code may not run.
fn is_for_reflection_only(object: Obj) -> bool {
    static ACCESS: ManagedField = ManagedField::new(LibraryType::AssemblyBuilder, "access");
    /// System.Reflection.Emit.AssemblyBuilderAccess.
    const REFLECTION_ONLY: i32 = 6;
    if object.ty().is(LibraryType::AssemblyBuilder) {
        return ACCESS.get::<i32>(object) == REFLECTION_ONLY;
    }
    assembly_of(object).is_some_and(|assembly| assembly.reflection_only)
}

/// The assembly that a TypeResolve handler gives for a type that was not found.
///
/// # Errors
/// What the handler throws.
pub(crate) fn raise_type_resolve(t: CurrentThread, type_name: &str) -> Managed<Option<&'static Assembly>> {
    if !has_handlers(t, &TYPE_RESOLVE) {
        return Ok(None);
    }
    let name = Str::new(t, type_name)?;
    let found = raise(t, "DoTypeResolve", &[Slot::from_ref(name)])?;
    Ok(found.and_then(assembly_of))
}

/// Whether the program has handlers for AssemblyLoad.
pub(crate) fn is_load_awaited(t: CurrentThread) -> bool {
    has_handlers(t, &ASSEMBLY_LOAD)
}

/// Raises AssemblyLoad.
///
/// # Errors
/// What a handler throws.
pub(crate) fn raise_assembly_load(t: CurrentThread, assembly: &'static Assembly) -> Managed<()> {
    let assembly = assembly_object(t, assembly)?;
    raise(t, "DoAssemblyLoad", &[Slot::from_ref(assembly)])?;
    Ok(())
}

/// Raises TypeResolve for a type that is still a builder, so that a handler finishes it.
///
/// # Errors
/// What the handler throws.
pub(crate) fn raise_type_builder_resolve(t: CurrentThread, builder: Obj) -> Managed<()> {
    raise(t, "DoTypeBuilderResolve", &[Slot::from_ref(builder)])?;
    Ok(())
}

//! Finding the caller: the assembly or method on whose behalf a reflection method runs.

use crate::objects::assembly_object;
use saki_runtime::ExceptionType;
use saki_runtime::object::exceptions;
use saki_runtime::vm::stack_trace;
use saki_runtime::{CurrentThread, InternalCall, Managed, Obj, vm};
use saki_types::{Assembly, Image, Method};

/// Whether the method belongs to a type of corlib in this namespace (nested types are in none).
fn is_in_corlib_namespace(method: &'static Method, namespaces: &[&str]) -> bool {
    let Some(def) = method.owner.def() else { return method.image().is_corlib };
    if !def.image.is_corlib {
        return false;
    }
    let mut outer = method.owner;
    while let Ok(Some(enclosing)) = outer.enclosing_type() {
        outer = enclosing;
    }
    outer.def().is_some_and(|d| namespaces.contains(&d.namespace))
}

/// The innermost method outside corlib's System and System.Reflection.
pub fn calling_method(t: CurrentThread) -> Option<&'static Method> {
    let frames = stack_trace::walk(t);
    frames.iter().map(|f| f.method).find(|m| !is_in_corlib_namespace(m, &["System", "System.Reflection"]))
}

/// The image whose code asked for a type or an assembly.
pub fn calling_image(t: CurrentThread) -> Option<&'static Image> {
    calling_method(t).map(|m| m.image())
}

/// The calling assembly, whose directory assemblies are also looked for in.
pub fn calling_assembly(t: CurrentThread) -> Option<&'static Assembly> {
    calling_image(t).map(|image| image.assembly())
}

/// The exception where a caller is asked for and there is none.
pub(crate) fn no_caller(t: CurrentThread) -> exceptions::Thrown {
    exceptions::throw(t, ExceptionType::NotSupported, "There is no calling method.")
}

/// (innermost method outside System.Reflection, the next one outside it)
pub fn executing_and_calling(t: CurrentThread) -> (Option<&'static Method>, Option<&'static Method>) {
    let frames = stack_trace::walk(t);
    let mut methods = frames.iter().map(|f| f.method).filter(|m| !is_in_corlib_namespace(m, &["System.Reflection"]));
    (methods.next(), methods.next())
}

fn get_executing_assembly<'t>(t: CurrentThread<'t>) -> Managed<Obj<'t>> {
    let executing = executing_and_calling(t).0.ok_or_else(|| no_caller(t))?;
    assembly_object(t, executing.image().assembly())
}

fn get_calling_assembly<'t>(t: CurrentThread<'t>) -> Managed<Obj<'t>> {
    let (executing, calling) = executing_and_calling(t);
    let found = calling.or(executing).ok_or_else(|| no_caller(t))?;
    assembly_object(t, found.image().assembly())
}

fn get_entry_assembly<'t>(t: CurrentThread<'t>) -> Managed<Option<Obj<'t>>> {
    vm::entry_assembly().map(|assembly| assembly_object(t, assembly)).transpose()
}

/// The internal calls of `System.Reflection.Assembly`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.Reflection.Assembly::GetExecutingAssembly", &get_executing_assembly),
    InternalCall::new("System.Reflection.Assembly::GetCallingAssembly", &get_calling_assembly),
    InternalCall::new("System.Reflection.Assembly::GetEntryAssembly", &get_entry_assembly),
];

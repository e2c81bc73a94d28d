//! Loading assemblies by name, file and bytes, with the AppDomain's resolve events.

use crate::callers::calling_assembly;
use crate::handles::assembly_of;
use crate::invocation::call_for_object;
use crate::known;
use crate::objects::{assembly_object, text};
use saki_runtime::ExceptionType;
use saki_runtime::exceptions::{self, Thrown, ToManaged};
use saki_runtime::invoke::Slot;
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Place, Str, thread_data, vm};
use saki_types::binder::{AssemblyName, Binder};
use saki_types::emitted::EmittedType;
use saki_types::{Assembly, Image, LoadErrorKind, LoadResult, LoaderEvents, universe};
use std::path::Path;

static ASSEMBLY_RESOLVE: ManagedField = ManagedField::corlib("System", "AppDomain", "AssemblyResolve");
static ASSEMBLY_LOAD: ManagedField = ManagedField::corlib("System", "AppDomain", "AssemblyLoad");
static REFLECTION_ONLY_RESOLVE: ManagedField =
    ManagedField::corlib("System", "AppDomain", "ReflectionOnlyAssemblyResolve");
static TYPE_RESOLVE: ManagedField = ManagedField::corlib("System", "AppDomain", "TypeResolve");
static EVIDENCE: ManagedField = ManagedField::corlib("System.Reflection", "RuntimeAssembly", "_evidence");

/// Raises the AppDomain's events for the loader.
pub struct AppDomainEvents;

impl LoaderEvents for AppDomainEvents {
    fn resolve_assembly(&self, wanted: &AssemblyName, requesting: Option<&'static Image>) -> Option<&'static Assembly> {
        resolve_assembly(wanted, requesting)
    }

    fn assembly_loaded(&self, assembly: &'static Assembly) {
        assembly_loaded(assembly);
    }

    fn finish_type(&self, emitted: &'static EmittedType) {
        crate::emit::create::finish_type(emitted);
    }
}

fn resolve_assembly(wanted: &AssemblyName, requesting: Option<&'static Image>) -> Option<&'static Assembly> {
    let t = CurrentThread::attached()?;
    vm::domain_object(t)?;
    if thread_data::of(t).caller_raises_resolve().get() {
        return None;
    }
    if t.is_pending() {
        return None;
    }
    // An exception of a handler counts as "not found" here, as in Mono.
    match raise_assembly_resolve(t, &wanted.display(), requesting.map(|image| image.assembly())) {
        Ok(found) => found,
        Err(_) => {
            t.take_pending();
            None
        }
    }
}

fn assembly_loaded(assembly: &'static Assembly) {
    let Some(t) = CurrentThread::attached() else { return };
    if !has_handlers(t, &ASSEMBLY_LOAD) || t.is_pending() {
        return;
    }
    let raised = (|| -> Managed<()> {
        let assembly = assembly_object(t, assembly)?;
        call_domain(t, "DoAssemblyLoad", &[Slot::from_ref(assembly)])?;
        Ok(())
    })();
    if raised.is_err() {
        t.take_pending();
    }
}

/// Whether the program has handlers for an event of the AppDomain.
fn has_handlers(t: CurrentThread, event: &ManagedField) -> bool {
    vm::domain_object(t).is_some_and(|domain| event.obj(domain).is_some())
}

/// Calls an instance method of the AppDomain that raises an event.
pub(crate) fn call_domain<'t>(t: CurrentThread<'t>, method: &str, arguments: &[Slot]) -> Managed<Option<Obj<'t>>> {
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

fn raise_assembly_resolve(
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
    let found = call_domain(t, "DoAssemblyResolve", &words)?;
    Ok(found.filter(|&found| reflection_only || !is_for_reflection_only(found)).and_then(assembly_of))
}

/// Whether an Assembly object is for reflection only, so that the assembly's code may not run.
fn is_for_reflection_only(object: Obj) -> bool {
    static ACCESS: ManagedField = ManagedField::corlib("System.Reflection.Emit", "AssemblyBuilder", "access");
    /// System.Reflection.Emit.AssemblyBuilderAccess.
    const REFLECTION_ONLY: i32 = 6;
    if known::ASSEMBLY_BUILDER.is(object.ty()) {
        return ACCESS.get::<i32>(object) == REFLECTION_ONLY;
    }
    assembly_of(object).is_some_and(|assembly| assembly.reflection_only)
}

/// The assembly that a TypeResolve handler gives for a type that was not found.
///
/// # Errors
/// What the handler throws.
pub fn resolve_type_event(t: CurrentThread, type_name: &str) -> Managed<Option<&'static Assembly>> {
    if !has_handlers(t, &TYPE_RESOLVE) {
        return Ok(None);
    }
    let name = Str::new(t, type_name)?;
    let found = call_domain(t, "DoTypeResolve", &[Slot::from_ref(name)])?;
    Ok(found.and_then(assembly_of))
}

/// The assembly of this name; None when there is none. Raises AssemblyResolve through the binder's hook.
///
/// # Errors
/// BadImageFormatException, FileLoadException.
pub fn try_resolve(
    t: CurrentThread,
    wanted: &AssemblyName,
    requesting: Option<&'static Image>,
) -> Managed<Option<&'static Assembly>> {
    match universe().binder().resolve(wanted, requesting) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind == LoadErrorKind::FileNotFound => Ok(None),
        Err(error) => Err(exceptions::throw_load_error(t, &error)),
    }
}

/// `AppDomain.LoadAssembly(name, evidence, refOnly, ref mark)`; null when there is none, then managed code throws.
fn load_assembly<'t>(
    t: CurrentThread<'t>,
    _this: Option<Obj>,
    name: Option<Str>,
    evidence: Option<Obj>,
    reflection_only: bool,
    _mark: Place<i32>,
) -> Managed<Option<Obj<'t>>> {
    let Some(name) = name else {
        return Err(exceptions::throw_argument_null(t, "assemblyRef"));
    };
    let text = name.to_rust();
    if reflection_only {
        let found = AssemblyName::parse(&text).map(|wanted| universe().binder().load_reflection_only(&wanted));
        return match found {
            Some(Ok(found)) => assembly_object(t, found).map(Some),
            Some(Err(error)) if error.kind != LoadErrorKind::FileNotFound => {
                Err(exceptions::throw_load_error(t, &error))
            }
            _ => Ok(None),
        };
    }
    let mut found = None;
    if let Some(wanted) = AssemblyName::parse(&text) {
        let before = thread_data::of(t).caller_raises_resolve().replace(true);
        let requesting = calling_assembly(t).map(|assembly| assembly.image);
        let result = try_resolve(t, &wanted, requesting);
        thread_data::of(t).caller_raises_resolve().set(before);
        found = result?;
        if found.is_none() {
            found = beside_caller(t, &wanted)?;
        }
    }
    if found.is_none() {
        found = raise_assembly_resolve(t, &text, None)?;
    }
    let Some(found) = found else { return Ok(None) };
    let object = assembly_object(t, found)?;
    EVIDENCE.set_ref(t, object, evidence);
    Ok(Some(object))
}

/// An assembly in the directory of the calling assembly; None when that was not loaded from a file.
fn beside_caller(t: CurrentThread, wanted: &AssemblyName) -> Managed<Option<&'static Assembly>> {
    let Some(directory) = calling_assembly(t).and_then(|caller| caller.path.parent()) else { return Ok(None) };
    if directory.as_os_str().is_empty() {
        return Ok(None);
    }
    for extension in ["dll", "exe"] {
        let path = directory.join(format!("{}.{extension}", wanted.name));
        if path.is_file() {
            match universe().binder().load_file(&path) {
                Err(error) if error.kind == LoadErrorKind::ReferenceAssembly => {}
                loaded => return loaded.to_managed(t).map(Some),
            }
        }
    }
    Ok(None)
}

/// `AppDomain.LoadAssemblyRaw(byte[], byte[] symbols, evidence, refOnly)`
fn load_bytes<'t>(
    t: CurrentThread<'t>,
    _this: Option<Obj>,
    bytes: Option<Array>,
    _symbols: Option<Array>,
    evidence: Option<Obj>,
    reflection_only: bool,
) -> Managed<Obj<'t>> {
    let Some(bytes) = bytes else {
        return Err(exceptions::throw_argument_null(t, "rawAssembly"));
    };
    let copy = bytes.bytes().unwrap_or_default().to_vec();
    let binder = universe().binder();
    let loaded = if !reflection_only { binder.load_bytes(copy) } else { binder.load_reflection_only_bytes(copy) };
    let loaded = loaded.map_err(|error| match error.kind {
        LoadErrorKind::BadImageFormat | LoadErrorKind::ReferenceAssembly => {
            throw_invalid_file(t, error.kind, &error.message, "In memory assembly")
        }
        _ => exceptions::throw_load_error(t, &error),
    })?;
    let object = assembly_object(t, loaded)?;
    EVIDENCE.set_ref(t, object, evidence);
    Ok(object)
}

/// Loads the assembly in a file named by the program, by one of the binder's functions.
fn load_path<'t>(
    t: CurrentThread<'t>,
    file: Option<Str>,
    load: impl Fn(&Binder, &Path) -> LoadResult<&'static Assembly>,
) -> Managed<Obj<'t>> {
    let Some(file) = file else {
        return Err(exceptions::throw_argument_null(t, "assemblyFile"));
    };
    let text = file.to_rust();
    let path = Path::new(text.strip_prefix("file://").unwrap_or(&text));
    if text.is_empty() || !path.exists() {
        return Err(throw_invalid_file(t, LoadErrorKind::FileNotFound, INVALID_IMAGE, &text));
    }
    match load(universe().binder(), path) {
        Ok(loaded) => assembly_object(t, loaded),
        Err(error) if matches!(error.kind, LoadErrorKind::BadImageFormat | LoadErrorKind::ReferenceAssembly) => {
            Err(throw_invalid_file(t, error.kind, INVALID_IMAGE, &text))
        }
        Err(error) => Err(exceptions::throw_load_error(t, &error)),
    }
}

/// Mono's message for files that are no assemblies, and for files that do not exist.
pub const INVALID_IMAGE: &str = "Invalid Image";

/// FileNotFoundException or BadImageFormatException with a message and a file name.
pub fn throw_invalid_file(t: CurrentThread, kind: LoadErrorKind, message: &str, file: &str) -> Thrown {
    let exception = match kind {
        LoadErrorKind::FileNotFound => ExceptionType::FileNotFound,
        _ => ExceptionType::BadImageFormat,
    };
    exceptions::throw_with_texts(t, exception, [message, file])
}

/// `Assembly.LoadFrom(file, refOnly, ref mark)`
fn load_from<'t>(
    t: CurrentThread<'t>,
    file: Option<Str>,
    reflection_only: bool,
    _mark: Place<i32>,
) -> Managed<Obj<'t>> {
    load_path(t, file, if !reflection_only { Binder::load_from } else { Binder::load_reflection_only_file })
}

/// `Assembly.LoadFile_internal(file, ref mark)`
fn load_file<'t>(t: CurrentThread<'t>, file: Option<Str>, _mark: Place<i32>) -> Managed<Obj<'t>> {
    if file.is_some_and(|file| !Path::new(&file.to_rust()).is_absolute()) {
        let message = "Absolute path information is required.";
        return Err(exceptions::throw_argument(t, message, "assemblyFile"));
    }
    load_path(t, file, Binder::load_named_file)
}

/// `Assembly.load_with_partial_name(name, evidence)`; null when there is none.
fn load_with_partial_name<'t>(
    t: CurrentThread<'t>,
    name: Option<Str>,
    _evidence: Option<Obj>,
) -> Managed<Option<Obj<'t>>> {
    let Some(wanted) = AssemblyName::parse(&text(name)) else { return Ok(None) };
    try_resolve(t, &wanted, None)?.map(|found| assembly_object(t, found)).transpose()
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.AppDomain::LoadAssembly", &load_assembly),
    InternalCall::new("System.AppDomain::LoadAssemblyRaw", &load_bytes),
    InternalCall::new("System.Reflection.Assembly::LoadFrom", &load_from),
    InternalCall::new("System.Reflection.Assembly::LoadFile_internal", &load_file),
    InternalCall::new("System.Reflection.Assembly::load_with_partial_name", &load_with_partial_name),
];

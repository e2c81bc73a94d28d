//! Loading assemblies by name, file and bytes.

use crate::callers::calling_assembly;
use crate::domain_events::raise_assembly_resolve;
use crate::objects::{assembly_object, text};
use saki_runtime::ExceptionType;
use saki_runtime::exec::thread_data;
use saki_runtime::object::exceptions::{self, Thrown, ToManaged};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Place, Str};
use saki_types::binder::{AssemblyName, Binder};
use saki_types::{Assembly, Image, LibraryType, LoadErrorKind, LoadResult, universe};
use std::path::Path;

static EVIDENCE: ManagedField = ManagedField::new(LibraryType::RuntimeAssembly, "_evidence");

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

/// The internal calls of `System.AppDomain` and `System.Reflection.Assembly`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.AppDomain::LoadAssembly", &load_assembly),
    InternalCall::new("System.AppDomain::LoadAssemblyRaw", &load_bytes),
    InternalCall::new("System.Reflection.Assembly::LoadFrom", &load_from),
    InternalCall::new("System.Reflection.Assembly::LoadFile_internal", &load_file),
    InternalCall::new("System.Reflection.Assembly::load_with_partial_name", &load_with_partial_name),
];

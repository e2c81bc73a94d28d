//! Loading assemblies by name, file and bytes, with the AppDomain's resolve events.

use crate::callers::calling_assembly;
use crate::handles::assembly_of;
use crate::known;
use crate::objects::assembly_object;
use saki_runtime::exceptions::{self, Thrown, ToManaged};
use saki_runtime::invoke::{self, Slot};
use saki_runtime::{CurrentThread, InternalCall, Managed, ManagedField, ObjRef, object, strings, thread_data, vm};
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

/// The AppDomain's events of loading.
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
    if vm::domain_object().is_null() {
        return None;
    }
    let t = CurrentThread::current();
    if thread_data::of(t).caller_raises_resolve().get() {
        return None;
    }
    if !t.pending().is_null() {
        return None;
    }
    // What a handler throws counts as "not found" here, as in Mono.
    match raise_assembly_resolve(t, &wanted.display(), requesting.map(|image| image.assembly())) {
        Ok(found) => found,
        Err(_) => {
            t.take_pending();
            None
        }
    }
}

fn assembly_loaded(assembly: &'static Assembly) {
    if vm::domain_object().is_null() || ASSEMBLY_LOAD.get_ref(vm::domain_object()).is_null() {
        return;
    }
    let t = CurrentThread::current();
    if !t.pending().is_null() {
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

/// Calls an instance method of the AppDomain that raises an event.
pub(crate) fn call_domain(t: CurrentThread, method: &str, arguments: &[Slot]) -> Managed<ObjRef> {
    let domain = vm::domain_object();
    let class = object::type_of(domain);
    let Some(method) = class.find_method(method, arguments.len()).to_managed(t)? else {
        return Err(exceptions::throw_default(t, "MissingMethodException"));
    };
    let mut words = [Slot(0); 4];
    words[0] = Slot::from_ref(domain);
    words[1..=arguments.len()].copy_from_slice(arguments);
    Ok(invoke::invoke(t, method, &words[..=arguments.len()])?.as_ref())
}

fn raise_assembly_resolve(
    t: CurrentThread,
    name: &str,
    requesting: Option<&'static Assembly>,
) -> Managed<Option<&'static Assembly>> {
    let reflection_only = requesting.is_some_and(|assembly| assembly.reflection_only);
    let event = if reflection_only { &REFLECTION_ONLY_RESOLVE } else { &ASSEMBLY_RESOLVE };
    if event.get_ref(vm::domain_object()).is_null() {
        return Ok(None);
    }
    let name = strings::new_string(t, name)?;
    let requesting = match requesting {
        Some(assembly) => assembly_object(t, assembly)?,
        None => ObjRef::NULL,
    };
    let words = [Slot::from_ref(name), Slot::from_ref(requesting), Slot::from_bool(reflection_only)];
    let found = call_domain(t, "DoAssemblyResolve", &words)?;
    if found.is_null() || (!reflection_only && is_for_reflection_only(found)) {
        return Ok(None);
    }
    Ok(assembly_of(found))
}

/// Whether code of an Assembly object (not null) may not run.
fn is_for_reflection_only(object: ObjRef) -> bool {
    static ACCESS: ManagedField = ManagedField::corlib("System.Reflection.Emit", "AssemblyBuilder", "access");
    /// System.Reflection.Emit.AssemblyBuilderAccess.
    const REFLECTION_ONLY: i32 = 6;
    if known::ASSEMBLY_BUILDER.is(object::type_of(object)) {
        return ACCESS.get::<i32>(object) == REFLECTION_ONLY;
    }
    assembly_of(object).is_some_and(|assembly| assembly.reflection_only)
}

/// The assembly that a TypeResolve handler gives for a type that was not found.
///
/// # Errors
/// What the handler throws.
pub fn resolve_type_event(t: CurrentThread, type_name: &str) -> Managed<Option<&'static Assembly>> {
    if TYPE_RESOLVE.get_ref(vm::domain_object()).is_null() {
        return Ok(None);
    }
    let name = strings::new_string(t, type_name)?;
    let found = call_domain(t, "DoTypeResolve", &[Slot::from_ref(name)])?;
    Ok(if found.is_null() { None } else { assembly_of(found) })
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
fn load_assembly(
    t: CurrentThread,
    _this: ObjRef,
    name: ObjRef,
    evidence: ObjRef,
    reflection_only: u8,
    _mark: *mut i32,
) -> ObjRef {
    t.run(|| {
        if name.is_null() {
            return Err(exceptions::throw_argument_null(t, "assemblyRef"));
        }
        let text = strings::to_rust(name);
        if reflection_only != 0 {
            let found = AssemblyName::parse(&text).map(|wanted| universe().binder().load_reflection_only(&wanted));
            return match found {
                Some(Ok(found)) => assembly_object(t, found),
                Some(Err(error)) if error.kind != LoadErrorKind::FileNotFound => {
                    Err(exceptions::throw_load_error(t, &error))
                }
                _ => Ok(ObjRef::NULL),
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
        let Some(found) = found else { return Ok(ObjRef::NULL) };
        let object = assembly_object(t, found)?;
        EVIDENCE.set_ref(t, object, evidence);
        Ok(object)
    })
}

/// An assembly in the directory of the caller, when that was itself loaded from outside the application directory.
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
fn load_bytes(
    t: CurrentThread,
    _this: ObjRef,
    bytes: ObjRef,
    _symbols: ObjRef,
    evidence: ObjRef,
    reflection_only: u8,
) -> ObjRef {
    t.run(|| {
        if bytes.is_null() {
            return Err(exceptions::throw_argument_null(t, "rawAssembly"));
        }
        let length = object::array_length(bytes);
        // SAFETY: a byte[] of that length; nothing allocates on the managed heap while it is copied.
        let copy = unsafe { std::slice::from_raw_parts(object::element_address(bytes, 0, 1), length) }.to_vec();
        let binder = universe().binder();
        let loaded =
            if reflection_only == 0 { binder.load_bytes(copy) } else { binder.load_reflection_only_bytes(copy) };
        let loaded = loaded.map_err(|error| match error.kind {
            LoadErrorKind::BadImageFormat | LoadErrorKind::ReferenceAssembly => {
                throw_invalid_file(t, error.kind, &error.message, "In memory assembly")
            }
            _ => exceptions::throw_load_error(t, &error),
        })?;
        let object = assembly_object(t, loaded)?;
        EVIDENCE.set_ref(t, object, evidence);
        Ok(object)
    })
}

/// Loads the assembly in a file named by the program, by one of the binder's functions.
fn load_path(
    t: CurrentThread,
    file: ObjRef,
    load: impl Fn(&Binder, &Path) -> LoadResult<&'static Assembly>,
) -> Managed<ObjRef> {
    if file.is_null() {
        return Err(exceptions::throw_argument_null(t, "assemblyFile"));
    }
    let text = strings::to_rust(file);
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
    let (namespace, name) = match kind {
        LoadErrorKind::FileNotFound => ("System.IO", "FileNotFoundException"),
        _ => ("System", "BadImageFormatException"),
    };
    exceptions::throw_with_texts(t, namespace, name, [message, file])
}

/// `Assembly.LoadFrom(file, refOnly, ref mark)`
fn load_from(t: CurrentThread, file: ObjRef, reflection_only: u8, _mark: *mut i32) -> ObjRef {
    t.run(|| {
        load_path(t, file, if reflection_only == 0 { Binder::load_from } else { Binder::load_reflection_only_file })
    })
}

/// `Assembly.LoadFile_internal(file, ref mark)`
fn load_file(t: CurrentThread, file: ObjRef, _mark: *mut i32) -> ObjRef {
    t.run(|| {
        if !file.is_null() && !Path::new(&strings::to_rust(file)).is_absolute() {
            let message = "Absolute path information is required.";
            return Err(exceptions::throw_argument(t, message, "assemblyFile"));
        }
        load_path(t, file, Binder::load_named_file)
    })
}

/// `Assembly.load_with_partial_name(name, evidence)`; null when there is none.
fn load_with_partial_name(t: CurrentThread, name: ObjRef, _evidence: ObjRef) -> ObjRef {
    t.run(|| {
        let Some(wanted) = AssemblyName::parse(&strings::to_rust(name)) else { return Ok(ObjRef::NULL) };
        match try_resolve(t, &wanted, None)? {
            Some(found) => assembly_object(t, found),
            None => Ok(ObjRef::NULL),
        }
    })
}

pub const TABLE: &[InternalCall] = &[
    InternalCall::new("System.AppDomain::LoadAssembly", &load_assembly),
    InternalCall::new("System.AppDomain::LoadAssemblyRaw", &load_bytes),
    InternalCall::new("System.Reflection.Assembly::LoadFrom", &load_from),
    InternalCall::new("System.Reflection.Assembly::LoadFile_internal", &load_file),
    InternalCall::new("System.Reflection.Assembly::load_with_partial_name", &load_with_partial_name),
];

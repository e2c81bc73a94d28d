//! System.Runtime.Loader.AssemblyLoadContext, and loading assemblies by name, path and bytes.
//!
//! A context has a number; the default one is 0. Its native word is the number plus 1, and the table has the GC handle
//! that managed code gave for the managed context, by which its methods are called. Invariant: assemblies of the
//! default context have `LoadContext::Default`, those of others `LoadContext::Custom (number)`.
//!
//! The records of a collectible context's assemblies have one owner (`types::collectible`):
//!
//! | state | handles of the managed context | next |
//! |---|---|---|
//! | in use | weak | unloaded, by `Unload` or the finalizer of the managed context |
//! | unloaded | weak, and strong: it still resolves its assemblies' references | dead: no record is reachable |
//! | dead | both freed | - |
//!
//! Invariant: while an assembly of a context is reachable, the context's first handle is not freed: other threads may
//! have its number. A call that has no such assembly makes a handle of its own (`ask`).
//!
//! Left out: contexts whose types a type made at run time names are never freed (`Owner::keep_for_ever`), unless its
//! assembly is collectible.

use crate::arguments::{AssemblyArgument, ObjectPlace, StackMark};
use crate::assembly::NameParts;
use crate::gc_handle::{allocate, internal_free, internal_get};
use saki_base::locks::{Mutex, rank};
use saki_reflect::callers::executing_and_calling;
use saki_reflect::objects::assembly_object;
use saki_runtime::exec::invoke;
use saki_runtime::object::{exceptions, statics};
use saki_runtime::{Array, CurrentThread, InternalCall, Managed, ManagedField, Obj, Slot, Str, ToManaged, vm};
use saki_types::binder::{AssemblyName, LoadContext, UNSPECIFIED, not_collectible};
use saki_types::collectible::Owner;
use saki_types::emitted::EmittedType;
use saki_types::{Assembly, Image, LibraryType, LoadError, LoadErrorKind, LoadResult, LoaderEvents, Method, universe};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy)]
struct Context {
    /// The GC handle of the managed context; 0 = none yet, or not any more.
    managed: isize,
    /// Keeps the managed context of an unloaded one; 0 = none.
    strong: isize,
    /// Of a collectible context, until its records are freed.
    owner: Option<&'static Owner>,
}

/// By number.
static CONTEXTS: Mutex<rank::LoadContexts, Vec<Context>> = Mutex::new(Vec::new());

/// The context of a native word; the default one for 0.
fn context_of(native: isize) -> LoadContext {
    match u32::try_from(native - 1) {
        Ok(number) if number > 0 => LoadContext::Custom(number),
        _ => LoadContext::Default,
    }
}

/// The context of an AssemblyLoadContext object; the default one for null.
pub(crate) fn context_of_object(context: Option<Obj>) -> LoadContext {
    static NATIVE: ManagedField = ManagedField::new(LibraryType::AssemblyLoadContext, "_nativeAssemblyLoadContext");
    context.map_or(LoadContext::Default, |context| context_of(NATIVE.get::<isize>(context)))
}

/// A number for managed code, which stays valid while an assembly of the context is reachable.
fn managed_handle(number: u32) -> isize {
    CONTEXTS.lock().get(number as usize).map_or(0, |context| context.managed)
}

/// The managed context.
fn managed_object(t: CurrentThread<'_>, number: u32) -> Option<Obj<'_>> {
    // Under the lock: behind it the handle may be freed, and its number used again.
    let contexts = CONTEXTS.lock();
    contexts.get(number as usize).and_then(|context| internal_get(t, context.managed))
}

/// The managed GC handle of an assembly's context, and whether that is the default one; None before managed code has
/// made an object for it.
pub fn managed_context(assembly: &Assembly) -> Option<(isize, bool)> {
    let number = match assembly.load_context {
        LoadContext::Custom(number) => number,
        _ => 0,
    };
    Some((managed_handle(number), number == 0)).filter(|(handle, _)| *handle != 0)
}

/// The owner of a collectible context's records.
fn owner_of(context: LoadContext) -> Option<&'static Owner> {
    let LoadContext::Custom(number) = context else { return None };
    CONTEXTS.lock().get(number as usize).and_then(|context| context.owner)
}

fn initialize(_t: CurrentThread, managed: isize, is_default: i32, is_collectible: i32) -> isize {
    // Without address space for it the context is never freed.
    let owner = if is_collectible != 0 { universe().create_context_owner() } else { None };
    let mut contexts = CONTEXTS.lock();
    if contexts.is_empty() {
        contexts.push(Context { managed: 0, strong: 0, owner: None });
    }
    if is_default != 0 {
        contexts[0].managed = managed;
        return 1;
    }
    contexts.push(Context { managed, strong: 0, owner });
    contexts.len() as isize
}

/// Unloads a context, for which managed code gives a strong handle of the managed context.
fn prepare_release(_t: CurrentThread, native: isize, strong: isize) {
    let LoadContext::Custom(number) = context_of(native) else { return };
    let owner = {
        let mut contexts = CONTEXTS.lock();
        let Some(context) = contexts.get_mut(number as usize) else { return };
        context.strong = strong;
        context.owner
    };
    if let Some(owner) = owner {
        owner.release();
    }
}

/// Lets the managed contexts go whose assemblies are dead. Called by the thread that frees their records.
fn forget_dead() {
    let mut unused = Vec::new();
    for context in CONTEXTS.lock().iter_mut().filter(|context| context.owner.is_some_and(Owner::is_dead)) {
        unused.extend([std::mem::take(&mut context.managed), std::mem::take(&mut context.strong)]);
        context.owner = None;
    }
    CurrentThread::with_attached(|t| {
        for handle in unused {
            internal_free(t, handle);
        }
    });
}

/// The functions that drop dead records from the tables of this crate.
pub const FORGET_DEAD: &[fn()] = &[forget_dead, crate::emit::forget_dead_modules];

fn context_of_assembly(_t: CurrentThread, assembly: AssemblyArgument) -> isize {
    match assembly.assembly().load_context {
        LoadContext::Custom(number) => managed_handle(number),
        _ => 0,
    }
}

fn is_tracing(_t: CurrentThread) -> bool {
    false
}

fn loaded_assemblies(t: CurrentThread, result: ObjectPlace) -> Managed<()> {
    let class = universe().library_type(LibraryType::RuntimeAssembly).to_managed(t)?;
    let loaded = universe().binder().loaded();
    let array = Array::new(t, class, loaded.len())?;
    for (index, assembly) in loaded.iter().enumerate() {
        array.set(t, index, Some(assembly_object(t, assembly)?));
    }
    result.set(t, array);
    Ok(())
}

fn assembly_count(_t: CurrentThread) -> u32 {
    universe().binder().loaded().len() as u32
}

fn entry_assembly(t: CurrentThread, result: ObjectPlace) -> Managed<()> {
    if let Some(assembly) = vm::entry_assembly() {
        result.set(t, assembly_object(t, assembly)?);
    }
    Ok(())
}

/// Of the method that the mark says: the innermost one outside reflection, or its caller.
fn executing_assembly(t: CurrentThread, mark: StackMark, result: ObjectPlace) -> Managed<()> {
    let caller = match mark.is_of_callers_caller() {
        true => executing_and_calling(t).1.map(|method| method.image().assembly()),
        false => saki_reflect::callers::calling_assembly(t),
    };
    if let Some(assembly) = caller.or_else(vm::entry_assembly) {
        result.set(t, assembly_object(t, assembly)?);
    }
    Ok(())
}

fn load_from_path(
    t: CurrentThread,
    native: isize,
    il_path: *const u16,
    native_path: *const u16,
    result: ObjectPlace,
) -> Managed<()> {
    let path = if il_path.is_null() { native_path } else { il_path };
    if path.is_null() {
        return Err(exceptions::throw_argument_null(t, "assemblyPath"));
    }
    let path = PathBuf::from(crate::text::text_at(path));
    let context = context_of(native);
    let load = || -> LoadResult<&'static Assembly> {
        let binder = universe().binder();
        // A file whose assembly the context has from elsewhere gives that assembly.
        if let Some(name) = saki_types::binder::identity_of_file(&path)? {
            let of_any_version = AssemblyName { version: [UNSPECIFIED; 4], ..name };
            if let Some(known) = binder.find_in_context(&of_any_version, context) {
                return Ok(known);
            }
        }
        binder.load_file_in(&path, context, owner_of(context))
    };
    let assembly = load().map_err(|error| in_words_of_net(error, Some(&path))).to_managed(t)?;
    result.set(t, assembly_object(t, assembly)?);
    Ok(())
}

/// The error of loading a file, or of bytes without a file, that are not an assembly.
fn in_words_of_net(error: LoadError, path: Option<&Path>) -> LoadError {
    let message = match (error.kind, path) {
        (LoadErrorKind::FileNotFound, Some(path)) => {
            let path = path.display();
            format!("Could not load file or assembly '{path}'. The system cannot find the file specified.\n")
        }
        (LoadErrorKind::BadImageFormat, Some(path)) => {
            format!("Bad IL format. The format of the file '{}' is invalid.", path.display())
        }
        (LoadErrorKind::BadImageFormat, None) => "Bad IL format.".to_owned(),
        _ => return error,
    };
    LoadError { message, ..error }
}

fn load_from_stream(
    t: CurrentThread,
    native: isize,
    start: isize,
    length: i32,
    _symbols: isize,
    _symbols_length: i32,
    result: ObjectPlace,
) -> Managed<()> {
    // SAFETY: managed code passes the address and length of a pinned array.
    let bytes = unsafe { std::slice::from_raw_parts(start as *const u8, usize::try_from(length).unwrap_or(0)) };
    let context = context_of(native);
    let loaded = universe().binder().load_bytes_in(bytes.to_vec(), context, owner_of(context));
    let assembly = loaded.map_err(|error| in_words_of_net(error, None)).to_managed(t)?;
    result.set(t, assembly_object(t, assembly)?);
    Ok(())
}

/// `AssemblyNameFlags.PublicKey`: the key is whole, no token.
const WHOLE_KEY: i32 = 1;

impl NameParts {
    /// The public key or its token; empty for none.
    ///
    /// # Safety
    /// The key is there.
    pub(crate) unsafe fn key(&self) -> Vec<u8> {
        let length = usize::try_from(self.key_bytes).unwrap_or(0);
        if self.key_or_token.is_null() {
            return Vec::new();
        }
        // SAFETY: so many bytes lie there, as this function demands.
        unsafe { std::slice::from_raw_parts(self.key_or_token, length) }.to_vec()
    }

    /// # Safety
    /// The texts and the key are there and stay for the call.
    pub(crate) unsafe fn to_name(&self) -> AssemblyName {
        let text = |start: *const u16| crate::text::optional_text_at(start).unwrap_or_default();
        // SAFETY: the key is there, as this function demands.
        let key = unsafe { self.key() };
        let token = if self.flags & WHOLE_KEY != 0 { saki_types::binder::token_of_key(&key) } else { key };
        AssemblyName {
            name: text(self.name),
            version: self.version,
            culture: text(self.culture),
            public_key_token: token,
        }
    }
}

fn internal_load(
    t: CurrentThread,
    parts: *const NameParts,
    requesting: ObjectPlace,
    _mark: StackMark,
    throws: i32,
    context: ObjectPlace,
    result: ObjectPlace,
) -> Managed<()> {
    // SAFETY: managed code passes its own struct.
    let name = unsafe { (*parts).to_name() };
    let requesting = requesting.get().and_then(saki_reflect::handles::assembly_of);
    let context = match (context.get(), requesting) {
        (context @ Some(_), _) => context_of_object(context),
        (None, Some(assembly)) => assembly.load_context,
        (None, None) => {
            saki_reflect::callers::calling_assembly(t).map_or(LoadContext::Default, |assembly| assembly.load_context)
        }
    };
    let binder = universe().binder();
    let found = match context {
        LoadContext::Custom(number) => match binder.find_in_context(&name, context) {
            Some(known) => Ok(known),
            None => binder.resolve_for_context(&name, number, requesting.map(|assembly| assembly.image)),
        },
        _ => binder.resolve(&name, None),
    };
    let found = match owner_of(context) {
        Some(_) => found,
        None => found.and_then(|found| not_collectible(found, &name)),
    };
    match found {
        Ok(assembly) => {
            result.set(t, assembly_object(t, assembly)?);
            Ok(())
        }
        Err(error) if throws == 0 && error.kind == saki_types::LoadErrorKind::FileNotFound => Ok(()),
        Err(error) => Err(error).to_managed(t),
    }
}

/// Raises the events of .NET's load contexts, or those of Mono's domains.
pub struct ContextEvents;

impl LoaderEvents for ContextEvents {
    fn resolve_assembly(&self, wanted: &AssemblyName, requesting: Option<&'static Image>) -> Option<&'static Assembly> {
        if !is_net() {
            return saki_reflect::AppDomainEvents.resolve_assembly(wanted, requesting);
        }
        let context = match requesting.map(|image| image.assembly().load_context) {
            Some(LoadContext::Custom(number)) => number,
            _ => 0,
        };
        self.resolve_in_context(context, wanted, requesting)
    }

    fn resolve_in_context(
        &self,
        context: u32,
        wanted: &AssemblyName,
        requesting: Option<&'static Image>,
    ) -> Option<&'static Assembly> {
        CurrentThread::with_attached(|t| {
            let by_satellite = || ask(t, "ResolveSatelliteAssembly", context, wanted);
            let by_event = || ask(t, "ResolveUsingResolvingEvent", context, wanted);
            by_satellite().or_else(by_event).or_else(|| ask_domain(t, wanted, requesting))
        })
        .flatten()
    }

    fn load_in_context(&self, context: u32, wanted: &AssemblyName) -> Option<&'static Assembly> {
        CurrentThread::with_attached(|t| ask(t, "Resolve", context, wanted)).flatten()
    }

    fn assembly_loaded(&self, assembly: &'static Assembly) {
        if !is_net() {
            return saki_reflect::AppDomainEvents.assembly_loaded(assembly);
        }
        CurrentThread::with_attached(|t| {
            if t.is_pending() || !has_handlers("AssemblyLoad") {
                return;
            }
            let raised = (|| -> Managed<()> {
                let Some(method) = method_of_context(t, "OnAssemblyLoad")? else { return Ok(()) };
                let object = assembly_object(t, assembly)?;
                invoke::invoke(t, method, &[Slot::from_ref(object)]).map(|_| ())
            })();
            if raised.is_err() {
                t.take_pending();
            }
        });
    }

    fn finish_type(&self, emitted: &'static EmittedType) {
        if !is_net() {
            return saki_reflect::AppDomainEvents.finish_type(emitted);
        }
        CurrentThread::with_attached(|t| {
            if t.is_pending() {
                return;
            }
            match method_of_context(t, "OnTypeResolve") {
                Ok(Some(method)) => crate::emit::raise_type_resolve(t, method, emitted),
                Ok(None) => {}
                Err(_) => {
                    t.take_pending();
                }
            }
        });
    }
}

fn is_net() -> bool {
    vm::options().net.is_some()
}

pub(crate) fn method_of_context(t: CurrentThread, name: &str) -> Managed<Option<&'static Method>> {
    let Some(class) = universe().find_library_type(LibraryType::AssemblyLoadContext).to_managed(t)? else {
        return Ok(None);
    };
    Ok(class.methods().to_managed(t)?.find(|method| method.name == name && method.is_static()))
}

/// Calls a static method of AssemblyLoadContext with a handle of a context and a name. What it throws counts as "not
/// found".
fn ask(t: CurrentThread, method: &str, context: u32, wanted: &AssemblyName) -> Option<&'static Assembly> {
    /// `GCHandleType.Normal`
    const NORMAL: i32 = 2;
    if t.is_pending() {
        return None;
    }
    // Null before managed code has made an object for the default context.
    let object = managed_object(t, context)?;
    // A handle of this call's own: the context may be unloaded and forgotten meanwhile.
    let handle = match allocate(t, Some(object), NORMAL) {
        Ok(handle) => handle,
        Err(_) => {
            t.take_pending();
            return None;
        }
    };
    let asked = (|| -> Managed<Option<&'static Assembly>> {
        let Some(method) = method_of_context(t, method)? else { return Ok(None) };
        let class = universe().library_type(LibraryType::AssemblyName).to_managed(t)?;
        let name = Obj::new(t, class)?;
        let text = Str::new(t, &wanted.display())?;
        if let Some(constructor) = class.find_method_sig(".ctor", &[universe().string()]).to_managed(t)? {
            invoke::invoke(t, constructor, &[Slot::from_ref(name), Slot::from_ref(text)])?;
        }
        let found = invoke::invoke(t, method, &[Slot(handle as u64), Slot::from_ref(name)])?;
        // SAFETY: the methods return a RuntimeAssembly or null.
        Ok(unsafe { found.as_obj() }.and_then(saki_reflect::handles::assembly_of))
    })();
    internal_free(t, handle);
    asked.unwrap_or_else(|_| {
        t.take_pending();
        None
    })
}

/// Whether a static event of AssemblyLoadContext has handlers. Without one no managed code runs: most loads are those
/// of the start.
fn has_handlers(event: &str) -> bool {
    let variable = || -> LoadResult<Option<*mut u8>> {
        let Some(class) = universe().find_library_type(LibraryType::AssemblyLoadContext)? else { return Ok(None) };
        let Some(field) = class.find_field(event)?.filter(|field| field.is_static()) else { return Ok(None) };
        statics::static_field_address(field).map(Some)
    };
    let Ok(Some(address)) = variable() else { return false };
    // SAFETY: the variable of a static field of the core library, which is never unloaded; an event's type is a
    // delegate, so that it is one word, which is only compared with null.
    let handlers = unsafe { address.cast::<usize>().read_volatile() };
    handlers != 0
}

/// `AppDomain.AssemblyResolve`.
fn ask_domain(
    t: CurrentThread,
    wanted: &AssemblyName,
    requesting: Option<&'static Image>,
) -> Option<&'static Assembly> {
    if t.is_pending() || !has_handlers("AssemblyResolve") {
        return None;
    }
    let asked = (|| -> Managed<Option<&'static Assembly>> {
        let Some(method) = method_of_context(t, "OnAssemblyResolve")? else { return Ok(None) };
        let text = Str::new(t, &wanted.display())?;
        let requesting = requesting.map(|image| assembly_object(t, image.assembly())).transpose()?;
        let found = invoke::invoke(t, method, &[Slot::from_ref(requesting), Slot::from_ref(text)])?;
        // SAFETY: managed code passes memory of this form, which stays for the call.
        Ok(unsafe { found.as_obj() }.and_then(saki_reflect::handles::assembly_of))
    })();
    asked.unwrap_or_else(|_| {
        t.take_pending();
        None
    })
}

/// The internal calls of load contexts.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::AssemblyNative_InitializeAssemblyLoadContext", &initialize),
    InternalCall::new("@net QCall::AssemblyNative_PrepareForAssemblyLoadContextRelease", &prepare_release),
    InternalCall::new("@net QCall::AssemblyNative_GetLoadContextForAssembly", &context_of_assembly),
    InternalCall::new("@net System.Runtime.Loader.AssemblyLoadContext::IsTracingEnabled", &is_tracing),
    InternalCall::new("@net QCall::AssemblyNative_GetLoadedAssemblies", &loaded_assemblies),
    InternalCall::new("@net QCall::AssemblyNative_GetAssemblyCount", &assembly_count),
    InternalCall::new("@net QCall::AssemblyNative_GetEntryAssembly", &entry_assembly),
    InternalCall::new("@net QCall::AssemblyNative_GetExecutingAssembly", &executing_assembly),
    InternalCall::new("@net QCall::AssemblyNative_LoadFromPath", &load_from_path),
    InternalCall::new("@net QCall::AssemblyNative_LoadFromStream", &load_from_stream),
    InternalCall::new("@net QCall::AssemblyNative_InternalLoad", &internal_load),
];

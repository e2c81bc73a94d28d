//! Hooks and bundles of `mono/metadata/assembly.h`: what the host does when assemblies are looked for and loaded.
//!
//! The order in which a name is looked for: assemblies that are loaded; search hooks; preload hooks; bundles; files;
//! postload search hooks, unless `Assembly.Load` looks for it; the event AssemblyResolve. Of several hooks of a kind
//! the last one is asked first.

use crate::assembly_names::MonoAssemblyName;
use crate::call::{call, in_host_code};
use crate::config;
use crate::host_functions::{self, Bundle, Hook, Load, Preload, Search, SearchHooks};
use crate::text::text;
use saki_runtime::CurrentThread;
use saki_runtime::exec::thread_data;
use saki_types::binder::AssemblyName;
use saki_types::emitted::EmittedType;
use saki_types::{Assembly, Image, LoadResult, LoaderEvents, Ty, universe};
use std::ffi::{c_char, c_void};
use std::path::Path;
use std::ptr;

/// `MonoBundledAssembly`.
#[repr(C)]
pub struct MonoBundledAssembly {
    name: *const c_char,
    data: *const u8,
    size_bytes: u32,
}

/// Hooks for execution or for inspection.
fn with_hooks<R>(is_for_reflection: bool, body: impl FnOnce(&mut SearchHooks) -> R) -> R {
    host_functions::with(|functions| {
        let hooks = &mut functions.assemblies;
        body(if is_for_reflection { &mut hooks.for_reflection } else { &mut hooks.for_execution })
    })
}

/// Runs `ask` with a name that lives as long.
fn with_name<R>(wanted: &AssemblyName, ask: impl FnOnce(*mut MonoAssemblyName) -> R) -> R {
    let name = Box::into_raw(Box::new(MonoAssemblyName::new(wanted.clone())));
    let result = in_host_code(|| ask(name));
    // SAFETY: the box above, which hooks do not keep.
    drop(unsafe { Box::from_raw(name) });
    result
}

/// The first answer of search hooks.
fn search(hooks: &[Hook<Search>], wanted: &AssemblyName) -> Option<&'static Assembly> {
    if hooks.is_empty() {
        return None;
    }
    with_name(wanted, |name| {
        // SAFETY: the host's functions and their data.
        hooks.iter().find_map(|hook| unsafe { (hook.function)(name, hook.data()) })
    })
}

/// The first answer of preload hooks.
fn preload(hooks: &[Hook<Preload>], wanted: &AssemblyName) -> Option<&'static Assembly> {
    if hooks.is_empty() {
        return None;
    }
    let folders = config::assembly_folders();
    let mut folders: Vec<*mut c_char> = folders.iter().map(|folder| folder.as_ptr().cast_mut()).collect();
    if !folders.is_empty() {
        folders.push(ptr::null_mut());
    }
    with_name(wanted, |name| {
        let folders = if folders.is_empty() { ptr::null_mut() } else { folders.as_mut_ptr() };
        // SAFETY: the host's functions and their data; texts that end in NUL, up to a null.
        hooks.iter().find_map(|hook| unsafe { (hook.function)(name, folders, hook.data()) })
    })
}

/// The assembly of a bundle that `is_it` picks by the file's name.
fn bundled(is_it: impl Fn(&str) -> bool) -> Option<LoadResult<&'static Assembly>> {
    let find = |bundle: &&Bundle| is_it(&bundle.file);
    let bundle = host_functions::with(|functions| functions.assemblies.bundles.iter().find(find).cloned())?;
    let key = (ptr::from_ref(universe()).addr(), bundle.bytes.as_ptr().addr());
    let known = host_functions::with(|functions| {
        functions.assemblies.loaded.iter().find(|(domain, bytes, _)| (*domain, *bytes) == key).map(|(.., known)| *known)
    });
    if let Some(known) = known {
        return Some(Ok(known));
    }
    let found = universe().binder().load_bytes(bundle.bytes.to_vec());
    if let Ok(found) = found {
        host_functions::with(|functions| functions.assemblies.loaded.push((key.0, key.1, found)));
    }
    Some(found)
}

/// The assembly of the bundle that stands for a file; None if there is none.
pub(crate) fn bundle_of_file(path: &Path) -> Option<LoadResult<&'static Assembly>> {
    let file = path.file_name()?;
    bundled(|bundle| file == bundle)
}

/// Passes the loader's questions to the host, and then to the program.
pub(crate) struct HostLoaderEvents(pub(crate) &'static dyn LoaderEvents);

/// Left out: load contexts, which .NET's class libraries alone have.
impl LoaderEvents for HostLoaderEvents {
    fn find_before_search(&self, wanted: &AssemblyName, is_for_reflection: bool) -> Option<&'static Assembly> {
        let hooks = with_hooks(is_for_reflection, |hooks| hooks.clone());
        search(&hooks.search, wanted).or_else(|| preload(&hooks.preload, wanted)).or_else(|| {
            let name_of =
                |file: &str| [".dll", ".exe"].iter().find_map(|end| file.strip_suffix(end).map(str::to_owned));
            if is_for_reflection { None } else { bundled(|file| name_of(file).is_some_and(|name| name == wanted.name)) }
                .and_then(Result::ok)
        })
    }

    fn resolve_assembly(&self, wanted: &AssemblyName, requesting: Option<&'static Image>) -> Option<&'static Assembly> {
        let is_for_reflection = requesting.is_some_and(|image| image.assembly().reflection_only);
        // `Assembly.Load` asks the program alone, as under Mono.
        let is_of_program = CurrentThread::with_attached(|t| thread_data::of(t).caller_raises_resolve().get());
        let hooks = match is_of_program {
            Some(true) => Vec::new(),
            _ => with_hooks(is_for_reflection, |hooks| hooks.postload.clone()),
        };
        search(&hooks, wanted).or_else(|| self.0.resolve_assembly(wanted, requesting))
    }

    fn assembly_loaded(&self, assembly: &'static Assembly) {
        config::assembly_loaded(assembly);
        tell(assembly);
        self.0.assembly_loaded(assembly);
    }

    fn are_types_awaited(&self) -> bool {
        self.0.are_types_awaited()
    }

    fn type_made(&self, ty: Ty) {
        self.0.type_made(ty);
    }

    fn finish_type(&self, emitted: &'static EmittedType) {
        self.0.finish_type(emitted);
    }
}

/// Tells the host of an assembly that was loaded.
fn tell(assembly: &'static Assembly) {
    let hooks = host_functions::with(|functions| functions.assemblies.load.clone());
    if !hooks.is_empty() {
        // SAFETY: the host's functions and their data.
        in_host_code(|| hooks.iter().for_each(|hook| unsafe { (hook.function)(assembly, hook.data()) }));
    }
}

/// The loaded assembly of a name that a search hook has.
pub(crate) fn search_loaded(wanted: &AssemblyName, is_for_reflection: bool) -> Option<&'static Assembly> {
    search(&with_hooks(is_for_reflection, |hooks| hooks.search.clone()), wanted)
}

/// Has the host's function told of each assembly that is loaded from now on.
///
/// # Safety
/// The function may be called with `data` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_install_assembly_load_hook(function: Load, data: *mut c_void) {
    host_functions::with(|functions| functions.assemblies.load.insert(0, Hook::new(function, data)));
}

/// Has the host's function asked for each assembly that is looked for and not loaded.
///
/// # Safety
/// The function may be called with `data` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_install_assembly_search_hook(function: Search, data: *mut c_void) {
    with_hooks(false, |hooks| hooks.search.insert(0, Hook::new(function, data)));
}

/// [`mono_install_assembly_search_hook`], for assemblies that are only inspected.
///
/// # Safety
/// The function may be called with `data` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_install_assembly_refonly_search_hook(function: Search, data: *mut c_void) {
    with_hooks(true, |hooks| hooks.search.insert(0, Hook::new(function, data)));
}

/// Has the host's function asked for each assembly before bundles and files are searched.
///
/// # Safety
/// The function may be called with `data` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_install_assembly_preload_hook(function: Preload, data: *mut c_void) {
    with_hooks(false, |hooks| hooks.preload.insert(0, Hook::new(function, data)));
}

/// [`mono_install_assembly_preload_hook`], for assemblies that are only inspected.
///
/// # Safety
/// The function may be called with `data` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_install_assembly_refonly_preload_hook(function: Preload, data: *mut c_void) {
    with_hooks(true, |hooks| hooks.preload.insert(0, Hook::new(function, data)));
}

/// Has the host's function asked for each assembly for which no file was found.
///
/// # Safety
/// The function may be called with `data` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_install_assembly_postload_search_hook(function: Search, data: *mut c_void) {
    with_hooks(false, |hooks| hooks.postload.insert(0, Hook::new(function, data)));
}

/// [`mono_install_assembly_postload_search_hook`], for references of assemblies that are only inspected.
///
/// # Safety
/// The function may be called with `data` on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_install_assembly_postload_refonly_search_hook(function: Search, data: *mut c_void) {
    with_hooks(true, |hooks| hooks.postload.insert(0, Hook::new(function, data)));
}

/// Tells the host's functions, and the program, that an assembly was loaded.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_invoke_load_hook(assembly: &'static Assembly) {
    call("mono_assembly_invoke_load_hook", |_| universe().binder().events().assembly_loaded(assembly));
}

/// What the host's search hooks have for a name, or else the loaded assembly of that name; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn mono_assembly_invoke_search_hook(name: &MonoAssemblyName) -> Option<&'static Assembly> {
    crate::assemblies::mono_assembly_loaded(name)
}

/// The assemblies in the host's memory, which are found by their names and as files, before files; those of an earlier
/// call are forgotten, but for what was loaded of them. The core assembly is never one of them.
///
/// # Safety
/// A list that ends in null; names and bytes live as long as the process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_register_bundled_assemblies(list: *const *const MonoBundledAssembly) {
    let mut bundles = Vec::new();
    let mut place = list;
    // SAFETY: null, or an entry of the list, which ends in null.
    while let Some(bundle) = unsafe { place.as_ref().and_then(|entry| entry.as_ref()) } {
        bundles.push(Bundle {
            // SAFETY: the host's text, which ends in NUL.
            file: unsafe { text(bundle.name) },
            // SAFETY: the host's bytes, which stay.
            bytes: unsafe { std::slice::from_raw_parts(bundle.data, bundle.size_bytes as usize) },
        });
        place = place.wrapping_add(1);
    }
    host_functions::with(|functions| functions.assemblies.bundles = bundles);
}

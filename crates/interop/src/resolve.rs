//! Finds the address of a P/Invoke method's native function.
//!
//! Invariant: the dllmap of the assembly is asked before the machine's, and Mono's own libraries beside the class
//! libraries in use come before the installed ones. The system's libraries that these need come before those that a
//! bundle brings along. Left out: caching the address (crate `runtime`).

use crate::dllmap::{DllMap, LIBRARY_DIRECTORY, global_config_paths};
use crate::host_maps;
use crate::library;
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, rank};
use saki_il::synth::marshal::{impl_map, pinvoke_flags};
use saki_os::message_log::{self, Level, LogSubject};
use saki_runtime::ExceptionType;
use saki_runtime::exec::host_calls;
use saki_runtime::object::exceptions::{self, ToManaged};
use saki_runtime::object::thread::{CurrentThread, Managed};
use saki_runtime::{OwnFunction, upper_layers};
use saki_types::{Image, Method, universe};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

static GLOBAL: OnceLock<Vec<DllMap>> = OnceLock::new();
static PER_ASSEMBLY: Mutex<rank::DllMaps, Option<FxHashMap<PathBuf, &'static DllMap>>> = Mutex::new(None);

/// The text that follows the name in Mono's exceptions.
const UNKNOWN_MEMBER: &str = "assembly:<unknown assembly> type:<unknown type> member:(null)";

fn assembly_map(image: &'static Image) -> &'static DllMap {
    let path = PathBuf::from(format!("{}.config", image.meta.path().display()));
    if let Some(known) = PER_ASSEMBLY.lock().as_ref().and_then(|table| table.get(&path)) {
        return known;
    }
    let map: &'static DllMap = Box::leak(Box::new(DllMap::read(&path)));
    PER_ASSEMBLY.lock().get_or_insert_default().entry(path).or_insert(map)
}

fn global_maps() -> &'static [DllMap] {
    GLOBAL.get_or_init(|| global_config_paths().iter().map(|path| DllMap::read(path)).collect())
}

/// The library and function after mapping by the dllmaps.
pub fn mapped_names(image: &'static Image, library: &str, function: &str) -> (String, String) {
    if let Some(mapped) = host_maps::look_up(image, library, function) {
        return (mapped.library, mapped.function);
    }
    let mut mapped = assembly_map(image).look_up(library, function);
    for map in global_maps() {
        if mapped.found {
            break;
        }
        mapped = map.look_up(library, function);
    }
    (mapped.library, mapped.function)
}

/// If the class libraries in use are not the installed ones, the native library of Mono that came with them:
/// /opt/lib/libmono-native.so for class libraries in /opt/lib/mono. None if the file does not exist.
fn beside_class_libraries(library: &str) -> Option<String> {
    let file = library.strip_prefix(LIBRARY_DIRECTORY)?.strip_prefix('/')?;
    let root = universe().binder().paths().framework_root;
    let folder = root.parent().filter(|folder| *folder != Path::new(LIBRARY_DIRECTORY))?;
    let own = folder.join(file);
    own.exists().then(|| own.display().to_string())
}

/// The folder, beside Mono's own libraries, of the libraries that those need and that a system may lack; bundles have
/// it.
const NEEDED: &str = "needed";

/// Opens one of Mono's own libraries. If that fails, opens the libraries that a bundle brings along, in whose place the
/// system's would have been, and tries again: the dynamic linker takes libraries that are open by their names.
fn open_beside(path: &str) -> Result<library::Library, String> {
    let opened = library::open(path, None);
    let entries = Path::new(path).parent().map(|folder| std::fs::read_dir(folder.join(NEEDED)));
    let (Err(_), Some(Ok(entries))) = (&opened, entries) else { return opened };
    let mut left: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    loop {
        // One that needs another of them can be opened after that one.
        let count = left.len();
        left.retain(|needed| library::open(&needed.display().to_string(), None).is_err());
        if left.is_empty() || left.len() == count {
            return library::open(path, None);
        }
    }
}

fn own_function(library: &str, function: &str) -> Option<&'static OwnFunction> {
    let file = Path::new(library).file_name()?.to_str()?;
    let mut own = upper_layers().own_functions.iter().copied().flatten();
    own.find(|own| own.name == function && file.starts_with(own.library))
}

/// What a P/Invoke method names.
pub struct NativeName {
    pub library: String,
    pub function: String,
    /// `PInvokeAttributes` of the ImplMap row.
    mapping_flags: u16,
}

impl NativeName {
    /// The name in metadata; for Mono's class libraries after the dllmaps.
    ///
    /// # Errors
    /// EntryPointNotFoundException for a method that names no function; load errors.
    pub fn of(t: CurrentThread, method: &'static Method) -> Managed<NativeName> {
        let Some(row) = impl_map(method).to_managed(t)? else {
            let message = format!("{} names no native function", method.full_name());
            return Err(exceptions::throw(t, ExceptionType::EntryPointNotFound, &message));
        };
        let image = method.image();
        let names = || -> saki_types::LoadResult<(&'static str, &'static str)> {
            let library = image.meta.module_ref(row.import_scope)?;
            Ok((image.meta.string(library.name)?, image.meta.string(row.import_name)?))
        };
        let (library, function) = names().to_managed(t)?;
        // .NET has no dllmaps.
        let (library, function) = match universe().profile().has_mono_texts {
            true => mapped_names(image, library, function),
            false => (library.to_owned(), function.to_owned()),
        };
        Ok(NativeName { library, function, mapping_flags: row.mapping_flags })
    }

    /// The function of the machine that needs no library.
    pub fn own_address(&self) -> Option<usize> {
        let own = own_function(&self.library, &self.function)?;
        own.original.is_none().then(|| own.address.addr())
    }

    /// The names under which the function is looked for in a library.
    pub fn symbols(&self) -> Vec<String> {
        let exact = self.mapping_flags & pinvoke_flags::NO_MANGLE != 0;
        let unicode = self.mapping_flags & pinvoke_flags::CHAR_SET_MASK == pinvoke_flags::CHAR_SET_UNICODE;
        library::symbol_names(&self.function, exact, unicode)
    }

    /// The first of these symbols in a library, or the function of the machine that calls it.
    pub fn address_in(&self, module: library::Library, symbols: &[String]) -> Option<usize> {
        let address = symbols.iter().find_map(|symbol| module.symbol(symbol))?;
        Some(match own_function(&self.library, &self.function) {
            Some(OwnFunction { address: own, original: Some(original), .. }) => {
                // Release: pairs with the Acquire of the function that calls it.
                original.store(address, Ordering::Release);
                own.addr()
            }
            _ => address,
        })
    }
}

/// The native function of a P/Invoke method, found by Mono's rules.
///
/// # Errors
/// DllNotFoundException, EntryPointNotFoundException; load errors.
pub fn resolve_native(t: CurrentThread, method: &'static Method) -> Managed<usize> {
    if let Some(function) = host_calls::function(method).to_managed(t)? {
        return Ok(function);
    }
    let name = NativeName::of(t, method)?;
    if let Some(own) = name.own_address() {
        return Ok(own);
    }
    let library = &name.library;
    let directory = method.image().meta.path().parent().map(PathBuf::from);
    // Loading runs foreign initialisers and may take long, so the world must not have to wait for this thread
    // meanwhile.
    let opened = t.managed().blocking(|| match beside_class_libraries(library) {
        Some(own) => open_beside(&own).or_else(|_| library::open(library, directory.as_deref())),
        None => library::open(library, directory.as_deref()),
    });
    let module = match opened {
        Ok(module) => module,
        Err(tried) => {
            let text = format_args!("DllImport unable to load library '{library}'.");
            message_log::message(Level::Warning, LogSubject::Libraries, text);
            let message = format!("{library} {UNKNOWN_MEMBER}\nTried:\n{}", tried.trim_end());
            return Err(exceptions::throw(t, ExceptionType::DllNotFound, &message));
        }
    };
    let symbols = name.symbols();
    name.address_in(module, &symbols).ok_or_else(|| {
        let function = &name.function;
        let text = format_args!("Could not find '{function}' in '{library}'.");
        message_log::message(Level::Info, LogSubject::Libraries, text);
        let message = format!("{function} {UNKNOWN_MEMBER}\nTried in {library}: {}", symbols.join(", "));
        exceptions::throw(t, ExceptionType::EntryPointNotFound, &message)
    })
}

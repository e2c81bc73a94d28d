//! Finding assemblies: the application directory, MONO_PATH, the GAC, the framework directory and its facades; then the
//! directory of the requesting assembly, before or after the AssemblyResolve event depending on how that assembly was
//! loaded (`LoadContext`).
//!
//! Framework references of any version are unified to the installed one, as Mono's remapping table does; a reference by
//! a short name ("System.Data") to a GAC-only assembly is resolved only from references, which carry a full name.

mod reflection_only;

use crate::app_config::AppConfig;
use crate::collectible::{self, Hold, Owner};
use crate::domain::{Assembly, EmittedType, Image, LoaderEvents};
use crate::error::{LoadError, LoadErrorKind, LoadResult};
use crate::identity::{normal_culture, satisfies};
use crate::load_texts;
use crate::requests;
use crate::ty::Ty;
use saki_base::locks::RwLock;
use saki_os::message_log::{self, Level, LogSubject};
use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};

pub use crate::domain::{Binder, SearchPaths};
pub use crate::identity::{AssemblyName, LoadContext, UNSPECIFIED, token_of_key, token_of_reference};

/// The framework profile directory below the root.
pub const PROFILE: &str = "4.5";

/// A copy of the list of loaded assemblies.
pub struct Loaded {
    assemblies: Vec<&'static Assembly>,
    _hold: Hold,
}

impl std::ops::Deref for Loaded {
    type Target = Vec<&'static Assembly>;
    fn deref(&self) -> &Self::Target {
        &self.assemblies
    }
}

impl std::ops::DerefMut for Loaded {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.assemblies
    }
}

/// For tools and tests that load types without a program.
struct NoLoaderEvents;

impl LoaderEvents for NoLoaderEvents {
    fn resolve_assembly(&self, _: &AssemblyName, _: Option<&'static Image>) -> Option<&'static Assembly> {
        None
    }

    fn assembly_loaded(&self, _: &'static Assembly) {}

    fn finish_type(&self, _: &'static EmittedType) {}
}

impl Binder {
    pub fn new(paths: SearchPaths) -> Binder {
        Binder {
            paths: RwLock::new(paths),
            config: RwLock::default(),
            loaded: RwLock::default(),
            reflection_only: RwLock::default(),
            events: &NoLoaderEvents,
            assembly_caches: Box::default(),
        }
    }

    /// A binder that searches these assembly caches (`PREFIX/lib/mono/gac`) before the framework's.
    #[must_use]
    pub fn with_assembly_caches(self, caches: &[PathBuf]) -> Binder {
        Binder { assembly_caches: caches.into(), ..self }
    }

    /// The assembly caches that are searched before the framework's.
    pub fn assembly_caches(&self) -> &[PathBuf] {
        &self.assembly_caches
    }

    /// A binder that calls `events`.
    #[must_use]
    pub fn with_events(self, events: &'static dyn LoaderEvents) -> Binder {
        Binder { events, ..self }
    }

    /// The events that the binder calls, for use by the binder of another domain too.
    pub fn events(&self) -> &'static dyn LoaderEvents {
        self.events
    }

    pub fn set_application_base(&self, directory: &Path) {
        self.paths.write().application_base = directory.to_path_buf();
    }

    /// Sets the program's configuration.
    pub fn set_config(&self, config: AppConfig) {
        *self.config.write() = config;
    }

    fn redirected(&self, wanted: &AssemblyName) -> Option<AssemblyName> {
        self.config.read().redirected(wanted)
    }

    pub fn paths(&self) -> SearchPaths {
        self.paths.read().clone()
    }

    /// Assemblies in load order. While the result exists, none of them is freed.
    pub fn loaded(&self) -> Loaded {
        let hold = Hold::new();
        Loaded { assemblies: self.loaded.read().clone(), _hold: hold }
    }

    /// .NET's rule: an assembly of a context satisfies references to its name and culture, of the same or an earlier
    /// version and any key.
    pub fn find_in_context(&self, wanted: &AssemblyName, context: LoadContext) -> Option<&'static Assembly> {
        self.loaded().iter().copied().find(|a| {
            !a.is_dynamic
                && a.load_context == context
                && a.name.eq_ignore_ascii_case(&wanted.name)
                && a.culture.eq_ignore_ascii_case(normal_culture(&wanted.culture))
                && satisfies(a.version, wanted.version)
        })
    }

    fn find_loaded(&self, wanted: &AssemblyName) -> Option<&'static Assembly> {
        if self.paths.read().trusted.is_some() {
            return self.find_in_context(wanted, LoadContext::Default);
        }
        // A copy of the list: the search looks into folders, for which it takes other locks.
        self.loaded().iter().copied().find(|a| {
            !a.is_dynamic
                && a.name.eq_ignore_ascii_case(&wanted.name)
                && a.culture.eq_ignore_ascii_case(normal_culture(&wanted.culture))
                && (a.version == wanted.version || self.exact_in_gac(wanted).is_none())
                && (wanted.public_key_token.is_empty()
                    || a.public_key_token.is_empty()
                    || a.public_key_token == wanted.public_key_token
                    || is_framework(a, &self.paths().framework_root))
        })
    }

    /// The assembly of a reference, if it is there already: nothing is loaded and the program is not asked.
    pub(crate) fn find_bound(
        &self,
        wanted: &AssemblyName,
        requesting: Option<&'static Image>,
    ) -> Option<&'static Assembly> {
        if requesting.is_some_and(|image| image.assembly().reflection_only) {
            return self.find_reflection_only(wanted);
        }
        let redirected = self.redirected(wanted);
        let wanted = redirected.as_ref().unwrap_or(wanted);
        // Names in attributes of an assembly made at run time may denote that assembly.
        if let Some(own) = requesting.map(|image| image.assembly())
            && own.is_dynamic
            && own.name.eq_ignore_ascii_case(&wanted.name)
        {
            return Some(own);
        }
        // Programs for Mono use the file's name for the assembly's.
        if wanted.name == "mscorlib.dll" && crate::universe().profile().has_mono_texts {
            return Some(crate::universe().corlib().assembly());
        }
        if let Some(context @ LoadContext::Custom(_)) = requesting.map(|image| image.assembly().load_context) {
            // An assembly of the default context may satisfy the reference, but its own context is asked first.
            return self.find_in_context(wanted, context);
        }
        self.find_loaded(wanted)
    }

    /// Resolves a reference from an assembly of a context of the program's: the context, the default context, then the
    /// events. A satellite is never taken from the default context: it belongs to the context of its main assembly.
    ///
    /// # Errors
    /// `FileNotFound` naming the reference, `BadImageFormat`.
    pub fn resolve_for_context(
        &self,
        wanted: &AssemblyName,
        context: u32,
        requesting: Option<&'static Image>,
    ) -> LoadResult<&'static Assembly> {
        // The core assembly is one for all contexts.
        let core = crate::universe().corlib().assembly();
        if wanted.name.eq_ignore_ascii_case(core.name) {
            return Ok(core);
        }
        requests::forbid_in_computations();
        if let Some(found) = self.events.load_in_context(context, wanted) {
            return refuse_collectible(found, wanted, requesting);
        }
        let mut bad = None;
        if normal_culture(&wanted.culture).is_empty() {
            if let Some(found) = self.find_loaded(wanted) {
                return Ok(found);
            }
            if let Some(found) = self.load_first(self.candidates(wanted), wanted, LoadContext::Default, &mut bad) {
                return Ok(found);
            }
        }
        let found = self.events.resolve_in_context(context, wanted, requesting);
        let found = found.ok_or_else(|| bad.unwrap_or_else(|| not_found(wanted)))?;
        refuse_collectible(found, wanted, requesting)
    }

    /// Resolves a reference to its assembly, loading it if needed.
    ///
    /// # Errors
    /// `FileNotFound` naming the reference, `BadImageFormat`.
    pub fn resolve(&self, wanted: &AssemblyName, requesting: Option<&'static Image>) -> LoadResult<&'static Assembly> {
        if let Some(found) = self.find_bound(wanted, requesting) {
            return Ok(found);
        }
        if let Some(image) = requesting.filter(|image| image.assembly().reflection_only) {
            return self.resolve_reflection_only(wanted, image);
        }
        if let Some(LoadContext::Custom(context)) = requesting.map(|image| image.assembly().load_context) {
            return self.resolve_for_context(wanted, context, requesting);
        }
        let redirected = self.redirected(wanted);
        let wanted = redirected.as_ref().unwrap_or(wanted);
        let wanted = &successor(wanted);
        let asker =
            || requesting.map_or_else(|| "the program".to_owned(), |image| image.assembly().path.display().to_string());
        log(
            Level::Info,
            format_args!("Assembly Loader looks for '{}', which {} refers to.", Shown(wanted), Lazily(asker)),
        );
        if let Some(found) = self.events.find_before_search(wanted, false) {
            return refuse_collectible(found, wanted, requesting);
        }
        let mut bad = None;
        if let Some(found) = self.load_first(self.candidates(wanted), wanted, LoadContext::Default, &mut bad) {
            return Ok(found);
        }
        let ask = || {
            requests::forbid_in_computations();
            let found = self.events.resolve_assembly(wanted, requesting);
            let outcome = if found.is_some() { "gave it" } else { "did not give it" };
            log(Level::Info, format_args!("The event AssemblyResolve {outcome} ('{}').", wanted.name));
            found
        };
        // Mono's order: the folder of an assembly loaded by `LoadFrom` is searched before the event, that of other
        // assemblies after it.
        let asking = requesting.map(|image| image.assembly());
        let beside =
            asking.and_then(|a| Some((a.path.parent()?, a.load_context))).filter(|b| !b.0.as_os_str().is_empty());
        let found = match beside {
            Some((directory, LoadContext::LoadFrom)) => {
                self.load_first(files_in(directory, wanted), wanted, LoadContext::LoadFrom, &mut bad).or_else(ask)
            }
            Some((directory, LoadContext::Default)) => {
                ask().or_else(|| self.load_first(files_in(directory, wanted), wanted, LoadContext::Default, &mut bad))
            }
            Some((_, LoadContext::Individual | LoadContext::Custom(_))) | None => ask(),
        };
        if let Some(found) = found {
            return refuse_collectible(found, wanted, requesting);
        }
        log(Level::Warning, NotFound { wanted, asker: &asker });
        Err(bad.unwrap_or_else(|| not_found(wanted)))
    }

    /// Loads the first of these files that has the assembly; `bad` gets the reason why an existing file cannot be
    /// loaded. Reference assemblies are skipped.
    fn load_first(
        &self,
        candidates: Vec<PathBuf>,
        wanted: &AssemblyName,
        context: LoadContext,
        bad: &mut Option<LoadError>,
    ) -> Option<&'static Assembly> {
        candidates.iter().find_map(|candidate| {
            let probed = |outcome: &str| {
                let file = candidate.display();
                log(Level::Info, format_args!("Assembly Loader probing location: '{file}'{outcome}"));
            };
            if !candidate.is_file() {
                probed(": no such file.");
                return None;
            }
            probed(".");
            if self.is_too_old(candidate, wanted) {
                log(Level::Info, "Assembly Loader passes over it: it is of an earlier version.");
                return None;
            }
            match self.load_in(candidate, context) {
                Ok(found) => {
                    let is_wanted = found.name.eq_ignore_ascii_case(&wanted.name);
                    if !is_wanted {
                        log(Level::Info, format_args!("Assembly Loader passes over it: it is '{}'.", found.name));
                    }
                    is_wanted.then_some(found)
                }
                Err(error) => {
                    log(Level::Info, format_args!("Assembly Loader cannot load it: {}", error.message));
                    if error.kind != LoadErrorKind::ReferenceAssembly {
                        *bad = Some(error);
                    }
                    None
                }
            }
        })
    }

    /// By .NET's rules: whether the assembly in this file is of an earlier version than the wanted one.
    fn is_too_old(&self, path: &Path, wanted: &AssemblyName) -> bool {
        let is_net = self.paths.read().trusted.is_some();
        is_net && identity_of_file(path).is_ok_and(|own| own.is_some_and(|own| !satisfies(own.version, wanted.version)))
    }

    /// Loads the assembly in this file, or the one that the configuration puts in its place (`Assembly.LoadFile`).
    ///
    /// # Errors
    /// `FileNotFound` for the file, or for the assembly that the configuration puts in its place; `FileLoad`,
    /// `BadImageFormat`, `ReferenceAssembly`.
    pub fn load_named_file(&self, path: &Path) -> LoadResult<&'static Assembly> {
        match identity(crate::files::open(path)?)?.and_then(|name| self.redirected(&name)) {
            Some(other) => self.resolve(&other, None),
            None => self.load_in(path, LoadContext::Individual),
        }
    }

    /// Loads the assembly in this file (`Assembly.LoadFrom`). If an assembly of the same identity was loaded from
    /// another file before, returns that one.
    ///
    /// # Errors
    /// `FileNotFound` for the file, or for the assembly that the configuration puts in its place; `FileLoad`,
    /// `BadImageFormat`, `ReferenceAssembly`.
    pub fn load_from(&self, path: &Path) -> LoadResult<&'static Assembly> {
        if let Some(name) = identity(crate::files::open(path)?)? {
            if let Some(other) = self.redirected(&name) {
                return self.resolve(&other, None);
            }
            let loaded = self.loaded.read();
            if let Some(found) = loaded.iter().find(|a| {
                !a.is_dynamic
                    && a.name == name.name
                    && a.culture == name.culture
                    && a.version == name.version
                    && a.public_key_token == name.public_key_token
            }) {
                return Ok(found);
            }
        }
        self.load_in(path, LoadContext::LoadFrom)
    }

    fn candidates(&self, wanted: &AssemblyName) -> Vec<PathBuf> {
        let paths = self.paths();
        if paths.trusted.is_some() && !normal_culture(&wanted.culture).is_empty() {
            let file = Path::new(&wanted.culture).join(format!("{}.dll", wanted.name));
            return paths.resource_roots.iter().map(|root| root.join(&file)).collect();
        }
        if let Some(trusted) = &paths.trusted {
            return trusted.get(&wanted.name.to_ascii_lowercase()).cloned().into_iter().collect();
        }
        let mut out = Vec::new();
        let framework = paths.framework_root.join(PROFILE);
        // A program may bring its own copy of an assembly in the GAC, in another build.
        if !paths.application_base.as_os_str().is_empty() {
            out.extend(files_in(&paths.application_base, wanted));
            for path in &self.config.read().private_paths {
                out.extend(files_in(&paths.application_base.join(path), wanted));
            }
        }
        for dir in &paths.mono_path {
            out.extend(files_in(dir, wanted));
        }
        out.extend(self.exact_in_gac(wanted));
        out.extend(files_in(&framework, wanted));
        out.extend(files_in(&framework.join("Facades"), wanted));
        out.extend(self.gac_candidates(&paths.framework_root, wanted));
        out
    }

    /// File of the assembly of exactly this identity in the GAC: several versions may be loaded beside each other.
    fn exact_in_gac(&self, wanted: &AssemblyName) -> Option<PathBuf> {
        if wanted.public_key_token.is_empty() || wanted.version == [0; 4] {
            return None;
        }
        let [a, b, c, d] = wanted.version;
        let token: String = wanted.public_key_token.iter().map(|byte| format!("{byte:02x}")).collect();
        let folder = format!("{a}.{b}.{c}.{d}_{}_{token}", normal_culture(&wanted.culture));
        let own = self.paths.read().framework_root.join("gac");
        let file = Path::new(&wanted.name).join(folder).join(format!("{}.dll", wanted.name));
        self.assembly_caches.iter().chain([&own]).map(|gac| gac.join(&file)).find(|path| path.is_file())
    }

    /// GAC folders `<name>/<version>_<culture>_<token>/`, exact version first, then newest.
    fn gac_candidates(&self, root: &Path, wanted: &AssemblyName) -> Vec<PathBuf> {
        let folder = root.join("gac").join(&wanted.name);
        let Ok(entries) = std::fs::read_dir(&folder) else {
            // The log shows the folder in its turn.
            let is_logged = message_log::is_shown(Level::Info, LogSubject::Assemblies);
            return if is_logged { vec![folder] } else { Vec::new() };
        };
        let culture = normal_culture(&wanted.culture);
        let mut found: Vec<(bool, Vec<u32>, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| {
                let file_name = entry.file_name().into_string().ok()?;
                let mut parts = file_name.splitn(3, '_');
                let version: Vec<u32> = parts.next()?.split('.').filter_map(|n| n.parse().ok()).collect();
                if parts.next()? != culture {
                    return None;
                }
                let exact = version.iter().copied().eq(wanted.version.iter().map(|&v| u32::from(v)));
                Some((exact, version, entry.path().join(format!("{}.dll", wanted.name))))
            })
            .collect();
        found.sort_by(|a, b| b.cmp(a));
        found.into_iter().map(|(_, _, path)| path).collect()
    }

    /// Loads the assembly in this file, or returns the assembly loaded from it before.
    ///
    /// # Errors
    /// `FileNotFound`, `FileLoad`, `BadImageFormat`, `ReferenceAssembly`.
    pub fn load_file(&self, path: &Path) -> LoadResult<&'static Assembly> {
        self.load_in(path, LoadContext::Default)
    }

    /// Loads the assembly in this file into one of .NET's contexts, or returns the one loaded into it before. `owner`:
    /// that of a collectible context.
    ///
    /// # Errors
    /// `FileNotFound`, `FileLoad`, `BadImageFormat`, `ReferenceAssembly`.
    pub fn load_file_in(
        &self,
        path: &Path,
        context: LoadContext,
        owner: Option<&'static Owner>,
    ) -> LoadResult<&'static Assembly> {
        self.load_owned(path, context, owner)
    }

    fn load_in(&self, path: &Path, context: LoadContext) -> LoadResult<&'static Assembly> {
        self.load_owned(path, context, None)
    }

    fn load_owned(
        &self,
        path: &Path,
        context: LoadContext,
        owner: Option<&'static Owner>,
    ) -> LoadResult<&'static Assembly> {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let assembly = {
            let _lock = crate::lazy::loader_lock();
            let is_same = |a: &&&'static Assembly| {
                let is_custom = |context| matches!(context, LoadContext::Custom(_));
                a.path == path && (a.load_context == context || !is_custom(a.load_context) && !is_custom(context))
            };
            if let Some(found) = self.loaded.read().iter().find(is_same) {
                return Ok(found);
            }
            let is_corlib = self.loaded.read().is_empty();
            let assembly = Assembly::open(&path, is_corlib, context, owner)?;
            self.loaded.write().push(assembly);
            assembly
        };
        self.announce(assembly);
        Ok(assembly)
    }

    /// Loads an assembly from memory, or the assembly to which the configuration redirects it.
    ///
    /// # Errors
    /// `BadImageFormat`, `ReferenceAssembly`.
    pub fn load_bytes(&self, bytes: Vec<u8>) -> LoadResult<&'static Assembly> {
        let assembly = Assembly::from_bytes("(in memory)".to_string(), bytes)?;
        let meta = assembly.image.meta;
        if let Some(name) = identity(meta)?
            && let Some(other) = self.redirected(&name)
        {
            return self.resolve(&other, None);
        }
        self.loaded.write().push(assembly);
        self.announce(assembly);
        Ok(assembly)
    }

    /// Loads an assembly from memory into one of .NET's contexts. `owner`: that of a collectible context.
    ///
    /// # Errors
    /// `BadImageFormat`, `ReferenceAssembly`.
    pub fn load_bytes_in(
        &self,
        bytes: Vec<u8>,
        context: LoadContext,
        owner: Option<&'static Owner>,
    ) -> LoadResult<&'static Assembly> {
        let assembly = Assembly::from_bytes_in("(in memory)".to_string(), bytes, context, owner)?;
        self.loaded.write().push(assembly);
        self.announce(assembly);
        Ok(assembly)
    }

    /// Adds an assembly made at run time.
    pub(crate) fn add_dynamic(&self, assembly: &'static Assembly) {
        self.loaded.write().push(assembly);
    }

    /// Whether the list of assemblies is unlocked.
    pub(crate) fn is_free(&self) -> bool {
        self.loaded.try_write().is_some()
    }

    /// Drops the assemblies of dead owners from the list.
    pub(crate) fn forget_dead(&self) {
        let mut loaded = self.loaded.write();
        loaded.retain(|assembly| !crate::collectible::is_dead(std::ptr::from_ref(*assembly).addr()));
    }

    /// Empties the list of assemblies, at the end of the domain.
    pub(crate) fn end(&self) {
        *self.loaded.write() = Vec::new();
        *self.config.write() = AppConfig::default();
    }

    /// Tells the listener to types of a new one, once the thread does not hold the loader lock.
    pub(crate) fn announce_type(&self, ty: Ty) {
        let events = self.events;
        if events.are_types_awaited() {
            crate::lazy::after_loading(Box::new(move || events.type_made(ty)));
        }
    }

    fn announce(&self, assembly: &'static Assembly) {
        let path = assembly.path.display();
        log(Level::Info, format_args!("Assembly Loader loaded assembly from location: '{path}'."));
        requests::forbid_in_computations();
        let events = self.events;
        let hold = Hold::new();
        crate::lazy::after_loading(Box::new(move || {
            // From here on this frame keeps the assembly.
            drop(hold);
            events.assembly_loaded(assembly);
        }));
    }
}

/// The identity of the assembly in a file; None for a module.
///
/// # Errors
/// `FileNotFound`, `BadImageFormat`.
pub fn identity_of_file(path: &Path) -> LoadResult<Option<AssemblyName>> {
    identity(crate::files::open(path)?)
}

/// What an event gave for a reference of an assembly: none that may end before that one.
///
/// # Errors
/// `FileLoad`.
fn refuse_collectible(
    found: &'static Assembly,
    wanted: &AssemblyName,
    requesting: Option<&'static Image>,
) -> LoadResult<&'static Assembly> {
    match requesting {
        Some(image) if !collectible::ends_alone(image) => not_collectible(found, wanted),
        _ => Ok(found),
    }
}

/// What an event gave for a context that is not collectible.
///
/// # Errors
/// `FileLoad` for an assembly of a collectible context, with .NET's text.
pub fn not_collectible(found: &'static Assembly, wanted: &AssemblyName) -> LoadResult<&'static Assembly> {
    if !collectible::ends_alone(found) || found.is_dynamic {
        return Ok(found);
    }
    let name = wanted.display();
    let message = format!("Could not load file or assembly '{name}'. Operation is not supported. (0x80131515)");
    Err(LoadError::new(LoadErrorKind::FileLoad, message, name))
}

/// The error of a reference for which nothing is found.
pub(crate) fn not_found(wanted: &AssemblyName) -> LoadError {
    let name = wanted.display();
    let message = match load_texts::are_mono() {
        true => format!("Could not load file or assembly '{name}' or one of its dependencies."),
        false => format!("Could not load file or assembly '{name}'. The system cannot find the file specified.\n"),
    };
    LoadError::new(LoadErrorKind::FileNotFound, message, name)
}

/// Writes a message of the assembly loader, if it is wanted.
fn log(level: Level, text: impl Display) {
    message_log::message(level, LogSubject::Assemblies, text);
}

/// A text that is made only if it is written.
struct Lazily<F: Fn() -> String>(F);

impl<F: Fn() -> String> Display for Lazily<F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&(self.0)())
    }
}

/// The full name of an assembly.
struct Shown<'a>(&'a AssemblyName);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.display())
    }
}

/// The warning about an assembly that is not there, laid out as Mono's.
struct NotFound<'a, F: Fn() -> String> {
    wanted: &'a AssemblyName,
    asker: &'a F,
}

impl<F: Fn() -> String> Display for NotFound<'_, F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let [major, minor, build, revision] = self.wanted.version;
        let token: String = self.wanted.public_key_token.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(f, "The following assembly referenced from {} could not be loaded:", (self.asker)())?;
        writeln!(f, "     Assembly:   {}", self.wanted.name)?;
        writeln!(f, "     Version:    {major}.{minor}.{build}.{revision}")?;
        writeln!(f, "     Public Key: {}", if token.is_empty() { "(none)" } else { &token })?;
        write!(f, "It is in none of the locations that were probed (MONO_LOG_LEVEL=info MONO_LOG_MASK=asm shows them).")
    }
}

/// The name of the assembly in a file; None for a plain module.
fn identity(meta: &saki_metadata::Image) -> LoadResult<Option<AssemblyName>> {
    let Some(row) = meta.assembly() else { return Ok(None) };
    Ok(Some(AssemblyName {
        name: meta.string(row.name)?.to_string(),
        version: [row.major_version, row.minor_version, row.build_number, row.revision_number],
        culture: meta.string(row.culture)?.to_string(),
        public_key_token: token_of_key(meta.blob(row.public_key)?),
    }))
}

/// The assembly that replaced an old framework assembly under another name: those rows of Mono's remapping table.
fn successor(wanted: &AssemblyName) -> AssemblyName {
    let mut out = wanted.clone();
    for (replacement, olds) in [
        ("Microsoft.Build.Tasks.v4.0", ["Microsoft.Build.Tasks", "Microsoft.Build.Tasks.v3.5"]),
        ("Microsoft.Build.Utilities.v4.0", ["Microsoft.Build.Utilities", "Microsoft.Build.Utilities.v3.5"]),
    ] {
        if olds.contains(&wanted.name.as_str()) {
            out.name = replacement.to_string();
        }
    }
    out
}

/// Paths of the assembly's file in a directory; satellite assemblies lie in a subdirectory named by their culture.
fn files_in(directory: &Path, wanted: &AssemblyName) -> Vec<PathBuf> {
    let culture = normal_culture(&wanted.culture);
    let directory = if culture.is_empty() { directory.to_path_buf() } else { directory.join(culture) };
    let files = ["dll", "exe"].map(|extension| format!("{}.{extension}", wanted.name));
    files.iter().flat_map(|file| [directory.join(file), directory.join(&wanted.name).join(file)]).collect()
}

/// Whether the assembly belongs to the class libraries.
pub(crate) fn is_framework(assembly: &Assembly, root: &Path) -> bool {
    assembly.path.starts_with(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_copy_comes_before_the_one_in_the_gac() {
        let root = std::env::temp_dir().join(format!("saki-binder-{}", std::process::id()));
        let (framework, base) = (root.join("mono"), root.join("app"));
        let in_gac = framework.join("gac/Lib/1.2.0.0__00112233aabbccdd");
        for folder in [&in_gac, &base] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join("Lib.dll"), "").unwrap();
        }
        let binder = Binder::new(SearchPaths {
            mono_path: vec![],
            application_base: base.clone(),
            framework_root: framework,
            trusted: None,
            resource_roots: vec![],
        });
        let wanted = AssemblyName::parse("Lib, Version=1.2.0.0, PublicKeyToken=00112233aabbccdd").unwrap();
        let there: Vec<PathBuf> = binder.candidates(&wanted).into_iter().filter(|path| path.is_file()).collect();
        assert_eq!(there[..2], [base.join("Lib.dll"), in_gac.join("Lib.dll")]);
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_gac_gives_the_exact_version_first_then_the_newest_of_the_culture() {
        let root = std::env::temp_dir().join(format!("saki-gac-{}", std::process::id()));
        let folders = ["1.0.0.0__00", "10.0.0.0__00", "2.0.0.0__00", "9.0.0.0__00", "11.0.0.0_de_00", "no version"];
        for folder in folders {
            let folder = root.join("gac/Lib").join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("Lib.dll"), "").unwrap();
        }
        let paths = SearchPaths {
            mono_path: vec![],
            application_base: PathBuf::new(),
            framework_root: root.clone(),
            trusted: None,
            resource_roots: vec![],
        };
        let binder = Binder::new(paths);
        let check = |wanted: &str, expected: &[&str]| {
            let candidates = binder.candidates(&AssemblyName::parse(wanted).unwrap());
            let found: Vec<&str> = candidates
                .iter()
                .filter(|path| path.is_file())
                .map(|path| path.parent().unwrap().file_name().unwrap().to_str().unwrap())
                .collect();
            assert_eq!(found, expected, "{wanted}");
        };
        check("Lib, Version=2.0.0.0", &["2.0.0.0__00", "10.0.0.0__00", "9.0.0.0__00", "1.0.0.0__00"]);
        // Without that version the newest, by number and not by letters.
        check("Lib, Version=3.0.0.0", &["10.0.0.0__00", "9.0.0.0__00", "2.0.0.0__00", "1.0.0.0__00"]);
        check("Lib, Version=2.0.0.0, Culture=de", &["11.0.0.0_de_00"]);
        check("Other, Version=2.0.0.0", &[]);
        std::fs::remove_dir_all(root).unwrap();
    }

    /// A program that answers with corlib, for the name "Answered" alone.
    struct Answers;

    impl LoaderEvents for Answers {
        fn resolve_assembly(&self, wanted: &AssemblyName, _: Option<&'static Image>) -> Option<&'static Assembly> {
            (wanted.name == "Answered").then(|| crate::universe().corlib().assembly())
        }

        fn assembly_loaded(&self, _: &'static Assembly) {}

        fn finish_type(&self, _: &'static EmittedType) {}
    }

    #[test]
    fn a_file_that_is_no_assembly_is_the_reason_unless_there_is_a_better_one() {
        let Some(framework) = crate::fixture::class_libraries() else { return };
        let root = std::env::temp_dir().join(format!("saki-broken-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        for name in ["Broken.dll", "Answered.dll", "System.Core.dll"] {
            std::fs::write(root.join(name), "no assembly").unwrap();
        }
        let paths = SearchPaths {
            mono_path: vec![],
            application_base: root.clone(),
            framework_root: framework.to_path_buf(),
            trusted: None,
            resource_roots: vec![],
        };
        let binder = Binder::new(paths).with_events(&Answers);
        // The first assembly of a binder is its corlib.
        binder.load_file(&framework.join("4.5/mscorlib.dll")).expect("corlib loads");
        let resolve = |name: &str| binder.resolve(&AssemblyName::parse(name).unwrap(), None);
        let kind = |name: &str| resolve(name).map(|found| found.name).map_err(|error| error.kind);
        assert_eq!(kind("Broken"), Err(LoadErrorKind::BadImageFormat));
        assert_eq!(kind("Absent"), Err(LoadErrorKind::FileNotFound));
        // The search goes on behind the program's broken copy, and the program is asked last.
        assert_eq!(kind("System.Core"), Ok("System.Core"));
        assert_eq!(kind("Answered"), Ok("mscorlib"));
        std::fs::remove_dir_all(root).unwrap();
    }
}

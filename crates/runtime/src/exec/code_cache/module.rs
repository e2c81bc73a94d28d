//! The modules that bodies are cached for: their identities, their cache files, and what this run adds to them.

use super::checksum::hash;
use super::contents::{self, ContentId};
use super::file::{CodeFile, FreshBodies, Key, OpenFile};
use super::settings;
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, RwLock, rank};
use saki_os::message_log::{self, Level, LogSubject};
use saki_types::{Image, collectible};
use std::ffi::OsString;
use std::sync::OnceLock;

/// One module of one domain, or the machine's own thunks.
pub(super) struct Module {
    /// None for the machine's own thunks.
    pub image: Option<&'static Image>,
    pub id: ContentId,
    pub bodies: &'static Bodies,
}

/// The bodies of a module, which all domains that load it share.
pub(super) struct Bodies {
    pub id: ContentId,
    /// The name of the cache file.
    pub file_name: OsString,
    /// The user's file and the one that came with the installation, if they exist.
    files: OnceLock<Vec<CodeFile<OpenFile>>>,
    /// Bodies compiled in this run, encoded, until they are written.
    pub fresh: Mutex<rank::FreshBodies, FreshBodies>,
}

static BODIES: Mutex<rank::CachedBodies, Option<FxHashMap<ContentId, &'static Bodies>>> = Mutex::new(None);

impl Module {
    fn new(image: Option<&'static Image>, id: ContentId, name: &str) -> &'static Module {
        let mut table = BODIES.lock();
        let bodies = table.get_or_insert_default().entry(id).or_insert_with(|| {
            let file_name = format!("{name}.{}", settings::FILE_EXTENSION).into();
            Box::leak(Box::new(Bodies { id, file_name, files: OnceLock::new(), fresh: Mutex::default() }))
        });
        let owner = image.and_then(collectible::owner_of);
        collectible::keep_with(owner, Module { image, id, bodies })
    }

    /// The body with this key, from the files as they were when they were first opened: the user's own body comes before that of
    /// the installation, and that before a body that another domain has compiled.
    pub fn find(&self, key: Key) -> Option<Vec<u8>> {
        let bodies = self.bodies;
        let files = bodies.files.get_or_init(|| {
            let files = settings::open_files(&bodies.file_name);
            let files: Vec<_> = files.filter_map(|file| CodeFile::open(file, settings::build_key(), self.id)).collect();
            let (count, name) = (files.len(), bodies.file_name.display());
            let text = format_args!("AOT: found in {count} of the code caches: '{name}'.");
            message_log::message(Level::Info, LogSubject::CompiledBefore, text);
            files
        });
        if let Some(found) = files.iter().find_map(|file| file.find(key)) {
            return Some(found);
        }
        // One domain compiles each body once.
        if crate::domain::count() < 2 { None } else { bodies.fresh.lock().get(&key).cloned() }
    }
}

/// The modules, by address of the image; None for an image that cannot be named in other processes.
static MODULES: RwLock<rank::CachedModules, Option<FxHashMap<usize, Option<&'static Module>>>> = RwLock::new(None);
static MACHINE: OnceLock<&'static Module> = OnceLock::new();

/// The thunks that belong to no module; None when the cache is off.
pub(super) fn machine() -> Option<&'static Module> {
    settings::is_on().then(|| *MACHINE.get_or_init(|| Module::new(None, [1, 1], "thunks")))
}

/// The module of an image; None when the cache is off or the image has no name that holds in other processes.
pub(super) fn module_of(image: &'static Image) -> Option<&'static Module> {
    if !settings::is_on() {
        return None;
    }
    let address = std::ptr::from_ref(image).addr();
    if let Some(known) = MODULES.read().as_ref().and_then(|table| table.get(&address)) {
        return *known;
    }
    let id = image.is_manifest_of_file().then(|| contents::id_of(image.meta)).flatten();
    let made = id.map(|id| {
        let name: String = image
            .assembly()
            .name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' })
            .take(MAX_NAME_CHARS)
            .collect();
        Module::new(Some(image), id, &format!("{name}-{:016x}", hash(id[0], &id[1].to_le_bytes())))
    });
    let mut table = MODULES.write();
    *table.get_or_insert_default().entry(address).or_insert(made)
}

/// Drops the modules of dead assemblies and domains; their bodies stay, for later loads of the same files.
pub(crate) fn forget_dead() {
    if let Some(table) = MODULES.write().as_mut() {
        table.retain(|image, _| !collectible::is_dead(*image));
    }
}

/// The image with this identity, if exactly one has been loaded.
pub(super) fn loaded(id: ContentId) -> Option<&'static Image> {
    let assemblies = saki_types::universe().binder().loaded();
    let has_id = |image: &&'static Image| module_of(image).is_some_and(|module| module.id == id);
    let mut found = assemblies.iter().map(|assembly| assembly.image).filter(has_id);
    found.next().filter(|_| found.next().is_none())
}

/// The number of characters of an assembly's name in the name of its cache file.
const MAX_NAME_CHARS: usize = 80;

/// The bodies of all modules seen so far.
pub(super) fn all() -> Vec<&'static Bodies> {
    BODIES.lock().iter().flat_map(|table| table.values().copied()).collect()
}

//! The modules that bodies are cached for: their identities, their cache files, and what this run adds to them.

use super::checksum::{fold, hash};
use super::file::CodeFile;
use super::key::Key;
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;
use saki_types::Image;
use std::path::PathBuf;
use std::sync::OnceLock;

/// One module, or the machine's own thunks.
pub(super) struct Module {
    /// None for the machine's own thunks.
    pub image: Option<&'static Image>,
    /// MVID, and the file's length folded in.
    pub id: [u64; 2],
    /// Of its cache file.
    pub path: PathBuf,
    file: OnceLock<Option<CodeFile>>,
    /// Bodies compiled in this run, encoded.
    pub fresh: Mutex<FxHashMap<Key, Vec<u8>>>,
}

impl Module {
    fn new(image: Option<&'static Image>, id: [u64; 2], path: PathBuf) -> &'static Module {
        Box::leak(Box::new(Module { image, id, path, file: OnceLock::new(), fresh: Mutex::default() }))
    }

    /// The cache file as it was when it was first asked for; None if there is no usable one.
    pub fn file(&self) -> Option<&CodeFile> {
        self.file.get_or_init(|| CodeFile::open(&self.path, super::build_key(), self.id)).as_ref()
    }
}

/// By address of the image; None: it cannot be named in other processes.
static MODULES: RwLock<Option<FxHashMap<usize, Option<&'static Module>>>> = RwLock::new(None);
static MACHINE: OnceLock<&'static Module> = OnceLock::new();

/// The thunks that belong to no module; None when the cache is off.
pub(super) fn machine() -> Option<&'static Module> {
    let directory = super::directory()?;
    Some(MACHINE.get_or_init(|| Module::new(None, [1, 1], directory.join(format!("thunks.{}", super::FILE_EXTENSION)))))
}

/// The module of an image; None when the cache is off or the image has no name that holds in other processes.
pub(super) fn module_of(image: &'static Image) -> Option<&'static Module> {
    let directory = super::directory()?;
    let address = std::ptr::from_ref(image).addr();
    if let Some(known) = MODULES.read().as_ref().and_then(|table| table.get(&address)) {
        return *known;
    }
    let made = image.is_manifest_of_file().then(|| {
        let mvid = image.meta.mvid();
        let (low, high) = mvid.split_at(8);
        let word = |half: &[u8]| half.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        let length = image.meta.bytes().len() as u64;
        let id = [word(low), word(high) ^ fold(length, 0x9e37_79b9_7f4a_7c15)];
        let name: String = image
            .assembly()
            .name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' })
            .take(MAX_NAME_CHARS)
            .collect();
        let file_name = format!("{name}-{:016x}.{}", hash(id[0], &id[1].to_le_bytes()), super::FILE_EXTENSION);
        Module::new(Some(image), id, directory.join(file_name))
    });
    let mut table = MODULES.write();
    *table.get_or_insert_default().entry(address).or_insert(made)
}

/// The image with this identity, if exactly one has been loaded.
pub(super) fn loaded(id: [u64; 2]) -> Option<&'static Image> {
    let assemblies = saki_types::universe().binder().loaded();
    let has_id = |image: &&'static Image| module_of(image).is_some_and(|module| module.id == id);
    let mut found = assemblies.iter().map(|assembly| assembly.image).filter(has_id);
    found.next().filter(|_| found.next().is_none())
}

/// Of an assembly's name in the name of its cache file.
const MAX_NAME_CHARS: usize = 80;

/// All modules seen so far.
pub(super) fn all() -> Vec<&'static Module> {
    let table = MODULES.read();
    let images = table.iter().flat_map(|table| table.values().copied().flatten());
    images.chain(MACHINE.get().copied()).collect()
}

//! The persistent code cache: compiled bodies of earlier runs, in one file per module.
//!
//! | step | who | what |
//! |---|---|---|
//! | look-up | `Slot::find`, before a method is compiled | key → body of the module's files → names resolved → `CompiledCode` |
//! | keeping | `Slot::keep`, after a method was compiled | body encoded into memory |
//! | writing | `write_back`, at exit, when much was kept, and after pauses (`saver`) | the file's bodies and the kept ones → a new file, renamed over the old |
//!
//! A cached body holds under these conditions, all checked: Saki's build, processor features and code options
//! (`build_key`, the directory's name and each file's header); the module's identity, a hash of its file's contents
//! (likewise); the identity of every module from which something was inlined or a fact baked in; and every class that
//! the body takes for initialised is initialised, and every `static readonly` number that it holds has that value. When
//! a body does not pass, the method is compiled and the new body takes its place. The new body may assume only what the
//! old one assumed and what holds now, so that repeated runs converge.
//!
//! Left out: bodies that hold load errors, code made at run time, modules loaded from memory or as further modules of an
//! assembly.

pub mod checksum;
pub mod contents;
mod decode;
pub mod directory;
mod encode;
mod file;
mod key;
mod module;
pub mod remembered;
mod saver;
mod settings;
pub mod trusted;

use crate::exec::host_calls;
use crate::initialised::is_initialised;
use crate::statics;
use decode::Refused;
use file::{CodeFile, Key};
pub use file::{body_count, read_anything};
pub use key::Identity;
use module::Module;
pub(crate) use module::forget_dead;
use saki_base::locks::rank;
use saki_code::CodeKind;
use saki_jit::{CompiledCode, CompilerOptions};
use saki_os::ExitStage;
use saki_sync::word_locks::Mutex;
use saki_thread::child_locks;
use saki_types::assumptions::{add_forwarders, images_behind};
use saki_types::{Assumption, Field, Image, Method, Ty};
pub use settings::{CacheStatistics, FILE_EXTENSION, STATISTICS};
use settings::{SETTINGS, Settings, is_on};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Kept bodies are written before exit when there are this many bytes of them.
const WRITE_EARLY_BYTES: usize = 16 << 20;

static KEPT_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Where caches are.
#[derive(Clone, Debug)]
pub struct CachePlaces {
    /// The user's own, which is read and written.
    pub own: Option<directory::CacheFolder>,
    /// The one that came with the installation, which is only read.
    pub installed: Option<directory::CacheFolder>,
}

/// Turns the cache on, before anything is compiled. Each version of the class libraries has a folder of its own: otherwise a program that
/// is run on two versions would replace stale bodies at each change. Without a build id, or a place for a cache, it stays off.
pub(crate) fn init(options: &CompilerOptions, places: &CachePlaces) {
    let CachePlaces { own, installed } = places.clone();
    if own.is_none() && installed.is_none() {
        return;
    }
    let Some(build_id) = saki_os::build_id::build_id() else { return };
    let mut key = checksum::hash(0, &build_id);
    // Every option may change code; the debug text names all of them.
    key = checksum::hash(key, format!("{options:?}").as_bytes());
    key = checksum::hash(key, crate::class_library::version().map_or("", saki_contract::Version::name).as_bytes());
    for feature in saki_jit::host_features() {
        key = checksum::hash(key, feature.as_bytes());
    }
    remembered::remember_in(own.clone(), installed.clone());
    let settings = Settings { own, installed, folder: format!("{key:016x}").into(), build_key: key };
    if SETTINGS.set(settings).is_ok() {
        saki_os::at_exit(ExitStage::CodeCache, write_back);
    }
}

/// What a body takes for granted of the state that the program is in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Conditions {
    /// Classes that are initialised.
    pub initialised: Vec<Ty>,
    /// `static readonly` fields and the numbers in them (`il::import::Facts::constant`).
    pub constants: Vec<(&'static Field, u64)>,
}

impl Conditions {
    fn of(assumptions: &[Assumption]) -> Conditions {
        let mut conditions = Conditions::default();
        for &assumption in assumptions {
            match assumption {
                Assumption::Initialised(ty) if !conditions.initialised.contains(&ty) => conditions.initialised.push(ty),
                Assumption::Constant(field, bits) if !conditions.constants.contains(&(field, bits)) => {
                    conditions.constants.push((field, bits));
                }
                _ => {}
            }
        }
        conditions
    }

    fn hold(&self) -> bool {
        self.initialised.iter().all(|ty| is_initialised(ty))
            && self.constants.iter().all(|&(field, bits)| statics::number(field) == Some(bits))
    }
}

/// The result of looking up a body.
#[expect(clippy::large_enum_variant, reason = "taken apart as soon as it is returned")]
pub enum Lookup {
    Found(CompiledCode, CodeKind),
    /// A body that cannot be used, because one of these conditions does not hold, or not yet. The body that replaces it
    /// may have no others: so the conditions become fewer from run to run, whatever the order in which classes are
    /// initialised.
    Refused(Conditions),
    Absent,
}

/// The place of one body in the cache.
#[derive(Clone, Copy)]
pub struct Slot {
    key: Key,
    module: &'static Module,
    /// None: code that belongs to no method.
    method: Option<&'static Method>,
    /// Whether it is the body that all methods with the method's shared form use.
    is_shared: bool,
}

/// The place of this code in the cache; None when the cache is off or the code has no name that holds in other processes.
pub fn slot(identity: Identity) -> Option<Slot> {
    if !is_on() {
        return None;
    }
    if let Identity::Method(method) | Identity::FirstTier(method) = identity
        && (method.is_dynamic() || host_calls::decides_about(method))
    {
        return None;
    }
    let (key, module) = identity.key()?;
    let is_shared = matches!(identity, Identity::Shared(_));
    Some(Slot { key, module, method: identity.method(), is_shared })
}

impl Slot {
    /// Looks for the cached body.
    pub fn find(&self) -> Lookup {
        let Some(bytes) = self.module.find(self.key) else { return Lookup::Absent };
        match decode::decode(self.module, &bytes, self.method.filter(|_| self.is_shared)) {
            Ok((code, kind)) => {
                // Relaxed: a counter.
                STATISTICS.found.fetch_add(1, Ordering::Relaxed);
                Lookup::Found(code, kind)
            }
            Err(Refused::Stale) => {
                // Relaxed: a counter.
                STATISTICS.stale.fetch_add(1, Ordering::Relaxed);
                Lookup::Absent
            }
            Err(Refused::Conditions(conditions)) => {
                // Relaxed: a counter.
                STATISTICS.too_early.fetch_add(1, Ordering::Relaxed);
                Lookup::Refused(conditions)
            }
        }
    }

    /// Keeps a body for later runs, which is valid where its assumptions hold.
    pub fn keep(&self, code: &CompiledCode, kind: CodeKind, mut assumptions: Vec<Assumption>) {
        if SETTINGS.get().is_some_and(|settings| settings.own.is_none()) && crate::domain::count() < 2 {
            return;
        }
        // When the body is looked up, the modules of the method's name are loaded.
        let named = match self.method {
            Some(method) if self.is_shared => method.shared_form().ok(),
            method => method,
        };
        let mut images: Vec<&'static Image> = named.map_or_else(Vec::new, key::images_of_name);
        // All code depends on facts about corlib's types, many of which no token names.
        if self.module.image.is_some() && !images.iter().any(|image| image.is_corlib) {
            images.push(saki_types::universe().corlib());
        }
        encode::add_named(code, &mut assumptions, &mut images);
        for image in images_behind(&assumptions) {
            if !images.contains(&image) {
                images.push(image);
            }
        }
        add_forwarders(&mut images);
        let conditions = Conditions::of(&assumptions);
        let Some(bytes) = encode::encode(self.module, code, kind, &images, &conditions) else { return };
        let len = bytes.len();
        self.module.bodies.fresh.lock().insert(self.key, bytes);
        saver::start(write_back);
        // Relaxed: a counter; the thread that crosses the limit writes.
        STATISTICS.kept.fetch_add(1, Ordering::Relaxed);
        if KEPT_BYTES.fetch_add(len, Ordering::Relaxed) + len >= WRITE_EARLY_BYTES {
            write_back();
        }
    }
}

/// Held while bodies are written.
static WRITING: Mutex<rank::CacheWriting, ()> = Mutex::new(());

/// Before a fork: waits until no bodies are written.
pub fn hold() {
    child_locks::hold(&WRITING);
}

/// In the parent.
pub fn release() {
    child_locks::release(&WRITING);
}

/// In a forked child, which writes its bodies itself. The code that its parent has kept is its parent's to write, and may be written twice.
pub fn begin_child() {
    child_locks::revive(&WRITING);
}

/// Writes the kept bodies. Files are read again, because another process may have replaced them since they were opened.
pub fn write_back() {
    let Some(settings) = SETTINGS.get() else { return };
    let _one_at_a_time = WRITING.lock();
    // Relaxed: only says when to write; the bodies are handed over under their modules' locks.
    KEPT_BYTES.store(0, Ordering::Relaxed);
    remembered::save();
    let Some(own) = &settings.own else { return };
    let kept = module::all().into_iter().map(|module| (module, std::mem::take(&mut *module.fresh.lock())));
    let kept: Vec<_> = kept.filter(|(_, fresh)| !fresh.is_empty()).collect();
    // Checked after the bodies were taken: so each of them was compiled from the hashed contents.
    if kept.is_empty() || contents::is_any_written_to() {
        return;
    }
    let Ok(folder) = own.make_below(&settings.folder) else { return };
    let mut has_written = false;
    for (module, fresh) in kept {
        let on_disk = folder.file(&module.file_name).ok().flatten();
        let on_disk = on_disk.and_then(|file| CodeFile::open(file, settings.build_key, module.id));
        let on_disk = on_disk.as_ref();
        has_written |= folder
            .replace_by(&module.file_name, file::max_bytes(&fresh, on_disk), |file| {
                file::write(file, settings.build_key, module.id, &fresh, on_disk)
            })
            .is_ok();
    }
    if has_written {
        own.evict();
    }
}

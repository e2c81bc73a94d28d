//! Application domains: each has a universe of types (`types::universe`), and with it statics, code, string literals and type
//! objects of its own.
//!
//! A thread runs in one domain at a time: the one whose universe `types::universe()` gives. It changes only by `switch`, in
//! the internal calls that managed code brackets a cross-domain call with, when a thread starts, and where the runtime itself
//! calls managed code for a domain (pool threads, finalizers). Objects of two domains never refer to each other: what crosses
//! is copied (`domain_copy`) or stands behind a transparent proxy (`proxies`). The exceptions are AppDomain objects on the way
//! from `create` to the proxy made of them, and the objects of threads.
//!
//! | `state` | moved by | meaning |
//! |---|---|---|
//! | ACTIVE | `create` | threads may enter |
//! | CLOSING | `unload` | DomainUnload handlers run; threads may enter |
//! | UNLOADING | `unload` | threads are aborted, finalizers run; nobody else may enter |
//! | UNLOADED | `unload` | its statics and handles are gone |

use crate::cells::RootCell;
use crate::exceptions::{self, ToManaged};
use crate::fields::ManagedField;
use crate::handles;
use crate::object;
use crate::thread::{CurrentThread, Managed};
use crate::{domain_copy, strings, thread_data};
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;
use saki_abi::ObjRef;
use saki_sync::handle_table::HandleKind;
use saki_thread::{ManagedThread, root};
use saki_types::app_config::AppConfig;
use saki_types::binder::{Binder, SearchPaths};
use saki_types::{Assembly, LoadResult, Universe, universe};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// `AppDomain.Id` of the domain that the process starts in.
pub const ROOT_DOMAIN_ID: i32 = 0;

const ACTIVE: u32 = 0;
const CLOSING: u32 = 1;
const UNLOADING: u32 = 2;
const UNLOADED: u32 = 3;

static NATIVE_HANDLE: ManagedField = ManagedField::corlib("System", "AppDomain", "_mono_app_domain");

/// One application domain. The record is leaked with its universe, less than 4 KiB; its address is the native handle in AppDomain
/// objects. The cells and assemblies that it leads to are freed some time after the unloading.
pub struct Domain {
    pub id: i32,
    pub universe: &'static Universe,
    friendly_name: Mutex<String>,
    object: RootCell,
    setup: RootCell,
    default_context: OnceLock<RootCell>,
    data: Mutex<HashMap<String, RootCell>>,
    entry_assembly: OnceLock<&'static Assembly>,
    pub(crate) interned: Mutex<FxHashMap<Box<[u16]>, RootCell>>,
    pub(crate) preallocated: OnceLock<exceptions::Preallocated>,
    state: AtomicU32,
    /// How often each thread, by managed id, is in the domain.
    threads: Mutex<FxHashMap<u32, u32>>,
}

/// All domains, by id from `ROOT_DOMAIN_ID`.
static DOMAINS: RwLock<Vec<&'static Domain>> = RwLock::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The domain that the current thread runs in.
pub fn current() -> &'static Domain {
    of_universe(universe())
}

/// The domain of a universe.
pub fn of_universe(universe: &'static Universe) -> &'static Domain {
    match universe.runtime::<Domain>() {
        Some(domain) => domain,
        None => saki_base::bug!("a universe without a domain"),
    }
}

/// The domain in which the process started.
pub fn root_domain() -> &'static Domain {
    of_universe(saki_types::universe::root())
}

/// The domain with this id, unless it is unloaded.
pub fn by_id(id: i32) -> Option<&'static Domain> {
    let index = usize::try_from(id - ROOT_DOMAIN_ID).ok()?;
    DOMAINS.read().get(index).copied().filter(|domain| !domain.is_unloaded())
}

/// The thread with this managed id has ended, wherever it was.
pub(crate) fn forget_thread(id: u32) {
    DOMAINS.read().iter().for_each(|domain| domain.forget_thread(id));
}

/// How many domains there have been.
pub fn count() -> usize {
    // Relaxed: collections read it with the world stopped, which orders the accesses.
    COUNT.load(Ordering::Relaxed)
}

/// The domain of an AppDomain object (not null, not a proxy).
pub fn of_object(object: ObjRef) -> &'static Domain {
    // SAFETY: the field holds the address of a leaked `Domain` from the object's creation on.
    unsafe { &*NATIVE_HANDLE.get::<*const Domain>(object) }
}

/// Adds a domain for a universe that has none; it has no objects yet.
fn add(universe: &'static Universe, name: &str) -> &'static Domain {
    let mut domains = DOMAINS.write();
    let domain: &'static Domain = Box::leak(Box::new(Domain {
        id: ROOT_DOMAIN_ID + domains.len() as i32,
        universe,
        friendly_name: Mutex::new(name.to_string()),
        object: RootCell::of_domain(universe, ObjRef::NULL),
        setup: RootCell::of_domain(universe, ObjRef::NULL),
        default_context: OnceLock::new(),
        data: Mutex::default(),
        entry_assembly: OnceLock::new(),
        interned: Mutex::default(),
        preallocated: OnceLock::new(),
        state: AtomicU32::new(ACTIVE),
        threads: Mutex::default(),
    }));
    universe.set_runtime(domain);
    domains.push(domain);
    COUNT.store(domains.len(), Ordering::Relaxed);
    domain
}

/// Makes the first domain, of the universe that start-up made, with its objects.
///
/// # Errors
/// As `make_objects`.
pub fn start(t: CurrentThread) -> Managed<&'static Domain> {
    let domain = add(saki_types::universe::root(), "");
    domain.make_objects(t)?;
    domain.setup.set(new_setup(t)?);
    Ok(domain)
}

fn new_setup(t: CurrentThread) -> Managed<ObjRef> {
    let ty = universe().corlib_type("System", "AppDomainSetup").to_managed(t)?;
    object::new_instance(t, ty)
}

impl Domain {
    /// The objects that must exist before managed code runs in the domain, which the current thread is in.
    fn make_objects(&'static self, t: CurrentThread) -> Managed<()> {
        static EMPTY: ManagedField = ManagedField::corlib("System", "String", "Empty");
        let ty = universe().corlib_type("System", "AppDomain").to_managed(t)?;
        let object = object::new_instance(t, ty)?;
        NATIVE_HANDLE.set(object, std::ptr::from_ref(self));
        self.object.set(object);
        let empty = strings::intern(t, &[])?;
        // SAFETY: the static's slot, scanned as a root.
        unsafe { *EMPTY.static_address::<ObjRef>() = empty };
        crate::threads::current_object(t)?;
        exceptions::preallocate(t)
    }

    /// The AppDomain object.
    pub fn object(&self) -> ObjRef {
        self.object.get()
    }

    /// The AppDomainSetup object.
    pub fn setup(&self) -> ObjRef {
        self.setup.get()
    }

    pub fn friendly_name(&self) -> String {
        self.friendly_name.lock().clone()
    }

    pub fn set_friendly_name(&self, name: &str) {
        *self.friendly_name.lock() = name.to_string();
    }

    /// `Assembly.GetEntryAssembly`.
    pub fn entry_assembly(&self) -> Option<&'static Assembly> {
        self.entry_assembly.get().copied()
    }

    /// The first one set stays.
    pub fn set_entry_assembly(&self, assembly: &'static Assembly) {
        let _ = self.entry_assembly.set(assembly);
    }

    /// A value given to `AppDomain.SetData`.
    pub fn data(&self, key: &str) -> ObjRef {
        self.data.lock().get(key).map_or(ObjRef::NULL, |cell| cell.get())
    }

    pub fn set_data(&self, key: String, value: ObjRef) {
        // A name keeps its cell.
        self.data.lock().entry(key).or_insert_with(|| RootCell::of_domain(self.universe, ObjRef::NULL)).set(value);
    }

    /// The remoting context that threads start in, made on first use without running a constructor. For the current domain.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn default_context(&self, t: CurrentThread) -> Managed<ObjRef> {
        static DOMAIN_ID: ManagedField =
            ManagedField::corlib("System.Runtime.Remoting.Contexts", "Context", "domain_id");
        if let Some(cell) = self.default_context.get() {
            return Ok(cell.get());
        }
        let ty = universe().corlib_type("System.Runtime.Remoting.Contexts", "Context").to_managed(t)?;
        let context = object::new_instance(t, ty)?;
        DOMAIN_ID.set(context, self.id);
        // The first to publish wins; the other object is garbage.
        Ok(self.default_context.get_or_init(|| RootCell::of_domain(self.universe, context)).get())
    }

    pub fn is_unloaded(&self) -> bool {
        // Acquire: pairs with `unload`.
        self.state.load(Ordering::Acquire) == UNLOADED
    }

    pub fn is_unloading(&self) -> bool {
        self.state.load(Ordering::Acquire) >= UNLOADING
    }

    /// Claims the unloading of the domain; false when another thread has claimed it.
    pub fn begin_unload(&self) -> bool {
        // AcqRel: one unloader wins and sees all that was done before.
        self.state.compare_exchange(ACTIVE, CLOSING, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The DomainUnload handlers have run.
    pub fn close(&self) {
        self.state.store(UNLOADING, Ordering::Release);
    }

    /// A DomainUnload handler refused.
    pub fn cancel_unload(&self) {
        self.state.store(ACTIVE, Ordering::Release);
    }

    /// The thread enters the domain, perhaps again: unloading waits for it.
    ///
    /// # Errors
    /// AppDomainUnloadedException.
    pub fn add_thread(&self, t: CurrentThread) -> Managed<()> {
        if self.is_root() {
            return Ok(());
        }
        *self.threads.lock().entry(t.id()).or_insert(0) += 1;
        // After the entry: an unloader that does not see it has closed the domain before.
        if self.is_unloading() {
            self.remove_thread(t);
            return Err(throw_unloaded(t));
        }
        Ok(())
    }

    /// Ends one `add_thread` of the current thread.
    pub fn remove_thread(&self, t: CurrentThread) {
        if self.is_root() {
            return;
        }
        {
            let mut threads = self.threads.lock();
            if let Some(count) = threads.get_mut(&t.id()).filter(|count| **count > 1) {
                *count -= 1;
                return;
            }
            threads.remove(&t.id());
        }
        self.withdraw_abort(t);
    }

    /// Ends all `add_thread` of the current thread.
    pub fn leave(&self, t: CurrentThread) {
        self.forget_thread(t.id());
        self.withdraw_abort(t);
    }

    /// The current thread is not in the domain any more: after this the domain's unloading does not abort it.
    fn withdraw_abort(&self, t: CurrentThread) {
        if self.is_unloading() {
            crate::threads::withdraw_abort_by_unload(t);
        }
    }

    /// Requests the abort of a thread because the domain is unloaded, if the thread is in the domain and no abort is under way.
    pub(crate) fn abort_inside(&self, thread: &ManagedThread) -> bool {
        // With the lock, so that a thread that leaves finds the request when it has left. Nothing below reaches a safepoint.
        let threads = self.threads.lock();
        threads.contains_key(&thread.managed_id()) && crate::threads::request_abort_by_unload(thread)
    }

    /// The thread has ended.
    pub fn forget_thread(&self, id: u32) {
        if self.is_root() {
            return;
        }
        self.threads.lock().remove(&id);
    }

    pub fn has_thread(&self, id: u32) -> bool {
        self.threads.lock().contains_key(&id)
    }

    /// Managed ids of the threads in the domain.
    pub fn threads(&self) -> Vec<u32> {
        self.threads.lock().keys().copied().collect()
    }

    pub fn is_root(&self) -> bool {
        self.id == ROOT_DOMAIN_ID
    }

    /// The cells of its objects are about to go with its other records.
    pub(crate) fn forget_objects(&self) {
        *self.interned.lock() = FxHashMap::default();
        *self.data.lock() = HashMap::new();
    }

    /// Nothing runs in the domain any more.
    pub fn finish_unload(&self) {
        self.state.store(UNLOADED, Ordering::Release);
    }
}

/// Switches the current thread to `domain`; returns the domain that it was in. The thread's Thread objects are then those of
/// `domain`.
pub fn switch(t: CurrentThread, domain: &'static Domain) -> &'static Domain {
    let before = current();
    if std::ptr::eq(before, domain) {
        return before;
    }
    let slot = &t.managed().roots[root::THREAD_OBJECT];
    let data = thread_data::of(t);
    data.keep_thread_object(t, before.id, slot.get());
    saki_types::universe::set_current(domain.universe);
    slot.set(data.thread_object(domain.id));
    // That is, the default context of the domain.
    t.managed().roots[root::CONTEXT].set(ObjRef::NULL);
    before
}

/// AppDomainUnloadedException.
pub fn throw_unloaded(t: CurrentThread) -> exceptions::Thrown {
    exceptions::throw_default(t, "AppDomainUnloadedException")
}

/// Whether the thread is in no context but its domain's own.
pub fn is_in_default_context(t: CurrentThread) -> bool {
    let known = t.managed().roots[root::CONTEXT].get();
    known.is_null() || current().default_context.get().is_some_and(|cell| cell.get() == known)
}

/// The remoting context that the thread is in.
///
/// # Errors
/// OutOfMemoryException.
pub fn context(t: CurrentThread) -> Managed<ObjRef> {
    let known = t.managed().roots[root::CONTEXT].get();
    if known.is_null() { current().default_context(t) } else { Ok(known) }
}

/// Runs `body` in `domain`.
pub fn run_in<R>(t: CurrentThread, domain: &'static Domain, body: impl FnOnce() -> R) -> R {
    let before = switch(t, domain);
    let result = body();
    switch(t, before);
    result
}

/// The Thread objects of a thread in the domains that it is not in now.
#[derive(Default)]
pub struct ThreadObjects(Vec<(i32, saki_sync::handle_table::Handle)>);

impl ThreadObjects {
    /// Null when the thread has none in the domain.
    pub fn get(&self, domain: i32) -> ObjRef {
        let found = self.0.iter().find(|(id, _)| *id == domain);
        found.and_then(|(_, handle)| handles::target(*handle).ok()).unwrap_or(ObjRef::NULL)
    }

    pub fn set(&mut self, t: CurrentThread, domain: i32, object: ObjRef) {
        if let Some((_, handle)) = self.0.iter().find(|(id, _)| *id == domain) {
            // A handle of ours is not stale.
            let _ = handles::set_target(*handle, object);
        } else if !object.is_null()
            && let Some(handle) = handles::allocate(t, HandleKind::Normal, object)
        {
            // Handles of domains that were unloaded since are stale.
            self.0.retain(|(_, handle)| handles::target(*handle).is_ok());
            self.0.push((domain, handle));
        }
    }

    /// Any of them.
    pub fn first(&self) -> ObjRef {
        self.0.iter().find_map(|(_, handle)| handles::target(*handle).ok()).unwrap_or(ObjRef::NULL)
    }

    /// Gives the handles back, of one domain or of all.
    pub fn release(&mut self, t: CurrentThread, domain: Option<i32>) {
        self.0.retain(|(id, handle)| {
            let goes = domain.is_none_or(|domain| domain == *id);
            if goes {
                let _ = handles::free(t, *handle);
            }
            !goes
        });
    }
}

/// Creates a domain from a setup object of the current domain, and makes its objects. The current thread stays in its domain.
///
/// # Errors
/// Errors of loading the class library; OutOfMemoryException.
pub fn create(t: CurrentThread, name: &str, setup: ObjRef) -> Managed<&'static Domain> {
    let universe = new_universe(setup).to_managed(t)?;
    let domain = add(universe, name);
    let created = run_in(t, domain, || {
        domain.make_objects(t)?;
        let copy = new_setup(t)?;
        domain_copy::copy_setup(t, setup, copy)?;
        domain.setup.set(copy);
        Ok(())
    });
    match created {
        Ok(()) => Ok(domain),
        Err(thrown) => {
            domain.finish_unload();
            Err(thrown)
        }
    }
}

fn new_universe(setup: ObjRef) -> LoadResult<&'static Universe> {
    let root = saki_types::universe::root();
    let text = |key: &str| domain_copy::setup_text(setup, key);
    let base = match text("application_base") {
        Some(base) => PathBuf::from(base.strip_prefix("file://").unwrap_or(&base)),
        None => root.binder().paths().application_base,
    };
    let base = std::fs::canonicalize(&base).unwrap_or(base);
    let mut config = match text("configuration_file") {
        Some(file) => std::fs::read_to_string(base.join(file)).map(|text| AppConfig::parse(&text)).unwrap_or_default(),
        None => AppConfig::default(),
    };
    if let Some(private) = text("private_bin_path") {
        config.private_paths.extend(private.split([';', ':']).filter(|path| !path.is_empty()).map(PathBuf::from));
    }
    let paths = SearchPaths { application_base: base, ..root.binder().paths() };
    let binder = Binder::new(paths).with_events(root.binder().events());
    binder.set_config(config);
    let corlib: &Path = root.corlib().meta.path();
    saki_types::universe::create(binder, corlib)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unloader_wins_and_an_unloaded_domain_is_not_found() {
        let root = Path::new("/usr/lib/mono");
        let corlib = root.join("4.5/mscorlib.dll");
        if !corlib.is_file() {
            return eprintln!("skipped: no class libraries");
        }
        let paths = SearchPaths { mono_path: vec![], application_base: root.join("4.5"), framework_root: root.into() };
        let universe = saki_types::universe::init(Binder::new(paths), &corlib).expect("corlib loads");
        let first = add(universe, "first");
        let domain = add(universe, "second");
        assert!(first.is_root() && !domain.is_root() && count() == 2);
        let is_found = || by_id(domain.id).is_some_and(|found| std::ptr::eq(found, domain));
        assert!(is_found() && by_id(domain.id + 1).is_none() && by_id(-1).is_none());

        assert!(domain.begin_unload() && !domain.begin_unload(), "claimed once");
        assert!(!domain.is_unloading(), "handlers run in a domain that is still in use");
        domain.cancel_unload();
        assert!(domain.begin_unload(), "a handler refused: it may be tried again");
        domain.close();
        assert!(domain.is_unloading() && !domain.is_unloaded() && is_found() && !domain.begin_unload());

        // A thread that is in twice and one that has ended: the unloader waits for the one.
        domain.threads.lock().extend([(7, 2), (8, 1)]);
        forget_thread(8);
        assert!(domain.has_thread(7) && domain.threads() == [7]);
        domain.finish_unload();
        assert!(domain.is_unloaded() && !is_found() && !domain.begin_unload());
        // The first domain counts no threads: it is never unloaded.
        first.threads.lock().insert(9, 1);
        first.forget_thread(9);
        assert!(first.has_thread(9));
    }
}

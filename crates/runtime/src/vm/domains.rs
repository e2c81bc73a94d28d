//! Application domains: each has a universe of types (`types::universe`), and with it statics, code, string literals
//! and type objects of its own.
//!
//! A thread runs in one domain at a time: the one whose universe `types::universe()` returns. Only `switch` changes it:
//! in the internal calls by which managed code enters and leaves another domain, when a thread starts, and where the
//! runtime itself calls managed code for a domain (pool threads, finalizers). Objects of two domains never refer to
//! each other: an object that crosses is copied (`domain_copy`) or gets a transparent proxy (`proxies`). The exceptions
//! are AppDomain objects on the way from `create` to the proxy made of them, and the objects of threads.
//!
//! The record of a domain, and the states that it goes through, are in `object::domain`.

pub use crate::contexts::{context, is_in_default_context};
use crate::domain::add;
pub(crate) use crate::domain::forget_thread;
pub use crate::domain::{Domain, ROOT_DOMAIN_ID, by_id, count, current, of_universe, root_domain};
use crate::exception_types::ExceptionType;
use crate::exceptions::{self, ToManaged};
use crate::fields::ManagedField;
use crate::host_events::{HostEvent, tell_if_wanted};
use crate::references::{Obj, Str, Word};
use crate::thread::{CurrentThread, Managed};
use crate::{abort_requests, domain_copy, thread_data, thread_objects};
use saki_abi::ObjRef;
use saki_thread::{ManagedThread, root};
use saki_types::app_config::AppConfig;
use saki_types::binder::{Binder, SearchPaths};
use saki_types::{LibraryType, LoadResult, Universe, universe};
use std::path::{Path, PathBuf};

static NATIVE_HANDLE: ManagedField = ManagedField::new(LibraryType::AppDomain, "_mono_app_domain");

/// The domain of an AppDomain object that is no proxy; None if the object was made without one
/// (`GetUninitializedObject`).
pub fn of_object(object: Obj) -> Option<&'static Domain> {
    // SAFETY: the field is null, or holds the address of a leaked `Domain` from the object's creation on.
    unsafe { NATIVE_HANDLE.get::<*const Domain>(object).as_ref() }
}

/// Makes the first domain, of the universe that start-up made, with its objects.
///
/// # Errors
/// Load errors of the class libraries' types; OutOfMemoryException.
pub(crate) fn start(t: CurrentThread) -> Managed<&'static Domain> {
    let domain = add(saki_types::universe::root(), "");
    tell_made(domain);
    domain.make_objects(t)?;
    if universe().find_library_type(LibraryType::AppDomainSetup).to_managed(t)?.is_some() {
        domain.setup.set(new_setup(t)?);
    }
    Ok(domain)
}

/// Sets `AppDomain.FriendlyName`.
pub fn set_name(domain: &'static Domain, name: &str) {
    domain.set_friendly_name(name);
    tell_if_wanted(HostEvent::DomainNamed(domain));
}

/// Tells the host of a new domain and of the core assembly, which the domain has from the start.
fn tell_made(domain: &'static Domain) {
    tell_if_wanted(HostEvent::DomainLoading(domain));
    tell_if_wanted(HostEvent::DomainLoaded(domain));
    tell_if_wanted(HostEvent::AssemblyLoaded(domain.universe.corlib().assembly()));
}

fn new_setup<'t>(t: CurrentThread<'t>) -> Managed<Obj<'t>> {
    let ty = universe().library_type(LibraryType::AppDomainSetup).to_managed(t)?;
    Obj::new(t, ty)
}

impl Domain {
    /// The objects that must exist before managed code runs in the domain, which the current thread is in.
    fn make_objects(&'static self, t: CurrentThread) -> Managed<()> {
        static EMPTY: ManagedField = ManagedField::new(LibraryType::String, "Empty");
        // .NET's AppDomain object is one among others, which managed code makes.
        if NATIVE_HANDLE.is_there() {
            let ty = universe().library_type(LibraryType::AppDomain).to_managed(t)?;
            let object = Obj::new(t, ty)?;
            NATIVE_HANDLE.set(object, std::ptr::from_ref(self));
            self.object.set(object);
        }
        let empty = Str::intern_units(t, &[])?;
        // SAFETY: the static's slot, scanned as a root.
        unsafe { *EMPTY.static_address::<ObjRef>() = empty.word() };
        thread_objects::current_object(t)?;
        exceptions::preallocate(t)
    }

    /// Notes that the thread enters the domain, perhaps again: unloading waits for it.
    ///
    /// # Errors
    /// AppDomainUnloadedException.
    pub fn add_thread(&self, t: CurrentThread) -> Managed<()> {
        if self.is_root() {
            return Ok(());
        }
        *self.threads.lock().entry(t.id()).or_insert(0) += 1;
        // The state is read after the entry was made: an unloader that does not see the entry has closed the domain
        // before.
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
                if self.is_unloading() {
                    abort_requests::end_answered_abort(t);
                }
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
            abort_requests::withdraw_abort_by_unload(t);
        }
    }

    /// Requests the abort of a thread because the domain is unloaded, if the thread is in the domain and no abort is
    /// under way.
    pub(crate) fn abort_inside(&self, thread: &ManagedThread) -> bool {
        // Under the lock, so that a thread that leaves the domain finds the request afterwards. No code below reaches a
        // safepoint.
        let threads = self.threads.lock();
        threads.contains_key(&thread.managed_id()) && abort_requests::request_abort_by_unload(thread)
    }
}

/// Switches the current thread to `domain`; returns the domain that it was in. The thread's Thread objects are then
/// those of `domain`.
pub fn switch(t: CurrentThread, domain: &'static Domain) -> &'static Domain {
    let before = current();
    if std::ptr::eq(before, domain) {
        return before;
    }
    let data = thread_data::of(t);
    data.keep_thread_object(t, before.id, t.root(root::THREAD_OBJECT));
    saki_types::universe::set_current(domain.universe);
    t.set_root(root::THREAD_OBJECT, data.thread_object(t, domain.id));
    // Null stands for the default context of the domain.
    t.set_root(root::CONTEXT, None::<Obj>);
    before
}

/// AppDomainUnloadedException.
pub fn throw_unloaded(t: CurrentThread) -> exceptions::Thrown {
    exceptions::throw_default(t, ExceptionType::AppDomainUnloaded)
}

/// Runs `body` in `domain`.
pub fn run_in<R>(t: CurrentThread, domain: &'static Domain, body: impl FnOnce() -> R) -> R {
    let before = switch(t, domain);
    let result = body();
    switch(t, before);
    result
}

/// Creates a domain from a setup object of the current domain, and makes its objects. The current thread stays in its
/// domain.
///
/// # Errors
/// Errors of loading the class library; OutOfMemoryException.
pub fn create(t: CurrentThread, name: &str, setup: Obj) -> Managed<&'static Domain> {
    let universe = new_universe(setup).to_managed(t)?;
    let domain = add(universe, name);
    tell_made(domain);
    tell_if_wanted(HostEvent::DomainNamed(domain));
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

fn new_universe(setup: Obj) -> LoadResult<&'static Universe> {
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
    let copied = root.binder();
    let binder = Binder::new(paths).with_assembly_caches(copied.assembly_caches()).with_events(copied.events());
    binder.set_config(config);
    let corlib: &Path = root.corlib().meta.path();
    saki_types::universe::create(binder, corlib)
}

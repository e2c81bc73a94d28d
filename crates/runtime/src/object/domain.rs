//! The record of an application domain: its universe, the cells of its objects, its state and the threads in it; and
//! the table of all domains.
//!
//! Left out: entering, making and ending domains (`vm::domains`, which says what a domain is).
//!
//! | `state` | moved by | meaning |
//! |---|---|---|
//! | ACTIVE | `add` | threads may enter |
//! | CLOSING | `begin_unload` | DomainUnload handlers run; threads may enter |
//! | UNLOADING | `close` | threads are aborted, finalizers run; no other thread may enter |
//! | UNLOADED | `finish_unload` | no code runs in it any more; its handles and statics go next |
//!
//! `cancel_unload` moves it back to ACTIVE. Moves are Release (`begin_unload`: AcqRel) and looks Acquire: who sees a
//! state sees what was done before it was reached. That a thread which enters sees UNLOADING, or the unloader sees the
//! thread, follows from the lock of `threads`.

use crate::cells::RootCell;
use crate::references::{Obj, Word};
use crate::thread::CurrentThread;
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, RwLock, rank};
use saki_types::{Assembly, Universe, universe};
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// `AppDomain.Id` of the domain that the process starts in.
pub const ROOT_DOMAIN_ID: i32 = 0;

const ACTIVE: u32 = 0;
const CLOSING: u32 = 1;
const UNLOADING: u32 = 2;
const UNLOADED: u32 = 3;

/// One application domain. The record is leaked with its universe, less than 4 KiB; its address is the native handle in
/// AppDomain objects. The cells and assemblies that it leads to are freed some time after the unloading.
pub struct Domain {
    /// `AppDomain.Id`.
    pub id: i32,
    /// The types of the domain.
    pub universe: &'static Universe,
    friendly_name: Mutex<rank::DomainName, String>,
    pub(crate) object: RootCell,
    pub(crate) setup: RootCell,
    pub(crate) default_context: OnceLock<RootCell>,
    data: Mutex<rank::DomainData, HashMap<String, RootCell>>,
    entry_assembly: OnceLock<&'static Assembly>,
    pub(crate) interned: Mutex<rank::InternedStrings, FxHashMap<Box<[u16]>, RootCell>>,
    pub(crate) preallocated: OnceLock<Preallocated>,
    state: AtomicU32,
    /// For each thread that is in the domain, by managed id, how many times it has entered and not left.
    pub(crate) threads: Mutex<rank::DomainThreads, FxHashMap<u32, u32>>,
}

/// Exceptions made at start-up because there may be no memory or stack for them later.
pub(crate) struct Preallocated {
    /// The exception that is thrown when there is no memory to make one.
    pub out_of_memory: RootCell,
    /// The exception that is thrown on a stack overflow.
    pub stack_overflow: RootCell,
}

/// All domains, by id from `ROOT_DOMAIN_ID`.
static DOMAINS: RwLock<rank::Domains, Vec<&'static Domain>> = RwLock::new(Vec::new());
/// How many there are. Relaxed: readers then take the lock of the list.
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

/// To be called when a thread has ended: it is in no domain any more.
pub(crate) fn forget_thread(id: u32) {
    DOMAINS.read().iter().for_each(|domain| domain.forget_thread(id));
}

/// The number of domains made since the start.
pub fn count() -> usize {
    // Relaxed: collections read it with the world stopped, which orders the accesses.
    COUNT.load(Ordering::Relaxed)
}

/// Adds a domain for a universe that has none; it has no objects yet.
pub(crate) fn add(universe: &'static Universe, name: &str) -> &'static Domain {
    let mut domains = DOMAINS.write();
    let domain: &'static Domain = Box::leak(Box::new(Domain {
        id: ROOT_DOMAIN_ID + domains.len() as i32,
        universe,
        friendly_name: Mutex::new(name.to_string()),
        object: RootCell::of_domain(universe, None::<Obj>),
        setup: RootCell::of_domain(universe, None::<Obj>),
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

impl Domain {
    /// The AppDomain object; None while the domain is made.
    pub fn object<'t>(&self, t: CurrentThread<'t>) -> Option<Obj<'t>> {
        self.object.obj(t)
    }

    /// The AppDomainSetup object; None while the domain is made.
    pub fn setup<'t>(&self, t: CurrentThread<'t>) -> Option<Obj<'t>> {
        self.setup.obj(t)
    }

    /// `AppDomain.FriendlyName`.
    pub fn friendly_name(&self) -> String {
        self.friendly_name.lock().clone()
    }

    /// Sets `AppDomain.FriendlyName`.
    pub fn set_friendly_name(&self, name: &str) {
        *self.friendly_name.lock() = name.to_string();
    }

    /// `Assembly.GetEntryAssembly`.
    pub fn entry_assembly(&self) -> Option<&'static Assembly> {
        self.entry_assembly.get().copied()
    }

    /// Sets the entry assembly, unless there is one.
    pub fn set_entry_assembly(&self, assembly: &'static Assembly) {
        let _ = self.entry_assembly.set(assembly);
    }

    /// A value given to `AppDomain.SetData`.
    pub fn data<'t>(&self, t: CurrentThread<'t>, key: &str) -> Option<Obj<'t>> {
        self.data.lock().get(key)?.obj(t)
    }

    pub fn set_data(&self, key: String, value: impl Word) {
        // A key keeps its cell.
        self.data.lock().entry(key).or_insert_with(|| RootCell::of_domain(self.universe, None::<Obj>)).set(value);
    }

    /// Whether the domain has been unloaded.
    pub fn is_unloaded(&self) -> bool {
        // Acquire: pairs with the Release in `finish_unload`.
        self.state.load(Ordering::Acquire) == UNLOADED
    }

    /// Whether the domain is being unloaded.
    pub fn is_unloading(&self) -> bool {
        self.state.load(Ordering::Acquire) >= UNLOADING
    }

    /// Claims the unloading of the domain; false when another thread has claimed it.
    pub fn begin_unload(&self) -> bool {
        // AcqRel: one unloader wins and sees all that was done before.
        self.state.compare_exchange(ACTIVE, CLOSING, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// To be called when the DomainUnload handlers have run.
    pub fn close(&self) {
        self.state.store(UNLOADING, Ordering::Release);
    }

    /// To be called when a DomainUnload handler has refused.
    pub fn cancel_unload(&self) {
        self.state.store(ACTIVE, Ordering::Release);
    }

    /// To be called when a thread has ended: it is not in the domain any more.
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

    /// Whether it is the domain in which the program began.
    pub fn is_root(&self) -> bool {
        self.id == ROOT_DOMAIN_ID
    }

    /// Empties the tables of cells, which are about to be freed with the domain's other records.
    pub(crate) fn forget_objects(&self) {
        *self.interned.lock() = FxHashMap::default();
        *self.data.lock() = HashMap::new();
    }

    /// To be called when no code runs in the domain any more.
    pub fn finish_unload(&self) {
        self.state.store(UNLOADED, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::fixture::class_libraries;

    #[test]
    fn one_unloader_wins_and_an_unloaded_domain_is_not_found() {
        let Some((universe, _)) = class_libraries() else { return };
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

        // A thread that has entered twice and a thread that has ended: the unloader waits for the first one only.
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

//! Load errors that compiled code throws when it reaches the instruction that met them (`HelperId::ThrowDeferred`), by method.

use rustc_hash::FxHashMap;
use saki_base::locks::{RwLock, rank};
use saki_types::{LoadError, Method, collectible};
use std::sync::atomic::{AtomicBool, Ordering};

static DEFERRED: RwLock<rank::DeferredErrors, Option<FxHashMap<usize, Vec<LoadError>>>> = RwLock::new(None);
/// Whether `DEFERRED` has errors of a method that may be freed; if not, `forget_deferred_errors` needs no lock.
static HAS_MORTAL_DEFERRED: AtomicBool = AtomicBool::new(false);

/// Keeps the errors of a body of `method`, before the body can run.
pub(super) fn keep(method: &'static Method, errors: Vec<LoadError>) {
    if errors.is_empty() {
        return;
    }
    if method.is_dynamic() || collectible::owner_of(method).is_some() {
        // Relaxed: a thread that forgets the method's errors got the method through lists under locks.
        HAS_MORTAL_DEFERRED.store(true, Ordering::Relaxed);
    }
    DEFERRED.write().get_or_insert_default().insert(std::ptr::from_ref(method).addr(), errors);
}

/// Forgets the errors of a method that is freed.
pub(crate) fn forget_deferred_errors(method: &'static Method) {
    let key = std::ptr::from_ref(method).addr();
    // Relaxed: see the store.
    if HAS_MORTAL_DEFERRED.load(Ordering::Relaxed)
        && DEFERRED.read().as_ref().is_some_and(|table| table.contains_key(&key))
    {
        DEFERRED.write().get_or_insert_default().remove(&key);
    }
}

/// The load error number `index` that the importer met in `method`.
pub fn deferred_error(method: &'static Method, index: usize) -> LoadError {
    let table = DEFERRED.read();
    let errors = table.as_ref().and_then(|t| t.get(&std::ptr::from_ref(method).addr()));
    match errors.and_then(|e| e.get(index)) {
        Some(error) => error.clone(),
        None => saki_base::bug!("{} has no deferred error {index}", method.full_name()),
    }
}

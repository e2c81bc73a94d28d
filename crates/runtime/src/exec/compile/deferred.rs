//! Load errors that compiled code throws when it reaches the instruction that met them (`HelperId::ThrowDeferred`), by
//! body: each version of a method has errors of its own.

use crate::thread::CurrentThread;
use rustc_hash::FxHashMap;
use saki_base::locks::{RwLock, rank};
use saki_code::{CodeInfo, PlacedClause};
use saki_types::{LoadError, Method, collectible};
use saki_unwind::Frames;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The errors of a body, by number.
type Errors = Arc<[LoadError]>;

static DEFERRED: RwLock<rank::DeferredErrors, Option<FxHashMap<usize, Errors>>> = RwLock::new(None);
/// Whether `DEFERRED` has errors of bodies that may be freed; if not, `forget_deferred_errors` needs no lock.
static HAS_MORTAL_DEFERRED: AtomicBool = AtomicBool::new(false);

/// The frames of the thread in which the body that throws is looked for: the helper's thunk may come before it.
const FRAMES: usize = 2;

fn key(body: &CodeInfo) -> usize {
    std::ptr::from_ref(body).addr()
}

/// Keeps the errors of a body of `method`, before the body can run. Its filters throw them, too.
pub(super) fn keep(method: &'static Method, body: &'static CodeInfo, errors: Vec<LoadError>) {
    if errors.is_empty() {
        return;
    }
    if method.is_dynamic() || collectible::owner_of(method).is_some() {
        // Relaxed: a thread that forgets the errors got the body through lists under locks.
        HAS_MORTAL_DEFERRED.store(true, Ordering::Relaxed);
    }
    let errors: Errors = errors.into();
    let mut table = DEFERRED.write();
    let table = table.get_or_insert_default();
    for clause in body.clauses() {
        if let PlacedClause::Filter(address) = *clause
            && let Some(filter) = saki_code::lookup(address)
        {
            table.insert(key(filter), errors.clone());
        }
    }
    table.insert(key(body), errors);
}

/// Forgets the errors of a body that is freed.
pub(crate) fn forget_deferred_errors(body: &CodeInfo) {
    // Relaxed: see the store.
    if HAS_MORTAL_DEFERRED.load(Ordering::Relaxed)
        && DEFERRED.read().as_ref().is_some_and(|table| table.contains_key(&key(body)))
    {
        DEFERRED.write().get_or_insert_default().remove(&key(body));
    }
}

/// The load error number `index` that the importer met in the body that has called a helper on this thread.
pub fn deferred_error(t: CurrentThread, index: usize) -> LoadError {
    let table = DEFERRED.read();
    // SAFETY: `t` is current, and below it are the frames of managed code that has called the helper.
    let frames = unsafe { Frames::of_thread(t.abi()) };
    let errors = frames.take(FRAMES).find_map(|frame| table.as_ref()?.get(&key(frame.code()?)));
    match errors.and_then(|errors| errors.get(index)) {
        Some(error) => error.clone(),
        None => saki_base::bug!("a body throws error {index}, which it does not have"),
    }
}

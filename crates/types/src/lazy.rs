//! Compute-once cells under the loader lock.
//!
//! `OnceLock` alone would deadlock when computing one fact of a type needs itself (a recursive struct) and would let two
//! threads compute the same fact in opposite orders; here one reentrant lock orders all computing, and a fact that needs
//! itself is an error.

use crate::error::{LoadError, LoadErrorKind, LoadResult};
use parking_lot::{ReentrantMutex, ReentrantMutexGuard};
use std::cell::Cell;
use std::sync::OnceLock;

/// In cache lines of its own: what lies beside it may be read all the time.
#[repr(align(128))]
struct Apart(ReentrantMutex<()>);

static LOADER_LOCK: Apart = Apart(ReentrantMutex::new(()));

/// Runs a function that blocks; set by the runtime, which lets collections go on meanwhile.
static WHILE_BLOCKED: OnceLock<fn(&mut dyn FnMut())> = OnceLock::new();

/// Says how to wait for the lock. Needed because an assembly-resolve handler, which is managed code, runs while its
/// thread loads a type: a collection that it causes must not wait for threads that wait for the lock.
pub fn set_blocking_hook(hook: fn(&mut dyn FnMut())) {
    let _ = WHILE_BLOCKED.set(hook);
}

/// The lock of all first uses. Never held across allocation of managed objects or a safepoint, except by an
/// assembly-resolve handler.
pub fn loader_lock() -> ReentrantMutexGuard<'static, ()> {
    if let Some(guard) = LOADER_LOCK.0.try_lock() {
        return guard;
    }
    let mut guard = None;
    match WHILE_BLOCKED.get() {
        Some(hook) => hook(&mut || guard = Some(LOADER_LOCK.0.lock())),
        None => guard = Some(LOADER_LOCK.0.lock()),
    }
    match guard {
        Some(guard) => guard,
        // A hook that did not run its argument: lock without it.
        None => LOADER_LOCK.0.lock(),
    }
}

/// A fact computed on first use; failures are remembered too, but for types that are not finished yet.
pub struct Lazy<T> {
    /// The error boxed: there are thousands of cells, and hardly an error.
    value: OnceLock<Result<T, Box<LoadError>>>,
    computing: Cell<bool>,
}

// SAFETY: `computing` is read and written only while the loader lock is held (see `get`).
unsafe impl<T: Send + Sync> Sync for Lazy<T> {}

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Lazy { value: OnceLock::new(), computing: Cell::new(false) }
    }
}

impl<T: Clone> Lazy<T> {
    /// The value, computed by `compute` under the loader lock on first use.
    ///
    /// # Errors
    /// What `compute` returned the first time; `TypeLoad` when `compute` needs this very fact.
    pub fn get(&self, what: &dyn Fn() -> String, compute: impl FnOnce() -> LoadResult<T>) -> LoadResult<T> {
        if let Some(value) = self.value.get() {
            return known(value);
        }
        let _lock = loader_lock();
        if let Some(value) = self.value.get() {
            return known(value);
        }
        if self.computing.replace(true) {
            let subject = what();
            return Err(LoadError::type_load(format!("Recursive type definition detected {subject}"), subject));
        }
        let computed = compute().map_err(Box::new);
        self.computing.set(false);
        if let Err(error) = &computed
            && error.kind == LoadErrorKind::UnfinishedType
        {
            return known(&computed);
        }
        known(self.value.get_or_init(|| computed))
    }

    /// The value if it has been computed and is no failure.
    pub fn get_if_ready(&self) -> Option<&T> {
        self.value.get()?.as_ref().ok()
    }

    /// Whether the current holder of the loader lock is inside `compute`.
    pub fn is_computing(&self) -> bool {
        let _lock = loader_lock();
        self.computing.get()
    }
}

fn known<T: Clone>(value: &Result<T, Box<LoadError>>) -> LoadResult<T> {
    match value {
        Ok(value) => Ok(value.clone()),
        Err(error) => Err(LoadError::clone(error)),
    }
}

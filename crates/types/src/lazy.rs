//! Compute-once cells, most of them under the loader lock.
//!
//! `OnceLock` alone would deadlock when a fact of a type needs itself (a recursive struct), and when two threads
//! compute two facts that need each other in opposite orders. Here one reentrant lock orders all computing, and a fact
//! that needs itself is an error.
//!
//! What the program is told (`after_loading`) waits until the thread gives the lock back: a handler may need the very
//! facts in whose computing the news came up, and other threads need not wait for it.
//!
//! Facts that never need themselves and whose computing changes nothing else (`find`) take no lock: two threads may
//! compute one at the same time, and the first result stays. Signatures and records of methods are such facts, and most
//! of what a start needs.

use crate::computation;
use crate::error::{LoadError, LoadErrorKind, LoadResult};
use saki_base::locks::{order, rank};
use saki_sync::RawLock;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Work that waits for the end of a computation, in this order: each piece is done once, by the thread that has put it
/// here.
#[derive(Default)]
struct Afterwards(Vec<Box<dyn FnOnce()>>);

/// The one lock of this module. Owned by a managed thread, not by the OS thread that it is on: an assembly-resolve
/// handler runs with the lock held, and a green thread may change its OS thread there.
///
/// | `owner` | meaning | who changes it |
/// |---|---|---|
/// | 0 | free, or just taken or given back | the holder of `lock` (Relaxed: only the owner itself draws conclusions from its own id) |
/// | id | held by that thread, `depth` times | the same |
///
/// Aligned to cache lines of its own, since neighbouring data may be read all the time.
#[repr(align(128))]
struct LoaderLock {
    lock: RawLock,
    owner: AtomicU64,
    /// Resolved by the owner only.
    depth: Cell<u32>,
    /// What the owner does after it has given the lock back, in this order. Touched by the owner only.
    afterwards: Cell<Afterwards>,
}

// SAFETY: `depth` and `afterwards` are touched by the owner only, and `lock` orders the owners.
unsafe impl Sync for LoaderLock {}

static LOADER_LOCK: LoaderLock = LoaderLock {
    lock: RawLock::new(),
    owner: AtomicU64::new(0),
    depth: Cell::new(0),
    afterwards: Cell::new(Afterwards(Vec::new())),
};

/// Holds the loader lock until it is dropped, by the same managed thread.
pub struct LoaderLockGuard(PhantomData<*const ()>);

/// The lock of all first uses. Never held across allocation of managed objects or a safepoint, except by an
/// assembly-resolve handler.
pub fn loader_lock() -> LoaderLockGuard {
    let me = calling_thread();
    let lock = &LOADER_LOCK;
    // Relaxed: it is our id only if we stored it.
    if lock.owner.load(Ordering::Relaxed) == me {
        lock.depth.set(lock.depth.get() + 1);
        return LoaderLockGuard(PhantomData);
    }
    order::check_before_region::<rank::Loader>();
    if !lock.lock.try_lock() {
        // The holder of the lock may run an assembly-resolve handler, which is managed code and may cause a collection.
        // That collection must not wait for threads that wait for the lock.
        saki_thread::lock_in_safe_region(&lock.lock);
    }
    order::took::<rank::Loader, _>(lock);
    lock.owner.store(me, Ordering::Relaxed);
    lock.depth.set(1);
    LoaderLockGuard(PhantomData)
}

/// Does `work` when the calling thread holds the loader lock no longer: at once, or when it gives it back. For telling
/// the program of what was loaded, which runs managed code.
pub fn after_loading(work: Box<dyn FnOnce()>) {
    let lock = &LOADER_LOCK;
    // Relaxed: it is our id only if we stored it.
    if lock.owner.load(Ordering::Relaxed) != calling_thread() {
        return work();
    }
    let mut afterwards = lock.afterwards.take();
    afterwards.0.push(work);
    lock.afterwards.set(afterwards);
}

/// In a forked child, which has one thread: if another one held the lock, it is free.
pub fn revive_loader_lock() {
    let lock = &LOADER_LOCK;
    if lock.owner.load(Ordering::Relaxed) != calling_thread() {
        lock.owner.store(0, Ordering::Relaxed);
        lock.depth.set(0);
        // That thread, which the child does not have, may have been changing the list.
        std::mem::forget(lock.afterwards.take());
        lock.lock.unlock();
    }
}

/// Identity of the calling thread, never 0: a managed thread's id, whatever OS thread it is on; for other threads the
/// kernel's thread id.
fn calling_thread() -> u64 {
    match saki_thread::current() {
        Some(thread) => u64::from(thread.managed_id()),
        None => 1 << 32 | u64::from(saki_os::thread::native_id()),
    }
}

impl Drop for LoaderLockGuard {
    fn drop(&mut self) {
        let lock = &LOADER_LOCK;
        let depth = lock.depth.get() - 1;
        lock.depth.set(depth);
        if depth == 0 {
            let afterwards = lock.afterwards.take();
            order::gave_back(lock);
            lock.owner.store(0, Ordering::Relaxed);
            lock.lock.unlock();
            for work in afterwards.0 {
                work();
            }
        }
    }
}

/// A fact computed on first use. Failures are remembered too, except `UnfinishedType`, and those of a computation whose
/// failures are doubted (`computation`).
pub struct Lazy<T> {
    /// The error is boxed, since there are thousands of cells and hardly any errors.
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
    /// The error that `compute` returned the first time; `TypeLoad` when `compute` needs this very fact.
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
        if computed.as_ref().is_err_and(|error| !proves_something(error)) {
            return known(&computed);
        }
        known(self.value.get_or_init(|| computed))
    }

    /// The value, computed by `compute` on first use, without the loader lock: `compute` does not need this fact, and
    /// does nothing but make the result. If several threads compute it, the first result stays.
    ///
    /// # Errors
    /// The error that stays.
    pub fn find(&self, compute: impl FnOnce() -> LoadResult<T>) -> LoadResult<T> {
        if let Some(value) = self.value.get() {
            return known(value);
        }
        let computed = compute().map_err(Box::new);
        if computed.as_ref().is_err_and(|error| !proves_something(error)) {
            return known(&computed);
        }
        known(self.value.get_or_init(|| computed))
    }

    /// The value, if it has been computed successfully.
    pub fn get_if_ready(&self) -> Option<&T> {
        self.value.get()?.as_ref().ok()
    }
}

/// Whether a fact that failed so is remembered to fail.
pub(crate) fn proves_something(error: &LoadError) -> bool {
    error.kind != LoadErrorKind::UnfinishedType && !are_failures_doubted()
}

/// Whether failures on this thread prove nothing.
fn are_failures_doubted() -> bool {
    computation::with_current(|current| current.is_some_and(|current| current.are_failures_doubted.get()))
}

fn known<T: Clone>(value: &Result<T, Box<LoadError>>) -> LoadResult<T> {
    match value {
        Ok(value) => Ok(value.clone()),
        Err(error) => Err(LoadError::clone(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Lazy, after_loading, loader_lock};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn threads_that_find_a_fact_at_the_same_time_get_the_same() {
        let lazy = Lazy::default();
        let both_compute = Barrier::new(2);
        let find = |mine: u32| {
            // Whoever held the loader lock would keep the other from coming here.
            let compute = || {
                both_compute.wait();
                Ok(mine)
            };
            lazy.find(compute).expect("found")
        };
        let (first, second) = std::thread::scope(|scope| {
            let other = scope.spawn(|| find(2));
            (find(1), other.join().expect("no panic"))
        });
        assert_eq!((first, Some(&first)), (second, lazy.get_if_ready()));
    }

    #[test]
    fn news_of_loading_waits_until_the_lock_is_given_back() {
        static NEWS: AtomicU32 = AtomicU32::new(0);
        let tell = || {
            after_loading(Box::new(|| {
                NEWS.fetch_add(1, Ordering::Relaxed);
            }));
        };
        let lazy = Lazy::default();
        let inner = Lazy::default();
        let value = lazy.get(&String::new, || {
            let value = inner.get(&String::new, || {
                tell();
                Ok(1)
            });
            assert_eq!(NEWS.load(Ordering::Relaxed), 0);
            value
        });
        assert_eq!((value.ok(), NEWS.load(Ordering::Relaxed)), (Some(1), 1));
        tell();
        assert_eq!(NEWS.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn os_threads_without_a_machine_exclude_one_another() {
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        let _outer = loader_lock();
                        let _inner = loader_lock();
                        assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::Relaxed);
                    }
                });
            }
        });
    }
}

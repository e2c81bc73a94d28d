//! The hand-over of a method from one version of its code to another: which version is current, and what becomes of the
//! others.
//!
//! | state of a version | meaning | who moves it |
//! |---|---|---|
//! | made | placed, and nothing leads to it | initial |
//! | active | current, or about to be; entry, calls and tables are being led to it | `publish_first`; `replace`, AcqRel |
//! | published | entry, calls and tables lead to it | the same thread, Release |
//! | replaced | another is current; what changes only in a stop may lead to it still | `replace` of that one, Release |
//! | retired | only frames that run it lead to it | `retire`, Release, with the world stopped |
//!
//! The word with the current version changes by one exchange, which decides among threads that want different versions.
//! Whoever wins leads all places to what is current (`linked_calls::lead`), which may be a still later version by then.
//!
//! Invariant: a version that is current is neither made nor retired, so no other thread can take it for its own; and
//! one that lost the exchange is as it was before.

use saki_sync::facade::atomic::{AtomicPtr, AtomicU32, Ordering};

const MADE: u32 = 0;
const ACTIVE: u32 = 1;
const PUBLISHED: u32 = 2;
const REPLACED: u32 = 3;
const RETIRED: u32 = 4;

/// The state of a version; see the module header.
pub struct VersionState(AtomicU32);

/// A version of a method's code.
pub trait VersionOfCode {
    /// Its state.
    fn state(&self) -> &VersionState;
}

impl Default for VersionState {
    fn default() -> VersionState {
        VersionState(AtomicU32::new(MADE))
    }
}

impl VersionState {
    /// Whether only frames that run the version lead to it.
    pub fn is_retired(&self) -> bool {
        // Acquire: pairs with `retire`.
        self.0.load(Ordering::Acquire) == RETIRED
    }

    /// Notes, in a stop in which all places were led away from a version that was replaced, that only frames lead to
    /// it.
    pub fn retire(&self) {
        // A failure: it is current again. Release: pairs with `is_retired` and the claim in `replace`.
        let _ = self.0.compare_exchange(REPLACED, RETIRED, Ordering::Release, Ordering::Relaxed);
    }

    /// Takes a version to which nothing leads; the state that it had, or None.
    fn claim(&self) -> Option<u32> {
        // AcqRel: one thread wins; Acquire: pairs with `retire`, so that nothing leads to the version.
        let claim = |from| self.0.compare_exchange(from, ACTIVE, Ordering::AcqRel, Ordering::Acquire);
        claim(MADE).or_else(|_| claim(RETIRED)).ok()
    }

    /// Undoes `claim`.
    fn give_back(&self, before: u32) {
        // Relaxed: nothing leads to it, as before.
        self.0.store(before, Ordering::Relaxed);
    }

    fn publish(&self) {
        // A failure: another thread has replaced it meanwhile. Release: what leads to it was written before.
        let _ = self.0.compare_exchange(ACTIVE, PUBLISHED, Ordering::Release, Ordering::Relaxed);
    }

    fn replaced(&self) {
        // Release: what leads away from it was written before. A read-modify-write like that of `publish`, which
        // another thread may do at the same time: the later of the two finds what the earlier one wrote.
        self.0.swap(REPLACED, Ordering::Release);
    }
}

/// The exchange that decides which version is current; the version that is, if it was not `from`.
fn exchange<V>(current: &AtomicPtr<u8>, from: *const V, to: *const V) -> Result<(), *const V> {
    let pointer = |version: *const V| version.cast_mut().cast::<u8>();
    // AcqRel: publishes the version, and whoever leads afterwards has acquired the changes before.
    let exchanged = current.compare_exchange(pointer(from), pointer(to), Ordering::AcqRel, Ordering::Acquire);
    exchanged.map(drop).map_err(|earlier| earlier.cast_const().cast())
}

/// Makes a method's first version current, and has `lead` lead all places to what is current.
///
/// # Errors
/// The version that another thread made current before; this one is as it was.
pub fn publish_first<V: VersionOfCode>(
    current: &AtomicPtr<u8>,
    version: &V,
    lead: impl FnOnce(),
) -> Result<(), *const V> {
    // Relaxed: published with the version.
    version.state().0.store(ACTIVE, Ordering::Relaxed);
    if let Err(earlier) = exchange(current, std::ptr::null(), version) {
        version.state().give_back(MADE);
        return Err(earlier);
    }
    lead();
    version.state().publish();
    Ok(())
}

/// Makes `version` current instead of `replaced`, which the method had, and has `lead` lead all places to what is
/// current. False if another thread was faster, or if `version` is in use or not yet retired.
pub fn replace<V: VersionOfCode>(current: &AtomicPtr<u8>, replaced: &V, version: &V, lead: impl FnOnce()) -> bool {
    let Some(before) = version.state().claim() else { return false };
    if exchange(current, replaced, version).is_err() {
        version.state().give_back(before);
        return false;
    }
    lead();
    replaced.state().replaced();
    version.state().publish();
    true
}

/// The current version; null before the first.
pub fn current<V>(current: &AtomicPtr<u8>) -> *const V {
    // Acquire: pairs with the exchange; version and code are visible.
    current.load(Ordering::Acquire).cast_const().cast()
}

#[cfg(all(test, loom))]
mod model;

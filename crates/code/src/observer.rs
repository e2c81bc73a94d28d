//! Notifications of placed and removed code, for profilers and debuggers: one observer, installed before the first body
//! is placed.

use crate::info::CodeInfo;
use std::ops::Range;
use std::sync::OnceLock;

/// Notified of everything that is placed in the code region. Called on any thread; for each address in the order of
/// publication.
pub trait CodeObserver: Send + Sync {
    /// The body is written and cannot be called yet.
    fn placed(&self, info: &CodeInfo);
    /// Entry stubs, unboxing stubs and veneers will be written to this range of addresses, one by one.
    fn stubs_placed(&self, range: Range<usize>);
    /// The body is not called any more; its room may be used again later.
    fn removed(&self, info: &CodeInfo);
}

static OBSERVER: OnceLock<&'static dyn CodeObserver> = OnceLock::new();

/// Installs the observer. The first one stays.
pub fn observe(observer: &'static dyn CodeObserver) {
    let _ = OBSERVER.set(observer);
}

#[inline]
pub(crate) fn observer() -> Option<&'static dyn CodeObserver> {
    OBSERVER.get().copied()
}

/// Number of the chunk in which a code address lies.
pub fn chunk_of(address: usize) -> usize {
    address / crate::region::CHUNK_BYTES
}

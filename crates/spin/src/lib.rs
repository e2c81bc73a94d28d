//! Stands in for the crate `spin`, which mmtk takes locks from: the names that mmtk uses, over locks that park.
//!
//! Every block of the heap is taken under such a lock. Where more threads run than there are processors, one of them is
//! interrupted in there now and then, and whoever spins meanwhile does so for whole time slices: 2 to 3 % of the time
//! of eight threads on two processors, which locks that park give to them.

use parking_lot::{RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};
use std::ops::Deref;

pub use parking_lot::Mutex;

/// One writer or many readers, one of which may become the writer.
#[derive(Default)]
pub struct RwLock<T>(parking_lot::RwLock<T>);

impl<T> RwLock<T> {
    /// A lock that is free.
    pub const fn new(value: T) -> RwLock<T> {
        RwLock(parking_lot::RwLock::new(value))
    }

    /// Waits until no thread writes.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read()
    }

    /// Waits until no other thread reads or writes.
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write()
    }

    /// For the reader that may become the writer; one at a time.
    pub fn upgradeable_read(&self) -> RwLockUpgradableGuard<'_, T> {
        RwLockUpgradableGuard(self.0.upgradable_read())
    }
}

/// What `RwLock::upgradeable_read` gives.
pub struct RwLockUpgradableGuard<'a, T>(RwLockUpgradableReadGuard<'a, T>);

impl<'a, T> RwLockUpgradableGuard<'a, T> {
    /// Waits until the other readers are gone.
    pub fn upgrade(self) -> RwLockWriteGuard<'a, T> {
        RwLockUpgradableReadGuard::upgrade(self.0)
    }
}

impl<T> Deref for RwLockUpgradableGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

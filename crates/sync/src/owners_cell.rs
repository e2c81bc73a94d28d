//! Data that belongs to whoever owns a lock of another kind than a mutex around it.
//!
//! Invariant: one thread at a time has access. The lock's protocol says that, not the type; models check it, since
//! loom's cell reports two accesses that no happens-before orders.

#[cfg(loom)]
use loom::cell::UnsafeCell;
#[cfg(not(loom))]
use std::cell::UnsafeCell;

/// See the module header.
pub(crate) struct OwnersCell<T>(UnsafeCell<T>);

// SAFETY: `with` demands that one thread at a time has the data, and `T: Send` may be used by one after the other.
unsafe impl<T: Send> Sync for OwnersCell<T> {}

impl<T: Default> Default for OwnersCell<T> {
    fn default() -> Self {
        OwnersCell(UnsafeCell::new(T::default()))
    }
}

impl<T> OwnersCell<T> {
    /// Calls `f` with the data.
    ///
    /// # Safety
    /// The caller owns the lock that guards the data, or no other thread can have access, and `f` calls this not again.
    #[inline]
    pub(crate) unsafe fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        #[cfg(not(loom))]
        // SAFETY: no other reference exists, since the lock's owner alone has access, during one call at a time.
        return f(unsafe { &mut *self.0.get() });
        #[cfg(loom)]
        // SAFETY: the lock gives one thread at a time access, which loom checks.
        return self.0.with_mut(|data| f(unsafe { &mut *data }));
    }
}

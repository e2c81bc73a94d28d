//! Lock ranks: a thread takes ranked locks in rising order only; checked in debug builds.
//!
//! Invariant: with debug assertions, taking a lock whose rank is not above every rank the thread holds is a `bug!`, so a
//! cycle is reported by the first run that takes the edge, not by the run that deadlocks. The held ranks live in OS
//! thread-local storage: ranked locks are never held across a point where a green thread can switch. Left out: monitors.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard};

/// Position in the lock order; a higher rank is taken later (nested deeper).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rank(pub u8);

impl Rank {
    /// Assembly and type loading.
    pub const LOADER: Rank = Rank(10);
    /// Layout, vtables, generic instances.
    pub const TYPES: Rank = Rank(20);
    /// Compilation.
    pub const JIT: Rank = Rank(30);
    /// Code heap chunks.
    pub const CODE: Rank = Rank(40);
    /// Thread registry.
    pub const THREADS: Rank = Rank(50);
    /// Collector-side tables.
    pub const HEAP: Rank = Rank(60);
    /// Locks under which nothing else is taken.
    pub const LEAF: Rank = Rank(255);
}

#[cfg(debug_assertions)]
thread_local! {
    static HELD: std::cell::RefCell<Vec<Rank>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Records a rank as held until dropped.
pub struct HeldRank {
    #[cfg(debug_assertions)]
    rank: Rank,
}

impl HeldRank {
    /// Checks the order and records the rank. Call before blocking on the lock.
    pub fn enter(rank: Rank) -> HeldRank {
        #[cfg(debug_assertions)]
        {
            HELD.with_borrow_mut(|held| {
                if let Some(top) = held.iter().max()
                    && *top >= rank
                {
                    saki_base::bug!("lock order: takes {rank:?} while holding {held:?}");
                }
                held.push(rank);
            });
            HeldRank { rank }
        }
        #[cfg(not(debug_assertions))]
        {
            let _ = rank;
            HeldRank {}
        }
    }
}

impl Drop for HeldRank {
    fn drop(&mut self) {
        #[cfg(debug_assertions)]
        HELD.with_borrow_mut(|held| {
            let last = held.iter().rposition(|r| *r == self.rank);
            held.remove(last.expect("a held rank is recorded"));
        });
    }
}

/// A mutex with a rank.
pub struct RankedMutex<T> {
    rank: Rank,
    inner: Mutex<T>,
}

impl<T> RankedMutex<T> {
    pub const fn new(rank: Rank, value: T) -> RankedMutex<T> {
        RankedMutex { rank, inner: Mutex::new(value) }
    }

    /// Locks; `bug!` when the order is violated (debug builds).
    pub fn lock(&self) -> RankedGuard<'_, T> {
        let held = HeldRank::enter(self.rank);
        RankedGuard { guard: self.inner.lock().unwrap_or_else(|e| e.into_inner()), _held: held }
    }
}

/// Access to a `RankedMutex`.
pub struct RankedGuard<'a, T> {
    guard: MutexGuard<'a, T>,
    _held: HeldRank,
}

impl<T> Deref for RankedGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for RankedGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rising_ranks_nest() {
        let outer = RankedMutex::new(Rank::LOADER, 1);
        let inner = RankedMutex::new(Rank::CODE, 2);
        {
            let a = outer.lock();
            let b = inner.lock();
            assert_eq!(*a + *b, 3);
        }
        assert_eq!(*inner.lock(), 2);
        assert_eq!(*outer.lock(), 1);
    }
}

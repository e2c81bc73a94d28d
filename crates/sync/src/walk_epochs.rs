//! Grace periods: they tell when no walker of shared tables can still see an item that was removed from them.
//!
//! Readers are walkers of code tables, signal handlers among them: entering and leaving takes no lock, allocates
//! nothing, and is wait-free but for a retry when the epoch advances at that instant. A remover takes its item out of
//! the tables, takes a [`stamp`](WalkEpochs::stamp), and frees the item once [`has_passed`](WalkEpochs::has_passed). No
//! thread waits: removers and those that free try to advance the epoch.
//!
//! | word | meaning | who changes it |
//! |---|---|---|
//! | `epoch` = e | walkers of epoch e − 2 and before have left | `try_advance`, CAS e → e + 1 when `walkers[(e + 1) & 1]` is 0 |
//! | `walkers[p]` | walkers that entered in an epoch of parity p and have not left, and those whose entry is about to be retried | `enter` + 1, `Walk::drop` − 1 |
//!
//! Proof that a walker which saw the item has left when the item's stamp s has passed (`epoch` ≥ s + 2): let e be the
//! epoch in which the walker entered.
//! - e > s: the stamp's read-modify-write of `epoch` comes before the CAS to s + 1, whose release sequence the walker's
//!   entry acquired: it did not see the item.
//! - e ≤ s: the CAS from s + 1 (or an earlier one) found `walkers[e & 1]` = 0 after its advancer had read an epoch
//!   above e; the walker's increment comes before its own read of e, hence before the CAS from e, so the advancer saw
//!   it, and 0 means that the walker had left (Release, Acquire).
//!
//! Every access to `epoch` in `enter`, `stamp` and `try_advance`, and each look at `walkers`, is a read-modify-write:
//! that is what makes AcqRel enough. The models below fail when `stamp` is a plain load, when entering does not check
//! the epoch again, and when one advance is taken for enough.

use crate::facade::atomic::{AtomicUsize, Ordering};

/// The epochs of one set of tables.
pub struct WalkEpochs {
    epoch: AtomicUsize,
    walkers: [AtomicUsize; 2],
}

/// A walk; over when dropped.
pub struct Walk<'a> {
    walkers: &'a AtomicUsize,
}

/// The time at which something was taken out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp(usize);

impl Default for WalkEpochs {
    fn default() -> Self {
        Self::new()
    }
}

impl WalkEpochs {
    /// No walk is under way.
    #[cfg(not(loom))]
    pub const fn new() -> WalkEpochs {
        WalkEpochs { epoch: AtomicUsize::new(0), walkers: [const { AtomicUsize::new(0) }; 2] }
    }

    /// No walk is under way.
    #[cfg(loom)]
    pub fn new() -> WalkEpochs {
        WalkEpochs { epoch: AtomicUsize::new(0), walkers: [AtomicUsize::new(0), AtomicUsize::new(0)] }
    }

    /// Begins a walk. Async-signal-safe.
    pub fn enter(&self) -> Walk<'_> {
        loop {
            let epoch = self.epoch.load(Ordering::Acquire);
            let walkers = &self.walkers[epoch & 1];
            walkers.fetch_add(1, Ordering::AcqRel);
            // A read-modify-write: see the module documentation.
            if self.epoch.fetch_add(0, Ordering::AcqRel) == epoch {
                return Walk { walkers };
            }
            walkers.fetch_sub(1, Ordering::Release);
        }
    }

    /// The present epoch, for an item that the caller has just taken out.
    pub fn stamp(&self) -> Stamp {
        // A read-modify-write: the next advance, and through it later walkers, see all writes before this one.
        Stamp(self.epoch.fetch_add(0, Ordering::AcqRel))
    }

    /// Whether all walks that began before `stamp`, or may have seen the removed item, are over.
    pub fn has_passed(&self, stamp: Stamp) -> bool {
        // Acquire: pairs with the CAS of the advances, which acquired the walkers' ends.
        self.epoch.load(Ordering::Acquire).wrapping_sub(stamp.0) as isize >= 2
    }

    /// Moves the epoch on if the walkers allow it. Two calls that succeed end the grace period of every stamp before
    /// them.
    pub fn try_advance(&self) -> bool {
        let epoch = self.epoch.fetch_add(0, Ordering::AcqRel);
        // A read-modify-write, so that it sees every increment that came before it. Relaxed, for a failed exchange:
        // another thread has advanced, and the epoch found is not used.
        self.walkers[(epoch + 1) & 1].fetch_add(0, Ordering::AcqRel) == 0
            && self.epoch.compare_exchange(epoch, epoch + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        // Release: the walker's reads are ordered before this.
        self.walkers.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_passes_after_two_advances() {
        let epochs = WalkEpochs::new();
        let stamp = epochs.stamp();
        assert!(!epochs.has_passed(stamp));
        assert!(epochs.try_advance() && !epochs.has_passed(stamp));
        assert!(epochs.try_advance() && epochs.has_passed(stamp));
    }

    #[test]
    fn a_walk_holds_stamps_up() {
        let epochs = WalkEpochs::new();
        let walk = epochs.enter();
        let stamp = epochs.stamp();
        assert!(epochs.try_advance(), "walkers of this epoch do not hold the first advance");
        assert!(!epochs.try_advance() && !epochs.has_passed(stamp));
        drop(walk);
        assert!(epochs.try_advance() && epochs.has_passed(stamp));
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::facade::{Arc, thread};
    use loom::cell::UnsafeCell;

    struct Shared {
        epochs: WalkEpochs,
        /// 1 = the item is in the table.
        table: AtomicUsize,
        thing: UnsafeCell<u32>,
    }

    impl Shared {
        fn new() -> Arc<Shared> {
            Arc::new(Shared { epochs: WalkEpochs::new(), table: AtomicUsize::new(1), thing: UnsafeCell::new(7) })
        }

        fn walk(&self) {
            let _walk = self.epochs.enter();
            if self.table.load(Ordering::Acquire) == 1 {
                self.thing.with(|thing| {
                    // SAFETY: in the table, and the walk holds it; loom checks that no thread writes meanwhile.
                    assert_eq!(unsafe { *thing }, 7, "freed under a walker");
                });
            }
        }

        fn free_if_passed(&self, stamp: Stamp) {
            if self.epochs.has_passed(stamp) {
                // SAFETY: no walker can see it any more; loom checks that.
                self.thing.with_mut(|thing| unsafe { *thing = 0 });
            }
        }
    }

    #[test]
    fn walkers_never_see_what_is_freed() {
        loom::model(|| {
            let shared = Shared::new();
            let walker = thread::spawn({
                let shared = shared.clone();
                move || shared.walk()
            });
            shared.table.store(0, Ordering::Release);
            let stamp = shared.epochs.stamp();
            shared.epochs.try_advance();
            shared.epochs.try_advance();
            shared.free_if_passed(stamp);
            walker.join().unwrap();
        });
    }

    #[test]
    fn another_thread_may_advance() {
        // Three threads: explored in full it takes hours. One preemption puts the walk into the middle of everything,
        // one parts either advance's look at the counters from its step, and one the free from the look before it.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let shared = Shared::new();
            let walker = thread::spawn({
                let shared = shared.clone();
                move || shared.walk()
            });
            let advancer = thread::spawn({
                let shared = shared.clone();
                move || shared.epochs.try_advance()
            });
            shared.table.store(0, Ordering::Release);
            let stamp = shared.epochs.stamp();
            shared.epochs.try_advance();
            shared.free_if_passed(stamp);
            walker.join().unwrap();
            advancer.join().unwrap();
        });
    }

    #[test]
    fn a_walker_may_have_read_an_old_epoch() {
        // As above, and one more parts the walker's read of the epoch from its count.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(4);
        model.check(|| {
            let shared = Shared::new();
            let walker = thread::spawn({
                let shared = shared.clone();
                move || shared.walk()
            });
            let advancer = thread::spawn({
                let shared = shared.clone();
                move || {
                    shared.epochs.try_advance();
                    shared.epochs.try_advance();
                }
            });
            shared.table.store(0, Ordering::Release);
            let stamp = shared.epochs.stamp();
            shared.epochs.try_advance();
            shared.free_if_passed(stamp);
            walker.join().unwrap();
            advancer.join().unwrap();
        });
    }

    #[test]
    fn a_nested_walk_is_a_walk_of_its_own() {
        // A signal handler that interrupts another one's walk.
        loom::model(|| {
            let shared = Shared::new();
            let walker = thread::spawn({
                let shared = shared.clone();
                move || {
                    let outer = shared.epochs.enter();
                    shared.walk();
                    drop(outer);
                }
            });
            shared.table.store(0, Ordering::Release);
            let stamp = shared.epochs.stamp();
            shared.epochs.try_advance();
            shared.epochs.try_advance();
            shared.free_if_passed(stamp);
            walker.join().unwrap();
        });
    }
}

//! A pool that each thread has a place of its own in: working memory and reserves that threads use one after the other without
//! meeting on a lock or a cache line.
//!
//! A thread looks into its home slot; two threads of one home, or a thread that another one interrupts between taking and
//! giving, find it empty and make something new, which goes into any free slot afterwards. What lies in a slot belongs to
//! nobody; a thread that ends leaves its things to the next one of its home.
//!
//! | slot | meaning | who changes it |
//! |---|---|---|
//! | null | empty, or its item is in use | `give`, CAS null → item (Release: publishes the item's contents) |
//! | item | idle | `take`, swap → null (Acquire: pairs with the CAS; the swap makes the taker the only owner) |
//!
//! Left out: a bound on the number of items in use; fairness.

use crate::facade::atomic::{AtomicPtr, Ordering};

#[cfg(not(loom))]
const SLOTS: usize = 64;
#[cfg(loom)]
const SLOTS: usize = 2;

/// How many slots beside its own a thread looks into for an item that it would rather not make anew.
const STRANGE_SLOTS: usize = 7;

/// A cache line and the one that is fetched with it.
#[repr(align(128))]
struct Slot<T>(AtomicPtr<T>);

/// See the module header. Dropping a pool drops what is idle.
pub struct SlotPool<T: Send> {
    slots: [Slot<T>; SLOTS],
}

// SAFETY: items go from thread to thread whole, and are `Send`; nothing of them is shared.
unsafe impl<T: Send> Sync for SlotPool<T> {}

impl<T: Send> Default for SlotPool<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send> SlotPool<T> {
    #[cfg(not(loom))]
    pub const fn new() -> SlotPool<T> {
        SlotPool { slots: [const { Slot(AtomicPtr::new(std::ptr::null_mut())) }; SLOTS] }
    }

    #[cfg(loom)]
    pub fn new() -> SlotPool<T> {
        SlotPool { slots: std::array::from_fn(|_| Slot(AtomicPtr::new(std::ptr::null_mut()))) }
    }

    /// The item of the calling thread's home slot, if it is idle.
    #[inline]
    pub fn take(&self) -> Option<Box<T>> {
        self.take_from(home_slot())
    }

    /// As `take`, or else an idle item of another thread: for items that cost more than to fetch one from another processor.
    pub fn take_any(&self) -> Option<Box<T>> {
        let home = home_slot();
        (0..SLOTS.min(1 + STRANGE_SLOTS)).find_map(|step| self.take_from((home + step) % SLOTS))
    }

    fn take_from(&self, slot: usize) -> Option<Box<T>> {
        // Acquire: pairs with the Release in `give_to`.
        let item = self.slots[slot].0.swap(std::ptr::null_mut(), Ordering::Acquire);
        // SAFETY: came from `Box::into_raw` in `give`, and the swap made us its only owner.
        (!item.is_null()).then(|| unsafe { Box::from_raw(item) })
    }

    /// Puts an item into the home slot, or into another one if that is taken. Drops it when all are.
    #[inline]
    pub fn give(&self, item: Box<T>) {
        let home = home_slot();
        let item = Box::into_raw(item);
        if !(0..SLOTS).any(|step| self.give_to((home + step) % SLOTS, item)) {
            // SAFETY: from `Box::into_raw` above, and no slot has it.
            drop(unsafe { Box::from_raw(item) });
        }
    }

    fn give_to(&self, slot: usize, item: *mut T) -> bool {
        // Release: pairs with the Acquire in `take_from`. Relaxed on failure: nothing is read.
        let outcome =
            self.slots[slot].0.compare_exchange(std::ptr::null_mut(), item, Ordering::Release, Ordering::Relaxed);
        outcome.is_ok()
    }

    /// Runs `work` with the home slot's item, or a new one.
    #[inline]
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R
    where
        T: Default,
    {
        let mut item = self.take().unwrap_or_default();
        let result = work(&mut item);
        self.give(item);
        result
    }

    /// Runs `work` with each item that is idle; those in use are left out.
    pub fn for_each_idle(&self, mut work: impl FnMut(&mut T)) {
        for slot in 0..SLOTS {
            if let Some(mut item) = self.take_from(slot) {
                work(&mut item);
                let item = Box::into_raw(item);
                if !self.give_to(slot, item) {
                    // SAFETY: from `Box::into_raw` above, and no slot has it.
                    self.give(unsafe { Box::from_raw(item) });
                }
            }
        }
    }
}

impl<T: Send> Drop for SlotPool<T> {
    fn drop(&mut self) {
        for slot in 0..SLOTS {
            drop(self.take_from(slot));
        }
    }
}

/// The slot where the calling OS thread looks first. Only a hint: a green thread may take it along to another carrier.
#[cfg(not(loom))]
#[inline]
fn home_slot() -> usize {
    use std::sync::atomic::AtomicUsize;
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        // Relaxed: any number will do.
        static HOME: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SLOTS;
    }
    HOME.with(|slot| *slot)
}

/// All threads of a model meet in one slot.
#[cfg(loom)]
fn home_slot() -> usize {
    0
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gets_back_what_it_gave() {
        let pool = SlotPool::new();
        assert!(pool.take().is_none());
        pool.give(Box::new(7));
        assert_eq!(pool.take().as_deref(), Some(&7));
        assert!(pool.take().is_none());
    }

    #[test]
    fn a_second_item_goes_into_another_slot() {
        let pool = SlotPool::new();
        pool.give(Box::new(1));
        pool.give(Box::new(2));
        let mut idle = Vec::new();
        pool.for_each_idle(|item| idle.push(*item));
        idle.sort();
        assert_eq!(idle, [1, 2]);
        assert_eq!(pool.take().as_deref(), Some(&1));
        assert!(pool.take().is_none(), "a strange slot");
        assert_eq!(pool.take_any().as_deref(), Some(&2));
    }

    #[test]
    fn what_finds_no_slot_is_dropped() {
        let counted = std::sync::Arc::new(());
        let pool = SlotPool::new();
        for _ in 0..SLOTS + 3 {
            pool.give(Box::new(counted.clone()));
        }
        assert_eq!(std::sync::Arc::strong_count(&counted), 1 + SLOTS);
        drop(pool);
        assert_eq!(std::sync::Arc::strong_count(&counted), 1);
    }

    #[test]
    fn with_keeps_what_it_made() {
        let pool: SlotPool<Vec<u32>> = SlotPool::new();
        pool.with(|list| list.push(1));
        pool.with(|list| list.push(2));
        assert_eq!(pool.take().as_deref(), Some(&vec![1, 2]));
    }
}

/// Fails with: a Relaxed CAS in `give_to`; a Relaxed swap in `take_from`; taking by a load and a store.
#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::facade::{Arc, thread};
    use crate::model::{Section, explore};

    #[test]
    fn model_an_item_has_one_user() {
        explore(None, || {
            let pool = Arc::new(SlotPool::new());
            pool.give(Box::new(Arc::new(Section::default())));
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let pool = pool.clone();
                    thread::spawn(move || {
                        if let Some(item) = pool.take() {
                            item.touch();
                            pool.give(item);
                        }
                    })
                })
                .collect();
            pool.for_each_idle(|item| item.touch());
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            let mut count = 0;
            pool.for_each_idle(|item| {
                item.touch();
                count += 1;
            });
            assert_eq!(count, 1, "lost or doubled");
        });
    }
}

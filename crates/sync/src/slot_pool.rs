//! A pool with a slot for each processor: working memory and reserves that threads use in turn without contending for a
//! lock or a cache line, and that are in the caches of the processor which uses them next.
//!
//! A thread looks into the slot of the processor that it runs on, its home slot at that moment. When it is preempted
//! between `take` and `give`, the next thread on that processor finds the slot empty and makes a new item, which goes
//! into any free slot afterwards. An item in a slot has no owner.
//!
//! Slots are per processor and not per thread: with eight threads on two processors, each thread would come back to a
//! slot whose contents another processor wrote last, or that other threads have driven out of the caches (this cost 4 %
//! of the time of making dynamic methods).
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

/// How many slots besides the home slot a thread searches for an item that is expensive to make.
const STRANGE_SLOTS: usize = 7;

/// Aligned to a pair of cache lines, since processors fetch lines in pairs.
#[repr(align(128))]
struct Slot<T>(AtomicPtr<T>);

/// See the module header. Dropping a pool drops its idle items.
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
    /// An empty pool.
    #[cfg(not(loom))]
    pub const fn new() -> SlotPool<T> {
        SlotPool { slots: [const { Slot(AtomicPtr::new(std::ptr::null_mut())) }; SLOTS] }
    }

    /// An empty pool.
    #[cfg(loom)]
    pub fn new() -> SlotPool<T> {
        SlotPool { slots: std::array::from_fn(|_| Slot(AtomicPtr::new(std::ptr::null_mut()))) }
    }

    /// The item of the home slot, if it is idle.
    #[inline]
    pub fn take(&self) -> Option<Box<T>> {
        self.take_from(home_slot())
    }

    /// The item of the home slot, if it is idle, or else an idle item of another slot: for items that cost more than to
    /// fetch one from another processor.
    pub fn take_any(&self) -> Option<Box<T>> {
        self.take_near(home_slot())
    }

    fn take_near(&self, home: usize) -> Option<Box<T>> {
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
        drop(self.give_or_keep(item));
    }

    /// Puts an item into the home slot, or into another one if that is taken. Gives it back when all are: for items
    /// that must not be lost.
    #[inline]
    pub fn give_or_keep(&self, item: Box<T>) -> Result<(), Box<T>> {
        self.give_near(home_slot(), item)
    }

    fn give_near(&self, home: usize, item: Box<T>) -> Result<(), Box<T>> {
        let item = Box::into_raw(item);
        if (0..SLOTS).any(|step| self.give_to((home + step) % SLOTS, item)) {
            return Ok(());
        }
        // SAFETY: from `Box::into_raw` above, and no slot has it.
        Err(unsafe { Box::from_raw(item) })
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

/// The slot of the processor that the calling thread runs on. Only a hint: the next moment it may run on another one.
#[cfg(not(loom))]
#[inline]
fn home_slot() -> usize {
    // SAFETY: no preconditions; where the kernel has no answer it returns −1, which selects a slot like any other. This
    // is no system call: the C library reads a number that the kernel keeps in the thread's memory, or in the vDSO's.
    let processor = unsafe { libc::sched_getcpu() };
    processor.unsigned_abs() as usize % SLOTS
}

/// All threads of a model meet in one slot.
#[cfg(loom)]
fn home_slot() -> usize {
    0
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const HOME: usize = 60;

    #[test]
    fn what_was_given_is_taken_again() {
        let pool = SlotPool::new();
        assert!(pool.take_from(HOME).is_none());
        pool.give_near(HOME, Box::new(7)).unwrap();
        assert_eq!(pool.take_from(HOME).as_deref(), Some(&7));
        assert!(pool.take_from(HOME).is_none());
    }

    #[test]
    fn a_second_item_goes_into_another_slot() {
        let pool = SlotPool::new();
        pool.give_near(HOME, Box::new(1)).unwrap();
        pool.give_near(HOME, Box::new(2)).unwrap();
        let mut idle = Vec::new();
        pool.for_each_idle(|item| idle.push(*item));
        idle.sort();
        assert_eq!(idle, [1, 2]);
        assert_eq!(pool.take_from(HOME).as_deref(), Some(&1));
        assert!(pool.take_from(HOME).is_none(), "a strange slot");
        assert_eq!(pool.take_near(HOME).as_deref(), Some(&2));
    }

    #[test]
    fn what_finds_no_slot_is_dropped() {
        let counted = std::sync::Arc::new(());
        let pool = SlotPool::new();
        for _ in 0..SLOTS + 3 {
            pool.give(Box::new(counted.clone()));
        }
        assert_eq!(std::sync::Arc::strong_count(&counted), 1 + SLOTS);
        assert!(pool.give_or_keep(Box::new(counted.clone())).is_err());
        drop(pool);
        assert_eq!(std::sync::Arc::strong_count(&counted), 1);
    }

    #[test]
    fn with_keeps_what_it_made() {
        let pool: SlotPool<Vec<u32>> = SlotPool::new();
        pool.with(|list| list.push(1));
        pool.with(|list| list.push(2));
        // The items are in two lists if the thread has moved to another processor.
        let mut kept = Vec::new();
        pool.for_each_idle(|list| kept.append(list));
        kept.sort();
        assert_eq!(kept, [1, 2]);
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

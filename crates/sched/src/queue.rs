//! A run queue: a bounded ring with one owner and many thieves, first in, first out, as Go's (`runtime/proc.go`,
//! `runqput`, `runqgrab`).
//!
//! `head` counts the tasks ever taken, `tail` those ever pushed; the lowest bits of a count are the number of its slot
//! in the ring. Counts have 64 bits and never wrap, so that a compare-and-swap of `head` cannot take an old value for a
//! new one.
//!
//! | word | change | who | ordering |
//! |---|---|---|---|
//! | slot of `tail` | a task | owner, if `tail - head` < capacity | Relaxed: published by `tail`; the look at `head` is Acquire, so that a thief has read the slot before it is used again |
//! | `tail` | + 1, or + n from another's queue | owner, store | Release, pairs with the thief's Acquire load of `tail` |
//! | `head` | + 1 | owner (`pop`), CAS | Relaxed: it wrote the slots itself, and a thief's Release below goes on through its RMWs |
//! | `head` | + n, half of the tasks, or + 1 | thief, CAS, having read the n slots | Release, pairs with the owner's Acquire load of `head` |
//!
//! A thief reads slots before it owns them. If the owner reuses one meanwhile, `head` has moved on and the thief's CAS
//! fails: it discards the tasks that it read.
//!
//! Invariant: a task is in at most one queue, and comes out once. Left out: where tasks go when the ring is full (the
//! injector), and waking of carriers (`idle`).

use crate::task_word::task_of;
use crate::{Injector, TaskWord};
use saki_sync::facade::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::marker::PhantomData;

/// Tasks in a ring: 2 KiB; as in Go and Tokio.
#[cfg(not(loom))]
pub const CAPACITY: usize = 256;
#[cfg(loom)]
pub const CAPACITY: usize = 4;

const MASK: u64 = CAPACITY as u64 - 1;

/// Keeps words that different threads write on separate pairs of cache lines, since processors fetch lines in pairs.
#[derive(Default)]
#[repr(align(128))]
struct CacheAligned<T>(T);

/// See the module header.
pub struct RunQueue<T> {
    head: CacheAligned<AtomicU64>,
    tail: CacheAligned<AtomicU64>,
    slots: Box<[AtomicUsize; CAPACITY]>,
    task: PhantomData<T>,
}

// SAFETY: a queue hands tasks from thread to thread, which `T: Send` allows, and shares none.
unsafe impl<T: Send> Send for RunQueue<T> {}
// SAFETY: all functions use atomics only. Two threads that both act as the owner would lose or double tasks, which is
// why those functions are for the owner; the queue's memory stays whole.
unsafe impl<T: Send> Sync for RunQueue<T> {}

impl<T: TaskWord> Default for RunQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: TaskWord> RunQueue<T> {
    /// An empty queue.
    pub fn new() -> RunQueue<T> {
        RunQueue {
            head: CacheAligned(AtomicU64::new(0)),
            tail: CacheAligned(AtomicU64::new(0)),
            slots: Box::new(std::array::from_fn(|_| AtomicUsize::new(0))),
            task: PhantomData,
        }
    }

    #[inline(always)]
    fn slot(&self, count: u64) -> &AtomicUsize {
        &self.slots[(count & MASK) as usize]
    }

    /// Appends a task. Errors: the ring is full.
    ///
    /// For the owner: one thread at a time calls this and the other functions that are for it; when the queue gets
    /// another owner, the old owner's calls must happen before the new owner's. Otherwise tasks are lost or come out
    /// twice.
    #[inline]
    pub fn push(&self, task: T) -> Result<(), T> {
        // Relaxed: only the owner writes it. Acquire: see the table.
        let tail = self.tail.0.load(Ordering::Relaxed);
        let head = self.head.0.load(Ordering::Acquire);
        if tail - head >= CAPACITY as u64 {
            return Err(task);
        }
        // Relaxed: published by the next store.
        self.slot(tail).store(task.into_word().get(), Ordering::Relaxed);
        self.tail.0.store(tail + 1, Ordering::Release);
        Ok(())
    }

    /// Appends a task; if the ring is full, the older half of it goes to the injector, and the task behind it. For the
    /// owner.
    #[inline]
    pub fn push_or_spill(&self, task: T, injector: &Injector<T>) {
        if let Err(task) = self.push(task) {
            let half = (0..CAPACITY / 2).map_while(|_| self.pop());
            injector.push_batch(half.chain([task]));
        }
    }

    /// Takes the oldest task. For the owner.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        // Relaxed: only the owner writes it; `head` is checked by the CAS, and slots up to `tail` are the owner's own
        // stores.
        let tail = self.tail.0.load(Ordering::Relaxed);
        let mut head = self.head.0.load(Ordering::Relaxed);
        while head != tail {
            let word = self.slot(head).load(Ordering::Relaxed);
            match self.head.0.compare_exchange_weak(head, head + 1, Ordering::Relaxed, Ordering::Relaxed) {
                // SAFETY: slots below `tail` hold words of tasks.
                Ok(_) => return unsafe { task_of(word) },
                Err(now) => head = now,
            }
        }
        None
    }

    /// Moves the older half of the tasks, rounded up, to another queue and returns the oldest. `None`: there are none.
    ///
    /// For the owner of `destination`, which is another queue than this.
    pub fn steal_half_into(&self, destination: &RunQueue<T>) -> Option<T> {
        debug_assert!(!std::ptr::eq(self, destination));
        // Relaxed and Acquire as in `push`.
        let to = destination.tail.0.load(Ordering::Relaxed);
        let room = CAPACITY as u64 - (to - destination.head.0.load(Ordering::Acquire));
        // Acquire: `tail` must not be read before `head`, or their difference means nothing.
        let mut head = self.head.0.load(Ordering::Acquire);
        loop {
            // Acquire pairs with the Release of `push`: the slots, and the data that their tasks point to, are visible.
            let there = self.tail.0.load(Ordering::Acquire).saturating_sub(head);
            // `head` is stale if there are more than fit; the CAS fails then.
            let count = there.div_ceil(2).min(CAPACITY as u64 / 2).min(room + 1);
            if count == 0 {
                return None;
            }
            // Relaxed: ordered by the load of `tail`; see the module header for slots that change meanwhile.
            let first = self.slot(head).load(Ordering::Relaxed);
            for index in 1..count {
                let word = self.slot(head + index).load(Ordering::Relaxed);
                destination.slot(to + index - 1).store(word, Ordering::Relaxed);
            }
            // Release: the slots are read before the owner sees them free.
            match self.head.0.compare_exchange(head, head + count, Ordering::Release, Ordering::Acquire) {
                Ok(_) => {
                    // Release as in `push`.
                    destination.tail.0.store(to + count - 1, Ordering::Release);
                    // SAFETY: slots between `head` and `tail` hold words of tasks.
                    return unsafe { task_of(first) };
                }
                Err(now) => head = now,
            }
        }
    }

    /// Takes the oldest task from any thread.
    pub fn steal(&self) -> Option<T> {
        // Acquire as in `steal_half_into`.
        let mut head = self.head.0.load(Ordering::Acquire);
        loop {
            // Acquire pairs with the Release of `push`. A stale `head` makes the CAS fail.
            if self.tail.0.load(Ordering::Acquire) <= head {
                return None;
            }
            // Relaxed: as in `steal_half_into`.
            let word = self.slot(head).load(Ordering::Relaxed);
            // Release: the slot is read before the owner sees it free.
            match self.head.0.compare_exchange(head, head + 1, Ordering::Release, Ordering::Acquire) {
                // SAFETY: slots between `head` and `tail` hold words of tasks.
                Ok(_) => return unsafe { task_of(word) },
                Err(now) => head = now,
            }
        }
    }

    /// The task behind so many others: a hint, as thieves may have taken it. For the owner.
    #[inline]
    pub fn peek(&self, behind: usize) -> Option<T> {
        // Relaxed, all three: as in `pop`.
        let place = self.head.0.load(Ordering::Relaxed) + behind as u64;
        if place >= self.tail.0.load(Ordering::Relaxed) {
            return None;
        }
        // SAFETY: slots below `tail` hold words of tasks, which were the owner's own stores.
        unsafe { task_of(self.slot(place).load(Ordering::Relaxed)) }
    }

    /// How many tasks there are: a hint, exact for the owner while nobody steals. So Relaxed.
    #[inline]
    pub fn len(&self) -> usize {
        let head = self.head.0.load(Ordering::Relaxed);
        self.tail.0.load(Ordering::Relaxed).saturating_sub(head) as usize
    }

    /// Whether there are none: a hint.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many tasks can be pushed: at least so many.
    #[inline]
    pub fn room(&self) -> usize {
        CAPACITY - self.len()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod model;

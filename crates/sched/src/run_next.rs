//! A slot for the task that its carrier runs next, in front of the queue, which thieves can take in an emergency.
//!
//! | word | from | to | who | ordering |
//! |---|---|---|---|---|
//! | next | 0 | task | owner, store: only the owner fills the slot, so no other thread changes an empty one | Release, pairs with the thief's Acquire |
//! | next | task | another task | owner, swap | Release as above |
//! | next | task | 0 | owner, swap | Relaxed: it put the task there itself |
//! | next | task | 0 | thief, CAS | Acquire |
//!
//! Invariant: a task in the slot comes out once. Left out: when a thief may steal from it. Mostly the owner is about to
//! run the task, so a thief should look everywhere else first.
//!
//! Rejected: an owner without locked instructions, which announces in one word that it uses the slot and looks in
//! another word whether a thief is there, with an asymmetric barrier between (`os::membarrier`). A push and a pop take
//! 1.9 ns that way and 2.2 ns as it is, and it saves 1.4 ns of a hop of 15 ns in a ring of 503 contexts; but a thief
//! pays 750 ns and interrupts every running carrier.

use crate::TaskWord;
use crate::task_word::task_of;
use saki_sync::facade::atomic::{AtomicUsize, Ordering};
use std::marker::PhantomData;

/// See the module header.
#[repr(align(128))]
pub struct RunNext<T> {
    next: AtomicUsize,
    task: PhantomData<T>,
}

// SAFETY: the slot hands tasks from thread to thread, which `T: Send` allows, and shares none.
unsafe impl<T: Send> Send for RunNext<T> {}
// SAFETY: all functions use one atomic word. Two threads that both act as the owner would lose tasks; the slot's memory
// stays whole.
unsafe impl<T: Send> Sync for RunNext<T> {}

impl<T: TaskWord> Default for RunNext<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: TaskWord> RunNext<T> {
    /// An empty slot.
    pub fn new() -> RunNext<T> {
        RunNext { next: AtomicUsize::new(0), task: PhantomData }
    }

    /// Puts a task into the slot and returns the one that was there.
    ///
    /// For the owner: one thread at a time calls this and `pop`; when the slot gets another owner, the old owner's
    /// calls must happen before the new owner's. Otherwise tasks are lost.
    #[inline]
    pub fn push(&self, task: T) -> Option<T> {
        let word = task.into_word().get();
        // Relaxed: only the owner makes it other than 0.
        if self.next.load(Ordering::Relaxed) == 0 {
            self.next.store(word, Ordering::Release);
            return None;
        }
        let old = self.next.swap(word, Ordering::Release);
        // SAFETY: the slot holds 0 or a task's word.
        unsafe { task_of(old) }
    }

    /// Takes the task. For the owner.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        // Relaxed as in `push`.
        if self.next.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let taken = self.next.swap(0, Ordering::Relaxed);
        // SAFETY: the slot holds 0 or a task's word.
        unsafe { task_of(taken) }
    }

    /// Takes the task, for a thread that is not the owner. It finds any task that was made visible before.
    pub fn steal(&self) -> Option<T> {
        // Relaxed: a look that leaves the owner its cache line.
        let mut word = self.next.load(Ordering::Relaxed);
        // A swap would do, but loom allows a swap that finds 0 to be ordered after a task that the owner stores
        // meanwhile.
        while word != 0 {
            match self.next.compare_exchange(word, 0, Ordering::Acquire, Ordering::Relaxed) {
                // SAFETY: the slot holds 0 or a task's word.
                Ok(word) => return unsafe { task_of(word) },
                Err(now) => word = now,
            }
        }
        None
    }

    /// Whether there is a task: a hint for all but the owner.
    #[inline]
    pub fn is_some(&self) -> bool {
        self.next.load(Ordering::Relaxed) != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod model;

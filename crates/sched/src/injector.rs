//! The shared queue for tasks that are in no carrier's own queue: tasks from other threads, or out of a full ring. Any
//! thread pushes, any carrier takes; first in, first out.
//!
//! Invariant: `len` is written with the lock held, and tells threads without the lock whether a look is worth while; it
//! is Relaxed, because the lock publishes the tasks. A reader may see an old value, but not for ever: a thread that
//! pushes and then asks `IdleCarriers::has_idle`, and a carrier that announces itself idle and then looks here, are
//! ordered by the barriers there. Left out: waking of carriers.

use crate::{RunQueue, TaskWord, queue};
use saki_base::locks::rank;
use saki_sync::facade::atomic::{AtomicUsize, Ordering};
use saki_sync::facade::{Mutex, lock};
use std::collections::VecDeque;

/// See the module header.
pub struct Injector<T> {
    tasks: Mutex<rank::Injector, VecDeque<T>>,
    len: AtomicUsize,
}

impl<T: TaskWord> Default for Injector<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: TaskWord> Injector<T> {
    /// An empty queue.
    pub fn new() -> Injector<T> {
        Injector { tasks: Mutex::new(VecDeque::new()), len: AtomicUsize::new(0) }
    }

    /// Appends a task.
    pub fn push(&self, task: T) {
        let mut tasks = lock(&self.tasks);
        tasks.push_back(task);
        // Relaxed, here and below: a hint (see the module header).
        self.len.store(tasks.len(), Ordering::Relaxed);
    }

    /// Appends tasks under one acquisition of the lock.
    pub fn push_batch(&self, batch: impl IntoIterator<Item = T>) {
        let mut tasks = lock(&self.tasks);
        tasks.extend(batch);
        self.len.store(tasks.len(), Ordering::Relaxed);
    }

    /// Takes the oldest task.
    pub fn pop(&self) -> Option<T> {
        self.pop_before(|_, _| {})
    }

    /// Takes the oldest task, and shows the two behind it, which other threads may take next.
    pub fn pop_before(&self, see: impl FnOnce(Option<T>, Option<T>)) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let mut tasks = lock(&self.tasks);
        let task = tasks.pop_front();
        let behind = (tasks.front().copied(), tasks.get(1).copied());
        self.len.store(tasks.len(), Ordering::Relaxed);
        drop(tasks);
        see(behind.0, behind.1);
        task
    }

    /// Takes up to `at_most` tasks: returns the oldest and appends the others to a queue of which the caller is the
    /// owner.
    pub fn pop_some_into(&self, destination: &RunQueue<T>, at_most: usize) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let mut tasks = lock(&self.tasks);
        let first = tasks.pop_front();
        let more = at_most.saturating_sub(1).min(queue::CAPACITY / 2).min(tasks.len()).min(destination.room());
        for task in tasks.drain(..more) {
            let pushed = destination.push(task);
            debug_assert!(pushed.is_ok(), "only the owner lessens the room");
        }
        self.len.store(tasks.len(), Ordering::Relaxed);
        first
    }

    /// How many tasks there are: a hint.
    #[inline]
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Whether there are none: a hint.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;

    fn task(number: usize) -> NonZeroUsize {
        NonZeroUsize::new(number).unwrap()
    }

    #[test]
    fn tasks_come_in_order_and_some_go_to_the_ring() {
        let injector = Injector::new();
        let queue = RunQueue::new();
        assert_eq!(injector.pop(), None);
        injector.push(task(1));
        injector.push_batch((2..=1000).map(task));
        assert_eq!(injector.len(), 1000);
        assert_eq!(injector.pop(), Some(task(1)));
        assert_eq!(injector.pop_some_into(&queue, 3), Some(task(2)));
        assert_eq!([queue.pop(), queue.pop(), queue.pop()], [Some(task(3)), Some(task(4)), None]);
        assert_eq!(injector.pop_some_into(&queue, 0), Some(task(5)));
        assert_eq!(injector.pop_some_into(&queue, usize::MAX), Some(task(6)));
        assert_eq!(queue.len(), queue::CAPACITY / 2);
        while queue.push(task(1)).is_ok() {}
        assert_eq!(injector.pop_some_into(&queue, 100), Some(task(7 + queue::CAPACITY / 2)));
        assert_eq!(injector.len(), 1000 - 7 - queue::CAPACITY / 2);
    }
}

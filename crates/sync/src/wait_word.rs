//! A 32-bit atomic that threads can wait on: a futex, or a model of one under loom.
//!
//! Invariant: `wait` never sleeps when the word differs from `expected` at the moment of going to sleep, so a store
//! followed by a wake cannot be missed. `wait` may return spuriously. Left out: parking of green threads (see
//! `parker`).

use crate::facade::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A word to wait on.
#[derive(Debug)]
pub struct WaitWord {
    value: AtomicU32,
    #[cfg(loom)]
    sleepers: (loom::sync::Mutex<()>, loom::sync::Condvar),
}

impl WaitWord {
    /// A word on which nobody sleeps.
    #[cfg(not(loom))]
    pub const fn new(value: u32) -> WaitWord {
        WaitWord { value: AtomicU32::new(value) }
    }

    /// A word on which nobody sleeps.
    #[cfg(loom)]
    pub fn new(value: u32) -> WaitWord {
        WaitWord { value: AtomicU32::new(value), sleepers: Default::default() }
    }

    /// The word itself.
    pub fn atomic(&self) -> &AtomicU32 {
        &self.value
    }

    /// Reads the word, as the atomic's own function.
    #[inline]
    pub fn load(&self, ordering: Ordering) -> u32 {
        self.value.load(ordering)
    }

    /// Writes the word, as the atomic's own function; wakes nobody.
    #[inline]
    pub fn store(&self, value: u32, ordering: Ordering) {
        self.value.store(value, ordering);
    }

    /// Sleeps while the word equals `expected`. Returns `false` only when the timeout has passed.
    #[cfg(not(loom))]
    pub fn wait(&self, expected: u32, timeout: Option<Duration>) -> bool {
        saki_os::futex::wait(&self.value, expected, timeout) != saki_os::futex::WaitEnd::TimedOut
    }

    /// Wakes at most `count` waiters.
    #[cfg(not(loom))]
    pub fn wake(&self, count: u32) {
        saki_os::futex::wake(&self.value, count);
    }

    /// Sleeps while the word equals `expected`. Models have no time: a timed wait times out at once, which covers every
    /// later moment, as another thread may run before it.
    #[cfg(loom)]
    pub fn wait(&self, expected: u32, timeout: Option<Duration>) -> bool {
        if timeout.is_some() {
            // Relaxed: waiting orders nothing, as with the futex; callers look at the word again.
            return self.value.load(Ordering::Relaxed) != expected;
        }
        let guard = self.sleepers.0.lock().unwrap();
        // SeqCst: the kernel, too, looks at the word behind a full barrier. The mutex orders the look with `wake`.
        if self.value.load(Ordering::SeqCst) == expected {
            drop(self.sleepers.1.wait(guard).unwrap());
        }
        true
    }

    /// Wakes at most `count` waiters.
    #[cfg(loom)]
    pub fn wake(&self, count: u32) {
        let _guard = self.sleepers.0.lock().unwrap();
        if count == 1 { self.sleepers.1.notify_one() } else { self.sleepers.1.notify_all() }
    }

    /// Wakes every waiter.
    pub fn wake_all(&self) {
        self.wake(u32::MAX);
    }
}

//! Parking: each thread has one token; `park` takes the token or sleeps until there is one, `unpark` leaves it.
//!
//! | state | meaning | transitions |
//! |---|---|---|
//! | 0 EMPTY | no token | owner: `park` → PARKED (CAS Acquire); anyone: `unpark` → NOTIFIED (swap Release) |
//! | 1 NOTIFIED | token present | owner: `park` takes it → EMPTY (swap Acquire, pairs with the Release of `unpark`) |
//! | 2 PARKED | owner sleeps | anyone: `unpark` → NOTIFIED and wakes; owner on timeout → EMPTY (swap Acquire) |
//!
//! Only the owner parks. Tokens may be stale (an unpark that came late), so callers loop on their condition. Left out:
//! safe regions, which are the responsibility of `park`'s caller.

use crate::facade::atomic::{AtomicPtr, Ordering};
use crate::wait_word::WaitWord;
use saki_os::clock::Moment;
use std::time::Duration;

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;
const PARKED: u32 = 2;

/// Parks an OS thread.
#[derive(Debug)]
pub struct Parker {
    state: WaitWord,
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

impl Parker {
    /// A parker without a token.
    #[cfg(not(loom))]
    pub const fn new() -> Parker {
        Parker { state: WaitWord::new(EMPTY) }
    }

    /// A parker without a token.
    #[cfg(loom)]
    pub fn new() -> Parker {
        Parker { state: WaitWord::new(EMPTY) }
    }

    /// Sleeps until there is a token, takes it and returns `true`; `false` when the timeout has passed without one.
    pub fn park(&self, timeout: Option<Duration>) -> bool {
        let state = self.state.atomic();
        // Acquire pairs with `unpark`: writes before `unpark` are visible after this.
        if state.compare_exchange(NOTIFIED, EMPTY, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return true;
        }
        if timeout.is_some_and(|t| t.is_zero()) {
            return false;
        }
        // Relaxed: publishes nothing. Failure means NOTIFIED, taken below.
        let _ = state.compare_exchange(EMPTY, PARKED, Ordering::Relaxed, Ordering::Relaxed);
        let deadline = timeout.and_then(|t| Moment::now().checked_add(t));
        loop {
            if state.load(Ordering::Relaxed) == NOTIFIED {
                // Acquire as above.
                state.swap(EMPTY, Ordering::Acquire);
                return true;
            }
            let rest = deadline.map(|d| d.saturating_duration_since(Moment::now()));
            let expired = rest.is_some_and(|r| r.is_zero());
            if expired || !self.state.wait(PARKED, rest) {
                // Acquire: the token may have come just now.
                return state.swap(EMPTY, Ordering::Acquire) == NOTIFIED;
            }
        }
    }

    /// Leaves a token and wakes the owner if it sleeps.
    pub fn unpark(&self) {
        // Release pairs with the Acquire of `park`.
        if self.state.atomic().swap(NOTIFIED, Ordering::Release) == PARKED {
            self.state.wake(1);
        }
    }
}

/// How a scheduler parks a managed thread that is not an OS thread.
pub struct ParkHooks {
    /// Suspends the current green thread; same contract as `Parker::park`.
    pub park: fn(&ManagedParker, Option<Duration>) -> bool,
    /// Leaves a token and makes the green thread runnable.
    pub unpark: fn(&ManagedParker),
}

/// Parks a managed thread: an OS thread, or a green one once a scheduler has set its hooks.
///
/// Invariant: hooks change only while the owner runs and no thread can be unparking it (before it is published).
pub struct ManagedParker {
    os: Parker,
    /// Null = OS thread.
    hooks: AtomicPtr<ParkHooks>,
    /// The scheduler's task, for the hooks.
    context: AtomicPtr<()>,
}

impl Default for ManagedParker {
    fn default() -> Self {
        Self::new()
    }
}

impl ManagedParker {
    pub fn new() -> ManagedParker {
        ManagedParker {
            os: Parker::new(),
            hooks: AtomicPtr::new(std::ptr::null_mut()),
            context: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Lets a scheduler park this thread from now on.
    pub fn set_hooks(&self, hooks: &'static ParkHooks, context: *mut ()) {
        // Relaxed: the Release below publishes it.
        self.context.store(context, Ordering::Relaxed);
        // Release pairs with the Acquire in `hooks`: a thread that sees the hooks sees the context.
        self.hooks.store(std::ptr::from_ref(hooks).cast_mut(), Ordering::Release);
    }

    /// The context that the scheduler passed to `set_hooks`.
    pub fn context(&self) -> *mut () {
        // Relaxed: callers have seen the hooks, by Acquire, and the context with them.
        self.context.load(Ordering::Relaxed)
    }

    /// A forked child does not have the owner: from now on a token wakes nobody. There is no other thread.
    pub fn forget_owner(&self) {
        // Release, as in `set_hooks`; there is no other thread to see it.
        self.hooks.store(std::ptr::null_mut(), Ordering::Release);
    }

    fn hooks(&self) -> Option<&'static ParkHooks> {
        // Acquire: pairs with the Release in `set_hooks`: the context is there.
        let hooks = self.hooks.load(Ordering::Acquire);
        // SAFETY: null or a `&'static ParkHooks` stored by `set_hooks`.
        unsafe { hooks.as_ref() }
    }

    /// See `Parker::park`. Called by the owner only.
    pub fn park(&self, timeout: Option<Duration>) -> bool {
        match self.hooks() {
            None => self.os.park(timeout),
            Some(hooks) => (hooks.park)(self, timeout),
        }
    }

    /// See `Parker::unpark`.
    pub fn unpark(&self) {
        match self.hooks() {
            None => self.os.unpark(),
            Some(hooks) => (hooks.unpark)(self),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn token_timeout_and_wake() {
        let parker = Arc::new(ManagedParker::new());
        parker.unpark();
        assert!(parker.park(None));
        assert!(!parker.park(Some(Duration::from_millis(3))));
        assert!(!parker.park(Some(Duration::ZERO)));
        let other = parker.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(5));
            other.unpark();
        });
        assert!(parker.park(Some(Duration::from_secs(20))));
        thread.join().unwrap();
    }
}

#[cfg(all(test, loom))]
mod model;

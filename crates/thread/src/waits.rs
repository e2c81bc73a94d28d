//! Waits of a thread: it parks until another one leaves a token, in a safe region or, a green thread, without its
//! carrier.
//!
//! Invariant: requests (`request`) end interruptible waits; a wait tells its observer when it begins and ends. Left
//! out: what is waited for.

use crate::managed_thread::{ManagedThread, WaitState};
use saki_os::clock::Moment;
use saki_sync::monitor::{BlockEnd, Blocker, MonitorNode};
use std::time::Duration;

impl ManagedThread {
    /// `Thread.Sleep`, in a safe region. Ends early when interrupted or aborted (if `interruptible`).
    pub fn sleep(&self, duration: Option<Duration>, interruptible: bool) -> BlockEnd {
        self.wait_until(WaitState::Sleep, duration, interruptible, || false)
    }

    /// Blocks until `done` is true; a thread that makes it true calls `unpark` afterwards.
    pub fn wait_until(
        &self,
        what: WaitState,
        timeout: Option<Duration>,
        interruptible: bool,
        mut done: impl FnMut() -> bool,
    ) -> BlockEnd {
        let before = self.set_wait_state(what);
        let deadline = timeout.and_then(|t| Moment::now().checked_add(t));
        let end = loop {
            if done() {
                break BlockEnd::Woken;
            }
            let rest = deadline.map(|d| d.saturating_duration_since(Moment::now()));
            match self.block(rest, interruptible) {
                BlockEnd::Woken if rest.is_some_and(|r| r.is_zero()) => break BlockEnd::TimedOut,
                BlockEnd::Woken => {}
                BlockEnd::TimedOut if done() => break BlockEnd::Woken,
                end => break end,
            }
        };
        self.set_wait_state(before);
        end
    }
}

impl Blocker for ManagedThread {
    fn managed_id(&self) -> u32 {
        ManagedThread::managed_id(self)
    }

    fn node(&self) -> &'static MonitorNode {
        self.monitor_node()
    }

    fn block(&self, timeout: Option<Duration>, interruptible: bool) -> BlockEnd {
        if interruptible && self.pending_requests() != 0 {
            return BlockEnd::Interrupted;
        }
        let observer = self.wait_observer();
        if let Some(observer) = observer {
            (observer.begins)(self.as_static());
        }
        // A wait inside a safe region holds its carrier, which can be taken like that of native code.
        let park = || self.node.parker.park(timeout);
        let woken = if self.is_green() && self.is_running() && !self.is_pinned() {
            self.waiting(park)
        } else {
            self.blocking(park)
        };
        if let Some(observer) = observer {
            (observer.ends)(self.as_static());
        }
        if interruptible && self.pending_requests() != 0 {
            BlockEnd::Interrupted
        } else if woken {
            BlockEnd::Woken
        } else {
            BlockEnd::TimedOut
        }
    }
}

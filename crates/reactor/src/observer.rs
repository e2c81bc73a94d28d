//! The observer of descriptors: a function that is called for readiness, in place of a thread that waits.
//!
//! Left out: what it is called for (`notification`).

use crate::record::Interest;
use saki_thread::ManagedThread;
use std::sync::OnceLock;

/// Called by the poller, or by the thread that closes the descriptor. Returns the thread to wake. Must take little
/// time, and touch no managed object.
pub type Observer = fn(i32, Interest) -> Option<&'static ManagedThread>;

static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Names the observer; once, before the first `observe`.
pub fn set_observer(observer: Observer) {
    let _ = OBSERVER.set(observer);
}

pub(crate) fn tell(fd: i32, interest: Interest) -> Option<&'static ManagedThread> {
    OBSERVER.get().and_then(|observer| observer(fd, interest))
}

//! Waiting for events of the system, such as descriptors that become ready, by the carriers themselves.
//!
//! The scheduler does not know what the events are: a [`Poller`] waits for them, and names the threads that they wake.
//! One carrier without work waits there in place of its sleep (`IdleCarriers::sleep_or_poll`). Carriers with work look
//! for events without waiting, before they search elsewhere and after some switches. The watcher ensures that events
//! are looked for: it wakes an idle carrier to do so, looks itself when all carriers run for long, and waits itself
//! when no carrier is idle and none runs a thread.
//!
//! Invariant: threads that an event wakes go to the queue of the carrier that polled, if that carrier has a slot, and
//! else to the shared queue. Left out: carriers that poll (`polling`), and which thread waits for which event.

use crate::idle::IdleCarriers;
use saki_thread::ManagedThread;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

/// A source of events to wait for besides work. One thread at a time calls `poll`.
pub struct Poller {
    /// Waits for events until there are some, the timeout has passed, or it is interrupted. Each thread that they wake
    /// is passed to the function, which unparks it.
    pub poll: fn(Option<Duration>, &mut dyn FnMut(&'static ManagedThread)),
    /// Ends the present `poll`, or the next one. For any thread.
    pub interrupt: fn(),
}

/// Null until there is something to wait for, in a forked child again. Release, read with Acquire.
static POLLER: AtomicPtr<Poller> = AtomicPtr::new(std::ptr::null_mut());

/// Installs the poller, unless there is one: `false`.
pub(crate) fn set(poller: &'static Poller) -> bool {
    let poller = std::ptr::from_ref(poller).cast_mut();
    // Release: pairs with the Acquire in `get`: the poller is set up. Relaxed on failure: the other poller is not used.
    POLLER.compare_exchange(std::ptr::null_mut(), poller, Ordering::Release, Ordering::Relaxed).is_ok()
}

/// In a forked child, in which no thread waits for events yet.
pub(crate) fn forget() {
    POLLER.store(std::ptr::null_mut(), Ordering::Release);
}

pub(crate) fn interrupt() {
    if let Some(poller) = get() {
        (poller.interrupt)();
    }
}

#[inline(always)]
pub(crate) fn get() -> Option<&'static Poller> {
    // SAFETY: null, or from a static reference.
    unsafe { POLLER.load(Ordering::Acquire).as_ref() }
}

/// For the watcher: looks without waiting. Whether events woke threads, which are in the shared queue.
pub(crate) fn look_from_outside(idle: &IdleCarriers) -> bool {
    let Some(poller) = get().filter(|_| idle.try_look()) else { return false };
    let mut has_woken = false;
    (poller.poll)(Some(Duration::ZERO), &mut |thread| {
        has_woken = true;
        thread.unpark();
    });
    idle.end_poll();
    has_woken
}

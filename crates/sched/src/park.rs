//! How a green thread parks (`ParkWord`): the hooks of its parker.

use crate::dispatch::{self, Dispatch};
use crate::green::Green;
use crate::runnable::{self, cancel_timer, start_timer};
use crate::switch::leave;
use crate::worker::After;
use saki_sync::{ManagedParker, ParkHooks};
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(crate) static PARK_HOOKS: ParkHooks = ParkHooks { park, unpark };

/// The contract of `Parker::park`, but that a wait whose time has passed ends as one with a token: callers look at the
/// clock.
fn park_green(green: &'static Green, timeout: Option<Duration>) -> bool {
    if green.word.take_present_token() {
        return true;
    }
    if timeout.is_some_and(|timeout| timeout.is_zero()) {
        return false;
    }
    if green.thread.is_safe() {
        // Native code may be around; or the thread is pinned.
        return green.word.wait_in_place(timeout);
    }
    let timer = timeout.map(|timeout| start_timer(timeout, green));
    let carrier = || green.thread.carrier().map(std::ptr::from_ref);
    let before = carrier();
    leave(green, After::Park);
    // Relaxed: the carrier that switched to this thread has seen it become runnable, and the time with it. No exchange:
    // until it parks again no other thread writes the time.
    let ready_ns = green.ready_ns.load(Ordering::Relaxed);
    if ready_ns != 0 {
        green.ready_ns.store(0, Ordering::Relaxed);
        dispatch::tell(green.thread, Dispatch::Parked { has_moved: before != carrier() }, ready_ns);
    }
    if let Some(timer) = timer {
        cancel_timer(timer);
    }
    // One that came while the thread waited for its turn.
    green.word.take_present_token();
    true
}

fn green_of(parker: &ManagedParker) -> &'static Green {
    // SAFETY: the context that `of_new` set together with these hooks; records are never freed.
    unsafe { &*parker.context().cast::<Green>() }
}

fn park(parker: &ManagedParker, timeout: Option<Duration>) -> bool {
    park_green(green_of(parker), timeout)
}

fn unpark(parker: &ManagedParker) {
    runnable::unpark(green_of(parker));
}

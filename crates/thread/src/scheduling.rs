//! The interface between a scheduler of green threads (`saki_sched`) and the threads.
//!
//! A green thread waits in state WAITING, with its carrier's allocation buffer moved into the carrier
//! (`Carrier::stow`), so that the carrier can go on with another thread (`giving_way`). While the thread is in a safe
//! region for native code its carrier can be taken from it: the scheduler sets `POLL_TAKEN` and finds the thread still
//! SAFE (a heavy fence between the two, as for stops), and the thread asks for a carrier when it leaves the region
//! (`blocking`).
//!
//! Invariant: a carrier switches away only from a thread in state WAITING, and only when that thread itself asks for
//! it. Left out: the choice of the thread that runs next.

use crate::carrier::Carrier;
use crate::current::set_current;
use crate::growth::Growth;
use crate::managed_thread::{ManagedThread, ThreadKind};
use crate::protocol::{RUNNING, SAFE, WAITING};
use crate::registry::{self, ThreadRef};
use crate::request::POLL_STOP;
use crate::stop::STOP_WORDS;
use saki_os::signal::AlternateStackMemory;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Gives the calling OS thread a carrier for the scheduler, which runs nothing yet.
pub fn attach_scheduler_carrier(alternate_stack: AlternateStackMemory) -> &'static Carrier {
    saki_os::membarrier::initialise();
    registry::attach_scheduler_carrier(alternate_stack)
}

/// The calling OS thread ends, whose carrier runs nothing.
pub fn detach_scheduler_carrier(carrier: &'static Carrier) {
    registry::detach_scheduler_carrier(carrier);
}

/// Sets the thread that the calling OS thread's carrier runs, or none. The thread that it ran is WAITING; `thread` is
/// WAITING or has not begun; the buffer is stowed.
#[inline(always)]
pub fn take_up(carrier: &'static Carrier, thread: Option<&'static ManagedThread>) {
    carrier.set_current(thread);
    set_current(thread);
}

/// After a switch, on the new thread's stack or the carrier's own: waits while a stop is requested whose stopper may
/// not have seen the carrier's present thread.
#[inline(always)]
pub fn heed_stop(carrier: &Carrier) {
    saki_os::membarrier::light();
    // Acquire: pairs with the Release of `resume`: what a stopper has changed is visible.
    if carrier.stop.load(Ordering::Acquire) & POLL_STOP != 0 {
        STOP_WORDS.wait_until_resumed(&carrier.stop);
    }
}

/// A structure for a green thread that has not begun, with the scheduler's part; `make` makes that for a new structure,
/// or readies the old.
pub fn create_green(
    kind: ThreadKind,
    name: Option<&str>,
    make: impl FnOnce(&'static ManagedThread) -> *mut (),
) -> ThreadRef {
    let thread = ThreadRef::create_green(kind, name);
    thread.set_scheduler_data(make(thread.as_static()));
    thread
}

/// Runs `f` as the body of a green thread, on its own stack, below which is `guard`, and which may grow. The thread is
/// on a carrier for the first time. Afterwards it is in no list, WAITING, and runs no more; `end_green` follows once
/// its stack is not used any more.
pub fn run_green(
    thread: &'static ManagedThread,
    stack: Range<usize>,
    guard: &Range<usize>,
    growth: Growth,
    f: impl FnOnce(&'static ManagedThread),
) {
    thread.set_usable_stack(stack);
    thread.stack_reserve.set_up_pooled(guard);
    thread.set_growth(growth);
    // The list's own reference, dropped by `end_green`.
    std::mem::forget(ThreadRef::to(thread));
    STOP_WORDS.leave_safe(&thread.state, thread.poll_word());
    // Relaxed: our own state.
    debug_assert!(thread.state.load(Ordering::Relaxed) == RUNNING);
    if let Some(carrier) = thread.carrier() {
        carrier.unstow(thread);
    }
    registry::attach_green(thread);
    f(thread);
    registry::detach_green(thread);
    thread.stack_reserve.take_down();
    if let Some(carrier) = thread.carrier() {
        carrier.stow(thread);
    }
    // No frame of this thread holds references any more, so nothing of the stack is to be scanned.
    // Relaxed: published by the state, with Release, in `enter`.
    thread.published_sp.store(0, Ordering::Relaxed);
    STOP_WORDS.enter(&thread.state, thread.poll_word(), WAITING);
}

/// A green thread ended its OS thread inside native code, and is WAITING: it runs no more, and its stack is used no
/// more. Afterwards it is in no list; `end_green` follows. The caller is attached to nothing.
pub fn detach_ended(thread: &'static ManagedThread) {
    registry::tell_native_end(thread);
    registry::detach_ended_green(thread);
}

/// The thread of `run_green` has left its stack: threads that wait for its end go on.
pub fn end_green(thread: &'static ManagedThread) {
    // Release, as wherever a thread becomes SAFE. Nothing new is published: the thread's `published_sp` is 0 already,
    // so that no stopper reads its stack.
    thread.state.store(SAFE, Ordering::Release);
    registry::tell_end(thread);
}

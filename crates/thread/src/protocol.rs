//! The stop protocol on bare words, shared by the machine and its loom model.
//!
//! | state | meaning | who leaves it |
//! |---|---|---|
//! | RUNNING | executes managed or runtime code; its stack changes | owner → SAFE (`enter_safe`) or STOPPED (`wait_out_stop`) |
//! | SAFE | in native code or blocked; frozen above the published SP | owner → RUNNING (`leave_safe`) |
//! | STOPPED | waits for the end of a stop, or waits with its carrier | owner → RUNNING, after the stop |
//! | WAITING | as SAFE, for a green thread that may leave its carrier by itself | owner → RUNNING, on a carrier |
//!
//! A carrier that is taken from a thread (`scheduling`) is taken by the same protocol, with the bit TAKEN in the place
//! of STOP: either the taker finds the thread SAFE, or the thread finds the bit when it leaves.
//!
//! Orderings:
//! - Owner: writes SP and stack, then state = SAFE/STOPPED (Release) — stopper reads the state (Acquire) and then the
//!   stack.
//! - Owner: state := X; `light` fence; reads its poll word. Stopper: poll |= STOP; `heavy` fence; reads the state. One
//!   of the two sees the other's store (Dekker), so either the thread does not run on or the stopper waits for it.
//! - A thread that leaves a safe region stores RUNNING first and checks its poll word then; when it finds STOP it goes
//!   back to SAFE without having touched anything above its published SP, so a stopper that counted it as stopped
//!   before is still right, and a stopper that saw RUNNING is woken by the arrival.
//! - Resuming: poll &= !STOP, then epoch += 1 (Release) and wake; a waiter reads the epoch (Acquire) before its poll
//!   word, so it sleeps only if the resume it waits for is still to come.
//!
//! Every thread in state RUNNING must reach a safepoint, a safe region or `detach` in bounded time.

use saki_sync::WaitWord;
use saki_sync::facade::atomic::{AtomicU32, Ordering};

/// The states of a thread, here and below: see the module header.
pub const RUNNING: u32 = 0;
/// In native code or blocked.
pub const SAFE: u32 = 1;
/// Waits at a safepoint for a stop to end.
pub const STOPPED: u32 = 2;
/// A green thread that waits and may leave its carrier.
pub const WAITING: u32 = 3;

/// The bit of the poll word that the protocol owns.
pub const STOP: u32 = 1;
/// The bit with which the scheduler takes a carrier.
pub const TAKEN: u32 = 64;
/// The bit of the thread that a forked child has: the machine is not running there yet.
pub const FORKED: u32 = 128;

/// A poll word: `std`'s atomic in the machine (the layout is fixed by `abi`), loom's in the model.
pub trait PollWord {
    fn load(&self, ordering: Ordering) -> u32;
    fn fetch_or(&self, bits: u32, ordering: Ordering) -> u32;
    fn fetch_and(&self, bits: u32, ordering: Ordering) -> u32;
}

macro_rules! poll_word {
    ($atomic:ty) => {
        impl PollWord for $atomic {
            #[inline(always)]
            fn load(&self, ordering: Ordering) -> u32 {
                self.load(ordering)
            }
            #[inline(always)]
            fn fetch_or(&self, bits: u32, ordering: Ordering) -> u32 {
                self.fetch_or(bits, ordering)
            }
            #[inline(always)]
            fn fetch_and(&self, bits: u32, ordering: Ordering) -> u32 {
                self.fetch_and(bits, ordering)
            }
        }
    };
}

poll_word!(std::sync::atomic::AtomicU32);
#[cfg(loom)]
poll_word!(loom::sync::atomic::AtomicU32);

#[inline(always)]
fn light_fence() {
    #[cfg(not(loom))]
    saki_os::membarrier::light();
    #[cfg(loom)]
    // SeqCst: what the two sides of the machine's barrier are together.
    loom::sync::atomic::fence(Ordering::SeqCst);
}

fn heavy_fence() {
    #[cfg(not(loom))]
    saki_os::membarrier::heavy();
    #[cfg(loom)]
    // SeqCst: see `light_fence`, the other side of the barrier.
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// The words that all threads and the stopper share.
pub struct StopWords {
    /// Counts threads that stopped or became safe while a stop was requested; the stopper sleeps on it.
    arrivals: WaitWord,
    /// Counts resumes; stopped threads sleep on it.
    epoch: WaitWord,
}

impl Default for StopWords {
    fn default() -> Self {
        Self::new()
    }
}

impl StopWords {
    /// No stop is under way.
    #[cfg(not(loom))]
    pub const fn new() -> StopWords {
        StopWords { arrivals: WaitWord::new(0), epoch: WaitWord::new(0) }
    }

    /// No stop is under way.
    #[cfg(loom)]
    pub fn new() -> StopWords {
        StopWords { arrivals: WaitWord::new(0), epoch: WaitWord::new(0) }
    }

    fn arrive(&self) {
        // Release: not needed for the stack (the state word carries that); keeps the count behind the state store.
        self.arrivals.atomic().fetch_add(1, Ordering::Release);
        self.arrivals.wake(1);
    }

    /// Owner, RUNNING, stack and SP published: becomes SAFE.
    #[inline(always)]
    pub fn enter_safe(&self, state: &AtomicU32, poll: &impl PollWord) {
        self.enter(state, poll, SAFE);
    }

    /// Owner, RUNNING, stack and SP published: becomes SAFE or STOPPED.
    #[inline(always)]
    pub fn enter(&self, state: &AtomicU32, poll: &impl PollWord, stopped: u32) {
        // Release publishes the frozen stack and SP.
        state.store(stopped, Ordering::Release);
        light_fence();
        // Relaxed: ordered by the fence.
        if poll.load(Ordering::Relaxed) & STOP != 0 {
            self.arrive();
        }
    }

    /// Owner, SAFE: becomes RUNNING, after the stop if there is one. Not where the carrier may have been taken.
    #[inline(always)]
    pub fn leave_safe(&self, state: &AtomicU32, poll: &impl PollWord) {
        self.leave(state, poll, SAFE);
    }

    /// Owner: becomes RUNNING, after a stop for which it waits as `waiting`.
    #[inline(always)]
    fn leave(&self, state: &AtomicU32, poll: &impl PollWord, waiting: u32) {
        // Relaxed: publishes nothing; the fence orders it before the load.
        state.store(RUNNING, Ordering::Relaxed);
        light_fence();
        // Acquire pairs with the Release of `resume`: what the collector changed is visible.
        if poll.load(Ordering::Acquire) & STOP != 0 {
            self.wait_out_stop(state, poll, waiting);
        }
    }

    /// Owner, STOPPED: becomes RUNNING, after the stop if there is one. It is never SAFE meanwhile, so its carrier
    /// cannot be taken.
    #[inline(always)]
    pub fn leave_stopped(&self, state: &AtomicU32, poll: &impl PollWord) {
        self.leave(state, poll, STOPPED);
    }

    /// Waits until the stop that this word requests is over.
    #[cold]
    pub fn wait_until_resumed(&self, word: &impl PollWord) {
        loop {
            // Acquire, and before the word: see the module header.
            let epoch = self.epoch.load(Ordering::Acquire);
            if word.load(Ordering::Acquire) & STOP == 0 {
                return;
            }
            self.epoch.wait(epoch, None);
        }
    }

    /// Owner, SAFE: becomes RUNNING unless a stop is requested, its carrier was taken or it forked; then stays SAFE and
    /// returns `false`.
    #[inline(always)]
    pub fn try_leave_safe(&self, state: &AtomicU32, poll: &impl PollWord) -> bool {
        // Relaxed: publishes nothing; the fence orders it before the load.
        state.store(RUNNING, Ordering::Relaxed);
        light_fence();
        // Acquire pairs with the Release of `resume`: what the collector changed is visible.
        if poll.load(Ordering::Acquire) & (STOP | TAKEN | FORKED) == 0 {
            return true;
        }
        state.store(SAFE, Ordering::Release);
        self.arrive();
        false
    }

    /// Owner, stack and SP published: waits as `waiting` (SAFE or STOPPED) until no stop is requested, then RUNNING.
    #[cold]
    pub fn wait_out_stop(&self, state: &AtomicU32, poll: &impl PollWord, waiting: u32) {
        loop {
            // Release publishes the frozen stack and SP.
            state.store(waiting, Ordering::Release);
            self.arrive();
            self.wait_until_resumed(poll);
            state.store(RUNNING, Ordering::Relaxed);
            light_fence();
            if poll.load(Ordering::Acquire) & STOP == 0 {
                return;
            }
        }
    }

    /// Stopper: asks the threads of these poll words to stop.
    pub fn request<'a, P: PollWord + 'a>(&self, polls: impl Iterator<Item = &'a P>) {
        for poll in polls {
            // AcqRel: joins the other bits' history; the heavy fence orders it against the states.
            poll.fetch_or(STOP, Ordering::AcqRel);
        }
        heavy_fence();
    }

    /// Stopper: waits until `still_running` (which reads states with Acquire) says no. Spins `max_spins` times first.
    pub fn wait_until_stopped(&self, max_spins: u32, mut still_running: impl FnMut() -> bool) {
        let mut spins = 0;
        loop {
            // Acquire, and before the states: an arrival after this load ends the wait below.
            let arrivals = self.arrivals.load(Ordering::Acquire);
            if !still_running() {
                return;
            }
            if spins < max_spins {
                spins += 1;
                saki_sync::facade::spin_hint();
            } else {
                self.arrivals.wait(arrivals, None);
            }
        }
    }

    /// Stopper: lets the threads of these poll words run.
    pub fn resume<'a, P: PollWord + 'a>(&self, polls: impl Iterator<Item = &'a P>) {
        for poll in polls {
            // Release publishes the stopper's writes.
            poll.fetch_and(!STOP, Ordering::AcqRel);
        }
        // Release: see the module header.
        self.epoch.atomic().fetch_add(1, Ordering::Release);
        self.epoch.wake_all();
    }
}

#[cfg(all(test, loom))]
mod model;

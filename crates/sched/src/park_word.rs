//! The word by which a green thread parks, is woken, and has its stack moved while it is parked.
//!
//! | state | meaning | transitions |
//! |---|---|---|
//! | EMPTY | no token; runs, is about to be switched away from, or was woken and waits for its turn | owner: → PARKED by the context that runs after the switch (CAS AcqRel), → IN_PLACE (CAS Relaxed); anyone: `unpark` → NOTIFIED (CAS AcqRel) |
//! | NOTIFIED | token present | owner: → EMPTY (CAS Acquire); anyone: as above |
//! | PARKED | suspended, registers saved | anyone: `unpark` → EMPTY (CAS AcqRel) and makes it runnable; mover: → MOVING (CAS Acquire) |
//! | MOVING | suspended, and its stack belongs to the mover | mover: → PARKED (CAS Release); anyone: `unpark` → NOTIFIED (CAS AcqRel): then the mover makes it runnable |
//! | IN_PLACE | sleeps on its OS thread | anyone: `unpark` → NOTIFIED (AcqRel) and wakes; owner on timeout → EMPTY |
//!
//! A thread becomes PARKED only after its registers are on its stack, by the context that runs next (`worker::After`):
//! before that no carrier may resume it. A token that comes in between makes that step fail, and the thread is made
//! runnable instead. So a wait and its wake take one locked instruction each, and what the waker did before is visible
//! to the thread by way of the run queue. A token that comes while the thread waits for its turn is taken when it runs.
//!
//! Invariant: of all calls of `publish_parked`, `unpark` and `end_move`, exactly one tells its caller to make a parked
//! thread runnable, and all accesses to the thread's stack happen before it runs.

use saki_os::clock::Moment;
use saki_sync::WaitWord;
use saki_sync::facade::atomic::Ordering;
use std::time::Duration;

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;
const PARKED: u32 = 2;
const IN_PLACE: u32 = 3;
const MOVING: u32 = 4;

/// See the module header.
pub struct ParkWord(WaitWord);

impl Default for ParkWord {
    fn default() -> ParkWord {
        ParkWord(WaitWord::new(EMPTY))
    }
}

impl ParkWord {
    /// For the context that runs after the thread was switched away from: it may be resumed from now on. False if it
    /// has a token already: then the caller makes it runnable.
    #[must_use]
    pub fn publish_parked(&self) -> bool {
        // AcqRel: the saved registers are visible to the carrier that resumes it; writes that a token published are
        // visible here.
        self.0.atomic().compare_exchange(EMPTY, PARKED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// For the owner: whether there is a token, which is taken.
    pub fn take_present_token(&self) -> bool {
        // Relaxed: a look, so that without a token there is no exchange; `publish_parked` finds one that comes later.
        // Acquire: pairs with `unpark`.
        self.0.load(Ordering::Relaxed) == NOTIFIED
            && self.0.atomic().compare_exchange(NOTIFIED, EMPTY, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// For the owner, after a wait in place: as `take_present_token`, and waits no more.
    fn take_token(&self) -> bool {
        // Acquire: pairs with `unpark`.
        self.0.atomic().swap(EMPTY, Ordering::Acquire) == NOTIFIED
    }

    /// For the owner: sleeps on its OS thread until there is a token, or the time has passed. Whether there was one.
    pub fn wait_in_place(&self, timeout: Option<Duration>) -> bool {
        let deadline = timeout.and_then(|timeout| Moment::now().checked_add(timeout));
        // Relaxed: publishes nothing. Failure means NOTIFIED, taken below.
        let _ = self.0.atomic().compare_exchange(EMPTY, IN_PLACE, Ordering::Relaxed, Ordering::Relaxed);
        while self.0.load(Ordering::Relaxed) != NOTIFIED {
            let rest = deadline.map(|deadline| deadline.saturating_duration_since(Moment::now()));
            if rest.is_some_and(|rest| rest.is_zero()) || !self.0.wait(IN_PLACE, rest) {
                break;
            }
        }
        self.take_token()
    }

    /// Leaves a token, or wakes the thread. True: the thread was parked, and the caller makes it runnable.
    #[must_use]
    pub fn unpark(&self) -> bool {
        // The common case comes first.
        let mut seen = PARKED;
        loop {
            let next = if seen == PARKED { EMPTY } else { NOTIFIED };
            // AcqRel: Release pairs with the owner's Acquire, also where the token is there already; Acquire with
            // `publish_parked` and `end_move`. Relaxed on failure: the next round decides.
            match self.0.atomic().compare_exchange(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(PARKED) => return true,
                Ok(IN_PLACE) => {
                    self.0.wake(1);
                    return false;
                }
                Ok(_) => return false,
                Err(now) => seen = now,
            }
        }
    }

    /// A hint: whether the thread is parked.
    pub fn is_parked(&self) -> bool {
        // Relaxed: a hint.
        self.0.load(Ordering::Relaxed) == PARKED
    }

    /// For a mover: whether the thread is parked; then its stack is the caller's until `end_move`.
    #[must_use]
    pub fn begin_move(&self) -> bool {
        // Acquire: pairs with `publish_parked`: the stack is complete.
        self.0.atomic().compare_exchange(PARKED, MOVING, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives the stack back. False: a token came meanwhile, and the caller makes the thread runnable.
    #[must_use]
    pub fn end_move(&self) -> bool {
        // Release: pairs with `unpark`. Acquire, in case a token came: the writes that it published are passed on with
        // the thread.
        self.0.atomic().compare_exchange(MOVING, PARKED, Ordering::Release, Ordering::Acquire).is_ok()
    }
}

#[cfg(all(test, loom))]
#[path = "park_word/model.rs"]
mod model;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_of_mover_and_waker_makes_the_thread_runnable() {
        let word = ParkWord::default();
        assert!(!word.begin_move(), "it runs");
        assert!(word.publish_parked());
        assert!(word.is_parked() && word.begin_move());
        assert!(!word.unpark(), "the mover has it");
        assert!(!word.end_move());
        assert!(word.take_present_token());
        assert!(word.publish_parked() && word.begin_move() && word.end_move());
        assert!(word.unpark());
        assert!(!word.take_present_token(), "the wake has used the token up");
        assert!(!word.unpark() && !word.unpark());
        assert!(word.take_present_token() && !word.take_present_token());
    }

    #[test]
    fn a_wait_in_place_ends_with_its_time_or_a_token() {
        let word = ParkWord::default();
        assert!(!word.wait_in_place(Some(Duration::from_millis(1))));
        assert!(!word.unpark());
        assert!(word.wait_in_place(None));
    }
}

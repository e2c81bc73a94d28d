//! The word by which a thread announces a call that other threads may end, and by which they ask for its end.
//!
//! | state | meaning | transitions |
//! |---|---|---|
//! | IDLE | no such call | owner: → OPEN (swap AcqRel) |
//! | OPEN | the call is under way | owner: → IDLE (CAS AcqRel); canceller: → CANCELLING (RMW AcqRel) |
//! | CANCELLING | a canceller interrupts the thread | the same canceller: → CANCELLED (swap AcqRel) |
//! | CANCELLED | the call must end, if it has not ended by itself | owner: → IDLE (CAS AcqRel); canceller: → CANCELLING, again |
//!
//! A canceller that finds no call writes the word nevertheless: so the beginning of the next call is ordered after that
//! write, and its thread sees what the canceller wrote before.
//!
//! Invariant: a canceller interrupts the thread only between the beginning and the end of a call: the end waits for the
//! canceller. Left out: the means of interruption.

use crate::facade::atomic::{AtomicU32, Ordering};
use crate::facade::spin_hint;

const IDLE: u32 = 0;
const OPEN: u32 = 1;
const CANCELLING: u32 = 2;
const CANCELLED: u32 = 3;

/// See the module header.
#[derive(Debug)]
pub struct CancelWord(AtomicU32);

impl Default for CancelWord {
    fn default() -> Self {
        Self::new()
    }
}

impl CancelWord {
    /// No call is under way.
    #[cfg(not(loom))]
    pub const fn new() -> CancelWord {
        CancelWord(AtomicU32::new(IDLE))
    }

    /// No call is under way.
    #[cfg(loom)]
    pub fn new() -> CancelWord {
        CancelWord(AtomicU32::new(IDLE))
    }

    /// For the owner: a call begins; no other one is under way.
    pub fn begin(&self) {
        // Acquire: pairs with the Release of a canceller that found no call. Release: pairs with the Acquire of a
        // canceller that finds this call.
        let before = self.0.swap(OPEN, Ordering::AcqRel);
        debug_assert_eq!(before, IDLE);
    }

    /// For the owner: the call ends. Waits for a canceller that is about to interrupt it.
    pub fn end(&self) {
        let mut state = OPEN;
        // AcqRel: see the table. Relaxed: a failed exchange only yields the guess for the next one.
        while let Err(now) = self.0.compare_exchange(state, IDLE, Ordering::AcqRel, Ordering::Relaxed) {
            state = now;
            // It lasts for a system call.
            if now == CANCELLING {
                spin_hint();
                state = CANCELLED;
            }
        }
    }

    /// For the owner: whether the call is to end.
    pub fn is_cancelled(&self) -> bool {
        // Acquire: pairs with the canceller's Release; what it wrote before is seen.
        self.0.load(Ordering::Acquire) >= CANCELLING
    }

    /// For anyone: ends the call, if there is one, with `interrupt`. If another canceller is doing so at that moment,
    /// leaves it to that one.
    pub fn cancel(&self, interrupt: impl FnOnce()) {
        let next = |state| if matches!(state, OPEN | CANCELLED) { CANCELLING } else { state };
        // Relaxed: only a guess, which the exchange checks.
        let mut state = self.0.load(Ordering::Relaxed);
        // An exchange even where nothing changes; see the module header.
        while let Err(now) = self.0.compare_exchange(state, next(state), Ordering::AcqRel, Ordering::Relaxed) {
            state = now;
        }
        if next(state) != state {
            interrupt();
            // Release: the effects of the interruption are ordered before the end of the call. A swap, and Acquire:
            // another canceller may have left the call to this one, and the end of the call sees what that one wrote
            // before. By C11 a plain store would end the release sequence of that one's write.
            self.0.swap(CANCELLED, Ordering::AcqRel);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn only_a_call_under_way_is_cancelled() {
        let word = CancelWord::new();
        word.cancel(|| panic!("there is no call"));
        word.begin();
        assert!(!word.is_cancelled());
        let mut count = 0;
        word.cancel(|| count += 1);
        word.cancel(|| count += 1);
        assert!(word.is_cancelled());
        assert_eq!(count, 2, "a signal may have come too early");
        word.end();
        assert!(!word.is_cancelled());
        word.begin();
        assert!(!word.is_cancelled());
        word.end();
    }
}

#[cfg(all(test, loom))]
mod model;

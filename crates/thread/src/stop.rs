//! The words and the lock of the process's stop protocol.
//!
//! Left out: stopping (`safepoint`), the protocol (`protocol`).

use crate::protocol::StopWords;
use saki_base::locks::{order, rank};
use saki_sync::RawLock;
use std::time::Duration;

pub(crate) static STOP_WORDS: StopWords = StopWords::new();
/// Held during a stop, and for every change of the list of carriers.
pub(crate) static STOP_LOCK: StopLock = StopLock(RawLock::new());

/// A lock with the rank of the world. Another thread than the one that took it may unlock it.
pub(crate) struct StopLock(RawLock);

impl StopLock {
    #[track_caller]
    pub(crate) fn lock(&self) {
        order::check::<rank::World>();
        self.0.lock();
        order::took::<rank::World, _>(self);
    }

    /// False: the world is stopped, by a thread that has not resumed it in this time.
    #[track_caller]
    pub(crate) fn try_lock_for(&self, patience: Duration) -> bool {
        let is_taken = self.0.try_lock_for(patience);
        if is_taken {
            order::took::<rank::World, _>(self);
        }
        is_taken
    }

    pub(crate) fn unlock(&self) {
        order::end_stop();
        self.0.unlock();
    }
}

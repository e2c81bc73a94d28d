//! The words and the lock of the process's stop protocol.
//!
//! Left out: stopping (`safepoint`), the protocol (`protocol`).

use crate::protocol::StopWords;
use saki_base::locks::{order, rank};
use saki_sync::RawLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub(crate) static STOP_WORDS: StopWords = StopWords::new();
/// Held during a stop, and for every change of the list of carriers.
pub(crate) static STOP_LOCK: StopLock = StopLock { lock: RawLock::new(), stage: AtomicU32::new(NO_STOP) };

/// No stop is under way that waits for all threads, or they have not been asked.
const NO_STOP: u32 = 0;
/// All threads have been asked to stop: those that are found in safe regions stay there.
const ASKED: u32 = 1;
/// The world is stopped.
const COMPLETE: u32 = 2;

/// A lock with the rank of the world. Another thread than the one that took it may unlock it.
///
/// `stage`: Release, by the holder of the lock; for others `is_asked` reads it with Acquire.
pub(crate) struct StopLock {
    lock: RawLock,
    stage: AtomicU32,
}

impl StopLock {
    #[track_caller]
    pub(crate) fn lock(&self) {
        order::check::<rank::World>();
        self.lock.lock();
        order::took::<rank::World, _>(self);
    }

    /// False: the world is stopped, by a thread that has not resumed it in this time.
    #[track_caller]
    pub(crate) fn try_lock_for(&self, patience: Duration) -> bool {
        let is_taken = self.lock.try_lock_for(patience);
        if is_taken {
            order::took::<rank::World, _>(self);
        }
        is_taken
    }

    /// The holder has asked all threads to stop.
    pub(crate) fn note_asked(&self) {
        // Release: comes behind the heavy fence of the request. A thread that was found in a safe region after this was
        // read, and that leaves it, finds that it was asked.
        self.stage.store(ASKED, Ordering::Release);
    }

    /// All threads have stopped.
    pub(crate) fn note_complete(&self) {
        // Release, as at each change of the stage; who sees it does nothing.
        self.stage.store(COMPLETE, Ordering::Release);
    }

    /// For others than the holder: whether a stop is under way whose threads have been asked and not all have stopped.
    pub(crate) fn is_asked(&self) -> bool {
        // Acquire: pairs with `note_asked`. A read-modify-write, as that of an earlier stop must not be seen.
        self.stage.fetch_add(0, Ordering::Acquire) == ASKED
    }

    pub(crate) fn unlock(&self) {
        order::end_stop();
        // Release, as at each change of the stage.
        self.stage.store(NO_STOP, Ordering::Release);
        self.lock.unlock();
    }
}

//! Waits that an interrupt or an abort of the waiting thread ends.

use crate::thread::CurrentThread;
use crate::{stops, thread_aborts};
use std::time::{Duration, Instant};

/// Milliseconds as managed code gives them: negative = for ever.
pub fn timeout(milliseconds: i32) -> Option<Duration> {
    u64::try_from(milliseconds).ok().map(Duration::from_millis)
}

/// The end of a wait. After `Interrupted` the caller calls `thread_aborts::throw_requested`, unless it finds that the wait has succeeded.
pub use saki_sync::monitor::BlockEnd as WaitEnd;

/// Runs a blocking operation that an interrupt or abort ends. `operation` gets the rest of the time and whether requests may interrupt
/// it; it is called again when an abort that has to wait interrupted it.
pub fn wait(
    t: CurrentThread,
    timeout: Option<Duration>,
    mut operation: impl FnMut(Option<Duration>, bool) -> WaitEnd,
) -> WaitEnd {
    let deadline = timeout.and_then(|time| Instant::now().checked_add(time));
    loop {
        if thread_aborts::ends_waits(t) {
            return WaitEnd::Interrupted;
        }
        // A request that has to wait would end every wait at once.
        let interruptible = t.managed().pending_requests() == 0;
        let rest = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let end = operation(rest, interruptible);
        stops::stop_if_asked(t);
        match end {
            WaitEnd::Interrupted => {}
            end => return end,
        }
    }
}

//! Writes kept bodies while the process runs: a server is usually killed and never reaches the write at exit.
//!
//! The thread starts when the first body is kept, so a run that finds every body in the cache has no such thread. It is no
//! managed thread: collections neither stop it nor wait for it.

use saki_os::services::{self, Service};
use std::time::Duration;

/// After this time most programs have ended, or have compiled the methods that a start needs.
const FIRST_PAUSE: Duration = Duration::from_secs(3);
/// Pauses double up to this length, because each write makes the files anew.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Starts the thread, which calls `write_back` after each pause, unless it runs already.
pub(super) fn start(write_back: fn()) {
    // Without the thread, kept bodies are written at exit.
    let _ = services::machine().start_once(Service::CodeCache, move || {
        let mut pause = FIRST_PAUSE;
        while services::machine().pause(pause) {
            write_back();
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    });
}

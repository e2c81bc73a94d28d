//! Waking the reader's thread, which waits between its looks (`reader_thread`).

use saki_sync::WaitWord;
use std::sync::atomic::Ordering;

/// The reader's thread waits here; the number changes when it is to look at once.
pub static WAKE: WaitWord = WaitWord::new(0);

/// Makes the reader look at once.
pub fn wake_reader() {
    // Release: the reader sees why it was woken.
    WAKE.atomic().fetch_add(1, Ordering::Release);
    WAKE.wake(1);
}

//! When the process may end: after every foreground thread has.
//!
//! | word | change | who | ordering |
//! |---|---|---|---|
//! | `FOREGROUND` | + 1 | starter, `set_background`, before the thread can end | Relaxed: its program order is enough |
//! | `FOREGROUND` | − 1 | a thread that ends; then it looks at `WAITERS` | SeqCst: either it sees the waiter's change or the waiter sees its |
//! | `WAITERS` | + 1, − 1 | a waiting thread, around its waits; after adding it looks at `FOREGROUND` | SeqCst, as above |
//!
//! Invariant: a foreground thread counts from its creation (before `spawn` returns) until after it is detached;
//! changing it to background takes it out. While no thread waits here, the end of a thread costs no lock and no system
//! call. Left out: stopping background threads (the process just exits).

use crate::child_locks::revive;
use crate::current::current;
use crate::managed_thread::{ManagedThread, ThreadKind, WaitState};
use saki_base::locks::rank;
use saki_sync::WaitWord;
use saki_sync::word_locks::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

static FOREGROUND: WaitWord = WaitWord::new(0);
static WAITERS: AtomicU32 = AtomicU32::new(0);

/// The thread that waits for the foreground threads, to be unparked.
static WAITING: Mutex<rank::ProcessEnd, Option<&'static ManagedThread>> = Mutex::new(None);

pub(crate) fn count_started(kind: ThreadKind) {
    if kind == ThreadKind::Foreground {
        // Relaxed: the starter's own program order is enough for it to see its thread.
        FOREGROUND.atomic().fetch_add(1, Ordering::Relaxed);
    }
}

/// The thread has ended, or never began. After this, setting `IsBackground` has no effect.
pub(crate) fn count_thread_ended(thread: &ManagedThread) {
    // AcqRel: as in `set_background`; only changes of the kind before this one count.
    count_ended(ThreadKind::from_number(thread.kind.swap(ThreadKind::Internal as u32, Ordering::AcqRel)));
}

fn count_ended(kind: ThreadKind) {
    if kind == ThreadKind::Foreground {
        // SeqCst: see the table. Its Release pairs with the Acquire below: the ended thread's effects are visible to
        // the thread that waited for it.
        FOREGROUND.atomic().fetch_sub(1, Ordering::SeqCst);
        if WAITERS.load(Ordering::SeqCst) != 0 {
            wake_waiters();
        }
    }
}

#[cold]
fn wake_waiters() {
    FOREGROUND.wake_all();
    if let Some(thread) = *WAITING.lock() {
        thread.unpark();
    }
}

/// A forked child has one thread, the calling one, which is a foreground thread or not.
pub(crate) fn count_as_child(has_foreground: bool) {
    // Relaxed: there is no other thread.
    FOREGROUND.store(u32::from(has_foreground), Ordering::Relaxed);
    WAITERS.store(0, Ordering::Relaxed);
    revive(&WAITING);
    *WAITING.lock() = None;
}

/// Foreground threads that have not ended, without the main thread.
pub fn foreground_thread_count() -> u32 {
    // SeqCst: see the table.
    FOREGROUND.load(Ordering::SeqCst)
}

/// Waits, in a safe region, until no foreground thread but the caller is left.
pub fn wait_for_foreground_threads() {
    let own = u32::from(current().is_some_and(|t| t.kind() == ThreadKind::Foreground));
    WAITERS.fetch_add(1, Ordering::SeqCst);
    loop {
        let count = foreground_thread_count();
        if count <= own {
            break;
        }
        match current() {
            Some(thread) => {
                *WAITING.lock() = Some(thread);
                thread.wait_until(WaitState::Native, None, false, || foreground_thread_count() != count);
                *WAITING.lock() = None;
            }
            None => {
                FOREGROUND.wait(count, None);
            }
        }
    }
    WAITERS.fetch_sub(1, Ordering::SeqCst);
}

impl ManagedThread {
    /// `Thread.IsBackground`.
    pub fn is_background(&self) -> bool {
        matches!(self.kind(), ThreadKind::Background | ThreadKind::Internal)
    }

    /// `Thread.IsBackground = value`; no effect on the main thread and on the runtime's own.
    pub fn set_background(&self, background: bool) {
        let (from, to) = match background {
            true => (ThreadKind::Foreground, ThreadKind::Background),
            false => (ThreadKind::Background, ThreadKind::Foreground),
        };
        // Before the kind changes: a thread that ends and sees itself in the foreground takes itself off the count.
        count_started(to);
        // AcqRel: the caller whose CAS changes the kind also moves the count, once.
        let changed = self.kind.compare_exchange(from as u32, to as u32, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        count_ended(if changed { from } else { to });
    }
}

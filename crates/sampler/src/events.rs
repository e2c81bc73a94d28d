//! Events that a program causes itself, as samples with a value: allocations, exceptions, waits for locks, collections.
//!
//! The thread that causes an event records it, in the runtime, between two safepoints; so its stack is walked without haste, and a lock protects the list. An event
//! that nobody listens to costs one load and a branch.
//!
//! Invariant: code that an event's frames name is kept as that of the handler's samples (`reader`): it is on the stack of a thread that has not stopped since, so it is
//! retired after the event was recorded. The list holds `MAX_WAITING` events; what finds no room in time is counted as lost.

use crate::handler::{FLAGS_SHIFT, MANAGED, MAX_FRAMES, TRUNCATED};
use parking_lot::Mutex;
use saki_thread::ManagedThread;
use saki_unwind::Frames;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum EventKind {
    /// Value: bytes.
    Allocation = 1 << 0,
    /// Value: 1.
    Exception = 1 << 1,
    /// Value: nanoseconds until the lock was taken, or given up.
    LockWait = 1 << 2,
    /// Value: nanoseconds that the program was stopped.
    Collection = 1 << 3,
}

/// The kinds that are listened to. Relaxed: who sees a change late records a little more or less.
static LISTENED: AtomicU32 = AtomicU32::new(0);

/// Events that wait for the reader, who comes every few milliseconds.
const MAX_WAITING: usize = 1 << 16;

/// A thread whose event finds no room lets the reader have its turn. Together no longer than a few collections, which have to wait for the thread.
const PAUSE: Duration = Duration::from_micros(500);
const MAX_PAUSES: u32 = 40;

/// An event as it was recorded.
pub(crate) struct Event {
    /// As the handler's samples; the weight is 1.
    pub words: Vec<u64>,
    pub value: u64,
    /// The innermost frame: what was allocated, thrown, waited for.
    pub label: Arc<str>,
}

#[derive(Default)]
pub(crate) struct Waiting {
    pub events: Vec<Event>,
    pub lost: u64,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting { events: Vec::new(), lost: 0 });

/// Whether events of a kind are recorded.
#[inline(always)]
pub fn is_on(kind: EventKind) -> bool {
    LISTENED.load(Ordering::Relaxed) & kind as u32 != 0
}

/// Listens to a kind, or to none.
pub(crate) fn listen(kind: Option<EventKind>) {
    LISTENED.store(kind.map_or(0, |kind| kind as u32), Ordering::Relaxed);
}

/// Records an event of `thread`, the current one, in the runtime; or of no managed thread.
pub fn record(kind: EventKind, thread: Option<&ManagedThread>, value: u64, label: Arc<str>) {
    if !is_on(kind) {
        return;
    }
    let time_ns = saki_os::clock::monotonic_ns();
    let id = thread.map_or(0, ManagedThread::managed_id);
    let mut words = vec![1 | u64::from(id) << 32, time_ns];
    // SAFETY: the current thread's own stack, walked from the code that called the runtime.
    let frames = thread.map(|thread| unsafe { Frames::of_thread(thread.abi()) });
    for (index, frame) in frames.into_iter().flatten().enumerate() {
        if index == MAX_FRAMES {
            words[1] |= TRUNCATED << FLAGS_SHIFT;
            break;
        }
        if let (Some(info), Some(offset)) = (frame.code(), frame.native_offset()) {
            words.extend([std::ptr::from_ref(info).addr() as u64 | MANAGED, offset.into()]);
        }
    }
    let event = Event { words, value, label };
    for _ in 0..MAX_PAUSES {
        let mut waiting = WAITING.lock();
        if waiting.events.len() < MAX_WAITING {
            return waiting.events.push(event);
        }
        drop(waiting);
        crate::wake_reader();
        std::thread::sleep(PAUSE);
    }
    WAITING.lock().lost += 1;
}

/// What was recorded since the last call.
pub(crate) fn take() -> Waiting {
    std::mem::take(&mut WAITING.lock())
}

//! Events that a program causes itself (allocations, exceptions, waits and others), each with its thread, time, stack
//! and value.
//!
//! ```text
//!   runtime → record → list → reader ┬→ a profile for each recording that has the kind      (`crate::Recording`)
//!                                    └→ a stream of all events, in the order of recording   (`Consumer`)
//! ```
//!
//! The thread that causes an event records it, in the runtime, between two safepoints; so the stack is walked outside
//! of signal handlers, and a lock protects the list. Any set of kinds may have listeners at once. An event without a
//! listener costs one load and a branch.
//!
//! Invariant: code that an event's frames name is kept in the same way as that of the handler's samples (`reader`): it
//! is on the stack of a thread that has not stopped since, so it is retired after the event was recorded. The list
//! holds `MAX_WAITING` events; an event that finds no room in time is counted as lost.
//!
//! **Numbered stacks.** Where each allocation is recorded, many have the same stack. So a thread that meets a new stack
//! numbers it (`number_stack`) at once, while its code is there, and later tells how many objects of a type were
//! allocated with a number (`record_allocations`). Numbers belong to the session in which they were given.

use crate::handler::{FLAGS_SHIFT, MANAGED, MAX_FRAMES, TRUNCATED};
use crate::native_walk;
use crate::stack::Stack;
use crate::wake::wake_reader;
use saki_base::locks::{Mutex, MutexGuard, rank};
use saki_code::CodeInfo;
use saki_thread::ManagedThread;
use saki_unwind::{Frame, Frames, MORE_FRAMES};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The kind of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum EventKind {
    /// Value: bytes that it stands for: the object's, or while allocations are sampled, all since the sample before.
    Allocation = 1 << 0,
    /// An exception is thrown. Value: 1.
    Exception = 1 << 1,
    /// The wait for a lock is over: it was taken, or given up. Value: nanoseconds.
    LockWait = 1 << 2,
    /// A collection is over. Value: nanoseconds that the program was stopped.
    Collection = 1 << 3,
    /// A call that reads, writes, connects or looks up a name is over. Value: nanoseconds that it took.
    IoWait = 1 << 4,
    /// A method has got its code, from a compiler or the code cache. Value: nanoseconds that it took.
    Compilation = 1 << 5,
    /// A type is used for the first time in a way that needs its vtable: its class is loaded. Value: 1.
    TypeLoad = 1 << 6,
    /// The event's thread starts a thread; for threads that the machine starts, such as those of the thread pool, the
    /// event's thread is the new thread. Value: 1.
    ThreadStart = 1 << 7,
    /// The event's thread ends. Value: 1.
    ThreadEnd = 1 << 8,
    /// Value: 1.
    HandleCreated = 1 << 9,
    /// Value: 1.
    HandleFreed = 1 << 10,
    /// A green thread runs again. Value: nanoseconds from when it could have run.
    Dispatch = 1 << 11,
}

/// A set of kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kinds(u32);

impl Kinds {
    pub const NONE: Kinds = Kinds(0);

    pub const fn of(kinds: &[EventKind]) -> Kinds {
        let (mut bits, mut index) = (0, 0);
        while index < kinds.len() {
            bits |= kinds[index] as u32;
            index += 1;
        }
        Kinds(bits)
    }

    #[must_use]
    pub const fn with(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub const fn contains(self, kind: EventKind) -> bool {
        self.0 & kind as u32 != 0
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The subject of an event, by addresses that were valid when it happened: they identify objects and types, and must
/// not be dereferenced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Subject {
    #[default]
    None,
    /// The object that was allocated or thrown.
    Object {
        address: usize,
        /// 0 where it was not asked for.
        size_bytes: usize,
        /// One for each type and domain.
        vtable: usize,
    },
    /// The object whose lock was waited for, as the wait began.
    Lock {
        address: usize,
        vtable: usize,
        /// The managed id of the thread that had it; 0 = not known.
        owner: u32,
        /// Threads that waited for it, this one included.
        waiters: u32,
    },
    Collection {
        was_full: bool,
        /// The lengths of `COLLECTION_PHASES`; the pause is their sum.
        phases_ns: [u64; COLLECTION_PHASES.len()],
    },
    Code {
        method: usize,
        /// First instruction.
        address: usize,
        size_bytes: usize,
    },
    Type {
        ty: usize,
        vtable: usize,
    },
    Thread {
        /// Managed.
        id: u32,
    },
    Handle {
        /// As managed code has it.
        bits: u32,
        /// The address of its target when the handle was created; 0 = null, or not known.
        object: usize,
    },
    /// Objects of one type that were allocated with one stack.
    Objects {
        count: u64,
        /// `NumberedStack`.
        stack: u32,
    },
}

/// The phases of a collection in their order; shown below its frame in profiles.
pub const COLLECTION_PHASES: [&str; 4] = ["[stopping threads]", "[marking]", "[weak references]", "[freeing memory]"];

/// An event as it was recorded.
pub struct Event {
    pub kind: EventKind,
    /// The managed thread's id; 0: a thread of the machine's own.
    pub thread: u32,
    /// CLOCK_MONOTONIC; for an event with a duration, its end.
    pub time_ns: u64,
    /// Bytes for an allocation, nanoseconds for a wait or a time taken, else 1: each `EventKind` says which.
    pub value: u64,
    /// The type allocated or thrown, or the object waited for: the innermost frame of profiles.
    pub label: Arc<str>,
    pub subject: Subject,
    /// As the handler's samples, of weight 1.
    pub(crate) words: Vec<u64>,
}

impl Event {
    /// The stack of the managed thread; empty for one of the machine's own threads, and for a stack that is given by
    /// its number.
    pub fn stack(&self) -> Stack<'_> {
        Stack::new(&self.words)
    }
}

/// A sample taken by the signal handler or by the wall-clock sampler.
pub struct StackSample<'a> {
    /// The managed thread's id, or 0.
    pub thread: u32,
    /// The kernel's id; 0 if the thread did not run.
    pub native_id: u32,
    /// CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Weight: the number of samples it stands for.
    pub weight: u64,
    pub is_wall: bool,
    pub stack: Stack<'a>,
}

/// Gets everything that a session records, from the thread that reads samples, which is no managed thread: events in
/// the order in which they were recorded, samples in the order of each thread. The code that stacks name is valid
/// during the call.
pub trait Consumer: Send {
    fn event(&mut self, event: &Event);

    fn sample(&mut self, _sample: &StackSample<'_>) {}

    /// So many events or samples found no room.
    fn lost(&mut self, _count: u64) {}

    /// The session is over; nothing follows.
    fn end(&mut self) {}
}

/// The kinds that are listened to. Relaxed: a thread that sees a change late records a few events more or less.
static LISTENED: AtomicU32 = AtomicU32::new(0);

/// Events that wait for the reader, who comes every few milliseconds.
const MAX_WAITING: usize = 1 << 16;

/// A thread whose event finds no room lets the reader have its turn. Together no longer than a few collections, which
/// have to wait for the thread.
const PAUSE: Duration = Duration::from_micros(500);
const MAX_PAUSES: u32 = 40;

/// A stack that was given a number: a frame and the stack that called it.
pub(crate) struct NumberedStack {
    pub number: u32,
    /// A number, or one of `saki_unwind`'s for stacks without frames.
    pub outer: u32,
    pub code: &'static CodeInfo,
    pub native_offset: u32,
}

#[derive(Default)]
pub(crate) struct Waiting {
    /// Each before the first event that has it.
    pub stacks: Vec<NumberedStack>,
    pub events: Vec<Event>,
    pub lost: u64,
}

static WAITING: Mutex<rank::WaitingEvents, Waiting> =
    Mutex::new(Waiting { stacks: Vec::new(), events: Vec::new(), lost: 0 });

/// The number of the stack that was met last. Relaxed: they only differ.
static LAST_STACK: AtomicU32 = AtomicU32::new(MORE_FRAMES);

/// Whether events of a kind are recorded.
#[inline(always)]
pub fn is_on(kind: EventKind) -> bool {
    Kinds(LISTENED.load(Ordering::Relaxed)).contains(kind)
}

/// Listens to these kinds and no others.
pub(crate) fn listen(kinds: Kinds) {
    LISTENED.store(kinds.0, Ordering::Relaxed);
}

/// Records an event of `thread`, or of no managed thread.
///
/// # Safety
/// `thread` is None or the current managed thread, which is in the runtime.
pub unsafe fn record(kind: EventKind, thread: Option<&ManagedThread>, value: u64, label: Arc<str>, subject: Subject) {
    if !is_on(kind) {
        return;
    }
    let time_ns = saki_os::clock::monotonic_ns();
    let id = thread.map_or(0, ManagedThread::managed_id);
    let mut words = vec![1 | u64::from(id) << 32, time_ns];
    if let Some(thread) = thread {
        let mut push = |frame: Frame| push(&mut words, &frame);
        // Compiled code calls the functions for handles directly, without recording an exit frame.
        // SAFETY: `thread` is the current one, by this function's contract.
        let is_found =
            CALLED_DIRECTLY.contains(kind) && unsafe { native_walk::walk_here(thread.abi(), &mut push) }.is_some();
        if !is_found {
            // SAFETY: this function's contract: the current thread's own stack, walked from the code that called the
            // runtime.
            unsafe { Frames::of_thread(thread.abi()) }.for_each(push);
        }
    }
    let event = Event { kind, thread: id, time_ns, value, label, subject, words };
    let mut waiting = with_room();
    if waiting.events.len() < MAX_WAITING {
        waiting.events.push(event);
    } else {
        waiting.lost += 1;
    }
}

/// The list; with room for an event, unless it stays full for long.
fn with_room() -> MutexGuard<'static, rank::WaitingEvents, Waiting> {
    for _ in 0..MAX_PAUSES {
        let waiting = WAITING.lock();
        if waiting.events.len() < MAX_WAITING {
            return waiting;
        }
        drop(waiting);
        wake_reader();
        std::thread::sleep(PAUSE);
    }
    WAITING.lock()
}

/// Numbers a stack of the current thread, whose innermost frame is at this instruction of `code`.
pub fn number_stack(outer: u32, code: &'static CodeInfo, native_offset: u32) -> u32 {
    let number = LAST_STACK.fetch_add(1, Ordering::Relaxed) + 1;
    WAITING.lock().stacks.push(NumberedStack { number, outer, code, native_offset });
    number
}

/// Objects of one type that were allocated with one stack.
pub struct Allocations {
    /// The type.
    pub label: Arc<str>,
    /// From `number_stack`, in this session.
    pub stack: u32,
    pub count: u64,
    pub bytes: u64,
}

/// Records allocations of the managed thread `thread` (its id) until `time_ns`. They are not lost: there are no more of
/// them than types and stacks.
pub fn record_allocations(thread: u32, time_ns: u64, allocations: impl Iterator<Item = Allocations>) {
    let mut waiting = with_room();
    waiting.events.extend(allocations.map(|Allocations { label, stack, count, bytes }| Event {
        kind: EventKind::Allocation,
        thread,
        time_ns,
        value: bytes,
        label,
        subject: Subject::Objects { count, stack },
        words: Vec::new(),
    }));
}

/// Kinds that are recorded in functions of which compiled code's last exit need not know.
const CALLED_DIRECTLY: Kinds = Kinds::of(&[EventKind::HandleCreated, EventKind::HandleFreed]);

fn push(words: &mut Vec<u64>, frame: &Frame) {
    const MAX_WORDS: usize = 2 + 2 * MAX_FRAMES;
    if let (Some(info), Some(offset)) = (frame.code(), frame.native_offset()) {
        if words.len() >= MAX_WORDS {
            words[1] |= TRUNCATED << FLAGS_SHIFT;
        } else {
            words.extend([std::ptr::from_ref(info).addr() as u64 | MANAGED, offset.into()]);
        }
    }
}

/// The events recorded since the last call.
pub(crate) fn take() -> Waiting {
    std::mem::take(&mut WAITING.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_kinds_are_listened_to_at_once() {
        let both = Kinds::of(&[EventKind::Allocation]).with(Kinds::of(&[EventKind::Collection]));
        assert!(both.contains(EventKind::Allocation) && both.contains(EventKind::Collection));
        assert!(!both.contains(EventKind::LockWait) && !both.is_empty() && Kinds::NONE.is_empty());
    }
}

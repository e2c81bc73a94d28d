//! Events of the runtime for .NET's EventListener: the provider `Microsoft-Windows-DotNETRuntime`.
//!
//! A listener opens a session with the keywords and the level that it wants. Where something happens, its payload is
//! written in the provider's format and put into the queue of each session that wants it; a thread of the class library
//! takes it from there (`corelib::events`). A session whose queue is full drops new events, as .NET's do.
//!
//! Invariant: an event that no session wants costs a load and a branch. No safepoint lies between taking the lock and
//! giving it back, so the collector may post events while the world is stopped.
//! Left out: files and streams of events (EventPipe), and which events there are.

use saki_base::locks::{Mutex, rank};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

/// Groups of events, by the provider's bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventKeyword(pub u64);

impl EventKeyword {
    /// Collections.
    pub const GC: EventKeyword = EventKeyword(0x1);
    /// Waits for locks.
    pub const CONTENTION: EventKeyword = EventKeyword(0x4000);
    /// Exceptions; a session for monitoring gets them, too.
    pub const EXCEPTION: EventKeyword = EventKeyword(0x2_0000_8000);
    /// The thread pool.
    pub const THREADING: EventKeyword = EventKeyword(0x1_0000);
    /// The thread pool, and work that goes from one thread to another.
    pub const THREAD_TRANSFER: EventKeyword = EventKeyword(0x8001_0000);
    /// Waits for handles.
    pub const WAIT_HANDLE: EventKeyword = EventKeyword(0x400_0000_0000);
}

/// `EventLevel`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u32)]
pub enum RuntimeEventLevel {
    Error = 2,
    Informational = 4,
    Verbose = 5,
}

/// `EventLevel.LogAlways`: a session of this level gets events of all levels.
const LOG_ALWAYS: u32 = 0;

/// A kind of event: its number in the provider, and who wants it.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeEventType {
    /// Its number in the provider.
    pub id: u32,
    /// The least level of a session that gets it.
    pub level: RuntimeEventLevel,
    /// A session that has one of these bits gets it.
    pub keyword: EventKeyword,
}

impl RuntimeEventType {
    /// One that is not verbose.
    pub const fn new(id: u32, keyword: EventKeyword) -> RuntimeEventType {
        RuntimeEventType { id, level: RuntimeEventLevel::Informational, keyword }
    }

    /// One that only sessions with the level Verbose get.
    pub const fn verbose(id: u32, keyword: EventKeyword) -> RuntimeEventType {
        RuntimeEventType { id, level: RuntimeEventLevel::Verbose, keyword }
    }

    /// Whether a session may want it. Conservative: false means certainly none.
    #[inline]
    pub fn is_wanted(self) -> bool {
        // Relaxed: see `WANTED`.
        WANTED.load(Ordering::Relaxed) & self.keyword.0 != 0
    }
}

/// Where and when an event happened.
#[derive(Clone, Copy, Debug)]
pub struct EventOrigin {
    /// The kernel's id of the thread.
    pub native_thread: u32,
    /// Monotonic time.
    pub time_ns: u64,
    /// The thread's activity, a Guid.
    pub activity: [u8; 16],
}

impl EventOrigin {
    /// The calling thread, now.
    pub fn here(activity: [u8; 16]) -> EventOrigin {
        EventOrigin { native_thread: saki_os::thread::native_id(), time_ns: saki_os::clock::monotonic_ns(), activity }
    }
}

/// The fields of an event, packed in little-endian order.
#[derive(Default, Debug)]
pub struct EventPayload(Vec<u8>);

impl EventPayload {
    /// Adds a number's bytes.
    #[must_use]
    pub fn with<const N: usize>(mut self, bytes: [u8; N]) -> EventPayload {
        self.0.extend(bytes);
        self
    }

    /// UTF-16 with a NUL at its end, which is how the provider's strings end: a NUL inside ends the text.
    #[must_use]
    pub fn with_text(mut self, units: impl IntoIterator<Item = u16>) -> EventPayload {
        let until_nul = units.into_iter().take_while(|unit| *unit != 0);
        self.0.extend(until_nul.chain([0]).flat_map(u16::to_le_bytes));
        self
    }

    /// `ClrInstanceID`: there is one runtime in a process.
    #[must_use]
    pub fn with_instance(self) -> EventPayload {
        self.with(0_u16.to_le_bytes())
    }
}

/// An event in a session's queue.
#[derive(Debug)]
pub struct RuntimeEvent {
    /// Its number in the provider.
    pub id: u32,
    /// Where and when it happened.
    pub origin: EventOrigin,
    /// Its fields.
    pub payload: Box<[u8]>,
}

/// What an event costs in a queue besides its payload.
const EVENT_BYTES: usize = size_of::<RuntimeEvent>();

struct Session {
    id: u64,
    keywords: u64,
    level: u32,
    /// The handle of an event that ends the reader's waits.
    signal: usize,
    max_bytes: usize,
    queue_bytes: usize,
    queue: VecDeque<RuntimeEvent>,
    /// What the reader has taken last and still looks at.
    taken: Option<RuntimeEvent>,
    /// The reader has asked for an event at least once.
    has_reader: bool,
    /// The reader has been told to end.
    is_ending: bool,
}

struct Sessions {
    last_id: u64,
    open: Vec<Session>,
}

static SESSIONS: Mutex<rank::EventSessions, Sessions> = Mutex::new(Sessions { last_id: 0, open: Vec::new() });

/// The keywords of all sessions. Written under the lock; Relaxed, since a thread that reads an old value posts an event
/// that no session takes, or misses one that happens while the session is opened.
static WANTED: AtomicU64 = AtomicU64::new(0);

impl Sessions {
    fn tell_wanted(&self) {
        // Relaxed: see `WANTED`.
        WANTED.store(self.open.iter().fold(0, |all, session| all | session.keywords), Ordering::Relaxed);
    }

    fn of(&mut self, id: u64) -> Option<&mut Session> {
        self.open.iter_mut().find(|session| session.id == id)
    }
}

/// Opens a session for events with one of `keywords` and at most `level` (0 = any); its queue takes `max_bytes`.
/// Returns its id, which is not 0.
pub fn open(keywords: u64, level: u32, max_bytes: usize, signal: usize) -> u64 {
    let mut sessions = SESSIONS.lock();
    sessions.last_id += 1;
    let id = sessions.last_id;
    sessions.open.push(Session {
        id,
        keywords,
        level,
        signal,
        max_bytes,
        queue_bytes: 0,
        queue: VecDeque::new(),
        taken: None,
        has_reader: false,
        is_ending: false,
    });
    sessions.tell_wanted();
    id
}

/// Ends a session. Returns its `signal`; None if there is no such session.
pub fn close(id: u64) -> Option<usize> {
    let mut sessions = SESSIONS.lock();
    let index = sessions.open.iter().position(|session| session.id == id)?;
    let session = sessions.open.swap_remove(index);
    sessions.tell_wanted();
    Some(session.signal)
}

/// The `signal` that the session was opened with.
pub fn signal_of(id: u64) -> Option<usize> {
    SESSIONS.lock().of(id).map(|session| session.signal)
}

/// Notes that the session's reader is told to end. Returns the session's `signal`.
pub fn begin_end(id: u64) -> Option<usize> {
    SESSIONS.lock().of(id).map(|session| {
        session.is_ending = true;
        session.signal
    })
}

/// Whether the reader of some session was told to end and has neither read an event nor closed the session.
pub fn reader_is_late() -> bool {
    SESSIONS.lock().open.iter().any(|session| session.is_ending && !session.has_reader)
}

/// Takes the oldest event from a session's queue and hands it to `read`, under the lock. Its payload stays in place
/// until the next one is taken from the session, or the session is closed.
pub fn next<T>(id: u64, read: impl FnOnce(&RuntimeEvent) -> T) -> Option<T> {
    let mut sessions = SESSIONS.lock();
    let session = sessions.of(id)?;
    session.has_reader = true;
    session.taken = session.queue.pop_front();
    let event = session.taken.as_ref()?;
    session.queue_bytes -= EVENT_BYTES + event.payload.len();
    Some(read(event))
}

/// Puts an event into the queues of the sessions that want it.
#[cold]
pub fn post(kind: RuntimeEventType, origin: EventOrigin, payload: EventPayload) {
    let payload = payload.0.into_boxed_slice();
    let bytes = EVENT_BYTES + payload.len();
    for session in &mut SESSIONS.lock().open {
        let is_of_level = session.level == LOG_ALWAYS || kind.level as u32 <= session.level;
        let is_wanted = session.keywords & kind.keyword.0 != 0 && is_of_level;
        if is_wanted && session.queue_bytes + bytes <= session.max_bytes {
            session.queue_bytes += bytes;
            session.queue.push_back(RuntimeEvent { id: kind.id, origin, payload: payload.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sessions are the process's, so tests take keywords that nothing else posts.
    const OWN: EventKeyword = EventKeyword(1 << 60);

    fn post_own(level: RuntimeEventLevel, payload: &str) {
        let kind = RuntimeEventType { id: 7, level, keyword: OWN };
        post(kind, EventOrigin::here([0; 16]), EventPayload::default().with_text(payload.encode_utf16()));
    }

    #[test]
    fn sessions_get_events_of_their_keywords_and_level_while_there_is_room() {
        let kind = RuntimeEventType::new(7, OWN);
        assert!(!kind.is_wanted());
        let session = open(OWN.0, RuntimeEventLevel::Informational as u32, 2 * (EVENT_BYTES + 4), 5);
        assert!(kind.is_wanted());
        post_own(RuntimeEventLevel::Verbose, "x");
        post_own(RuntimeEventLevel::Error, "a\0b");
        post_own(RuntimeEventLevel::Informational, "b");
        post_own(RuntimeEventLevel::Informational, "c");
        let payloads: Vec<_> = std::iter::from_fn(|| next(session, |event| event.payload.to_vec())).collect();
        assert_eq!(payloads, [b"a\0\0\0", b"b\0\0\0"]);
        post_own(RuntimeEventLevel::Informational, "d");
        assert!(next(session, |_| ()).is_some(), "what was taken makes room");
        assert_eq!(signal_of(session), Some(5));
        assert_eq!((begin_end(session), reader_is_late()), (Some(5), false), "it has read");
        assert_eq!(close(session), Some(5));
        assert_eq!((close(session), kind.is_wanted()), (None, false));

        let of_any_level = open(OWN.0, LOG_ALWAYS, 1000, 6);
        post_own(RuntimeEventLevel::Verbose, "e");
        assert!(next(of_any_level, |_| ()).is_some());
        close(of_any_level);

        let unread = open(OWN.0, RuntimeEventLevel::Informational as u32, 0, 6);
        assert!(!reader_is_late());
        assert_eq!((begin_end(unread), reader_is_late()), (Some(6), true));
        assert_eq!((close(unread), reader_is_late()), (Some(6), false));
    }
}

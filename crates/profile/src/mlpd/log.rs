//! A log that is written while the program runs: each thread's events go into a buffer of its own, and full buffers to
//! the file.
//!
//! ```text
//!   write → shard of the thread → full? → sink ← first the metadata that was written since
//!   write_metadata → metadata buffer   ↗
//! ```
//!
//! Readers treat a class or a vtable that is named before its description as unknown, so descriptions have their own
//! buffer, which goes to the file before any other. Memory is bounded by `BUFFER_BYTES` for each thread that has events
//! since the last `flush`.
//!
//! Locks, in this order: a shard, the sink, the metadata. `write` holds its shard while the sink takes a full buffer: a
//! slow reader at the other end of a pipe slows the program down, as under Mono. Invariant: a buffer is written whole
//! or not at all, by one call; after a failure nothing is written any more, and the failure is kept for callers that
//! ask.

use super::buffer::{BUFFER_BYTES, Buffer, Header};
use super::event;
use rustc_hash::FxHashMap;
use saki_base::locks::{Mutex, MutexGuard, rank};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Threads that write at once seldom meet.
const SHARDS: usize = 32;

/// The destination of a log; it is ended once, so that the end of the file can be written.
pub trait Sink: Write + Send {
    /// # Errors
    /// The last bytes could not be written.
    fn end(self: Box<Self>) -> io::Result<()>;
}

/// The events that a thread has written since its last buffer went to the file, and its state.
pub struct ThreadLog {
    pub buffer: Buffer,
    /// The number of calls under way.
    pub call_depth: u32,
}

/// See the module header.
pub struct LogWriter {
    shards: [Mutex<rank::LogShard, FxHashMap<u64, ThreadLog>>; SHARDS],
    metadata: Mutex<rank::LogMetadata, Buffer>,
    sink: Mutex<rank::LogSink, SinkState>,
    /// Relaxed: a hint for writers; the sink is gone under its lock.
    has_ended: AtomicBool,
}

struct SinkState {
    sink: Option<Box<dyn Sink>>,
    error: Option<io::Error>,
    scratch: Vec<u8>,
}

fn lock<R: rank::Rank, T>(mutex: &Mutex<R, T>) -> MutexGuard<'_, R, T> {
    mutex.lock()
}

impl LogWriter {
    /// Writes the header. `metadata_thread` stands for the thread that descriptions come from.
    pub fn new(sink: Box<dyn Sink>, header: &Header<'_>, metadata_thread: u64) -> LogWriter {
        let writer = LogWriter {
            shards: std::array::from_fn(|_| Mutex::default()),
            metadata: Mutex::new(Buffer::new(header.start_ns, metadata_thread)),
            sink: Mutex::new(SinkState { sink: Some(sink), error: None, scratch: Vec::new() }),
            has_ended: AtomicBool::new(false),
        };
        let mut state = lock(&writer.sink);
        header.write(&mut state.scratch);
        writer.write_scratch(&mut state);
        drop(state);
        writer
    }

    /// Whether nothing is written any more, since the log was ended or could not be written.
    pub fn has_ended(&self) -> bool {
        // Relaxed: a hint; the sink is gone under its lock.
        self.has_ended.load(Ordering::Relaxed)
    }

    /// Adds events of a thread. `add` must not write to the log itself.
    pub fn write<R>(&self, thread: u64, add: impl FnOnce(&mut ThreadLog) -> R) -> R {
        let mut shard = lock(&self.shards[thread as usize % SHARDS]);
        let log = shard.entry(thread).or_insert_with(|| ThreadLog { buffer: Buffer::new(0, thread), call_depth: 0 });
        let result = add(log);
        if log.buffer.payload.len() >= BUFFER_BYTES {
            self.send(&mut log.buffer);
        }
        result
    }

    /// Adds descriptions, which are in the file before events written later.
    pub fn write_metadata(&self, add: impl FnOnce(&mut Buffer)) {
        let mut metadata = lock(&self.metadata);
        add(&mut metadata);
        if metadata.payload.len() >= BUFFER_BYTES {
            drop(metadata);
            self.with_sink(|_| {});
        }
    }

    /// Sends all that was written.
    pub fn flush(&self) {
        for shard in &self.shards {
            for log in lock(shard).values_mut() {
                self.send(&mut log.buffer);
            }
        }
        self.with_sink(|_| {});
    }

    /// A thread has ended: nothing is kept for it.
    pub fn forget_thread(&self, thread: u64) {
        let ended = lock(&self.shards[thread as usize % SHARDS]).remove(&thread);
        if let Some(mut log) = ended {
            self.send(&mut log.buffer);
        }
    }

    /// Tells readers that events before `time_ns` are all in the file. After `flush`.
    pub fn sync_point(&self, kind: u8, time_ns: u64) {
        let thread = lock(&self.metadata).thread;
        let mut buffer = Buffer::new(time_ns, thread);
        buffer.event(event::SYNC_POINT, time_ns).byte(kind);
        self.send(&mut buffer);
    }

    /// Ends the log; returns the first failure since it began.
    ///
    /// # Errors
    /// The sink's.
    pub fn end(&self) -> io::Result<()> {
        self.flush();
        self.has_ended.store(true, Ordering::Relaxed);
        let mut state = lock(&self.sink);
        let ended = state.sink.take().map_or(Ok(()), |sink| sink.end());
        state.error.take().map_or(ended, Err)
    }

    fn send(&self, buffer: &mut Buffer) {
        if buffer.payload.is_empty() {
            return;
        }
        self.with_sink(|scratch| buffer.take(scratch));
    }

    /// Sends the metadata, then what `add` has appended.
    fn with_sink(&self, add: impl FnOnce(&mut Vec<u8>)) {
        let mut state = lock(&self.sink);
        lock(&self.metadata).take(&mut state.scratch);
        add(&mut state.scratch);
        self.write_scratch(&mut state);
    }

    fn write_scratch(&self, state: &mut SinkState) {
        let SinkState { sink, error, scratch } = state;
        let written = sink.as_mut().map_or(Ok(()), |sink| sink.write_all(scratch));
        scratch.clear();
        if let Err(why) = written {
            self.has_ended.store(true, Ordering::Relaxed);
            *sink = None;
            *error = Some(why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::{BUFFER_ID, HEADER_ID};
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Takes so many bytes.
    struct Room(Arc<Mutex<Vec<u8>>>, usize);

    impl Write for Room {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut held = self.0.lock().unwrap();
            if held.len() + bytes.len() > self.1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            held.extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Sink for Room {
        fn end(self: Box<Self>) -> io::Result<()> {
            Ok(())
        }
    }

    fn log(room_bytes: usize) -> (LogWriter, Arc<Mutex<Vec<u8>>>) {
        let held = Arc::new(Mutex::new(Vec::new()));
        let header = Header { arguments: "log", port: 0, start_unix_ns: 1, start_ns: 1 };
        (LogWriter::new(Box::new(Room(held.clone(), room_bytes)), &header, 7), held)
    }

    /// The threads of a file's buffers.
    fn buffers(bytes: &[u8]) -> Vec<u64> {
        assert_eq!(bytes[..4], HEADER_ID.to_le_bytes());
        let mut at = 38 + "log\0x86-64\0linux\0".len() + 12;
        let mut threads = Vec::new();
        while at < bytes.len() {
            assert_eq!(bytes[at..at + 4], BUFFER_ID.to_le_bytes());
            threads.push(u64::from_le_bytes(bytes[at + 32..at + 40].try_into().unwrap()));
            at += 48 + u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        }
        assert_eq!(at, bytes.len());
        threads
    }

    #[test]
    fn descriptions_come_before_what_names_them() {
        let (log, held) = log(usize::MAX);
        log.write(1, |log| _ = log.buffer.event(event::ALLOCATION, 5).pointer(3).object(8).number(8));
        log.write_metadata(|buffer| _ = buffer.event(event::METADATA_LOAD, 6).byte(4).pointer(3));
        log.flush();
        log.write(33, |log| _ = log.buffer.event(event::FINALIZERS_START, 9));
        log.forget_thread(33);
        log.sync_point(event::sync_point::PERIODIC, 10);
        log.end().unwrap();
        assert_eq!(buffers(&held.lock().unwrap()), [7, 1, 33, 7]);
    }

    #[test]
    fn full_buffers_go_to_the_file_while_events_are_written() {
        let (log, held) = log(usize::MAX);
        for time in 0..200_000 {
            log.write(1, |log| _ = log.buffer.event(event::ENTER, time).method(time));
        }
        assert!(held.lock().unwrap().len() > BUFFER_BYTES);
        log.end().unwrap();
        assert!(buffers(&held.lock().unwrap()).len() > 5);
    }

    #[test]
    fn a_full_disk_ends_the_log_with_whole_buffers() {
        let (log, held) = log(3 * BUFFER_BYTES);
        for time in 0..200_000 {
            log.write(1, |log| _ = log.buffer.event(event::ENTER, time).method(time));
        }
        assert!(log.has_ended());
        assert_eq!(log.end().unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(buffers(&held.lock().unwrap()), [1, 1]);
    }
}

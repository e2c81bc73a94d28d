//! The OS threads that are sampled: a ring and a timer for each, found by number.
//!
//! | `native_id` of a record | from → to | who moves it | ordering |
//! |---|---|---|---|
//! | 0 → id | the record is an OS thread's | `arm`, before the timer begins | Release; the handler's load is Acquire |
//! | id → 0 | the OS thread ends | `disarm`, after the timer is gone | Release; the reader's load is Acquire: it sees the last sample |
//!
//! | `RECORDS[n]` | null → record | `arm` under the lock of the free ones, before a timer has the number | Release; `record` loads with Acquire |
//!
//! Invariant: a handler writes to a record's ring only on the OS thread whose id the record has, so that there is one
//! writer, also when a signal of a timer that is gone comes late. Records are never freed; one is reused when its
//! thread has ended, no handler has it, and the reader has emptied its ring. A handler marks the record (`busy`) and
//! then looks at its id, the reader finds no id and then looks at the mark, with a SeqCst fence between the two on both
//! sides: either the handler sees that the record is not its thread's any more, or the reader sees the handler. OS
//! threads without a record (beyond `MAX_RECORDS`) or a timer are not sampled; their number is counted.

use saki_base::locks::{Mutex, rank};
use saki_os::{ThreadTimer, TimerClock, TimerSetting};
use saki_sync::SampleRing;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use std::time::Duration;

const MAX_RECORDS: usize = 1 << 15;
/// Words of a ring for each sample per second: with 80 words a sample the ring holds the samples of 200 ms, for which
/// the reader may have to wait for a processor.
const RING_WORDS_A_HZ: usize = 16;
const MIN_RING_WORDS: usize = 1 << 12;
const MAX_RING_WORDS: usize = 1 << 17;
/// Bits of a timer's value that are the record's number; the others say that the timer is ours.
const NUMBER_BITS: u32 = 16;
/// "saki", shifted.
const OURS: usize = 0x7361_6b69 << NUMBER_BITS;

/// One OS thread.
pub struct ThreadRecord {
    pub native_id: AtomicU32,
    pub ring: SampleRing,
    /// Handlers that run; see `reader`.
    pub busy: AtomicU32,
    /// See `wall`.
    pub ticks: AtomicU32,
    /// Samples without room in the ring, by weight. Relaxed: a count.
    pub dropped: AtomicU64,
    number: usize,
}

static RECORDS: [AtomicPtr<ThreadRecord>; MAX_RECORDS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_RECORDS];
static RECORD_COUNT: AtomicUsize = AtomicUsize::new(0);
/// Numbers of the records that may be reused.
static FREE: Mutex<rank::FreeSampleRings, Vec<usize>> = Mutex::new(Vec::new());

/// OS threads that could not be sampled. Relaxed: a count.
pub static NOT_SAMPLED: AtomicU64 = AtomicU64::new(0);

/// A thread that is being sampled.
pub struct Armed {
    record: &'static ThreadRecord,
    timer: Option<ThreadTimer>,
}

impl ThreadRecord {
    /// The value that signals for the record's thread carry.
    pub fn value(&self) -> usize {
        OURS | self.number
    }

    /// Whether the record is the calling OS thread's. Async-signal-safe.
    pub fn is_of_this_thread(&self) -> bool {
        // Acquire: see the table.
        self.native_id.load(Ordering::Acquire) == saki_os::thread::native_id()
    }
}

impl Armed {
    pub fn record(&self) -> &'static ThreadRecord {
        self.record
    }
}

fn record(number: usize) -> Option<&'static ThreadRecord> {
    // Acquire: see the table.
    // SAFETY: null, or a record that is never freed.
    unsafe { RECORDS.get(number)?.load(Ordering::Acquire).as_ref() }
}

/// The record of the calling OS thread, by the value of the signal that it got. Async-signal-safe.
pub fn of_signal_value(value: usize) -> Option<&'static ThreadRecord> {
    if value & !((1 << NUMBER_BITS) - 1) != OURS {
        return None;
    }
    record(value & ((1 << NUMBER_BITS) - 1)).filter(|record| record.is_of_this_thread())
}

/// Whether a timer's value says that the timer is one of these.
pub fn is_ours(value: usize) -> bool {
    value & !((1 << NUMBER_BITS) - 1) == OURS
}

/// Begins to sample an OS thread, with a timer if there is a clock to count; with room for so many samples a second.
pub fn arm(native_id: u32, signal: i32, timer: Option<(TimerClock, Duration)>, hz: u32) -> Option<Armed> {
    let Some(record) = take_record(native_id, hz) else {
        NOT_SAMPLED.fetch_add(1, Ordering::Relaxed);
        return None;
    };
    let Some((clock, interval)) = timer else { return Some(Armed { record, timer: None }) };
    let value = record.value();
    let first = first_interval(interval);
    let timer = ThreadTimer::start(native_id, &TimerSetting { clock, signal, value, first, interval });
    if timer.is_err() {
        NOT_SAMPLED.fetch_add(1, Ordering::Relaxed);
    }
    Some(Armed { record, timer: timer.ok() })
}

/// Ends the timer. A signal that is still on its way finds the record without its thread.
pub fn disarm(armed: Armed) {
    drop(armed.timer);
    // Release: see the table.
    armed.record.native_id.store(0, Ordering::Release);
}

/// Under the lock throughout, so that the reader never mistakes a record that has just been taken for a free one.
fn take_record(native_id: u32, hz: u32) -> Option<&'static ThreadRecord> {
    let words = (hz as usize).saturating_mul(RING_WORDS_A_HZ).clamp(MIN_RING_WORDS, MAX_RING_WORDS).next_power_of_two();
    let mut free = FREE.lock();
    // Relaxed: it changes under the lock.
    let number = RECORD_COUNT.load(Ordering::Relaxed);
    let fitting = free.iter().position(|n| record(*n).is_some_and(|record| record.ring.capacity() >= words));
    let taken = match fitting.map(|place| free.swap_remove(place)) {
        Some(number) => record(number)?,
        None if number == MAX_RECORDS => return None,
        None => saki_base::leak(ThreadRecord {
            native_id: AtomicU32::new(0),
            ring: SampleRing::new(words),
            busy: AtomicU32::new(0),
            ticks: AtomicU32::new(0),
            dropped: AtomicU64::new(0),
            number,
        }),
    };
    // Release: see the table.
    taken.native_id.store(native_id, Ordering::Release);
    if taken.number == number {
        // Release: see the table.
        RECORDS[number].store(std::ptr::from_ref(taken).cast_mut(), Ordering::Release);
        RECORD_COUNT.store(number + 1, Ordering::Release);
    }
    Some(taken)
}

/// Uniform in the interval, so that a thread that lives for less has its fair chance of a sample.
fn first_interval(interval: Duration) -> Duration {
    let interval_ns = interval.as_nanos().max(1) as u64;
    Duration::from_nanos(1 + saki_os::random::number() % interval_ns)
}

/// Whether some handler runs. With the fence before it: see `reader`.
pub fn is_any_busy() -> bool {
    // Acquire: the records below the count are there.
    let mut records = (0..RECORD_COUNT.load(Ordering::Acquire)).filter_map(record);
    // Acquire: pairs with the handler's end: its sample is in the ring.
    records.any(|record| record.busy.load(Ordering::Acquire) != 0)
}

/// Calls `visit` for each record, those that may hold samples of ended threads included. For the one reader.
/// Records of ended threads are free again afterwards.
pub fn for_each_record(mut visit: impl FnMut(&'static ThreadRecord)) {
    let mut free = FREE.lock().clone();
    free.sort_unstable();
    // Acquire: the records below the count are there.
    for number in 0..RECORD_COUNT.load(Ordering::Acquire) {
        if free.binary_search(&number).is_ok() {
            continue;
        }
        let Some(record) = record(number) else { continue };
        // Acquire: before the ring is looked at; see the table.
        let has_ended = record.native_id.load(Ordering::Acquire) == 0;
        // SeqCst: see the module header.
        fence(Ordering::SeqCst);
        // Acquire: pairs with the handler's end: its sample is in the ring.
        let is_busy = record.busy.load(Ordering::Acquire) != 0;
        visit(record);
        if has_ended && !is_busy {
            FREE.lock().push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the reader looks at the record, which is free afterwards if it may be.
    fn is_visited(wanted: &ThreadRecord) -> bool {
        let mut is_found = false;
        for_each_record(|record| is_found |= std::ptr::eq(record, wanted));
        is_found
    }

    #[test]
    fn a_record_is_not_reused_while_a_handler_has_it() {
        let armed = arm(saki_os::thread::native_id(), libc::SIGPROF, None, 100).unwrap();
        let record = armed.record();
        assert!(of_signal_value(record.value()).is_some_and(|found| std::ptr::eq(found, record)));
        // As a handler does, in which the thread is when the session ends.
        record.busy.fetch_add(1, Ordering::Relaxed);
        disarm(armed);
        assert!(is_visited(record) && is_visited(record), "the handler may write a sample yet");
        record.busy.fetch_sub(1, Ordering::Release);
        assert!(is_visited(record), "the sample is taken");
        assert!(!is_visited(record), "the record is free");
        assert!(of_signal_value(record.value()).is_none());
    }
}

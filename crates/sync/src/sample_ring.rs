//! A ring of records of words: a signal handler writes, one reader takes them out. Neither waits for the other.
//!
//! A record is a word with its length in words, itself included, and its contents. The writer appends words of an
//! unfinished record behind `written` and publishes all of them at once, or gives the record up by not publishing; when
//! the ring is full the new record is dropped, never an older one.
//!
//! | word | from → to | who moves it | ordering |
//! |---|---|---|---|
//! | `written` | n → n + record | the writer, when the record is whole | Release; the reader's load is Acquire: it sees the record's words |
//! | `taken` | n → n + record | the reader, when it has copied the record | Release; the writer's load is Acquire: the words that it overwrites have been read |
//! | a slot | | the writer, between `written` and `taken` + capacity | Relaxed, ordered by the two above |
//!
//! Invariant: one writer and one reader at a time; a thread that hands either role to another must order the two
//! itself.
//! Both sides are wait-free and async-signal-safe. Counts of words wrap around. Left out: the meaning of records.

use crate::facade::atomic::{AtomicU64, AtomicUsize, Ordering};

/// See the module header.
pub struct SampleRing {
    slots: Box<[AtomicU64]>,
    written: AtomicUsize,
    taken: AtomicUsize,
}

/// A record that is being written; dropped without `finish` it was never there.
pub struct SampleRecord<'a> {
    ring: &'a SampleRing,
    /// The position of its first word.
    start: usize,
    len: usize,
    /// Words that are free, from `start`.
    room: usize,
}

/// Pages that are never written to take no memory.
#[cfg(not(loom))]
fn zeroed_slots(count: usize) -> Box<[AtomicU64]> {
    let words = Box::into_raw(vec![0_u64; count].into_boxed_slice());
    // SAFETY: atomic words have the size and the bits of plain ones, and here the same alignment (64-bit machines
    // only).
    unsafe { Box::from_raw(words as *mut [AtomicU64]) }
}

#[cfg(loom)]
fn zeroed_slots(count: usize) -> Box<[AtomicU64]> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}

impl SampleRing {
    /// `capacity` words, a power of two.
    pub fn new(capacity: usize) -> SampleRing {
        assert!(capacity.is_power_of_two());
        SampleRing { slots: zeroed_slots(capacity), written: AtomicUsize::new(0), taken: AtomicUsize::new(0) }
    }

    fn slot(&self, at: usize) -> &AtomicU64 {
        &self.slots[at & (self.slots.len() - 1)]
    }

    /// Words.
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Begins a record. For the writer.
    pub fn begin(&self) -> SampleRecord<'_> {
        // Relaxed: the writer's own. Acquire: see the table.
        let start = self.written.load(Ordering::Relaxed);
        let used = start.wrapping_sub(self.taken.load(Ordering::Acquire));
        SampleRecord { ring: self, start, len: 1, room: self.slots.len() - used }
    }

    /// Takes the oldest record's contents out into `contents`, which is emptied first; false if there is none. For the
    /// reader.
    pub fn take(&self, contents: &mut Vec<u64>) -> bool {
        contents.clear();
        // Relaxed: the reader's own. Acquire: see the table.
        let start = self.taken.load(Ordering::Relaxed);
        if self.written.load(Ordering::Acquire) == start {
            return false;
        }
        let len = self.slot(start).load(Ordering::Relaxed) as usize;
        contents.extend((1..len).map(|index| self.slot(start.wrapping_add(index)).load(Ordering::Relaxed)));
        // Release: see the table.
        self.taken.store(start.wrapping_add(len), Ordering::Release);
        true
    }
}

impl SampleRecord<'_> {
    /// Appends a word; false if there is no room, and the record is to be given up.
    #[inline]
    pub fn push(&mut self, word: u64) -> bool {
        if self.len >= self.room {
            return false;
        }
        // Relaxed: `finish` publishes it.
        self.ring.slot(self.start.wrapping_add(self.len)).store(word, Ordering::Relaxed);
        self.len += 1;
        true
    }

    /// Replaces the contents' word `index`, which was pushed.
    pub fn set(&mut self, index: usize, word: u64) {
        debug_assert!(index + 1 < self.len);
        self.ring.slot(self.start.wrapping_add(index + 1)).store(word, Ordering::Relaxed);
    }

    /// Words pushed so far.
    pub fn len(&self) -> usize {
        self.len - 1
    }

    /// Whether the record has no words yet.
    pub fn is_empty(&self) -> bool {
        self.len == 1
    }

    /// Publishes the record; false if it does not fit.
    pub fn finish(self) -> bool {
        if self.room == 0 {
            return false;
        }
        self.ring.slot(self.start).store(self.len as u64, Ordering::Relaxed);
        // Release: see the table.
        self.ring.written.store(self.start.wrapping_add(self.len), Ordering::Release);
        true
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn write(ring: &SampleRing, words: &[u64]) -> bool {
        let mut record = ring.begin();
        words.iter().all(|word| record.push(*word)) && record.finish()
    }

    #[test]
    fn records_come_out_in_order_around_the_end() {
        let ring = SampleRing::new(8);
        let mut contents = Vec::new();
        for round in 0..20 {
            assert!(write(&ring, &[round, round + 1]) && write(&ring, &[]) && write(&ring, &[7, 8, round]));
            let mut next = || ring.take(&mut contents).then(|| contents.clone());
            assert_eq!(next(), Some(vec![round, round + 1]));
            assert_eq!(next(), Some(vec![]));
            assert_eq!(next(), Some(vec![7, 8, round]));
            assert_eq!(next(), None);
        }
    }

    #[test]
    fn a_record_that_does_not_fit_is_dropped_and_those_before_stay() {
        let ring = SampleRing::new(4);
        assert!(write(&ring, &[1, 2]));
        assert!(!write(&ring, &[3]));
        assert!(write(&ring, &[]) && !write(&ring, &[]));
        let mut contents = Vec::new();
        assert!(ring.take(&mut contents) && contents == [1, 2]);
        assert!(write(&ring, &[4, 5]));
    }
}

#[cfg(all(test, loom))]
mod models {
    //! The models fail when `written` or `taken` is stored without Release.
    use super::*;
    use crate::facade::{Arc, thread};
    use crate::model::{Section, Turns, explore};

    const CAPACITY: usize = 4;
    const RECORDS: u64 = 3;

    /// A ring and, for each slot, plain data that stands for its contents: loom reports no races of atomics.
    struct Shared {
        ring: SampleRing,
        plain: [Section; CAPACITY],
        turns: Turns,
    }

    fn write(shared: &Shared) {
        for value in 1..=RECORDS {
            shared.turns.pass();
            let mut record = shared.ring.begin();
            let at = record.start;
            if record.push(value) {
                shared.plain[at % CAPACITY].touch();
                assert!(record.finish());
            }
            shared.turns.pass();
        }
    }

    /// Checks the records read; at the end all that were written have been read.
    fn read(shared: &Shared, last: &mut u64) {
        let mut contents = Vec::new();
        let at = shared.ring.taken.load(Ordering::Relaxed);
        // Acquire: as in `take`.
        if shared.ring.written.load(Ordering::Acquire) != at {
            shared.plain[at % CAPACITY].get();
            assert!(shared.ring.take(&mut contents));
            assert!(contents.len() == 1 && contents[0] > *last && contents[0] <= RECORDS, "{contents:?}");
            *last = contents[0];
        }
    }

    #[test]
    fn model_records_are_whole_and_not_written_over() {
        explore(None, || {
            let shared = Arc::new(Shared {
                ring: SampleRing::new(CAPACITY),
                plain: Default::default(),
                turns: Turns::default(),
            });
            let other = shared.clone();
            let writer = thread::spawn(move || write(&other));
            let mut last = 0;
            for _ in 0..2 {
                shared.turns.pass();
                read(&shared, &mut last);
                shared.turns.pass();
            }
            writer.join().unwrap();
            for _ in 0..RECORDS {
                read(&shared, &mut last);
            }
            assert!(last >= 2, "the first two always fit");
        });
    }
}

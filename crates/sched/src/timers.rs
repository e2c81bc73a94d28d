//! Deadlines of one carrier: a hierarchy of wheels (Varghese and Lauck, "Hashed and hierarchical timing wheels", 1987).
//!
//! Time counts in ticks of 16.4 µs. Level 0 has a slot for each of the 64 ticks of the present block, level 1 for each
//! of the 64 blocks of that size, and so on. A timer stands in the level of the highest digit (of 6 bits) in which its
//! tick differs from `current`, in the slot of that digit, so that everything in a level comes before everything in the
//! next one. When `current` reaches a slot of a higher level, its timers move down: each at most seven times.
//!
//! A timer never expires early, and is late by a tick at most when `expire` is called in time. Inserting and cancelling
//! take the same few steps however many timers there are, and cancelling removes the entry at once.
//!
//! `next_deadline_ns` is `hint`, which changes with the lock held and is read without it: never later than the first
//! deadline (rounded up to its tick), and exact unless the first timer stands in a slot of a higher level with many
//! others; then `expire` finds no timer due, moves these timers down, and sets a later hint. Relaxed: a thread that
//! inserts into the timers of a carrier that may be asleep wakes the carrier (`IdleCarriers::wake`), which orders the
//! two.
//!
//! Invariant: an entry is in the list of the slot that it names, or in the free list; a slot's bit in `occupied` tells
//! whether its list is empty. Left out: clocks, and who calls `expire`: any thread may.

use saki_base::bug;
use saki_base::locks::rank;
use saki_sync::facade::atomic::{AtomicU64, Ordering};
use saki_sync::facade::{Mutex, lock};

/// Nanoseconds of a tick, as a power of two: a tenth of the worst time of waking a thread.
const TICK_SHIFT: u32 = 14;
/// Nanoseconds of a tick; deadlines are rounded up to whole ticks.
pub const TICK_NS: u64 = 1 << TICK_SHIFT;

const LEVEL_BITS: u32 = 6;
const SLOTS: usize = 1 << LEVEL_BITS;
/// 48 bits of ticks: 146 years since the machine was started.
const LEVELS: usize = 8;
const LAST_TICK: u64 = (1 << (LEVEL_BITS * LEVELS as u32)) - 1;

/// No entry, no slot.
const NONE: u32 = u32::MAX;
/// No deadline.
const NEVER: u64 = u64::MAX;

/// Timers that are handed out for each time that the lock is taken.
const EXPIRED_AT_ONCE: usize = 32;
/// How many timers of a slot are searched for the first.
const LOOKED_AT: usize = 8;

/// Names a timer until it has expired or is cancelled; afterwards no timer (before four billion others were in its
/// place).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TimerKey {
    index: u32,
    generation: u32,
}

struct Entry<T> {
    /// Neighbours in the circular list of the slot; of a free entry, `next` is the next free one.
    next: u32,
    previous: u32,
    /// When it expires.
    tick: u64,
    /// Number of the slot, over all levels.
    slot: u32,
    generation: u32,
    /// None: free.
    task: Option<T>,
}

struct Wheels<T> {
    entries: Vec<Entry<T>>,
    first_free: u32,
    len: usize,
    /// All timers of earlier ticks have expired.
    current: u64,
    /// A bit for each slot with timers.
    occupied: [u64; LEVELS],
    /// The first entry of each slot's list.
    first: [u32; LEVELS * SLOTS],
}

/// See the module header.
pub struct Timers<T> {
    wheels: Mutex<rank::Timers, Wheels<T>>,
    hint: AtomicU64,
}

impl<T> Default for Timers<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Timers<T> {
    /// A wheel without timers, at tick 0.
    pub fn new() -> Timers<T> {
        let wheels = Wheels {
            entries: Vec::new(),
            first_free: NONE,
            len: 0,
            current: 0,
            occupied: [0; LEVELS],
            first: [NONE; LEVELS * SLOTS],
        };
        Timers { wheels: Mutex::new(wheels), hint: AtomicU64::new(NEVER) }
    }

    /// Adds a timer that expires when the clock reaches `deadline_ns`.
    pub fn insert(&self, deadline_ns: u64, task: T) -> TimerKey {
        let mut wheels = lock(&self.wheels);
        // One that is late already expires with the next tick.
        let tick = deadline_ns.div_ceil(TICK_NS).min(LAST_TICK).max(wheels.current + 1);
        let key = wheels.add(tick, task);
        // Relaxed, here and below: see the module header.
        if tick << TICK_SHIFT < self.hint.load(Ordering::Relaxed) {
            self.hint.store(tick << TICK_SHIFT, Ordering::Relaxed);
        }
        key
    }

    /// Takes a timer out. False: it has expired or was cancelled; its task was handed out, or is about to be.
    pub fn cancel(&self, key: TimerKey) -> bool {
        let mut wheels = lock(&self.wheels);
        let is_there = wheels
            .entries
            .get(key.index as usize)
            .is_some_and(|entry| entry.generation == key.generation && entry.task.is_some());
        if !is_there {
            return false;
        }
        let tick = wheels.entries[key.index as usize].tick;
        wheels.remove(key.index);
        if tick << TICK_SHIFT == self.hint.load(Ordering::Relaxed) {
            self.hint.store(wheels.next_ns(), Ordering::Relaxed);
        }
        true
    }

    /// Hands out the tasks of all timers whose deadline is not after `now_ns`, earlier ticks first, and in order of
    /// insertion if they were inserted for the same tick from the same block on. Returns how many. The lock is not held
    /// during the calls.
    pub fn expire(&self, now_ns: u64, mut hand_out: impl FnMut(T)) -> usize {
        let mut total = 0;
        // Without timers the hint is NEVER.
        let now_ns = now_ns.min(NEVER - 1);
        while self.hint.load(Ordering::Relaxed) <= now_ns {
            let mut expired: [Option<T>; EXPIRED_AT_ONCE] = [const { None }; EXPIRED_AT_ONCE];
            let count = self.take_expired(now_ns >> TICK_SHIFT, &mut expired);
            for task in expired.into_iter().flatten() {
                hand_out(task);
            }
            total += count;
        }
        total
    }

    fn take_expired(&self, now: u64, expired: &mut [Option<T>]) -> usize {
        let mut wheels = lock(&self.wheels);
        let mut count = 0;
        while count < expired.len() {
            let Some(task) = wheels.take_due(now) else { break };
            expired[count] = Some(task);
            count += 1;
        }
        self.hint.store(wheels.next_ns(), Ordering::Relaxed);
        count
    }

    /// When `expire` should be called next: see the module header. `None`: there are no timers.
    #[inline]
    pub fn next_deadline_ns(&self) -> Option<u64> {
        Some(self.hint.load(Ordering::Relaxed)).filter(|&deadline| deadline != NEVER)
    }

    /// How many timers there are.
    pub fn len(&self) -> usize {
        lock(&self.wheels).len
    }

    /// Whether no timer runs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Wheels<T> {
    fn add(&mut self, tick: u64, task: T) -> TimerKey {
        let index = if self.first_free == NONE {
            if self.entries.len() == NONE as usize {
                bug!("{NONE} timers");
            }
            let entry = Entry { next: NONE, previous: NONE, tick, slot: NONE, generation: 0, task: Some(task) };
            self.entries.push(entry);
            (self.entries.len() - 1) as u32
        } else {
            let index = self.first_free;
            let entry = &mut self.entries[index as usize];
            self.first_free = entry.next;
            entry.tick = tick;
            entry.task = Some(task);
            index
        };
        self.len += 1;
        self.link(index);
        TimerKey { index, generation: self.entries[index as usize].generation }
    }

    /// Appends an entry to the list of the slot where it belongs now.
    fn link(&mut self, index: u32) {
        let tick = self.entries[index as usize].tick;
        debug_assert!(tick >= self.current);
        let digit = (tick ^ self.current | (SLOTS as u64 - 1)).ilog2() / LEVEL_BITS;
        let slot = digit as usize * SLOTS + (tick >> (digit * LEVEL_BITS)) as usize % SLOTS;
        self.occupied[digit as usize] |= 1 << (slot % SLOTS);
        let first = self.first[slot];
        let (next, previous) = if first == NONE {
            self.first[slot] = index;
            (index, index)
        } else {
            let last = self.entries[first as usize].previous;
            self.entries[last as usize].next = index;
            self.entries[first as usize].previous = index;
            (first, last)
        };
        let entry = &mut self.entries[index as usize];
        (entry.next, entry.previous, entry.slot) = (next, previous, slot as u32);
    }

    fn unlink(&mut self, index: u32) {
        let Entry { next, previous, slot, .. } = self.entries[index as usize];
        let slot = slot as usize;
        if next == index {
            self.first[slot] = NONE;
            self.occupied[slot / SLOTS] &= !(1 << (slot % SLOTS));
            return;
        }
        self.entries[previous as usize].next = next;
        self.entries[next as usize].previous = previous;
        if self.first[slot] == index {
            self.first[slot] = next;
        }
    }

    /// Unlinks and frees an entry.
    fn remove(&mut self, index: u32) -> Option<T> {
        self.unlink(index);
        let entry = &mut self.entries[index as usize];
        entry.generation = entry.generation.wrapping_add(1);
        entry.next = self.first_free;
        self.first_free = index;
        self.len -= 1;
        entry.task.take()
    }

    /// The first slot with timers, and its first tick.
    fn first_slot(&self) -> Option<(usize, u64)> {
        let level = self.occupied.iter().position(|&bits| bits != 0)?;
        let digit = u64::from(self.occupied[level].trailing_zeros());
        let shift = level as u32 * LEVEL_BITS;
        let block = self.current >> shift >> LEVEL_BITS << LEVEL_BITS;
        Some((level * SLOTS + digit as usize, (block | digit) << shift))
    }

    /// Takes one timer whose tick is not after `now`, having moved down what stands above it.
    fn take_due(&mut self, now: u64) -> Option<T> {
        while let Some((slot, tick)) = self.first_slot()
            && tick <= now
        {
            self.current = tick;
            if slot < SLOTS {
                return self.remove(self.first[slot]);
            }
            // In their order; none comes back into this slot.
            while self.first[slot] != NONE {
                let index = self.first[slot];
                self.unlink(index);
                self.link(index);
            }
        }
        self.current = self.current.max(now.min(LAST_TICK));
        None
    }

    /// See `next_deadline_ns`.
    fn next_ns(&self) -> u64 {
        let Some((slot, start)) = self.first_slot() else { return NEVER };
        let mut tick = u64::MAX;
        if slot >= SLOTS {
            let first = self.first[slot];
            let mut index = first;
            for _ in 0..LOOKED_AT {
                let entry = &self.entries[index as usize];
                tick = tick.min(entry.tick);
                index = entry.next;
                if index == first {
                    return tick << TICK_SHIFT;
                }
            }
        }
        start << TICK_SHIFT
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

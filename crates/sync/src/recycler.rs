//! Delayed reuse of freed items: an address must not get a new meaning soon after its old item was freed.
//!
//! A processor reuses items that were freed on it, since they are in its caches: oldest first, and each only after
//! `quarantine` others have been freed there. Surplus items spill to a shared list; a processor that runs short refills
//! from it.
//!
//! | place | meaning | leaves it when |
//! |---|---|---|
//! | waiting, on a processor | freed there, oldest first | more than `quarantine` wait: reused; many more: to spilled |
//! | spilled | waited long enough, for any processor | a processor has nothing else: to its ready ones |
//! | ready, on a processor | waited long enough | reused |
//!
//! A processor's lists are in a [`SlotPool`]; the spilled list is under a lock, which is taken once for many
//! items. Left out: an order between items that different processors freed; the quarantine of items for
//! which the pool had no slot.

use crate::slot_pool::SlotPool;
use saki_base::locks::{Mutex, rank};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many items of one kind move at once between a processor and the shared list.
const MOVED_AT_ONCE: usize = 32;

/// See the module header. Things of different kinds, numbers below `KINDS`, are kept apart.
pub struct Recycler<T: Copy + Send, const KINDS: usize> {
    /// So many of a kind are freed before the oldest is used again.
    quarantine: usize,
    places: SlotPool<Places<T, KINDS>>,
    spilled: [Spilled<T>; KINDS],
}

struct Places<T, const KINDS: usize>([Place<T>; KINDS]);

/// A processor's items of one kind.
struct Place<T> {
    waiting: VecDeque<T>,
    ready: Vec<T>,
}

impl<T, const KINDS: usize> Default for Places<T, KINDS> {
    fn default() -> Self {
        Places([const { Place { waiting: VecDeque::new(), ready: Vec::new() } }; KINDS])
    }
}

struct Spilled<T> {
    things: Mutex<rank::SpilledItems, Vec<T>>,
    /// Their number. Relaxed: a hint, so that threads take no lock when there is nothing.
    count: AtomicUsize,
}

impl<T: Copy + Send, const KINDS: usize> Recycler<T, KINDS> {
    pub const fn new(quarantine: usize) -> Recycler<T, KINDS> {
        Recycler {
            quarantine,
            places: SlotPool::new(),
            spilled: [const { Spilled { things: Mutex::new(Vec::new()), count: AtomicUsize::new(0) } }; KINDS],
        }
    }

    /// Frees items for reuse, each with its kind.
    pub fn free(&self, things: impl IntoIterator<Item = (usize, T)>) {
        let mut places = self.places.take().unwrap_or_default();
        for (kind, thing) in things {
            let waiting = &mut places.0[kind].waiting;
            waiting.push_back(thing);
            if waiting.len() >= self.quarantine + 2 * MOVED_AT_ONCE {
                self.spilled[kind].add(waiting.drain(..MOVED_AT_ONCE));
            }
        }
        self.give(places);
    }

    /// Frees many items of one kind, for immediate reuse on any processor.
    pub fn free_at_once(&self, kind: usize, things: impl IntoIterator<Item = T>) {
        self.spilled[kind].add(things.into_iter());
    }

    /// Something of a kind that may be used again.
    pub fn take(&self, kind: usize) -> Option<T> {
        let spilled = &self.spilled[kind];
        let mut places = match self.places.take() {
            Some(places) => places,
            None if spilled.has_some() => Box::default(),
            None => return None,
        };
        let Place { waiting, ready } = &mut places.0[kind];
        let thing = match ready.pop() {
            None if waiting.len() > self.quarantine => waiting.pop_front(),
            None if spilled.has_some() => {
                spilled.fill(ready);
                ready.pop()
            }
            found => found,
        };
        self.give(places);
        thing
    }

    fn give(&self, places: Box<Places<T, KINDS>>) {
        // No slot is free: for any processor.
        if let Err(places) = self.places.give_or_keep(places) {
            for (place, spilled) in places.0.into_iter().zip(&self.spilled) {
                if !(place.ready.is_empty() && place.waiting.is_empty()) {
                    spilled.add(place.ready.into_iter().chain(place.waiting));
                }
            }
        }
    }
}

impl<T> Spilled<T> {
    fn has_some(&self) -> bool {
        // Relaxed: a hint.
        self.count.load(Ordering::Relaxed) > 0
    }

    fn add(&self, more: impl Iterator<Item = T>) {
        let mut things = self.things.lock();
        things.extend(more);
        // Relaxed, here and below: a hint.
        self.count.store(things.len(), Ordering::Relaxed);
    }

    fn fill(&self, ready: &mut Vec<T>) {
        let mut things = self.things.lock();
        let first = things.len().saturating_sub(MOVED_AT_ONCE);
        ready.extend(things.drain(first..));
        self.count.store(things.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps the test's thread on one processor.
    fn stay_here() {
        // SAFETY: a set of bits that zeroes are valid for, used by these calls alone.
        let result = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(libc::sched_getcpu().unsigned_abs() as usize, &mut set);
            libc::sched_setaffinity(0, size_of_val(&set), &set)
        };
        assert_eq!(result, 0, "sched_setaffinity: {}", std::io::Error::last_os_error());
    }

    #[test]
    fn the_oldest_is_used_again_after_its_quarantine() {
        stay_here();
        let recycler: Recycler<u32, 2> = Recycler::new(3);
        assert_eq!(recycler.take(0), None);
        recycler.free([(0, 1), (0, 2), (0, 3), (1, 9)]);
        assert_eq!(recycler.take(0), None, "still in quarantine");
        recycler.free([(0, 4)]);
        assert_eq!(recycler.take(0), Some(1));
        assert_eq!(recycler.take(0), None);
        assert_eq!(recycler.take(1), None);
    }

    #[test]
    fn what_one_place_does_not_use_another_gets() {
        static RECYCLER: Recycler<usize, 1> = Recycler::new(4);
        const FREED: usize = 1000;
        std::thread::spawn(|| RECYCLER.free((0..FREED).map(|thing| (0, thing)))).join().unwrap();
        let mut got: Vec<_> = std::iter::from_fn(|| RECYCLER.take(0)).collect();
        assert!(got.len() >= FREED - 4 - 2 * MOVED_AT_ONCE, "{}", got.len());
        got.sort_unstable();
        got.dedup();
        assert!(got.len() >= FREED - 4 - 2 * MOVED_AT_ONCE, "some twice");
    }
}

//! Monitors by index, as inflated sync words name them.
//!
//! Invariant: an entry never moves; index 0 is never used; an entry belongs to the object whose address it holds, and is
//! free when that is 0. Buckets double and are installed under the free-list lock; looking up takes no lock. Left out:
//! deciding when an object is dead or a monitor should deflate (the collector, with the world stopped).

use crate::facade::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use crate::facade::{Mutex, lock};
use crate::monitor::Monitor;
use crate::thin_lock::MAX_OWNER;

const FIRST_BUCKET_LEN: u32 = 64;
const BUCKET_COUNT: usize = 18;
/// The buckets' room; below `MAX_OWNER`, so that every index fits into a sync word.
const MAX_INDEX: u32 = FIRST_BUCKET_LEN * ((1 << BUCKET_COUNT) - 1) - 1;
const _: () = assert!(MAX_INDEX <= MAX_OWNER);
/// Retired monitors between two collections; about 200 bytes each.
const MAX_RETIRED: u32 = 4096;

/// A monitor and the object it belongs to. Aligned, so that monitors of different objects share no cache line.
#[derive(Default)]
#[repr(align(64))]
pub struct MonitorEntry {
    pub monitor: Monitor,
    /// Address of the object, 0 = free entry. The collector updates it when the object moves.
    pub object: AtomicUsize,
}

/// See the module header.
pub struct MonitorTable {
    buckets: [AtomicPtr<MonitorEntry>; BUCKET_COUNT],
    /// Indices below this were handed out at least once.
    used: AtomicU32,
    /// Retired monitors, whose entries the next collection frees.
    retired: AtomicU32,
    free: Mutex<Vec<u32>>,
}

/// What compiled code has to know to find an entry. With `scaled = (index >> FIRST_BUCKET_SHIFT) + 1` and
/// `bucket = ilog2(scaled)`, the entry is number `index + first - (first << bucket)` of the bucket whose address is at
/// `BUCKETS_OFFSET + 8 * bucket` of the table, where `first = 1 << FIRST_BUCKET_SHIFT`.
#[cfg(not(loom))]
pub mod layout {
    pub const BUCKETS_OFFSET: usize = std::mem::offset_of!(super::MonitorTable, buckets);
    pub const FIRST_BUCKET_SHIFT: u32 = super::FIRST_BUCKET_LEN.trailing_zeros();
    pub const ENTRY_BYTES: usize = size_of::<super::MonitorEntry>();
    pub const MONITOR_OFFSET: usize = std::mem::offset_of!(super::MonitorEntry, monitor);
    const _: () = assert!(super::FIRST_BUCKET_LEN.is_power_of_two() && ENTRY_BYTES.is_power_of_two());
}

impl Default for MonitorTable {
    fn default() -> Self {
        Self::new()
    }
}

#[inline]
fn place(index: u32) -> (usize, usize) {
    let scaled = index / FIRST_BUCKET_LEN + 1;
    let bucket = scaled.ilog2();
    let first = FIRST_BUCKET_LEN * ((1 << bucket) - 1);
    (bucket as usize, (index - first) as usize)
}

impl MonitorTable {
    #[cfg(not(loom))]
    pub const fn new() -> MonitorTable {
        MonitorTable {
            buckets: [const { AtomicPtr::new(std::ptr::null_mut()) }; BUCKET_COUNT],
            used: AtomicU32::new(1),
            retired: AtomicU32::new(0),
            free: Mutex::new(Vec::new()),
        }
    }

    #[cfg(loom)]
    pub fn new() -> MonitorTable {
        MonitorTable {
            buckets: std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut())),
            used: AtomicU32::new(1),
            retired: AtomicU32::new(0),
            free: Mutex::new(Vec::new()),
        }
    }

    /// The entry of an index handed out by `allocate`.
    #[inline]
    pub fn get(&self, index: u32) -> &MonitorEntry {
        let (bucket, offset) = place(index);
        // Acquire pairs with the Release in `allocate`.
        let base = self.buckets[bucket].load(Ordering::Acquire);
        assert!(!base.is_null(), "monitor index {index} was never handed out");
        // SAFETY: the bucket has `FIRST_BUCKET_LEN << bucket` entries, `offset` is below that by `place`; never freed
        // before the table.
        unsafe { &*base.add(offset) }
    }

    /// Takes a free entry for an object. `bug!` when all of about 2^24 are in use.
    pub fn allocate(&self, object: usize) -> u32 {
        let mut free = lock(&self.free);
        let index = free.pop().unwrap_or_else(|| {
            let index = self.used.load(Ordering::Relaxed);
            if index > MAX_INDEX {
                saki_base::bug!("more than {MAX_INDEX} inflated monitors");
            }
            let (bucket, _) = place(index);
            // Relaxed: under the lock.
            if self.buckets[bucket].load(Ordering::Relaxed).is_null() {
                let len = (FIRST_BUCKET_LEN as usize) << bucket;
                let entries: Box<[MonitorEntry]> = (0..len).map(|_| MonitorEntry::default()).collect();
                // Release publishes the initialised entries.
                self.buckets[bucket].store(Box::into_raw(entries).cast(), Ordering::Release);
            }
            // Release pairs with the Acquire in `for_each`: the bucket is there.
            self.used.store(index + 1, Ordering::Release);
            index
        });
        drop(free);
        self.get(index).object.store(object, Ordering::Release);
        index
    }

    /// Gives an entry back. Its monitor is idle, and no sync word names it any more.
    pub fn free(&self, index: u32) {
        let entry = self.get(index);
        entry.monitor.prepare(0, 0);
        entry.object.store(0, Ordering::Release);
        lock(&self.free).push(index);
    }

    /// Whether one more monitor may be retired before the next collection.
    #[inline]
    pub fn may_retire(&self) -> bool {
        // Relaxed: a bound that need not be exact.
        self.retired.load(Ordering::Relaxed) < MAX_RETIRED
    }

    pub fn note_retired(&self) {
        self.retired.fetch_add(1, Ordering::Relaxed);
    }

    /// The retired entries have been freed.
    pub fn forget_retired(&self) {
        self.retired.store(0, Ordering::Relaxed);
    }

    /// Calls `visit` for every entry in use; `visit` may free the entry.
    pub fn for_each(&self, mut visit: impl FnMut(u32, &MonitorEntry)) {
        for index in 1..self.used.load(Ordering::Acquire) {
            let entry = self.get(index);
            if entry.object.load(Ordering::Acquire) != 0 {
                visit(index, entry);
            }
        }
    }

    /// Entries in use.
    pub fn in_use(&self) -> usize {
        let mut count = 0;
        self.for_each(|_, _| count += 1);
        count
    }
}

impl Drop for MonitorTable {
    fn drop(&mut self) {
        for (bucket, base) in self.buckets.iter().enumerate() {
            let base = base.load(Ordering::Acquire);
            if !base.is_null() {
                let len = (FIRST_BUCKET_LEN as usize) << bucket;
                // SAFETY: made by `allocate` from a boxed slice of this length; `&mut self` excludes users.
                drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(base, len)) });
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_place_and_are_reused() {
        let table = MonitorTable::new();
        let indices: Vec<u32> = (1..=1000).map(|o| table.allocate(o * 8)).collect();
        assert!(indices.iter().enumerate().all(|(i, x)| table.get(*x).object.load(Ordering::Relaxed) == (i + 1) * 8));
        assert_eq!(place(MAX_INDEX).0, BUCKET_COUNT - 1);
        table.free(indices[10]);
        assert_eq!(table.in_use(), 999);
        assert_eq!(table.allocate(8), indices[10]);
    }
}

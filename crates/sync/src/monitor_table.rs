//! Monitors by index, as inflated sync words name them.
//!
//! The table is one array in address space reserved for it; a page takes memory when its entries are first used.
//! Compiled code finds an entry by two shifts and one addition. The length of this path matters, because its loads wait
//! for the barrier of the last compare-and-swap.
//!
//! Invariant: an entry never moves; index 0 is never used; an entry belongs to the object whose address it holds, and
//! is free when that is 0. Looking up takes no lock. Left out: deciding when an object is dead or a monitor should
//! deflate (the collector, with the world stopped).
//!
//! Rejected: buckets that double (as the handle table has): the path to an entry was twice as long.

use crate::facade::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use crate::facade::{Mutex, lock};
use crate::monitor::Monitor;
#[cfg(not(loom))]
use crate::thin_lock::MAX_OWNER;
use saki_base::locks::rank;

/// Entries that there is room for: as many as a sync word can name, 1 GiB of address space. Less where that is not to
/// be had.
#[cfg(not(loom))]
const MAX_ENTRIES: usize = MAX_OWNER as usize + 1;
/// The least that will do.
#[cfg(not(loom))]
const MIN_ENTRIES: usize = 1 << 12;
/// The part of scarce address space that the entries may ask for.
#[cfg(not(loom))]
const ROOM_SHARE: usize = 64;
#[cfg(loom)]
const MAX_ENTRIES: usize = 32;
/// Retired monitors between two collections; about 200 bytes each.
const MAX_RETIRED: u32 = 4096;

/// A monitor and the object it belongs to. Aligned, so that monitors of different objects share no cache line.
#[derive(Default)]
#[repr(C, align(64))]
pub struct MonitorEntry {
    /// The monitor itself, which outlives its use by one object.
    pub monitor: Monitor,
    /// Address of the object, 0 = free entry. The collector updates it when the object moves.
    pub object: AtomicUsize,
}

/// See the module header.
pub struct MonitorTable {
    /// Null before there is room.
    entries: AtomicPtr<MonitorEntry>,
    /// Indices below this were handed out at least once; their entries are initialised.
    used: AtomicU32,
    /// Retired monitors, whose entries the next collection frees. Relaxed: a count that limits their number.
    retired: AtomicU32,
    free: Mutex<rank::FreeMonitors, Free>,
}

#[derive(Default)]
struct Free {
    indices: Vec<u32>,
    room: Option<Room>,
}

/// The memory of the entries.
#[cfg(not(loom))]
struct Room(saki_os::Reservation);
#[cfg(loom)]
struct Room(Box<[std::mem::MaybeUninit<MonitorEntry>]>);

#[cfg(not(loom))]
impl Room {
    fn new() -> Option<Room> {
        let entry_bytes = size_of::<MonitorEntry>();
        let [most, least] = [MAX_ENTRIES * entry_bytes, MIN_ENTRIES * entry_bytes];
        let mut len = saki_os::address_space::share_bytes(most, least, ROOM_SHARE) / entry_bytes;
        loop {
            match saki_os::Reservation::reserve_writable(len * entry_bytes) {
                Ok(reservation) => return Some(Room(reservation)),
                Err(_) if len > MIN_ENTRIES => len /= 2,
                Err(_) => return None,
            }
        }
    }

    fn entries(&mut self) -> *mut MonitorEntry {
        self.0.base().cast()
    }

    fn len(&self) -> usize {
        self.0.len_bytes() / size_of::<MonitorEntry>()
    }
}

#[cfg(loom)]
impl Room {
    fn new() -> Option<Room> {
        Some(Room(Box::new_uninit_slice(MAX_ENTRIES)))
    }

    fn entries(&mut self) -> *mut MonitorEntry {
        self.0.as_mut_ptr().cast()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// What compiled code knows of the layout.
#[cfg(not(loom))]
const _: () = {
    use saki_abi::monitor as known;
    assert!(size_of::<MonitorEntry>() == known::ENTRY_BYTES as usize);
    assert!(std::mem::offset_of!(MonitorEntry, monitor) == known::MONITOR_OFFSET as usize);
};

impl Default for MonitorTable {
    fn default() -> Self {
        Self::new()
    }
}

impl MonitorTable {
    /// A table without entries, which has no memory yet.
    #[cfg(not(loom))]
    pub const fn new() -> MonitorTable {
        MonitorTable {
            entries: AtomicPtr::new(std::ptr::null_mut()),
            used: AtomicU32::new(1),
            retired: AtomicU32::new(0),
            free: Mutex::new(Free { indices: Vec::new(), room: None }),
        }
    }

    /// A table without entries, which has no memory yet.
    #[cfg(loom)]
    pub fn new() -> MonitorTable {
        MonitorTable {
            entries: AtomicPtr::new(std::ptr::null_mut()),
            used: AtomicU32::new(1),
            retired: AtomicU32::new(0),
            free: Mutex::new(Free::default()),
        }
    }

    /// The entry of an index handed out by `allocate`.
    #[inline]
    pub fn get(&self, index: u32) -> &MonitorEntry {
        // Acquire pairs with the Release in `make_room`.
        let entries = self.entries.load(Ordering::Acquire);
        assert!(!entries.is_null(), "monitor index {index} was never handed out");
        // SAFETY: `allocate` has initialised the entries of the indices that it has handed out; never freed before the
        // table.
        unsafe { &*entries.add(index as usize) }
    }

    /// Takes a free entry for an object. `bug!` when all of about 2^23 are in use.
    pub fn allocate(&self, object: usize) -> u32 {
        let mut free = lock(&self.free);
        let index = match free.indices.pop() {
            Some(index) => index,
            None => self.add_entry(&mut free),
        };
        drop(free);
        // Release: pairs with the Acquire in `for_each`: the monitor is as `add_entry` or `free` left it.
        self.get(index).object.store(object, Ordering::Release);
        index
    }

    /// The address of entry 0, which need not exist. `bug!` without address space, which callers check first by
    /// `has_room`.
    #[cfg(not(loom))]
    pub fn entries_address(&self) -> usize {
        match self.make_room(&mut lock(&self.free)) {
            Some(room) => room.entries() as usize,
            None => saki_base::bug!("no address space for monitors"),
        }
    }

    /// Makes the room unless there is one already; whether there was address space for it.
    pub fn has_room(&self) -> bool {
        self.make_room(&mut lock(&self.free)).is_some()
    }

    fn make_room<'a>(&self, free: &'a mut Free) -> Option<&'a mut Room> {
        if free.room.is_none() {
            let mut room = Room::new()?;
            // Release publishes the memory; pairs with the Acquire in `get`.
            self.entries.store(room.entries(), Ordering::Release);
            free.room = Some(room);
        }
        free.room.as_mut()
    }

    /// Initialises one entry more.
    fn add_entry(&self, free: &mut Free) -> u32 {
        let Some(room) = self.make_room(free) else { saki_base::bug!("no address space for monitors") };
        // Relaxed: it changes under the lock, which is held.
        let index = self.used.load(Ordering::Relaxed);
        if index as usize >= room.len() {
            saki_base::bug!("more than {} inflated monitors", room.len() - 1);
        }
        // SAFETY: inside the room by the check above; no other thread has the index yet.
        unsafe { room.entries().add(index as usize).write(MonitorEntry::default()) };
        // Release pairs with the Acquire in `for_each`: the entry is initialised.
        self.used.store(index + 1, Ordering::Release);
        index
    }

    /// Gives an entry back. Its monitor is idle, and no sync word names it any more.
    pub fn free(&self, index: u32) {
        let entry = self.get(index);
        entry.monitor.prepare(0);
        // Release, as for other changes of the owner. Nothing depends on it: the next user gets the entry by the lock
        // below, and a walker that sees 0 leaves the entry alone.
        entry.object.store(0, Ordering::Release);
        lock(&self.free).indices.push(index);
    }

    /// Whether one more monitor may be retired before the next collection.
    #[inline]
    pub fn may_retire(&self) -> bool {
        // Relaxed: a bound that need not be exact.
        self.retired.load(Ordering::Relaxed) < MAX_RETIRED
    }

    /// A monitor was retired.
    pub fn note_retired(&self) {
        self.retired.fetch_add(1, Ordering::Relaxed);
    }

    /// The retired entries have been freed.
    pub fn forget_retired(&self) {
        self.retired.store(0, Ordering::Relaxed);
    }

    /// Calls `visit` for every entry in use; `visit` may free the entry.
    pub fn for_each(&self, mut visit: impl FnMut(u32, &MonitorEntry)) {
        // Acquire: pairs with the Release in `add_entry`: the entries are initialised. That of the object pairs with
        // the Release in `allocate`: the monitor is as it was then, or later.
        for index in 1..self.used.load(Ordering::Acquire) {
            let entry = self.get(index);
            if entry.object.load(Ordering::Acquire) != 0 {
                visit(index, entry);
            }
        }
    }

    /// A forked child does not have the threads that wait for monitors. There is no other thread.
    pub fn forget_waiters(&self) {
        self.for_each(|_, entry| entry.monitor.forget_waiters());
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
        // Acquire, here and below: as elsewhere, although `&mut self` has ordered all users before this.
        let entries = self.entries.load(Ordering::Acquire);
        for index in 1..self.used.load(Ordering::Acquire) {
            // SAFETY: initialised by `add_entry`; `&mut self` excludes users, and the room is dropped after this.
            unsafe { entries.add(index as usize).drop_in_place() };
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
        table.free(indices[10]);
        assert_eq!(table.in_use(), 999);
        assert_eq!(table.allocate(8), indices[10]);
    }
}

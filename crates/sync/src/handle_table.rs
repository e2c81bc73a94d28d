//! The lock-free table of GC handles.
//!
//! There is one array of tagged words per kind, in address space reserved for its greatest length and made writable
//! bucket by bucket, each twice the size of the last: growing copies nothing and loses no concurrent store, and a
//! slot's address follows from its number alone. The reservation is installed by CAS; a bucket is in use once
//! `bucket_count` includes it (fetch-max). Slots beyond the last bucket are read as free, so a number that is no handle
//! does no harm.
//!
//! ```text
//! slot    63    60 59           3 2 1       0
//!         [ gen   ][ object/domain ][0][valid][occupied]
//! handle  31 30  29 28                4 3   0
//!         [0][ kind ][      index      ][ gen ]     no handle has index 0
//! ```
//!
//! | state | valid | occupied | pointer | who leaves it |
//! |---|---|---|---|---|
//! | free | 0 | 0 | 0 | any thread: CAS Acquire to reserved, same generation |
//! | reserved | 1 | 0 | 0 | the one thread whose cache names it: Release store to allocated or expired, CAS to free |
//! | allocated | 1 | 1 | object (0 = null is stored as expired) | owner of the handle: CAS; collector: moves, expires |
//! | expired | 0 | 1 | domain | owner of the handle: CAS to allocated, reserved or free |
//!
//! A freed slot stays reserved in the cache of the carrier on which it was freed, while that cache has room; so
//! allocation after a free is one plain store, and carriers contend only when a cache runs empty or overflows. Freeing
//! adds 1 to the generation, so that a stale or doubly freed handle is refused (15 of 16 times when the slot was reused
//! a random number of times). The Release that stores an object pairs with the Acquire of `target`. The collector
//! changes slots only while the world is stopped, when no thread makes a handle, but one in native code may free one:
//! it changes slots by CAS, and leaves those that were freed. Readers return the object into a conservatively scanned
//! frame before their next safepoint.
//!
//! Left out: events for the profiler, the meaning of domains (an 8-byte aligned address below 2^60).

use crate::facade::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use saki_abi::handle::{GENERATION_MASK, GENERATION_SHIFT, OCCUPIED, SLOT_SHIFT as HANDLE_SLOT_SHIFT, VALID};
use std::cell::Cell;

const POINTER_MASK: usize = 0x0fff_ffff_ffff_fff8;

const HANDLE_GENERATION_MASK: u32 = 0xf;
const INDEX_BITS: u32 = 25;
/// Slots of a kind in the address space, more than its buckets together. Fewer where address space is scarce (`Room`).
#[cfg(not(loom))]
const KIND_STRIDE: usize = 1 << INDEX_BITS;
#[cfg(loom)]
const KIND_STRIDE: usize = 16;
/// Bytes of the slots that 32 bits can name.
#[cfg(not(loom))]
const WHOLE_ROOM_BYTES: usize = size_of::<AtomicUsize>() << (u32::BITS - HANDLE_SLOT_SHIFT);
/// Where address space is scarce, the table gets a share of it, but room for at least 32,768 handles of each kind.
#[cfg(not(loom))]
const MIN_ROOM_BYTES: usize = 1 << 20;
#[cfg(not(loom))]
const ROOM_SHARE: usize = 64;
const KIND_COUNT: usize = 4;

#[cfg(not(loom))]
const FIRST_BUCKET_LEN: usize = 512;
#[cfg(loom)]
const FIRST_BUCKET_LEN: usize = 2;
/// `INDEX_BITS` bits of index.
#[cfg(not(loom))]
const BUCKET_COUNT: u32 = 16;
#[cfg(loom)]
const BUCKET_COUNT: u32 = 3;
const _: () = assert!(capacity(BUCKET_COUNT) <= KIND_STRIDE);
/// Slots a thread takes for itself at a time; 512 bytes, so that threads rarely share a cache line.
#[cfg(not(loom))]
const STRIPE_LEN: usize = 64;
#[cfg(loom)]
const STRIPE_LEN: usize = 1;
/// Reserved slots a thread keeps per kind: one stripe.
const RECENT_LEN: usize = STRIPE_LEN;

/// How a handle refers to its object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum HandleKind {
    /// Cleared when the object becomes unreachable, before its finalizer.
    Weak = 0,
    /// Cleared when the object is gone, after its finalizer.
    WeakTrack = 1,
    Normal = 2,
    Pinned = 3,
}

impl HandleKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [HandleKind; 4] = [HandleKind::Weak, HandleKind::WeakTrack, HandleKind::Normal, HandleKind::Pinned];

    /// From `System.Runtime.InteropServices.GCHandleType`.
    pub fn from_number(number: u32) -> Option<HandleKind> {
        Self::ALL.get(number as usize).copied()
    }
}

/// A handle as managed code holds it; never 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Handle(std::num::NonZeroU32);

impl Handle {
    fn new(kind: HandleKind, index: usize, generation: usize) -> Handle {
        let slot = (kind as u32) << INDEX_BITS | index as u32;
        let bits = slot << HANDLE_SLOT_SHIFT | generation as u32;
        Handle(std::num::NonZeroU32::new(bits).expect("index 0 is no handle's"))
    }

    /// From the integer managed code holds; `None` when it cannot be a handle.
    pub fn from_bits(bits: u32) -> Option<Handle> {
        let handle = Handle(std::num::NonZeroU32::new(bits)?);
        (bits as i32 > 0 && handle.index() != 0).then_some(handle)
    }

    /// The handle as a number, as managed code has it.
    pub fn bits(self) -> u32 {
        self.0.get()
    }

    /// The kind of the handle.
    pub fn kind(self) -> HandleKind {
        HandleKind::ALL[(self.bits() >> (HANDLE_SLOT_SHIFT + INDEX_BITS)) as usize % KIND_COUNT]
    }

    fn index(self) -> usize {
        (self.bits() >> HANDLE_SLOT_SHIFT) as usize % (1 << INDEX_BITS)
    }

    fn generation(self) -> usize {
        (self.bits() & HANDLE_GENERATION_MASK) as usize
    }
}

/// The handle was freed, or never was one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StaleHandle;

/// A slot in use, as the collector sees it.
#[derive(Clone, Copy)]
pub struct HandleSlot<'a>(&'a AtomicUsize);

impl HandleSlot<'_> {
    /// The object's address; 0 when expired.
    pub fn object(self) -> usize {
        // Acquire: pairs with the Release that stored the object; see the module header.
        let word = self.0.load(Ordering::Acquire);
        if word & VALID != 0 { word & POINTER_MASK } else { 0 }
    }

    /// The domain's address of an expired slot; 0 when the slot has an object.
    pub fn expired_domain(self) -> usize {
        let word = self.0.load(Ordering::Acquire);
        if word & (VALID | OCCUPIED) == OCCUPIED { word & POINTER_MASK } else { 0 }
    }

    /// The object has moved; nothing happens if the handle was freed meanwhile. World stopped.
    pub fn set_object(self, object: usize) {
        self.replace(object | VALID | OCCUPIED);
    }

    /// The object has died; nothing happens if the handle was freed meanwhile. World stopped.
    pub fn expire(self, domain: usize) {
        self.replace(domain | OCCUPIED);
    }

    /// A thread in native code, for which the collector does not wait, may free the handle meanwhile: then the slot
    /// stays free.
    fn replace(self, new: usize) {
        // Relaxed: the collector knows what the word leads to.
        let mut seen = self.0.load(Ordering::Relaxed);
        while seen & OCCUPIED != 0 {
            // Release: publishes the object that has moved.
            let replaced =
                self.0.compare_exchange(seen, seen & GENERATION_MASK | new, Ordering::Release, Ordering::Relaxed);
            match replaced {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }
}

/// The slots that an OS thread has reserved. Only that thread uses it.
pub struct SlotCache {
    recent: [[Cell<u32>; RECENT_LEN]; 4],
    recent_len: [Cell<u32>; 4],
}

impl Default for SlotCache {
    fn default() -> Self {
        Self::new()
    }
}

impl SlotCache {
    pub const fn new() -> SlotCache {
        SlotCache {
            recent: [const { [const { Cell::new(0) }; RECENT_LEN] }; 4],
            recent_len: [const { Cell::new(0) }; 4],
        }
    }

    #[inline]
    fn pop(&self, kind: HandleKind) -> Option<usize> {
        let len = &self.recent_len[kind as usize];
        let top = len.get().checked_sub(1)?;
        len.set(top);
        Some(self.recent[kind as usize][top as usize].get() as usize)
    }

    #[inline]
    fn has_room(&self, kind: HandleKind) -> bool {
        (self.recent_len[kind as usize].get() as usize) < RECENT_LEN
    }

    /// There is room.
    #[inline]
    fn push(&self, kind: HandleKind, index: usize) {
        let len = &self.recent_len[kind as usize];
        self.recent[kind as usize][len.get() as usize].set(index as u32);
        len.set(len.get() + 1);
    }
}

/// Address space for the slots of all kinds.
#[cfg(not(loom))]
struct Room {
    memory: saki_os::Reservation,
    /// log₂ of the slots of a kind.
    stride_shift: u32,
}
#[cfg(loom)]
struct Room(Box<[AtomicUsize]>);

#[cfg(not(loom))]
fn room_bytes() -> usize {
    saki_os::address_space::share_bytes(WHOLE_ROOM_BYTES, MIN_ROOM_BYTES, ROOM_SHARE)
}

#[cfg(not(loom))]
impl Room {
    fn new() -> Option<Room> {
        // Readable, so that slots which were never written read as free; that takes no memory.
        let memory = saki_os::Reservation::reserve_readable(room_bytes()).ok()?;
        Some(Room { memory, stride_shift: kind_stride().ilog2() })
    }

    #[inline]
    fn stride_shift(&self) -> u32 {
        self.stride_shift
    }

    fn slots(&self) -> *const AtomicUsize {
        self.memory.base().cast()
    }

    /// Makes slots usable, which may be so already. `false` when there is no memory for them.
    fn commit(&self, first: usize, len: usize) -> bool {
        let page = saki_os::page_size_bytes();
        let start = first * size_of::<AtomicUsize>() / page * page;
        let end = ((first + len) * size_of::<AtomicUsize>()).next_multiple_of(page);
        self.memory.commit(start, end - start).is_ok()
    }
}

#[cfg(loom)]
impl Room {
    fn new() -> Option<Room> {
        Some(Room((0..KIND_COUNT * KIND_STRIDE).map(|_| AtomicUsize::new(0)).collect()))
    }

    fn stride_shift(&self) -> u32 {
        KIND_STRIDE.ilog2()
    }

    fn slots(&self) -> *const AtomicUsize {
        self.0.as_ptr()
    }

    fn commit(&self, _first: usize, _len: usize) -> bool {
        true
    }
}

struct KindCounts {
    bucket_count: AtomicU32,
    /// The next stripe to hand to a thread, modulo the number of stripes.
    next_stripe: AtomicUsize,
}

impl KindCounts {
    #[cfg(not(loom))]
    const fn new() -> KindCounts {
        KindCounts { bucket_count: AtomicU32::new(0), next_stripe: AtomicUsize::new(0) }
    }

    #[cfg(loom)]
    fn new() -> KindCounts {
        KindCounts { bucket_count: AtomicU32::new(0), next_stripe: AtomicUsize::new(0) }
    }
}

const fn capacity(bucket_count: u32) -> usize {
    FIRST_BUCKET_LEN * ((1 << bucket_count) - 1)
}

/// How many buckets fit into so many slots.
fn buckets_in(slots: usize) -> u32 {
    (1..=BUCKET_COUNT).rev().find(|&count| capacity(count) <= slots).unwrap_or(0)
}

/// Slots of each kind that there is room for, a power of two.
#[cfg(not(loom))]
fn kind_stride() -> usize {
    (room_bytes() / size_of::<AtomicUsize>() / KIND_COUNT).min(KIND_STRIDE)
}

#[cfg(loom)]
fn kind_stride() -> usize {
    KIND_STRIDE
}

/// The slots of one kind.
#[derive(Clone, Copy)]
struct KindTable<'a> {
    counts: &'a KindCounts,
    room: &'a AtomicPtr<Room>,
    kind: HandleKind,
}

impl<'a> KindTable<'a> {
    #[inline]
    fn slot(self, index: usize) -> Option<&'a AtomicUsize> {
        // Acquire pairs with the Release in `room`: the slots are initialised.
        let room = self.room.load(Ordering::Acquire);
        // SAFETY: null or a leaked box that stays as long as the table.
        let room = unsafe { room.as_ref()? };
        let shift = room.stride_shift();
        if index >> shift != 0 {
            return None;
        }
        // SAFETY: inside the room by the check above. Beyond the buckets in use slots are only read.
        Some(unsafe { &*room.slots().add(((self.kind as usize) << shift) + index) })
    }

    /// The room, made if no thread has made it. `None` without address space.
    fn make_room(self) -> Option<&'a Room> {
        let mut room = self.room.load(Ordering::Acquire);
        if room.is_null() {
            let fresh = Box::into_raw(Box::new(Room::new()?));
            // AcqRel: Release publishes the zeroed slots, Acquire shows the winner's.
            let installed =
                self.room.compare_exchange(std::ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire);
            room = match installed {
                Ok(_) => fresh,
                Err(winner) => {
                    // SAFETY: ours, never published.
                    drop(unsafe { Box::from_raw(fresh) });
                    winner
                }
            };
        }
        // SAFETY: a leaked box that stays as long as the table.
        Some(unsafe { &*room })
    }

    /// Adds a bucket unless another thread has since `seen` was read. `false` when the table is at its maximum.
    fn grow(self, seen: u32) -> bool {
        if seen == buckets_in(kind_stride()) {
            return false;
        }
        let Some(room) = self.make_room() else { return false };
        let first = ((self.kind as usize) << room.stride_shift()) + capacity(seen);
        if !room.commit(first, FIRST_BUCKET_LEN << seen) {
            return false;
        }
        // Release pairs with the Acquire load in `find_stripe`: the slots may be written.
        self.counts.bucket_count.fetch_max(seen + 1, Ordering::Release);
        true
    }

    /// Reserves the slot if it is free.
    fn try_reserve(self, index: usize) -> bool {
        let Some(slot) = self.slot(index).filter(|_| index != 0) else { return false };
        // Relaxed: only a guess, which the exchange checks.
        let seen = slot.load(Ordering::Relaxed);
        // Acquire pairs with the Release that freed it.
        seen & (OCCUPIED | VALID) == 0
            && slot.compare_exchange(seen, seen | VALID, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Fills an empty cache.
    #[cold]
    fn refill(self, cache: &SlotCache) -> Option<()> {
        while cache.recent_len[self.kind as usize].get() == 0 {
            let (first, end) = self.find_stripe()?;
            // The lowest index comes out first.
            for index in (first as usize..end as usize).rev() {
                if self.try_reserve(index) {
                    cache.push(self.kind, index);
                }
            }
        }
        Some(())
    }

    /// Claims a slot; returns (index, generation).
    #[inline]
    fn claim(self, word: usize, cache: &SlotCache) -> Option<(usize, usize)> {
        let index = match cache.pop(self.kind) {
            Some(index) => index,
            None => {
                self.refill(cache)?;
                cache.pop(self.kind)?
            }
        };
        let slot = self.slot(index)?;
        // Relaxed: no other thread changes a slot that this cache has reserved.
        let generation = slot.load(Ordering::Relaxed) & GENERATION_MASK;
        // Release publishes the object to readers of the handle.
        slot.store(generation | word, Ordering::Release);
        Some((index, generation >> GENERATION_SHIFT))
    }

    /// A stripe with a free slot. Grows when a contiguous half of the table is full, so a table that grows is at least
    /// half full, and the slots that a search finds are worth its cost.
    fn find_stripe(self) -> Option<(u32, u32)> {
        loop {
            let seen = self.counts.bucket_count.load(Ordering::Acquire);
            let stripes = capacity(seen) / STRIPE_LEN;
            let at_maximum = seen == buckets_in(kind_stride());
            let tries = if at_maximum { stripes } else { stripes.div_ceil(2) };
            for _ in 0..tries {
                // Relaxed: only spreads threads.
                let start = self.counts.next_stripe.fetch_add(1, Ordering::Relaxed) % stripes * STRIPE_LEN;
                let is_free =
                    |i| i != 0 && self.slot(i).is_some_and(|s| s.load(Ordering::Relaxed) & (OCCUPIED | VALID) == 0);
                if let Some(first) = (start..start + STRIPE_LEN).find(|i| is_free(*i)) {
                    return Some((first as u32, (start + STRIPE_LEN) as u32));
                }
            }
            if !self.grow(seen) {
                return None;
            }
        }
    }
}

/// See the module header.
pub struct HandleTable {
    room: AtomicPtr<Room>,
    kinds: [KindCounts; KIND_COUNT],
}

// A handle of 32 bits names the slots of all kinds and has a bit to spare.
#[cfg(not(loom))]
const _: () = assert!((KIND_COUNT * KIND_STRIDE) << HANDLE_SLOT_SHIFT == 1 << 31);
const _: () = assert!(HANDLE_GENERATION_MASK as usize == GENERATION_MASK >> GENERATION_SHIFT);

impl Default for HandleTable {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether tables are made with room for whatever 32 bits compiled code takes for a handle. Not where address space is
/// scarce.
#[cfg(not(loom))]
pub fn is_room_whole() -> bool {
    room_bytes() == WHOLE_ROOM_BYTES
}

impl HandleTable {
    #[cfg(not(loom))]
    pub const fn new() -> HandleTable {
        HandleTable { room: AtomicPtr::new(std::ptr::null_mut()), kinds: [const { KindCounts::new() }; KIND_COUNT] }
    }

    #[cfg(loom)]
    pub fn new() -> HandleTable {
        HandleTable { room: AtomicPtr::new(std::ptr::null_mut()), kinds: std::array::from_fn(|_| KindCounts::new()) }
    }

    #[inline]
    fn of_kind(&self, kind: HandleKind) -> KindTable<'_> {
        KindTable { counts: &self.kinds[kind as usize], room: &self.room, kind }
    }

    /// Makes the room unless there is one already; whether there was address space for it.
    pub fn has_room(&self) -> bool {
        self.of_kind(HandleKind::Weak).make_room().is_some()
    }

    /// The address of slot 0. `bug!` without address space, which callers check first by `has_room`.
    #[cfg(not(loom))]
    pub fn slots_address(&self) -> usize {
        match self.of_kind(HandleKind::Weak).make_room() {
            Some(room) => room.slots() as usize,
            None => saki_base::bug!("no address space for GC handles"),
        }
    }

    fn word(object: usize, domain: usize) -> usize {
        debug_assert!(object & !POINTER_MASK == 0 && domain & !POINTER_MASK == 0);
        if object != 0 { object | VALID | OCCUPIED } else { domain | OCCUPIED }
    }

    /// Makes a handle for an object (0 = null). `None` when nearly 2^25 handles of the kind are in use.
    #[inline]
    pub fn allocate(&self, kind: HandleKind, object: usize, domain: usize, cache: &SlotCache) -> Option<Handle> {
        let (index, generation) = self.of_kind(kind).claim(Self::word(object, domain), cache)?;
        Some(Handle::new(kind, index, generation))
    }

    /// The slot and its word if the handle is live.
    #[inline]
    fn live(&self, handle: Handle) -> Result<(&AtomicUsize, usize), StaleHandle> {
        let slot = self.of_kind(handle.kind()).slot(handle.index()).ok_or(StaleHandle)?;
        let word = slot.load(Ordering::Acquire);
        let matches = word & OCCUPIED != 0 && word >> GENERATION_SHIFT == handle.generation();
        if matches { Ok((slot, word)) } else { Err(StaleHandle) }
    }

    /// The object's address, 0 when null or expired.
    #[inline]
    pub fn target(&self, handle: Handle) -> Result<usize, StaleHandle> {
        let (_, word) = self.live(handle)?;
        Ok(if word & VALID != 0 { word & POINTER_MASK } else { 0 })
    }

    /// Replaces the object.
    pub fn set_target(&self, handle: Handle, object: usize, domain: usize) -> Result<(), StaleHandle> {
        loop {
            let (slot, seen) = self.live(handle)?;
            let new = seen & GENERATION_MASK | Self::word(object, domain);
            // AcqRel: Release publishes the object.
            if slot.compare_exchange(seen, new, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Ok(());
            }
        }
    }

    /// Replaces the object if it is `expected` (0 = none); returns the one before.
    ///
    /// # Errors
    /// `StaleHandle` for a handle that was freed before.
    pub fn exchange_target(
        &self,
        handle: Handle,
        expected: usize,
        object: usize,
        domain: usize,
    ) -> Result<usize, StaleHandle> {
        loop {
            let (slot, seen) = self.live(handle)?;
            let before = if seen & VALID != 0 { seen & POINTER_MASK } else { 0 };
            if before != expected {
                return Ok(before);
            }
            let word = seen & GENERATION_MASK | Self::word(object, domain);
            // AcqRel: Release publishes the object, as in `set_target`.
            let exchanged = slot.compare_exchange(seen, word, Ordering::AcqRel, Ordering::Relaxed);
            if exchanged.is_ok() {
                return Ok(before);
            }
        }
    }

    /// Frees the handle; a second free of the same handle is refused.
    #[inline]
    pub fn free(&self, handle: Handle, cache: &SlotCache) -> Result<(), StaleHandle> {
        let kind = handle.kind();
        loop {
            let (slot, seen) = self.live(handle)?;
            let keep = cache.has_room(kind);
            if Self::release(slot, seen, if keep { VALID } else { 0 }) {
                if keep {
                    cache.push(kind, handle.index());
                }
                return Ok(());
            }
        }
    }

    /// Frees the handle for any thread to reuse: for callers that are no managed thread.
    ///
    /// # Errors
    /// `StaleHandle` for a handle that was freed before.
    pub fn free_shared(&self, handle: Handle) -> Result<(), StaleHandle> {
        loop {
            let (slot, seen) = self.live(handle)?;
            if Self::release(slot, seen, 0) {
                return Ok(());
            }
        }
    }

    /// Gives the slots that a thread has reserved back: at its end.
    pub fn release_cache(&self, cache: &SlotCache) {
        for kind in HandleKind::ALL {
            while let Some(index) = cache.pop(kind) {
                if let Some(slot) = self.of_kind(kind).slot(index) {
                    // Release: orders our last use before the next reservation.
                    slot.fetch_and(GENERATION_MASK, Ordering::Release);
                }
            }
        }
    }

    /// `state`: `VALID` = reserved for the caller, 0 = free.
    #[inline]
    fn release(slot: &AtomicUsize, seen: usize, state: usize) -> bool {
        let generation = (seen & GENERATION_MASK).wrapping_add(1 << GENERATION_SHIFT);
        // AcqRel: Release orders our last use before the next claim.
        slot.compare_exchange(seen, generation | state, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Calls `visit` for every slot in use of a kind.
    pub fn for_each_slot(&self, kind: HandleKind, mut visit: impl FnMut(HandleSlot<'_>)) {
        self.for_each_word(kind, |slot, _| visit(HandleSlot(slot)));
    }

    fn for_each_word(&self, kind: HandleKind, mut visit: impl FnMut(&AtomicUsize, usize)) {
        let Some(first) = self.of_kind(kind).slot(0) else { return };
        // SAFETY: so many slots of the kind are in use, and inside the room, which stays as long as the table.
        for slot in unsafe { std::slice::from_raw_parts(first, self.capacity(kind)) } {
            let word = slot.load(Ordering::Acquire);
            if word & OCCUPIED != 0 {
                visit(slot, word);
            }
        }
    }

    /// Frees every handle of a kind for which `doomed` holds, as unloading a domain does. Returns how many.
    pub fn free_where(&self, kind: HandleKind, mut doomed: impl FnMut(HandleSlot<'_>) -> bool) -> usize {
        let mut freed = 0;
        self.for_each_word(kind, |slot, word| {
            if doomed(HandleSlot(slot)) && Self::release(slot, word, 0) {
                freed += 1;
            }
        });
        freed
    }

    /// Slots the table has room for without growing.
    pub fn capacity(&self, kind: HandleKind) -> usize {
        // Acquire: the slots may be written.
        capacity(self.kinds[kind as usize].bucket_count.load(Ordering::Acquire))
    }
}

impl Drop for HandleTable {
    fn drop(&mut self) {
        let room = self.room.load(Ordering::Acquire);
        if !room.is_null() {
            // SAFETY: made by `make_room` from a box; `&mut self` excludes users.
            drop(unsafe { Box::from_raw(room) });
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod model;

//! The lock-free table of GC handles.
//!
//! One array of tagged words per kind, in buckets that double and are installed by CAS: growing copies nothing and loses
//! no concurrent store.
//!
//! ```text
//! slot    63    60 59           3 2 1       0
//!         [ gen   ][ object/domain ][0][valid][occupied]
//! handle  31                 7 6   3 2      0
//!         [      index        ][ gen ][ kind+1 ]
//! ```
//!
//! | state | valid | occupied | pointer | who leaves it |
//! |---|---|---|---|---|
//! | free | 0 | 0 | 0 | any thread: CAS Acquire to reserved, same generation |
//! | reserved | 1 | 0 | 0 | the one thread whose cache names it: Release store to allocated or expired, CAS to free |
//! | allocated | 1 | 1 | object (0 = null is stored as expired) | owner of the handle: CAS; collector: moves, expires |
//! | expired | 0 | 1 | domain | owner of the handle: CAS to allocated, reserved or free |
//!
//! A freed slot stays with the thread that freed it, reserved, while its cache has room; so allocation after a free is
//! one plain store, and threads meet only when a cache runs empty or over. Freeing adds 1 to the generation, so that a stale or doubly freed handle is refused (15 of 16 times when the slot was
//! reused at random). The Release that stores an object pairs with the Acquire of `target`. The collector
//! changes slots only while the world is stopped; readers return the object into a conservatively scanned frame before
//! their next safepoint.
//!
//! Left out: events for the profiler, the meaning of domains (an 8-byte aligned address below 2^60).

use crate::facade::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::cell::Cell;

const OCCUPIED: usize = 1;
const VALID: usize = 2;
const POINTER_MASK: usize = 0x0fff_ffff_ffff_fff8;
pub const GENERATION_SHIFT: u32 = 60;
pub const GENERATION_MASK: usize = 0xf << GENERATION_SHIFT;

pub const HANDLE_GENERATION_SHIFT: u32 = 3;
pub const HANDLE_INDEX_SHIFT: u32 = 7;

#[cfg(not(loom))]
const FIRST_BUCKET_LEN: usize = 256;
#[cfg(loom)]
const FIRST_BUCKET_LEN: usize = 2;
/// 25 bits of index.
const BUCKET_COUNT: usize = 17;
/// Slots a thread takes for itself at a time; 512 bytes, so that threads rarely share a cache line.
#[cfg(not(loom))]
const STRIPE_LEN: usize = 64;
#[cfg(loom)]
const STRIPE_LEN: usize = 1;
/// Reserved slots a thread keeps per kind: one stripe.
const RECENT_LEN: usize = STRIPE_LEN;

/// What a handle does with its object.
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
        let bits =
            (index as u32) << HANDLE_INDEX_SHIFT | (generation as u32) << HANDLE_GENERATION_SHIFT | (kind as u32 + 1);
        Handle(std::num::NonZeroU32::new(bits).expect("kind + 1 is not 0"))
    }

    /// From the integer managed code holds; `None` when it cannot be a handle.
    pub fn from_bits(bits: u32) -> Option<Handle> {
        (1..=4).contains(&(bits & 7)).then(|| Handle(std::num::NonZeroU32::new(bits).expect("not 0")))
    }

    pub fn bits(self) -> u32 {
        self.0.get()
    }

    pub fn kind(self) -> HandleKind {
        HandleKind::ALL[(self.bits() & 7) as usize - 1]
    }

    fn index(self) -> usize {
        (self.bits() >> HANDLE_INDEX_SHIFT) as usize
    }

    fn generation(self) -> usize {
        (self.bits() >> HANDLE_GENERATION_SHIFT) as usize & 0xf
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
        let word = self.0.load(Ordering::Acquire);
        if word & VALID != 0 { word & POINTER_MASK } else { 0 }
    }

    /// The domain's address of an expired slot; 0 when the slot has an object.
    pub fn expired_domain(self) -> usize {
        let word = self.0.load(Ordering::Acquire);
        if word & (VALID | OCCUPIED) == OCCUPIED { word & POINTER_MASK } else { 0 }
    }

    /// The object has moved. World stopped.
    pub fn set_object(self, object: usize) {
        self.replace(object | VALID | OCCUPIED);
    }

    /// The object has died. World stopped.
    pub fn expire(self, domain: usize) {
        self.replace(domain | OCCUPIED);
    }

    fn replace(self, new: usize) {
        // Relaxed load and Release store: only the collector writes while the world is stopped.
        let generation = self.0.load(Ordering::Relaxed) & GENERATION_MASK;
        self.0.store(generation | new, Ordering::Release);
    }
}

/// The slots that a thread has reserved. Only its thread uses it.
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

#[repr(C)]
struct KindTable {
    /// The last is never installed: indices that a number can hold, but no handle has, lead there.
    buckets: [AtomicPtr<AtomicUsize>; BUCKET_COUNT + 1],
    bucket_count: AtomicU32,
    /// The next stripe to hand to a thread, modulo the number of stripes.
    next_stripe: AtomicUsize,
}

fn capacity(bucket_count: u32) -> usize {
    FIRST_BUCKET_LEN * ((1 << bucket_count) - 1)
}

impl KindTable {
    #[cfg(not(loom))]
    const fn new() -> KindTable {
        KindTable {
            buckets: [const { AtomicPtr::new(std::ptr::null_mut()) }; BUCKET_COUNT + 1],
            bucket_count: AtomicU32::new(0),
            next_stripe: AtomicUsize::new(0),
        }
    }

    #[cfg(loom)]
    fn new() -> KindTable {
        KindTable {
            buckets: std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut())),
            bucket_count: AtomicU32::new(0),
            next_stripe: AtomicUsize::new(0),
        }
    }

    #[inline]
    fn slot(&self, index: usize) -> Option<&AtomicUsize> {
        let bucket = (index / FIRST_BUCKET_LEN + 1).ilog2() as usize;
        let offset = index - capacity(bucket as u32);
        // Acquire pairs with the Release in `grow`: the slots are initialised.
        let base = self.buckets.get(bucket)?.load(Ordering::Acquire);
        // SAFETY: a bucket that is there has `FIRST_BUCKET_LEN << bucket` slots, `offset` is below that, and it is not
        // freed before the table.
        (!base.is_null()).then(|| unsafe { &*base.add(offset) })
    }

    /// Adds a bucket unless another thread has since `seen` was read. `false` when the table is at its maximum.
    fn grow(&self, seen: u32) -> bool {
        if seen as usize == BUCKET_COUNT {
            return false;
        }
        let place = &self.buckets[seen as usize];
        if place.load(Ordering::Acquire).is_null() {
            let len = FIRST_BUCKET_LEN << seen;
            let fresh: Box<[AtomicUsize]> = (0..len).map(|_| AtomicUsize::new(0)).collect();
            let fresh = Box::into_raw(fresh);
            // AcqRel: Release publishes the zeroed slots, Acquire shows the winner's.
            let installed =
                place.compare_exchange(std::ptr::null_mut(), fresh.cast(), Ordering::AcqRel, Ordering::Acquire);
            if installed.is_err() {
                // SAFETY: ours, never published.
                drop(unsafe { Box::from_raw(fresh) });
            }
        }
        // Release pairs with the Acquire load in `find_stripe`.
        self.bucket_count.fetch_max(seen + 1, Ordering::Release);
        true
    }

    /// Reserves the slot if it is free.
    fn try_reserve(&self, index: usize) -> bool {
        let Some(slot) = self.slot(index) else { return false };
        let seen = slot.load(Ordering::Relaxed);
        // Acquire pairs with the Release that freed it.
        seen & (OCCUPIED | VALID) == 0
            && slot.compare_exchange(seen, seen | VALID, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Fills an empty cache.
    #[cold]
    fn refill(&self, kind: HandleKind, cache: &SlotCache) -> Option<()> {
        while cache.recent_len[kind as usize].get() == 0 {
            let (first, end) = self.find_stripe()?;
            // The lowest index comes out first.
            for index in (first as usize..end as usize).rev() {
                if self.try_reserve(index) {
                    cache.push(kind, index);
                }
            }
        }
        Some(())
    }

    /// Claims a slot; returns (index, generation).
    #[inline]
    fn claim(&self, kind: HandleKind, word: usize, cache: &SlotCache) -> Option<(usize, usize)> {
        let index = match cache.pop(kind) {
            Some(index) => index,
            None => {
                self.refill(kind, cache)?;
                cache.pop(kind)?
            }
        };
        let slot = self.slot(index)?;
        // Relaxed: nobody else changes a slot that this cache has reserved.
        let generation = slot.load(Ordering::Relaxed) & GENERATION_MASK;
        // Release publishes the object to readers of the handle.
        slot.store(generation | word, Ordering::Release);
        Some((index, generation >> GENERATION_SHIFT))
    }

    /// A stripe with a free slot. Grows when a contiguous half of the table is full, so a table that grows is at least
    /// half full and one search costs at most what the slots won repay.
    fn find_stripe(&self) -> Option<(u32, u32)> {
        loop {
            let seen = self.bucket_count.load(Ordering::Acquire);
            let stripes = capacity(seen) / STRIPE_LEN;
            let at_maximum = seen as usize == BUCKET_COUNT;
            let tries = if at_maximum { stripes } else { stripes.div_ceil(2) };
            for _ in 0..tries {
                // Relaxed: only spreads threads.
                let start = self.next_stripe.fetch_add(1, Ordering::Relaxed) % stripes * STRIPE_LEN;
                let is_free = |i| self.slot(i).is_some_and(|s| s.load(Ordering::Relaxed) & (OCCUPIED | VALID) == 0);
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
#[repr(C)]
pub struct HandleTable {
    /// By the low bits of a handle: kind + 1. The other places stay empty, so that a number that is no handle leads to no
    /// slot.
    kinds: [KindTable; 8],
}

/// How compiled code finds a handle's slot: as `target` does, from the address of the table.
///
/// The bucket is the highest bit of `(index >> FIRST_BUCKET_SHIFT) + 1`; its address lies at `(handle & 7) *
/// kind_bytes + bucket * 8`, null when it is not there; the slot is that of `index - (first << bucket) + first`, where
/// `first = 1 << FIRST_BUCKET_SHIFT`. The slot holds an object, and is the handle's, if it equals the object's address under
/// xor with `generation << GENERATION_SHIFT | VALID | OCCUPIED`.
#[cfg(not(loom))]
pub mod layout {
    pub use super::{GENERATION_MASK, GENERATION_SHIFT, HANDLE_GENERATION_SHIFT, HANDLE_INDEX_SHIFT};
    pub const KIND_MASK: u32 = 7;
    pub const KIND_BYTES: usize = size_of::<super::KindTable>();
    pub const FIRST_BUCKET_SHIFT: u32 = super::FIRST_BUCKET_LEN.trailing_zeros();
    pub const LIVE: usize = super::VALID | super::OCCUPIED;
    const _: () = assert!(super::FIRST_BUCKET_LEN.is_power_of_two() && super::BUCKET_COUNT == 17);
}

impl Default for HandleTable {
    fn default() -> Self {
        Self::new()
    }
}

impl HandleTable {
    #[cfg(not(loom))]
    pub const fn new() -> HandleTable {
        HandleTable { kinds: [const { KindTable::new() }; 8] }
    }

    #[cfg(loom)]
    pub fn new() -> HandleTable {
        HandleTable { kinds: std::array::from_fn(|_| KindTable::new()) }
    }

    #[inline]
    fn of_kind(&self, kind: HandleKind) -> &KindTable {
        &self.kinds[kind as usize + 1]
    }

    fn word(object: usize, domain: usize) -> usize {
        debug_assert!(object & !POINTER_MASK == 0 && domain & !POINTER_MASK == 0);
        if object != 0 { object | VALID | OCCUPIED } else { domain | OCCUPIED }
    }

    /// Makes a handle for an object (0 = null). `None` when 2^25 handles of the kind are in use.
    #[inline]
    pub fn allocate(&self, kind: HandleKind, object: usize, domain: usize, cache: &SlotCache) -> Option<Handle> {
        let (index, generation) = self.of_kind(kind).claim(kind, Self::word(object, domain), cache)?;
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
    /// As `free`.
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
        for (bucket, base) in self.of_kind(kind).buckets.iter().enumerate() {
            let base = base.load(Ordering::Acquire);
            if base.is_null() {
                break;
            }
            // SAFETY: a bucket that is there has this many initialised slots and is not freed before the table.
            for slot in unsafe { std::slice::from_raw_parts(base, FIRST_BUCKET_LEN << bucket) } {
                let word = slot.load(Ordering::Acquire);
                if word & OCCUPIED != 0 {
                    visit(slot, word);
                }
            }
        }
    }

    /// Frees every handle of a kind for which `doomed` holds: what unloading a domain does. Returns how many.
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
        capacity(self.of_kind(kind).bucket_count.load(Ordering::Relaxed))
    }
}

impl Drop for HandleTable {
    fn drop(&mut self) {
        for kind in &self.kinds {
            for (bucket, base) in kind.buckets.iter().enumerate() {
                let base = base.load(Ordering::Acquire);
                if !base.is_null() {
                    let slots = std::ptr::slice_from_raw_parts_mut(base, FIRST_BUCKET_LEN << bucket);
                    // SAFETY: made by `grow` from a boxed slice of this length; `&mut self` excludes users.
                    drop(unsafe { Box::from_raw(slots) });
                }
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod model;

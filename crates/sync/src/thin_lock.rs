//! The sync word of an object: thin lock and hash code side by side, or the index of a monitor.
//!
//! ```text
//! 63        62       32 31        30            8 7         0
//! [inflated ][ hash code ][inflated ][ owner / index ][ recursion ]
//! ```
//!
//! | state | inflated | owner / index | recursion | who may leave it, and how |
//! |---|---|---|---|---|
//! | free | 0 | 0 | 0 | any thread: CAS Acquire to thin |
//! | thin | 0 | owner's managed id | extra entries | owner: add or subtract Relaxed (recursion), CAS Release to free |
//! | inflated | 1, 1 | monitor index | extra entries | owner: as above (recursion) |
//! | inflated | 1, 1 | monitor index | 0 | owner, who has retired the monitor: CAS Release to free |
//! | inflated | 1, 1 | monitor index | 0 | collector, world stopped and monitor idle: to free |
//!
//! Compiled code takes and leaves free and thin locks itself (`jit::lower::monitors`), by the same CASes on the lower
//! half, which are sequentially consistent there. Before the CAS it loads the upper half only: a load of the half that
//! the last locked instruction wrote costs as much as a third of that instruction. So the lower half of a free or thin
//! lock is the plain number 0 or `id << OWNER_SHIFT`, and "inflated" stands in both halves, which change together: the
//! bit in the upper half is seen without the expensive load, so that the cache line of an inflated lock's object is not
//! fetched for writing needlessly; the bit in the lower half is the one that decides.
//!
//! The recursion belongs to the owner in both states, and counts the entries made while the lock was thin. Other
//! threads change the word only by a CAS of the whole word, which fails if the recursion has changed. So the owner need
//! not check whether the lock has been inflated meanwhile, and compiled code stores the byte alone. Without an owner
//! the recursion is 0. The collector deflates at every collection (`runtime::monitors::update_weak`): an index read
//! before cannot be in use then, because no safepoint lies between reading it and being counted by the monitor.
//!
//! Any thread may set the hash once (CAS from 0) in every state, and may inflate a free or thin word by CAS: the
//! word carries the owner, so the new monitor starts with exactly what the CAS confirms, and the owner finds
//! the monitor when its own CAS fails. The Release of the inflating CAS pairs with the Acquire load of the readers: a
//! thread that sees the index sees the prepared monitor. Hash and lock coexist, so hashing never inflates.
//!
//! Rejected: displacing the hash into the monitor (as Mono does, whose word is laid out for 32 bits): the 64-bit word
//! has room for both. Left out: waiting (see `monitor`, `object_lock`).

use crate::facade::atomic::{AtomicUsize, Ordering};
use crate::facade::fence_after_lock;
pub use saki_abi::sync_word::MAX_OWNER;
use saki_abi::sync_word::{INFLATED_BIT, INFLATED_HINT_BIT, MAX_RECURSION, OWNER_SHIFT, RECURSION_MASK};

const INFLATED: usize = INFLATED_BIT | INFLATED_HINT_BIT;
pub const OWNER_MASK: usize = (MAX_OWNER as usize) << OWNER_SHIFT;
const HASH_SHIFT: u32 = 32;
/// Hash codes fit into 31 bits; 0 is none.
pub const MAX_HASH: u32 = (1 << 31) - 1;
const HASH_MASK: usize = (MAX_HASH as usize) << HASH_SHIFT;

/// The sync word; same layout as the `sync` field of an object header.
#[repr(transparent)]
pub struct ThinLockWord(AtomicUsize);

/// Outcome of `try_lock`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TryLock {
    Acquired,
    /// Owned by another thread; holds the word as it was read, for `inflate`.
    Contended(Snapshot),
    /// Owned by the caller with no room for another entry; holds the word as it was read, for `inflate`.
    RecursionFull(Snapshot),
    Inflated(u32),
}

/// Outcome of `unlock`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unlock {
    Released,
    /// One entry fewer, still owned.
    StillOwned,
    NotOwner,
    Inflated(u32),
}

/// The word at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Snapshot(pub usize);

impl Snapshot {
    #[inline]
    pub fn inflated_index(self) -> Option<u32> {
        (self.0 & INFLATED_BIT != 0).then_some(self.field())
    }

    /// The thin owner, 0 when free or inflated.
    #[inline]
    pub fn thin_owner(self) -> u32 {
        if self.0 & INFLATED_BIT == 0 { self.field() } else { 0 }
    }

    /// Entries beyond the first.
    #[inline]
    pub fn recursion(self) -> u32 {
        (self.0 & RECURSION_MASK) as u32
    }

    pub fn hash(self) -> Option<u32> {
        let hash = (self.0 & HASH_MASK) >> HASH_SHIFT;
        (hash != 0).then_some(hash as u32)
    }

    #[inline]
    fn field(self) -> u32 {
        (self.0 >> OWNER_SHIFT) as u32 & MAX_OWNER
    }
}

impl Default for ThinLockWord {
    fn default() -> Self {
        Self::new()
    }
}

impl ThinLockWord {
    pub fn new() -> ThinLockWord {
        ThinLockWord(AtomicUsize::new(0))
    }

    /// The sync field of an object header as a thin lock.
    #[cfg(not(loom))]
    #[inline]
    pub fn of(sync: &AtomicUsize) -> &ThinLockWord {
        // SAFETY: `repr(transparent)` over exactly this type.
        unsafe { &*std::ptr::from_ref(sync).cast::<ThinLockWord>() }
    }

    /// Acquire: an inflated index comes with its prepared monitor.
    #[inline]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(self.0.load(Ordering::Acquire))
    }

    /// Enters once, without waiting. `id` is a managed id, 1..=`MAX_OWNER`.
    #[inline]
    pub fn try_lock(&self, id: u32) -> TryLock {
        debug_assert!(id != 0 && id <= MAX_OWNER);
        loop {
            let seen = self.snapshot();
            if let Some(index) = seen.inflated_index() {
                return TryLock::Inflated(index);
            }
            let owner = seen.thin_owner();
            if owner == 0 {
                // Acquire pairs with the Release of the last `unlock`.
                if self.replace(seen, seen.0 | (id as usize) << OWNER_SHIFT, Ordering::Acquire) {
                    return TryLock::Acquired;
                }
            } else if owner != id {
                return TryLock::Contended(seen);
            } else if seen.recursion() == MAX_RECURSION {
                return TryLock::RecursionFull(seen);
            } else {
                self.add_entries(1);
                return TryLock::Acquired;
            }
        }
    }

    /// Leaves once.
    #[inline]
    pub fn unlock(&self, id: u32) -> Unlock {
        loop {
            let seen = self.snapshot();
            if let Some(index) = seen.inflated_index() {
                return Unlock::Inflated(index);
            }
            if seen.thin_owner() != id {
                return Unlock::NotOwner;
            }
            if self.leave_entry() {
                return Unlock::StillOwned;
            }
            if self.replace(seen, seen.0 & !OWNER_MASK, Ordering::Release) {
                // Release publishes the critical section to the next owner.
                return Unlock::Released;
            }
        }
    }

    /// As owner, thin or inflated: adds entries to those that the word counts. There is room.
    #[inline]
    pub fn add_entries(&self, count: u32) {
        // Relaxed, here and below: publishes nothing, the lock stays held. A CAS of the word read is not needed, see
        // the module header.
        let before = Snapshot(self.0.fetch_add(count as usize, Ordering::Relaxed));
        debug_assert!(before.recursion() + count <= MAX_RECURSION);
    }

    /// As owner, thin or inflated: takes away one of the entries that the word counts; `false` if there is none.
    #[inline]
    pub fn leave_entry(&self) -> bool {
        // Only the owner changes the recursion.
        let has_more = Snapshot(self.0.load(Ordering::Relaxed)).recursion() > 0;
        if has_more {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
        has_more
    }

    /// As owner, thin or inflated: takes away the entries that the word counts.
    pub fn take_entries(&self) -> u32 {
        Snapshot(self.0.fetch_and(!RECURSION_MASK, Ordering::Relaxed)).recursion()
    }

    /// Puts a monitor in place of the lock state seen; `false` when the word has changed since.
    pub fn inflate(&self, seen: Snapshot, index: u32) -> bool {
        debug_assert!(seen.inflated_index().is_none() && index <= MAX_OWNER);
        let kept = seen.0 & (HASH_MASK | RECURSION_MASK);
        let new = kept | INFLATED | (index as usize) << OWNER_SHIFT;
        // AcqRel: Release publishes the monitor; Acquire pairs with the unlock of a free word's last owner.
        self.replace(seen, new, Ordering::AcqRel)
    }

    /// Removes the monitor from the word: it is retired, or the world is stopped and it is idle, so that no thread that
    /// has read the index is misled.
    pub fn deflate(&self, index: u32) -> bool {
        loop {
            let seen = self.snapshot();
            if seen.inflated_index() != Some(index) {
                return false;
            }
            debug_assert_eq!(seen.recursion(), 0);
            // Release publishes the critical section of the owner that retired the monitor.
            if self.replace(seen, seen.0 & HASH_MASK, Ordering::Release) {
                return true;
            }
        }
    }

    /// The hash code, if one was installed.
    #[inline]
    pub fn hash(&self) -> Option<u32> {
        self.snapshot().hash()
    }

    /// Installs a hash code, 1..=`MAX_HASH`, unless there is one; returns the one in force.
    pub fn install_hash(&self, hash: u32) -> u32 {
        debug_assert!(hash != 0 && hash <= MAX_HASH);
        loop {
            let seen = self.snapshot();
            if let Some(installed) = seen.hash() {
                return installed;
            }
            // Relaxed: the hash is in the word itself; nothing else is published.
            if self.replace(seen, seen.0 | (hash as usize) << HASH_SHIFT, Ordering::Relaxed) {
                return hash;
            }
        }
    }

    #[inline]
    fn replace(&self, seen: Snapshot, new: usize, success: Ordering) -> bool {
        let is_replaced = self.0.compare_exchange_weak(seen.0, new, success, Ordering::Relaxed).is_ok();
        fence_after_lock();
        is_replaced
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn lock_states_and_hash_coexist() {
        let word = ThinLockWord::new();
        assert_eq!(word.try_lock(5), TryLock::Acquired);
        assert_eq!(word.install_hash(0x5ead_beef), 0x5ead_beef);
        assert_eq!(word.install_hash(1), 0x5ead_beef);
        assert_eq!(word.try_lock(5), TryLock::Acquired);
        assert!(matches!(word.try_lock(6), TryLock::Contended(s) if s.thin_owner() == 5 && s.recursion() == 1));
        assert_eq!(word.unlock(6), Unlock::NotOwner);
        assert_eq!(word.unlock(5), Unlock::StillOwned);
        word.add_entries(2);
        let seen = word.snapshot();
        while !word.inflate(seen, 77) {}
        assert_eq!(word.unlock(5), Unlock::Inflated(77));
        // The entries made while it was thin stay with the word.
        assert!(word.leave_entry());
        assert_eq!((word.take_entries(), word.leave_entry()), (1, false));
        assert_eq!(word.hash(), Some(0x5ead_beef));
        assert!(word.deflate(77) && word.snapshot().0 & !HASH_MASK == 0);
        assert_eq!(word.hash(), Some(0x5ead_beef));
    }

    #[test]
    fn recursion_overflows_into_inflation() {
        let word = ThinLockWord::new();
        for _ in 0..=MAX_RECURSION {
            assert_eq!(word.try_lock(1), TryLock::Acquired);
        }
        assert!(matches!(word.try_lock(1), TryLock::RecursionFull(_)));
    }
}

#[cfg(all(test, loom))]
mod model;

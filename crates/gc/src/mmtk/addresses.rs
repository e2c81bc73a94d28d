//! Addresses of objects: the heap's range, its spaces, and MMTk's types for an address.
//!
//! MMTk gives each space 2 TiB of the range; small objects lie in one space, large ones in another. Which space is
//! which shows when the first object of each kind is allocated.
//!
//! Left out: what is known about the object at an address (`bits`), and whether there is one (`instance`).

use super::huge_pages;
use mmtk::util::{Address, ObjectReference};
use saki_abi::ObjRef;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// First address of the heap's range, as in MMTk's 64-bit layout.
pub(crate) const HEAP_START: usize = 0x0200_0000_0000;
/// End of the heap's range: room for seven spaces, of which MMTk uses five.
pub(super) const HEAP_END: usize = 0x1000_0000_0000;
/// Each space has 2 TiB of addresses of its own.
pub(super) const SPACE_BYTES: usize = 1 << 41;
pub(super) const USED_SPACES: usize = 5;
/// Lowest address that a small and a large object ever had; `usize::MAX` = none yet. MMTk keeps its free lists below
/// the first object of a space.
///
/// | change | who | ordering |
/// |---|---|---|
/// | MAX → address | the allocating thread | Relaxed, then a release fence, before the object's address is stored |
/// | address → lower one | a later one | the same; the space does not change |
/// | read: an address | anyone | Relaxed: all addresses are of one space |
/// | read: MAX | anyone | Relaxed, an acquire fence, and again, after the load of the object's address |
pub(super) static LOWEST_SMALL: AtomicUsize = AtomicUsize::new(usize::MAX);
pub(super) static LOWEST_LARGE: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Notes the address of an object; called for each slow-path allocation.
#[inline]
pub(super) fn note_address(address: usize, is_large: bool) {
    let lowest = if is_large { &LOWEST_LARGE } else { &LOWEST_SMALL };
    // Relaxed: see the statics; a late minimum costs a needless exchange.
    if address < lowest.load(Ordering::Relaxed) {
        lowest.fetch_min(address, Ordering::Relaxed);
        // Release: see the table.
        fence(Ordering::Release);
    }
    if !is_large {
        huge_pages::note(address, lowest.load(Ordering::Relaxed));
    }
}

/// The number of the space that `address` lies in.
#[inline(always)]
pub(super) fn space_number(address: usize) -> usize {
    address / SPACE_BYTES
}

/// The number of the space of large objects; no object's until there is a large one.
#[inline(always)]
pub(super) fn large_space_number() -> usize {
    // Relaxed: see the table.
    match LOWEST_LARGE.load(Ordering::Relaxed) {
        usize::MAX => {
            // Compiled code publishes an object by a plain store behind a barrier, and a thread that has read it so has
            // not synchronised with the allocation: a load of this word may have been made before.
            fence(Ordering::Acquire);
            space_number(LOWEST_LARGE.load(Ordering::Relaxed))
        }
        lowest => space_number(lowest),
    }
}

/// Whether `address` lies in the space of large objects.
#[inline(always)]
pub(super) fn in_large_space(address: usize) -> bool {
    space_number(address) == large_space_number()
}

#[inline(always)]
pub(crate) fn in_heap_range(address: usize) -> bool {
    address.wrapping_sub(HEAP_START) < HEAP_END - HEAP_START
}

pub(super) fn to_address(address: usize) -> Address {
    // SAFETY: an `Address` is a number here; nothing is dereferenced.
    unsafe { Address::from_usize(address) }
}

#[inline(always)]
pub(super) fn from_reference(object: ObjectReference) -> ObjRef {
    ObjRef(object.to_raw_address().to_mut_ptr())
}

/// # Safety
/// `object` is not null.
#[inline(always)]
pub(super) unsafe fn to_reference(object: ObjRef) -> ObjectReference {
    // SAFETY: `object` is not null, which this function demands; objects are aligned to 8.
    unsafe { ObjectReference::from_raw_address_unchecked(Address::from_mut_ptr(object.0)) }
}

//! Lists of the calls that wait for an entry's code: a head an entry, a word a call.
//!
//! | head | meaning | who moves it |
//! |---|---|---|
//! | 0 | no call waits | initial; `take_all`, swap AcqRel |
//! | n | site n waits, and those behind it | `add`, exchange AcqRel |
//!
//! Who makes a target stores it and then takes the list; who adds a call looks at the target afterwards, and takes the list if
//! there is one. Both change the head by read-modify-write: of the two one comes later and acquires what the other released.
//! So no call waits for a target that is there. A target that several bring is the same for all.
//!
//! Invariant: a site is in one list at most; its word does not change while it is in a list. Left out: what is done with a site.

use saki_sync::facade::atomic::{AtomicU32, AtomicU64, Ordering};

/// Adds site `number` (not 0), a call at `offset`, to the list.
pub(crate) fn add(head: &AtomicU32, sites: &[AtomicU64], number: u32, offset: u32) {
    // Relaxed: the exchange acquires what it finds.
    let mut first = head.load(Ordering::Relaxed);
    loop {
        // Relaxed: published by the exchange.
        sites[number as usize].store(u64::from(offset) | u64::from(first) << 32, Ordering::Relaxed);
        match head.compare_exchange(first, number, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return,
            Err(newer) => first = newer,
        }
    }
}

/// Empties the list and visits number and offset of each call that was in it. What is visited may be added again afterwards.
pub(crate) fn take_all(head: &AtomicU32, sites: &[AtomicU64], mut visit: impl FnMut(u32, u32)) {
    let mut number = head.swap(0, Ordering::AcqRel);
    while number != 0 {
        // Relaxed: the swap has acquired it.
        let site = sites[number as usize].load(Ordering::Relaxed);
        visit(number, site as u32);
        number = (site >> 32) as u32;
    }
}

#[cfg(all(test, loom))]
mod model;

//! Lists of the calls that wait for an entry's code: one head word per entry, one link word per call.
//!
//! | head | meaning | who moves it |
//! |---|---|---|
//! | 0 | no call waits | initial; `take_all`, swap AcqRel |
//! | n | site n waits, and those behind it | `add`, exchange AcqRel |
//!
//! A thread that sets a target stores it and then takes the list; a thread that adds a call then loads the target, and takes the
//! list if the target is set. Both change the head by read-modify-write, so the later of the two acquires what the other released.
//! So no call keeps waiting for a target that is set. If several threads set a target, they set the same one.
//!
//! Invariant: a site is in at most one list; its word does not change while it is in a list. Left out: patching the sites (`call_sites`).

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

/// Empties the list and visits number and offset of each call that was in it. A visited number may be added again.
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

//! How calls follow the code of their callee: the list of the calls that lead to an entry, and the protocol by which
//! entry and calls are led to the version of the code that is current.
//!
//! | word | meaning | who moves it |
//! |---|---|---|
//! | head: 0 | no call | initial; `take_all` |
//! | head: n | site n leads to the entry, and those behind it | `add`, exchange AcqRel |
//! | target | where calls through the entry go | `lead`, swap AcqRel |
//! | field of a call | where the call goes | its placing, before the call is in the list; `lead` and `follow`, read-modify-write AcqRel |
//!
//! Which code is current is another word, changed by read-modify-write with Release before `lead` is called
//! (`current`). Several threads may change it at about the same time, and each of them leads entry and calls to what it
//! finds there. In the end all words name the code that is current:
//!
//! - All writes of one word are read-modify-writes, so each acquires what its predecessors released. The thread that
//!   wrote it last reads `current` again after that, finds what was current when its predecessors wrote, or something
//!   newer, and starts again if that is not what it wrote.
//! - `lead` looks at the head by a read-modify-write, too. So either it finds a call, or the call was added later and
//!   has acquired the target that `lead` had stored, which `follow` reads.
//!
//! Invariant: a site is in at most one list, and stays there until the entry is freed; its word does not change while
//! it is in a list. Left out: the bytes of the calls (`call_sites`).

use saki_sync::facade::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Adds site `number` (not 0), a call at `offset`, to the list. The caller then lets the call `follow`.
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

/// Visits the offset of each call in the list.
pub(crate) fn for_each(head: &AtomicU32, sites: &[AtomicU64], mut visit: impl FnMut(u32)) {
    // A read-modify-write that changes nothing: a call that is added later acquires the target that was stored before.
    visit_from(head.fetch_or(0, Ordering::AcqRel), sites, |_, offset| visit(offset));
}

/// Empties the list of an entry that is freed, and visits the number of each site that was in it.
pub(crate) fn take_all(head: &AtomicU32, sites: &[AtomicU64], mut visit: impl FnMut(u32)) {
    visit_from(head.swap(0, Ordering::AcqRel), sites, |number, _| visit(number));
}

fn visit_from(mut number: u32, sites: &[AtomicU64], mut visit: impl FnMut(u32, u32)) {
    while number != 0 {
        // Relaxed: the access to the head has acquired it.
        let site = sites[number as usize].load(Ordering::Relaxed);
        visit(number, site as u32);
        number = (site >> 32) as u32;
    }
}

/// Leads the entry and its calls to what is current. `lead_calls` writes the given value into the field of each call in
/// the list.
pub(crate) fn lead(target: &AtomicUsize, current: impl Fn() -> usize, mut lead_calls: impl FnMut(usize)) {
    loop {
        let code = current();
        target.swap(code, Ordering::AcqRel);
        lead_calls(code);
        if current() == code {
            return;
        }
    }
}

/// Leads a call that has just been added to the list, and whose field names `placed`, to the entry's target.
/// `lead_call` writes the field.
pub(crate) fn follow(target: impl Fn() -> usize, placed: usize, mut lead_call: impl FnMut(usize)) {
    let mut led_to = placed;
    loop {
        let code = target();
        if code == led_to {
            return;
        }
        lead_call(code);
        led_to = code;
    }
}

#[cfg(all(test, loom))]
mod model;

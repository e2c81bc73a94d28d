//! Calls in placed code whose callee had no code yet: they go to its entry stub, and are patched once there is code.
//!
//! The field of a call is 4 bytes. It is changed while other threads may execute it, by a store to the aligned 8 bytes
//! that it lies in: processors see such a store whole, and old and new value are both right, so that nobody has to be told.
//! Fields that cross such a boundary (three of eight) stay as they are; a call through a stub costs a line of the
//! instruction cache and an indirect jump.
//!
//! | head of an entry | meaning | who moves it |
//! |---|---|---|
//! | 0 | no call waits | initial; `patch`, swap AcqRel |
//! | n | `SITES[n]` waits, and those behind it | `wait`, exchange AcqRel |
//!
//! `set_target` stores the target and then takes the list; `wait` adds to the list and then looks at the target. Both
//! change the head by read-modify-write, so that of the two one comes later and sees what the other did before.
//!
//! Sites are never forgotten: the code around them must live for ever. Left out: waiting calls of dynamic and
//! collectible methods, which go on through the stubs.

use crate::entry::MethodEntry;
use crate::error::CodeError;
use crate::region::{CODE_BYTES, DATA_BYTES, Region, mapped_region, zeroed_words};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Bytes that are stored at once.
const STORE_BYTES: usize = 8;
/// Bytes of the field of a call.
const FIELD_BYTES: usize = 4;
/// Room for that many waiting calls; more do without.
const MAX_SITES: usize = CODE_BYTES / 64;

struct Tables {
    /// By number of the entry.
    heads: &'static [AtomicU32],
    /// Low half: offset of the field from the region's base. High half: number of the next site.
    sites: &'static [AtomicU64],
    /// Number of the next new site; 0 stands for none.
    next: AtomicUsize,
}

static TABLES: OnceLock<Result<Tables, CodeError>> = OnceLock::new();

fn tables() -> Option<&'static Tables> {
    let make = || {
        let heads = zeroed_words(DATA_BYTES / crate::entry::STUB_BYTES)?;
        Ok(Tables { heads, sites: zeroed_words(MAX_SITES)?, next: AtomicUsize::new(1) })
    };
    TABLES.get_or_init(make).as_ref().ok()
}

/// Lets the call whose field is at `offset` from the region's base, in code that lives for ever, go to the entry's code
/// as soon as there is some.
pub(crate) fn wait(region: &Region, entry: MethodEntry, offset: usize) {
    if offset % STORE_BYTES > STORE_BYTES - FIELD_BYTES {
        return;
    }
    let Some(tables) = tables() else { return };
    // Relaxed: hands out numbers.
    let number = tables.next.fetch_add(1, Ordering::Relaxed);
    let Some(site) = tables.sites.get(number) else { return };
    let head = &tables.heads[entry.number(region)];
    let mut first = head.load(Ordering::Relaxed);
    loop {
        // Relaxed: published by the exchange.
        site.store(offset as u64 | u64::from(first) << 32, Ordering::Relaxed);
        match head.compare_exchange(first, number as u32, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => break,
            Err(newer) => first = newer,
        }
    }
    if let Some(code) = entry.target() {
        patch(entry, code);
    }
}

/// Makes the calls that wait for the entry go to `code`, its target.
pub(crate) fn patch(entry: MethodEntry, code: usize) {
    let (Some(region), Some(Ok(tables))) = (mapped_region(), TABLES.get()) else { return };
    let mut number = tables.heads[entry.number(region)].swap(0, Ordering::AcqRel);
    while number != 0 {
        // Relaxed: the swap has acquired it, and only `wait` stores to it, once.
        let site = tables.sites[number as usize].load(Ordering::Relaxed);
        let offset = site as u32 as usize;
        let distance = code.wrapping_sub(region.base + offset + FIELD_BYTES) as i64;
        let distance = i32::try_from(distance).expect("both lie in the region");
        region.store_field(offset, distance.to_le_bytes());
        number = (site >> 32) as u32;
    }
}

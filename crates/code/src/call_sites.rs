//! Calls in placed code whose callee had no code yet: they go to its entry stub, and are patched once there is code.
//!
//! The field of a call is 4 bytes. It is changed while other threads may execute it, by a store to the aligned 8 bytes
//! that it lies in: processors see such a store whole, and old and new value are both right, so that nobody has to be told.
//! Fields that cross such a boundary (three of eight) stay as they are; a call through a stub costs a line of the
//! instruction cache and an indirect jump.
//!
//! `set_target` stores the target and then takes the list; `wait` adds to the list and then looks at the target (`waiting_calls`).
//!
//! Sites are never forgotten: the code around them must live for ever. Left out: waiting calls of dynamic and
//! collectible methods, which go on through the stubs.

use crate::entry::MethodEntry;
use crate::error::CodeError;
use crate::region::{Region, mapped_region, zeroed_words};
use crate::waiting_calls;
use saki_sync::facade::atomic::{AtomicU32, AtomicU64};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that are stored at once.
const STORE_BYTES: usize = 8;
/// Bytes of the field of a call.
const FIELD_BYTES: usize = 4;
/// Room for one waiting call in so many bytes of code; more do without.
const BYTES_PER_SITE: usize = 64;

struct Tables {
    /// By number of the entry.
    heads: &'static [AtomicU32],
    /// See `waiting_calls`.
    sites: &'static [AtomicU64],
    /// Number of the next new site; 0 stands for none.
    next: AtomicUsize,
}

static TABLES: OnceLock<Result<Tables, CodeError>> = OnceLock::new();

fn tables(region: &Region) -> Option<&'static Tables> {
    let make = || {
        let heads = zeroed_words(region.data_bytes() / crate::entry::STUB_BYTES)?;
        Ok(Tables { heads, sites: zeroed_words(region.code_bytes / BYTES_PER_SITE)?, next: AtomicUsize::new(1) })
    };
    TABLES.get_or_init(make).as_ref().ok()
}

/// Lets the call whose field is at `offset` from the region's base, in code that lives for ever, go to the entry's code
/// as soon as there is some.
pub(crate) fn wait(region: &Region, entry: MethodEntry, offset: usize) {
    if offset % STORE_BYTES > STORE_BYTES - FIELD_BYTES {
        return;
    }
    let Some(tables) = tables(region) else { return };
    // Relaxed: hands out numbers.
    let number = tables.next.fetch_add(1, Ordering::Relaxed);
    if number >= tables.sites.len() {
        return;
    }
    waiting_calls::add(&tables.heads[entry.number(region)], tables.sites, number as u32, offset as u32);
    if let Some(code) = entry.target() {
        patch(entry, code);
    }
}

/// Makes the calls that wait for the entry go to `code`, its target.
pub(crate) fn patch(entry: MethodEntry, code: usize) {
    let (Some(region), Some(Ok(tables))) = (mapped_region(), TABLES.get()) else { return };
    waiting_calls::take_all(&tables.heads[entry.number(region)], tables.sites, |offset| {
        let offset = offset as usize;
        let distance = code.wrapping_sub(region.base + offset + FIELD_BYTES) as i64;
        let distance = i32::try_from(distance).expect("both lie in the region");
        region.store_field(offset, distance.to_le_bytes());
    });
}

//! Calls in placed code whose callee had no code yet: they go to its entry stub, and are patched once there is code.
//!
//! The displacement of a call is 4 bytes. It is changed while other threads may execute the call, by one store to the aligned
//! 8-byte word that it lies in: processors see such a store whole, and calls with the old and the new displacement are both right,
//! so no other thread needs to be notified. A displacement that crosses such a boundary (three of eight do) is never patched; the
//! call through the stub costs a line of the instruction cache and an indirect jump.
//!
//! `set_target` stores the target and then takes the list; `wait` adds to the list and then looks at the target (`waiting_calls`).
//!
//! A call must live as long as its callee's entry: both are freed with their domain. A site's number is reused once its list was
//! taken. So `add` may find at the head a number that was there before (ABA); this is harmless, as the number names a site that
//! waits now. Left out: calls of dynamic and collectible methods, which keep going through the stubs.

use crate::arch::{Arch, Architecture, STUB_BYTES};
use crate::entry::MethodEntry;
use crate::error::CodeError;
use crate::region::{Region, mapped_region, zeroed_words};
use crate::waiting_calls;
use saki_base::locks::{Mutex, rank};
use saki_sync::facade::atomic::{AtomicU32, AtomicU64};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Size of the aligned word by which a call is patched.
const STORE_BYTES: usize = 8;
/// Bytes of the field of a call.
const FIELD_BYTES: usize = 4;
/// Bytes of code per waiting call for which the table has room; calls beyond that stay unpatched.
const BYTES_PER_SITE: usize = 64;

struct Tables {
    /// Heads of the lists, by number of the entry.
    heads: &'static [AtomicU32],
    /// See `waiting_calls`.
    sites: &'static [AtomicU64],
    /// Number of the next new site; 0 means no site.
    next: AtomicUsize,
    /// Numbers to reuse.
    freed: Mutex<rank::FreedCallSites, Vec<u32>>,
}

impl Tables {
    /// A number for a site; None when all are in use.
    fn take_number(&self) -> Option<u32> {
        if let Some(number) = self.freed.lock().pop() {
            return Some(number);
        }
        // Relaxed: hands out numbers.
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.sites.len()).then_some(number as u32)
    }

    /// Empties the entry's list and visits the offset of each call that was in it.
    fn take_all(&self, entry: usize, mut visit: impl FnMut(u32)) {
        let mut taken = Vec::new();
        waiting_calls::take_all(&self.heads[entry], self.sites, |number, offset| {
            visit(offset);
            taken.push(number);
        });
        if !taken.is_empty() {
            self.freed.lock().append(&mut taken);
        }
    }
}

static TABLES: OnceLock<Result<Tables, CodeError>> = OnceLock::new();

fn tables(region: &Region) -> Option<&'static Tables> {
    let make = || {
        let heads = zeroed_words(region.data_bytes() / STUB_BYTES)?;
        let sites = zeroed_words(region.code_bytes / BYTES_PER_SITE)?;
        Ok(Tables { heads, sites, next: AtomicUsize::new(1), freed: Mutex::default() })
    };
    TABLES.get_or_init(make).as_ref().ok()
}

/// Notes a call, whose field is at `offset` from the region's base, so that it is patched to the entry's code as soon as there is code.
/// The call must lie in code that lives as long as the entry.
pub(crate) fn wait(region: &Region, entry: MethodEntry, offset: usize) {
    if offset % STORE_BYTES > STORE_BYTES - FIELD_BYTES {
        return;
    }
    let Some(tables) = tables(region) else { return };
    let Some(number) = tables.take_number() else { return };
    waiting_calls::add(&tables.heads[entry.number(region)], tables.sites, number, offset as u32);
    if let Some(code) = entry.target() {
        patch(entry, code);
    }
}

/// Drops the entry's waiting calls: its method is freed, and so is the code of the calls.
pub(crate) fn forget(entry: MethodEntry) {
    if let (Some(region), Some(Ok(tables))) = (mapped_region(), TABLES.get()) {
        tables.take_all(entry.number(region), |_| {});
    }
}

/// Makes the calls that wait for the entry go to `code`, its target.
pub(crate) fn patch(entry: MethodEntry, code: usize) {
    let (Some(region), Some(Ok(tables))) = (mapped_region(), TABLES.get()) else { return };
    tables.take_all(entry.number(region), |offset| {
        let offset = offset as usize;
        region.store_field(offset, Arch::call_field(region.base + offset, code));
    });
}

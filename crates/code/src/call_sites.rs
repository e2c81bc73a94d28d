//! Direct calls in placed code: each is listed with its callee's entry as long as both live, so that it follows the
//! callee's code from version to version.
//!
//! Most calls can be changed while other threads execute them (`arch::patch_site`). The others, whose field crosses the
//! boundary of a word, are changed only while the world is stopped, and once: to the entry stub, which is right for
//! every version (`redirect_crossing`). If the callee has no code when such a call is placed, it goes through the stub
//! from the beginning, and needs no place in the list. A call through the stub costs a line of the instruction cache
//! and an indirect jump.
//!
//! How calls and entry agree is the matter of `linked_calls`.
//!
//! A call must live as long as its callee's entry: both are freed with their domain. Left out: calls of dynamic and
//! collectible methods, which keep going through the stubs.

use crate::arch::STUB_BYTES;
use crate::arch::patch_site::{self, PatchSite};
use crate::entry::MethodEntry;
use crate::error::CodeError;
use crate::linked_calls;
use crate::region::{Region, mapped_region, zeroed_words};
use saki_base::locks::{Mutex, rank};
use saki_sync::facade::atomic::{AtomicU32, AtomicU64};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of code per call for which the table has room; calls beyond that go through the stubs.
const BYTES_PER_SITE: usize = 64;

struct Tables {
    /// Heads of the lists, by number of the entry.
    heads: &'static [AtomicU32],
    /// See `linked_calls`.
    sites: &'static [AtomicU64],
    /// Number of the next new site; 0 means no site.
    next: AtomicUsize,
    /// Numbers to reuse.
    freed: Mutex<rank::FreedCallSites, Vec<u32>>,
    /// How many these are; a hint.
    freed_count: AtomicUsize,
}

impl Tables {
    /// A number for a site; None when all are in use.
    fn take_number(&self) -> Option<u32> {
        // Relaxed, here and below: a hint.
        if self.freed_count.load(Ordering::Relaxed) > 0 {
            let mut freed = self.freed.lock();
            let number = freed.pop();
            self.freed_count.store(freed.len(), Ordering::Relaxed);
            if number.is_some() {
                return number;
            }
        }
        // Relaxed: hands out numbers.
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.sites.len()).then_some(number as u32)
    }

    fn head(&self, region: &Region, entry: MethodEntry) -> &'static AtomicU32 {
        &self.heads[entry.number(region)]
    }
}

static TABLES: OnceLock<Result<Tables, CodeError>> = OnceLock::new();

fn tables(region: &Region) -> Option<&'static Tables> {
    let make = || {
        let heads = zeroed_words(region.data_bytes() / STUB_BYTES)?;
        let sites = zeroed_words(region.code_bytes / BYTES_PER_SITE)?;
        Ok(Tables {
            heads,
            sites,
            next: AtomicUsize::new(1),
            freed: Mutex::default(),
            freed_count: AtomicUsize::new(0),
        })
    };
    TABLES.get_or_init(make).as_ref().ok()
}

/// A call in a body that has been written, but is not published yet.
pub(crate) struct NewCall {
    pub callee: MethodEntry,
    /// Of the call's field, from the region's base.
    pub offset: usize,
    /// Where it goes.
    pub placed: usize,
    /// The caller is a body of the callee, and the call goes to its start.
    pub is_own: bool,
}

/// Makes a call follow its callee. Both live equally long.
pub(crate) fn link(region: &Region, call: &NewCall) {
    let NewCall { callee, offset, placed, is_own } = *call;
    let stub = callee.stub_address();
    let site = PatchSite::at(offset);
    if placed == stub && matches!(site, PatchSite::Crossing(_)) {
        return;
    }
    let numbered = tables(region).and_then(|tables| Some((tables, tables.take_number()?)));
    if let Some((tables, number)) = numbered {
        linked_calls::add(tables.head(region, callee), tables.sites, number, offset as u32);
    }
    // A body that calls itself is about to become the callee's code if there is none.
    let without_code = if is_own { placed } else { stub };
    let target = || callee.target().unwrap_or(without_code);
    match (site, numbered) {
        (PatchSite::Branch(site), Some(_)) => {
            linked_calls::follow(target, placed, |code| site.set_target(region, code));
        }
        (PatchSite::Crossing(_), Some(_)) if target() == placed => {}
        (PatchSite::Branch(site), None) => site.set_target(region, stub),
        (PatchSite::Crossing(site), _) => {
            // SAFETY: the body is not published, so no thread executes the call.
            unsafe { site.set_target(region, stub) };
        }
    }
}

/// Drops the entry's calls: its method is freed, and so is the code of the calls.
pub(crate) fn forget(entry: MethodEntry) {
    let (Some(region), Some(Ok(tables))) = (mapped_region(), TABLES.get()) else { return };
    let mut taken = Vec::new();
    linked_calls::take_all(tables.head(region, entry), tables.sites, |number| taken.push(number));
    if !taken.is_empty() {
        let mut freed = tables.freed.lock();
        freed.append(&mut taken);
        // Relaxed: a hint.
        tables.freed_count.store(freed.len(), Ordering::Relaxed);
    }
}

/// Makes the calls in the entry's list that can be changed at any time go to `code`.
pub(crate) fn lead_all(entry: MethodEntry, code: usize) {
    let (Some(region), Some(Ok(tables))) = (mapped_region(), TABLES.get()) else { return };
    linked_calls::for_each(tables.head(region, entry), tables.sites, |offset| {
        if let PatchSite::Branch(site) = PatchSite::at(offset as usize) {
            site.set_target(region, code);
        }
    });
}

/// Makes the other calls in the entry's list go through the stub.
///
/// # Safety
/// The world is stopped.
pub(crate) unsafe fn redirect_crossing(entry: MethodEntry) {
    let (Some(region), Some(Ok(tables))) = (mapped_region(), TABLES.get()) else { return };
    let stub = entry.stub_address();
    linked_calls::for_each(tables.head(region, entry), tables.sites, |offset| {
        if let PatchSite::Crossing(site) = PatchSite::at(offset as usize) {
            // SAFETY: no thread executes managed code, and stopped threads are at no call instruction: a call that has
            // begun has ended. The caller has the processors fetch code anew.
            unsafe { site.set_target(region, stub) };
        }
    });
}

/// Where the calls in the entry's list go, for checks.
///
/// # Safety
/// The world is stopped.
pub(crate) unsafe fn called_addresses(entry: MethodEntry) -> Vec<usize> {
    let (Some(region), Some(Ok(tables))) = (mapped_region(), TABLES.get()) else { return Vec::new() };
    let mut called = Vec::new();
    linked_calls::for_each(tables.head(region, entry), tables.sites, |offset| {
        // SAFETY: the field of a placed call, whose code stays as long as the entry; nothing changes it in a stop.
        called.push(unsafe { patch_site::target_of(region, offset as usize) });
    });
    called
}

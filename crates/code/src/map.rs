//! The code map: from an address to the body that covers it, wait-free and safe in signal handlers.
//!
//! | state of a start bit | who moves it | ordering |
//! |---|---|---|
//! | 0 → 1 published | `place`, after code, header and tables are written | `fetch_or` Release, pairs with the Acquire loads below |
//! | 1 → 0 retired | `retire`, when no stack can hold the code | `fetch_and` Release |
//!
//! Look-up: bounds check; scan the chunk's start words backwards from the address (≤ 64); in a chunk that continues a
//! large body, scan the chunk where that body starts. A body never shares its first granule, and each body's header
//! (the word before it) points to its `CodeInfo`, which outlives the bit by a grace period (`walks`).

use crate::info::CodeInfo;
use crate::region::{CHUNK_BYTES, GRANULE_BYTES, Region, STUB_CHUNK, mapped_region};
use saki_sync::WalkEpochs;
use std::sync::atomic::Ordering;

const GRANULES_PER_CHUNK: usize = CHUNK_BYTES / GRANULE_BYTES;

static WALKS: WalkEpochs = WalkEpochs::new();

/// The walks whose addresses may be stale: those of signal handlers. Other look-ups pass addresses of code that runs, on
/// the thread's own stack or with the world stopped, and need no walk.
pub fn walks() -> &'static WalkEpochs {
    &WALKS
}

/// The body that covers `pc`, if any. For return addresses pass `pc − 1`. Wait-free, async-signal-safe. For addresses that
/// may be stale: inside a walk, and nothing of the result is used after it.
pub fn lookup(pc: usize) -> Option<&'static CodeInfo> {
    let region = mapped_region()?;
    let offset = region.offset_of(pc)?;
    let granule = offset / GRANULE_BYTES;
    let chunk = offset / CHUNK_BYTES;
    let start = match last_start_in_chunk(region, chunk, granule) {
        Some(start) => start,
        None => {
            // Acquire: pairs with the Release store in `place`, though the start bit found next orders the header too.
            let back = region.chunk_kinds[chunk].load(Ordering::Acquire);
            if back == 0 || back & STUB_CHUNK != 0 {
                return None;
            }
            let first = chunk.checked_sub(back as usize)?;
            last_start_in_chunk(region, first, (first + 1) * GRANULES_PER_CHUNK - 1)?
        }
    };
    let header = (region.base + start * GRANULE_BYTES - size_of::<usize>()) as *const *const CodeInfo;
    // SAFETY: the start bit is set, so `place` wrote a header before it (Release, read with Acquire); it is in the
    // mapped region because bodies leave room for their header after the chunk's start.
    let info = unsafe { *header };
    // SAFETY: `place` stored a leaked `CodeInfo` there; it is freed only when no walk that found the bit set goes on.
    let info: &'static CodeInfo = unsafe { &*info };
    info.covers(pc).then_some(info)
}

/// Whether `pc` lies in the region (bodies, stubs, veneers or free space). Async-signal-safe.
pub fn contains(pc: usize) -> bool {
    mapped_region().is_some_and(|region| region.offset_of(pc).is_some())
}

/// The highest start at or below `granule` in `chunk`.
fn last_start_in_chunk(region: &Region, chunk: usize, granule: usize) -> Option<usize> {
    let first_word = chunk * GRANULES_PER_CHUNK / 64;
    let mut word_index = granule / 64;
    // Bits at or below the granule.
    let mut mask = u64::MAX >> (63 - granule % 64);
    loop {
        // Acquire: the header and tables written before the bit was set are visible.
        let word = region.starts[word_index].load(Ordering::Acquire) & mask;
        if word != 0 {
            return Some(word_index * 64 + 63 - word.leading_zeros() as usize);
        }
        if word_index == first_word {
            return None;
        }
        word_index -= 1;
        mask = u64::MAX;
    }
}

/// Publishes the body that starts at `offset` bytes; its header and code are written.
pub(crate) fn publish(region: &Region, offset: usize) {
    let granule = offset / GRANULE_BYTES;
    // Release: see the table above.
    region.starts[granule / 64].fetch_or(1 << (granule % 64), Ordering::Release);
}

/// Takes the body that starts at `offset` bytes out of the map.
pub(crate) fn unpublish(region: &Region, offset: usize) {
    let granule = offset / GRANULE_BYTES;
    // Release: see the table above.
    region.starts[granule / 64].fetch_and(!(1 << (granule % 64)), Ordering::Release);
}

//! The code map: from an address to the body that covers it, wait-free and safe in signal handlers.
//!
//! Look-up: bounds check; the start words of the address's chunk and, in a chunk that continues a large body, of the
//! chunk where that body starts (`start_map`, with the table of states). A body never shares its first granule, and
//! each body's header (the word before it) points to its `CodeInfo`, which outlives the bit by a grace period
//! (`walks`).

use crate::info::CodeInfo;
use crate::region::{GRANULE_BYTES, Region, mapped_region};
use crate::start_map;
use saki_sync::WalkEpochs;
use std::ops::Range;

static WALKS: WalkEpochs = WalkEpochs::new();

/// The walks whose addresses may be stale: those of signal handlers. Other look-ups pass addresses of running code,
/// from the thread's own stack or with the world stopped, and need no walk.
pub fn walks() -> &'static WalkEpochs {
    &WALKS
}

/// The body that covers `pc`, if any. For return addresses pass `pc − 1`. Wait-free, async-signal-safe. With an address
/// that may be stale, call this inside a walk and do not use the result after the walk.
pub fn lookup(pc: usize) -> Option<&'static CodeInfo> {
    let region = mapped_region()?;
    let offset = region.offset_of(pc)?;
    let start = start_map::find_start(region.starts, region.chunk_kinds, offset / GRANULE_BYTES)?;
    let header = (region.base + start * GRANULE_BYTES - size_of::<usize>()) as *const *const CodeInfo;
    // SAFETY: the start bit is set, so `place` wrote a header before it (Release, read with Acquire); it is in the
    // mapped region because bodies leave room for their header after the chunk's start.
    let info = unsafe { *header };
    // SAFETY: `place` stored a leaked `CodeInfo` there; it is freed only when no walk that found the bit set goes on.
    let info: &'static CodeInfo = unsafe { &*info };
    info.covers(pc).then_some(info)
}

/// The addresses of bodies, stubs, veneers and free space for them; empty before there are any. Async-signal-safe.
pub fn mapped_range() -> Range<usize> {
    mapped_region().map_or(0..0, Region::code_range)
}

/// Whether `pc` lies in the region. Async-signal-safe.
pub fn contains(pc: usize) -> bool {
    mapped_range().contains(&pc)
}

/// Publishes the body that starts at `offset` bytes; its header and code are written.
pub(crate) fn publish(region: &Region, offset: usize) {
    start_map::publish(region.starts, offset / GRANULE_BYTES);
}

/// Takes the body that starts at `offset` bytes out of the map.
pub(crate) fn unpublish(region: &Region, offset: usize) {
    start_map::unpublish(region.starts, offset / GRANULE_BYTES);
}

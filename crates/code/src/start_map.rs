//! The bitmap behind the code map: at which granules bodies start, and which chunks continue a body.
//!
//! | word | from → to | who moves it | ordering |
//! |---|---|---|---|
//! | start bit | 0 → 1 published | `heap::place`, after code, header and tables are written | `fetch_or` Release |
//! | start bit | 1 → 0 retired | `heap::retire`, when no stack can hold the code | `fetch_and` Release |
//! | chunk kind | 0 → n: continues a body that starts n chunks before | `heap::place`, before that body's start bit | Release |
//! | chunk kind | 0 → stubs | `entry`, before a stub of the chunk is handed out | Release |
//!
//! All pair with the Acquire loads of `find_start`. Bits of other bodies in the same word are changed by
//! read-modify-writes, so a load that reads a later value of the word also acquires the earlier ones (release
//! sequence).
//!
//! Invariant: look-up is wait-free and reads the words of at most two chunks. Left out: the contents at a start
//! (`map`).

use saki_sync::facade::atomic::{AtomicU32, AtomicU64, Ordering};

/// Start words per chunk: one bit per granule.
pub(crate) const WORDS_PER_CHUNK: usize = if cfg!(loom) { 2 } else { 64 };
pub(crate) const GRANULES_PER_CHUNK: usize = WORDS_PER_CHUNK * 64;

/// Tag in chunk kinds: stubs, whose records are in the data chunk of the other bits.
pub(crate) const STUB_CHUNK: u32 = 1 << 31;

/// The granule at which the last body at or before `granule` starts, if there is a body that may cover `granule`.
pub(crate) fn find_start(starts: &[AtomicU64], chunk_kinds: &[AtomicU32], granule: usize) -> Option<usize> {
    let chunk = granule / GRANULES_PER_CHUNK;
    if let Some(start) = last_start_in_chunk(starts, chunk, granule) {
        return Some(start);
    }
    // Acquire: pairs with the Release of whoever made the chunk continue a body, before that body's start bit.
    let back = chunk_kinds[chunk].load(Ordering::Acquire);
    if back == 0 || back & STUB_CHUNK != 0 {
        return None;
    }
    let first = chunk.checked_sub(back as usize)?;
    last_start_in_chunk(starts, first, (first + 1) * GRANULES_PER_CHUNK - 1)
}

/// The highest start at or below `granule` in `chunk`.
fn last_start_in_chunk(starts: &[AtomicU64], chunk: usize, granule: usize) -> Option<usize> {
    let first_word = chunk * WORDS_PER_CHUNK;
    let mut word_index = granule / 64;
    // Bits at or below the granule.
    let mut mask = u64::MAX >> (63 - granule % 64);
    loop {
        // Acquire: the header and tables written before the bit was set are visible.
        let word = starts[word_index].load(Ordering::Acquire) & mask;
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

/// Marks the chunk as one that continues a body of `back` chunks before.
pub(crate) fn continue_body(chunk_kinds: &[AtomicU32], chunk: usize, back: u32) {
    // Release: see the table above.
    chunk_kinds[chunk].store(back, Ordering::Release);
}

/// Publishes the body that starts at `granule`; its header and code are written.
pub(crate) fn publish(starts: &[AtomicU64], granule: usize) {
    // Release: see the table above.
    starts[granule / 64].fetch_or(1 << (granule % 64), Ordering::Release);
}

/// Takes the body that starts at `granule` out of the map.
pub(crate) fn unpublish(starts: &[AtomicU64], granule: usize) {
    // Release: see the table above.
    starts[granule / 64].fetch_and(!(1 << (granule % 64)), Ordering::Release);
}

#[cfg(all(test, loom))]
mod model;

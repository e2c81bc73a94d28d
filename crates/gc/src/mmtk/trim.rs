//! Returning free memory to the system after a full collection.
//!
//! MMTk keeps what it has mapped: after a drop from 550 MB to nothing, 550 MB stayed resident. So after a full collection
//! that leaves much less in use than is resident, the pages of free blocks and of gaps between large objects are given
//! back with `MADV_DONTNEED`. The mapping stays; the next use gets zero pages. This happens inside the pause, because
//! only then no thread can take a block between the look at it and the call; the threshold keeps it rare.
//!
//! A 32 KiB block is free when none of its objects is valid: MMTk clears the valid-object bits of swept blocks, and no
//! thread owns a buffer at the end of a collection. Left out: free lines in blocks that hold something.

use super::{LOWEST_LARGE, LOWEST_SMALL, vo_bit_base};
use crate::large;
use mmtk::memory_manager;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Blocks of the Immix space.
const BLOCK_BYTES: usize = 32 << 10;
/// Mapping granularity of MMTk.
const CHUNK_BYTES: usize = 4 << 20;
/// Do nothing below this much excess.
const MIN_EXCESS_BYTES: usize = 64 << 20;
/// Valid-object bits: one byte per 64 heap bytes.
const VO_BYTES_PER_BLOCK: usize = BLOCK_BYTES / 64;

/// What was resident beyond the heap after the last trim: code, images, the Rust heap. Written with the world stopped.
static NON_HEAP_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Resident bytes of the process, 0 if unknown.
fn resident_bytes() -> usize {
    // statm: total and resident pages.
    std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_ascii_whitespace().nth(1)?.parse::<usize>().ok())
        .map_or(0, |pages| pages * 4096)
}

/// See the module header. The world is stopped and the collection has swept.
pub(super) fn return_free_memory() {
    let used = super::used_bytes();
    let resident = resident_bytes().saturating_sub(NON_HEAP_BYTES.load(Ordering::Relaxed));
    if resident < used + used / 2 + MIN_EXCESS_BYTES {
        return;
    }
    // Relaxed: the world is stopped.
    let lowest_small = LOWEST_SMALL.load(Ordering::Relaxed);
    if lowest_small != usize::MAX {
        trim_blocks(lowest_small & !(BLOCK_BYTES - 1));
    }
    let lowest_large = LOWEST_LARGE.load(Ordering::Relaxed);
    if lowest_large != usize::MAX {
        trim_gaps(lowest_large & !4095);
    }
    NON_HEAP_BYTES.store(resident_bytes().saturating_sub(used), Ordering::Relaxed);
}

fn is_mapped(address: usize) -> bool {
    memory_manager::is_mapped_address(super::to_address(address))
}

fn give_back(start: usize, end: usize) {
    if start < end {
        // SAFETY: the range is mapped heap memory without live objects; reading it later gives zeros, which is what
        // MMTk makes of free memory before use anyway.
        unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
    }
}

fn is_free_block(block: usize) -> bool {
    let bits = (vo_bit_base() + (block >> 6)) as *const u64;
    // SAFETY: the valid-object bits of mapped chunks are mapped; a block has 512 bytes of them, aligned.
    (0..VO_BYTES_PER_BLOCK / 8).all(|word| unsafe { *bits.add(word) } == 0)
}

/// Small objects: all mapped blocks from `start` on. The space grows without holes.
fn trim_blocks(start: usize) {
    let mut block = start;
    let mut free_from = None;
    while is_mapped(block) {
        if is_free_block(block) {
            free_from.get_or_insert(block);
        } else if let Some(from) = free_from.take() {
            give_back(from, block);
        }
        block += BLOCK_BYTES;
    }
    if let Some(from) = free_from {
        give_back(from, block);
    }
}

/// Large objects: the gaps between them, in whole pages.
fn trim_gaps(start: usize) {
    let mut free_from = start;
    large::for_each(&mut |object, size_bytes| {
        give_back(free_from, object & !4095);
        free_from = (object + size_bytes).next_multiple_of(4096);
    });
    let mut end = free_from;
    while is_mapped(end) {
        end = (end + CHUNK_BYTES) & !(CHUNK_BYTES - 1);
    }
    give_back(free_from, end);
}

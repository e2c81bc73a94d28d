//! Returning free memory to the system after a full collection.
//!
//! MMTk keeps what it has mapped: after a drop from 550 MB to nothing, 550 MB stayed resident. So after a full
//! collection that leaves much more of the heap resident than it may use before the next one, the pages of free blocks
//! and of gaps between large objects are given back with `MADV_DONTNEED`, but only the pages in excess of that amount:
//! the others will be used again soon. What a program will use soon is also bounded by how fast it has allocated since
//! the full collection before (`policy`): one that has become quiet keeps little, at most 8 MiB of free memory more
//! than it is expected to allocate. The mapping stays; the next use gets zero pages. This happens inside the pause,
//! because only then no thread can take a block between the check of it and the call; the thresholds keep it rare.
//!
//! Residence is asked for page by page (`mincore`): the process's total also counts compiled code and the runtime's own
//! allocations, and a program with much of either would lose its nursery at every full collection. If even the
//! process's total is below the threshold, the pages are not looked at: otherwise a program that takes and drops arrays
//! of gigabytes, and writes to a few pages of each, would wait for the look.
//!
//! A 32 KiB block is free when none of its objects is valid: MMTk clears the valid-object bits of swept blocks, and no
//! thread owns a buffer at the end of a collection. Left out: free lines in blocks that hold live objects.

use super::addresses::{LOWEST_LARGE, LOWEST_SMALL, to_address};
use super::bits::vo_bit_base;
use super::instance::policy;
use super::layout::BLOCK_BYTES;
use super::residence;
use crate::large;
use crate::policy::PAGE_BYTES;
use mmtk::memory_manager;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Mapping granularity of MMTk.
const CHUNK_BYTES: usize = 4 << 20;
/// Do nothing below this much excess over the limit, ...
const MIN_EXCESS_BYTES: usize = 32 << 20;
/// ... and over the expected demand.
const MIN_QUIET_EXCESS_BYTES: usize = 8 << 20;
/// Bytes looked at or given back at once.
const STEP_BYTES: usize = residence::MAX_BYTES;
/// Valid-object bits: one byte per 64 heap bytes.
const VO_BYTES_PER_BLOCK: usize = BLOCK_BYTES / 64;

/// The policy's limit after the previous full collection. Written with the world stopped. So Relaxed.
static LAST_LIMIT_BYTES: AtomicUsize = AtomicUsize::new(0);

/// See the module header. The world is stopped, the collection has swept, and the policy has set the new limit.
/// `used_bytes`: the size of the heap's objects.
pub(super) fn return_free_memory(used_bytes: usize) {
    // The limits of two collections count, so that a heap whose size oscillates does not give back memory that it soon
    // needs again.
    let new_limit = policy().limit_pages() * PAGE_BYTES;
    let limit = new_limit.max(LAST_LIMIT_BYTES.swap(new_limit, Ordering::Relaxed));
    let mut free = Vec::new();
    // Relaxed: the world is stopped.
    let lowest_small = LOWEST_SMALL.load(Ordering::Relaxed);
    if lowest_small != usize::MAX {
        find_free_blocks(lowest_small & !(BLOCK_BYTES - 1), &mut free);
    }
    let lowest_large = LOWEST_LARGE.load(Ordering::Relaxed);
    if lowest_large != usize::MAX {
        find_gaps(lowest_large & !(PAGE_BYTES - 1), &mut free);
    }
    let expected = used_bytes.saturating_add(policy().demand_bytes());
    let threshold = (limit + MIN_EXCESS_BYTES).min(expected.saturating_add(MIN_QUIET_EXCESS_BYTES));
    let is_excessive = |free_bytes: usize| used_bytes + free_bytes >= threshold;
    let free_bytes: usize = free.iter().map(Range::len).sum();
    if !is_excessive(free_bytes) || !is_excessive(free_bytes.min(residence::process_bytes())) {
        return;
    }
    let resident = free.iter().map(|range| resident_bytes(range.clone())).sum();
    if is_excessive(resident) {
        give_back(free, used_bytes + resident - limit.min(expected));
    }
}

/// How much of a mapped range of whole pages is in memory.
fn resident_bytes(range: Range<usize>) -> usize {
    let steps = range.clone().step_by(STEP_BYTES).map(|start| (start, (range.end - start).min(STEP_BYTES)));
    steps.filter_map(|(start, len)| residence::resident_pages(start, len)).sum::<usize>() * PAGE_BYTES
}

/// Gives back the `free` ranges, the highest addresses first since the lowest are reused first, until `excess_bytes`
/// less are resident. Whether a range is resident is looked up, since it may have no memory at all.
fn give_back(mut free: Vec<Range<usize>>, excess_bytes: usize) {
    free.sort_unstable_by_key(|range| std::cmp::Reverse(range.start));
    let mut given = 0;
    for range in free {
        let mut end = range.end;
        while end > range.start && given < excess_bytes {
            let start = end.saturating_sub(STEP_BYTES).max(range.start);
            given += resident_bytes(start..end);
            // SAFETY: the range is mapped heap memory without live objects; reading it later gives zeros, which is what
            // MMTk makes of free memory before use anyway.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
            end = start;
        }
    }
}

fn is_mapped(address: usize) -> bool {
    memory_manager::is_mapped_address(to_address(address))
}

fn is_free_block(block: usize) -> bool {
    let bits = (vo_bit_base() + (block >> 6)) as *const u64;
    // SAFETY: the valid-object bits of mapped chunks are mapped; a block has 512 bytes of them, aligned.
    (0..VO_BYTES_PER_BLOCK / 8).all(|word| unsafe { *bits.add(word) } == 0)
}

/// Small objects: all mapped blocks from `start` on. The space grows without holes.
fn find_free_blocks(start: usize, free: &mut Vec<Range<usize>>) {
    let mut block = start;
    let mut free_from = None;
    while is_mapped(block) {
        if is_free_block(block) {
            free_from.get_or_insert(block);
        } else if let Some(from) = free_from.take() {
            free.push(from..block);
        }
        block += BLOCK_BYTES;
    }
    if let Some(from) = free_from {
        free.push(from..block);
    }
}

/// Large objects: the gaps between them, in whole pages.
fn find_gaps(start: usize, free: &mut Vec<Range<usize>>) {
    let mut push = |from: usize, to: usize| {
        if from < to {
            free.push(from..to);
        }
    };
    let mut free_from = start;
    large::for_each(&mut |object, size_bytes| {
        push(free_from, object & !(PAGE_BYTES - 1));
        free_from = (object + size_bytes).next_multiple_of(PAGE_BYTES);
    });
    let mut end = free_from;
    while is_mapped(end) {
        end = (end + CHUNK_BYTES) & !(CHUNK_BYTES - 1);
    }
    push(free_from, end);
}

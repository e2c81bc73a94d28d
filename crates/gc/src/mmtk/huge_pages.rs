//! Huge pages for heaps that are not small.
//!
//! MMTk maps chunks of 4 MiB, and the kernel gives their memory page by page: a program that fills a nursery of 32 MiB
//! takes 8,000 page faults, a tenth of the time of programs that build collections; and with small pages the TLB misses
//! more often while the collector traces. So each chunk of small objects beyond the first ones is marked for huge pages
//! when the first object in it is allocated, and its beginning, which has been touched by then, is made a huge page
//! (`MADV_COLLAPSE`).
//!
//! MMTk's own option marks all chunks: programs that need less than one chunk would grow by megabytes. Left out: large
//! objects, of which the program may use little (see `zeroing`).

use std::sync::atomic::{AtomicUsize, Ordering};

/// Mapping granularity of MMTk.
const CHUNK_BYTES: usize = 4 << 20;
/// Size and alignment of a huge page where the page size is 4 KiB.
const HUGE_PAGE_BYTES: usize = 2 << 20;
/// Chunks that stay as they are: hello world needs a part of one.
const SMALL_CHUNKS: usize = 2;

/// End of the chunks of small objects that were looked at. Relaxed: marking one twice, or not at all, changes no
/// behaviour.
static FRONTIER: AtomicUsize = AtomicUsize::new(0);

/// A slow-path allocation gave a small object at `address`; the first one was at `lowest`.
#[inline]
pub(super) fn note(address: usize, lowest: usize) {
    if address >= FRONTIER.load(Ordering::Relaxed) {
        advance(address, lowest);
    }
}

#[cold]
fn advance(address: usize, lowest: usize) {
    let chunk = address & !(CHUNK_BYTES - 1);
    let seen_to = FRONTIER.fetch_max(chunk + CHUNK_BYTES, Ordering::Relaxed);
    if chunk < seen_to || address.saturating_sub(lowest) < SMALL_CHUNKS * CHUNK_BYTES {
        return;
    }
    let start = std::ptr::with_exposed_provenance_mut(chunk);
    // SAFETY: a chunk that MMTk has mapped for the heap. The advice changes no content; where the kernel does not take
    // it, the pages stay small.
    if unsafe { libc::madvise(start, CHUNK_BYTES, libc::MADV_HUGEPAGE) } == 0 {
        // SAFETY: the first huge page of the chunk that the call above was about; collapsing changes no content either.
        unsafe { libc::madvise(start, HUGE_PAGE_BYTES, libc::MADV_COLLAPSE) };
    }
}

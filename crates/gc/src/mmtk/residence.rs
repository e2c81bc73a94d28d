//! How much of the heap is in memory.
//!
//! `mincore` answers with a byte for each page, 2 ms for 2 GB on a virtual machine. If the resident size of the whole
//! process, which the kernel counts anyway, is small, that number is used as an upper bound instead. Left out: what is
//! swapped out, which counts as absent.

use crate::policy::PAGE_BYTES;

/// The most bytes that one call looks at.
pub(super) const MAX_BYTES: usize = 16 << 20;
/// Pages counted in a byte; at most 255.
const PAGES_PER_SUM: usize = 128;

/// How many pages of a range are in memory. None: the kernel does not answer.
pub(super) fn resident_pages(start: usize, len_bytes: usize) -> Option<usize> {
    let mut pages = [0u8; MAX_BYTES / PAGE_BYTES];
    let pages = pages.get_mut(..len_bytes.div_ceil(PAGE_BYTES))?;
    // SAFETY: one byte for each page of the range, whose contents are not touched.
    let result = unsafe { libc::mincore(start as *mut libc::c_void, len_bytes, pages.as_mut_ptr()) };
    (result == 0).then(|| count(pages))
}

/// How many pages of `mincore`'s answer are in memory. Sums of one byte let the compiler add sixteen pages at once.
fn count(pages: &[u8]) -> usize {
    pages.chunks(PAGES_PER_SUM).map(|pages| usize::from(pages.iter().map(|page| page & 1).sum::<u8>())).sum()
}

/// The resident bytes of the process, to within a few hundred pages; `usize::MAX` if unknown.
pub(super) fn process_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.map_or(usize::MAX, |pages| pages * PAGE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_pages_whatever_else_their_bytes_say() {
        let mut pages = [0x80_u8; 3 * PAGES_PER_SUM + 5];
        assert_eq!(count(&pages), 0);
        pages.iter_mut().skip(1).step_by(2).for_each(|page| *page |= 1);
        assert_eq!(count(&pages), pages.len() / 2);
        assert_eq!(count(&[0xff; 4 * PAGES_PER_SUM]), 4 * PAGES_PER_SUM);
    }

    #[test]
    fn a_written_page_is_in_memory() {
        let page = vec![1u8; 3 * PAGE_BYTES];
        let start = page.as_ptr().addr().next_multiple_of(PAGE_BYTES);
        assert_eq!(resident_pages(start, 2 * PAGE_BYTES), Some(2));
        assert_eq!(resident_pages(start, MAX_BYTES + PAGE_BYTES), None);
        assert!((PAGE_BYTES..usize::MAX).contains(&process_bytes()));
    }
}

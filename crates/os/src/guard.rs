//! Guard ranges: pages inside a writable mapping that fault when they are touched.
//!
//! Markers (`MADV_GUARD_INSTALL`, Linux 6.13) live in the page tables: with a million of them a mapping is still one
//! kernel area, and they survive `discard`. Elsewhere the protection of the pages is changed, which splits the mapping,
//! so that each guard counts twice against `vm.max_map_count`.
//!
//! Invariant: a guard has no memory, and a touch of it is SIGSEGV (SEGV_MAPERR for markers, SEGV_ACCERR for protection)
//! or EFAULT from a system call. Left out: locked memory, on which the kernel installs no markers.

use crate::error::check;
use crate::memory::{Protection, Reservation, page_size_bytes};
use std::io;
use std::ops::Range;
use std::sync::OnceLock;

/// `MADV_GUARD_INSTALL` of `asm-generic/mman-common.h`.
const MADV_GUARD_INSTALL: i32 = 102;

/// `MADV_GUARD_REMOVE`.
const MADV_GUARD_REMOVE: i32 = 103;

/// Names the calling process to `process_madvise` (`linux/pidfd.h`, Linux 6.14; earlier kernels answer EBADF).
const PIDFD_SELF: i32 = -10_000;

/// Ranges that one system call gets.
const AT_ONCE: usize = 32;

/// How ranges are guarded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuardKind {
    /// Markers in the page tables, any number of them.
    Markers,
    /// `mprotect`; `vm.max_map_count` limits how many there can be.
    Protection,
}

impl std::fmt::Display for GuardKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            GuardKind::Markers => "markers in page tables (MADV_GUARD_INSTALL)",
            GuardKind::Protection => "protected pages (the kernel has no MADV_GUARD_INSTALL; Linux 6.13 has)",
        })
    }
}

/// The best kind that works here, found once.
pub fn kind() -> GuardKind {
    static FOUND: OnceLock<GuardKind> = OnceLock::new();
    *FOUND.get_or_init(|| if markers_work() { GuardKind::Markers } else { GuardKind::Protection })
}

/// Installs a marker and has the kernel touch it: an emulator may take the advice and do nothing.
fn markers_work() -> bool {
    let Ok(probe) = Reservation::reserve_writable(page_size_bytes()) else { return false };
    if probe.install_guard(0, probe.len_bytes(), GuardKind::Markers).is_err() {
        return false;
    }
    // SAFETY: the page is ours; the kernel writes a byte into it, or returns EFAULT.
    let written = unsafe { libc::syscall(libc::SYS_getrandom, probe.base(), 1_usize, libc::GRND_NONBLOCK) };
    written < 0 && crate::error::errno() == libc::EFAULT
}

impl Reservation {
    /// Makes whole pages of a writable mapping a guard; their contents are lost. Errors: the system's.
    pub fn install_guard(&self, offset_bytes: usize, len_bytes: usize, kind: GuardKind) -> io::Result<()> {
        match kind {
            GuardKind::Markers => {
                let start = self.range(offset_bytes, len_bytes);
                // SAFETY: `range` checked that the pages are ours; nothing keeps references into a reservation.
                check(unsafe { libc::madvise(start, len_bytes, MADV_GUARD_INSTALL) })
            }
            GuardKind::Protection => self.protect(offset_bytes, len_bytes, Protection::None),
        }
    }

    /// Installs markers in ranges of offsets, ascending, many with one system call where the kernel can. Returns how
    /// many ranges it filled before an error, and the error.
    pub fn install_markers(&self, ranges: impl IntoIterator<Item = Range<usize>>) -> (usize, io::Result<()>) {
        let mut ranges = ranges.into_iter().peekable();
        let mut done = 0;
        while ranges.peek().is_some() {
            let mut batch: Vec<Range<usize>> = Vec::with_capacity(AT_ONCE);
            batch.extend(ranges.by_ref().take(AT_ONCE));
            let places = batch
                .iter()
                .map(|range| libc::iovec { iov_base: self.range(range.start, range.len()), iov_len: range.len() });
            // SAFETY: `range` checked that the pages are ours; nothing keeps references into a reservation.
            let mut done_bytes = unsafe { advise_many(&places.collect::<Vec<_>>(), MADV_GUARD_INSTALL) };
            for range in batch {
                if range.len() <= done_bytes {
                    done_bytes -= range.len();
                } else {
                    // The kernel cannot, or this call returns the error.
                    done_bytes = 0;
                    let result = self.install_guard(range.start, range.len(), GuardKind::Markers);
                    if result.is_err() {
                        return (done, result);
                    }
                }
                done += 1;
            }
        }
        (done, Ok(()))
    }
}

/// Gives the same advice for many ranges with one system call. Returns how many bytes, from the first range on, the
/// kernel took it for: 0 before Linux 6.14.
///
/// # Safety
/// As for `madvise` on each of the ranges.
unsafe fn advise_many(ranges: &[libc::iovec], advice: i32) -> usize {
    // SAFETY: the kernel reads the list only, and the advice is sound for each of its ranges.
    let advised =
        unsafe { libc::syscall(libc::SYS_process_madvise, PIDFD_SELF, ranges.as_ptr(), ranges.len(), advice, 0_u32) };
    usize::try_from(advised).unwrap_or(0)
}

/// Removes the markers in ranges of whole pages, many with one system call where the kernel can. The kernel looks at
/// each page of a range, so a range should consist of markers only.
///
/// # Errors
/// The system's.
///
/// # Safety
/// The pages are writable anonymous mappings', and nobody needs their contents.
pub unsafe fn remove_markers(ranges: impl IntoIterator<Item = Range<usize>>) -> io::Result<()> {
    let mut ranges = ranges.into_iter().peekable();
    while ranges.peek().is_some() {
        let mut batch: Vec<libc::iovec> = Vec::with_capacity(AT_ONCE);
        batch.extend(
            ranges
                .by_ref()
                .take(AT_ONCE)
                .map(|pages| libc::iovec { iov_base: pages.start as *mut libc::c_void, iov_len: pages.len() }),
        );
        // SAFETY: the pages are anonymous mappings', and nobody needs what a removed marker discards.
        let mut done_bytes = unsafe { advise_many(&batch, MADV_GUARD_REMOVE) };
        for pages in batch {
            if pages.iov_len <= done_bytes {
                done_bytes -= pages.iov_len;
                continue;
            }
            done_bytes = 0;
            // SAFETY: the same pages, one range of them.
            check(unsafe { libc::madvise(pages.iov_base, pages.iov_len, MADV_GUARD_REMOVE) })?;
        }
    }
    Ok(())
}

/// Installs markers in whole pages, whose contents are lost, or removes them.
///
/// # Errors
/// The system's.
///
/// # Safety
/// The pages are a writable anonymous mapping's, and nobody needs their contents.
pub unsafe fn set_markers(pages: Range<usize>, are_guarded: bool) -> io::Result<()> {
    let advice = if are_guarded { MADV_GUARD_INSTALL } else { MADV_GUARD_REMOVE };
    // SAFETY: the pages are a writable anonymous mapping's, and nobody needs their contents.
    check(unsafe { libc::madvise(pages.start as *mut libc::c_void, pages.len(), advice) })
}

/// How many areas a process's address space may have (`vm.max_map_count`), as it was at the first question.
pub fn max_map_count() -> usize {
    /// The kernel's default.
    const DEFAULT: usize = 65_530;
    static FOUND: OnceLock<usize> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/sys/vm/max_map_count");
        text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(DEFAULT)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the kernel can write there.
    fn is_touchable(region: &Reservation, offset_bytes: usize) -> bool {
        let place = region.base().wrapping_add(offset_bytes);
        // SAFETY: the page is ours.
        unsafe { libc::syscall(libc::SYS_getrandom, place, 1_usize, libc::GRND_NONBLOCK) == 1 }
    }

    #[test]
    fn the_kernel_cannot_touch_a_guard_of_either_kind() {
        let page = page_size_bytes();
        let kinds = [Some(GuardKind::Protection), markers_work().then_some(GuardKind::Markers)];
        for kind in kinds.into_iter().flatten() {
            let region = Reservation::reserve_writable(3 * page).unwrap();
            region.install_guard(page, page, kind).unwrap();
            region.discard(0, 3 * page).unwrap();
            let is_touchable = |index| is_touchable(&region, index * page);
            assert_eq!([0, 1, 2].map(is_touchable), [true, false, true], "{kind}");
        }
    }

    #[test]
    fn many_markers_are_where_they_were_asked_for() {
        if !markers_work() {
            return;
        }
        const COUNT: usize = 2 * AT_ONCE + 5;
        let page = page_size_bytes();
        let region = Reservation::reserve_writable((3 * COUNT + 1) * page).unwrap();
        let (done, result) =
            region.install_markers((0..COUNT).map(|index| (3 * index + 1) * page..(3 * index + 3) * page));
        assert_eq!((done, result.is_ok()), (COUNT, true));
        for index in 0..=3 * COUNT {
            assert_eq!(is_touchable(&region, index * page), index % 3 == 0, "{index}");
        }
    }
}

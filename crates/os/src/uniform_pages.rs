//! Giving back memory whose bytes are all the same.
//!
//! A table that was filled with one value takes as much memory as one with contents. Here such pages become private
//! mappings of a small file in memory with that value: readers find what was there, and what is written to gets pages
//! of its own again. Invariant: no byte changes. Left out: finding such pages again later.

use crate::error::check;
use crate::limits::{Resource, limit_bytes};
use std::ffi::c_void;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Length of the file: a range of this length becomes one mapping, at some 2 µs.
const FILE_BYTES: usize = 128 << 10;
/// Bytes written to it at once.
const PART_BYTES: usize = 8 << 10;
/// Shorter ranges are not worth a mapping.
const MIN_RANGE_BYTES: usize = 64 << 10;

/// Whether every byte of the page has this value.
///
/// # Safety
/// `page` is the first address of a readable page of this many bytes.
unsafe fn is_uniform(page: *const u8, value: u8, page_bytes: usize) -> bool {
    let word = u64::from_ne_bytes([value; size_of::<u64>()]);
    let words = page.cast::<u64>();
    // SAFETY: inside the page, and aligned. Volatile: other threads may write to a page of other contents meanwhile.
    (0..page_bytes / size_of::<u64>()).all(|index| unsafe { words.add(index).read_volatile() } == word)
}

/// Unites the numbers of pages, in ascending order, to ranges of at most `max_count` pages: first number and count.
/// Those of fewer than `min_count` are left out.
fn ranges(pages: impl Iterator<Item = usize>, min_count: usize, max_count: usize) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for page in pages {
        match ranges.last_mut() {
            Some((first, count)) if *first + *count == page && *count < max_count => *count += 1,
            _ => ranges.push((page, 1)),
        }
    }
    ranges.retain(|(_, count)| *count >= min_count);
    ranges
}

/// Gives back the memory of pages in which every byte has this value; returns how many bytes these were.
///
/// # Errors
/// The system's; the contents are as before.
///
/// # Safety
/// `start` is the first address of `len_bytes` of private anonymous memory, whole pages that stay mapped. During the
/// call no other thread writes to pages that have this value in every byte.
pub unsafe fn share(start: *mut u8, len_bytes: usize, value: u8) -> io::Result<usize> {
    let page_bytes = crate::page_size_bytes();
    assert!(start.addr().is_multiple_of(page_bytes) && len_bytes.is_multiple_of(page_bytes));
    // SAFETY: `page` counts the whole pages of the `len_bytes` from `start` on.
    let is_uniform = |page: &usize| unsafe { is_uniform(start.add(page * page_bytes), value, page_bytes) };
    let pages = (0..len_bytes / page_bytes).filter(is_uniform);
    let ranges = ranges(pages, MIN_RANGE_BYTES / page_bytes, FILE_BYTES / page_bytes);
    if ranges.is_empty() {
        return Ok(0);
    }
    let file = file_of(value)?;
    let mut given_bytes = 0;
    for (first, count) in ranges {
        let (offset, len) = (first * page_bytes, count * page_bytes);
        let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let place = start.wrapping_add(offset).cast::<c_void>();
        // SAFETY: `ranges` lists whole pages of the `len_bytes` from `start` on, all of whose bytes have this value, as
        // those of the file have; writes to them have ended.
        let mapped = unsafe { libc::mmap(place, len, protection, flags, file.as_raw_fd(), 0) };
        if mapped == libc::MAP_FAILED {
            return Err(crate::error::last_error());
        }
        given_bytes += len;
    }
    Ok(given_bytes)
}

/// A file in memory, each byte of which has this value.
fn file_of(value: u8) -> io::Result<OwnedFd> {
    // A longer write would raise SIGXFSZ, which ends the process; files in memory are files, too.
    if FILE_BYTES > limit_bytes(Resource::FileSize) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    // SAFETY: the name is a C string.
    let file = unsafe { libc::memfd_create(c"saki-uniform".as_ptr(), libc::MFD_CLOEXEC) };
    check(file)?;
    // SAFETY: the descriptor was just opened and has no other owner. It is closed at the end, but the mappings keep the
    // memory.
    let file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(file) });
    let part = [value; PART_BYTES];
    for _ in 0..FILE_BYTES / PART_BYTES {
        (&file).write_all(&part)?;
    }
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reservation;

    #[test]
    fn adjacent_pages_are_united_up_to_the_length_of_the_file() {
        let pages = (0..3).chain(4..15).chain(20..22);
        assert_eq!(ranges(pages, 3, 5), [(0, 3), (4, 5), (9, 5)]);
        assert_eq!(ranges(std::iter::empty(), 1, 5), []);
    }

    #[test]
    fn contents_stay_and_can_be_changed() {
        let block = Reservation::reserve_writable(2 * FILE_BYTES).unwrap();
        // SAFETY: the block's bytes, which nothing else uses.
        let bytes = unsafe { std::slice::from_raw_parts_mut(block.base(), 2 * FILE_BYTES) };
        bytes.fill(1);
        bytes[100] = 7;
        let before = bytes.to_vec();
        // SAFETY: memory of ours, which no other thread knows.
        let given = unsafe { share(block.base(), 2 * FILE_BYTES, 1) }.unwrap();
        assert_eq!(given, 2 * FILE_BYTES - crate::page_size_bytes());
        assert!(*bytes == before);
        bytes[FILE_BYTES] = 9;
        let changed: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] != 1).collect();
        assert_eq!(changed, [100, FILE_BYTES]);
    }
}

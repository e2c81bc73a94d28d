//! Zeroes large arrays without making memory resident that the program never writes to.
//!
//! MMTk zeroes all pages of a large object with `memset`, fresh pages too, and its own switch for that cannot be
//! reached from outside. So `new byte[2000000000]` took seconds and two gigabytes of memory, of which the program might
//! use little. MMTk's calls end in the `memset` below. For large zeroed ranges of the heap this `memset` looks piece by
//! piece at which pages are resident (`mincore`): a piece that is mostly resident gets its zeroes written, and any
//! other is given back to the system (`MADV_DONTNEED`): its next use gets zero pages.
//!
//! Writing to resident memory is many times cheaper than page faults for new memory (4 MiB: 0.16 ms, with faults 7 ms
//! on a virtual machine), so arrays that are filled and dropped in a loop keep their memory, whatever their size; and
//! where little is resident, the look and the giving back take less than a millisecond per gigabyte. Pages that are
//! swapped out count as not resident, and are dropped.
//!
//! Invariant: when `memset` returns, every byte of the range reads as the value asked for; this is verified, since
//! kernels and emulators may not zero pages given back, see [`give_back`]. Heap memory is recognised by its address
//! alone, so no marker of an allocation in progress is needed: private anonymous memory that was given back reads as
//! zeroes, whoever called `memset`. Calls for other memory cost one comparison and a jump more.
//!
//! Rejected: a changed copy of MMTk; large arrays outside MMTk's space of large objects, which would have to be marked
//! and swept separately; `--wrap` of the linker, which each program and test that links this crate would have to ask
//! for.

use super::addresses::{HEAP_END, HEAP_START};
use super::residence;
use crate::policy::PAGE_BYTES;
use std::ffi::{c_int, c_void};
use std::ops::Range;

/// Below this, zeroes are written: the program will soon write to much of the memory anyway. Mono maps each larger
/// array anew.
const MIN_BYTES: usize = 1 << 20;
/// The size of a piece, which is looked at, and written or given back, as a whole: MMTk maps the heap in chunks of 4
/// MiB.
const PIECE_BYTES: usize = 4 << 20;

// Native libraries keep the C library's own.
std::arch::global_asm!(".hidden memset");

unsafe extern "C" {
    /// The C library's `memset`, with a check that `len_bytes` is at most `room_bytes`.
    fn __memset_chk(start: *mut c_void, value: c_int, len_bytes: usize, room_bytes: usize) -> *mut c_void;
}

/// In place of the C library's for all Rust code of the process. See the module header.
///
/// # Safety
/// As for `memset(3)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(start: *mut c_void, value: c_int, len_bytes: usize) -> *mut c_void {
    if len_bytes >= MIN_BYTES {
        // SAFETY: the range is one that `memset(3)` may write to, which this function demands as well.
        return unsafe { set_large(start, value, len_bytes) };
    }
    // SAFETY: the range is one that `memset(3)` may write to, which this function demands as well.
    unsafe { system_memset(start, value, len_bytes) }
}

/// # Safety
/// As for `memset(3)`.
#[cold]
#[inline(never)]
unsafe extern "C" fn set_large(start: *mut c_void, value: c_int, len_bytes: usize) -> *mut c_void {
    if value != 0 || !is_pages_of_heap(start as usize, len_bytes) {
        // SAFETY: the range is one that `memset(3)` may write to, which this function demands as well.
        return unsafe { system_memset(start, value, len_bytes) };
    }
    // SAFETY: whole pages of the heap, by the check above, which is private anonymous memory; the range is one that
    // `memset(3)` may write to.
    unsafe { zero_pages(start.cast(), len_bytes) };
    start
}

fn is_pages_of_heap(start: usize, len_bytes: usize) -> bool {
    let is_in_heap = (HEAP_START..HEAP_END).contains(&start) && len_bytes <= HEAP_END - start;
    is_in_heap && (start | len_bytes).is_multiple_of(PAGE_BYTES)
}

/// # Safety
/// As for `memset(3)`.
#[inline(always)]
unsafe fn system_memset(start: *mut c_void, value: c_int, len_bytes: usize) -> *mut c_void {
    let mut room_bytes = usize::MAX;
    // With a constant the compiler knows that the check cannot fail, and would call `memset`, which is where we come
    // from.
    // SAFETY: it holds no instruction.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) room_bytes, options(pure, nomem, nostack, preserves_flags));
    }
    // SAFETY: the range is one that `memset(3)` may write to; the room passed is so large that the check of the C
    // library never fails.
    unsafe { __memset_chk(start, value, len_bytes, room_bytes) }
}

/// Makes the range zero. Pieces that are not in memory stay out of it.
///
/// # Safety
/// Whole pages of private anonymous memory that the caller may write to.
unsafe fn zero_pages(start: *mut u8, len_bytes: usize) {
    let mut absent_from = 0;
    for offset in (0..len_bytes).step_by(PIECE_BYTES) {
        let end = (offset + PIECE_BYTES).min(len_bytes);
        // SAFETY: `offset < len_bytes`.
        let piece = unsafe { start.add(offset) };
        if is_mostly_resident(piece, end - offset) {
            // SAFETY: a part of the range in whole pages: pieces are multiples of pages. The pieces before this one are
            // dealt with together, for each call costs a page fault.
            unsafe { zero_absent(start, absent_from..offset) };
            // SAFETY: the piece lies in the range, all of which may be written to.
            unsafe { system_memset(piece.cast(), 0, end - offset) };
            absent_from = end;
        }
    }
    // SAFETY: the rest of the range.
    unsafe { zero_absent(start, absent_from..len_bytes) };
}

/// Makes a part zero of which little is in memory; it may be empty.
///
/// # Safety
/// The part at `offsets` from `start` is whole pages of private anonymous memory that the caller may write to.
unsafe fn zero_absent(start: *mut u8, offsets: Range<usize>) {
    // SAFETY: the part begins inside the range that starts at `start`, or at its end where it is empty.
    let part = unsafe { start.add(offsets.start) };
    // SAFETY: the part is not empty, is whole pages of private anonymous memory, and may be written to, which this
    // function demands.
    if !offsets.is_empty() && unsafe { !give_back(part, offsets.len()) } {
        // SAFETY: the part may be written to, which this function demands; `give_back` has only changed its contents.
        unsafe { system_memset(part.cast(), 0, offsets.len()) };
    }
}

/// Whether most pages of a piece are in memory; `true` if the kernel does not answer.
fn is_mostly_resident(start: *mut u8, len_bytes: usize) -> bool {
    residence::resident_pages(start.addr(), len_bytes).is_none_or(|pages| pages * 2 > len_bytes / PAGE_BYTES)
}

/// Gives the memory of a range back to the system, so that it reads as zeroes. False: its contents are unchanged but
/// for the first byte: locked memory (`mlockall`) is kept, and emulators may accept the advice and do nothing, which a
/// mark in the first byte shows.
///
/// # Safety
/// At least one whole page of private anonymous memory that the caller may write to.
unsafe fn give_back(start: *mut u8, len_bytes: usize) -> bool {
    // SAFETY: the first byte of the range. Volatile: the system call in between changes it.
    unsafe { start.write_volatile(1) };
    // SAFETY: the range is at least a page of private anonymous memory that may be written to, which this function
    // demands: only what is in it is lost.
    let advice_was_taken = unsafe { libc::madvise(start.cast(), len_bytes, libc::MADV_DONTNEED) } == 0;
    // SAFETY: the first byte of the range, which is still mapped: the advice drops contents, not the mapping.
    advice_was_taken && unsafe { start.read_volatile() } == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two pieces and a half.
    const LEN_BYTES: usize = 2 * PIECE_BYTES + PIECE_BYTES / 2;

    /// Private anonymous memory of [`LEN_BYTES`], without huge pages.
    fn map() -> *mut u8 {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), LEN_BYTES, protection, flags, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        // SAFETY: the mapping just made.
        unsafe { libc::madvise(start, LEN_BYTES, libc::MADV_NOHUGEPAGE) };
        start.cast()
    }

    fn resident_pages(start: *mut u8) -> usize {
        let mut pages = [0u8; LEN_BYTES / PAGE_BYTES];
        // SAFETY: one byte for each page of a mapping made by `map`.
        assert_eq!(unsafe { libc::mincore(start.cast(), LEN_BYTES, pages.as_mut_ptr()) }, 0);
        pages.iter().filter(|&&page| page & 1 != 0).count()
    }

    /// Writes to the `dirty` pages of a mapping, zeroes it and returns how many of its pages are resident then.
    fn resident_after_zeroing(dirty: &mut dyn Iterator<Item = usize>) -> usize {
        let start = map();
        for page in dirty {
            // SAFETY: within the mapping.
            unsafe { start.add(page * PAGE_BYTES + page % PAGE_BYTES).write(0xff) };
        }
        // SAFETY: the mapping is ours.
        unsafe { zero_pages(start, LEN_BYTES) };
        let resident = resident_pages(start);
        // SAFETY: mapped, and written to by nobody else.
        let bytes = unsafe { std::slice::from_raw_parts(start, LEN_BYTES) };
        assert!(bytes.iter().all(|&byte| byte == 0));
        // SAFETY: nothing refers to the mapping any more.
        unsafe { libc::munmap(start.cast(), LEN_BYTES) };
        resident
    }

    #[test]
    fn resident_pages_are_kept_and_others_stay_away() {
        const PAGES: usize = LEN_BYTES / PAGE_BYTES;
        const PIECE_PAGES: usize = PIECE_BYTES / PAGE_BYTES;
        // Reading the mark touches the first page of the range given back.
        assert_eq!(resident_after_zeroing(&mut (0..0)), 1);
        assert_eq!(resident_after_zeroing(&mut (0..PAGES).step_by(3)), 1);
        assert_eq!(resident_after_zeroing(&mut (0..PAGES)), PAGES);
        assert_eq!(resident_after_zeroing(&mut (PIECE_PAGES..2 * PIECE_PAGES)), PIECE_PAGES + 2);
    }

    /// The kernel refuses to take locked memory away.
    #[test]
    fn locked_memory_is_zeroed() {
        let start = map();
        // SAFETY: part of the mapping.
        unsafe {
            start.add(PAGE_BYTES * 7).write(0xff);
            if libc::mlock(start.add(PAGE_BYTES * 7).cast(), PAGE_BYTES) != 0 {
                return eprintln!("skipped: mlock: {}", std::io::Error::last_os_error());
            }
            zero_pages(start, LEN_BYTES);
            assert_eq!(start.add(PAGE_BYTES * 7).read(), 0);
            assert_eq!(start.read(), 0);
            libc::munmap(start.cast(), LEN_BYTES);
        }
    }

    #[test]
    fn memory_outside_the_heap_and_other_values_are_written() {
        let mut bytes = vec![7u8; 4 * MIN_BYTES];
        let middle = &mut bytes[1..3 * MIN_BYTES];
        // SAFETY: part of the vector.
        let end = unsafe { memset(middle.as_mut_ptr().cast(), 0x1ab, middle.len()) };
        assert_eq!(end.cast(), middle.as_mut_ptr());
        assert!(middle.iter().all(|&byte| byte == 0xab));
        assert_eq!((bytes[0], bytes[3 * MIN_BYTES]), (7, 7));
        assert!(!is_pages_of_heap(HEAP_START + 8, MIN_BYTES) && !is_pages_of_heap(HEAP_START, MIN_BYTES + 8));
        assert!(!is_pages_of_heap(HEAP_END - PAGE_BYTES, MIN_BYTES) && is_pages_of_heap(HEAP_START, MIN_BYTES));
    }
}

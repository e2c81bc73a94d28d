//! Giving back pages of the file that this code was loaded from, the executable or a library.
//!
//! A start runs functions that are not run again, and the kernel maps 64 KiB around each place that is read or run.
//! Invariant: no byte changes. Pages with contents of their own stay: a debugger has set breakpoints there. A debugger
//! that sets one between the look at a page and the call that gives it back, without stopping this thread, loses it.
//! Left out: segments that may be written to, and the ones that the dynamic linker has relocated.

use crate::address_space::{Scarcity, scarcity};
use crate::page_size_bytes;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

/// An entry of `/proc/self/pagemap` (proc(5)): the page is in memory, in swap space, a file's.
const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
const FILE: u64 = 1 << 61;

/// Takes the file's pages out of the process's memory. What is run or read again is mapped again. Nothing is done under
/// emulators, whose addresses are not the kernel's.
///
/// # Errors
/// The system's when it does not say what the pages are.
pub fn give_back_pages() -> io::Result<()> {
    static SEGMENTS: OnceLock<Vec<Range<usize>>> = OnceLock::new();
    if scarcity() == Some(Scarcity::Emulated) {
        return Ok(());
    }
    let map = File::open("/proc/self/pagemap")?;
    let page_bytes = page_size_bytes();
    for segment in SEGMENTS.get_or_init(read_only_segments) {
        let first = segment.start / page_bytes;
        let mut entries = vec![0; (segment.end.div_ceil(page_bytes) - first) * size_of::<u64>()];
        map.read_exact_at(&mut entries, (first * size_of::<u64>()) as u64)?;
        let (entries, _) = entries.as_chunks();
        let entries: Vec<u64> = entries.iter().map(|entry| u64::from_ne_bytes(*entry)).collect();
        for run in runs_of_file(&entries) {
            let start = std::ptr::with_exposed_provenance_mut((first + run.start) * page_bytes);
            // SAFETY: pages of a segment of this code's file, which stays loaded and is never written to; those that
            // are in memory have the file's contents, which is what they have when they are read again.
            unsafe { libc::madvise(start, run.len() * page_bytes, libc::MADV_DONTNEED) };
        }
    }
    Ok(())
}

/// The longest runs of pages without contents of their own, some of which are in memory.
fn runs_of_file(entries: &[u64]) -> impl Iterator<Item = Range<usize>> {
    let is_own = |entry: u64| entry & SWAPPED != 0 || entry & (PRESENT | FILE) == PRESENT;
    let mut at = 0;
    let runs = entries.chunk_by(move |&one, &next| is_own(one) == is_own(next)).map(move |run| {
        at += run.len();
        (at - run.len(), run)
    });
    runs.filter(move |(_, run)| !is_own(run[0]) && run.iter().any(|entry| entry & PRESENT != 0))
        .map(|(start, run)| start..start + run.len())
}

/// The segments of this code's file that are mapped as they are, without leave to write.
fn read_only_segments() -> Vec<Range<usize>> {
    /// # Safety
    /// `info` is the C library's description of a module, and `found` the address of a `Vec<Range<usize>>` that may be
    /// written.
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _size: usize, found: *mut c_void) -> c_int {
        // SAFETY: the C library passes a valid description.
        let info = unsafe { &*info };
        // SAFETY: that many program headers follow the address.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        let range = |header: &libc::Elf64_Phdr| {
            let start = (info.dlpi_addr + header.p_vaddr) as usize;
            start..start + header.p_memsz as usize
        };
        let here = read_only_segments as *const () as usize;
        let loaded = || headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
        if !loaded().any(|header| range(header).contains(&here)) {
            return 0;
        }
        // SAFETY: `read_only_segments` passes the address of its own variable.
        unsafe {
            *found.cast() = loaded().filter(|header| header.p_flags & libc::PF_W == 0).map(range).collect::<Vec<_>>()
        };
        1
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    // SAFETY: `visit` gets the address of `found`, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_with_contents_of_their_own_are_in_no_run() {
        let (file, own) = (PRESENT | FILE, PRESENT);
        let runs = |entries: &[u64]| runs_of_file(entries).collect::<Vec<_>>();
        assert_eq!(runs(&[file, 0, own, 0, file, SWAPPED, 0, 0, own, file]), [0..2, 3..5, 9..10]);
        assert_eq!(runs(&[0, 0, own]), []);
        assert_eq!(runs(&[]), []);
    }

    #[test]
    fn this_code_runs_on() {
        let segments = read_only_segments();
        assert!(segments.iter().any(|segment| segment.contains(&(this_code_runs_on as *const () as usize))));
        for _ in 0..3 {
            give_back_pages().expect("the system says what the pages are");
        }
        assert_eq!(read_only_segments(), segments);
    }
}

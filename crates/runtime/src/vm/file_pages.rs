//! Giving back pages of files that a start has read and the program may not read again: of assemblies, and of the
//! executable itself.
//!
//! The kernel maps 64 KiB around each place that is read, so a compiler has some 20 MiB of files in its memory, half of
//! which it needs for its start only. What is needed again costs a page fault for 64 KiB. That pays where the process
//! is larger than it has ever been: pages are given back after a collection that finds it so. Invariant: no byte
//! changes. Left out: files of other libraries, and of the program.
//!
//! | `NEXT` | who moves it | meaning |
//! |---|---|---|
//! | 0 | at first | pages are given back after the next collection |
//! | more | `after_collection` | ... after the first collection that leaves so many pages in memory |
//!
//! Relaxed: collections do not overlap, and the word publishes nothing.

use saki_os::{own_file, page_size_bytes};
use std::sync::atomic::{AtomicUsize, Ordering};

/// With less of them in memory, files are left alone. Hello world has 12 MiB.
const MIN_FILE_BYTES: usize = 6 << 20;
/// The process must have grown by so much since pages were given back, and by a sixteenth.
const MIN_GROWTH_BYTES: usize = 4 << 20;
const GROWTH_SHARE: usize = 16;

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// To be called when threads run again after a collection.
pub(super) fn after_collection() {
    let Some((resident, files)) = resident_pages() else { return };
    let page_bytes = page_size_bytes();
    if resident < NEXT.load(Ordering::Relaxed) || files < MIN_FILE_BYTES / page_bytes {
        return;
    }
    NEXT.store(resident + (MIN_GROWTH_BYTES / page_bytes).max(resident / GROWTH_SHARE), Ordering::Relaxed);
    saki_types::files::give_back_pages();
    // Where the system does not say what pages there are, they stay.
    let _ = own_file::give_back_pages();
}

/// How many pages the process has in memory, and how many of them are a file's or shared (proc(5)).
fn resident_pages() -> Option<(usize, usize)> {
    let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
    let mut sizes = sizes.split_ascii_whitespace().skip(1).map_while(|word| word.parse().ok());
    Some((sizes.next()?, sizes.next()?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn some_pages_are_in_memory_and_some_of_them_a_files() {
        let (resident, files) = super::resident_pages().expect("there is /proc");
        assert!(0 < files && files < resident);
    }
}

//! The process's allocator: memory for the start comes from one block whose pages are populated at once, the rest from
//! jemalloc.
//!
//! A start allocates most of a MiB in small pieces that live for ever: types and members. Populated page by page they
//! cost page faults of 1 µs each; populated by one call, a page costs a fifth of that.
//!
//! | `NEXT` | who moves it | meaning |
//! |---|---|---|
//! | `usize::MAX` (at first) | `prepare`, once, to the block's start | no block: all from jemalloc |
//! | inside the block | allocations, by compare-and-swap | memory from here on has never been handed out |
//!
//! Relaxed everywhere: moving the word hands out memory that no other thread has seen. Invariant: memory of the block
//! is handed out once and never reused, so it is zero at first; freeing it does nothing.

use saki_os::address_space;
use saki_os::memory::Reservation;
use std::alloc::{GlobalAlloc, Layout};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use tikv_jemallocator::Jemalloc;

/// The memory that hello world allocates until `Main`, rounded up.
const BLOCK_BYTES: usize = 1 << 20;
/// Larger pieces would leave the block unused at its end, and are often grown or freed.
const MAX_PIECE_BYTES: usize = 32 << 10;
/// As the C library aligns.
const ALIGNMENT_BYTES: usize = 16;

static NEXT: AtomicUsize = AtomicUsize::new(usize::MAX);
static END: AtomicUsize = AtomicUsize::new(0);

/// jemalloc's options (jemalloc(3), TUNING). Pieces from a quarter of a MiB on come from an arena of their own, which
/// gives freed pages back to the system at once; the other arenas keep them for ten seconds, and longer where nothing
/// is allocated. The compiler's vectors for large methods are of that size: after eight threads had each compiled a
/// method of 8,000 instructions, 150 MiB stayed resident without this option and 90 with it.
#[unsafe(export_name = "_rjem_malloc_conf")]
pub static JEMALLOC_OPTIONS: Option<&std::ffi::c_char> = {
    const TEXT: &std::ffi::CStr = c"oversize_threshold:262144";
    // SAFETY: the first character of a constant text, which lives for ever.
    Some(unsafe { &*TEXT.as_ptr() })
};

/// See the module header.
pub struct StartUpAllocator;

/// Where address space is scarce: makes the C library's threads share one heap, since each of their own takes 64 MiB of
/// it. Before there are other threads.
pub fn economise() {
    if address_space::scarcity().is_some() {
        // SAFETY: sets a parameter; without effect the process only takes more.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
}

/// Makes the block. Once, before there are other threads; without memory for it nothing changes.
pub fn prepare() {
    let Ok(block) = Reservation::reserve_writable(BLOCK_BYTES) else { return };
    // Where the kernel cannot, the pages come one by one.
    let _ = block.populate(0, BLOCK_BYTES);
    let start = block.base() as usize;
    std::mem::forget(block);
    END.store(start + BLOCK_BYTES, Ordering::Relaxed);
    NEXT.store(start, Ordering::Relaxed);
}

/// Zeroed memory from the block; null when it does not fit.
#[inline]
fn from_block(layout: Layout) -> *mut u8 {
    if layout.size() > MAX_PIECE_BYTES || layout.align() > ALIGNMENT_BYTES {
        return std::ptr::null_mut();
    }
    let len_bytes = layout.size().next_multiple_of(ALIGNMENT_BYTES);
    let mut next = NEXT.load(Ordering::Relaxed);
    loop {
        // `usize::MAX`, without a block, is beyond every end.
        if next >= END.load(Ordering::Relaxed) || END.load(Ordering::Relaxed) - next < len_bytes {
            return std::ptr::null_mut();
        }
        match NEXT.compare_exchange_weak(next, next + len_bytes, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return std::ptr::with_exposed_provenance_mut(next),
            Err(now) => next = now,
        }
    }
}

/// Memory from jemalloc. Without memory the process ends with a line instead of Rust's abort, since it cannot go on.
#[inline]
fn given(pointer: *mut u8, len_bytes: usize) -> *mut u8 {
    if pointer.is_null() {
        end_without_memory(len_bytes);
    }
    pointer
}

#[cold]
fn end_without_memory(len_bytes: usize) -> ! {
    let mut line = [0u8; 200];
    let room = line.len();
    let mut rest = &mut line[..];
    // Written into existing memory; text that does not fit is cut off.
    let _ = write!(rest, "saki: the system refused {len_bytes} bytes of memory");
    if let Some(scarcity) = address_space::scarcity() {
        let _ = write!(rest, "; {scarcity}");
    }
    let _ = writeln!(rest);
    let len = room - rest.len();
    // SAFETY: the buffer has `len` bytes.
    unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), len) };
    // SAFETY: ends the process; handlers of exit would allocate.
    unsafe { libc::_exit(crate::exit::EXIT_UNUSABLE) }
}

#[inline]
fn is_in_block(pointer: *mut u8) -> bool {
    END.load(Ordering::Relaxed).wrapping_sub(pointer as usize).wrapping_sub(1) < BLOCK_BYTES
}

// SAFETY: pieces of the block are disjoint (`NEXT` only grows), large and aligned enough, and live as long as the
// process; everything else is jemalloc's, which gets back only what it gave.
unsafe impl GlobalAlloc for StartUpAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let piece = from_block(layout);
        if !piece.is_null() {
            return piece;
        }
        // SAFETY: `layout` is one that an allocator may be asked for, not of size 0: jemalloc asks for what
        // `GlobalAlloc` does.
        given(unsafe { Jemalloc.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let piece = from_block(layout);
        if !piece.is_null() {
            return piece;
        }
        // SAFETY: `layout` is one that an allocator may be asked for, not of size 0: jemalloc asks for what
        // `GlobalAlloc` does.
        given(unsafe { Jemalloc.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if !is_in_block(pointer) {
            // SAFETY: not in our block, so jemalloc gave it, with this layout: `alloc` passes its own on.
            unsafe { Jemalloc.dealloc(pointer, layout) }
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if !is_in_block(pointer) {
            // SAFETY: not in our block, so jemalloc gave it, with this layout: `alloc` passes its own on.
            return given(unsafe { Jemalloc.realloc(pointer, layout, new_size) }, new_size);
        }
        if new_size <= layout.size() {
            return pointer;
        }
        // SAFETY: `GlobalAlloc::realloc` is called with a `new_size` that makes a valid layout, and is not 0.
        let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(new_size, layout.align())) };
        // SAFETY: both are at least `layout.size()` bytes, and the new one is disjoint.
        unsafe { std::ptr::copy_nonoverlapping(pointer, moved, layout.size()) };
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_serves_what_fits_and_jemalloc_the_rest() {
        let allocator = StartUpAllocator;
        let layout = |size, align| Layout::from_size_align(size, align).unwrap();
        let check = |size, align, from_block| {
            // SAFETY: sizes are not 0.
            let piece = unsafe { allocator.alloc_zeroed(layout(size, align)) };
            assert!(!piece.is_null() && (piece as usize).is_multiple_of(align));
            assert_eq!(is_in_block(piece), from_block, "{size} bytes at {align}");
            // SAFETY: `size` bytes are ours.
            assert!(unsafe { std::slice::from_raw_parts(piece, size) }.iter().all(|&byte| byte == 0));
            // SAFETY: `piece` has `size` bytes, which nothing else uses.
            unsafe { piece.write_bytes(7, size) };
            // SAFETY: allocated with this layout.
            let grown = unsafe { allocator.realloc(piece, layout(size, align), size + 100) };
            // SAFETY: the first `size` bytes were copied.
            assert!(unsafe { std::slice::from_raw_parts(grown, size) }.iter().all(|&byte| byte == 7));
            // SAFETY: allocated with this layout.
            unsafe { allocator.dealloc(grown, layout(size + 100, align)) };
        };
        check(24, 8, false);
        prepare();
        check(24, 8, true);
        check(1, 1, true);
        check(MAX_PIECE_BYTES, 16, true);
        check(MAX_PIECE_BYTES + 1, 8, false);
        check(64, 64, false);
        while !from_block(layout(MAX_PIECE_BYTES, 16)).is_null() {}
        check(MAX_PIECE_BYTES, 16, false);
    }
}

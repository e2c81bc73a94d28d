//! The blocks of memory that `local_alloc` hands to frames, and those that a thread keeps for the frames to come.

use std::alloc::{Layout, dealloc};
use std::cell::Cell;

/// The header of a block of memory that belongs to a frame; the memory follows.
pub(crate) struct Block {
    pub next: *mut Block,
    pub owner_fp: usize,
    pub layout: Layout,
}

/// Bytes in front of the memory handed out; keeps it 16-aligned.
pub(crate) const HEADER_BYTES: usize = 48;
const _: () = assert!(size_of::<Block>() <= HEADER_BYTES && HEADER_BYTES.is_multiple_of(16));

/// Size of a small block with its header.
pub(crate) const SMALL_BYTES: usize = 1024;
/// The number of small blocks that a thread keeps; a chain of frames with a block each is rarely longer.
const MAX_KEPT: usize = 8;

/// A thread's freed small blocks, linked through `next`.
#[derive(Default)]
pub struct FreedBlocks {
    head: Cell<usize>,
    count: Cell<usize>,
}

impl FreedBlocks {
    /// A kept block, whose memory still holds its last contents.
    pub(crate) fn take(&self) -> Option<*mut Block> {
        let block = self.head.get() as *mut Block;
        if block.is_null() {
            return None;
        }
        // SAFETY: blocks in the list were written by `allocate` and belong to the list alone.
        self.head.set(unsafe { (*block).next } as usize);
        self.count.set(self.count.get() - 1);
        Some(block)
    }

    /// Keeps a block, if there is room. Whether it was kept.
    ///
    /// # Safety
    /// `allocate` wrote the block, and the caller gives it up if it is kept.
    pub(crate) unsafe fn keep(&self, block: *mut Block) -> bool {
        if self.count.get() == MAX_KEPT {
            return false;
        }
        // SAFETY: the caller owns the block, by this function's contract.
        unsafe { (*block).next = self.head.get() as *mut Block };
        self.head.set(block as usize);
        self.count.set(self.count.get() + 1);
        true
    }
}

impl Drop for FreedBlocks {
    fn drop(&mut self) {
        while let Some(block) = self.take() {
            // SAFETY: allocated with the layout in its header, and no longer in the list.
            unsafe { dealloc(block as *mut u8, (*block).layout) };
        }
    }
}

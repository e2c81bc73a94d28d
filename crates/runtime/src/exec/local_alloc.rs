//! `localloc` of sizes not known when the method is compiled: heap blocks that belong to a frame.
//!
//! Blocks form a list per thread, youngest first, each with the frame pointer of its owner. A frame that allocates again, or
//! returns, frees what belongs to dead (lower) frames, so that frames ended by exceptions leak nothing for long.
//! Small blocks, of which number formatting makes one for every number, have one size; each thread keeps a few of them for
//! the next frame that asks.

use crate::exceptions;
use crate::local_blocks::{Block, HEADER_BYTES, SMALL_BYTES};
use crate::thread::CurrentThread;
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// A block with room for a header and then zeroed memory; null when there is no memory.
fn new_block(t: CurrentThread, layout: Layout) -> *mut Block {
    if layout.size() == SMALL_BYTES
        && let Some(block) = crate::thread_data::of(t).freed_blocks().take()
    {
        // SAFETY: the block has `SMALL_BYTES`.
        unsafe { (block as *mut u8).write_bytes(0, SMALL_BYTES) };
        return block;
    }
    // SAFETY: the layout's size is not 0.
    unsafe { alloc_zeroed(layout) as *mut Block }
}

/// Zeroed memory that belongs to the frame with this frame pointer; null for 0 bytes, as in .NET.
pub fn allocate(t: CurrentThread, bytes: i64, owner_fp: usize) -> *mut u8 {
    free_below(t, owner_fp, false);
    if bytes == 0 {
        return std::ptr::null_mut();
    }
    let layout = usize::try_from(bytes)
        .ok()
        .and_then(|n| n.checked_add(HEADER_BYTES))
        .map(|n| n.max(SMALL_BYTES))
        .and_then(|n| Layout::from_size_align(n, 16).ok());
    let Some(layout) = layout else {
        let _ = exceptions::out_of_memory(t);
        return std::ptr::null_mut();
    };
    let block = new_block(t, layout);
    if block.is_null() {
        let _ = exceptions::out_of_memory(t);
        return std::ptr::null_mut();
    }
    let head = crate::thread_data::of(t).local_blocks();
    // SAFETY: just allocated with room for the header.
    unsafe { block.write(Block { next: head.get() as *mut Block, owner_fp, layout }) };
    head.set(block as usize);
    (block as *mut u8).wrapping_add(HEADER_BYTES)
}

/// Frees the blocks of a frame that returns.
pub fn free(t: CurrentThread, owner_fp: usize) {
    free_below(t, owner_fp, true);
}

fn free_below(t: CurrentThread, fp: usize, inclusive: bool) {
    let data = crate::thread_data::of(t);
    let head = data.local_blocks();
    loop {
        let block = head.get() as *mut Block;
        if block.is_null() {
            return;
        }
        // SAFETY: blocks in the list were written by `allocate` and not freed yet.
        let (next, owner_fp, layout) = unsafe { ((*block).next, (*block).owner_fp, (*block).layout) };
        if owner_fp > fp || (owner_fp == fp && !inclusive) {
            return;
        }
        head.set(next as usize);
        // SAFETY: a block of `allocate`, which has just been taken out of the list of the thread's blocks.
        if layout.size() == SMALL_BYTES && unsafe { data.freed_blocks().keep(block) } {
            continue;
        }
        // SAFETY: allocated with this layout.
        unsafe { dealloc(block as *mut u8, layout) };
    }
}

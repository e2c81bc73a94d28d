//! `localloc` of sizes not known when the method is compiled: heap blocks that belong to a frame.
//!
//! Blocks form a list per thread, youngest first, each with the frame pointer of its owner. A frame that allocates again, or
//! returns, frees what belongs to dead (lower) frames, so that frames ended by exceptions leak nothing for long.

use crate::exceptions;
use crate::thread::Thread;
use std::alloc::{Layout, alloc_zeroed, dealloc};

struct Block {
    next: *mut Block,
    owner_fp: usize,
    layout: Layout,
}

/// Bytes in front of the memory handed out; keeps it 16-aligned.
const HEADER_BYTES: usize = 48;
const _: () = assert!(size_of::<Block>() <= HEADER_BYTES && HEADER_BYTES.is_multiple_of(16));

/// (bytes, frame pointer) → zeroed memory.
///
/// # Safety
/// A helper: called by its thunk.
pub unsafe extern "C" fn allocate(t: Thread, bytes: i64, owner_fp: usize) -> *mut u8 {
    free_below(t, owner_fp, false);
    let layout = usize::try_from(bytes)
        .ok()
        .and_then(|n| n.checked_add(HEADER_BYTES))
        .and_then(|n| Layout::from_size_align(n, 16).ok());
    let Some(layout) = layout else {
        let _ = exceptions::out_of_memory(t);
        return std::ptr::null_mut();
    };
    // SAFETY: the layout's size is not 0.
    let block = unsafe { alloc_zeroed(layout) } as *mut Block;
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

/// (frame pointer) The frame returns.
///
/// # Safety
/// As `allocate`.
pub unsafe extern "C" fn free(t: Thread, owner_fp: usize) {
    free_below(t, owner_fp, true);
}

fn free_below(t: Thread, fp: usize, inclusive: bool) {
    let head = crate::thread_data::of(t).local_blocks();
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
        // SAFETY: allocated with this layout.
        unsafe { dealloc(block as *mut u8, layout) };
    }
}

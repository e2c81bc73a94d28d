//! Thread-static fields: one block of memory per (thread, type), found through a table in the thread's ABI part.
//!
//! Invariant: only the owner adds blocks, and not at a safepoint, so the collector finds table and list consistent; a
//! block never moves, and lives until its thread ends or until its type is freed, with the world stopped. Left out:
//! numbering of types, running class constructors.

use saki_abi::RefMap;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;

/// Where the references in a block are.
#[derive(Clone, Copy, Debug)]
pub enum BlockScan {
    /// At the map's offsets from the block's start; null = none.
    Precise(*const RefMap),
    /// Those of `Precise` that count only while the records of their type are live: `owner` stands for these records,
    /// which the client of the collector knows.
    Conditional {
        /// The offsets.
        map: *const RefMap,
        /// The client's word for the records.
        owner: usize,
    },
    /// Any aligned word may be one; they pin what they refer to.
    Conservative,
}

/// A thread-static block.
#[derive(Clone, Copy, Debug)]
pub struct StaticBlock {
    /// Its index in the thread's table, which stands for the type.
    pub number: usize,
    /// The block's memory.
    pub data: *mut u8,
    /// The size of the block's memory.
    pub size_bytes: usize,
    /// What the collector finds in it.
    pub scan: BlockScan,
}

/// Entries of a table at first.
const LEAST_TABLE: usize = 8;

#[derive(Default)]
struct Blocks {
    table: Vec<*mut u8>,
    list: Vec<StaticBlock>,
}

/// A thread's blocks; interior mutability for the owner. See the methods of `ManagedThread` with these names.
#[derive(Default)]
pub(crate) struct StaticBlocks(UnsafeCell<Blocks>);

fn layout(size_bytes: usize) -> Layout {
    match Layout::from_size_align(size_bytes.max(8), 16) {
        Ok(layout) => layout,
        Err(_) => saki_base::bug!("thread-static block of {size_bytes} bytes"),
    }
}

impl StaticBlocks {
    /// The block at `index`, null if there is none yet. For the owner.
    pub(crate) fn get(&self, index: usize) -> *mut u8 {
        // SAFETY: only the owner calls this and it makes no other reference meanwhile.
        let blocks = unsafe { &*self.0.get() };
        blocks.table.get(index).copied().unwrap_or(std::ptr::null_mut())
    }

    /// Makes the block at `index`, where there is none. For the owner, which tells compiled code where the table is now
    /// (`table`).
    pub(crate) fn add(&self, index: usize, size_bytes: usize, scan: BlockScan) -> *mut u8 {
        let layout = layout(size_bytes);
        // SAFETY: the layout's size is not 0.
        let data = unsafe { alloc_zeroed(layout) };
        if data.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: only the owner calls this, at no safepoint, and no other reference is alive.
        let blocks = unsafe { &mut *self.0.get() };
        if blocks.table.len() <= index {
            let len = (index + 1).next_power_of_two().max(LEAST_TABLE);
            blocks.table.resize(len, std::ptr::null_mut());
        }
        blocks.table[index] = data;
        blocks.list.push(StaticBlock { number: index, data, size_bytes, scan });
        data
    }

    /// Address and length of the table of blocks. For the owner.
    pub(crate) fn table(&self) -> (*mut *mut u8, usize) {
        // SAFETY: only the owner calls this, and no other reference is alive.
        let blocks = unsafe { &mut *self.0.get() };
        (blocks.table.as_mut_ptr(), blocks.table.len())
    }

    /// Zeroes the block at `index`, if there is one. With the world stopped.
    pub(crate) fn clear(&self, index: usize) {
        // SAFETY: the world is stopped: the owner does not run, or has stopped it, so nobody changes the table.
        let blocks = unsafe { &*self.0.get() };
        let Some(&data) = blocks.table.get(index).filter(|data| !data.is_null()) else { return };
        if let Some(block) = blocks.list.iter().find(|block| block.data == data) {
            // SAFETY: allocated in `add` with this size, and not freed while it is in the list; nobody else uses it:
            // the world is stopped.
            unsafe { data.write_bytes(0, block.size_bytes) };
        }
    }

    /// Frees the block at `index`, if there is one. With the world stopped.
    pub(crate) fn free(&self, index: usize) {
        // SAFETY: the world is stopped: the owner does not run, or has stopped it, and no other reference is alive.
        let blocks = unsafe { &mut *self.0.get() };
        let Some(place) = blocks.table.get_mut(index).filter(|data| !data.is_null()) else { return };
        let data = std::mem::replace(place, std::ptr::null_mut());
        if let Some(at) = blocks.list.iter().position(|block| block.data == data) {
            let block = blocks.list.swap_remove(at);
            // SAFETY: allocated in `add` with this layout, and removed from table and list.
            unsafe { dealloc(data, layout(block.size_bytes)) };
        }
    }

    /// Calls `visit` for every block. For the owner, or with the world stopped.
    pub(crate) fn for_each(&self, visit: impl FnMut(&StaticBlock)) {
        // SAFETY: this is the owner, which alone adds blocks and does not do so in `visit`, or the owner is stopped.
        let blocks = unsafe { &*self.0.get() };
        blocks.list.iter().for_each(visit);
    }

    /// Frees every block, when the thread ends.
    pub(crate) fn free_all(&self) {
        // SAFETY: the thread is ending and runs no managed code any more; the stop lock keeps the collector away.
        let blocks = unsafe { &mut *self.0.get() };
        for block in blocks.list.drain(..) {
            // SAFETY: allocated in `add` with this layout, and removed from the list.
            unsafe { dealloc(block.data, layout(block.size_bytes)) };
        }
        // The structure's next thread uses the memory of table and list again, if it is of the usual size.
        blocks.table.clear();
        blocks.table.shrink_to(LEAST_TABLE);
        blocks.list.shrink_to(LEAST_TABLE);
    }
}

//! Marking small objects where they are, by writing MMTk's side tables directly.
//!
//! MMTk's own path costs about 50 ns an object: a locked instruction on the mark bit, an entry in a queue and a second
//! visit that marks the lines. With one collector thread none of that is needed for an object that stays where it is:
//! plain stores set its mark bit, its byte of log bits ("old, not remembered") and its lines. These stores are the same
//! as in MMTk 0.33's `ImmixSpace::trace_object_without_moving` and `post_scan_object`; the version is pinned in
//! `Cargo.toml`.
//!
//! The line table has no public name. Its place follows from the order of MMTk's side tables ([`LINE_TABLE_DISTANCE`])
//! and is checked in each collection: the first objects are marked by MMTk, and [`InPlace::learn`] reads from the table
//! the line state that it wrote. Until that has been read, or if the byte is not a line state, objects take MMTk's
//! path.
//!
//! Left out: objects in blocks that a full collection evacuates, large objects, several collector threads.

use super::addresses::in_large_space;
use super::bits::{log_bit_base, mark_bit_base};
use super::instance::is_full_collection;
use super::layout::{LARGE_OBJECT_BYTES, LOG_BLOCK_BYTES};
use crate::object::object_size_bytes;
use saki_abi::ObjRef;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bytes of a side table with one byte per 2^`log_bytes` of a 47-bit address space.
const fn table_bytes(log_bytes: usize) -> usize {
    1 << (47 - log_bytes)
}

/// Bytes from the line table to the first table of the binding, the mark bits: the tables that MMTk's `spec_defs` lays
/// out between them.
const LINE_TABLE_DISTANCE: usize = table_bytes(LOG_LINE_BYTES)
    + table_bytes(LOG_BLOCK_BYTES) // block defragmentation state
    + table_bytes(LOG_BLOCK_BYTES) // block mark
    + table_bytes(16) // mark-sweep: block mark
    + 8 * table_bytes(13) // mark-sweep: eight words per 64 KiB block
    + table_bytes(6) // compressor: mark bits
    + table_bytes(6); // compressor: offset vector
const LOG_LINE_BYTES: usize = 8;
/// Line states of marked lines.
const LINE_STATES: std::ops::RangeInclusive<u8> = 1..=127;
/// State of a block that the collection evacuates.
const EVACUATED: u8 = u8::MAX;

/// The state of in-place marking during one collection.
#[derive(Default)]
pub(super) struct InPlace {
    /// The value of a marked line's byte in this collection; 0 = not known yet.
    line_state: u8,
    /// Blocks may be evacuated.
    is_full: bool,
    /// The last small object that was left to MMTk's marking, which has happened when the next object is visited.
    marked_by_mmtk: Option<ObjRef>,
    line_table: usize,
    block_table: usize,
    mark_table: usize,
    log_table: usize,
    /// Objects marked in this collection.
    pub(super) marked_objects: u64,
}

/// A byte of a side table. Relaxed: the one collector thread writes, with the world stopped.
#[inline(always)]
fn byte<'a>(address: usize) -> &'a AtomicU8 {
    // SAFETY: callers pass addresses in side tables of mapped heap memory, which MMTk maps and never unmaps.
    unsafe { &*(address as *const AtomicU8) }
}

impl InPlace {
    /// A collection begins.
    pub(super) fn begin(&mut self) {
        let mark_table = mark_bit_base();
        let line_table = mark_table - LINE_TABLE_DISTANCE;
        *self = Self {
            line_state: 0,
            is_full: is_full_collection(),
            marked_by_mmtk: None,
            line_table,
            block_table: line_table + table_bytes(LOG_LINE_BYTES),
            mark_table,
            log_table: log_bit_base(),
            marked_objects: 0,
        };
    }

    /// MMTk is about to scan `object` and then to mark its lines.
    #[inline(always)]
    pub(super) fn learn(&mut self, object: ObjRef) {
        if self.line_state == 0 {
            self.learn_slowly(object);
        }
    }

    #[cold]
    fn learn_slowly(&mut self, object: ObjRef) {
        if in_large_space(object.address()) {
            return;
        }
        if let Some(marked) = self.marked_by_mmtk.replace(object) {
            // Relaxed, here and below: one collector thread, and the world is stopped.
            let state = byte(self.line_table + (marked.address() >> LOG_LINE_BYTES)).load(Ordering::Relaxed);
            if LINE_STATES.contains(&state) {
                self.line_state = state;
            }
        }
    }

    /// Marks `object`, a small one without mark bit. `false`: the object has to take MMTk's path.
    /// Relaxed throughout: the one collector thread writes the tables, with the world stopped.
    ///
    /// # Safety
    /// `object` is live, in the space of small objects, and has not moved in this collection.
    #[inline(always)]
    pub(super) unsafe fn mark(&mut self, object: ObjRef) -> bool {
        let address = object.address();
        if self.line_state == 0
            || self.is_full
                && byte(self.block_table + (address >> LOG_BLOCK_BYTES)).load(Ordering::Relaxed) == EVACUATED
        {
            return false;
        }
        self.marked_objects += 1;
        let mark = byte(self.mark_table + (address >> 6));
        mark.store(mark.load(Ordering::Relaxed) | 1 << ((address >> 3) & 7), Ordering::Relaxed);
        // All objects of these 64 bytes become old together, as in MMTk: a line that holds an old one is not reused.
        byte(self.log_table + (address >> 6)).store(u8::MAX, Ordering::Relaxed);
        // SAFETY: `object` is live and has not moved, so its header says how long it is.
        let last = address + unsafe { object_size_bytes(object) } - 1;
        debug_assert!(last - address < LARGE_OBJECT_BYTES, "a small object");
        for line in address >> LOG_LINE_BYTES..=last >> LOG_LINE_BYTES {
            byte(self.line_table + line).store(self.line_state, Ordering::Relaxed);
        }
        true
    }
}

//! Cells in which the first tier's code notes what it meets, for the next tier's.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, AtomicUsize};

/// What one instruction meets. All threads write it without order, so a count may be a little too low, and `word` is
/// that of any thread.
#[repr(C)]
#[derive(Default)]
pub struct Noted {
    /// The last word: the address of a vtable or of a method. 0: none yet.
    pub word: AtomicUsize,
    /// The last word that was another one. 0: none yet.
    pub other: AtomicUsize,
    /// How often the word was another one than before, the first time included.
    pub changes: AtomicU32,
    /// How often the word was neither of the two, their first times included.
    pub misses: AtomicU32,
}

/// Size of the counter of a block in the first tier's code: an `AtomicU32`, which wraps around. Threads that count at
/// the same time may lose counts of each other.
pub const BLOCK_COUNT_BYTES: u32 = size_of::<AtomicU32>() as u32;

/// Offset of [`Noted::word`] in bytes.
pub const NOTED_WORD_OFFSET: i32 = offset_of!(Noted, word) as i32;
/// Offset of [`Noted::other`] in bytes.
pub const NOTED_OTHER_OFFSET: i32 = offset_of!(Noted, other) as i32;
/// Offset of [`Noted::misses`] in bytes.
pub const NOTED_MISSES_OFFSET: i32 = offset_of!(Noted, misses) as i32;
/// Offset of [`Noted::changes`] in bytes.
pub const NOTED_CHANGES_OFFSET: i32 = offset_of!(Noted, changes) as i32;

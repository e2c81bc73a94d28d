//! Bits about objects: in tables beside the heap (marked, to be remembered, valid), and in the header word of an object
//! that has moved.
//!
//! Invariant: a table covers the whole of the heap's range with one bit per 8 bytes, of which only touched pages take
//! memory. The tables' addresses are written once, by `init`, before any thread is bound: Relaxed. Left out: who sets
//! the bits, which is MMTk but for `in_place`, `mutator` and compiled code.

use super::addresses::{in_large_space, large_space_number, space_number};
use super::by_need;
use saki_abi::ObjRef;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// State of a moved object in its vtable word.
const FORWARDING_MASK: usize = 3;

/// Whether the object has moved, or another collector thread moves it just now.
///
/// # Safety
/// `object` is an object that was alive when the collection began, in its old place.
#[inline(always)]
pub(super) unsafe fn is_forwarded(object: ObjRef) -> bool {
    // SAFETY: the header of an object, whose first word is that of its vtable and aligned. Atomic, as another collector
    // thread may change the word; Relaxed: a hint, or the tracing is over.
    let word = unsafe { AtomicUsize::from_ptr((&raw mut (*object.0).vtable).cast()) };
    word.load(Ordering::Relaxed) & FORWARDING_MASK != 0
}

/// Bases of bit tables with one bit per 8 heap bytes: bit `(a >> 3) & 7` of byte `base + (a >> 6)`. Written once by
/// `init`, before any thread is bound; Relaxed everywhere.
static MARK_BIT_BASE: AtomicUsize = AtomicUsize::new(0);
static LOG_BIT_BASE: AtomicUsize = AtomicUsize::new(0);
static VO_BIT_BASE: AtomicUsize = AtomicUsize::new(0);

/// Where MMTk has put its tables. Called once, by `init`.
pub(super) fn set_bases(mark: usize, log: usize, valid_object: usize) {
    // Relaxed: see the tables' comment.
    MARK_BIT_BASE.store(mark, Ordering::Relaxed);
    LOG_BIT_BASE.store(log, Ordering::Relaxed);
    VO_BIT_BASE.store(valid_object, Ordering::Relaxed);
}

#[inline(always)]
pub(super) fn mark_bit_base() -> usize {
    MARK_BIT_BASE.load(Ordering::Relaxed)
}

#[inline]
pub(super) fn log_bit_base() -> usize {
    LOG_BIT_BASE.load(Ordering::Relaxed)
}

#[inline]
pub(super) fn vo_bit_base() -> usize {
    VO_BIT_BASE.load(Ordering::Relaxed)
}

/// Maps a table of clear bits, one per 8 bytes of the heap's address range. Only touched pages take memory.
/// Errors: no address space.
pub(super) fn map_bit_table() -> Result<usize, String> {
    if by_need::is_enabled() {
        return Ok(by_need::bit_table());
    }
    // SAFETY: a fresh private mapping.
    let table = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            by_need::BIT_TABLE_BYTES,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if table == libc::MAP_FAILED {
        return Err(format!("heap: no address space for the collector: {}", saki_os::error::last_error()));
    }
    Ok(table as usize)
}

/// Bit of `address` in the bit table at `base`.
///
/// # Safety
/// `address` lies in memory that the heap has handed out, so that its part of the table is mapped.
#[inline(always)]
unsafe fn table_bit(base: usize, address: usize) -> bool {
    let byte = (base + (address >> 6)) as *const std::sync::atomic::AtomicU8;
    // SAFETY: the table's part for `address` is mapped, which this function demands. Relaxed: the bit orders nothing.
    unsafe { &*byte }.load(Ordering::Relaxed) >> ((address >> 3) & 7) & 1 != 0
}

/// Whether a store into `object` must be reported (it is old and not yet remembered).
///
/// # Safety
/// `object` is a live heap object.
#[inline(always)]
pub(crate) unsafe fn is_unlogged(object: ObjRef) -> bool {
    // SAFETY: heap objects have mapped log bits.
    unsafe { table_bit(log_bit_base(), object.address()) }
}

/// Whether `object` is a small object with its mark bit set: outside collections that means it is old. False for large
/// objects, which have no mark bits (not even mapped ones).
///
/// # Safety
/// `object` is a live heap object.
#[inline(always)]
pub(crate) unsafe fn has_mark_bit(object: ObjRef) -> bool {
    // SAFETY: the space of small objects has its mark bits mapped wherever it is mapped itself.
    !in_large_space(object.address()) && unsafe { table_bit(mark_bit_base(), object.address()) }
}

/// Whether an object begins at `address`.
///
/// # Safety
/// `address` lies in memory that the heap has handed out for small objects.
#[inline(always)]
pub(super) unsafe fn has_valid_bit(address: usize) -> bool {
    // SAFETY: memory that the heap has handed out has mapped bits.
    unsafe { table_bit(vo_bit_base(), address) }
}

/// The table of mark bits and the number of the space without any, in registers: a loop over the elements of an array
/// would load both for each element.
#[derive(Clone, Copy)]
pub(super) struct MarkBits {
    table: usize,
    large_space: usize,
}

impl MarkBits {
    /// Holds until the mutators run again: then the first large object may be allocated.
    pub(super) fn of_collection() -> Self {
        Self { table: mark_bit_base(), large_space: large_space_number() }
    }

    /// Whether `object` is a small object with its mark bit set: outside collections that means it is old. False for
    /// large objects, which have no mark bits.
    ///
    /// # Safety
    /// `object` is a live heap object.
    #[inline(always)]
    pub(super) unsafe fn has(self, object: ObjRef) -> bool {
        let address = object.address();
        // SAFETY: a live object outside of the space of large ones lies in that of small ones, whose mark bits are
        // mapped wherever it is.
        space_number(address) != self.large_space && unsafe { table_bit(self.table, address) }
    }

    /// The first slot in the range whose target is not null and has no mark bit; the end if there is none. Not inlined:
    /// its loop keeps everything in registers, which the surroundings of an inlined copy did not leave it (1.4 ns a
    /// slot instead of 0.7).
    ///
    /// # Safety
    /// The slots are elements of one live object.
    #[inline(never)]
    pub(super) unsafe fn find_unmarked(self, slots: Range<*mut ObjRef>) -> *mut ObjRef {
        let mut slot = slots.start;
        while slot < slots.end {
            // SAFETY: a slot of a live object.
            let target = unsafe { *slot };
            // SAFETY: references in live objects refer to live objects.
            if target.address() != 0 && !unsafe { self.has(target) } {
                break;
            }
            slot = slot.wrapping_add(1);
        }
        slot
    }
}

/// Where the mark bit of a small object lies; meaningless for large objects.
#[inline(always)]
pub(super) fn mark_byte_address(object: ObjRef) -> usize {
    mark_bit_base() + (object.address() >> 6)
}

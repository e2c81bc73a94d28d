//! What MMTk's choices mean for compiled code, as data: `abi::HeapLayout`.
//!
//! Invariant: whatever of MMTk `jit` relies on is said here, and compared with MMTk's own descriptions when this is
//! compiled.

use mmtk::util::constants::LOG_MIN_OBJECT_SIZE;
use mmtk::util::metadata::side_metadata::SideMetadataSpec;
use mmtk::vm::VMGlobalLogBitSpec;
use saki_abi::thread::{
    THREAD_ALLOC_CURSOR_OFFSET, THREAD_ALLOC_LIMIT_OFFSET, THREAD_LOG_BIT_BASE_OFFSET, THREAD_VO_BIT_BASE_OFFSET,
};
use saki_abi::{BitTable, HeapLayout};

pub(crate) const LAYOUT: HeapLayout = HeapLayout {
    alloc_cursor_offset: THREAD_ALLOC_CURSOR_OFFSET,
    alloc_limit_offset: THREAD_ALLOC_LIMIT_OFFSET,
    max_inline_bytes: MAX_INLINE_BYTES,
    // MMTk does not publish the description of these bits, only for what unit there is one.
    valid_object_bits: BitTable { base_offset: THREAD_VO_BIT_BASE_OFFSET, granule_shift: LOG_MIN_OBJECT_SIZE as u32 },
    unlogged_bits: BitTable {
        base_offset: THREAD_LOG_BIT_BASE_OFFSET,
        granule_shift: LOG_BITS.log_bytes_in_region as u32,
    },
};

/// Where MMTk keeps the bits of objects that are to be remembered.
pub(super) const LOG_BIT_SPEC: VMGlobalLogBitSpec = VMGlobalLogBitSpec::side_first();
const LOG_BITS: &SideMetadataSpec = LOG_BIT_SPEC.as_spec().extract_side_spec();

/// Objects above this many bytes go to the large-object space: half a 32 KiB Immix block.
pub(crate) const LARGE_OBJECT_BYTES: usize = mmtk::plan::STICKY_IMMIX_CONSTRAINTS.max_non_los_default_alloc_bytes;

/// Blocks of the space of small objects (Immix), from one of which at a time a carrier allocates.
pub(super) const BLOCK_BYTES: usize = 1 << LOG_BLOCK_BYTES;
pub(super) const LOG_BLOCK_BYTES: usize = 15;

/// Objects of this size and less are allocated in line; their code is short, and larger ones are rare.
const MAX_INLINE_BYTES: u32 = 8192;

const _: () = assert!(MAX_INLINE_BYTES as usize <= LARGE_OBJECT_BYTES, "buffers lie in the space of small objects");
const _: () = assert!(LOG_BITS.log_num_of_bits == 0, "a granule has one bit");
// The functions of this module use shifts of 3 and 6.
const _: () = assert!(LAYOUT.valid_object_bits.granule_shift == 3 && LAYOUT.unlogged_bits.granule_shift == 3);

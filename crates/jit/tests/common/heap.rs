//! The heap layout that the tests compile for: like that of `gc`, which these tests are below.

use saki_abi::thread::{
    THREAD_ALLOC_CURSOR_OFFSET, THREAD_ALLOC_LIMIT_OFFSET, THREAD_LOG_BIT_BASE_OFFSET, THREAD_VO_BIT_BASE_OFFSET,
};
use saki_abi::{BitTable, HeapLayout};

pub const HEAP: HeapLayout = HeapLayout {
    alloc_cursor_offset: THREAD_ALLOC_CURSOR_OFFSET,
    alloc_limit_offset: THREAD_ALLOC_LIMIT_OFFSET,
    max_inline_bytes: 8192,
    valid_object_bits: BitTable { base_offset: THREAD_VO_BIT_BASE_OFFSET, granule_shift: 3 },
    unlogged_bits: BitTable { base_offset: THREAD_LOG_BIT_BASE_OFFSET, granule_shift: 3 },
};

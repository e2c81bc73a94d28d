//! System.Buffer: bytes that managed code has pinned, and ranges of objects with references.

use saki_runtime::{CurrentThread, InternalCall, Place};

fn mem_move(_t: CurrentThread, destination: *mut u8, source: *const u8, bytes: usize) {
    // SAFETY: managed code has pinned both ranges and checked their lengths; they hold no references.
    unsafe { std::ptr::copy(source, destination, bytes) };
}

fn bulk_move<'t>(t: CurrentThread<'t>, destination: Place<'t, u8>, source: Place<'t, u8>, bytes: usize) {
    // SAFETY: managed code passes ranges that it has checked, of one object or array each.
    unsafe { saki_gc::barrier::bulk_copy(t.managed(), destination.as_ptr(), source.as_ptr(), bytes) };
}

fn zero_memory(_t: CurrentThread, start: *mut u8, bytes: usize) {
    // SAFETY: managed code has pinned the range and checked its length; it holds no references.
    unsafe { std::ptr::write_bytes(start, 0, bytes) };
}

/// The internal calls of `Buffer`.
pub const TABLE: &[InternalCall] = &[
    InternalCall::new("@net QCall::Buffer_MemMove", &mem_move),
    InternalCall::new("@net9 System.Buffer::__BulkMoveWithWriteBarrier", &bulk_move),
    InternalCall::new("@net10 System.Buffer::BulkMoveWithWriteBarrierInternal", &bulk_move),
    InternalCall::new("@net QCall::Buffer_Clear", &zero_memory),
];

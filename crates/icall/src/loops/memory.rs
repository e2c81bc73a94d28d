//! Copying memory without references, and clearing memory.

use super::kernels;
use super::slices::{SLICE_BYTES, from, slices, throws_for_null, whole};
use saki_runtime::CurrentThread;
use saki_runtime::library_loops::Row;

/// memmove with safepoints, but without them if the ranges overlap: a stop in the middle would let other threads see a state for longer that is neither the old nor
/// the new one.
pub(super) fn copy(t: CurrentThread, target: *mut u8, source: *const u8, len_bytes: usize) {
    if len_bytes == 0 || throws_for_null(t, source) || throws_for_null(t, target) {
        return;
    }
    let distance = (target as usize).abs_diff(source as usize);
    if len_bytes <= SLICE_BYTES || distance < len_bytes {
        // SAFETY: the managed caller vouches for both ranges.
        unsafe { kernels::copy(source, target, len_bytes) };
        return;
    }
    slices(t, len_bytes, 1, |first, number| {
        // SAFETY: as above.
        unsafe { kernels::copy(source.add(first), target.add(first), number) };
        None::<()>
    });
}

extern "C" fn memcpy(t: CurrentThread, target: *mut u8, source: *const u8, len_bytes: i32) {
    copy(t, target, source, usize::try_from(len_bytes).unwrap_or(0));
}

extern "C" fn memmove(t: CurrentThread, target: *mut u8, source: *const u8, len_bytes: u32) {
    copy(t, target, source, len_bytes as usize);
}

extern "C" fn clear(t: CurrentThread, start: *mut u8, len_bytes: u64) {
    if len_bytes == 0 || throws_for_null(t, start) {
        return;
    }
    slices(t, len_bytes as usize, 1, |first, number| {
        // SAFETY: the managed caller vouches for the range.
        unsafe { start.add(first).write_bytes(0, number) };
        None::<()>
    });
}

/// On the machines we support memset stores aligned words whole, so no thread sees half a reference; stores of null need no barrier.
extern "C" fn clear_words(t: CurrentThread, start: *mut usize, count: u64) {
    clear(t, start.cast(), count * size_of::<usize>() as u64);
}

pub(super) const TABLE: &[Row] = &[
    whole("static System.Buffer::Memcpy(System.Byte*,System.Byte*,System.Int32) System.Void", memcpy as *const ()),
    whole("static System.Buffer::Memmove(System.Byte*,System.Byte*,System.UInt32) System.Void", memmove as *const ()),
    from(
        64,
        1,
        whole(
            "static System.SpanHelpers::ClearWithoutReferences(System.Byte&,System.UInt64) System.Void",
            clear as *const (),
        ),
    ),
    from(
        16,
        1,
        whole(
            "static System.SpanHelpers::ClearWithReferences(System.IntPtr&,System.UInt64) System.Void",
            clear_words as *const (),
        ),
    ),
];

//! Copying memory without references, and clearing memory.

use super::slices::{SLICE_BYTES, check_not_null, from, slices, whole};
use saki_loops::copy::copy as copy_memory;
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::{CurrentThread, Managed};

/// memmove with safepoints, but without them if the ranges overlap: a stop in the middle would let other threads see a
/// state for longer that is neither the old nor the new one.
///
/// # Safety
/// `len_bytes` bytes can be read at `source` and written at `target`.
#[inline]
pub(super) unsafe fn copy(t: CurrentThread, target: *mut u8, source: *const u8, len_bytes: usize) {
    if len_bytes == 0 {
        return;
    }
    let distance = (target as usize).abs_diff(source as usize);
    if len_bytes <= SLICE_BYTES || distance < len_bytes {
        // SAFETY: `len_bytes` bytes can be read at `source` and written at `target`.
        unsafe { copy_memory(source, target, len_bytes) };
        return;
    }
    slices(t, len_bytes, 1, |first, number| {
        // SAFETY: the slice lies in both ranges.
        unsafe { copy_memory(source.add(first), target.add(first), number) };
        None::<()>
    });
}

/// memmove with safepoints, of ranges that may be null: NullReferenceException.
#[inline(always)]
fn checked_copy(t: CurrentThread, target: *mut u8, source: *const u8, len_bytes: usize) -> Managed<()> {
    if len_bytes > 0 {
        check_not_null(t, source)?;
        check_not_null(t, target)?;
        // SAFETY: the managed caller vouches for both ranges.
        unsafe { copy(t, target, source, len_bytes) };
    }
    Ok(())
}

fn memcpy(t: CurrentThread, target: *mut u8, source: *const u8, len_bytes: i32) -> Managed<()> {
    checked_copy(t, target, source, usize::try_from(len_bytes).unwrap_or(0))
}

fn memmove(t: CurrentThread, target: *mut u8, source: *const u8, len_bytes: u32) -> Managed<()> {
    checked_copy(t, target, source, len_bytes as usize)
}

#[inline(always)]
fn clear(t: CurrentThread, start: *mut u8, len_bytes: u64) -> Managed<()> {
    if len_bytes == 0 {
        return Ok(());
    }
    check_not_null(t, start)?;
    slices(t, len_bytes as usize, 1, |first, number| {
        // SAFETY: the managed caller vouches for the range.
        unsafe { start.add(first).write_bytes(0, number) };
        None::<()>
    });
    Ok(())
}

/// On the machines we support memset stores aligned words whole, so no thread sees half a reference; stores of null
/// need no barrier.
fn clear_words(t: CurrentThread, start: *mut usize, count: u64) -> Managed<()> {
    clear(t, start.cast(), count * size_of::<usize>() as u64)
}

pub(super) const TABLE: &[LoopRow] = &[
    whole("static System.Buffer::Memcpy(System.Byte*,System.Byte*,System.Int32) System.Void", &memcpy),
    whole("static System.Buffer::Memmove(System.Byte*,System.Byte*,System.UInt32) System.Void", &memmove),
    from(
        64,
        1,
        whole("static System.SpanHelpers::ClearWithoutReferences(System.Byte&,System.UInt64) System.Void", &clear),
    ),
    from(
        16,
        1,
        whole("static System.SpanHelpers::ClearWithReferences(System.IntPtr&,System.UInt64) System.Void", &clear_words),
    ),
];

//! Comparisons: for equality, and by the first element that differs. Left out: `String.CompareOrdinalHelper`, which
//! compares eight bytes at a time already.

use super::slices::{from, slices, whole};
use saki_loops::compare;
use saki_runtime::CurrentThread;
use saki_runtime::exec::library_loops::LoopRow;

fn sequence_equal(t: CurrentThread, a: *const u8, b: *const u8, len_bytes: u64) -> bool {
    if std::ptr::eq(a, b) || len_bytes == 0 {
        return true;
    }
    let differs = slices(t, len_bytes as usize, 1, |first, number| {
        // SAFETY: the managed caller vouches for both ranges; the slice lies within them.
        let is_equal = unsafe { compare::are_equal(a.add(first), b.add(first), number) };
        (!is_equal).then_some(())
    });
    differs.is_none()
}

fn first_difference(t: CurrentThread, a: *const u8, b: *const u8, len_bytes: usize) -> Option<usize> {
    if len_bytes == 0 || std::ptr::eq(a, b) {
        return None;
    }
    slices(t, len_bytes, 1, |first, number| {
        // SAFETY: both ranges have `len_bytes` bytes, of spans that managed code made; the slice lies within them.
        let found = unsafe { compare::first_difference(a.add(first), b.add(first), number) };
        found.map(|found| first + found)
    })
}

/// The difference of the first units that differ, else that of the lengths.
fn compare_chars(t: CurrentThread, a: *const u16, a_count: i32, b: *const u16, b_count: i32) -> i32 {
    let count = usize::try_from(a_count.min(b_count)).unwrap_or(0);
    match first_difference(t, a.cast(), b.cast(), 2 * count) {
        // SAFETY: the place lies before `count`.
        Some(place) => unsafe { i32::from(*a.add(place / 2)) - i32::from(*b.add(place / 2)) },
        None => a_count.wrapping_sub(b_count),
    }
}

fn compare_bytes(t: CurrentThread, a: *const u8, a_count: i32, b: *const u8, b_count: i32) -> i32 {
    let count = usize::try_from(a_count.min(b_count)).unwrap_or(0);
    match first_difference(t, a, b, count) {
        // SAFETY: the place lies before `count`.
        Some(place) => unsafe { i32::from(*a.add(place)) - i32::from(*b.add(place)) },
        None => a_count.wrapping_sub(b_count),
    }
}

pub(super) const TABLE: &[LoopRow] = &[
    from(
        64,
        2,
        whole(
            "static System.SpanHelpers::SequenceEqual(System.Byte&,System.Byte&,System.UInt64) System.Boolean",
            &sequence_equal,
        ),
    ),
    from(
        32,
        1,
        whole(
            "static System.SpanHelpers::SequenceCompareTo(System.Char&,System.Int32,System.Char&,System.Int32) System.Int32",
            &compare_chars,
        ),
    ),
    from(
        32,
        1,
        whole(
            "static System.SpanHelpers::SequenceCompareTo(System.Byte&,System.Int32,System.Byte&,System.Int32) System.Int32",
            &compare_bytes,
        ),
    ),
    from(
        16,
        1,
        whole(
            "static System.String::FastCompareStringHelper(System.UInt32*,System.Int32,System.UInt32*,System.Int32) System.Int32",
            &compare_chars,
        ),
    ),
];

//! Searches in arrays, spans and strings: the place of the first or last element that is wanted, or −1.

use super::slices::{Way, from, may_decline, slices_going, whole};
use saki_loops::search::Element;
use saki_runtime::exec::library_loops::{DECLINED, LoopRow};
use saki_runtime::{Array, CurrentThread, Obj};

/// Calls `find` on parts of the `count` elements at `start`, and returns the first place found. A negative length means
/// no elements.
fn search<T>(
    t: CurrentThread,
    way: Way,
    start: *const T,
    count: i32,
    find: impl Fn(*const T, usize) -> Option<usize>,
) -> i32 {
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return -1;
    }
    let found = slices_going(t, way, count, size_of::<T>(), |from, number| {
        find(start.wrapping_add(from), number).map(|found| from + found)
    });
    found.map_or(-1, |place| place as i32)
}

fn first<T: Element, const N: usize>(t: CurrentThread, start: *const T, count: i32, wanted: [T; N]) -> i32 {
    // SAFETY: the managed caller vouches for `count` elements, among which the part is.
    search(t, Way::Forward, start, count, |start, count| unsafe { T::first(start, count, wanted) })
}

fn last<T: Element, const N: usize>(t: CurrentThread, start: *const T, count: i32, wanted: [T; N]) -> i32 {
    // SAFETY: the part lies among the `count` elements of a span that managed code made.
    search(t, Way::Backward, start, count, |start, count| unsafe { T::last(start, count, wanted) })
}

// The functions for spans are inlined because those for arrays use them, too.
#[inline(always)]
fn first_byte(t: CurrentThread, start: *const u8, wanted: u8, count: i32) -> i32 {
    first(t, start, count, [wanted])
}

fn first_of_two_bytes(t: CurrentThread, start: *const u8, a: u8, b: u8, count: i32) -> i32 {
    first(t, start, count, [a, b])
}

fn first_of_three_bytes(t: CurrentThread, start: *const u8, a: u8, b: u8, c: u8, count: i32) -> i32 {
    first(t, start, count, [a, b, c])
}

#[inline(always)]
fn last_byte(t: CurrentThread, start: *const u8, wanted: u8, count: i32) -> i32 {
    last(t, start, count, [wanted])
}

#[inline(always)]
fn first_half_word(t: CurrentThread, start: *const u16, wanted: u16, count: i32) -> i32 {
    first(t, start, count, [wanted])
}

fn first_of_two_half_words(t: CurrentThread, start: *const u16, a: u16, b: u16, count: i32) -> i32 {
    first(t, start, count, [a, b])
}

fn first_of_three_half_words(t: CurrentThread, start: *const u16, a: u16, b: u16, c: u16, count: i32) -> i32 {
    first(t, start, count, [a, b, c])
}

#[inline(always)]
fn last_half_word(t: CurrentThread, start: *const u16, wanted: u16, count: i32) -> i32 {
    last(t, start, count, [wanted])
}

#[inline(always)]
fn first_word(t: CurrentThread, start: *const u32, wanted: u32, count: i32) -> i32 {
    first(t, start, count, [wanted])
}

#[inline(always)]
fn last_word(t: CurrentThread, start: *const u32, wanted: u32, count: i32) -> i32 {
    last(t, start, count, [wanted])
}

#[inline(always)]
fn first_long(t: CurrentThread, start: *const u64, wanted: u64, count: i32) -> i32 {
    first(t, start, count, [wanted])
}

#[inline(always)]
fn last_long(t: CurrentThread, start: *const u64, wanted: u64, count: i32) -> i32 {
    last(t, start, count, [wanted])
}

/// The bits of floats that `Equals` takes for equal to `wanted`: both zeros are equal. None: all NaNs, which are equal
/// to each other.
fn bits_equal_to<T: PartialEq + Copy, B>(wanted: T, zero: T, bits: impl Fn(T) -> B, negated: T) -> Option<[B; 2]> {
    let other = if wanted == zero { negated } else { wanted };
    #[expect(clippy::eq_op, reason = "a NaN is what differs from itself")]
    let is_number = wanted == wanted;
    is_number.then(|| [bits(wanted), bits(other)])
}

macro_rules! of_floats {
    ($first:ident, $last:ident, $float:ty, $bits:ty) => {
        #[inline(always)]
        fn $first(t: CurrentThread, start: *const $bits, wanted: $float, count: i32) -> i32 {
            match bits_equal_to(wanted, 0.0, <$float>::to_bits, -wanted) {
                Some(bits) => first(t, start, count, bits),
                None => search(t, Way::Forward, start, count, |start, count| {
                    (0..count).find(|&place| {
                        // SAFETY: the managed caller vouches for `count` elements, among which the part is.
                        let bits = unsafe { start.add(place).read_unaligned() };
                        <$float>::from_bits(bits).is_nan()
                    })
                }),
            }
        }

        #[inline(always)]
        fn $last(t: CurrentThread, start: *const $bits, wanted: $float, count: i32) -> i32 {
            match bits_equal_to(wanted, 0.0, <$float>::to_bits, -wanted) {
                Some(bits) => last(t, start, count, bits),
                None => search(t, Way::Backward, start, count, |start, count| {
                    (0..count).rev().find(|&place| {
                        // SAFETY: the part lies among the `count` elements of a span that managed code made.
                        let bits = unsafe { start.add(place).read_unaligned() };
                        <$float>::from_bits(bits).is_nan()
                    })
                }),
            }
        }
    };
}

of_floats!(first_single, last_single, f32, u32);
of_floats!(first_double, last_double, f64, u64);

/// `Buffer.IndexOfByte`: the place counts from `source`, not from `index`, where the search begins.
fn byte_from(t: CurrentThread, source: *const u8, wanted: u8, index: i32, count: i32) -> i32 {
    let found = first(t, source.wrapping_offset(index as isize), count, [wanted]);
    if found < 0 { found } else { index + found }
}

/// The elements `index..index + count`, if they are in the array.
fn elements<T>(array: Option<Array>, index: i32, count: i32) -> Option<*const T> {
    let is_inside = |array: &Array| index >= 0 && count >= 0 && index as usize + count as usize <= array.length();
    array.filter(is_inside).map(|array| array.element_address(index as usize).cast_const().cast())
}

/// `IndexOf` of a comparer of primitive values, by the function for spans. Declined: arguments for which the comparer
/// throws.
fn first_in_array<T>(array: Option<Array>, index: i32, count: i32, search: impl FnOnce(*const T) -> i32) -> i32 {
    match elements(array, index, count).map(search) {
        Some(-1) => -1,
        Some(found) => index + found,
        None => DECLINED,
    }
}

/// `LastIndexOf`, which goes back from the index.
fn last_in_array<T>(array: Option<Array>, index: i32, count: i32, search: impl FnOnce(*const T) -> i32) -> i32 {
    match i32::try_from(i64::from(index) - i64::from(count) + 1) {
        Ok(first_index) => first_in_array(array, first_index, count, search),
        Err(_) => DECLINED,
    }
}

macro_rules! in_arrays {
    ($first:ident, $last:ident, $span_first:ident, $span_last:ident, $element:ty) => {
        in_arrays!($first, first_in_array, $span_first, $element);
        in_arrays!($last, last_in_array, $span_last, $element);
    };
    ($name:ident, $in_array:ident, $in_span:ident, $element:ty) => {
        fn $name(
            t: CurrentThread,
            _comparer: Option<Obj>,
            array: Option<Array>,
            wanted: $element,
            index: i32,
            count: i32,
        ) -> i32 {
            $in_array(array, index, count, |start| $in_span(t, start, wanted, count))
        }
    };
}

in_arrays!(array_first_byte, array_last_byte, first_byte, last_byte, u8);
in_arrays!(array_first_half_word, array_last_half_word, first_half_word, last_half_word, u16);
in_arrays!(array_first_word, array_last_word, first_word, last_word, u32);
in_arrays!(array_first_long, array_last_long, first_long, last_long, u64);
in_arrays!(array_first_single, array_last_single, first_single, last_single, f32);
in_arrays!(array_first_double, array_last_double, first_double, last_double, f64);

/// Numbers of elements from which on the functions are faster than the class library's loops
/// (docs/design/library-loops.md).
const ARRAY_ELEMENTS: u32 = 12;
const SPAN_ELEMENTS: u32 = 20;

/// The rows for a type's comparer and for spans of the type.
macro_rules! rows {
    ($element:literal, $array_first:ident, $array_last:ident, $span_first:ident, $span_last:ident) => {
        [
            from(
                ARRAY_ELEMENTS,
                4,
                may_decline(
                    concat!(
                        "System.Collections.Generic.GenericEqualityComparer`1::IndexOf(System.",
                        $element,
                        "[],System.",
                        $element,
                        ",System.Int32,System.Int32) System.Int32"
                    ),
                    &$array_first,
                ),
            ),
            from(
                ARRAY_ELEMENTS,
                4,
                may_decline(
                    concat!(
                        "System.Collections.Generic.GenericEqualityComparer`1::LastIndexOf(System.",
                        $element,
                        "[],System.",
                        $element,
                        ",System.Int32,System.Int32) System.Int32"
                    ),
                    &$array_last,
                ),
            ),
            from(
                SPAN_ELEMENTS,
                2,
                whole(
                    concat!(
                        "static System.SpanHelpers::IndexOf(System.",
                        $element,
                        "&,System.",
                        $element,
                        ",System.Int32) System.Int32"
                    ),
                    &$span_first,
                ),
            ),
            from(
                SPAN_ELEMENTS,
                2,
                whole(
                    concat!(
                        "static System.SpanHelpers::LastIndexOf(System.",
                        $element,
                        "&,System.",
                        $element,
                        ",System.Int32) System.Int32"
                    ),
                    &$span_last,
                ),
            ),
        ]
    };
}

const BYTES: [LoopRow; 4] = rows!("Byte", array_first_byte, array_last_byte, first_byte, last_byte);
const SIGNED_BYTES: [LoopRow; 4] = rows!("SByte", array_first_byte, array_last_byte, first_byte, last_byte);
const CHARS: [LoopRow; 4] = rows!("Char", array_first_half_word, array_last_half_word, first_half_word, last_half_word);
const SHORTS: [LoopRow; 4] =
    rows!("Int16", array_first_half_word, array_last_half_word, first_half_word, last_half_word);
const UNSIGNED_SHORTS: [LoopRow; 4] =
    rows!("UInt16", array_first_half_word, array_last_half_word, first_half_word, last_half_word);
const INTS: [LoopRow; 4] = rows!("Int32", array_first_word, array_last_word, first_word, last_word);
const UNSIGNED_INTS: [LoopRow; 4] = rows!("UInt32", array_first_word, array_last_word, first_word, last_word);
const LONGS: [LoopRow; 4] = rows!("Int64", array_first_long, array_last_long, first_long, last_long);
const UNSIGNED_LONGS: [LoopRow; 4] = rows!("UInt64", array_first_long, array_last_long, first_long, last_long);

const SINGLES: [LoopRow; 4] = rows!("Single", array_first_single, array_last_single, first_single, last_single);
const DOUBLES: [LoopRow; 4] = rows!("Double", array_first_double, array_last_double, first_double, last_double);

const ANY_OF_CHARS: &[LoopRow] = &[
    from(
        16,
        3,
        whole(
            "static System.SpanHelpers::IndexOfAny(System.Char&,System.Char,System.Char,System.Int32) System.Int32",
            &first_of_two_half_words,
        ),
    ),
    from(
        16,
        4,
        whole(
            "static System.SpanHelpers::IndexOfAny(System.Char&,System.Char,System.Char,System.Char,System.Int32) System.Int32",
            &first_of_three_half_words,
        ),
    ),
];

/// Rows of comparers and spans, one array for each element type.
pub(super) const OF_TYPES: [&[LoopRow]; 12] = [
    &BYTES,
    &SIGNED_BYTES,
    &CHARS,
    &SHORTS,
    &UNSIGNED_SHORTS,
    &INTS,
    &UNSIGNED_INTS,
    &LONGS,
    &UNSIGNED_LONGS,
    &SINGLES,
    &DOUBLES,
    ANY_OF_CHARS,
];

pub(super) const TABLE: &[LoopRow] = &[
    from(
        32,
        3,
        whole(
            "static System.SpanHelpers::IndexOfAny(System.Byte&,System.Byte,System.Byte,System.Int32) System.Int32",
            &first_of_two_bytes,
        ),
    ),
    from(
        32,
        4,
        whole(
            "static System.SpanHelpers::IndexOfAny(System.Byte&,System.Byte,System.Byte,System.Byte,System.Int32) System.Int32",
            &first_of_three_bytes,
        ),
    ),
    from(
        16,
        3,
        whole(
            "static System.Buffer::IndexOfByte(System.Byte*,System.Byte,System.Int32,System.Int32) System.Int32",
            &byte_from,
        ),
    ),
    from(
        ARRAY_ELEMENTS,
        4,
        may_decline(
            "System.Collections.Generic.ByteEqualityComparer::IndexOf(System.Byte[],System.Byte,System.Int32,System.Int32) System.Int32",
            &array_first_byte,
        ),
    ),
    from(
        ARRAY_ELEMENTS,
        4,
        may_decline(
            "System.Collections.Generic.ByteEqualityComparer::LastIndexOf(System.Byte[],System.Byte,System.Int32,System.Int32) System.Int32",
            &array_last_byte,
        ),
    ),
];

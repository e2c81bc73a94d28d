//! Reversing and filling arrays and spans of primitive types.
//!
//! Left out: elements with references, whose stores need barriers.

use super::slices::{from, may_decline, rest, whole};
use super::spans::Span;
use crate::system::array_copy::{has_lower_bound, in_range};
use saki_loops::elements::{fill, reverse};
use saki_metadata::ElementType;
use saki_runtime::exec::library_loops::{DECLINED, LoopRow};
use saki_runtime::object::vtables::type_of_vtable;
use saki_runtime::{Array, CurrentThread};
use saki_types::Ty;

/// Whether values of the type are bits that boxing does not change.
fn is_primitive(ty: Ty) -> bool {
    use ElementType as E;
    let is_number = matches!(
        ty.element_type,
        E::Boolean | E::Char | E::I1 | E::U1 | E::I2 | E::U2 | E::I4 | E::U4 | E::I8 | E::U8 | E::R4 | E::R8
    );
    is_number || ty.is_enum()
}

/// `Array.Reverse` of a range. Declined: arguments for which it throws, and elements that are not primitive.
fn reverse_array(t: CurrentThread, array: Option<Array>, index: i32, count: i32) -> i32 {
    let is_usual = |array: &Array| !has_lower_bound(*array) && in_range(*array, index, count);
    let Some(array) = array.filter(is_usual) else { return DECLINED };
    let vtable = array.vtable();
    if vtable.rank != 1 || !type_of_vtable(vtable).element().is_some_and(is_primitive) {
        return DECLINED;
    }
    let element_size_bytes = vtable.element_size_bytes as usize;
    let start = array.element_address(index as usize);
    // SAFETY: the range was checked, and elements of arrays are aligned.
    unsafe {
        match element_size_bytes {
            1 => reverse(start, count as usize, rest(t)),
            2 => reverse::<u16>(start.cast(), count as usize, rest(t)),
            4 => reverse::<u32>(start.cast(), count as usize, rest(t)),
            8 => reverse::<u64>(start.cast(), count as usize, rest(t)),
            _ => return DECLINED,
        }
    }
    0
}

/// `Array.Reverse<T>` of a range. Declined: arguments for which it throws.
fn reverse_elements<T>(t: CurrentThread, array: Option<Array>, index: i32, count: i32) -> i32 {
    let Some(array) = array.filter(|array| in_range(*array, index, count)) else { return DECLINED };
    let start = array.element_address(index as usize).cast::<T>();
    // SAFETY: the range was checked, and elements of arrays are aligned.
    unsafe { reverse(start, count as usize, rest(t)) };
    0
}

/// `MemoryExtensions.Reverse`
fn reverse_span<T>(t: CurrentThread, span: &Span<T>) -> i32 {
    if span.count() > 0 {
        if !span.is_usable() {
            return DECLINED;
        }
        // SAFETY: the elements of a span, whose start is aligned.
        unsafe { reverse(span.start(), span.count(), rest(t)) };
    }
    0
}

macro_rules! fills {
    ($span:ident, $array:ident, $element:ty) => {
        /// `Span<T>.Fill`
        fn $span(t: CurrentThread, span: &Span<$element>, value: $element) {
            // SAFETY: the elements of a span.
            unsafe { fill(span.start(), span.count(), value, rest(t)) };
        }

        /// `Array.Fill<T>`
        fn $array(t: CurrentThread, array: Option<Array>, value: $element) -> i32 {
            let Some(array) = array else { return DECLINED };
            let start = array.element_address(0).cast::<$element>();
            // SAFETY: the elements of the array.
            unsafe { fill(start, array.length(), value, rest(t)) };
            0
        }
    };
}

fills!(fill_span_1, fill_array_1, u8);
fills!(fill_span_2, fill_array_2, u16);
fills!(fill_span_4, fill_array_4, u32);
fills!(fill_span_8, fill_array_8, u64);
fills!(fill_span_single, fill_array_single, f32);
fills!(fill_span_double, fill_array_double, f64);

/// The rows for one element type.
macro_rules! rows {
    ($element:literal, $bits:ty, $fill_span:ident, $fill_array:ident) => {
        [
            from(
                24,
                2,
                may_decline(
                    concat!(
                        "static System.Array::Reverse(System.",
                        $element,
                        "[],System.Int32,System.Int32) System.Void"
                    ),
                    &reverse_elements::<$bits>,
                ),
            ),
            may_decline(
                concat!("static System.MemoryExtensions::Reverse(System.Span`1[System.", $element, "]) System.Void"),
                &reverse_span::<$bits>,
            ),
            whole(concat!("System.Span`1::Fill(System.", $element, ") System.Void"), &$fill_span),
            may_decline(
                concat!("static System.Array::Fill(System.", $element, "[],System.", $element, ") System.Void"),
                &$fill_array,
            ),
        ]
    };
}

const BOOLEANS: [LoopRow; 4] = rows!("Boolean", u8, fill_span_1, fill_array_1);
const BYTES: [LoopRow; 4] = rows!("Byte", u8, fill_span_1, fill_array_1);
const SIGNED_BYTES: [LoopRow; 4] = rows!("SByte", u8, fill_span_1, fill_array_1);
const CHARS: [LoopRow; 4] = rows!("Char", u16, fill_span_2, fill_array_2);
const SHORTS: [LoopRow; 4] = rows!("Int16", u16, fill_span_2, fill_array_2);
const UNSIGNED_SHORTS: [LoopRow; 4] = rows!("UInt16", u16, fill_span_2, fill_array_2);
const INTS: [LoopRow; 4] = rows!("Int32", u32, fill_span_4, fill_array_4);
const UNSIGNED_INTS: [LoopRow; 4] = rows!("UInt32", u32, fill_span_4, fill_array_4);
const LONGS: [LoopRow; 4] = rows!("Int64", u64, fill_span_8, fill_array_8);
const UNSIGNED_LONGS: [LoopRow; 4] = rows!("UInt64", u64, fill_span_8, fill_array_8);
const SINGLES: [LoopRow; 4] = rows!("Single", u32, fill_span_single, fill_array_single);
const DOUBLES: [LoopRow; 4] = rows!("Double", u64, fill_span_double, fill_array_double);

/// Rows of generic methods, one array for each element type.
pub(super) const OF_TYPES: [&[LoopRow]; 12] = [
    &BOOLEANS,
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
];

pub(super) const TABLE: &[LoopRow] = &[from(
    8,
    2,
    may_decline("static System.Array::Reverse(System.Array,System.Int32,System.Int32) System.Void", &reverse_array),
)];

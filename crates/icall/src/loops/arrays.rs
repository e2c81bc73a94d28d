//! Copying and clearing ranges of arrays where no element needs a check or conversion. Ranges outside the array and
//! other element types are declined.

use super::slices::{may_decline, slices};
use crate::system::array_copy::{has_lower_bound, in_range, try_copy};
use crate::system::buffer::byte_range;
use saki_runtime::exec::library_loops::{DECLINED, LoopRow};
use saki_runtime::{Array, CurrentThread};

fn done(is_done: bool) -> i32 {
    if is_done { 0 } else { DECLINED }
}

/// `Array.Copy`
fn copy(t: CurrentThread, source: Option<Array>, from: i32, target: Option<Array>, to: i32, count: i32) -> i32 {
    done(try_copy(t, source, from, target, to, count))
}

/// `Array.Clear`. On the machines we support memset stores aligned words whole, so no thread sees half a reference;
/// stores of null need no barrier.
fn clear(t: CurrentThread, array: Option<Array>, index: i32, count: i32) -> i32 {
    let Some(array) = array.filter(|&array| !has_lower_bound(array) && in_range(array, index, count)) else {
        return DECLINED;
    };
    let element_size_bytes = array.element_size_bytes();
    let start = array.element_address(index as usize);
    slices(t, count as usize * element_size_bytes, 1, |first, number| {
        // SAFETY: the range was checked; slices are whole words.
        unsafe { start.add(first).write_bytes(0, number) };
        None::<()>
    });
    0
}

/// `Buffer.BlockCopy`
fn block_copy(t: CurrentThread, source: Option<Array>, from: i32, target: Option<Array>, to: i32, count: i32) -> i32 {
    let (Some(source), Some(target)) = (source, target) else { return DECLINED };
    let (Some(from), Some(to)) = (byte_range(source, from, count), byte_range(target, to, count)) else {
        return DECLINED;
    };
    // SAFETY: the ranges were checked.
    unsafe { super::memory::copy(t, to, from, count as usize) };
    0
}

pub(super) const TABLE: &[LoopRow] = &[
    may_decline(
        "static System.Array::Copy(System.Array,System.Int32,System.Array,System.Int32,System.Int32) System.Void",
        &copy,
    ),
    may_decline("static System.Array::Clear(System.Array,System.Int32,System.Int32) System.Void", &clear),
    may_decline(
        "static System.Buffer::BlockCopy(System.Array,System.Int32,System.Array,System.Int32,System.Int32) System.Void",
        &block_copy,
    ),
];

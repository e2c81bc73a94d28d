//! Copies and clearings of whole ranges of arrays, where no element needs a look; what is out of range or of other types is declined.

use super::slices::{may_decline, slices};
use crate::system::array_copy::{has_lower_bound, in_range, try_copy};
use crate::system::buffer::byte_length;
use saki_abi::ObjRef;
use saki_runtime::library_loops::{DECLINED, Row};
use saki_runtime::{CurrentThread, object};

fn done(is_done: bool) -> i32 {
    if is_done { 0 } else { DECLINED }
}

/// `Array.Copy`
extern "C" fn copy(t: CurrentThread, source: ObjRef, from: i32, target: ObjRef, to: i32, count: i32) -> i32 {
    done(try_copy(t, source, from, target, to, count))
}

/// `Array.Clear`. Whole aligned words are cleared whole by memset on the machines we support; stores of null need no barrier.
extern "C" fn clear(t: CurrentThread, array: ObjRef, index: i32, count: i32) -> i32 {
    if array.is_null() || has_lower_bound(array) || !in_range(array, index, count) {
        return DECLINED;
    }
    let element_size_bytes = object::vtable(array).element_size_bytes as usize;
    let start = object::element_address(array, index as usize, element_size_bytes);
    slices(t, count as usize * element_size_bytes, 1, |first, number| {
        // SAFETY: the range was checked; slices are whole words.
        unsafe { start.add(first).write_bytes(0, number) };
        None::<()>
    });
    0
}

/// `Buffer.BlockCopy`
extern "C" fn block_copy(t: CurrentThread, source: ObjRef, from: i32, target: ObjRef, to: i32, count: i32) -> i32 {
    let is_inside = |array: ObjRef, offset: i32| {
        offset >= 0 && !array.is_null() && i64::from(offset) + i64::from(count) <= byte_length(array)
    };
    if count < 0 || !is_inside(source, from) || !is_inside(target, to) {
        return DECLINED;
    }
    let source = object::element_address(source, from as usize, 1);
    super::memory::copy(t, object::element_address(target, to as usize, 1), source, count as usize);
    0
}

pub(super) const TABLE: &[Row] = &[
    may_decline(
        "static System.Array::Copy(System.Array,System.Int32,System.Array,System.Int32,System.Int32) System.Void",
        copy as *const (),
    ),
    may_decline("static System.Array::Clear(System.Array,System.Int32,System.Int32) System.Void", clear as *const ()),
    may_decline(
        "static System.Buffer::BlockCopy(System.Array,System.Int32,System.Array,System.Int32,System.Int32) System.Void",
        block_copy as *const (),
    ),
];

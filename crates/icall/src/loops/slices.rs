//! Functions that the loops share: making rows, working in slices with a safepoint between them, throwing for null.

pub(super) use saki_loops::slices::{SLICE_BYTES, Way};
use saki_runtime::exec::crossings::Callable;
use saki_runtime::exec::library_loops::{Least, LoopRow};
use saki_runtime::object::exceptions;
use saki_runtime::{CurrentThread, Managed};

/// The row of a function that does the whole work of the method.
pub(super) const fn whole<Parts, F: Callable<Parts>>(signature: &'static str, function: &F) -> LoopRow {
    LoopRow::new(signature, function)
}

/// The row of a function that may return `DECLINED`, or null.
pub(super) const fn may_decline<Parts, F: Callable<Parts>>(signature: &'static str, function: &F) -> LoopRow {
    LoopRow::new(signature, function).declining()
}

/// The row for calls with at least `count` elements. `argument` is the position of the argument that holds their
/// number.
pub(super) const fn from(count: u32, argument: u32, row: LoopRow) -> LoopRow {
    row.from_least(Least { argument, count })
}

/// Lets the world stop, between two parts of the work. Requests other than to stop wait for compiled code's next
/// safepoint.
pub(super) fn rest(t: CurrentThread) -> impl FnMut() {
    move || {
        t.managed().poll();
    }
}

/// Calls `work` on slices, `(first, number)`, of `count` elements of that size, with a safepoint between them, until it
/// returns a result.
pub(super) fn slices<R>(
    t: CurrentThread,
    count: usize,
    element_size_bytes: usize,
    work: impl FnMut(usize, usize) -> Option<R>,
) -> Option<R> {
    slices_going(t, Way::Forward, count, element_size_bytes, work)
}

/// Calls `work` on slices, `(first, number)`, from the first or from the last one on, with a safepoint between them,
/// until it returns a result.
#[inline]
pub(super) fn slices_going<R>(
    t: CurrentThread,
    way: Way,
    count: usize,
    element_size_bytes: usize,
    work: impl FnMut(usize, usize) -> Option<R>,
) -> Option<R> {
    saki_loops::slices::slices(way, count, element_size_bytes, rest(t), work)
}

/// Addresses below this one result from adding an offset to null; the kernel maps nothing there.
const FIRST_MAPPED_BYTE: usize = 4096;

/// Throws NullReferenceException if an access at the address would be one through null.
pub(super) fn check_not_null(t: CurrentThread, address: *const u8) -> Managed<()> {
    if address as usize >= FIRST_MAPPED_BYTE { Ok(()) } else { Err(exceptions::throw_null_reference(t)) }
}

/// The object; throws NullReferenceException for null.
pub(super) fn non_null<T>(t: CurrentThread, object: Option<T>) -> Managed<T> {
    object.ok_or_else(|| exceptions::throw_null_reference(t))
}

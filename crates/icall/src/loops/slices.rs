//! What the loops have in common: rows, work in slices with a safepoint between them, null.

use saki_runtime::library_loops::{Least, LibraryLoop, Row};
use saki_runtime::{CurrentThread, exceptions};

/// A row of a function that does all of the method.
pub(super) const fn whole(signature: &'static str, function: *const ()) -> Row {
    Row { signature, function, kind: LibraryLoop { may_decline: false, least: None } }
}

/// A row of a function that may give `DECLINED`.
pub(super) const fn may_decline(signature: &'static str, function: *const ()) -> Row {
    Row { signature, function, kind: LibraryLoop { may_decline: true, least: None } }
}

/// The row, from `count` elements on, whose number is that argument.
pub(super) const fn from(count: u32, argument: u32, row: Row) -> Row {
    let kind = LibraryLoop { least: Some(Least { argument, count }), ..row.kind };
    Row { kind, ..row }
}

/// What is done between two safepoints: some ten microseconds.
pub(super) const SLICE_BYTES: usize = 1 << 18;

/// In which direction elements are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Forward,
    Backward,
}

/// Lets `work` look at `count` elements of that size in slices, `(first, number)`, with a safepoint between them, until it gives something.
pub(super) fn slices<R>(
    t: CurrentThread,
    count: usize,
    element_size_bytes: usize,
    work: impl FnMut(usize, usize) -> Option<R>,
) -> Option<R> {
    slices_going(t, Way::Forward, count, element_size_bytes, work)
}

/// As `slices`, in either direction.
#[inline]
pub(super) fn slices_going<R>(
    t: CurrentThread,
    way: Way,
    count: usize,
    element_size_bytes: usize,
    mut work: impl FnMut(usize, usize) -> Option<R>,
) -> Option<R> {
    let most = SLICE_BYTES / element_size_bytes;
    let (mut from, mut to) = (0, count);
    loop {
        let number = most.min(to - from);
        let first = if way == Way::Forward { from } else { to - number };
        if let Some(result) = work(first, number) {
            return Some(result);
        }
        match way {
            Way::Forward => from += number,
            Way::Backward => to -= number,
        }
        if from == to {
            return None;
        }
        // Requests other than to stop wait for compiled code's next safepoint.
        t.managed().poll();
    }
}

/// Addresses below this are null with a field's or element's offset; the kernel maps nothing there.
const FIRST_MAPPED_BYTE: usize = 4096;

/// Whether an access there would be one through null: NullReferenceException is pending then.
pub(super) fn throws_for_null(t: CurrentThread, address: *const u8) -> bool {
    if address as usize >= FIRST_MAPPED_BYTE {
        return false;
    }
    t.run(|| Err::<(), _>(exceptions::throw_null_reference(t)));
    true
}

//! Characters in strings: searching for the first one of two or three, and replacing one by another.
//!
//! Invariant: as in the class library, the caller of a search has checked that the range lies in the string.

use super::kernels::Element;
use super::slices::{from, may_decline, slices, throws_for_null, whole};
use saki_runtime::library_loops::Row;
use saki_runtime::{CurrentThread, Str};

fn index_of_any<const N: usize>(t: CurrentThread, text: Option<Str>, wanted: [u16; N], start: i32, count: i32) -> i32 {
    let Some(text) = text else {
        throws_for_null(t, std::ptr::null_mut::<u8>());
        return 0;
    };
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return -1;
    }
    let units = text.first_unit().wrapping_offset(start as isize);
    let found = slices(t, count, 2, |first, number| {
        // SAFETY: the caller has checked the range; the slice lies within it.
        unsafe { u16::first(units.add(first), number, wanted) }.map(|found| first + found)
    });
    found.map_or(-1, |place| start + place as i32)
}

extern "C" fn index_of_two(t: CurrentThread, text: Option<Str>, a: u32, b: u32, start: i32, count: i32) -> i32 {
    index_of_any(t, text, [a as u16, b as u16], start, count)
}

extern "C" fn index_of_three(
    t: CurrentThread,
    text: Option<Str>,
    a: u32,
    b: u32,
    c: u32,
    start: i32,
    count: i32,
) -> i32 {
    index_of_any(t, text, [a as u16, b as u16, c as u16], start, count)
}

/// A new string of the results of `unit` for each unit of `text`.
fn mapped<'t>(t: CurrentThread<'t>, text: Str<'t>, unit: impl Fn(u16) -> u16) -> Option<Str<'t>> {
    let source = text.units();
    let made = Str::filled(t, source.len(), |target| {
        slices(t, source.len(), 2, |first, number| {
            for (to, from) in target[first..first + number].iter_mut().zip(&source[first..first + number]) {
                *to = unit(*from);
            }
            None::<()>
        });
    });
    t.run(|| made.map(Some))
}

/// `Replace(char, char)`: the string itself where there is nothing to replace.
extern "C" fn replace<'t>(t: CurrentThread<'t>, text: Option<Str<'t>>, old: u32, new: u32) -> Option<Str<'t>> {
    let (old, new) = (old as u16, new as u16);
    let units = text?.units();
    let first = slices(t, units.len(), 2, |first, number| {
        // SAFETY: the slice lies in the string.
        unsafe { u16::first(units.as_ptr().add(first), number, [old]) }.map(|found| first + found)
    });
    match first {
        Some(_) if old != new => mapped(t, text?, |unit| if unit == old { new } else { unit }),
        _ => text,
    }
}

pub(super) const TABLE: &[Row] = &[
    may_decline("System.String::Replace(System.Char,System.Char) System.String", replace as *const ()),
    from(
        16,
        4,
        whole(
            "System.String::IndexOfAny(System.Char,System.Char,System.Int32,System.Int32) System.Int32",
            index_of_two as *const (),
        ),
    ),
    from(
        16,
        5,
        whole(
            "System.String::IndexOfAny(System.Char,System.Char,System.Char,System.Int32,System.Int32) System.Int32",
            index_of_three as *const (),
        ),
    ),
];

//! Characters in strings: searching for the first one of two or three, and replacing one by another.
//!
//! Invariant: as in the class library, the caller of a search has checked that the range lies in the string.

use super::slices::{from, may_decline, non_null, slices, whole};
use saki_loops::search::Element;
use saki_runtime::exec::library_loops::LoopRow;
use saki_runtime::{CurrentThread, Managed, Str};

fn index_of_any<const N: usize>(
    t: CurrentThread,
    text: Option<Str>,
    wanted: [u16; N],
    start: i32,
    count: i32,
) -> Managed<i32> {
    let text = non_null(t, text)?;
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return Ok(-1);
    }
    let units = text.first_unit().wrapping_offset(start as isize);
    let found = slices(t, count, 2, |first, number| {
        // SAFETY: String has checked the range before it calls; the slice lies within it.
        unsafe { u16::first(units.add(first), number, wanted) }.map(|found| first + found)
    });
    Ok(found.map_or(-1, |place| start + place as i32))
}

fn index_of_two(t: CurrentThread, text: Option<Str>, a: u16, b: u16, start: i32, count: i32) -> Managed<i32> {
    index_of_any(t, text, [a, b], start, count)
}

fn index_of_three(t: CurrentThread, text: Option<Str>, a: u16, b: u16, c: u16, start: i32, count: i32) -> Managed<i32> {
    index_of_any(t, text, [a, b, c], start, count)
}

/// A new string of the results of `unit` for each unit of `text`.
fn mapped<'t>(t: CurrentThread<'t>, text: Str<'t>, unit: impl Fn(u16) -> u16) -> Managed<Str<'t>> {
    let source = text.units();
    Str::filled(t, source.len(), |target| {
        slices(t, source.len(), 2, |first, number| {
            for (to, from) in target[first..first + number].iter_mut().zip(&source[first..first + number]) {
                *to = unit(*from);
            }
            None::<()>
        });
    })
}

/// `Replace(char, char)`: the string itself where there is nothing to replace.
fn replace<'t>(t: CurrentThread<'t>, text: Option<Str<'t>>, old: u16, new: u16) -> Managed<Option<Str<'t>>> {
    let Some(text) = text else { return Ok(None) };
    let units = text.units();
    let first = slices(t, units.len(), 2, |first, number| {
        // SAFETY: the slice lies in the string.
        unsafe { u16::first(units.as_ptr().add(first), number, [old]) }.map(|found| first + found)
    });
    match first {
        Some(_) if old != new => mapped(t, text, |unit| if unit == old { new } else { unit }).map(Some),
        _ => Ok(Some(text)),
    }
}

pub(super) const TABLE: &[LoopRow] = &[
    may_decline("System.String::Replace(System.Char,System.Char) System.String", &replace),
    from(
        16,
        4,
        whole(
            "System.String::IndexOfAny(System.Char,System.Char,System.Int32,System.Int32) System.Int32",
            &index_of_two,
        ),
    ),
    from(
        16,
        5,
        whole(
            "System.String::IndexOfAny(System.Char,System.Char,System.Char,System.Int32,System.Int32) System.Int32",
            &index_of_three,
        ),
    ),
];

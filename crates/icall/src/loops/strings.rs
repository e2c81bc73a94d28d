//! Characters in strings: searching for the first one of several, and replacing one by another.
//!
//! Invariant: as in the class library, the caller of a search has checked that the range lies in the string.

use super::slices::{from, may_decline, non_null, slices, whole};
use saki_loops::search::Element;
use saki_runtime::exec::library_loops::{DECLINED, LoopRow};
use saki_runtime::{Array, CurrentThread, Managed, Str};

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

/// More wanted characters are declined: those that are not ASCII are compared with one after the other.
const MAX_WANTED: usize = 64;

/// Characters that are searched for.
struct Wanted<'a> {
    all: &'a [u16],
    /// A bit for each ASCII character.
    ascii: [u64; 2],
}

impl<'a> Wanted<'a> {
    fn new(all: &'a [u16]) -> Wanted<'a> {
        let mut ascii = [0; 2];
        for &unit in all.iter().filter(|unit| **unit < 0x80) {
            ascii[usize::from(unit >> 6)] |= 1 << (unit & 63);
        }
        Wanted { all, ascii }
    }

    fn has(&self, unit: u16) -> bool {
        match self.ascii.get(usize::from(unit >> 6)) {
            Some(bits) => bits >> (unit & 63) & 1 != 0,
            None => self.all.contains(&unit),
        }
    }
}

/// `String.IndexOfCharArray(char[], int, int)`
fn index_of_array(t: CurrentThread, text: Option<Str>, wanted: Option<Array>, start: i32, count: i32) -> Managed<i32> {
    let text = non_null(t, text)?;
    let Some((first, length)) = wanted.and_then(|array| Some((array.as_ptr::<u16>()?, array.length()))) else {
        return Ok(DECLINED);
    };
    if length > MAX_WANTED {
        return Ok(DECLINED);
    }
    // SAFETY: as many elements as the array has, which does not move while the function runs.
    let wanted = Wanted::new(unsafe { std::slice::from_raw_parts(first, length) });
    let units = text.units();
    let (start, count) = (start as usize, usize::try_from(count).unwrap_or(0));
    let Some(searched) = units.get(start..start.saturating_add(count)) else { return Ok(DECLINED) };
    let found = slices(t, count, 2, |first, number| {
        let place = searched[first..first + number].iter().position(|unit| wanted.has(*unit));
        place.map(|place| first + place)
    });
    Ok(found.map_or(-1, |place| (start + place) as i32))
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
    may_decline(
        "System.String::IndexOfCharArray(System.Char[],System.Int32,System.Int32) System.Int32",
        &index_of_array,
    ),
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

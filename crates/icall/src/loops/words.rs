//! Searching for words in strings by their units, with or without regard to the case of ASCII's letters, and replacing
//! words.
//!
//! Invariant: as in the class library, the caller of a search has checked that the range lies in the string.

use super::slices::{Way, from, may_decline, non_null, rest, whole};
use saki_loops::words::Word;
use saki_runtime::exec::library_loops::{DECLINED, LoopRow};
use saki_runtime::{CurrentThread, Managed, Str};

/// The result of the class library for words that fit nowhere (−1) or everywhere (the start of the range).
fn trivial(word: &[u16], start: i32, count: i32) -> Option<i32> {
    match word.len() {
        length if count < length as i32 => Some(-1),
        0 => Some(start),
        _ => None,
    }
}

/// `start`: the index of the range's first unit, or of its last one if the search goes backward.
fn index_of_word<const N: usize>(
    t: CurrentThread,
    way: Way,
    text: Str,
    word: Word<'_, N>,
    start: i32,
    count: i32,
) -> i32 {
    let first = if way == Way::Forward { start } else { start - count + 1 };
    let units = text.first_unit().wrapping_offset(first as isize);
    // SAFETY: String has checked that the range lies in the string.
    let found = unsafe { word.place(way, units, count as usize, rest(t)) };
    found.map_or(-1, |place| first + place as i32)
}

fn index_of_exact(
    t: CurrentThread,
    way: Way,
    text: Option<Str>,
    word: Option<Str>,
    start: i32,
    count: i32,
) -> Managed<i32> {
    let (text, word) = (non_null(t, text)?, non_null(t, word)?);
    let units = word.units();
    Ok(match (trivial(units, start, count), Word::exact(units)) {
        (None, Some(word)) => index_of_word(t, way, text, word, start, count),
        (result, _) => result.unwrap_or(start),
    })
}

/// Declined: nulls, and words that are not ASCII.
fn index_of_any_case(t: CurrentThread, way: Way, text: Option<Str>, word: Option<Str>, start: i32, count: i32) -> i32 {
    let (Some(text), Some(word)) = (text, word) else { return DECLINED };
    let units = word.units();
    match (trivial(units, start, count), Word::of_any_case(units)) {
        (None, Some(word)) => index_of_word(t, way, text, word, start, count),
        (result, _) => result.unwrap_or(DECLINED),
    }
}

/// `IndexOfUnchecked(value, startIndex, count)`
fn index_of(t: CurrentThread, text: Option<Str>, word: Option<Str>, start: i32, count: i32) -> Managed<i32> {
    index_of_exact(t, Way::Forward, text, word, start, count)
}

/// `LastIndexOfUnchecked(value, startIndex, count)`: the range ends with `startIndex`.
fn last_index_of(t: CurrentThread, text: Option<Str>, word: Option<Str>, start: i32, count: i32) -> Managed<i32> {
    index_of_exact(t, Way::Backward, text, word, start, count)
}

/// `IndexOfUncheckedIgnoreCase(value, startIndex, count)`
fn index_of_ignoring_case(t: CurrentThread, text: Option<Str>, word: Option<Str>, start: i32, count: i32) -> i32 {
    index_of_any_case(t, Way::Forward, text, word, start, count)
}

/// `LastIndexOfUncheckedIgnoreCase(value, startIndex, count)`
fn last_index_of_ignoring_case(t: CurrentThread, text: Option<Str>, word: Option<Str>, start: i32, count: i32) -> i32 {
    index_of_any_case(t, Way::Backward, text, word, start, count)
}

/// Units of the longest string.
const MOST_UNITS: usize = 0x3fff_ffff;
/// The number of words replaced between safepoints.
const REPLACED_AT_ONCE: usize = 4096;

/// `Replace(string, string)`: the string itself where there is nothing to replace. Null, which declines, for arguments
/// for which it throws and for an empty result.
fn replace<'t>(
    t: CurrentThread<'t>,
    text: Option<Str<'t>>,
    old: Option<Str>,
    new: Option<Str>,
) -> Managed<Option<Str<'t>>> {
    let (Some(text), Some(old)) = (text, old) else { return Ok(None) };
    let units = text.units();
    let Some(word) = Word::exact(old.units()) else { return Ok(None) };
    let new = new.as_ref().map_or(&[][..], |new| new.units());
    let mut places = Vec::new();
    let mut from = 0;
    // SAFETY: the rest of the string.
    while let Some(place) = unsafe { word.place(Way::Forward, units[from..].as_ptr(), units.len() - from, rest(t)) } {
        places.push(from + place);
        from += place + word.units.len();
        if places.len() % REPLACED_AT_ONCE == 0 {
            t.managed().poll();
        }
    }
    if places.is_empty() {
        return Ok(Some(text));
    }
    let count = units.len() - places.len() * word.units.len() + places.len() * new.len();
    if !(1..=MOST_UNITS).contains(&count) {
        return Ok(None);
    }
    let made = Str::filled(t, count, |units_of_result| {
        let mut target = units_of_result.as_mut_ptr();
        let mut append = |units: &[u16]| {
            // SAFETY: `count` has room for all that is appended.
            unsafe { super::memory::copy(t, target.cast(), units.as_ptr().cast(), size_of_val(units)) };
            target = target.wrapping_add(units.len());
        };
        let mut from = 0;
        for (index, &place) in places.iter().enumerate() {
            append(&units[from..place]);
            append(new);
            from = place + word.units.len();
            if index % REPLACED_AT_ONCE == REPLACED_AT_ONCE - 1 {
                t.managed().poll();
            }
        }
        append(&units[from..]);
    });
    made.map(Some)
}

pub(super) const TABLE: &[LoopRow] = &[
    may_decline("System.String::Replace(System.String,System.String) System.String", &replace),
    from(
        8,
        3,
        whole("System.String::IndexOfUnchecked(System.String,System.Int32,System.Int32) System.Int32", &index_of),
    ),
    from(
        8,
        3,
        whole(
            "System.String::LastIndexOfUnchecked(System.String,System.Int32,System.Int32) System.Int32",
            &last_index_of,
        ),
    ),
    from(
        8,
        3,
        may_decline(
            "System.String::IndexOfUncheckedIgnoreCase(System.String,System.Int32,System.Int32) System.Int32",
            &index_of_ignoring_case,
        ),
    ),
    from(
        8,
        3,
        may_decline(
            "System.String::LastIndexOfUncheckedIgnoreCase(System.String,System.Int32,System.Int32) System.Int32",
            &last_index_of_ignoring_case,
        ),
    ),
];

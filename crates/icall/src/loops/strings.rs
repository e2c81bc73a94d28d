//! Words in strings, unit by unit; characters replaced; letters of ASCII in the other case.
//!
//! Invariant: like the class library's, searches look where their caller has checked that the range lies in the string.

use super::kernels::{self, Element};
use super::slices::{SLICE_BYTES, from, may_decline, slices, throws_for_null, whole};
use saki_abi::ObjRef;
use saki_runtime::fields::ManagedField;
use saki_runtime::library_loops::Row;
use saki_runtime::{CurrentThread, strings};

/// Places that are looked at between safepoints, if each of them costs a comparison.
const CANDIDATES: usize = SLICE_BYTES / 64;

/// Where `word`, which is not empty, begins first among `count` units; the number of the place or `None`.
fn first_word(t: CurrentThread, start: *const u16, count: usize, word: *const u16, word_count: usize) -> Option<usize> {
    let places = (count + 1).checked_sub(word_count)?;
    // SAFETY: the word has a unit.
    let head = unsafe { *word };
    let mut from = 0;
    let mut candidates = 0;
    while from < places {
        let number = (places - from).min(SLICE_BYTES / 2);
        // SAFETY: the slice lies within the places.
        match unsafe { u16::first(start.add(from), number, [head]) } {
            Some(found) => {
                let place = from + found;
                // SAFETY: the word fits at each of the places.
                if unsafe { kernels::are_equal(start.add(place + 1).cast(), word.add(1).cast(), 2 * (word_count - 1)) }
                {
                    return Some(place);
                }
                from = place + 1;
                candidates += 1;
                if candidates < CANDIDATES {
                    continue;
                }
                candidates = 0;
            }
            None => from += number,
        }
        if from < places {
            t.managed().poll();
        }
    }
    None
}

/// The last place.
fn last_word(t: CurrentThread, start: *const u16, count: usize, word: *const u16, word_count: usize) -> Option<usize> {
    let mut end = (count + 1).checked_sub(word_count)?;
    // SAFETY: the word has a unit.
    let head = unsafe { *word };
    let mut candidates = 0;
    while end > 0 {
        let number = end.min(SLICE_BYTES / 2);
        // SAFETY: the slice lies within the places.
        match unsafe { u16::last(start.add(end - number), number, head) } {
            Some(found) => {
                let place = end - number + found;
                // SAFETY: the word fits at each of the places.
                if unsafe { kernels::are_equal(start.add(place + 1).cast(), word.add(1).cast(), 2 * (word_count - 1)) }
                {
                    return Some(place);
                }
                end = place;
                candidates += 1;
                if candidates < CANDIDATES {
                    continue;
                }
                candidates = 0;
            }
            None => end -= number,
        }
        if end > 0 {
            t.managed().poll();
        }
    }
    None
}

/// `IndexOfUnchecked(value, startIndex, count)`
extern "C" fn index_of(t: CurrentThread, text: ObjRef, word: ObjRef, start: i32, count: i32) -> i32 {
    if throws_for_null(t, word.field_ptr(0)) || throws_for_null(t, text.field_ptr(0)) {
        return 0;
    }
    let word_count = strings::length(word);
    if count < word_count as i32 {
        return -1;
    }
    if word_count == 0 {
        return start;
    }
    let units = strings::chars_ptr(text).wrapping_offset(start as isize);
    let found = first_word(t, units, count as usize, strings::chars_ptr(word), word_count);
    found.map_or(-1, |place| start + place as i32)
}

/// `LastIndexOfUnchecked(value, startIndex, count)`: the range ends with `startIndex`.
extern "C" fn last_index_of(t: CurrentThread, text: ObjRef, word: ObjRef, start: i32, count: i32) -> i32 {
    if throws_for_null(t, word.field_ptr(0)) || throws_for_null(t, text.field_ptr(0)) {
        return 0;
    }
    let word_count = strings::length(word);
    if count < word_count as i32 {
        return -1;
    }
    if word_count == 0 {
        return start;
    }
    let first = start - count + 1;
    let units = strings::chars_ptr(text).wrapping_offset(first as isize);
    let found = last_word(t, units, count as usize, strings::chars_ptr(word), word_count);
    found.map_or(-1, |place| first + place as i32)
}

fn index_of_any<const N: usize>(t: CurrentThread, text: ObjRef, wanted: [u16; N], start: i32, count: i32) -> i32 {
    if throws_for_null(t, text.field_ptr(0)) {
        return 0;
    }
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return -1;
    }
    let units = strings::chars_ptr(text).wrapping_offset(start as isize);
    let found = slices(t, count, 2, |first, number| {
        // SAFETY: the caller has checked the range; the slice lies within it.
        unsafe { u16::first(units.add(first), number, wanted) }.map(|found| first + found)
    });
    found.map_or(-1, |place| start + place as i32)
}

extern "C" fn index_of_two(t: CurrentThread, text: ObjRef, a: u32, b: u32, start: i32, count: i32) -> i32 {
    index_of_any(t, text, [a as u16, b as u16], start, count)
}

extern "C" fn index_of_three(t: CurrentThread, text: ObjRef, a: u32, b: u32, c: u32, start: i32, count: i32) -> i32 {
    index_of_any(t, text, [a as u16, b as u16, c as u16], start, count)
}

/// A new string with what `unit` makes of each unit of `text`.
fn mapped(t: CurrentThread, text: ObjRef, unit: impl Fn(u16) -> u16) -> ObjRef {
    let count = strings::length(text);
    t.run(|| {
        let result = strings::alloc_string(t, count)?;
        let (source, target) = (strings::chars_ptr(text), strings::chars_ptr(result));
        slices(t, count, 2, |first, number| {
            for place in first..first + number {
                // SAFETY: the place lies in both strings, of which the new one is only this function's.
                unsafe { *target.add(place) = unit(*source.add(place)) };
            }
            None::<()>
        });
        Ok(result)
    })
}

/// `Replace(char, char)`: the string itself where there is nothing to replace.
extern "C" fn replace(t: CurrentThread, text: ObjRef, old: u32, new: u32) -> ObjRef {
    let (old, new) = (old as u16, new as u16);
    let count = strings::length(text);
    let first = slices(t, count, 2, |first, number| {
        // SAFETY: the slice lies in the string.
        unsafe { u16::first(strings::chars_ptr(text).add(first), number, [old]) }.map(|found| first + found)
    });
    match first {
        Some(_) if old != new => mapped(t, text, |unit| if unit == old { new } else { unit }),
        _ => text,
    }
}

/// Whether the culture changes the case of ASCII's letters as most do: two `true`, that this is known and that it is so.
static ASCII_CASE_IS_PLAIN: ManagedField =
    ManagedField::corlib("System.Globalization", "TextInfo", "m_IsAsciiCasingSameAsInvariant");

/// The string with the letters from `first` to `last` in the other case. Null, which declines: it is not all ASCII, is empty, or the culture has other rules, or was not asked yet.
fn other_case(t: CurrentThread, text_info: ObjRef, text: ObjRef, first: u8, last: u8) -> ObjRef {
    let count = strings::length(text);
    if count == 0 || ASCII_CASE_IS_PLAIN.get::<[u8; 2]>(text_info) != [1, 1] {
        return ObjRef::NULL;
    }
    let other = slices(t, count, 2, |first, number| {
        // SAFETY: the slice lies in the string, which never changes.
        let units = unsafe { std::slice::from_raw_parts(strings::chars_ptr(text).add(first), number) };
        (!encoding_rs::mem::is_basic_latin(units)).then_some(())
    });
    if other.is_some() {
        return ObjRef::NULL;
    }
    const CASE: u16 = 0x20;
    let (first, span) = (u16::from(first), u16::from(last - first));
    mapped(t, text, |unit| if unit.wrapping_sub(first) <= span { unit ^ CASE } else { unit })
}

/// `TextInfo.ToUpperInternal(string)`
extern "C" fn to_upper(t: CurrentThread, text_info: ObjRef, text: ObjRef) -> ObjRef {
    other_case(t, text_info, text, b'a', b'z')
}

/// `TextInfo.ToLowerInternal(string)`
extern "C" fn to_lower(t: CurrentThread, text_info: ObjRef, text: ObjRef) -> ObjRef {
    other_case(t, text_info, text, b'A', b'Z')
}

pub(super) const TABLE: &[Row] = &[
    may_decline("System.String::Replace(System.Char,System.Char) System.String", replace as *const ()),
    may_decline("System.Globalization.TextInfo::ToUpperInternal(System.String) System.String", to_upper as *const ()),
    may_decline("System.Globalization.TextInfo::ToLowerInternal(System.String) System.String", to_lower as *const ()),
    from(
        16,
        3,
        whole(
            "System.String::IndexOfUnchecked(System.String,System.Int32,System.Int32) System.Int32",
            index_of as *const (),
        ),
    ),
    from(
        16,
        3,
        whole(
            "System.String::LastIndexOfUnchecked(System.String,System.Int32,System.Int32) System.Int32",
            last_index_of as *const (),
        ),
    ),
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

//! Words in strings, unit by unit.
//!
//! Invariant: like the class library's, these search where their caller has checked that the range lies in the string.

use super::kernels::{self, Element};
use super::slices::{SLICE_BYTES, slices, throws_for_null, whole};
use saki_abi::ObjRef;
use saki_runtime::library_loops::Row;
use saki_runtime::{Thread, strings};

/// Places that are looked at between safepoints, if each of them costs a comparison.
const CANDIDATES: usize = SLICE_BYTES / 64;

/// Where `word`, which is not empty, begins first among `count` units; the number of the place or `None`.
fn first_word(t: Thread, start: *const u16, count: usize, word: *const u16, word_count: usize) -> Option<usize> {
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
fn last_word(t: Thread, start: *const u16, count: usize, word: *const u16, word_count: usize) -> Option<usize> {
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
extern "C" fn index_of(t: Thread, text: ObjRef, word: ObjRef, start: i32, count: i32) -> i32 {
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
extern "C" fn last_index_of(t: Thread, text: ObjRef, word: ObjRef, start: i32, count: i32) -> i32 {
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

fn index_of_any<const N: usize>(t: Thread, text: ObjRef, wanted: [u16; N], start: i32, count: i32) -> i32 {
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

extern "C" fn index_of_two(t: Thread, text: ObjRef, a: u32, b: u32, start: i32, count: i32) -> i32 {
    index_of_any(t, text, [a as u16, b as u16], start, count)
}

extern "C" fn index_of_three(t: Thread, text: ObjRef, a: u32, b: u32, c: u32, start: i32, count: i32) -> i32 {
    index_of_any(t, text, [a as u16, b as u16, c as u16], start, count)
}

pub(super) const TABLE: &[Row] = &[
    whole(
        "System.String::IndexOfUnchecked(System.String,System.Int32,System.Int32) System.Int32",
        index_of as *const (),
    ),
    whole(
        "System.String::LastIndexOfUnchecked(System.String,System.Int32,System.Int32) System.Int32",
        last_index_of as *const (),
    ),
    whole(
        "System.String::IndexOfAny(System.Char,System.Char,System.Int32,System.Int32) System.Int32",
        index_of_two as *const (),
    ),
    whole(
        "System.String::IndexOfAny(System.Char,System.Char,System.Char,System.Int32,System.Int32) System.Int32",
        index_of_three as *const (),
    ),
];

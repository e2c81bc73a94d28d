//! Searching for words in text by their units, with or without regard to the case of ASCII's letters.

use crate::ascii_case;
use crate::compare;
use crate::search::{self, Element};
use crate::slices::{SLICE_BYTES, Way};

/// The number of places between two rests that may each cost a comparison with the word.
const CANDIDATES: usize = SLICE_BYTES / 64;

/// The first of `places`, in the given direction, at which the word is. `find` returns a candidate in a range `(first,
/// number)` of places, counted from `first`; `is_there` compares the whole word.
fn walk(
    way: Way,
    places: usize,
    find: impl Fn(usize, usize) -> Option<usize>,
    is_there: impl Fn(usize) -> bool,
    mut rest: impl FnMut(),
) -> Option<usize> {
    let (mut from, mut to) = (0, places);
    let mut candidates = 0;
    while from < to {
        let number = (to - from).min(SLICE_BYTES / 2);
        let first = if way == Way::Forward { from } else { to - number };
        let found = find(first, number).map(|found| first + found);
        if let Some(place) = found.filter(|&place| is_there(place)) {
            return Some(place);
        }
        match way {
            Way::Forward => from = found.map_or(first + number, |place| place + 1),
            Way::Backward => to = found.unwrap_or(first),
        }
        candidates += 1;
        if (found.is_none() || candidates % CANDIDATES == 0) && from < to {
            rest();
        }
    }
    None
}

/// A word to search for. Each unit of the text may match in `N` forms: as it is, or in both cases.
#[derive(Clone, Copy)]
pub struct Word<'a, const N: usize> {
    pub units: &'a [u16],
    /// The forms of the first unit.
    head: [u16; N],
    tail: [u16; N],
    /// Whether two ranges of that many units match.
    is_equal: unsafe fn(*const u16, *const u16, usize) -> bool,
}

/// # Safety
/// `count` units can be read at both.
unsafe fn are_same(a: *const u16, b: *const u16, count: usize) -> bool {
    // SAFETY: `count` units, which are `2 * count` bytes, can be read at both.
    unsafe { compare::are_equal(a.cast(), b.cast(), 2 * count) }
}

impl<'a> Word<'a, 1> {
    /// None if the word is empty.
    pub fn exact(units: &'a [u16]) -> Option<Self> {
        Some(Word { units, head: [*units.first()?], tail: [*units.last()?], is_equal: are_same })
    }
}

impl<'a> Word<'a, 2> {
    /// None if the word is empty or has characters other than ASCII's, for which the case is not known here.
    pub fn of_any_case(units: &'a [u16]) -> Option<Self> {
        if units.iter().any(|&unit| unit >= 0x80) {
            return None;
        }
        let cases = |unit| [unit, ascii_case::other_case(unit)];
        let (head, tail) = (cases(*units.first()?), cases(*units.last()?));
        Some(Word { units, head, tail, is_equal: ascii_case::are_equal })
    }
}

impl<const N: usize> Word<'_, N> {
    /// The first or last place among the `count` units at `start` where the word begins.
    ///
    /// # Safety
    /// The units can be read.
    pub unsafe fn place(&self, way: Way, start: *const u16, count: usize, rest: impl FnMut()) -> Option<usize> {
        let behind = self.units.len() - 1;
        let places = count.checked_sub(behind)?;
        let find = |first: usize, number: usize| {
            let start = start.wrapping_add(first);
            // SAFETY: behind each place the rest of the word still fits before the end.
            unsafe {
                match way {
                    Way::Forward => search::first_pair(start, number, behind, self.head, self.tail),
                    Way::Backward => u16::last(start, number, self.head),
                }
            }
        };
        // SAFETY: the word fits at each of the places.
        let is_there = |place: usize| unsafe { (self.is_equal)(start.add(place), self.units.as_ptr(), behind + 1) };
        walk(way, places, find, is_there, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_are_found_where_a_loop_finds_them(
            text in proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'A'), Just(b'b'), Just(b'.')], 0..80),
            word in proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'A'), Just(b'b')], 1..5),
        ) {
            let units = |text: &[u8]| text.iter().copied().map(u16::from).collect::<Vec<_>>();
            let (text_units, word_units) = (units(&text), units(&word));
            let windows = || text.windows(word.len());
            let (exact, any_case) = (Word::exact(&word_units).unwrap(), Word::of_any_case(&word_units).unwrap());
            let (start, count) = (text_units.as_ptr(), text_units.len());
            // SAFETY: the vector has so many units.
            unsafe {
                prop_assert_eq!(exact.place(Way::Forward, start, count, || ()), windows().position(|part| part == word));
                prop_assert_eq!(exact.place(Way::Backward, start, count, || ()), windows().rposition(|part| part == word));
                let is_same = |part: &[u8]| part.eq_ignore_ascii_case(&word);
                prop_assert_eq!(any_case.place(Way::Forward, start, count, || ()), windows().position(is_same));
                prop_assert_eq!(any_case.place(Way::Backward, start, count, || ()), windows().rposition(is_same));
            }
        }
    }
}

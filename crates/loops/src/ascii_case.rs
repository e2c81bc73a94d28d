//! Text without regard to the case of ASCII's letters, and converting their case.

/// The bit in which the two cases of a letter differ.
const CASE: u16 = 0x20;
const LETTERS: u16 = 26;

/// Whether a unit is one of ASCII's letters.
#[inline(always)]
fn is_letter(unit: u16) -> bool {
    (unit | CASE).wrapping_sub(u16::from(b'a')) < LETTERS
}

/// A letter in the other case; other units as they are.
pub fn other_case(unit: u16) -> u16 {
    if is_letter(unit) { unit ^ CASE } else { unit }
}

/// A letter as a capital; other units as they are.
pub fn upper(unit: u16) -> u16 {
    if unit.wrapping_sub(u16::from(b'a')) < LETTERS { unit ^ CASE } else { unit }
}

/// Whether two units are the same, or the two cases of a letter.
#[inline(always)]
fn is_same(a: u16, b: u16) -> bool {
    a == b || (a ^ b == CASE && is_letter(a))
}

/// Units that are compared together, by vectors.
const TOGETHER: usize = 16;

/// The first place where units differ in more than the case, and whether all units before it are ASCII.
pub fn first_difference(a: &[u16], b: &[u16]) -> (Option<usize>, bool) {
    let count = a.len().min(b.len());
    let (mut place, mut all) = (0, 0);
    while let (Some(x), Some(y)) = (a[place..count].first_chunk::<TOGETHER>(), b[place..count].first_chunk()) {
        let y: &[u16; TOGETHER] = y;
        let (mut different, mut units) = (0, 0);
        for (x, y) in x.iter().zip(y) {
            different |= u16::from((x ^ y) & !CASE != 0) | u16::from(x != y) & u16::from(!is_letter(*x));
            units |= x;
        }
        if different != 0 {
            break;
        }
        all |= units;
        place += TOGETHER;
    }
    while place < count && is_same(a[place], b[place]) {
        all |= a[place];
        place += 1;
    }
    ((place < count).then_some(place), all < 0x80)
}

/// Whether two ranges of units are equal but for the case of letters.
///
/// # Safety
/// `count` units can be read at both.
pub unsafe fn are_equal(a: *const u16, b: *const u16, count: usize) -> bool {
    // SAFETY: `count` units can be read at both.
    let (a, b) = unsafe { (std::slice::from_raw_parts(a, count), std::slice::from_raw_parts(b, count)) };
    first_difference(a, b).0.is_none()
}

/// The case that letters are converted to.
#[derive(Clone, Copy)]
pub enum Case {
    Upper,
    Lower,
}

impl Case {
    /// Writes the text in this case to as many units of `target`. False: it is not all ASCII.
    pub fn convert(self, source: &[u16], target: &mut [u16]) -> bool {
        let first = u16::from(match self {
            Case::Upper => b'a',
            Case::Lower => b'A',
        });
        let mut all = 0;
        for (unit, room) in source.iter().zip(target) {
            all |= *unit;
            *room = if unit.wrapping_sub(first) < LETTERS { *unit ^ CASE } else { *unit };
        }
        all < 0x80
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ascii_compares_and_converts_as_the_standard_library_does(
            text in proptest::collection::vec(0u8..0x80, 0..60), flips in proptest::collection::vec(any::<bool>(), 60), change in 0usize..80,
        ) {
            let units: Vec<u16> = text.iter().copied().map(u16::from).collect();
            let mut other: Vec<u16> =
                units.iter().zip(flips).map(|(unit, flips)| if flips { other_case(*unit) } else { *unit }).collect();
            // SAFETY: both vectors have so many units.
            let are_equal = unsafe { are_equal(units.as_ptr(), other.as_ptr(), units.len()) };
            prop_assert!(are_equal);
            if let Some(unit) = other.get_mut(change) {
                *unit ^= 1;
            }
            let is_same = |a: u16, b: u16| (a as u8).eq_ignore_ascii_case(&(b as u8));
            let expected = units.iter().zip(&other).position(|(a, b)| !is_same(*a, *b));
            prop_assert_eq!(first_difference(&units, &other).0, expected);
            let mut converted = vec![0; units.len()];
            prop_assert!(Case::Upper.convert(&units, &mut converted));
            prop_assert!(converted.iter().zip(&text).all(|(a, b)| *a == u16::from(b.to_ascii_uppercase())));
            prop_assert!(Case::Lower.convert(&units, &mut converted));
            prop_assert!(converted.iter().zip(&text).all(|(a, b)| *a == u16::from(b.to_ascii_lowercase())));
        }
    }
}

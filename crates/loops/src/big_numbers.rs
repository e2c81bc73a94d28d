//! Sums, differences and products of large numbers: sequences of 32-bit words, the lowest first. These functions work
//! on two words at a time.

use crate::slices::SLICE_BYTES;

/// Words of a number in memory that others may write to meanwhile.
#[derive(Clone, Copy)]
pub struct Words {
    pub start: *mut u32,
    pub count: usize,
}

/// Two words.
pub const LIMB_WORDS: usize = 2;
/// Limbs that are calculated in a row without checking for the end, which halves the time of sums.
const IN_A_ROW: usize = 4;

/// Words of the longest number that is summed without a rest, which takes some ten microseconds.
pub const MOST_WORDS: usize = SLICE_BYTES / size_of::<u32>();

impl Words {
    /// None for a negative number of words, and for too many.
    pub fn new(start: *mut u32, count: i32) -> Option<Self> {
        Some(Words { start, count: usize::try_from(count).ok().filter(|&count| count <= MOST_WORDS)? })
    }

    /// Whether the numbers have memory in common.
    pub fn overlaps(self, other: Words) -> bool {
        {
            let size_bytes = |number: Words| number.count * size_of::<u32>();
            let (a, b) = (self.start.addr(), other.start.addr());
            a < b + size_bytes(other) && b < a + size_bytes(self)
        }
    }

    /// Two words.
    ///
    /// # Safety
    /// `place + 1` lies in the number.
    #[inline(always)]
    pub unsafe fn limb(self, place: usize) -> u64 {
        // SAFETY: the words `place` and `place + 1` lie in the number. Lower words come first on the machines we
        // support.
        u64::from_le(unsafe { self.start.add(place).cast::<u64>().read_unaligned() })
    }

    /// # Safety
    /// As for `limb`.
    #[inline(always)]
    pub unsafe fn set_limb(self, place: usize, limb: u64) {
        // SAFETY: the words `place` and `place + 1` lie in the number.
        unsafe { self.start.add(place).cast::<u64>().write_unaligned(limb.to_le()) }
    }

    /// # Safety
    /// `place` lies in the number.
    #[inline(always)]
    pub unsafe fn word(self, place: usize) -> u32 {
        // SAFETY: `place` lies in the number.
        unsafe { *self.start.add(place) }
    }

    /// # Safety
    /// As for `word`.
    #[inline(always)]
    pub unsafe fn set_word(self, place: usize, word: u32) {
        // SAFETY: `place` lies in the number.
        unsafe { *self.start.add(place) = word }
    }

    /// The words from `first` on.
    pub fn from(self, first: usize) -> Self {
        Words { start: self.start.wrapping_add(first), count: self.count - first }
    }

    /// The lowest `count` words.
    pub fn first(self, count: usize) -> Self {
        Words { start: self.start, count }
    }

    /// # Safety
    /// The number can be read.
    pub unsafe fn is_zero(self) -> bool {
        // SAFETY: the places lie in the number.
        (0..self.count).all(|place| unsafe { self.word(place) } == 0)
    }
}

/// One step of a sum or difference, on a limb or on a word: the result and the carry.
pub trait Step {
    fn limb(a: u64, b: u64, carry: bool) -> (u64, bool);
    fn word(a: u32, b: u32, carry: bool) -> (u32, bool);
}

/// Adds.
pub struct Sum;
/// Subtracts.
pub struct Difference;

impl Step for Sum {
    #[inline(always)]
    fn limb(a: u64, b: u64, carry: bool) -> (u64, bool) {
        let (sum, over) = a.overflowing_add(b);
        let (sum, over_again) = sum.overflowing_add(u64::from(carry));
        (sum, over | over_again)
    }

    #[inline(always)]
    fn word(a: u32, b: u32, carry: bool) -> (u32, bool) {
        let sum = u64::from(a) + u64::from(b) + u64::from(carry);
        (sum as u32, sum >> 32 != 0)
    }
}

impl Step for Difference {
    #[inline(always)]
    fn limb(a: u64, b: u64, carry: bool) -> (u64, bool) {
        let (difference, under) = a.overflowing_sub(b);
        let (difference, under_again) = difference.overflowing_sub(u64::from(carry));
        (difference, under | under_again)
    }

    #[inline(always)]
    fn word(a: u32, b: u32, carry: bool) -> (u32, bool) {
        let difference = i64::from(a) - i64::from(b) - i64::from(carry);
        (difference as u32, difference < 0)
    }
}

/// Combines the words of `b` with as many of `a` into `result`, which may be `a` itself. Returns the carry.
///
/// # Safety
/// `a` and `result` have as many words; `result` can be written.
#[inline(always)]
pub unsafe fn combine<S: Step>(a: Words, b: Words, result: Words) -> bool {
    let (mut place, mut carry) = (0, false);
    // SAFETY: the places lie before `b.count`.
    unsafe {
        let mut step = |place| {
            let limb;
            (limb, carry) = S::limb(a.limb(place), b.limb(place), carry);
            result.set_limb(place, limb);
        };
        // Within these limbs the carry stays in the processor's flag.
        while place + IN_A_ROW * LIMB_WORDS <= b.count {
            for limb in 0..IN_A_ROW {
                step(place + limb * LIMB_WORDS);
            }
            place += IN_A_ROW * LIMB_WORDS;
        }
        while place + LIMB_WORDS <= b.count {
            step(place);
            place += LIMB_WORDS;
        }
        if place < b.count {
            let word;
            (word, carry) = S::word(a.word(place), b.word(place), carry);
            result.set_word(place, word);
        }
    }
    carry
}

/// Adds (or subtracts) the carry to the words of `a`, into `result`, which is `a` itself or does not overlap it.
/// Returns the carry.
///
/// # Safety
/// `a` can be read, and as many words of `result` written.
#[inline(always)]
pub unsafe fn carry_on<S: Step>(a: Words, result: Words, mut carry: bool) -> bool {
    let mut place = 0;
    // SAFETY: the places lie before `a.count`.
    unsafe {
        while carry && place < a.count {
            let word;
            (word, carry) = S::word(a.word(place), 0, carry);
            result.set_word(place, word);
            place += 1;
        }
        if a.start != result.start {
            std::ptr::copy_nonoverlapping(a.start.add(place), result.start.add(place), a.count - place);
        }
    }
    carry
}

/// Adds `a` times a factor of one or two words to `result`, which has at least as many words as the two, and whose
/// words beyond `a.count` are zero.
///
/// # Safety
/// `a` can be read and `result` written; they do not overlap.
#[inline(always)]
pub unsafe fn add_product(a: Words, factor: u64, result: Words) {
    let (mut place, mut carry) = (0, 0u64);
    // SAFETY: the places lie before `a.count`, and before the factor's words behind it in `result`.
    unsafe {
        let mut step = |place| {
            let sum =
                u128::from(a.limb(place)) * u128::from(factor) + u128::from(result.limb(place)) + u128::from(carry);
            result.set_limb(place, sum as u64);
            carry = (sum >> 64) as u64;
        };
        while place + IN_A_ROW * LIMB_WORDS <= a.count {
            for limb in 0..IN_A_ROW {
                step(place + limb * LIMB_WORDS);
            }
            place += IN_A_ROW * LIMB_WORDS;
        }
        while place + LIMB_WORDS <= a.count {
            step(place);
            place += LIMB_WORDS;
        }
        if place < a.count {
            let sum =
                u128::from(a.word(place)) * u128::from(factor) + u128::from(result.word(place)) + u128::from(carry);
            result.set_word(place, sum as u32);
            place += 1;
            carry = (sum >> 32) as u64;
        }
        // The sum fits in `result`, so words of the carry beyond its end are zero.
        if place + LIMB_WORDS <= result.count {
            result.set_limb(place, carry);
        } else if place < result.count {
            result.set_word(place, carry as u32);
        }
    }
}

/// Words of the longer number that are multiplied without a rest.
pub const WORDS_AT_ONCE: usize = 1 << 13;

/// Adds the product of `a` and `b` to `product`, which is zero and has as many words as both together.
///
/// # Safety
/// As for `add_product`.
pub unsafe fn multiply_words(a: Words, b: Words, product: Words, mut rest: impl FnMut()) {
    let mut first = 0;
    while first < a.count {
        // A part is longer than `b`, so the words that the part before has written above its own lie within this
        // part's.
        let left = a.count - first;
        let part = a.from(first).first(if left < 2 * WORDS_AT_ONCE { left } else { WORDS_AT_ONCE });
        let place = |place: usize| product.from(first + place).first(part.count + b.count - place);
        let mut from = 0;
        // SAFETY: places are below the sum of both counts, which is the product's; the words above the parts added so
        // far are zero.
        unsafe {
            while from + LIMB_WORDS <= b.count {
                add_product(part, b.limb(from), place(from));
                from += LIMB_WORDS;
            }
            if from < b.count {
                add_product(part, u64::from(b.word(from)), place(from));
            }
        }
        first += part.count;
        if first < a.count {
            rest();
        }
    }
}

/// Adds `count` words of `b` to those of `a`; returns the carry. Calls `rest` now and then.
///
/// # Safety
/// `count` words of both can be read, and those of `a` written.
pub unsafe fn add_words(a: *mut u32, b: *const u32, count: usize, mut rest: impl FnMut()) -> u32 {
    let mut carry = 0;
    for place in 0..count {
        if place % MOST_WORDS == MOST_WORDS - 1 {
            rest();
        }
        // SAFETY: `place < count`.
        unsafe {
            let sum = u64::from(*a.add(place)) + carry + u64::from(*b.add(place));
            *a.add(place) = sum as u32;
            carry = sum >> 32;
        }
    }
    carry as u32
}

/// Subtracts `factor` times the `count` words of `b` from those of `a`; returns the carry. Calls `rest` now and then.
/// `by_limbs`: the numbers do not overlap, and the factor has one word.
///
/// # Safety
/// As for `add_words`.
pub unsafe fn subtract_product(
    a: *mut u32,
    b: *const u32,
    count: usize,
    factor: u64,
    by_limbs: bool,
    mut rest: impl FnMut(),
) -> u32 {
    let (mut place, mut carry) = (0, 0u64);
    // A factor of one word leaves a carry of one, so that two words of products and the carry fit in four.
    if by_limbs {
        let (a, b) = (Words { start: a, count }, Words { start: b.cast_mut(), count });
        while place + LIMB_WORDS <= count {
            // SAFETY: the place lies before `count`.
            unsafe {
                let product = u128::from(b.limb(place)) * u128::from(factor) + u128::from(carry);
                let (difference, under) = a.limb(place).overflowing_sub(product as u64);
                a.set_limb(place, difference);
                carry = (product >> 64) as u64 + u64::from(under);
            }
            place += LIMB_WORDS;
        }
    }
    for place in place..count {
        if place % MOST_WORDS == MOST_WORDS - 1 {
            rest();
        }
        // SAFETY: `place < count`.
        unsafe {
            carry = carry.wrapping_add(u64::from(*b.add(place)).wrapping_mul(factor));
            let digit = carry as u32;
            carry >>= 32;
            let (difference, under) = (*a.add(place)).overflowing_sub(digit);
            *a.add(place) = difference;
            carry += u64::from(under);
        }
    }
    carry as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(numbers: &mut [u32]) -> Words {
        Words { start: numbers.as_mut_ptr(), count: numbers.len() }
    }

    /// The product and sum by school's method.
    fn plain_product(a: &[u32], b: &[u32]) -> Vec<u32> {
        let mut product = vec![0u32; a.len() + b.len()];
        for (i, x) in a.iter().enumerate() {
            let mut carry = 0u64;
            for (j, y) in b.iter().enumerate() {
                let sum = u64::from(*x) * u64::from(*y) + u64::from(product[i + j]) + carry;
                product[i + j] = sum as u32;
                carry = sum >> 32;
            }
            product[i + b.len()] = carry as u32;
        }
        product
    }

    fn number(most: usize) -> impl Strategy<Value = Vec<u32>> {
        proptest::collection::vec(prop_oneof![any::<u32>(), Just(0), Just(u32::MAX)], 0..most)
    }

    proptest! {
        #[test]
        fn sums_minus_a_number_give_the_other(a in number(40), b in number(40)) {
            let (mut a, mut b) = if a.len() < b.len() { (b, a) } else { (a, b) };
            let mut sum = vec![0; a.len() + 1];
            // SAFETY: the lengths are as the functions ask, and the vectors do not overlap.
            let back = unsafe {
                let (x, y, total) = (words(&mut a), words(&mut b), words(&mut sum));
                let carry = combine::<Sum>(x, y, total);
                let carry = carry_on::<Sum>(x.from(y.count), total.from(y.count), carry);
                total.set_word(x.count, u32::from(carry));
                let carry = combine::<Difference>(total, y, total);
                carry_on::<Difference>(total.from(y.count), total.from(y.count), carry)
            };
            prop_assert!(!back);
            prop_assert_eq!(&sum[..a.len()], &a[..]);
            prop_assert_eq!(sum[a.len()], 0);
        }

        #[test]
        fn products_are_those_of_school(a in number(40), b in number(40)) {
            let (mut a, mut b) = if a.len() < b.len() { (b, a) } else { (a, b) };
            let mut product = vec![0; a.len() + b.len()];
            // SAFETY: the product has as many words as both, and the vectors do not overlap.
            unsafe { multiply_words(words(&mut a), words(&mut b), words(&mut product), || ()) };
            prop_assert_eq!(product, plain_product(&a, &b));
        }

        #[test]
        fn divisors_are_subtracted_alike_by_limbs_and_by_words(a in number(40), b in number(40), factor in any::<u32>()) {
            let count = a.len().min(b.len());
            let (mut by_limbs, mut by_words) = (a.clone(), a);
            // SAFETY: both have at least `count` words.
            let carries = unsafe {
                [(&mut by_limbs, true), (&mut by_words, false)].map(|(a, by_limbs)| {
                    subtract_product(a.as_mut_ptr(), b.as_ptr(), count, u64::from(factor), by_limbs, || ())
                })
            };
            prop_assert_eq!(carries[0], carries[1]);
            prop_assert_eq!(by_limbs, by_words);
        }
    }
}

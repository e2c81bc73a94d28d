//! Sums, differences and products of large integers (`System.Numerics.BigIntegerCalculator`).
//!
//! The class library's numbers are sequences of 32-bit words, the lowest first. These functions work on two words at a time. Declined are numbers that share memory
//! or are so long that safepoints are needed, and products of two long numbers: the class library cuts these into parts and multiplies the parts by the same methods.

use super::slices::{SLICE_BYTES, may_decline, whole};
use super::spans::overlap;
use saki_runtime::library_loops::{DECLINED, Row};
use saki_runtime::{Array, CurrentThread, Managed};

/// Words of a number in managed memory.
#[derive(Clone, Copy)]
struct Words {
    start: *mut u32,
    count: usize,
}

/// Two words.
const LIMB_WORDS: usize = 2;
/// Limbs that are calculated in a row without checking for the end, which halves the time of sums.
const IN_A_ROW: usize = 4;

/// Words of the longest number that is summed without a safepoint, which takes some ten microseconds.
const MOST_WORDS: usize = SLICE_BYTES / size_of::<u32>();

impl Words {
    /// None for a negative number of words, and for too many.
    fn new(start: *mut u32, count: i32) -> Option<Self> {
        Some(Words { start, count: usize::try_from(count).ok().filter(|&count| count <= MOST_WORDS)? })
    }

    fn overlaps(self, other: Words) -> bool {
        overlap(self.start, 4 * self.count, other.start, 4 * other.count)
    }

    /// Two words.
    ///
    /// # Safety
    /// `place + 1` lies in the number.
    #[inline(always)]
    unsafe fn limb(self, place: usize) -> u64 {
        // SAFETY: this function's contract. Lower words come first on the machines we support.
        u64::from_le(unsafe { self.start.add(place).cast::<u64>().read_unaligned() })
    }

    /// # Safety
    /// As for `limb`.
    #[inline(always)]
    unsafe fn set_limb(self, place: usize, limb: u64) {
        // SAFETY: this function's contract.
        unsafe { self.start.add(place).cast::<u64>().write_unaligned(limb.to_le()) }
    }

    /// # Safety
    /// `place` lies in the number.
    #[inline(always)]
    unsafe fn word(self, place: usize) -> u32 {
        // SAFETY: this function's contract.
        unsafe { *self.start.add(place) }
    }

    /// # Safety
    /// As for `word`.
    #[inline(always)]
    unsafe fn set_word(self, place: usize, word: u32) {
        // SAFETY: this function's contract.
        unsafe { *self.start.add(place) = word }
    }

    /// The words from `first` on.
    fn from(self, first: usize) -> Self {
        Words { start: self.start.wrapping_add(first), count: self.count - first }
    }

    fn first(self, count: usize) -> Self {
        Words { start: self.start, count }
    }

    /// # Safety
    /// The number can be read.
    unsafe fn is_zero(self) -> bool {
        // SAFETY: the places lie in the number.
        (0..self.count).all(|place| unsafe { self.word(place) } == 0)
    }
}

/// One step of a sum or difference, on a limb or on a word: the result and the carry.
trait Step {
    fn limb(a: u64, b: u64, carry: bool) -> (u64, bool);
    fn word(a: u32, b: u32, carry: bool) -> (u32, bool);
}

struct Sum;
struct Difference;

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
unsafe fn combine<S: Step>(a: Words, b: Words, result: Words) -> bool {
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

/// Adds (or subtracts) the carry to the words of `a`, into `result`, which is `a` itself or does not overlap it. Returns the carry.
///
/// # Safety
/// `a` can be read, and as many words of `result` written.
#[inline(always)]
unsafe fn carry_on<S: Step>(a: Words, result: Words, mut carry: bool) -> bool {
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

/// Two numbers, of which the first must not be shorter. None: declined.
fn two(a: *mut u32, a_count: i32, b: *mut u32, b_count: i32) -> Option<(Words, Words)> {
    let (a, b) = (Words::new(a, a_count)?, Words::new(b, b_count)?);
    (a.count >= b.count && !a.overlaps(b)).then_some((a, b))
}

fn three(
    (a, a_count): (*mut u32, i32),
    (b, b_count): (*mut u32, i32),
    (result, result_count): (*mut u32, i32),
) -> Option<(Words, Words, Words)> {
    let (a, b, result) = (Words::new(a, a_count)?, Words::new(b, b_count)?, Words::new(result, result_count)?);
    (a.count >= b.count && !a.overlaps(result) && !b.overlaps(result)).then_some((a, b, result))
}

fn done(result: Option<()>) -> i32 {
    result.map_or(DECLINED, |()| 0)
}

/// `Add`: the sum has a word more than the longer number.
fn add(_: CurrentThread, a: *mut u32, a_count: i32, b: *mut u32, b_count: i32, sum: *mut u32, sum_count: i32) -> i32 {
    done(three((a, a_count), (b, b_count), (sum, sum_count)).filter(|(a, _, sum)| sum.count == a.count + 1).map(
        |(a, b, sum)| {
            // SAFETY: the managed caller vouches for the numbers, whose lengths were checked and which do not overlap.
            unsafe {
                let carry = combine::<Sum>(a, b, sum);
                let carry = carry_on::<Sum>(a.from(b.count), sum.from(b.count), carry);
                sum.set_word(a.count, u32::from(carry));
            }
        },
    ))
}

/// `Subtract`: the difference has as many words as the longer number.
fn subtract(
    _: CurrentThread,
    a: *mut u32,
    a_count: i32,
    b: *mut u32,
    b_count: i32,
    difference: *mut u32,
    difference_count: i32,
) -> i32 {
    let numbers = three((a, a_count), (b, b_count), (difference, difference_count));
    done(numbers.filter(|(a, _, difference)| difference.count == a.count).map(|(a, b, difference)| {
        // SAFETY: as in `add`.
        unsafe {
            let carry = combine::<Difference>(a, b, difference);
            carry_on::<Difference>(a.from(b.count), difference.from(b.count), carry);
        }
    }))
}

/// Combines `b` into `a` and carries on through the rest of `a`.
fn combine_self<S: Step>(numbers: Option<(Words, Words)>) -> i32 {
    done(numbers.map(|(a, b)| {
        // SAFETY: as in `add`.
        unsafe {
            let carry = combine::<S>(a, b, a);
            carry_on::<S>(a.from(b.count), a.from(b.count), carry);
        }
    }))
}

/// `AddSelf`
fn add_self(_: CurrentThread, a: *mut u32, a_count: i32, b: *mut u32, b_count: i32) -> i32 {
    combine_self::<Sum>(two(a, a_count, b, b_count))
}

/// `SubtractSelf`
fn subtract_self(_: CurrentThread, a: *mut u32, a_count: i32, b: *mut u32, b_count: i32) -> i32 {
    combine_self::<Difference>(two(a, a_count, b, b_count))
}

/// `SubtractCore`: subtracts both numbers from `core`. Like the class library, which does both in one loop, it drops a carry beyond the end of `core`.
fn subtract_core(
    _: CurrentThread,
    a: *mut u32,
    a_count: i32,
    b: *mut u32,
    b_count: i32,
    core: *mut u32,
    core_count: i32,
) -> i32 {
    let numbers = three((a, a_count), (b, b_count), (core, core_count));
    done(numbers.filter(|(a, _, core)| core.count >= a.count).map(|(a, b, core)| {
        for number in [a, b] {
            combine_self::<Difference>(Some((core, number)));
        }
    }))
}

/// `AddDivisor`: returns the carry.
fn add_divisor(t: CurrentThread, a: *mut u32, a_count: i32, b: *mut u32, b_count: i32) -> u32 {
    if let Some((a, b)) = two(a, a_count, b, b_count) {
        // SAFETY: as in `add`.
        return u32::from(unsafe { combine::<Sum>(a, b, a) });
    }
    let mut carry = 0;
    for place in 0..usize::try_from(b_count).unwrap_or(0) {
        if place % MOST_WORDS == MOST_WORDS - 1 {
            t.managed().poll();
        }
        // SAFETY: the managed caller vouches for `b_count` words of both.
        unsafe {
            let sum = u64::from(*a.add(place)) + carry + u64::from(*b.add(place));
            *a.add(place) = sum as u32;
            carry = sum >> 32;
        }
    }
    carry as u32
}

/// `SubtractDivisor`: subtracts `b` times a word from `a`; returns the carry.
fn subtract_divisor(t: CurrentThread, a: *mut u32, a_count: i32, b: *mut u32, b_count: i32, factor: u64) -> u32 {
    let (mut place, mut carry) = (0, 0u64);
    // A factor of one word leaves a carry of one, so that two words of products and the carry fit in four.
    if let Some((a, b)) = two(a, a_count, b, b_count).filter(|_| factor <= u64::from(u32::MAX)) {
        while place + LIMB_WORDS <= b.count {
            // SAFETY: the place lies before `b.count`, and `a` is not shorter.
            unsafe {
                let product = u128::from(b.limb(place)) * u128::from(factor) + u128::from(carry);
                let (difference, under) = a.limb(place).overflowing_sub(product as u64);
                a.set_limb(place, difference);
                carry = (product >> 64) as u64 + u64::from(under);
            }
            place += LIMB_WORDS;
        }
    }
    for place in place..usize::try_from(b_count).unwrap_or(0) {
        if place % MOST_WORDS == MOST_WORDS - 1 {
            t.managed().poll();
        }
        // SAFETY: the managed caller vouches for `b_count` words of both.
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

/// Adds `a` times a factor of one or two words to `result`, which has at least as many words as the two, and whose words beyond `a.count` are zero.
///
/// # Safety
/// `a` can be read and `result` written; they do not overlap.
#[inline(always)]
unsafe fn add_product(a: Words, factor: u64, result: Words) {
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

/// Words of the shorter number from which on the class library's method for long numbers is faster.
const LONG_WORDS: usize = 64;
/// Words of the longer number that are multiplied between two safepoints.
const WORDS_AT_ONCE: usize = 1 << 13;

/// Adds the product of `a` and `b` to `product`, which is zero and has as many words as both together.
///
/// # Safety
/// As for `add_product`.
unsafe fn multiply_words(t: CurrentThread, a: Words, b: Words, product: Words) {
    let mut first = 0;
    while first < a.count {
        // A part is longer than `b`, so the words that the part before has written above its own lie within this part's.
        let rest = a.count - first;
        let part = a.from(first).first(if rest < 2 * WORDS_AT_ONCE { rest } else { WORDS_AT_ONCE });
        let place = |place: usize| product.from(first + place).first(part.count + b.count - place);
        let mut from = 0;
        // SAFETY: this function's contract. Parts of the product lie in it; the words above them are still zero.
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
            t.managed().poll();
        }
    }
}

/// `Multiply`. Declined: two long numbers, and a product that is not zero yet.
#[inline(always)]
fn multiply(
    t: CurrentThread,
    a: *mut u32,
    a_count: i32,
    b: *mut u32,
    b_count: i32,
    product: *mut u32,
    product_count: i32,
) -> i32 {
    let numbers = three((a, a_count), (b, b_count), (product, product_count));
    let numbers = numbers.filter(|(a, b, product)| {
        let fits = b.count < LONG_WORDS && product.count == a.count + b.count;
        // SAFETY: the managed caller vouches for the numbers.
        fits && unsafe { product.is_zero() }
    });
    // SAFETY: the lengths were checked, and the numbers do not overlap.
    done(numbers.map(|(a, b, product)| unsafe { multiply_words(t, a, b, product) }))
}

/// `Square`. Declined as in `multiply`.
fn square(t: CurrentThread, a: *mut u32, a_count: i32, product: *mut u32, product_count: i32) -> i32 {
    multiply(t, a, a_count, a, a_count, product, product_count)
}

/// Words of the shortest number for which a product by one word is faster here.
const FEW_WORDS: usize = 8;

/// `Multiply(uint[], uint)`: a new number with one word more. Declined: short numbers, and null.
fn multiply_by_word<'t>(t: CurrentThread<'t>, a: Option<Array<'t>>, factor: u32) -> Managed<Option<Array<'t>>> {
    let Some(a) = a.filter(|a| a.length() >= FEW_WORDS) else { return Ok(None) };
    let count = a.length();
    let made = Array::of_array_type(t, a.ty(), count + 1)?;
    let words = |array: Array, count| Words { start: array.element_address(0).cast(), count };
    let (a, product) = (words(a, count), words(made, count + 1));
    // SAFETY: the arrays have that many elements; only this function uses the new one, which is zero.
    unsafe {
        let mut first = 0;
        while first < count {
            let number = WORDS_AT_ONCE.min(count - first);
            add_product(a.from(first).first(number), u64::from(factor), product.from(first).first(number + 1));
            first += number;
            if first < count {
                t.managed().poll();
            }
        }
    }
    Ok(Some(made))
}

pub(super) const TABLE: &[Row] = &[
    may_decline(
        "static System.Numerics.BigIntegerCalculator::Add(System.UInt32*,System.Int32,System.UInt32*,System.Int32,System.UInt32*,System.Int32) System.Void",
        &add,
    ),
    may_decline(
        "static System.Numerics.BigIntegerCalculator::Subtract(System.UInt32*,System.Int32,System.UInt32*,System.Int32,System.UInt32*,System.Int32) System.Void",
        &subtract,
    ),
    may_decline(
        "static System.Numerics.BigIntegerCalculator::AddSelf(System.UInt32*,System.Int32,System.UInt32*,System.Int32) System.Void",
        &add_self,
    ),
    may_decline(
        "static System.Numerics.BigIntegerCalculator::SubtractSelf(System.UInt32*,System.Int32,System.UInt32*,System.Int32) System.Void",
        &subtract_self,
    ),
    may_decline(
        "static System.Numerics.BigIntegerCalculator::SubtractCore(System.UInt32*,System.Int32,System.UInt32*,System.Int32,System.UInt32*,System.Int32) System.Void",
        &subtract_core,
    ),
    whole(
        "static System.Numerics.BigIntegerCalculator::AddDivisor(System.UInt32*,System.Int32,System.UInt32*,System.Int32) System.UInt32",
        &add_divisor,
    ),
    whole(
        "static System.Numerics.BigIntegerCalculator::SubtractDivisor(System.UInt32*,System.Int32,System.UInt32*,System.Int32,System.UInt64) System.UInt32",
        &subtract_divisor,
    ),
    may_decline(
        "static System.Numerics.BigIntegerCalculator::Multiply(System.UInt32*,System.Int32,System.UInt32*,System.Int32,System.UInt32*,System.Int32) System.Void",
        &multiply,
    ),
    may_decline(
        "static System.Numerics.BigIntegerCalculator::Square(System.UInt32*,System.Int32,System.UInt32*,System.Int32) System.Void",
        &square,
    ),
    may_decline(
        "static System.Numerics.BigIntegerCalculator::Multiply(System.UInt32[],System.UInt32) System.UInt32[]",
        &multiply_by_word,
    ),
];

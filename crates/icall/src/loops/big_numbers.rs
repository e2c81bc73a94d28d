//! Sums, differences and products of large integers (`System.Numerics.BigIntegerCalculator`).
//!
//! Declined are numbers that share memory or are so long that safepoints are needed, and products of two long numbers:
//! the class library cuts these into parts and multiplies the parts by the same methods.

use super::slices::{may_decline, rest, whole};
use saki_loops::big_numbers::{
    Difference, Step, Sum, WORDS_AT_ONCE, Words, add_product, add_words, carry_on, combine, multiply_words,
    subtract_product,
};
use saki_runtime::exec::library_loops::{DECLINED, LoopRow};
use saki_runtime::{Array, CurrentThread, Managed};

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
        // SAFETY: managed code owns the numbers, whose lengths were checked and which do not overlap.
        unsafe {
            let carry = combine::<Difference>(a, b, difference);
            carry_on::<Difference>(a.from(b.count), difference.from(b.count), carry);
        }
    }))
}

/// Combines `b` into `a` and carries on through the rest of `a`.
fn combine_self<S: Step>(numbers: Option<(Words, Words)>) -> i32 {
    done(numbers.map(|(a, b)| {
        // SAFETY: managed code owns the numbers, whose lengths were checked; the result replaces `a` word by word.
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

/// `SubtractCore`: subtracts both numbers from `core`. Like the class library, which does both in one loop, it drops a
/// carry beyond the end of `core`.
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
        // SAFETY: managed code owns the numbers, whose lengths were checked; the sum replaces `a` word by word.
        return u32::from(unsafe { combine::<Sum>(a, b, a) });
    }
    // SAFETY: the managed caller vouches for `b_count` words of both.
    unsafe { add_words(a, b, usize::try_from(b_count).unwrap_or(0), rest(t)) }
}

/// `SubtractDivisor`: subtracts `b` times a word from `a`; returns the carry.
fn subtract_divisor(t: CurrentThread, a: *mut u32, a_count: i32, b: *mut u32, b_count: i32, factor: u64) -> u32 {
    let by_limbs = factor <= u64::from(u32::MAX) && two(a, a_count, b, b_count).is_some();
    // SAFETY: the managed caller vouches for `b_count` words of both.
    unsafe { subtract_product(a, b, usize::try_from(b_count).unwrap_or(0), factor, by_limbs, rest(t)) }
}

/// Words of the shorter number from which on the class library's method for long numbers is faster.
const LONG_WORDS: usize = 64;
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
    done(numbers.map(|(a, b, product)| unsafe { multiply_words(a, b, product, rest(t)) }))
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

pub(super) const TABLE: &[LoopRow] = &[
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

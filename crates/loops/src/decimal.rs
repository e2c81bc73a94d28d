//! Decimal digits as a large integer, nineteen at a time.

use crate::slices::SLICE_BYTES;

/// Digits that are read together: as many as 64 bits hold.
const TOGETHER: usize = 19;

/// Multiplies `limbs` by `factor`, a power of ten, and adds `more`.
fn multiply_add(limbs: &mut Vec<u64>, factor: u64, more: u64) {
    let mut carry = more;
    for limb in limbs.iter_mut() {
        let product = u128::from(*limb) * u128::from(factor) + u128::from(carry);
        *limb = product as u64;
        carry = (product >> 64) as u64;
    }
    if carry != 0 {
        limbs.push(carry);
    }
}

/// The number with these digits (values 0 to 9) and `zeros` more zeros behind them. `rest` is called after each ten
/// microseconds of work or so.
pub fn limbs_of(digits: &[u8], zeros: usize, mut rest: impl FnMut()) -> Vec<u64> {
    let mut limbs = Vec::with_capacity((digits.len() + zeros) / TOGETHER + 1);
    let mut work = 0;
    let mut step = |count: usize, value: u64| {
        multiply_add(&mut limbs, 10u64.pow(count as u32), value);
        work += limbs.len();
        if work > SLICE_BYTES / 16 {
            work = 0;
            rest();
        }
    };
    for digits in digits.chunks(TOGETHER) {
        step(digits.len(), digits.iter().fold(0, |value, digit| 10 * value + u64::from(*digit)));
    }
    let mut zeros = zeros;
    while zeros > 0 {
        let count = zeros.min(TOGETHER);
        step(count, 0);
        zeros -= count;
    }
    limbs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_any_number_are_read_as_numbers() {
        let check = |text: &str, zeros: usize| {
            let digits: Vec<u8> = text.bytes().map(|digit| digit - b'0').collect();
            let limbs = limbs_of(&digits, zeros, || ());
            let value = limbs.iter().rev().fold(0u128, |value, limb| value << 64 | u128::from(*limb));
            assert_eq!(value, text.parse::<u128>().unwrap_or(0) * 10u128.pow(zeros as u32), "{text} and {zeros} zeros");
        };
        check("", 0);
        check("0", 5);
        check("9", 20);
        check("18446744073709551616", 0);
        check("340282366920938463463374607431768211455", 0);
        check("3402823669209384634633746074317682114", 2);
        check("1", 38);
    }
}

//! `%.Ne` of a double without big numbers, for the values that programs mostly print.
//!
//! A double is m·2^e with an integer m below 2^53. Its integer part and, for e ≥ −`MAX_FRACTION_BITS`, its fraction fit
//! in 128 bits, from which decimal digits come exactly, nine at a time. The C library's `snprintf` gets them by general
//! division, which took a fifth of the time of programs that format fractions.
//! Invariant: the text is what `snprintf` writes in the default rounding mode (to nearest, ties to even), or None.
//! Left out: values beyond 2^128 or with more fraction bits, infinities and NaN.

/// The limit with which a fraction times 10^9 (30 bits) fits in 128 bits.
const MAX_FRACTION_BITS: u32 = 98;
const CHUNK: u128 = 1_000_000_000;
const CHUNK_DIGITS: usize = 9;
/// Digits before the point of the largest value here.
const MAX_WHOLE_DIGITS: usize = 39;
/// Digits after the point that are asked for at most: `%.40e` is what the class library uses.
pub const MAX_PRECISION: usize = 40;
/// Zeros after the point of the smallest value here (2^−98, if whole part 0), and a chunk more than needed.
const MAX_DIGITS: usize = MAX_WHOLE_DIGITS + 30 + MAX_PRECISION + 2 * CHUNK_DIGITS;

/// Text of at most sign, 1 digit, point, 40 digits, "e-xx".
pub struct Text {
    bytes: [u8; 8 + MAX_PRECISION],
    length: usize,
}

impl Text {
    /// The text that was written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn push(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }
}

/// `value` with `precision` digits after the point, as `%.{precision}e` writes it.
pub fn format(value: f64, precision: usize) -> Option<Text> {
    let bits = value.to_bits();
    let biased = (bits >> 52 & 0x7ff) as i32;
    let stored = bits & ((1 << 52) - 1);
    if biased == 0x7ff || (biased == 0 && stored != 0) || precision > MAX_PRECISION {
        return None;
    }
    let (mantissa, exponent) = if biased == 0 { (0, 0) } else { (stored | 1 << 52, biased - 1075) };
    let mantissa = u128::from(mantissa);
    let (whole, fraction, fraction_bits) = if exponent >= 0 {
        if exponent > 128 - 53 {
            return None;
        }
        (mantissa << exponent, 0, 0)
    } else {
        let count = exponent.unsigned_abs();
        if count > MAX_FRACTION_BITS {
            return None;
        }
        (mantissa >> count, mantissa & ((1 << count) - 1), count)
    };
    let mut text = Text { bytes: [0; 8 + MAX_PRECISION], length: 0 };
    if value.is_sign_negative() {
        text.push(b'-');
    }
    let mut digits = Digits { bytes: [0; MAX_DIGITS], length: 0, first: None };
    digits.push_whole(whole);
    let before_point = digits.length;
    let mut rest = fraction;
    let wanted = precision + 1;
    // One digit more than wanted, so that the rest decides ties only.
    while digits.significant() <= wanted && rest != 0 {
        rest *= CHUNK;
        digits.push_chunk((rest >> fraction_bits) as u64, CHUNK_DIGITS);
        rest &= (1 << fraction_bits) - 1;
    }
    let first = digits.first.unwrap_or(0);
    let mut exponent = if digits.first.is_some() { before_point as i32 - 1 - first as i32 } else { 0 };
    let end = first + wanted;
    if digits.length > end && rounds_up(&digits.bytes[first..digits.length], wanted, rest != 0) {
        let carried = increment(&mut digits.bytes[first..end]);
        exponent += i32::from(carried);
    }
    // All digits behind these are 0.
    let shown = &digits.bytes[first..end.min(MAX_DIGITS)];
    text.push(b'0' + shown[0]);
    if precision > 0 {
        text.push(b'.');
        for &digit in &shown[1..] {
            text.push(b'0' + digit);
        }
    }
    text.push(b'e');
    text.push(if exponent < 0 { b'-' } else { b'+' });
    // Below 100: the values are between 2^-98 and 2^128.
    let exponent = exponent.unsigned_abs() as u8;
    text.push(b'0' + exponent / 10);
    text.push(b'0' + exponent % 10);
    Some(text)
}

struct Digits {
    /// 0 to 9 each.
    bytes: [u8; MAX_DIGITS],
    length: usize,
    /// The index of the first digit that is not 0.
    first: Option<usize>,
}

impl Digits {
    fn significant(&self) -> usize {
        self.first.map_or(0, |first| self.length - first)
    }

    fn push_whole(&mut self, whole: u128) {
        if let Ok(whole) = u64::try_from(whole) {
            const CHUNK: u64 = super::exponent_digits::CHUNK as u64;
            let (high, low) = (whole / CHUNK, whole % CHUNK);
            for part in [high / CHUNK, high % CHUNK, low] {
                if part != 0 || self.first.is_some() {
                    self.push_chunk(part, CHUNK_DIGITS);
                }
            }
            return;
        }
        let (high, low) = (whole / (CHUNK * CHUNK), whole % (CHUNK * CHUNK));
        let parts = [(high / CHUNK / CHUNK) as u64, (high / CHUNK % CHUNK) as u64, (high % CHUNK) as u64];
        for part in parts.into_iter().chain([(low / CHUNK) as u64, (low % CHUNK) as u64]) {
            if part != 0 || self.first.is_some() {
                self.push_chunk(part, CHUNK_DIGITS);
            }
        }
    }

    fn push_chunk(&mut self, chunk: u64, count: usize) {
        let mut chunk = chunk;
        for place in (0..count).rev() {
            self.bytes[self.length + place] = (chunk % 10) as u8;
            chunk /= 10;
        }
        if self.first.is_none() {
            self.first =
                self.bytes[self.length..self.length + count].iter().position(|&d| d != 0).map(|i| i + self.length);
        }
        self.length += count;
    }
}

/// Whether the digits from `wanted` on, and a rest below them, round the digit before them up.
fn rounds_up(digits: &[u8], wanted: usize, has_rest: bool) -> bool {
    let (kept, dropped) = digits.split_at(wanted);
    match dropped[0] {
        0..=4 => false,
        5 if !has_rest && dropped[1..].iter().all(|&d| d == 0) => kept[wanted - 1] % 2 == 1,
        _ => true,
    }
}

/// Adds one in the last place; whether 9…9 became 10…0, of which the last 0 is dropped.
fn increment(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit != 9 {
            *digit += 1;
            return false;
        }
        *digit = 0;
    }
    digits[0] = 1;
    true
}

#[cfg(test)]
mod tests {
    use super::format;

    /// The text that the C library writes.
    fn c_library(value: f64, precision: usize) -> String {
        let mut buffer = [0u8; 400];
        // SAFETY: the format takes an int and a double; the buffer's length is given.
        let length = unsafe {
            libc::snprintf(buffer.as_mut_ptr().cast(), buffer.len(), c"%.*e".as_ptr(), precision as i32, value)
        };
        String::from_utf8_lossy(&buffer[..length as usize]).into_owned()
    }

    fn check(value: f64) -> bool {
        for precision in [0, 1, 5, 14, 15, 16, 17, 40] {
            let Some(text) = format(value, precision) else { return false };
            assert_eq!(String::from_utf8_lossy(text.as_bytes()), c_library(value, precision), "{value:?} {precision}");
        }
        true
    }

    #[test]
    fn as_the_c_library_writes_it() {
        for value in [
            0.0,
            -0.0,
            1.0,
            -1.5,
            0.1,
            0.25,
            2.5,
            3.5,
            9.5,
            99.5,
            0.095,
            1e15,
            1e16,
            123_456_789.125,
            1e-9,
            9.999_999e20,
        ] {
            assert!(check(value), "{value}");
        }
        let mut state = 88_172_645_463_325_252u64;
        let mut handled = 0;
        for round in 0..20_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // Exponents around those of everyday numbers, and beyond the limits.
            let biased = 1023 - 110 + (state >> 40) % 250;
            let bits = (state & 0x800f_ffff_ffff_ffff) | biased << 52;
            let few = if round % 2 == 0 { u64::MAX << (state % 50) } else { u64::MAX };
            handled += u32::from(check(f64::from_bits(bits & few)));
        }
        assert!(handled > 12_000, "{handled}");
    }

    #[test]
    fn others_are_left_to_it() {
        for value in [f64::INFINITY, f64::NAN, 1e300, 1e-300, f64::from_bits(1)] {
            assert!(format(value, 15).is_none());
        }
    }
}

//! Base 64 from and to UTF-16.
//!
//! It is converted in pieces by way of ASCII on the stack, since the crate that does it by vectors works on bytes only.

use crate::slices::SLICE_BYTES;
use base64_simd::{AsOut, STANDARD, STANDARD_NO_PAD};
use std::mem::MaybeUninit;

/// Digits of base 64 that are converted together.
pub const PIECE_DIGITS: usize = 1024;
/// The bytes that `PIECE_DIGITS` stand for.
pub const PIECE_BYTES: usize = PIECE_DIGITS / 4 * 3;

/// Encodes `bytes` into `units`, which has exactly the length of the result.
pub fn encode(bytes: &[u8], units: &mut [u16]) {
    let mut ascii = [MaybeUninit::<u8>::uninit(); PIECE_DIGITS];
    for (bytes, units) in bytes.chunks(PIECE_BYTES).zip(units.chunks_mut(PIECE_DIGITS)) {
        let ascii = STANDARD.encode(bytes, ascii[..].as_out());
        for (unit, digit) in units.iter_mut().zip(ascii) {
            *unit = u16::from(*digit);
        }
    }
}

/// Digits in a line, where lines are wanted.
pub const LINE_DIGITS: usize = 76;
/// The bytes that a line stands for.
pub const LINE_BYTES: usize = LINE_DIGITS / 4 * 3;
/// What separates lines.
pub const LINE_END: [u16; 2] = [b'\r' as u16, b'\n' as u16];

/// The number of digits of so many bytes, with padding.
pub fn digits_of(len_bytes: usize) -> usize {
    4 * len_bytes.div_ceil(3)
}

/// The value of characters that are no digits.
const NO_DIGIT: u8 = 0xff;

/// The values of the digits, by character.
const VALUES: [u8; 128] = {
    let mut values = [NO_DIGIT; 128];
    let digits = STANDARD.charset();
    let mut value = 0;
    while value < digits.len() {
        values[digits[value] as usize] = value as u8;
        value += 1;
    }
    values
};

/// The 24 bits of four digits.
fn decode_four(units: [u16; 4]) -> Option<u32> {
    units.into_iter().try_fold(0, |bits, unit| {
        let value = *VALUES.get(usize::from(unit))?;
        (value != NO_DIGIT).then_some(bits << 6 | u32::from(value))
    })
}

/// The length of the first piece of a decoding. It is short, so that a text with short lines does not decode much of a
/// piece in vain.
const FIRST_DIGITS: usize = 64;

/// Decodes a piece by way of `ascii`; leaves `bytes` as they are when a character is no digit.
fn decode_piece(units: &[u16], ascii: &mut [u8; PIECE_DIGITS], bytes: &mut [u8]) -> bool {
    let ascii = &mut ascii[..units.len()];
    let mut all = 0;
    for (digit, unit) in ascii.iter_mut().zip(units) {
        all |= *unit;
        *digit = *unit as u8;
    }
    if all >= 0x80 {
        return false;
    }
    match STANDARD_NO_PAD.decode_inplace(ascii) {
        Ok(decoded) => {
            bytes.copy_from_slice(decoded);
            true
        }
        Err(_) => false,
    }
}

/// Decodes groups of four digits up to the first group with another character; returns the number of units decoded.
fn decode_fours(units: &[u16], bytes: &mut [u8], rest: &mut impl FnMut()) -> usize {
    let mut ascii = [0; PIECE_DIGITS];
    let (mut from, mut digits, mut since_rest) = (0, FIRST_DIGITS, 0);
    while from < units.len() {
        let to = units.len().min(from + digits);
        let (piece, room) = (&units[from..to], &mut bytes[from / 4 * 3..to / 4 * 3]);
        if !decode_piece(piece, &mut ascii, room) {
            let mut decoded = 0;
            for (four, three) in piece.as_chunks::<4>().0.iter().zip(room.as_chunks_mut::<3>().0) {
                let Some(bits) = decode_four(*four) else { break };
                let [_, a, b, c] = bits.to_be_bytes();
                *three = [a, b, c];
                decoded += 4;
            }
            return from + decoded;
        }
        since_rest += to - from;
        from = to;
        digits = PIECE_DIGITS.min(2 * digits);
        if since_rest >= SLICE_BYTES / 2 && from < units.len() {
            since_rest = 0;
            rest();
        }
    }
    from
}

/// The unit that fills the last group of four.
pub const PADDING: u16 = b'=' as u16;
/// The digit of value zero.
const ZERO: u16 = b'A' as u16;

/// The outcome of a decoding: units read, bytes written, and whether the whole text was valid and had room.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded {
    pub units: usize,
    pub bytes: usize,
    pub is_whole: bool,
}

/// Decodes as `Convert.TryDecodeFromUtf16` does: spaces are not allowed, padding only in the last group of four;
/// decodes as many groups as there is room for.
pub fn decode(units: &[u16], bytes: &mut [u8], mut rest: impl FnMut()) -> Decoded {
    let stopped = |units: usize, bytes: usize| Decoded { units, bytes, is_whole: false };
    let Some((before, last)) = units.as_chunks::<4>().0.split_last().map(|(last, before)| (before.len(), *last)) else {
        return Decoded { units: 0, bytes: 0, is_whole: units.is_empty() };
    };
    let fours = before.min(bytes.len() / 3);
    let from = decode_fours(&units[..4 * fours], &mut bytes[..3 * fours], &mut rest);
    let to = from / 4 * 3;
    if from < 4 * before {
        return stopped(from, to);
    }
    let (len_bytes, four) = match last {
        [a, b, PADDING, PADDING] => (1, [a, b, ZERO, ZERO]),
        [a, b, c, PADDING] => (2, [a, b, c, ZERO]),
        four => (3, four),
    };
    let (Some(bits), Some(room)) = (decode_four(four), bytes.get_mut(to..to + len_bytes)) else {
        return stopped(from, to);
    };
    room.copy_from_slice(&bits.to_be_bytes()[1..=len_bytes]);
    Decoded { units: from + 4, bytes: to + len_bytes, is_whole: from + 4 == units.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_come_back_from_their_text(bytes in proptest::collection::vec(any::<u8>(), 0..3000), change in any::<(u16, u16)>()) {
            let mut units = vec![0; digits_of(bytes.len())];
            encode(&bytes, &mut units);
            let text: Vec<u8> = units.iter().map(|unit| *unit as u8).collect();
            let expected = STANDARD.encode_to_string(&bytes);
            prop_assert_eq!(&text, expected.as_bytes());
            let mut decoded = vec![0; bytes.len()];
            let whole = Decoded { units: units.len(), bytes: bytes.len(), is_whole: true };
            prop_assert_eq!(decode(&units, &mut decoded, || ()), whole);
            prop_assert_eq!(&decoded, &bytes);
            // A character that is no digit ends it at the group of four before.
            if let Some(unit) = units.get_mut(usize::from(change.0)) && change.1 > 0x7f {
                *unit = change.1;
                let fours = usize::from(change.0) / 4;
                let stopped = Decoded { units: 4 * fours, bytes: 3 * fours, is_whole: false };
                prop_assert_eq!(decode(&units, &mut decoded, || ()), stopped);
            }
        }
    }
}

//! Bytes as text: base 64 from and to UTF-16, and pairs of hexadecimal digits.
//!
//! Base 64 is converted in pieces by way of ASCII on the stack, since the crate that does it by vectors works on bytes only.

use super::slices::{SLICE_BYTES, from, may_decline, slices};
use super::spans::{Span, overlap};
use crate::system::array_copy::in_range;
use base64_simd::{AsOut, STANDARD, STANDARD_NO_PAD};
use saki_runtime::library_loops::{DECLINED, Row};
use saki_runtime::{Array, CurrentThread, Managed, Place, Str};
use std::mem::MaybeUninit;

/// Digits of base 64 that are converted together, and the bytes that they stand for.
const PIECE_DIGITS: usize = 1024;
const PIECE_BYTES: usize = PIECE_DIGITS / 4 * 3;

/// Encodes `bytes` into `units`, which has exactly the length of the result.
fn encode(bytes: &[u8], units: &mut [u16]) {
    let mut ascii = [MaybeUninit::<u8>::uninit(); PIECE_DIGITS];
    for (bytes, units) in bytes.chunks(PIECE_BYTES).zip(units.chunks_mut(PIECE_DIGITS)) {
        let ascii = STANDARD.encode(bytes, ascii[..].as_out());
        for (unit, digit) in units.iter_mut().zip(ascii) {
            *unit = u16::from(*digit);
        }
    }
}

/// Digits in a line, where lines are wanted, and the bytes that they stand for.
const LINE_DIGITS: usize = 76;
const LINE_BYTES: usize = LINE_DIGITS / 4 * 3;
const LINE_END: [u16; 2] = [b'\r' as u16, b'\n' as u16];

fn digits_of(len_bytes: usize) -> usize {
    4 * len_bytes.div_ceil(3)
}

/// `Convert.ConvertToBase64Array`
fn to_base64(t: CurrentThread, units: *mut u16, bytes: *const u8, offset: i32, length: i32, has_lines: bool) -> i32 {
    let Ok(len_bytes) = usize::try_from(length) else { return DECLINED };
    let digits = digits_of(len_bytes);
    let lines = digits.div_ceil(LINE_DIGITS);
    let count = if has_lines { digits + LINE_END.len() * lines.saturating_sub(1) } else { digits };
    let bytes = bytes.wrapping_offset(offset as isize);
    let is_odd = bytes.is_null() || units.is_null() || !units.is_aligned();
    if len_bytes == 0 || is_odd || overlap(bytes, len_bytes, units, 2 * count) {
        return DECLINED;
    }
    // SAFETY: the managed caller has made room for the text of these bytes; the ranges do not overlap.
    let (bytes, units) =
        unsafe { (std::slice::from_raw_parts(bytes, len_bytes), std::slice::from_raw_parts_mut(units, count)) };
    // Slices consist of whole lines or pieces of bytes and of the text that these become.
    let (part, text) = if has_lines { (LINE_BYTES, LINE_DIGITS + 2) } else { (PIECE_BYTES, PIECE_DIGITS) };
    slices(t, len_bytes.div_ceil(part), text, |first, number| {
        let bytes = &bytes[first * part..len_bytes.min((first + number) * part)];
        let units = &mut units[first * text..count.min((first + number) * text)];
        if !has_lines {
            encode(bytes, units);
            return None::<()>;
        }
        for (bytes, units) in bytes.chunks(part).zip(units.chunks_mut(text)) {
            let (line, end) = units.split_at_mut(digits_of(bytes.len()));
            encode(bytes, line);
            end.copy_from_slice(&LINE_END[..end.len()]);
        }
        None
    });
    count as i32
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

/// The length of the first piece of a decoding. It is short, so that a text with short lines does not decode much of a piece that is refused.
const FIRST_DIGITS: usize = 64;

/// Decodes a piece by way of `ascii`; leaves `bytes` as they are when a character is not a digit.
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
fn decode_fours(t: CurrentThread, units: &[u16], bytes: &mut [u8]) -> usize {
    let mut ascii = [0; PIECE_DIGITS];
    let (mut from, mut digits, mut since_poll) = (0, FIRST_DIGITS, 0);
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
        since_poll += to - from;
        from = to;
        digits = PIECE_DIGITS.min(2 * digits);
        if since_poll >= SLICE_BYTES / 2 && from < units.len() {
            since_poll = 0;
            t.managed().poll();
        }
    }
    from
}

const PADDING: u16 = b'=' as u16;
/// The digit of value zero.
const ZERO: u16 = b'A' as u16;

/// The outcome of a decoding: units read, bytes written, and whether the whole text was valid and had room.
#[derive(Debug, PartialEq, Eq)]
struct Decoded {
    units: usize,
    bytes: usize,
    is_whole: bool,
}

/// Decodes as `Convert.TryDecodeFromUtf16` does: spaces are not allowed, padding only in the last group of four; decodes as many groups as there is room for.
fn decode(t: CurrentThread, units: &[u16], bytes: &mut [u8]) -> Decoded {
    let stopped = |units: usize, bytes: usize| Decoded { units, bytes, is_whole: false };
    let Some((before, last)) = units.as_chunks::<4>().0.split_last().map(|(last, before)| (before.len(), *last)) else {
        return Decoded { units: 0, bytes: 0, is_whole: units.is_empty() };
    };
    let fours = before.min(bytes.len() / 3);
    let from = decode_fours(t, &units[..4 * fours], &mut bytes[..3 * fours]);
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

/// `Convert.TryDecodeFromUtf16`
fn try_from_base64(
    t: CurrentThread,
    units: &Span<u16>,
    bytes: &Span<u8>,
    consumed: Place<i32>,
    written: Place<i32>,
) -> i32 {
    if overlap(units.start(), 2 * units.count(), bytes.start(), bytes.count()) {
        return DECLINED;
    }
    // SAFETY: the spans do not overlap.
    let (Some(units), Some(bytes)) = (units.elements(), unsafe { bytes.first_mut(bytes.count()) }) else {
        return DECLINED;
    };
    let decoded = decode(t, units, bytes);
    consumed.set(decoded.units as i32);
    written.set(decoded.bytes as i32);
    i32::from(decoded.is_whole)
}

/// `Convert.FromBase64_ComputeResultLength`. Declined: too much padding, for which the class library throws.
fn decoded_length(t: CurrentThread, units: *const u16, count: i32) -> i32 {
    // Sums of so many units stay below 65,536.
    const AT_ONCE: usize = 1 << 15;
    let Ok(count) = usize::try_from(count) else { return DECLINED };
    if units.is_null() || !units.is_aligned() {
        return DECLINED;
    }
    // SAFETY: the managed caller has checked the range.
    let units = unsafe { std::slice::from_raw_parts(units, count) };
    let (mut others, mut padding) = (0, 0);
    slices(t, count, 2, |first, number| {
        for units in units[first..first + number].chunks(AT_ONCE) {
            let (mut spaces, mut pads) = (0u16, 0u16);
            for unit in units {
                spaces += u16::from(*unit <= u16::from(b' '));
                pads += u16::from(*unit == PADDING);
            }
            others += usize::from(spaces) + usize::from(pads);
            padding += usize::from(pads);
        }
        None::<()>
    });
    let of_last = match padding {
        0 => 0,
        1 => 2,
        2 => 1,
        _ => return DECLINED,
    };
    ((count - others) / 4 * 3 + of_last) as i32
}

/// For each byte two hexadecimal digits, a hyphen, and a unit that the first digit of the next byte overwrites.
const HEX: [[u16; 4]; 256] = {
    let digits = b"0123456789ABCDEF";
    let mut all = [[0; 4]; 256];
    let mut byte = 0;
    while byte < all.len() {
        all[byte] = [digits[byte >> 4] as u16, digits[byte & 15] as u16, b'-' as u16, 0];
        byte += 1;
    }
    all
};

/// Writes the text of `bytes` to `units`: three units for each byte, two for the last.
fn to_hex(bytes: &[u8], units: &mut [u16]) {
    let Some((last, others)) = bytes.split_last() else { return };
    for (byte, place) in others.iter().zip((0..).step_by(3)) {
        if let Some(room) = units[place..].first_chunk_mut() {
            *room = HEX[usize::from(*byte)];
        }
    }
    let [high, low, ..] = HEX[usize::from(*last)];
    units[3 * others.len()..].copy_from_slice(&[high, low]);
}

/// `BitConverter.ToString(byte[], int, int)`. Declined: arguments for which it throws, and the empty text.
fn hex<'t>(t: CurrentThread<'t>, array: Option<Array<'t>>, start: i32, length: i32) -> Managed<Option<Str<'t>>> {
    let is_usual = |array: &Array| (1..=i32::MAX / 3).contains(&length) && in_range(*array, start, length);
    let Some(array) = array.filter(is_usual) else { return Ok(None) };
    let len_bytes = length as usize;
    let text = Str::filled(t, 3 * len_bytes - 1, |units| {
        let first = array.element_address(start as usize).cast_const();
        // SAFETY: the range was checked.
        let bytes = unsafe { std::slice::from_raw_parts(first, len_bytes) };
        slices(t, len_bytes, 6, |first, number| {
            let end = 3 * (first + number) - 1;
            if let Some(hyphen) = units.get_mut(end) {
                *hyphen = u16::from(b'-');
            }
            to_hex(&bytes[first..first + number], &mut units[3 * first..end]);
            None::<()>
        });
    });
    text.map(Some)
}

pub(super) const TABLE: &[Row] = &[
    from(
        9,
        3,
        may_decline(
            "static System.Convert::ConvertToBase64Array(System.Char*,System.Byte*,System.Int32,System.Int32,System.Boolean) System.Int32",
            &to_base64,
        ),
    ),
    may_decline(
        "static System.Convert::TryDecodeFromUtf16(System.ReadOnlySpan`1[System.Char],System.Span`1[System.Byte],System.Int32&,System.Int32&) System.Boolean",
        &try_from_base64,
    ),
    from(
        16,
        1,
        may_decline(
            "static System.Convert::FromBase64_ComputeResultLength(System.Char*,System.Int32) System.Int32",
            &decoded_length,
        ),
    ),
    from(
        2,
        2,
        may_decline(
            "static System.BitConverter::ToString(System.Byte[],System.Int32,System.Int32) System.String",
            &hex,
        ),
    ),
];

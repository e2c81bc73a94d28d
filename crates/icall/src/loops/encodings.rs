//! UTF-8, ASCII and Latin-1, from and to UTF-16: whole inputs without faults. What is invalid, too long for its target, or goes on in a decoder or encoder is declined.
//!
//! A function writes to the target what the class library's body writes for the same input, so that one which declines halfway has changed nothing: the body begins anew.

use super::slices::{SLICE_BYTES, may_decline, slices};
use encoding_rs::mem;
use saki_abi::ObjRef;
use saki_runtime::Thread;
use saki_runtime::library_loops::{DECLINED, Row};

/// Elements converted between two safepoints.
const SLICE: usize = SLICE_BYTES / 4;

/// Input and state as managed code passes them: the elements, unless a state, a null or a negative length is in the way.
///
/// # Safety
/// `count` elements can be read if it is positive.
unsafe fn input<'a, T>(start: *const T, count: i32, state: ObjRef) -> Option<&'a [T]> {
    let count = usize::try_from(count).ok()?;
    let is_there = state.is_null() && !start.is_null();
    // SAFETY: the caller's promise. Other threads may write to the elements meanwhile; then the result is any.
    is_there.then(|| unsafe { std::slice::from_raw_parts(start, count) })
}

/// Room for the result.
///
/// # Safety
/// `count` elements can be written if it is positive.
unsafe fn output<'a, T>(start: *mut T, count: i32) -> Option<&'a mut [T]> {
    let count = usize::try_from(count).ok()?;
    // SAFETY: the caller's promise.
    (!start.is_null()).then(|| unsafe { std::slice::from_raw_parts_mut(start, count) })
}

fn result(count: Option<usize>) -> i32 {
    count.and_then(|count| i32::try_from(count).ok()).unwrap_or(DECLINED)
}

/// The part of `bytes` before `at` and not far behind it that ends between two characters.
fn boundary(bytes: &[u8], at: usize) -> usize {
    if at >= bytes.len() {
        return bytes.len();
    }
    // A character has at most three bytes after its first one.
    (at.saturating_sub(3)..=at).rev().find(|&place| bytes[place] & 0xc0 != 0x80).unwrap_or(at)
}

/// UTF-16 units of valid UTF-8: a unit for each byte that begins a character, and another for those of four bytes.
fn units_of(bytes: &[u8]) -> usize {
    // Sums of bytes stay below 256 in so many.
    const AT_ONCE: usize = 120;
    let of_some = |bytes: &[u8]| {
        let sum: u8 = bytes.iter().map(|&byte| u8::from(byte as i8 >= -0x40) + u8::from(byte >= 0xf0)).sum();
        usize::from(sum)
    };
    bytes.chunks(AT_ONCE).map(of_some).sum()
}

/// Calls `work` on slices of `bytes` that end between characters, with safepoints between them. None: declined.
fn by_characters(t: Thread, bytes: &[u8], mut work: impl FnMut(&[u8]) -> Option<()>) -> Option<()> {
    let mut rest = bytes;
    loop {
        let (head, tail) = rest.split_at(boundary(rest, SLICE));
        work(head)?;
        if tail.is_empty() {
            return Some(());
        }
        rest = tail;
        t.managed().poll();
    }
}

/// `UTF8Encoding.GetCharCount`
extern "C" fn utf8_char_count(t: Thread, _encoding: ObjRef, start: *const u8, count: i32, decoder: ObjRef) -> i32 {
    // SAFETY: the managed caller has checked the range.
    let Some(bytes) = (unsafe { input(start, count, decoder) }) else { return DECLINED };
    let mut units = 0;
    let is_valid = by_characters(t, bytes, |bytes| {
        simdutf8::basic::from_utf8(bytes).ok()?;
        units += units_of(bytes);
        Some(())
    });
    result(is_valid.map(|()| units))
}

/// The next character of `bytes`, which begin with its first byte: its bytes and its code. None: invalid or cut off.
#[inline(always)]
fn decode(bytes: &[u8]) -> Option<(usize, u32)> {
    let tail = |place: usize, low: u8, high: u8| {
        let byte = *bytes.get(place)?;
        (low..=high).contains(&byte).then_some(u32::from(byte & 0x3f))
    };
    let first = bytes[0];
    let head = |bits: u8| u32::from(first & bits);
    // Unicode, table 3-7: well-formed UTF-8 byte sequences.
    match first {
        0..=0x7f => Some((1, u32::from(first))),
        0xc2..=0xdf => Some((2, head(0x1f) << 6 | tail(1, 0x80, 0xbf)?)),
        0xe0..=0xef => {
            let (low, high) = match first {
                0xe0 => (0xa0, 0xbf),
                0xed => (0x80, 0x9f),
                _ => (0x80, 0xbf),
            };
            Some((3, head(0x0f) << 12 | tail(1, low, high)? << 6 | tail(2, 0x80, 0xbf)?))
        }
        0xf0..=0xf4 => {
            let (low, high) = match first {
                0xf0 => (0x90, 0xbf),
                0xf4 => (0x80, 0x8f),
                _ => (0x80, 0xbf),
            };
            let code = head(0x07) << 18 | tail(1, low, high)? << 12 | tail(2, 0x80, 0xbf)? << 6 | tail(3, 0x80, 0xbf)?;
            Some((4, code))
        }
        _ => None,
    }
}

/// Characters that are decoded one by one after one that is not ASCII, before runs of ASCII are looked for again: in most languages they are short.
const SINGLY: usize = 16;

/// Decodes all of `bytes` into the front of `units`: how many units. None: invalid, or too many.
fn decode_all(bytes: &[u8], units: &mut [u16]) -> Option<usize> {
    let (mut from, mut to) = (0, 0);
    while from < bytes.len() {
        let most = (bytes.len() - from).min(units.len() - to);
        let ascii = mem::copy_ascii_to_basic_latin(&bytes[from..from + most], &mut units[to..to + most]);
        from += ascii;
        to += ascii;
        for _ in 0..SINGLY {
            let Some(rest) = bytes.get(from..).filter(|rest| !rest.is_empty()) else { break };
            let (len_bytes, code) = decode(rest)?;
            from += len_bytes;
            if code < 0x10000 {
                *units.get_mut(to)? = code as u16;
                to += 1;
            } else {
                let pair = units.get_mut(to..to + 2)?;
                pair[0] = (0xd7c0 + (code >> 10)) as u16;
                pair[1] = (0xdc00 | (code & 0x3ff)) as u16;
                to += 2;
            }
        }
    }
    Some(to)
}

/// `UTF8Encoding.GetChars`
extern "C" fn utf8_chars(
    t: Thread,
    _encoding: ObjRef,
    start: *const u8,
    count: i32,
    target: *mut u16,
    target_count: i32,
    decoder: ObjRef,
) -> i32 {
    // SAFETY: the managed caller has checked the ranges, which do not overlap.
    let (Some(bytes), Some(units)) = (unsafe { (input(start, count, decoder), output(target, target_count)) }) else {
        return DECLINED;
    };
    let mut written = 0;
    let is_whole = by_characters(t, bytes, |bytes| {
        written += decode_all(bytes, &mut units[written..])?;
        Some(())
    });
    result(is_whole.map(|()| written))
}

/// Calls `work` on slices of `units` that do not end between the halves of a pair, with safepoints between them. None: declined.
fn by_pairs(t: Thread, units: &[u16], mut work: impl FnMut(&[u16]) -> Option<()>) -> Option<()> {
    let mut rest = units;
    loop {
        let mut end = SLICE.min(rest.len());
        if end < rest.len() && rest[end - 1] & 0xfc00 == 0xd800 {
            end += 1;
        }
        let (head, tail) = rest.split_at(end);
        work(head)?;
        if tail.is_empty() {
            return Some(());
        }
        rest = tail;
        t.managed().poll();
    }
}

/// Bytes of units in UTF-8, and whether a surrogate is among them. A surrogate counts for two bytes, half of a pair's.
fn bytes_of(units: &[u16]) -> (usize, bool) {
    // Sums of so many stay below 65,536.
    const AT_ONCE: usize = 8192;
    let (mut bytes, mut surrogates) = (0, 0u16);
    for units in units.chunks(AT_ONCE) {
        let mut sum = 0u16;
        for &unit in units {
            let is_surrogate = u16::from(unit & 0xf800 == 0xd800);
            sum += 1 + u16::from(unit >= 0x80) + u16::from(unit >= 0x800) - is_surrogate;
            surrogates |= is_surrogate;
        }
        bytes += usize::from(sum);
    }
    (bytes, surrogates != 0)
}

/// Bytes of valid UTF-16 in UTF-8.
fn utf8_len_bytes(units: &[u16]) -> Option<usize> {
    let (bytes, has_surrogates) = bytes_of(units);
    (!has_surrogates || mem::utf16_valid_up_to(units) == units.len()).then_some(bytes)
}

/// `UTF8Encoding.GetByteCount`
extern "C" fn utf8_byte_count(t: Thread, _encoding: ObjRef, start: *const u16, count: i32, encoder: ObjRef) -> i32 {
    // SAFETY: the managed caller has checked the range.
    let Some(units) = (unsafe { input(start, count, encoder) }) else { return DECLINED };
    let mut bytes = 0;
    let is_valid = by_pairs(t, units, |units| {
        bytes += utf8_len_bytes(units)?;
        Some(())
    });
    result(is_valid.map(|()| bytes))
}

/// Encodes all of `units` into the front of `bytes`: how many bytes. None: an unpaired surrogate, or too many.
fn encode_all(units: &[u16], bytes: &mut [u8]) -> Option<usize> {
    let (mut from, mut to) = (0, 0);
    while from < units.len() {
        let most = (units.len() - from).min(bytes.len() - to);
        let ascii = mem::copy_basic_latin_to_ascii(&units[from..from + most], &mut bytes[to..to + most]);
        from += ascii;
        to += ascii;
        for _ in 0..SINGLY {
            let Some(&unit) = units.get(from) else { break };
            from += 1;
            let tail = |shift: u32| (0x80 | (unit >> shift) & 0x3f) as u8;
            match unit {
                0..0x80 => {
                    *bytes.get_mut(to)? = unit as u8;
                    to += 1;
                }
                0x80..0x800 => {
                    bytes.get_mut(to..to + 2)?.copy_from_slice(&[0xc0 | (unit >> 6) as u8, tail(0)]);
                    to += 2;
                }
                0xd800..=0xdfff => {
                    let low = *units.get(from)?;
                    if unit >= 0xdc00 || low & 0xfc00 != 0xdc00 {
                        return None;
                    }
                    from += 1;
                    let code = 0x10000 + (u32::from(unit & 0x3ff) << 10 | u32::from(low & 0x3ff));
                    let tail = |shift: u32| (0x80 | (code >> shift) & 0x3f) as u8;
                    let encoded = [0xf0 | (code >> 18) as u8, tail(12), tail(6), tail(0)];
                    bytes.get_mut(to..to + 4)?.copy_from_slice(&encoded);
                    to += 4;
                }
                _ => {
                    bytes.get_mut(to..to + 3)?.copy_from_slice(&[0xe0 | (unit >> 12) as u8, tail(6), tail(0)]);
                    to += 3;
                }
            }
        }
    }
    Some(to)
}

/// `UTF8Encoding.GetBytes`
extern "C" fn utf8_bytes(
    t: Thread,
    _encoding: ObjRef,
    start: *const u16,
    count: i32,
    target: *mut u8,
    target_count: i32,
    encoder: ObjRef,
) -> i32 {
    // SAFETY: the managed caller has checked the ranges, which do not overlap.
    let (Some(units), Some(bytes)) = (unsafe { (input(start, count, encoder), output(target, target_count)) }) else {
        return DECLINED;
    };
    let mut written = 0;
    let is_whole = by_pairs(t, units, |units| {
        written += encode_all(units, &mut bytes[written..])?;
        Some(())
    });
    result(is_whole.map(|()| written))
}

/// Calls `work` on pairs of slices of equal length, with safepoints between them. None: declined, or more elements than there is room for.
fn one_by_one<S, T>(t: Thread, source: &[S], target: &mut [T], work: impl Fn(&[S], &mut [T]) -> bool) -> Option<usize> {
    let target = target.get_mut(..source.len())?;
    for (index, (source, target)) in source.chunks(SLICE).zip(target.chunks_mut(SLICE)).enumerate() {
        if index > 0 {
            t.managed().poll();
        }
        if !work(source, target) {
            return None;
        }
    }
    Some(source.len())
}

/// `ASCIIEncoding.GetChars`
extern "C" fn ascii_chars(
    t: Thread,
    _encoding: ObjRef,
    start: *const u8,
    count: i32,
    target: *mut u16,
    target_count: i32,
    decoder: ObjRef,
) -> i32 {
    // SAFETY: the managed caller has checked the ranges, which do not overlap.
    let (Some(bytes), Some(units)) = (unsafe { (input(start, count, decoder), output(target, target_count)) }) else {
        return DECLINED;
    };
    result(one_by_one(t, bytes, units, |bytes, units| mem::copy_ascii_to_basic_latin(bytes, units) == bytes.len()))
}

/// `ASCIIEncoding.GetBytes`
extern "C" fn ascii_bytes(
    t: Thread,
    _encoding: ObjRef,
    start: *const u16,
    count: i32,
    target: *mut u8,
    target_count: i32,
    encoder: ObjRef,
) -> i32 {
    // SAFETY: the managed caller has checked the ranges, which do not overlap.
    let (Some(units), Some(bytes)) = (unsafe { (input(start, count, encoder), output(target, target_count)) }) else {
        return DECLINED;
    };
    result(one_by_one(t, units, bytes, |units, bytes| mem::copy_basic_latin_to_ascii(units, bytes) == units.len()))
}

/// `ASCIIEncoding.GetCharCount`
extern "C" fn ascii_char_count(t: Thread, _encoding: ObjRef, start: *const u8, count: i32, decoder: ObjRef) -> i32 {
    // SAFETY: the managed caller has checked the range.
    let Some(bytes) = (unsafe { input(start, count, decoder) }) else { return DECLINED };
    let invalid =
        slices(t, bytes.len(), 1, |first, number| (!mem::is_ascii(&bytes[first..first + number])).then_some(()));
    result(invalid.is_none().then_some(bytes.len()))
}

/// `ASCIIEncoding.GetByteCount`
extern "C" fn ascii_byte_count(t: Thread, _encoding: ObjRef, start: *const u16, count: i32, encoder: ObjRef) -> i32 {
    // SAFETY: the managed caller has checked the range.
    let Some(units) = (unsafe { input(start, count, encoder) }) else { return DECLINED };
    let invalid =
        slices(t, units.len(), 2, |first, number| (!mem::is_basic_latin(&units[first..first + number])).then_some(()));
    result(invalid.is_none().then_some(units.len()))
}

/// `Latin1Encoding.GetChars`: every byte is a character.
extern "C" fn latin1_chars(
    t: Thread,
    _encoding: ObjRef,
    start: *const u8,
    count: i32,
    target: *mut u16,
    target_count: i32,
    decoder: ObjRef,
) -> i32 {
    // SAFETY: the managed caller has checked the ranges, which do not overlap.
    let (Some(bytes), Some(units)) = (unsafe { (input(start, count, decoder), output(target, target_count)) }) else {
        return DECLINED;
    };
    result(one_by_one(t, bytes, units, |bytes, units| {
        mem::convert_latin1_to_utf16(bytes, units);
        true
    }))
}

/// `Latin1Encoding.GetBytes`
extern "C" fn latin1_bytes(
    t: Thread,
    _encoding: ObjRef,
    start: *const u16,
    count: i32,
    target: *mut u8,
    target_count: i32,
    encoder: ObjRef,
) -> i32 {
    // SAFETY: the managed caller has checked the ranges, which do not overlap.
    let (Some(units), Some(bytes)) = (unsafe { (input(start, count, encoder), output(target, target_count)) }) else {
        return DECLINED;
    };
    result(one_by_one(t, units, bytes, |units, bytes| {
        let is_latin1 = mem::is_utf16_latin1(units);
        if is_latin1 {
            mem::convert_utf16_to_latin1_lossy(units, bytes);
        }
        is_latin1
    }))
}

/// `Latin1Encoding.GetByteCount`
extern "C" fn latin1_byte_count(t: Thread, _encoding: ObjRef, start: *const u16, count: i32, encoder: ObjRef) -> i32 {
    // SAFETY: the managed caller has checked the range.
    let Some(units) = (unsafe { input(start, count, encoder) }) else { return DECLINED };
    let invalid =
        slices(t, units.len(), 2, |first, number| (!mem::is_utf16_latin1(&units[first..first + number])).then_some(()));
    result(invalid.is_none().then_some(units.len()))
}

/// The four methods of an encoding.
macro_rules! rows {
    ($name:literal, $char_count:expr, $chars:expr, $byte_count:expr, $bytes:expr) => {
        [
            may_decline(
                concat!("System.Text.", $name, "::GetCharCount(System.Byte*,System.Int32,System.Text.DecoderNLS) System.Int32"),
                $char_count,
            ),
            may_decline(
                concat!(
                    "System.Text.", $name,
                    "::GetChars(System.Byte*,System.Int32,System.Char*,System.Int32,System.Text.DecoderNLS) System.Int32"
                ),
                $chars,
            ),
            may_decline(
                concat!("System.Text.", $name, "::GetByteCount(System.Char*,System.Int32,System.Text.EncoderNLS) System.Int32"),
                $byte_count,
            ),
            may_decline(
                concat!(
                    "System.Text.", $name,
                    "::GetBytes(System.Char*,System.Int32,System.Byte*,System.Int32,System.Text.EncoderNLS) System.Int32"
                ),
                $bytes,
            ),
        ]
    };
}

pub(super) const UTF8: &[Row] = &rows!(
    "UTF8Encoding",
    utf8_char_count as *const (),
    utf8_chars as *const (),
    utf8_byte_count as *const (),
    utf8_bytes as *const ()
);

pub(super) const ASCII: &[Row] = &rows!(
    "ASCIIEncoding",
    ascii_char_count as *const (),
    ascii_chars as *const (),
    ascii_byte_count as *const (),
    ascii_bytes as *const ()
);

pub(super) const LATIN1: &[Row] = &[
    may_decline(
        "System.Text.Latin1Encoding::GetChars(System.Byte*,System.Int32,System.Char*,System.Int32,System.Text.DecoderNLS) System.Int32",
        latin1_chars as *const (),
    ),
    may_decline(
        "System.Text.Latin1Encoding::GetByteCount(System.Char*,System.Int32,System.Text.EncoderNLS) System.Int32",
        latin1_byte_count as *const (),
    ),
    may_decline(
        "System.Text.Latin1Encoding::GetBytes(System.Char*,System.Int32,System.Byte*,System.Int32,System.Text.EncoderNLS) System.Int32",
        latin1_bytes as *const (),
    ),
];

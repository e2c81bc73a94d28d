//! UTF-8, UTF-16, ASCII and Latin-1, from and to strings: whole, valid inputs. Declined are inputs that are invalid, too long for their target, or would leave part
//! of a character in a decoder or encoder.
//!
//! A function writes to the target what the class library's body writes for the same input. So it may decline halfway: the body begins anew and writes the same again.

use super::slices::{SLICE_BYTES, from, may_decline, slices};
use encoding_rs::mem;
use saki_runtime::fields::ManagedField;
use saki_runtime::library_loops::{DECLINED, Row};
use saki_runtime::{CurrentThread, Obj};

/// Elements converted between two safepoints.
const SLICE: usize = SLICE_BYTES / 4;

/// The elements of an input; None (declined) if there is a state, for null, and for a negative length.
///
/// # Safety
/// `count` elements can be read if it is positive.
unsafe fn input<'a, T>(start: *const T, count: i32, state: Option<Obj>) -> Option<&'a [T]> {
    let count = usize::try_from(count).ok()?;
    let is_there = state.is_none() && !start.is_null();
    // SAFETY: the caller's promise. Other threads may write to the elements meanwhile; then the result is any.
    is_there.then(|| unsafe { std::slice::from_raw_parts(start, count) })
}

/// The target of a conversion; None (declined) for null and for a negative length.
///
/// # Safety
/// `count` elements can be written if it is positive.
unsafe fn output<'a, T>(start: *mut T, count: i32) -> Option<&'a mut [T]> {
    let count = usize::try_from(count).ok()?;
    // SAFETY: this function's contract.
    (!start.is_null()).then(|| unsafe { std::slice::from_raw_parts_mut(start, count) })
}

fn result(count: Option<usize>) -> i32 {
    count.and_then(|count| i32::try_from(count).ok()).unwrap_or(DECLINED)
}

/// A place between two characters, at `at` or up to three bytes before it (the length of `bytes` if that is not greater).
fn boundary(bytes: &[u8], at: usize) -> usize {
    if at >= bytes.len() {
        return bytes.len();
    }
    // A character has at most three bytes after its first one.
    (at.saturating_sub(3)..=at).rev().find(|&place| bytes[place] & 0xc0 != 0x80).unwrap_or(at)
}

/// The number of UTF-16 units of valid UTF-8: one for each byte that begins a character, and one more for each character of four bytes.
fn units_of(bytes: &[u8]) -> usize {
    // Sums over so many bytes stay below 256.
    const AT_ONCE: usize = 120;
    let of_some = |bytes: &[u8]| {
        let sum: u8 = bytes.iter().map(|&byte| u8::from(byte as i8 >= -0x40) + u8::from(byte >= 0xf0)).sum();
        usize::from(sum)
    };
    bytes.chunks(AT_ONCE).map(of_some).sum()
}

/// Calls `work` on slices of the elements, with safepoints between them. `end` returns a place, at or near a given one, where a slice may end. None: declined.
fn in_parts<T>(
    t: CurrentThread,
    elements: &[T],
    end: impl Fn(&[T], usize) -> usize,
    mut work: impl FnMut(&[T]) -> Option<()>,
) -> Option<()> {
    let mut rest = elements;
    loop {
        let (head, tail) = rest.split_at(end(rest, SLICE));
        work(head)?;
        if tail.is_empty() {
            return Some(());
        }
        rest = tail;
        t.managed().poll();
    }
}

/// As `in_parts`, on slices that end between characters.
fn by_characters(t: CurrentThread, bytes: &[u8], work: impl FnMut(&[u8]) -> Option<()>) -> Option<()> {
    in_parts(t, bytes, boundary, work)
}

/// The part of a character that a decoder holds.
static DECODER_BITS: ManagedField = ManagedField::corlib("System.Text", "UTF8Encoding/UTF8Decoder", "bits");
/// The number of bytes that a decoder's last call decoded.
static BYTES_USED: ManagedField = ManagedField::corlib("System.Text", "DecoderNLS", "_bytesUsed");

/// The decoder as `input` takes it: None if it holds nothing.
fn utf8_state(decoder: Option<Obj>) -> Option<Obj> {
    decoder.filter(|decoder| DECODER_BITS.get::<i32>(*decoder) != 0)
}

/// `UTF8Encoding.GetCharCount`
fn utf8_char_count(
    t: CurrentThread,
    _encoding: Option<Obj>,
    start: *const u8,
    count: i32,
    decoder: Option<Obj>,
) -> i32 {
    // SAFETY: the managed caller has checked the range.
    let Some(bytes) = (unsafe { input(start, count, utf8_state(decoder)) }) else { return DECLINED };
    let mut units = 0;
    let is_valid = by_characters(t, bytes, |bytes| {
        simdutf8::basic::from_utf8(bytes).ok()?;
        units += units_of(bytes);
        Some(())
    });
    result(is_valid.map(|()| units))
}

/// The length in bytes and the code of the character with which `bytes` begin. None: invalid or cut off.
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

/// Numbers of elements that are checked together for being ASCII: many, which take a few instructions, and few, which are otherwise converted one by one.
const MANY_AT_ONCE: usize = 32;
const AT_ONCE: usize = 8;

/// The length and code of the first character in four bytes, if it has two or three bytes. None: another length, or invalid.
#[inline(always)]
fn decode_short(bytes: [u8; 4]) -> Option<(usize, u16)> {
    let word = u32::from_le_bytes(bytes);
    let [a, b, c, _] = bytes.map(u16::from);
    // The marks of a first byte and of those that follow it.
    if word & 0x00c0_c0f0 == 0x0080_80e0 {
        let code = a << 12 | (b & 0x3f) << 6 | c & 0x3f;
        return (code >= 0x800 && code & 0xf800 != 0xd800).then_some((3, code));
    }
    let code = (a & 0x1f) << 6 | b & 0x3f;
    (word & 0xc0e0 == 0x80c0 && code >= 0x80).then_some((2, code))
}

/// Decodes all of `bytes` into the front of `units` and returns the number of units. None: invalid, or too many.
fn decode_all(bytes: &[u8], units: &mut [u16]) -> Option<usize> {
    let (mut from, mut to) = (0, 0);
    while from < bytes.len() {
        if let (Some(some), Some(room)) = (bytes[from..].first_chunk(), units[to..].first_chunk_mut()) {
            let some: &[u8; MANY_AT_ONCE] = some;
            let room: &mut [u16; MANY_AT_ONCE] = room;
            if some.iter().fold(0, |all, byte| all | byte) < 0x80 {
                *room = some.map(u16::from);
                from += MANY_AT_ONCE;
                to += MANY_AT_ONCE;
                continue;
            }
        }
        if let (Some(some), Some(room)) = (bytes[from..].first_chunk(), units[to..].first_chunk_mut()) {
            let some: &[u8; AT_ONCE] = some;
            let room: &mut [u16; AT_ONCE] = room;
            let others = u64::from_le_bytes(*some) & 0x8080_8080_8080_8080;
            if others == 0 {
                *room = some.map(u16::from);
                from += AT_ONCE;
                to += AT_ONCE;
                continue;
            }
            let ascii = others.trailing_zeros() as usize / 8;
            for (unit, byte) in room[..ascii].iter_mut().zip(some) {
                *unit = u16::from(*byte);
            }
            from += ascii;
            to += ascii;
        }
        // Characters that are not ASCII come in runs.
        while let (Some(some), Some(unit)) = (bytes[from..].first_chunk(), units.get_mut(to)) {
            let Some((len_bytes, code)) = decode_short(*some) else { break };
            *unit = code;
            from += len_bytes;
            to += 1;
        }
        let rest = &bytes[from..];
        if rest.is_empty() {
            break;
        }
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
    Some(to)
}

/// `UTF8Encoding.GetChars`
fn utf8_chars(
    t: CurrentThread,
    _encoding: Option<Obj>,
    start: *const u8,
    count: i32,
    target: *mut u16,
    target_count: i32,
    decoder: Option<Obj>,
) -> i32 {
    // SAFETY: the managed caller has checked the ranges, which do not overlap.
    let (Some(bytes), Some(units)) =
        (unsafe { (input(start, count, utf8_state(decoder)), output(target, target_count)) })
    else {
        return DECLINED;
    };
    let mut written = 0;
    let is_whole = by_characters(t, bytes, |bytes| {
        written += decode_all(bytes, &mut units[written..])?;
        Some(())
    });
    if let (Some(()), Some(decoder)) = (is_whole, decoder) {
        BYTES_USED.set(decoder, count);
    }
    result(is_whole.map(|()| written))
}

/// As `in_parts`, on slices that do not end inside a surrogate pair.
fn by_pairs(t: CurrentThread, units: &[u16], work: impl FnMut(&[u16]) -> Option<()>) -> Option<()> {
    let end = |units: &[u16], at: usize| {
        let at = at.min(units.len());
        let splits_pair = at < units.len() && units[at - 1] & 0xfc00 == 0xd800;
        at + usize::from(splits_pair)
    };
    in_parts(t, units, end, work)
}

/// The number of bytes of units in UTF-8, and whether a surrogate is among them. A surrogate counts for two bytes, half of the pair's four.
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

/// The number of bytes of UTF-16 text in UTF-8; None if it is invalid.
fn utf8_len_bytes(units: &[u16]) -> Option<usize> {
    let (bytes, has_surrogates) = bytes_of(units);
    (!has_surrogates || mem::utf16_valid_up_to(units) == units.len()).then_some(bytes)
}

/// `UTF8Encoding.GetByteCount`
fn utf8_byte_count(
    t: CurrentThread,
    _encoding: Option<Obj>,
    start: *const u16,
    count: i32,
    encoder: Option<Obj>,
) -> i32 {
    // SAFETY: the managed caller has checked the range.
    let Some(units) = (unsafe { input(start, count, encoder) }) else { return DECLINED };
    let mut bytes = 0;
    let is_valid = by_pairs(t, units, |units| {
        bytes += utf8_len_bytes(units)?;
        Some(())
    });
    result(is_valid.map(|()| bytes))
}

/// Encodes all of `units` into the front of `bytes` and returns the number of bytes. None: an unpaired surrogate, or too many.
fn encode_all(units: &[u16], bytes: &mut [u8]) -> Option<usize> {
    let (mut from, mut to) = (0, 0);
    while from < units.len() {
        if let (Some(some), Some(room)) = (units[from..].first_chunk(), bytes[to..].first_chunk_mut()) {
            let some: &[u16; MANY_AT_ONCE] = some;
            let room: &mut [u8; MANY_AT_ONCE] = room;
            if some.iter().fold(0, |all, unit| all | unit) < 0x80 {
                *room = some.map(|unit| unit as u8);
                from += MANY_AT_ONCE;
                to += MANY_AT_ONCE;
                continue;
            }
        }
        if let (Some(some), Some(room)) = (units[from..].first_chunk(), bytes[to..].first_chunk_mut()) {
            let some: &[u16; AT_ONCE] = some;
            let room: &mut [u8; AT_ONCE] = room;
            if some.iter().fold(0, |all, unit| all | unit) < 0x80 {
                *room = some.map(|unit| unit as u8);
                from += AT_ONCE;
                to += AT_ONCE;
                continue;
            }
        }
        // At most so many units are encoded one by one before the next check of several.
        for _ in 0..AT_ONCE {
            let Some(&unit) = units.get(from) else { break };
            from += 1;
            let tail = |shift: u32| (0x80 | (unit >> shift) & 0x3f) as u8;
            if unit < 0x80 {
                *bytes.get_mut(to)? = unit as u8;
                to += 1;
            } else if unit < 0x800 {
                *bytes[to..].first_chunk_mut()? = [0xc0 | (unit >> 6) as u8, tail(0)];
                to += 2;
            } else if unit & 0xf800 != 0xd800 {
                *bytes[to..].first_chunk_mut()? = [0xe0 | (unit >> 12) as u8, tail(6), tail(0)];
                to += 3;
            } else {
                let low = *units.get(from)?;
                if unit >= 0xdc00 || low & 0xfc00 != 0xdc00 {
                    return None;
                }
                from += 1;
                let code = 0x10000 + (u32::from(unit & 0x3ff) << 10 | u32::from(low & 0x3ff));
                let tail = |shift: u32| (0x80 | (code >> shift) & 0x3f) as u8;
                *bytes[to..].first_chunk_mut()? = [0xf0 | (code >> 18) as u8, tail(12), tail(6), tail(0)];
                to += 4;
            }
        }
    }
    Some(to)
}

/// `UTF8Encoding.GetBytes`
fn utf8_bytes(
    t: CurrentThread,
    _encoding: Option<Obj>,
    start: *const u16,
    count: i32,
    target: *mut u8,
    target_count: i32,
    encoder: Option<Obj>,
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
fn one_by_one<S, T>(
    t: CurrentThread,
    source: &[S],
    target: &mut [T],
    work: impl Fn(&[S], &mut [T]) -> bool,
) -> Option<usize> {
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
fn ascii_chars(
    t: CurrentThread,
    _encoding: Option<Obj>,
    start: *const u8,
    count: i32,
    target: *mut u16,
    target_count: i32,
    decoder: Option<Obj>,
) -> i32 {
    // SAFETY: the managed caller has checked the ranges, which do not overlap.
    let (Some(bytes), Some(units)) = (unsafe { (input(start, count, decoder), output(target, target_count)) }) else {
        return DECLINED;
    };
    result(one_by_one(t, bytes, units, |bytes, units| mem::copy_ascii_to_basic_latin(bytes, units) == bytes.len()))
}

/// `ASCIIEncoding.GetBytes`
fn ascii_bytes(
    t: CurrentThread,
    _encoding: Option<Obj>,
    start: *const u16,
    count: i32,
    target: *mut u8,
    target_count: i32,
    encoder: Option<Obj>,
) -> i32 {
    // SAFETY: the managed caller has checked the ranges, which do not overlap.
    let (Some(units), Some(bytes)) = (unsafe { (input(start, count, encoder), output(target, target_count)) }) else {
        return DECLINED;
    };
    result(one_by_one(t, units, bytes, |units, bytes| mem::copy_basic_latin_to_ascii(units, bytes) == units.len()))
}

/// `ASCIIEncoding.GetCharCount`
fn ascii_char_count(
    t: CurrentThread,
    _encoding: Option<Obj>,
    start: *const u8,
    count: i32,
    decoder: Option<Obj>,
) -> i32 {
    // SAFETY: the managed caller has checked the range.
    let Some(bytes) = (unsafe { input(start, count, decoder) }) else { return DECLINED };
    let invalid =
        slices(t, bytes.len(), 1, |first, number| (!mem::is_ascii(&bytes[first..first + number])).then_some(()));
    result(invalid.is_none().then_some(bytes.len()))
}

/// `ASCIIEncoding.GetByteCount`
fn ascii_byte_count(
    t: CurrentThread,
    _encoding: Option<Obj>,
    start: *const u16,
    count: i32,
    encoder: Option<Obj>,
) -> i32 {
    // SAFETY: the managed caller has checked the range.
    let Some(units) = (unsafe { input(start, count, encoder) }) else { return DECLINED };
    let invalid =
        slices(t, units.len(), 2, |first, number| (!mem::is_basic_latin(&units[first..first + number])).then_some(()));
    result(invalid.is_none().then_some(units.len()))
}

/// `Latin1Encoding.GetChars`: every byte is a character.
fn latin1_chars(
    t: CurrentThread,
    _encoding: Option<Obj>,
    start: *const u8,
    count: i32,
    target: *mut u16,
    target_count: i32,
    decoder: Option<Obj>,
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
fn latin1_bytes(
    t: CurrentThread,
    _encoding: Option<Obj>,
    start: *const u16,
    count: i32,
    target: *mut u8,
    target_count: i32,
    encoder: Option<Obj>,
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
fn latin1_byte_count(
    t: CurrentThread,
    _encoding: Option<Obj>,
    start: *const u16,
    count: i32,
    encoder: Option<Obj>,
) -> i32 {
    // SAFETY: the managed caller has checked the range.
    let Some(units) = (unsafe { input(start, count, encoder) }) else { return DECLINED };
    let invalid =
        slices(t, units.len(), 2, |first, number| (!mem::is_utf16_latin1(&units[first..first + number])).then_some(()));
    result(invalid.is_none().then_some(units.len()))
}

/// The byte order of an encoding.
static IS_BIG_ENDIAN: ManagedField = ManagedField::corlib("System.Text", "UnicodeEncoding", "bigEndian");

/// Whether the encoding has this machine's order of bytes.
fn is_own_order(encoding: Option<Obj>) -> bool {
    encoding.is_some_and(|encoding| IS_BIG_ENDIAN.get::<u8>(encoding) == u8::from(cfg!(target_endian = "big")))
}

/// The bytes as UTF-16 units; None if they have the other byte order, are not aligned, or end with half a unit.
fn as_units<'a>(encoding: Option<Obj>, bytes: &'a [u8]) -> Option<&'a [u16]> {
    // SAFETY: any two bytes are a unit.
    let (before, units, after) = unsafe { bytes.align_to::<u16>() };
    (is_own_order(encoding) && before.is_empty() && after.is_empty()).then_some(units)
}

/// Whether every surrogate has its other half.
fn is_valid_utf16(t: CurrentThread, units: &[u16]) -> bool {
    by_pairs(t, units, |units| (mem::utf16_valid_up_to(units) == units.len()).then_some(())).is_some()
}

/// `UnicodeEncoding.GetCharCount`
fn utf16_char_count(
    t: CurrentThread,
    encoding: Option<Obj>,
    start: *const u8,
    count: i32,
    decoder: Option<Obj>,
) -> i32 {
    // SAFETY: the managed caller has checked the range.
    let units = unsafe { input(start, count, decoder) }.and_then(|bytes| as_units(encoding, bytes));
    result(units.filter(|units| is_valid_utf16(t, units)).map(<[u16]>::len))
}

/// `UnicodeEncoding.GetChars`
fn utf16_chars(
    t: CurrentThread,
    encoding: Option<Obj>,
    start: *const u8,
    count: i32,
    target: *mut u16,
    target_count: i32,
    decoder: Option<Obj>,
) -> i32 {
    // SAFETY: the managed caller has checked the ranges, which do not overlap.
    let (Some(bytes), Some(to)) = (unsafe { (input(start, count, decoder), output(target, target_count)) }) else {
        return DECLINED;
    };
    let units = as_units(encoding, bytes).filter(|units| is_valid_utf16(t, units));
    result(units.and_then(|units| one_by_one(t, units, to, copied)))
}

fn copied<T: Copy>(from: &[T], to: &mut [T]) -> bool {
    to.copy_from_slice(from);
    true
}

/// `UnicodeEncoding.GetByteCount`
fn utf16_byte_count(
    t: CurrentThread,
    _encoding: Option<Obj>,
    start: *const u16,
    count: i32,
    encoder: Option<Obj>,
) -> i32 {
    // SAFETY: the managed caller has checked the range.
    let units = unsafe { input(start, count, encoder) };
    result(units.filter(|units| is_valid_utf16(t, units)).map(|units| 2 * units.len()))
}

/// `UnicodeEncoding.GetBytes`
fn utf16_bytes(
    t: CurrentThread,
    encoding: Option<Obj>,
    start: *const u16,
    count: i32,
    target: *mut u8,
    target_count: i32,
    encoder: Option<Obj>,
) -> i32 {
    // SAFETY: the managed caller has checked the ranges, which do not overlap.
    let (Some(units), Some(to)) = (unsafe { (input(start, count, encoder), output(target, target_count)) }) else {
        return DECLINED;
    };
    if !is_own_order(encoding) || !is_valid_utf16(t, units) {
        return DECLINED;
    }
    // SAFETY: units are bytes.
    let (_, bytes, _) = unsafe { units.align_to::<u8>() };
    result(one_by_one(t, bytes, to, copied))
}

/// The rows of the four methods of an encoding.
macro_rules! rows {
    ($name:literal, $char_count:expr, $chars:expr, $byte_count:expr, $bytes:expr) => {
        [
            from(24, 2, may_decline(
                concat!("System.Text.", $name, "::GetCharCount(System.Byte*,System.Int32,System.Text.DecoderNLS) System.Int32"),
                $char_count,
            )),
            from(24, 2, may_decline(
                concat!(
                    "System.Text.", $name,
                    "::GetChars(System.Byte*,System.Int32,System.Char*,System.Int32,System.Text.DecoderNLS) System.Int32"
                ),
                $chars,
            )),
            from(24, 2, may_decline(
                concat!("System.Text.", $name, "::GetByteCount(System.Char*,System.Int32,System.Text.EncoderNLS) System.Int32"),
                $byte_count,
            )),
            from(24, 2, may_decline(
                concat!(
                    "System.Text.", $name,
                    "::GetBytes(System.Char*,System.Int32,System.Byte*,System.Int32,System.Text.EncoderNLS) System.Int32"
                ),
                $bytes,
            )),
        ]
    };
}

pub(super) const UTF8: &[Row] = &rows!("UTF8Encoding", &utf8_char_count, &utf8_chars, &utf8_byte_count, &utf8_bytes);

pub(super) const UTF16: &[Row] =
    &rows!("UnicodeEncoding", &utf16_char_count, &utf16_chars, &utf16_byte_count, &utf16_bytes);

pub(super) const ASCII: &[Row] =
    &rows!("ASCIIEncoding", &ascii_char_count, &ascii_chars, &ascii_byte_count, &ascii_bytes);

pub(super) const LATIN1: &[Row] = &[
    from(
        24,
        2,
        may_decline(
            "System.Text.Latin1Encoding::GetChars(System.Byte*,System.Int32,System.Char*,System.Int32,System.Text.DecoderNLS) System.Int32",
            &latin1_chars,
        ),
    ),
    from(
        24,
        2,
        may_decline(
            "System.Text.Latin1Encoding::GetByteCount(System.Char*,System.Int32,System.Text.EncoderNLS) System.Int32",
            &latin1_byte_count,
        ),
    ),
    from(
        24,
        2,
        may_decline(
            "System.Text.Latin1Encoding::GetBytes(System.Char*,System.Int32,System.Byte*,System.Int32,System.Text.EncoderNLS) System.Int32",
            &latin1_bytes,
        ),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn text_is_transcoded_as_the_standard_library_does(
            text in proptest::collection::vec(
                prop_oneof![8 => 0u32..0x80, 2 => 0x80u32..0x800, 3 => 0x800u32..0x10000, 1 => 0x10000u32..0x110000], 0..120,
            ),
            less in 0usize..4,
        ) {
            let text: String = text.into_iter().filter_map(char::from_u32).collect();
            let units: Vec<u16> = text.encode_utf16().collect();
            let mut decoded = vec![0u16; units.len()];
            prop_assert_eq!(decode_all(text.as_bytes(), &mut decoded), Some(units.len()));
            prop_assert_eq!(&decoded, &units);
            prop_assert_eq!(units_of(text.as_bytes()), units.len());
            let mut encoded = vec![0u8; text.len()];
            prop_assert_eq!(encode_all(&units, &mut encoded), Some(text.len()));
            prop_assert_eq!(&encoded[..], text.as_bytes());
            prop_assert_eq!(utf8_len_bytes(&units), Some(text.len()));
            // Too little room.
            if less > 0 && text.len() >= less {
                let room = encoded.len() - less;
                prop_assert_eq!(encode_all(&units, &mut encoded[..room]), None);
            }
            if less > 0 && units.len() >= less {
                let room = decoded.len() - less;
                prop_assert_eq!(decode_all(text.as_bytes(), &mut decoded[..room]), None);
            }
        }

        #[test]
        fn bytes_decode_if_they_are_valid(bytes in proptest::collection::vec(
            prop_oneof![2 => any::<u8>(), 2 => 0x80u8..0xc0, 1 => 0xe0u8..0xf5, 3 => 0x20u8..0x7f], 0..40,
        )) {
            let mut units = vec![0u16; bytes.len()];
            let decoded = decode_all(&bytes, &mut units).map(|count| units[..count].to_vec());
            let expect = std::str::from_utf8(&bytes).ok().map(|text| text.encode_utf16().collect::<Vec<u16>>());
            prop_assert_eq!(decoded, expect);
        }

        #[test]
        fn units_encode_if_they_are_valid(units in proptest::collection::vec(
            prop_oneof![2 => any::<u16>(), 2 => 0xd800u16..0xe000, 3 => 0x20u16..0x7f], 0..40,
        )) {
            let mut bytes = vec![0u8; 3 * units.len()];
            let encoded = encode_all(&units, &mut bytes).map(|count| bytes[..count].to_vec());
            let expect = String::from_utf16(&units).ok().map(String::into_bytes);
            prop_assert_eq!(utf8_len_bytes(&units), expect.as_ref().map(Vec::len));
            prop_assert_eq!(encoded, expect);
        }
    }
}

//! UTF-8, UTF-16, ASCII and Latin-1, from and to strings: whole, valid inputs. Declined are inputs that are invalid, too long for their target, or would leave part
//! of a character in a decoder or encoder.
//!
//! A function writes to the target what the class library's body writes for the same input. So it may decline halfway: the body begins anew and writes the same again.

use super::slices::{SLICE_BYTES, from, may_decline, slices};
use saki_loops::{transcode, utf8};
use saki_runtime::fields::ManagedField;
use saki_runtime::library_loops::{DECLINED, Row};
use saki_runtime::{CurrentThread, Obj};
use saki_types::LibraryType;

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
    in_parts(t, bytes, utf8::boundary, work)
}

/// The part of a character that a decoder holds.
static DECODER_BITS: ManagedField = ManagedField::new(LibraryType::Utf8Decoder, "bits");
/// The number of bytes that a decoder's last call decoded.
static BYTES_USED: ManagedField = ManagedField::new(LibraryType::DecoderNLS, "_bytesUsed");

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
        let is_valid = utf8::is_valid(bytes);
        units += utf8::units_of(bytes);
        is_valid.then_some(())
    });
    result(is_valid.map(|()| units))
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
        written += utf8::decode_all(bytes, &mut units[written..])?;
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
        bytes += utf8::utf8_len_bytes(units)?;
        Some(())
    });
    result(is_valid.map(|()| bytes))
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
        written += utf8::encode_all(units, &mut bytes[written..])?;
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
    result(one_by_one(t, bytes, units, transcode::ascii_to_utf16))
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
    result(one_by_one(t, units, bytes, transcode::utf16_to_ascii))
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
        slices(t, bytes.len(), 1, |first, number| (!transcode::is_ascii(&bytes[first..first + number])).then_some(()));
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
    let invalid = slices(t, units.len(), 2, |first, number| {
        (!transcode::is_ascii_utf16(&units[first..first + number])).then_some(())
    });
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
        transcode::latin1_to_utf16(bytes, units);
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
    result(one_by_one(t, units, bytes, transcode::utf16_to_latin1))
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
    let invalid = slices(t, units.len(), 2, |first, number| {
        (!transcode::is_latin1_utf16(&units[first..first + number])).then_some(())
    });
    result(invalid.is_none().then_some(units.len()))
}

/// The byte order of an encoding.
static IS_BIG_ENDIAN: ManagedField = ManagedField::new(LibraryType::UnicodeEncoding, "bigEndian");

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
    by_pairs(t, units, |units| transcode::is_valid_utf16(units).then_some(())).is_some()
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

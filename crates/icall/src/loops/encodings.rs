//! UTF-8, UTF-16, ASCII and Latin-1, from and to strings: whole, valid inputs. Declined are inputs that are invalid,
//! too long for their target, or would leave part of a character in a decoder or encoder.
//!
//! A function writes to the target what the class library's body writes for the same input. So it may decline halfway:
//! the body begins anew and writes the same again.

use super::slices::{SLICE_BYTES, from, may_decline, slices};
use saki_loops::{transcode, utf8};
use saki_runtime::exec::library_loops::{DECLINED, LoopRow};
use saki_runtime::object::fields::ManagedField;
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
    // SAFETY: not null, and `count` elements can be read. Other threads may write to them meanwhile; then the result is
    // any.
    is_there.then(|| unsafe { std::slice::from_raw_parts(start, count) })
}

/// The target of a conversion; None (declined) for null and for a negative length.
///
/// # Safety
/// `count` elements can be written if it is positive.
unsafe fn output<'a, T>(start: *mut T, count: i32) -> Option<&'a mut [T]> {
    let count = usize::try_from(count).ok()?;
    // SAFETY: not null, and `count` elements can be written.
    (!start.is_null()).then(|| unsafe { std::slice::from_raw_parts_mut(start, count) })
}

fn result(count: Option<usize>) -> i32 {
    count.and_then(|count| i32::try_from(count).ok()).unwrap_or(DECLINED)
}

/// Functions that count what a conversion writes. The body gets the elements of the input and returns the number; None:
/// declined, as when there is a state (behind `=>`).
macro_rules! counting {
    ($(#[$doc:meta])* $name:ident($t:ident, $encoding:ident, $from:ident: $source:ty, $state:ident => $held:expr)
        $body:block) => {
        $(#[$doc])*
        fn $name(
            $t: CurrentThread,
            $encoding: Option<Obj>,
            start: *const $source,
            count: i32,
            $state: Option<Obj>,
        ) -> i32 {
            // SAFETY: Encoding has checked the range before it calls.
            let Some($from) = (unsafe { input(start, count, $held) }) else { return DECLINED };
            result($body)
        }
    };
}

/// Functions that convert. The body gets the elements of the input and the room for the output, and returns how many
/// elements it wrote; None: declined, as when there is a state (behind `=>`).
macro_rules! converting {
    ($(#[$doc:meta])* $name:ident(
        $t:ident, $encoding:ident, $from:ident: $source:ty, $to:ident: $target:ty, $state:ident => $held:expr
    ) $body:block) => {
        $(#[$doc])*
        fn $name(
            $t: CurrentThread,
            $encoding: Option<Obj>,
            start: *const $source,
            count: i32,
            target: *mut $target,
            target_count: i32,
            $state: Option<Obj>,
        ) -> i32 {
            // SAFETY: Encoding has checked the ranges, which do not overlap, before it calls.
            let (Some($from), Some($to)) = (unsafe { (input(start, count, $held), output(target, target_count)) }) else {
                return DECLINED;
            };
            result($body)
        }
    };
}

/// Calls `work` on slices of the elements, with safepoints between them. `end` returns a place, at or near a given one,
/// where a slice may end. None: declined.
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

/// Calls `work` on slices that end between characters, with safepoints between them. None: declined.
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

counting! {
    /// `UTF8Encoding.GetCharCount`
    utf8_char_count(t, _encoding, bytes: u8, decoder => utf8_state(decoder)) {
        let mut units = 0;
        let is_valid = by_characters(t, bytes, |bytes| {
            let is_valid = utf8::is_valid(bytes);
            units += utf8::units_of(bytes);
            is_valid.then_some(())
        });
        is_valid.map(|()| units)
    }
}

converting! {
    /// `UTF8Encoding.GetChars`
    utf8_chars(t, _encoding, bytes: u8, units: u16, decoder => utf8_state(decoder)) {
        let mut written = 0;
        let is_whole = by_characters(t, bytes, |bytes| {
            written += utf8::decode_all(bytes, &mut units[written..])?;
            Some(())
        });
        if let (Some(()), Some(decoder)) = (is_whole, decoder) {
            BYTES_USED.set(decoder, bytes.len() as i32);
        }
        is_whole.map(|()| written)
    }
}

/// Calls `work` on slices that do not end inside a surrogate pair, with safepoints between them. None: declined.
fn by_pairs(t: CurrentThread, units: &[u16], work: impl FnMut(&[u16]) -> Option<()>) -> Option<()> {
    let end = |units: &[u16], at: usize| {
        let at = at.min(units.len());
        let splits_pair = at < units.len() && units[at - 1] & 0xfc00 == 0xd800;
        at + usize::from(splits_pair)
    };
    in_parts(t, units, end, work)
}

counting! {
    /// `UTF8Encoding.GetByteCount`
    utf8_byte_count(t, _encoding, units: u16, encoder => encoder) {
        let mut bytes = 0;
        let is_valid = by_pairs(t, units, |units| {
            bytes += utf8::utf8_len_bytes(units)?;
            Some(())
        });
        is_valid.map(|()| bytes)
    }
}

converting! {
    /// `UTF8Encoding.GetBytes`
    utf8_bytes(t, _encoding, units: u16, bytes: u8, encoder => encoder) {
        let mut written = 0;
        let is_whole = by_pairs(t, units, |units| {
            written += utf8::encode_all(units, &mut bytes[written..])?;
            Some(())
        });
        is_whole.map(|()| written)
    }
}

/// Calls `work` on pairs of slices of equal length, with safepoints between them. None: declined, or more elements than
/// there is room for.
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

converting! {
    /// `ASCIIEncoding.GetChars`
    ascii_chars(t, _encoding, bytes: u8, units: u16, decoder => decoder) {
        one_by_one(t, bytes, units, transcode::ascii_to_utf16)
    }
}

converting! {
    /// `ASCIIEncoding.GetBytes`
    ascii_bytes(t, _encoding, units: u16, bytes: u8, encoder => encoder) {
        one_by_one(t, units, bytes, transcode::utf16_to_ascii)
    }
}

counting! {
    /// `ASCIIEncoding.GetCharCount`
    ascii_char_count(t, _encoding, bytes: u8, decoder => decoder) {
        let invalid =
            slices(t, bytes.len(), 1, |first, number| (!transcode::is_ascii(&bytes[first..first + number])).then_some(()));
        invalid.is_none().then_some(bytes.len())
    }
}

counting! {
    /// `ASCIIEncoding.GetByteCount`
    ascii_byte_count(t, _encoding, units: u16, encoder => encoder) {
        let invalid = slices(t, units.len(), 2, |first, number| {
            (!transcode::is_ascii_utf16(&units[first..first + number])).then_some(())
        });
        invalid.is_none().then_some(units.len())
    }
}

converting! {
    /// `Latin1Encoding.GetChars`: every byte is a character.
    latin1_chars(t, _encoding, bytes: u8, units: u16, decoder => decoder) {
        one_by_one(t, bytes, units, |bytes, units| {
            transcode::latin1_to_utf16(bytes, units);
            true
        })
    }
}

converting! {
    /// `Latin1Encoding.GetBytes`
    latin1_bytes(t, _encoding, units: u16, bytes: u8, encoder => encoder) {
        one_by_one(t, units, bytes, transcode::utf16_to_latin1)
    }
}

counting! {
    /// `Latin1Encoding.GetByteCount`
    latin1_byte_count(t, _encoding, units: u16, encoder => encoder) {
        let invalid = slices(t, units.len(), 2, |first, number| {
            (!transcode::is_latin1_utf16(&units[first..first + number])).then_some(())
        });
        invalid.is_none().then_some(units.len())
    }
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

counting! {
    /// `UnicodeEncoding.GetCharCount`
    utf16_char_count(t, encoding, bytes: u8, decoder => decoder) {
        let units = as_units(encoding, bytes);
        units.filter(|units| is_valid_utf16(t, units)).map(<[u16]>::len)
    }
}

converting! {
    /// `UnicodeEncoding.GetChars`
    utf16_chars(t, encoding, bytes: u8, to: u16, decoder => decoder) {
        let units = as_units(encoding, bytes).filter(|units| is_valid_utf16(t, units));
        units.and_then(|units| one_by_one(t, units, to, copied))
    }
}

fn copied<T: Copy>(from: &[T], to: &mut [T]) -> bool {
    to.copy_from_slice(from);
    true
}

counting! {
    /// `UnicodeEncoding.GetByteCount`
    utf16_byte_count(t, _encoding, units: u16, encoder => encoder) {
        is_valid_utf16(t, units).then_some(2 * units.len())
    }
}

converting! {
    /// `UnicodeEncoding.GetBytes`
    utf16_bytes(t, encoding, units: u16, to: u8, encoder => encoder) {
        let is_ready = is_own_order(encoding) && is_valid_utf16(t, units);
        // SAFETY: units are bytes.
        let (_, bytes, _) = unsafe { units.align_to::<u8>() };
        is_ready.then(|| one_by_one(t, bytes, to, copied)).flatten()
    }
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

pub(super) const UTF8: &[LoopRow] =
    &rows!("UTF8Encoding", &utf8_char_count, &utf8_chars, &utf8_byte_count, &utf8_bytes);

pub(super) const UTF16: &[LoopRow] =
    &rows!("UnicodeEncoding", &utf16_char_count, &utf16_chars, &utf16_byte_count, &utf16_bytes);

pub(super) const ASCII: &[LoopRow] =
    &rows!("ASCIIEncoding", &ascii_char_count, &ascii_chars, &ascii_byte_count, &ascii_bytes);

pub(super) const LATIN1: &[LoopRow] = &[
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

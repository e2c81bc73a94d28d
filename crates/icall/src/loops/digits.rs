//! Bytes as text: base 64 from and to UTF-16, and pairs of hexadecimal digits.

use super::slices::{from, may_decline, rest, slices};
use super::spans::{Span, overlap};
use crate::system::array_copy::in_range;
use saki_loops::base64::{
    LINE_BYTES, LINE_DIGITS, LINE_END, PADDING, PIECE_BYTES, PIECE_DIGITS, decode, digits_of, encode,
};
use saki_loops::hex::to_hex;
use saki_runtime::exec::library_loops::{DECLINED, LoopRow};
use saki_runtime::{Array, CurrentThread, Managed, Place, Str};

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
    let decoded = decode(units, bytes, rest(t));
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

pub(super) const TABLE: &[LoopRow] = &[
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

//! UTF-8 to UTF-16 and back: whole, valid inputs; lengths of the results.

use encoding_rs::mem;

/// Whether bytes are valid UTF-8.
pub fn is_valid(bytes: &[u8]) -> bool {
    simdutf8::basic::from_utf8(bytes).is_ok()
}

/// A place between two characters, at `at` or up to three bytes before it (the length of `bytes` if that is not
/// greater).
pub fn boundary(bytes: &[u8], at: usize) -> usize {
    if at >= bytes.len() {
        return bytes.len();
    }
    // A character has at most three bytes after its first one.
    (at.saturating_sub(3)..=at).rev().find(|&place| bytes[place] & 0xc0 != 0x80).unwrap_or(at)
}

/// The number of UTF-16 units of valid UTF-8: one for each byte that begins a character, and one more for each
/// character of four bytes.
pub fn units_of(bytes: &[u8]) -> usize {
    // Sums over so many bytes stay below 256.
    const AT_ONCE: usize = 120;
    let of_some = |bytes: &[u8]| {
        let sum: u8 = bytes.iter().map(|&byte| u8::from(byte as i8 >= -0x40) + u8::from(byte >= 0xf0)).sum();
        usize::from(sum)
    };
    bytes.chunks(AT_ONCE).map(of_some).sum()
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

/// Numbers of elements that are checked together for being ASCII: many, which take a few instructions, and few, which
/// are otherwise converted one by one.
const MANY_AT_ONCE: usize = 32;
const AT_ONCE: usize = 8;

/// The length and code of the first character in four bytes, if it has two or three bytes. None: another length, or
/// invalid.
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
pub fn decode_all(bytes: &[u8], units: &mut [u16]) -> Option<usize> {
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

/// The number of bytes of units in UTF-8, and whether a surrogate is among them. A surrogate counts for two bytes, half
/// of the pair's four.
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
pub fn utf8_len_bytes(units: &[u16]) -> Option<usize> {
    let (bytes, has_surrogates) = bytes_of(units);
    (!has_surrogates || mem::utf16_valid_up_to(units) == units.len()).then_some(bytes)
}

/// Encodes all of `units` into the front of `bytes` and returns the number of bytes. None: an unpaired surrogate, or
/// too many.
pub fn encode_all(units: &[u16], bytes: &mut [u8]) -> Option<usize> {
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

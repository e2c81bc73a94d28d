//! ASCII, Latin-1 and UTF-16: conversions of one unit to one unit, and checks.

use encoding_rs::mem;

/// Whether all bytes are ASCII.
pub fn is_ascii(bytes: &[u8]) -> bool {
    mem::is_ascii(bytes)
}

/// Whether all units are ASCII.
pub fn is_ascii_utf16(units: &[u16]) -> bool {
    mem::is_basic_latin(units)
}

/// Whether all units are Latin-1.
pub fn is_latin1_utf16(units: &[u16]) -> bool {
    mem::is_utf16_latin1(units)
}

/// Whether every surrogate has its other half.
pub fn is_valid_utf16(units: &[u16]) -> bool {
    mem::utf16_valid_up_to(units) == units.len()
}

/// Whether all bytes are ASCII; then `units`, which are not fewer, begin with them.
pub fn ascii_to_utf16(bytes: &[u8], units: &mut [u16]) -> bool {
    mem::copy_ascii_to_basic_latin(bytes, units) == bytes.len()
}

/// Whether all units are ASCII; then `bytes`, which are not fewer, begin with them.
pub fn utf16_to_ascii(units: &[u16], bytes: &mut [u8]) -> bool {
    mem::copy_basic_latin_to_ascii(units, bytes) == units.len()
}

/// Writes bytes of Latin-1 to the front of `units`, which are not fewer.
pub fn latin1_to_utf16(bytes: &[u8], units: &mut [u16]) {
    mem::convert_latin1_to_utf16(bytes, units);
}

/// Whether all units are Latin-1; then `bytes`, which are not fewer, begin with them.
pub fn utf16_to_latin1(units: &[u16], bytes: &mut [u8]) -> bool {
    let is_latin1 = is_latin1_utf16(units);
    if is_latin1 {
        mem::convert_utf16_to_latin1_lossy(units, bytes);
    }
    is_latin1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_one_unit_for_each_byte_is_converted_whole_or_not_at_all() {
        let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
        let (mut bytes, mut room) = ([0; 40], [0; 40]);
        for (text, is_ascii, is_latin1) in [
            ("", true, true),
            ("plain text of ASCII, long enough", true, true),
            ("caf\u{e9}", false, true),
            ("\u{20ac}", false, false),
        ] {
            let units = units(text);
            assert_eq!((is_ascii_utf16(&units), is_latin1_utf16(&units)), (is_ascii, is_latin1), "{text}");
            assert_eq!(is_ascii_text(&units, &mut bytes), is_ascii);
            if utf16_to_latin1(&units, &mut bytes) {
                latin1_to_utf16(&bytes[..units.len()], &mut room);
                assert_eq!(room[..units.len()], units);
            }
            assert!(is_valid_utf16(&units));
        }
        assert!(!is_valid_utf16(&[0xd800]) && !is_valid_utf16(&[0xdc00, 0xd800]) && is_valid_utf16(&[0xd800, 0xdc00]));
        assert!(is_ascii(b"abc") && !is_ascii(b"ab\x80") && !ascii_to_utf16(b"ab\x80", &mut room));
    }

    fn is_ascii_text(units: &[u16], bytes: &mut [u8]) -> bool {
        let is_whole = utf16_to_ascii(units, bytes);
        is_whole && is_ascii(&bytes[..units.len()])
    }
}

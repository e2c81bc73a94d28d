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

//! Bytes as pairs of hexadecimal digits with hyphens between them.

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
pub fn to_hex(bytes: &[u8], units: &mut [u16]) {
    let Some((last, others)) = bytes.split_last() else { return };
    for (byte, place) in others.iter().zip((0..).step_by(3)) {
        if let Some(room) = units[place..].first_chunk_mut() {
            *room = HEX[usize::from(*byte)];
        }
    }
    let [high, low, ..] = HEX[usize::from(*last)];
    units[3 * others.len()..].copy_from_slice(&[high, low]);
}
